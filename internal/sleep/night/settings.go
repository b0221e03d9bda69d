package night

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// crossFitBelow is the number of open clusters below which selection is cross-fitted.
const (
	crossFitBelow = 60
	folds         = 4
)

// targetSettings returns the settings of the runs of a document: the profile's, but for what makes a night what it is.
func (n trainer) targetSettings(j *job) config.Config {
	cfg := n.settings()
	cfg.Skill, cfg.Tasks.Path = "", ""
	cfg.Edits.Region = "learned"
	cfg.SlowUpdate.Enabled = false // it writes outside of the learned region
	cfg.Edits.Examples = 0         // tasks are what users said
	cfg.Gate.Group = ""            // a cluster has one task
	cfg.Eval.Test, cfg.Eval.NoSkill = false, false
	if !n.set("gate.metric") {
		cfg.Gate.Metric = "mixed"
	}
	if !n.set("train.epochs") {
		cfg.Train.Epochs = schedule.LeastEpochs // a night has a ceiling, and the next one continues
	}
	if !n.set("gate.keep") {
		cfg.Gate.Keep = true
	}
	if !n.set("split.cross_fit") {
		cfg.Split.CrossFit = 0
		if j.picked.open < crossFitBelow && len(j.picked.train()) >= MinTrain {
			cfg.Split.CrossFit = folds
		}
	}
	if n.whole(j) {
		cfg.Edits.Region = ""
	}
	if !n.trainsFiles(j.doc) {
		cfg.Edits.Files, cfg.Edits.NewFiles = nil, 0
	}
	if cfg.Agent.Name != "" && j.doc.Kind == target.Memory {
		cfg.Agent.Mode, cfg.Agent.File = "file", j.doc.Name
	}
	if cfg.Agent.Name != "" {
		cfg.Agent.Documents = over(n.Config.Agent.Documents, j.others.staged, j.doc)
	}
	return cfg
}

// whole reports whether all of a document may change, and not its learned region alone.
func (n *night) whole(j *job) bool { return n.trainsWhole(j.doc) }

func (n *night) trainsWhole(doc target.Target) bool {
	return slices.Contains(n.Config.Sleep.Whole, doc.Name)
}

// set reports whether the profile says something of a key.
func (n *night) set(key string) bool {
	if n.Loaded == nil {
		return false
	}
	_, ok := n.Loaded.Origins[key]
	return ok
}

// pairs has the live text and the staged one answer tasks, each once.
func (n trainer) pairs(ctx context.Context, j *job, staged skill.Skill, fresh []bank.Cluster) (*Look, []result.TaskDifference, error) {
	cfg := n.targetSettings(j)
	cfg.Gate.Metric = "hard"
	if cfg.Agent.Name != "" { // nothing is known of carried texts together with texts that were never adopted
		cfg.Agent.Documents = over(n.Config.Agent.Documents, j.others.live, j.doc)
	}
	name := n.report.ID + "-" + slug(j.doc.ID()) + "-continued"
	var err error
	if cfg.Limits, err = n.rest(ctx, name, reserved); err != nil {
		return nil, nil, err
	}
	tasks := clusterTasks(fresh, func(int) task.Split { return task.Selection })
	c, err := skillopt.Compare(ctx, cfg, j.live(), staged, append(n.options(name), skillopt.WithTasks(tasks), skillopt.WithSplit(string(task.Selection)),
		skillopt.WithPasses(1), skillopt.WithOneLook(supportedLevel))...)
	dir := filepath.Join(n.Dir, RunsDir, n.runName(name))
	j.out.Runs = append(j.out.Runs, n.relativePath(dir))
	if c == nil {
		return nil, nil, err
	}
	if err == nil {
		j.served, err = n.answeredBy(dir)
	}
	return &Look{Run: n.relativePath(dir)}, c.ByTask, err
}
