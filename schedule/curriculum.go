package schedule

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Strategy names how a curriculum prefers some tasks to others.
type Strategy string

const (
	Uniform         Strategy = "uniform"          // no preference
	EasyFirst       Strategy = "easy_first"       // easy tasks at first, all alike at the end
	CompetenceBased Strategy = "competence_based" // a frontier that moves from easy to hard
)

const (
	rebinEvery     = 50    // updates between two computations of the bins
	minTemperature = 0.01  // below it sharpening would overflow
	minProbability = 1e-10 // floor before taking a logarithm
)

// CurriculumConfig describes a curriculum.
type CurriculumConfig struct {
	Strategy    Strategy
	Bins        int     // bins of difficulty, at least 1; bin 0 is the easiest
	Temperature float64 // below 1 sharpens the preference, above 1 flattens it; at least 0.01
	Alpha       float64 // weight of the newest score in a task's mean, clamped to 0..1

	// CompetenceThreshold is stored and reported, and has no effect: it keeps
	// the saved state compatible with that of other programs.
	CompetenceThreshold float64
}

// DefaultCurriculum returns the settings that apply where nothing is chosen.
func DefaultCurriculum() CurriculumConfig {
	return CurriculumConfig{Strategy: Uniform, Bins: 5, Temperature: 1, Alpha: 0.3, CompetenceThreshold: 0.5}
}

// Curriculum follows how well each task goes and prefers tasks by difficulty:
// an exponential moving mean of the scores per task, and bins of tasks of like
// difficulty between its quantiles. Keys are task ids. It is not safe for
// concurrent use.
type Curriculum struct {
	cfg       CurriculumConfig
	scores    map[string]tracked
	total     int       // scores seen of all tasks
	bounds    []float64 // lower bound of the mean score in each bin, falling; empty: not computed yet
	lastRebin int       // scores seen when the bounds were last due
}

// tracked is what a curriculum knows of one task.
type tracked struct {
	mean    float64 // moving mean of its scores
	updates int     // scores seen
}

// NewCurriculum returns a curriculum that has seen nothing. An unknown strategy
// and less than one bin are errors; the other numbers are clamped.
func NewCurriculum(cfg CurriculumConfig) (*Curriculum, error) {
	switch cfg.Strategy {
	case Uniform, EasyFirst, CompetenceBased:
	default:
		return nil, fmt.Errorf("curriculum strategy %q is unknown: use %s, %s or %s", cfg.Strategy, Uniform, EasyFirst, CompetenceBased)
	}
	if cfg.Bins < 1 {
		return nil, fmt.Errorf("a curriculum of %d bins: use at least 1", cfg.Bins)
	}
	cfg.Temperature = max(minTemperature, cfg.Temperature)
	cfg.Alpha = min(1, max(0, cfg.Alpha))
	return &Curriculum{cfg: cfg, scores: map[string]tracked{}}, nil
}

// Update takes in one score of a task; a higher one means an easier task. Only
// what was measured may be passed in.
func (c *Curriculum) Update(key string, score float64) {
	t, known := c.scores[key]
	if known {
		score = float64(c.cfg.Alpha*score) + float64((1-c.cfg.Alpha)*t.mean)
	}
	c.scores[key] = tracked{mean: score, updates: t.updates + 1}
	c.total++
	if c.total-c.lastRebin >= rebinEvery {
		c.rebin()
		c.lastRebin = c.total
	}
}

// UpdateBatch takes in several scores of one task as their mean; none change
// nothing.
func (c *Curriculum) UpdateBatch(key string, scores []float64) {
	if len(scores) == 0 {
		return
	}
	sum := 0.0
	for _, s := range scores {
		sum += s
	}
	c.Update(key, sum/float64(len(scores)))
}

// means returns the mean scores of all tasks, easiest first.
func (c *Curriculum) means() []float64 {
	means := make([]float64, 0, len(c.scores))
	for _, t := range c.scores {
		means = append(means, t.mean)
	}
	slices.SortFunc(means, func(a, b float64) int { return cmp.Compare(b, a) })
	return means
}

