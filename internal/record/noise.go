package record

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/stats"
	"github.com/seed-f4525e22/skillopt/result"
)

// maxNoise bounds the file with the noise of a split, in bytes: it names tasks.
const maxNoise = 64 << 20

// The levels of what result.Noise says can be detected, and of its intervals.
const (
	noiseAlpha = 0.05
	noisePower = 0.8
)

// readNoise reads how much chance changes the scores of a split.
func (d *Documents) readNoise(dir string) error {
	if d.Manifest.Kind != result.MeasureNoise {
		return nil
	}
	var n result.Noise
	found, err := readDocument(dir, result.NoiseFile, maxNoise, &n)
	if err == nil && found {
		if odd := oddNoise(n); odd != nil {
			err = &FileError{Path: filepath.Join(dir, result.NoiseFile), Err: odd}
		}
	}
	var damaged *FileError
	if errors.As(err, &damaged) {
		damaged.again = "run `skillopt doctor --noise` again"
	}
	if err != nil || !found {
		return err
	}
	n.RunDir = dir
	d.Noise = NewNoiseFloor(n)
	return nil
}

// oddNoise says why two passes cannot have given these figures.
func oddNoise(n result.Noise) error {
	if n.Items < 0 || len(n.Flips) > n.Items {
		return fmt.Errorf("the scores of %d tasks have changed, of %d", len(n.Flips), n.Items)
	}
	if (n.Within == nil) != (n.Detectable == nil) {
		return errors.New("of within and minimum_detectable_effect one is missing")
	}
	for _, v := range []*float64{&n.First, &n.Second, n.Within, &n.Between, n.Detectable} {
		if v != nil && (*v < 0 || *v > 1) {
			return fmt.Errorf("%v is no share from 0 to 1", *v)
		}
	}
	return nil
}

// NewNoiseFloor returns how sure the figures of two passes are.
func NewNoiseFloor(n result.Noise) *result.NoiseFloor {
	f := &result.NoiseFloor{Noise: n}
	flips := len(n.Flips)
	if n.Items < 1 {
		return f
	}
	share := float64(flips) / float64(n.Items)
	f.Changed = &share
	of, err := stats.Wilson(flips, n.Items, 1-noiseAlpha)
	if err != nil {
		return f // only a level that is none gives it
	}
	f.ChangedLow, f.ChangedHigh = &of.Low, &of.High
	if n.Detectable != nil {
		f.DetectableLow, f.DetectableHigh = detectable(n, share, of.Low), detectable(n, share, of.High)
	}
	return f
}

// detectable returns the smallest difference that is seen if a share of the scores changes.
func detectable(n result.Noise, share, changes float64) *float64 {
	variance := changes / 2 // of one evaluation, if scores change from 0 to 1
	if share > 0 && *n.Within > 0 {
		variance = *n.Within * *n.Within * changes / share
	}
	least := 1 / float64(n.Items)
	seen, err := stats.MinimumDetectable(math.Sqrt(2*variance), n.Items, noiseAlpha, noisePower)
	if err != nil { // nothing changes by chance
		seen = 0
	}
	seen = min(1, max(seen, least))
	return &seen
}
