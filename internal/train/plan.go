package train

import (
	"math"

	"github.com/seed-f4525e22/skillopt/internal/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/model"
)

// StageCalls is how many model calls a stage makes at most.
type StageCalls struct {
	Stage string `json:"stage"`
	Calls int    `json:"calls"`
}

// Sizes are the sizes of the splits. In folds, Train is what a step has to draw from, Fold
// what judges it; else Fold is 0.
type Sizes struct{ Train, Selection, Test, Fold int }

// judge is how many tasks a gate judges by, pass how many rollouts it takes to judge once.
func (n Sizes) judge() (judge, pass int) {
	if n.Fold > 0 {
		return n.Fold, 2 * n.Fold // the incumbent may be new to them as well
	}
	return n.Selection, n.Selection
}

// Plan returns an upper bound of the calls of a run by stage, when every reply
// can be used and nothing has to be sent twice: re-asks and retries come on top.
func (o Options) Plan(n Sizes) []StageCalls {
	steps := o.Steps(n.Train)
	batch := min(o.BatchSize, n.Train) * o.Accumulation // a microbatch past the end of an epoch is drawn anew
	judge, pass := n.judge()
	gates := 0
	if o.Gate != "off" {
		gates = steps*o.judged()*pass + n.Selection // each step's candidates, and the seed skill
	}
	if o.Gate == ModeRace {
		gates += o.raceRollouts(steps*o.judged(), n)
	} else if (o.Fresh || n.Fold > 0) && o.Gate != "off" {
		gates += n.Selection // of what is shipped
	}
	if o.NullEvery > 0 && (o.Gate == ModeRace || o.Gate == "strict") {
		gates += steps / o.NullEvery * 3 * judge // one pass, and fresh samples of both arms
	}
	rollouts := steps*batch + gates
	slow := max(o.Epochs-1, 0)
	if !o.SlowUpdate && !o.MetaSkill {
		slow = 0
	}
	rollouts += slow * 2 * o.compared(n.Train)
	if o.SlowUpdate && o.Gate != "off" {
		rollouts += slow * pass
	}
	if o.Test {
		rollouts += 3 * n.Test
		if o.NoSkill {
			rollouts += n.Test
		}
	}
	return append([]StageCalls{{model.StageRollout, rollouts}}, o.optimizerPlan(steps, slow)...)
}

// raceRollouts bounds what a race measures beyond one pass over the candidates:
// the seed skill again, fresh samples of both arms for every survivor, and a few
// items again of what is accepted without them.
func (o Options) raceRollouts(steps int, n Sizes) int {
	selection := n.Selection
	judge, _ := n.judge()
	fresh := selection // of what is shipped
	twice := min(selection, max(twiceMost, int(math.Ceil(twiceShare*float64(selection)))))
	slow := 0
	if o.SlowUpdate {
		slow = max(o.Epochs-1, 0)
	}
	more := (steps + slow) * maxRechecked
	if o.Confirm != string(gate.ConfirmNone) {
		more += steps * 2 * judge
		if slow > 0 && !o.SlowGated {
			more += 2 * judge // the last guidance is raced against the best
		}
	}
	for field := o.Reselect; field > 1; field = halved(field) {
		more += field * selection
	}
	return twice + more + fresh
}

// optimizerPlan bounds the optimizer's calls. A batch cuts into at most one
// minibatch more than it would whole, because failures and successes are cut
// apart.
func (o Options) optimizerPlan(steps, slow int) []StageCalls {
	m := o.Minibatch
	if o.Shallow {
		m = 1
	}
	analysts := o.Accumulation * optimize.MostAlike(o.BatchSize, o.Window)
	if m > 0 {
		analysts = o.Accumulation * (ceilDiv(o.BatchSize, m) + 1)
	}
	merges := 0
	for failures := range analysts + 1 {
		merges = max(merges, mergeCalls(failures, o.FanIn)+mergeCalls(analysts-failures, o.FanIn))
	}
	out := []StageCalls{{model.StageAnalystError + "+" + model.StageAnalystSuccess, steps * analysts}}
	steps *= o.made() // what follows is asked for each candidate
	out = append(out,
		StageCalls{model.StageMerge, steps * merges},
		StageCalls{model.StageMergeFinal, steps},
	)
	switch whole := o.Mode == "full_rewrite_minibatch"; {
	case whole && o.Whole:
		out = append(out, StageCalls{model.StageRanking, steps})
	case whole || o.Schedule == "unlimited":
	case o.Schedule == "model":
		out = append(out, StageCalls{model.StageLRAutonomous, steps}, StageCalls{model.StageRanking, steps})
	default:
		out = append(out, StageCalls{model.StageRanking, steps})
	}
	if o.Mode == "rewrite_from_suggestions" || o.SkillAware {
		out = append(out, StageCalls{model.StageRewrite, steps})
	}
	if o.SlowUpdate {
		out = append(out, StageCalls{model.StageSlowUpdate, slow})
	}
	if o.MetaSkill {
		out = append(out, StageCalls{model.StageMetaSkill, slow})
	}
	return out
}

// compared is how many train tasks an epoch's end rolls out at most. A policy
// that looks for some kind of pairs goes on until it has enough of them.
func (o Options) compared(train int) int {
	if p, err := optimize.ParsePairPolicy(o.SlowPairs); err == nil && p != optimize.PairsMixed {
		return train
	}
	return min(o.SlowSamples, train)
}

// mergeCalls is how many calls merge n patches of one group: a chunk of one
// passes through without a call.
func mergeCalls(n, fanIn int) int {
	calls := 0
	for ; n > 1; n = ceilDiv(n, fanIn) {
		calls += n / fanIn
		if n%fanIn > 1 {
			calls++
		}
	}
	return calls
}

// Steps is the number of steps of a run over a train split of n tasks.
func (o Options) Steps(n int) int { return o.Epochs * o.StepsPerEpoch(n) }

// StepsPerEpoch is ceil(n / (batch x accumulation)).
func (o Options) StepsPerEpoch(n int) int {
	return ceilDiv(n, o.BatchSize*o.Accumulation)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