// rebin computes the bounds: quantiles of the mean scores, or equal steps while
// there are fewer tasks than bins. The first bound is the highest score, so that
// bin 0 holds only the tasks that reach it and the last bin holds two quantiles:
// atropos does so, and the saved state carries over.
func (c *Curriculum) rebin() {
	means, n := c.means(), c.cfg.Bins
	c.bounds = nil
	if len(means) == 0 {
		return
	}
	easiest, hardest := means[0], means[len(means)-1]
	for i := range n {
		bound := easiest - float64(float64(i)*((easiest-hardest)/float64(n)))
		if len(means) >= n {
			bound = means[i*len(means)/n]
		}
		c.bounds = append(c.bounds, bound)
	}
}

// Bin returns the bin of a task, 0 for the easiest. One that was never scored
// is in the middle.
func (c *Curriculum) Bin(key string) int {
	t, known := c.scores[key]
	if !known {
		return c.cfg.Bins / 2
	}
	if len(c.bounds) == 0 {
		c.rebin()
	}
	for i, bound := range c.bounds {
		if t.mean >= bound {
			return i
		}
	}
	return c.cfg.Bins - 1
}

// Difficulty returns the mean score of a task, the lower the harder; false if
// it was never scored.
func (c *Curriculum) Difficulty(key string) (float64, bool) {
	t, known := c.scores[key]
	return t.mean, known
}

// Probabilities returns how likely each bin is at a step of total, before
// temperature. Steps outside of 0..total act as the nearest bound.
func (c *Curriculum) Probabilities(step, total int) []float64 {
	n := c.cfg.Bins
	progress := min(1, max(0, float64(step)/float64(max(1, total))))
	weights := make([]float64, n)
	for i := range weights {
		switch c.cfg.Strategy {
		case EasyFirst:
			bias := math.Exp(-2 * float64(i) / float64(max(1, n-1)))
			weights[i] = float64((1-progress)*bias) + progress/float64(n)
		case CompetenceBased:
			distance := float64(i) - float64(progress*float64(n-1))
			weights[i] = math.Exp(-0.5 * distance * distance)
		default:
			weights[i] = 1
		}
	}
	return normalise(weights)
}

func normalise(weights []float64) []float64 {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		weights[i] /= sum
	}
	return weights
}

// applyTemperature returns Probabilities with temperature.
func (c *Curriculum) applyTemperature(step, total int) []float64 {
	p := c.Probabilities(step, total)
	if c.cfg.Temperature == 1 {
		return p
	}
	logs := make([]float64, len(p))
	for i := range p {
		logs[i] = math.Log(max(p[i], minProbability)) / c.cfg.Temperature
	}
	top := slices.Max(logs)
	for i := range logs {
		p[i] = math.Exp(logs[i] - top)
	}
	return normalise(p)
}

// SampleBin draws a bin for a step of total.
func (c *Curriculum) SampleBin(rng Rand, step, total int) int {
	if c.cfg.Strategy == Uniform {
		return rng.RandBelow(c.cfg.Bins)
	}
	drawn, err := rng.Choices(c.cfg.Bins, 1, c.applyTemperature(step, total))
	if err != nil {
		// Unreachable: normalised weights add up to 1.
		return c.cfg.Bins / 2
	}
	return drawn[0]
}

// Metrics returns figures about the curriculum by name.
func (c *Curriculum) Metrics() map[string]float64 {
	if len(c.scores) == 0 {
		return map[string]float64{"curriculum/items_tracked": 0, "curriculum/strategy": 0}
	}
	sum := 0.0
	metrics := map[string]float64{}
	for i := range c.cfg.Bins {
		metrics[fmt.Sprintf("curriculum/bin_%d_count", i)] = 0
	}
	for _, key := range slices.Sorted(maps.Keys(c.scores)) {
		sum += c.scores[key].mean
		metrics[fmt.Sprintf("curriculum/bin_%d_count", c.Bin(key))]++
	}
	means := c.means()
	metrics["curriculum/items_tracked"] = float64(len(means))
	metrics["curriculum/total_updates"] = float64(c.total)
	metrics["curriculum/mean_difficulty"] = sum / float64(len(means))
	metrics["curriculum/max_difficulty"] = means[0]
	metrics["curriculum/min_difficulty"] = means[len(means)-1]
	return metrics
}
