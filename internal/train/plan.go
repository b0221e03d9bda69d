package train

import (
	"math"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// Sizes are the sizes of the splits. In folds, Train is what a step has to draw from, Fold
// what judges it; else Fold is 0.
type Sizes struct {
	Train, Selection, Test, Fold int
	Triggers                     TriggerSizes // in addition to the others
}

// TriggerSizes are how many trigger tasks the splits have.
type TriggerSizes struct{ Train, Selection, Test int }

// rollouts bounds those of trigger tasks: a step may begin with another description, each
// candidate may have one, and in the end the seed skill and the best one are measured.
func (n TriggerSizes) rollouts(steps, candidates int) int {
	return steps*n.Train + (1+candidates)*n.Selection + 2*n.Test
}

// judge returns how many tasks a gate judges by, and as pass how many rollouts it takes to judge once.
func (n Sizes) judge() (judge, pass int) {
	if n.Fold > 0 {
		return n.Fold, 2 * n.Fold // the incumbent may be new to them as well
	}
	return n.Selection, n.Selection
}

// Plan returns an upper bound of the calls of a run by stage, when every reply
// can be used and nothing has to be sent twice: re-asks and retries come on top.
func (o Options) Plan(n Sizes) []result.StageCalls {
	steps := o.Steps(n.Train)
	batch := min(o.BatchSize, n.Train) * o.Accumulation // a microbatch past the end of an epoch is drawn again
	candidates := steps + triesOfParts*o.secondTries(steps)
	judge, pass := n.judge()
	gates := 0
	if o.Gate != gate.ModeOff {
		gates = candidates*pass + n.Selection // each step's candidates, and the seed skill
	}
	if (o.Fresh || n.Fold > 0) && o.Gate != gate.ModeOff {
		gates += n.Selection // of what is shipped
	}
	if o.freshens() {
		gates += 2 * o.twice(n.Selection) // of the seed skill again, and of an accepted one if that shows nothing
	}
	gates += o.confirmations(n.Selection) + o.keepRollouts(candidates, judge)
	if len(o.Examples.Sizes) > 0 && o.Gate != gate.ModeOff {
		gates += o.Examples.Rollouts + 2*pass // before the first step, and at the end
	}
	first := batch
	if o.warms(1) {
		first = o.First(n.Train)
	}
	rollouts := ((steps-1)*batch+first)*o.answersEach() + gates + n.Triggers.rollouts(steps, candidates)
	if o.Alone {
		rollouts = gates + n.Triggers.rollouts(steps, candidates)
	}
	slow := max(o.Epochs-1, 0)
	if !o.SlowUpdate && !o.MetaSkill {
		slow = 0
	}
	rollouts += slow * 2 * o.epochEndTasks(n.Train)
	if o.SlowUpdate && o.Gate != gate.ModeOff {
		rollouts += slow * pass
	}
	if o.Test {
		rollouts += 3 * n.Test
		if o.NoSkill {
			rollouts += n.Test
		}
	}
	out := []result.StageCalls{{Stage: model.StageRollout, Calls: rollouts}}
	if o.Alone {
		return out
	}
	return append(out, o.optimizerPlan(steps, slow, n.Train)...)
}

// confirmations bounds the rollouts by which it is seen whether the loop may stop.
func (o Options) confirmations(selection int) int {
	if o.Gate == gate.ModeOff {
		return 0
	}
	for _, s := range o.Earlier {
		if s.Stop.Perfect {
			return MostConfirmations * selection
		}
	}
	if o.Stop.Perfect {
		return MostConfirmations * selection
	}
	return 0
}

// keepRollouts bounds the fresh answers about what candidates lose: a candidate may lose all
// that judges it, and so may guidance and a last skill that no gate has seen.
func (o Options) keepRollouts(candidates, judge int) int {
	if !o.Keep || o.Gate != gate.ModeStrict {
		return 0
	}
	if o.SlowUpdate {
		candidates += max(o.Epochs-1, 0)
	}
	return (candidates + 1) * gate.KeepMost(judge)
}

// twice returns how many of n selection tasks are asked again of the seed skill at most.
func (o Options) twice(n int) int {
	if o.Twice != nil {
		return min(n, *o.Twice)
	}
	return min(n, max(TwiceMost, int(math.Ceil(twiceShare*float64(n)))))
}

// analysts bounds those of a step.
func (o Options) analysts() int { return o.Accumulation * o.batchAnalysts(o.BatchSize) }

// firstAnalysts bounds those of the first step.
func (o Options) firstAnalysts(train int) int {
	if !o.warms(1) {
		return o.analysts()
	}
	return max(o.analysts(), o.batchAnalysts(o.First(train)))
}

// batchAnalysts bounds the analysts of a batch. It cuts into at most one minibatch more than it
// would whole, because failures and successes are cut apart.
func (o Options) batchAnalysts(tasks int) int {
	size := o.Minibatch
	if o.Shallow {
		size = 1
	}
	single := optimize.MaxBySimilarity(tasks, o.Window)
	if size > 0 {
		single = ceilDiv(tasks, size) + 1
	}
	if o.answersEach() == 1 {
		return single
	}
	// Each task is read alone or as a contrast, of which a request holds no more.
	return max(single, optimize.MaxContrastBatches(tasks, size, o.Window)) + 2
}

// countMerges returns how many calls merge what that many analysts propose, at most.
func (o Options) countMerges(analysts int) int {
	merges := 0
	for failures := range analysts + 1 {
		merges = max(merges, mergeCalls(failures, o.FanIn)+mergeCalls(analysts-failures, o.FanIn))
	}
	return merges
}

// analystStages names the stages of analysts.
func (o Options) analystStages() string {
	names := model.StageAnalystError + "+" + model.StageAnalystSuccess
	if o.answersEach() > 1 {
		names += "+" + model.StageContrast
	}
	return names
}

// optimizerPlan bounds the optimizer's calls.
func (o Options) optimizerPlan(steps, slow, train int) []result.StageCalls {
	analysts, first := o.analysts(), o.firstAnalysts(train)
	again := o.secondTries(steps)
	out := []result.StageCalls{
		{Stage: o.analystStages(), Calls: (steps-1)*analysts + first},
		{Stage: model.StageMerge, Calls: (steps-1)*o.countMerges(analysts) + o.countMerges(first)},
		{Stage: model.StageMergeFinal, Calls: steps},
	}
	switch whole := o.Mode == "full_rewrite_minibatch"; {
	case whole && o.Whole:
		out = append(out, result.StageCalls{Stage: model.StageRanking, Calls: steps})
	case whole || o.Schedule == "unlimited":
	case o.Schedule == "model":
		out = append(out, result.StageCalls{Stage: model.StageLRAutonomous, Calls: steps}, result.StageCalls{Stage: model.StageRanking, Calls: steps})
	default:
		out = append(out, result.StageCalls{Stage: model.StageRanking, Calls: steps})
	}
	if last := &out[len(out)-1]; again > 0 && last.Stage == model.StageRanking {
		last.Calls += again // the same stage asks what of a bundle is tried again
	} else if again > 0 {
		out = append(out, result.StageCalls{Stage: model.StageRanking, Calls: again})
	}
	if o.Mode == "rewrite_from_suggestions" || o.SkillAware {
		out = append(out, result.StageCalls{Stage: model.StageRewrite, Calls: steps})
	}
	if o.SlowUpdate {
		out = append(out, result.StageCalls{Stage: model.StageSlowUpdate, Calls: slow})
	}
	if o.MetaSkill {
		out = append(out, result.StageCalls{Stage: model.StageMetaSkill, Calls: slow})
	}
	return out
}

// triesOfParts is how many parts of a rejected candidate are judged at most.
const triesOfParts = 3

// secondTries returns how many of that many steps may have a second try.
func (o Options) secondTries(steps int) int {
	if !o.SecondTry || o.Mode != string(optimize.ModePatch) || o.Gate == gate.ModeOff {
		return 0
	}
	return steps
}

// epochEndTasks returns how many train tasks an epoch's end rolls out at most. A policy that looks
// for some kind of pairs continues until it has enough of them.
func (o Options) epochEndTasks(train int) int {
	if p, err := optimize.ParsePairPolicy(o.SlowPairs); err == nil && p != optimize.PairsMixed {
		return train
	}
	return min(o.SlowSamples, train)
}

// mergeCalls returns how many calls merge n patches of one group: a chunk of one passes through
// without a call.
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

// Steps returns the number of steps of a run over a train split of n tasks.
func (o Options) Steps(n int) int { return o.Epochs * o.StepsPerEpoch(n) }

// StepsPerEpoch returns ceil(n / (batch x accumulation)).
func (o Options) StepsPerEpoch(n int) int {
	return ceilDiv(n, o.BatchSize*o.Accumulation)
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
