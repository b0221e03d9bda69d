package conformance

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/seed-f4525e22/skillopt/schedule"
)

type budgetCase struct {
	Impl  string `json:"impl"`
	Mode  string `json:"mode"`
	Max   int    `json:"max"`
	Min   int    `json:"min"`
	Total int    `json:"total"`
}

func TestLRScheduler(t *testing.T) {
	run(t, "lr_scheduler", func(in, out map[string]any) string {
		c := recordedAs[budgetCase](t, in)
		b, err := newBudget(c)
		if err != nil {
			return diffRecorded(nil, err, out)
		}
		recorded := recordedAs[struct {
			OK struct {
				At   []int `json:"get_lr"`
				Step []int `json:"step"`
			} `json:"ok"`
		}](t, out)
		step := 0
		got := map[string]any{"get_lr": times(len(recorded.OK.At), func() int { step++; return b.At(step) })}
		if c.Impl == "skillopt" {
			got["step"] = times(len(recorded.OK.Step), b.Step)
			got["state"] = b.State()
			b.Restore(schedule.BudgetState{CurrentStep: 3})
			got["after_load_3"] = b.Step()
		}
		return diffRecorded(got, nil, out)
	})
}

// newBudget reads the mode with its aliases where the recorded program had them.
func newBudget(c budgetCase) (*schedule.Budget, error) {
	mode := schedule.Mode(c.Mode)
	if c.Impl == "skillopt" {
		var err error
		if mode, err = schedule.ParseMode(c.Mode); err != nil {
			return nil, err
		}
	}
	return schedule.NewBudget(schedule.BudgetConfig{Mode: mode, Max: c.Max, Min: c.Min, Total: c.Total})
}

func TestLRCoerce(t *testing.T) {
	run(t, "lr_coerce", checkLRCoerce)
}

func checkLRCoerce(in, out map[string]any) string {
	n, ok := schedule.CoerceBudget(in["value"])
	if !ok {
		return diffRecorded(nil, nil, out)
	}
	return diffRecorded(n, nil, out)
}

func TestLRControlMode(t *testing.T) {
	run(t, "lr_control_mode", func(in, out map[string]any) string {
		mode, err := schedule.ParseControl(truthyText(in["mode"]))
		return diffRecorded(mode, err, out)
	})
}

// truthyText is a recorded option as text; what Python takes for false means "not
// given". A list or an object is no name of anything.
func truthyText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case json.Number:
		if f, err := v.Float64(); err == nil && f == 0 {
			return ""
		}
		return v.String()
	case bool:
		if v {
			return "true"
		}
	case []any, map[string]any:
		if text := fmt.Sprint(v); text != "[]" && text != "map[]" {
			return text
		}
	}
	return ""
}

func TestRatioSplit(t *testing.T) {
	run(t, "ratio_split", func(in, out map[string]any) string {
		c := recordedAs[struct {
			Ratio string `json:"ratio"`
			Seed  int64  `json:"seed"`
			Total int    `json:"total"`
		}](t, in)
		ratio, err := schedule.ParseRatio(c.Ratio)
		if err != nil {
			return diffRecorded(nil, err, out)
		}
		counts := ratio.Counts(c.Total)
		split := schedule.RatioSplit(c.Total, schedule.SplitConfig{Ratio: ratio, Seed: c.Seed})
		return diffRecorded(map[string]any{
			"ratio":  ratio,
			"counts": []int{counts.Train, counts.Selection, counts.Test},
			"train":  split.Train,
			"val":    split.Selection,
			"test":   split.Test,
		}, nil, out)
	})
}

type epochCase struct {
	Accumulation int   `json:"accumulation"`
	BatchSize    int   `json:"batch_size"`
	Epoch        int   `json:"epoch"`
	Train        int   `json:"n_train"`
	Seed         int64 `json:"seed"`
	Steps        int   `json:"steps_per_epoch"`
}

func (c epochCase) config() schedule.EpochConfig {
	return schedule.EpochConfig{
		Train:        c.Train,
		BatchSize:    c.BatchSize,
		Accumulation: c.Accumulation,
		Steps:        c.Steps,
		Epoch:        c.Epoch,
		Seed:         c.Seed,
	}
}

func TestEpochPlan(t *testing.T) {
	run(t, "epoch_plan", func(in, out map[string]any) string {
		got := []map[string]any{}
		for _, b := range schedule.Epoch(recordedAs[epochCase](t, in).config()) {
			got = append(got, map[string]any{"batch_size": len(b.Items), "ids": b.Items, "seed": b.Seed})
		}
		return diffRecorded(got, nil, out)
	})
}

func TestSeedPlan(t *testing.T) {
	run(t, "seed_plan", func(in, out map[string]any) string {
		base, shuffled := schedule.SeedPlan(recordedAs[epochCase](t, in).config())
		return diffRecorded(map[string]any{"base": base, "shuffled": shuffled}, nil, out)
	})
}

func TestTrainBatch(t *testing.T) {
	run(t, "train_batch", func(in, out map[string]any) string {
		c := recordedAs[epochCase](t, in)
		return diffRecorded(schedule.TrainBatch(c.Train, c.BatchSize, c.Seed), nil, out)
	})
}

func TestEvalBatch(t *testing.T) {
	// The recorded ids start here for each split.
	first := map[string]int{"train": 0, "selection": 1000, "test": 2000}
	run(t, "eval_batch", func(in, out map[string]any) string {
		c := recordedAs[struct {
			Limit     int    `json:"env_num"`
			Train     int    `json:"n_train"`
			Selection int    `json:"n_val"`
			Test      int    `json:"n_test"`
			Split     string `json:"split"`
		}](t, in)
		counts := schedule.Counts{Train: c.Train, Selection: c.Selection, Test: c.Test}
		items, err := schedule.EvalBatch(counts, c.Split, c.Limit)
		if split, known := schedule.ParseSplit(c.Split); known == nil {
			for i := range items {
				items[i] += first[string(split)]
			}
		}
		return diffRecorded(items, err, out)
	})
}
