package forecast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/result"
)

// NoiseFile is what an A/A pass leaves in its run.
const NoiseFile = result.NoiseFile

// NoiseDir returns the folder of the noise, one for each configuration.
func NoiseDir(s *session.Inputs) (string, error) {
	id, err := s.Identity()
	if err != nil {
		return "", err
	}
	delete(id, "models.optimizer.world") // a file that is read for training only
	text, err := json.Marshal(id)
	if err != nil {
		return "", fmt.Errorf("encode the identity of the run: %w", err)
	}
	base, err := filepath.Abs(s.Config.Run.Dir)
	if err != nil {
		return "", fmt.Errorf("find run.dir: %w", err)
	}
	return filepath.Join(base, s.RunName()+"-noise-"+session.Digest(text)[:8]), nil
}

// KnownNoise returns what an earlier A/A pass of this configuration has found, nil if there was
// none.
func KnownNoise(s *session.Inputs) (*result.Noise, error) {
	as := *s
	as.Identify("evaluate", "noise")
	dir, err := NoiseDir(&as)
	if err != nil {
		return nil, err
	}
	data, err := disk.Read(context.Background(), filepath.Join(dir, NoiseFile), maxProjection)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var n result.Noise
	if err == nil {
		err = json.Unmarshal(data, &n)
	}
	if err != nil {
		return nil, fmt.Errorf("read what doctor --noise has found: %w", err)
	}
	n.RunDir = dir
	return &n, nil
}
