package schedule

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
