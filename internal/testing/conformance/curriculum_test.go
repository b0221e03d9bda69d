package conformance

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/schedule"
)

type curriculumArgs struct {
	Strategy    *string  `json:"strategy"`
	Bins        *int     `json:"n_bins"`
	Temperature *float64 `json:"temperature"`
	Alpha       *float64 `json:"ema_alpha"`
	Threshold   *float64 `json:"competence_threshold"`
}

func (a curriculumArgs) config() schedule.CurriculumConfig {
	cfg := schedule.DefaultCurriculum()
	if a.Strategy != nil {
		cfg.Strategy = schedule.Strategy(*a.Strategy)
	}
	set(&cfg.Bins, a.Bins)
	set(&cfg.Temperature, a.Temperature)
	set(&cfg.Alpha, a.Alpha)
	set(&cfg.CompetenceThreshold, a.Threshold)
	return cfg
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

func TestCurriculumErrors(t *testing.T) {
	run(t, "curriculum_errors", func(in, out map[string]any) string {
		c, err := schedule.NewCurriculum(recordedAs[curriculumArgs](t, in).config())
		if err != nil {
			return diffRecorded(nil, err, out)
		}
		return diffRecorded(c.State(), nil, out)
	})
}

func TestCurriculum(t *testing.T) {
	run(t, "curriculum", func(in, out map[string]any) string {
		script := recordedAs[curriculumScript](t, in)
		recorded := recordedAs[struct {
			OK struct {
				Bins map[string]int `json:"bins"`
			} `json:"ok"`
		}](t, out)
		got, err := script.play(recorded.OK.Bins)
		return diffRecorded(got, err, out)
	})
}

type curriculumScript struct {
	Args    curriculumArgs       `json:"args"`
	Ops     [][3]json.RawMessage `json:"ops"`
	Queries [][2]int             `json:"queries"`
	Seed    int64                `json:"rng_seed"`
}

// play returns what the recorded program wrote down; keys are those whose bin
// and difficulty it looked up at the end.
func (s curriculumScript) play(keys map[string]int) (map[string]any, error) {
	c, err := schedule.NewCurriculum(s.Args.config())
	if err != nil {
		return nil, err
	}
	for _, op := range s.Ops {
		if err := apply(c, op); err != nil {
			return nil, err
		}
	}
	before := c.State()
	probabilities, samples := s.ask(c)
	bins, difficulty := map[string]int{}, map[string]any{}
	for key := range keys {
		bins[key] = c.Bin(key)
		difficulty[key] = nil
		if d, known := c.Difficulty(key); known {
			difficulty[key] = d
		}
	}
	metrics := c.Metrics()
	again, err := schedule.RestoreCurriculum(c.State())
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"bins":                 bins,
		"difficulty":           difficulty,
		"metrics":              metrics,
		"probs":                probabilities,
		"samples_4_per_query":  samples,
		"state":                again.State(),
		"state_before_queries": before,
	}, nil
}

func (s curriculumScript) ask(c *schedule.Curriculum) (probabilities [][]float64, samples []int) {
	rng := pyrand.New(s.Seed)
	for _, q := range s.Queries {
		probabilities = append(probabilities, c.Probabilities(q[0], q[1]))
		samples = append(samples, times(4, func() int { return c.SampleBin(rng, q[0], q[1]) })...)
	}
	return probabilities, samples
}

// apply carries out one recorded update.
func apply(c *schedule.Curriculum, op [3]json.RawMessage) error {
	var name, key string
	if err := json.Unmarshal(op[0], &name); err != nil {
		return err
	}
	if err := json.Unmarshal(op[1], &key); err != nil {
		return err
	}
	switch name {
	case "update":
		var score float64
		if err := json.Unmarshal(op[2], &score); err != nil {
			return err
		}
		c.Update(key, score)
	case "update_batch":
		var scores []float64
		if err := json.Unmarshal(op[2], &scores); err != nil {
			return err
		}
		c.UpdateBatch(key, scores)
	default:
		return fmt.Errorf("unknown operation %q", name)
	}
	return nil
}
