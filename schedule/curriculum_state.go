package schedule

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// CurriculumState is a curriculum as it is saved.
type CurriculumState struct {
	Strategy            Strategy              `json:"strategy"`
	Bins                int                   `json:"n_bins"`
	Temperature         float64               `json:"temperature"`
	Alpha               float64               `json:"ema_alpha"`
	CompetenceThreshold float64               `json:"competence_threshold"`
	ItemScores          map[string][2]float64 `json:"item_scores"` // key -> mean score, number of scores
	BinBoundaries       []float64             `json:"bin_boundaries"`
	LastRebinCount      int                   `json:"last_rebin_count"`
}

// State returns everything that RestoreCurriculum needs. It shares no memory
// with the curriculum.
func (c *Curriculum) State() CurriculumState {
	items := make(map[string][2]float64, len(c.scores))
	for key, t := range c.scores {
		items[key] = [2]float64{t.mean, float64(t.updates)}
	}
	return CurriculumState{
		Strategy:            c.cfg.Strategy,
		Bins:                c.cfg.Bins,
		Temperature:         c.cfg.Temperature,
		Alpha:               c.cfg.Alpha,
		CompetenceThreshold: c.cfg.CompetenceThreshold,
		ItemScores:          items,
		BinBoundaries:       append([]float64{}, c.bounds...),
		LastRebinCount:      c.lastRebin,
	}
}

// RestoreCurriculum returns the curriculum that a state was taken of. A state
// that cannot be one is an error.
func RestoreCurriculum(s CurriculumState) (*Curriculum, error) {
	c, err := NewCurriculum(CurriculumConfig{
		Strategy:            s.Strategy,
		Bins:                s.Bins,
		Temperature:         s.Temperature,
		Alpha:               s.Alpha,
		CompetenceThreshold: s.CompetenceThreshold,
	})
	if err != nil {
		return nil, fmt.Errorf("restore curriculum: %w", err)
	}
	if n := len(s.BinBoundaries); n != 0 && n != s.Bins {
		return nil, fmt.Errorf("restore curriculum: %d bin boundaries for %d bins", n, s.Bins)
	}
	for _, key := range slices.Sorted(maps.Keys(s.ItemScores)) {
		mean, updates := s.ItemScores[key][0], s.ItemScores[key][1]
		if updates < 1 || updates != math.Trunc(updates) {
			return nil, fmt.Errorf("restore curriculum: item %q has %v scores", key, updates)
		}
		c.scores[key] = tracked{mean: mean, updates: int(updates)}
		c.total += int(updates)
	}
	c.bounds = slices.Clone(s.BinBoundaries)
	c.lastRebin = s.LastRebinCount
	return c, nil
}
