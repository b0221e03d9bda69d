package config

import "time"

// protocolSkillOpt is the value of protocol that represents the published numbers.
const protocolSkillOpt = "skillopt"

// The values of reflect.view.
const (
	ViewAgent = "agent"
	ViewTask  = "task"
)

// The values of skill_files.
const (
	FilesAll      = "all"
	FilesDocument = "document"
)

// PicturesMarked is a value of tasks.pictures.
const PicturesMarked = "marked"

// The values of train.warm.
const (
	WarmAuto = "auto"
	WarmOn   = "on"
	WarmOff  = "off"
)

// skillOptDefaults returns the defaults of a configuration that keeps the protocol of SkillOpt: 4
// epochs, a fixed split, batch 40, minibatch 8, fan-in 8, an edit budget from 4 to 2 by cosine, one pass
// of the gate and any higher mean, all steps, guidance without a gate, edits put where they say,
// and the view of the optimizer that goes with them.
func skillOptDefaults() Config {
	c := Default()
	c.Protocol = protocolSkillOpt
	c.Train.Epochs, c.Train.BatchSize, c.Train.Accumulation = 4, 40, 1
	c.Reflect.MinibatchSize, c.Reflect.View = 8, ViewTask
	c.Aggregate.FanIn = 8
	c.Edits.Budget, c.Edits.MinBudget, c.Edits.Schedule, c.Edits.Tidy = 4, 2, "cosine", false
	c.Edits.Examples = 0
	c.Split.CrossFit, c.Train.Warm = 0, WarmOff
	c.Train.Stop, c.Train.SecondTry = Stop{}, false
	c.Gate.Fresh, c.SlowUpdate.Gated = false, false
	return c
}

// Default returns the configuration of a run of which nothing else is said: analysts
// read as many failures as they can, many edits a step at the start, and a gate that
// knows how sure it is.
func Default() Config {
	model := Model{
		API: "auto", Structured: "auto", Timeout: Duration(2 * time.Minute),
		AzureAuth: "api_key",
	}
	return Config{
		SkillFiles: FilesAll,

		Tasks:  Tasks{Pages: Pages{Field: "urls"}},
		Env:    Env{Timeout: Duration(2 * time.Minute), Gateway: true, Turns: 24, Action: "tag", History: HistoryChat, Recalc: "none", Reward: []float64{0, 1}, Protocol: "line"},
		Agent:  Agent{Mode: "native", Timeout: Duration(10 * time.Minute), Gateway: true, Sandbox: "auto", Keep: "none", Limits: AgentLimits{Memory: 4 << 30, Processes: 512, Written: 4 << 30}},
		Split:  Split{Seed: 42, CrossFit: AutoCount},
		Models: Models{Target: model, Optimizer: model, Judge: model},
		Train: Train{
			Epochs: AutoCount, BatchSize: AutoCount, Accumulation: 1, Seed: 42,
			Curriculum: Curriculum{Strategy: "none"},
			Warm:       WarmAuto,
			Stop:       Stop{Perfect: true, Patience: 5},
			SecondTry:  true,
		},
		Reflect:    Reflect{Mode: "deep", Rollouts: 1, MinibatchSize: AutoCount, Window: AutoCount, View: ViewAgent},
		Aggregate:  Aggregate{FanIn: 8},
		Edits:      Edits{Mode: "patch", Budget: AutoCount, MinBudget: 2, Examples: AutoCount, Schedule: "cosine", Tidy: true, Verify: Verify{Timeout: Duration(time.Minute)}},
		Gate:       Gate{Mode: "strict", Fresh: true, Alpha: 0.05, Metric: "hard", MixedWeight: 0.5},
		SlowUpdate: SlowUpdate{Enabled: true, Samples: 20, Gated: true, Pairs: "mixed"},
		MetaSkill:  MetaSkill{Enabled: true},
		Eval:       Eval{Test: true},
		Record:     Record{Reuse: "auto", Episodes: EpisodesFull},
		Limits:     Limits{Concurrency: 16, Patience: Duration(2 * time.Minute), Reserve: "auto"},
		Telemetry:  Telemetry{Service: "skillopt"},
		Run:        Run{Dir: "runs"},
		Sleep: Sleep{
			Keep: Age(90 * day), Disk: 5e9, Targets: []string{"skills", "memory"}, Tasks: 40, Recall: 20, HalfLife: Age(30 * day), AutoAdopt: "off",
		},
	}
}
