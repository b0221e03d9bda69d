package train

import (
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/passes"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// loads measures on which trigger tasks the agent loads a skill. What one description came
// to is measured once for each split: an agent sees no more of a skill before it loads it.
// It is changed by the goroutine that called Run alone, and read by others while that waits.
type loads struct {
	tasks    map[task.Split][]task.Task // nil: nothing is measured
	rollouts *rollouts
	emit     event.Sink
	measured map[described][]trajectory.Outcome
	tried    []optimize.TriedDescription // that were not taken, in the order in which they were tried
}

// described is a description on a split.
type described struct {
	split       task.Split
	description string
}

func newLoads(d Data, r *rollouts, emit event.Sink) *loads {
	return &loads{tasks: d.Triggers, rollouts: r, emit: emit, measured: map[described][]trajectory.Outcome{}}
}

// on reports whether there are trigger tasks in addition to the others.
func (l *loads) on() bool { return l.tasks != nil }

// of measures a skill on the trigger tasks of a split, unless its description was measured
// on them before. What is recorded is under prefix.
func (l *loads) of(ctx context.Context, prefix string, split task.Split, s skill.Skill) ([]trajectory.Outcome, error) {
	key, tasks := described{split, skillDescription(s)}, l.tasks[split]
	if out, known := l.measured[key]; known || len(tasks) == 0 {
		return out, nil
	}
	l.emit(event.StageStarted{Stage: "triggers " + string(split), Total: len(tasks)})
	set := rolloutSet{rollout.Place{Prefix: prefix + "/triggers/" + string(split)}, tasks, s}
	out, err := l.rollouts.batch(ctx, "triggers "+string(split), set)
	if err != nil {
		return nil, err
	}
	if missing := findMissing(out); len(missing) > 0 && !gate.Enough(len(out), len(missing)) {
		return nil, tooFewMeasured(set.place.Prefix, len(out), len(missing), out[missing[0]].FailReason)
	}
	if _, err := l.rollouts.giveUpMissing(ctx, set, out); err != nil {
		return nil, err
	}
	l.measured[key] = out
	return out, nil
}

// outcomes returns what is known of a skill on the trigger tasks of a split, nil for nothing.
func (l *loads) outcomes(split task.Split, s skill.Skill) []trajectory.Outcome {
	return l.measured[described{split, skillDescription(s)}]
}

// skillDescription returns the description of a skill, "" of one that cannot be read.
func skillDescription(s skill.Skill) string {
	doc, _ := skill.Parse(s.Text()) // what cannot be read has none
	return doc.Description
}

// compare measures a candidate with another description than the current skill on the
// trigger tasks of the selection split, and says why it is not to have it, if it is not.
// Nil: the description is the same.
func (l *loads) compare(ctx context.Context, prefix string, current, candidate skill.Skill) (*result.LoadsCompared, error) {
	if !l.on() || skillDescription(current) == skillDescription(candidate) {
		return nil, nil
	}
	tasks := l.tasks[task.Selection]
	before, err := l.of(ctx, prefix+"/before", task.Selection, current)
	if err != nil {
		return nil, err
	}
	out := &result.LoadsCompared{Before: passes.LoadRates(tasks, [][]trajectory.Outcome{before})}
	if out.Refused = rollout.Untellable(candidate); out.Refused != "" {
		out.After = result.TriggerRates{Reason: out.Refused, Unmeasured: taskIDs(tasks)}
		return out, nil
	}
	after, err := l.of(ctx, prefix+"/after", task.Selection, candidate)
	if err != nil {
		return nil, err
	}
	out.After = passes.LoadRates(tasks, [][]trajectory.Outcome{after})
	if why := passes.LoadsWorse(tasks, before, after); why != "" {
		out.Refused = "the description is left as it is: " + why
	}
	return out, nil
}

// collectLoads returns what the optimizer learns of the description of a skill: of trigger tasks of
// the train split, and of those among what was done with it.
func (l *loads) collectLoads(current skill.Skill, done []trajectory.Outcome, tasks map[string]*task.Task) []optimize.Load {
	var out []optimize.Load
	add := func(t task.Task, o trajectory.Outcome) {
		if t.Trigger != "" && o.Load != "" {
			out = append(out, optimize.Load{Prompt: t.Prompt, Should: t.Trigger == task.TriggerShould, Loaded: o.Load == trajectory.Loaded})
		}
	}
	for i, o := range l.outcomes(task.Train, current) {
		add(l.tasks[task.Train][i], o)
	}
	for _, o := range done {
		if t := tasks[o.ID]; t != nil {
			add(*t, o)
		}
	}
	return out
}

// guard gives a candidate the description of the current skill back, if its own loads the
// skill where it should less often, or more often where it should not. What is left of it
// goes to the gate, if anything is.
func (s *candidates) guard(ctx context.Context, p *proposal) error {
	current := s.skills.current.skill
	compared, err := s.loads.compare(ctx, p.prefix, current, p.candidate)
	if p.record.Loads = compared; err != nil || compared == nil || compared.Refused == "" {
		return err
	}
	s.loads.inVain(p.candidate, compared.Refused)
	p.candidate = replaceHead(current, p.candidate)
	p.updated.Candidate, p.updated.Applied = p.candidate, slices.DeleteFunc(slices.Clone(p.updated.Applied), describes)
	p.updated.Reports = slices.Clone(p.updated.Reports)
	for i := range p.updated.Reports {
		if r := &p.updated.Reports[i]; r.Status == skill.AppliedDescription {
			r.Status, r.Detail = skill.SkippedDescription, compared.Refused
		}
	}
	p.record.Edits, p.files["edit_apply_report.json"] = p.updated.Reports, p.updated
	if p.candidate.Equal(current) {
		p.skip(result.ActionRefused, compared.Refused)
	}
	return nil
}

// inVain keeps that a skill with another description was not taken, for the optimizer.
func (l *loads) inVain(s skill.Skill, why string) {
	l.tried = append(l.tried, optimize.TriedDescription{Text: skillDescription(s), Why: why})
}

// loadsWorse returns why the description of a candidate may not replace the current one, "" if it
// may. All tasks are trigger tasks there: the description is right more often on all of them, but
// less often on those of one kind.
func (j *judge) loadsWorse(cand *incumbent) string {
	c, inc := j.skills.entry(cand), j.skills.entry(&j.skills.current)
	return passes.GainsWorse(j.selection, func(i int) (gain float64, known bool) {
		if c.Pooled[i].N == 0 || inc.Pooled[i].N == 0 {
			return 0, false
		}
		return c.Pooled[i].Mean() - inc.Pooled[i].Mean(), true
	})
}

// checkLoads returns a verdict, or the rejection of a candidate whose description loads worse.
func (j *judge) checkLoads(v gate.Verdict, cand *incumbent) gate.Verdict {
	if !j.skills.scope.DescriptionAlone() || !v.Action.Accepted() {
		return v
	}
	if why := j.loadsWorse(cand); why != "" {
		v.Action, v.Reason = gate.Reject, why
	}
	return v
}

func describes(e skill.Edit) bool { return e.Op == skill.Describe }

// replaceHead returns a skill with the front matter of another one.
func replaceHead(from, s skill.Skill) skill.Skill {
	head, _ := skill.Parse(from.Text()) // it is taken apart whatever it says
	body, _ := skill.Parse(s.Text())
	head.Body = body.Body
	return s.WithText(head.Text())
}

// rates returns how often the agent loads the seed skill and the best one, by arm and split: on the
// trigger tasks next to the others, or on those that were trained on. It returns nil if there are
// none.
func (t *trainer) rates(ctx context.Context) (map[string]map[string]result.TriggerRates, error) {
	arms := map[string]skill.Skill{"seed": t.seed, "best": t.skills.best.skill}
	out := map[string]map[string]result.TriggerRates{"seed": {}, "best": {}}
	for _, arm := range []string{"seed", "best"} {
		for _, split := range []task.Split{task.Selection, task.Test} {
			tasks, outcomes, err := t.triggerOutcomes(ctx, split, arm, arms[arm])
			if err != nil {
				return nil, err
			}
			if outcomes != nil {
				out[arm][string(split)] = passes.LoadRates(tasks, [][]trajectory.Outcome{outcomes})
			}
		}
	}
	if len(out["seed"])+len(out["best"]) == 0 {
		return nil, nil
	}
	return out, nil
}

// triggerOutcomes returns the trigger tasks of a split and their outcomes with an arm, nil if there are none.
func (t *trainer) triggerOutcomes(ctx context.Context, split task.Split, arm string, s skill.Skill) ([]task.Task, []trajectory.Outcome, error) {
	closed := split == task.Test && t.tested.outcomes == nil
	if t.loads.on() {
		if tasks := t.loads.tasks[split]; len(tasks) == 0 || closed || rollout.Untellable(s) != "" {
			return nil, nil, nil
		}
		out, err := t.loads.of(ctx, t.finalPlace()+"/"+arm, split, s)
		return t.loads.tasks[split], out, err
	}
	if !t.skills.scope.DescriptionAlone() || closed {
		return nil, nil, nil
	}
	if split == task.Test {
		if t.tested.outcomes[arm] == nil { // the best skill is the seed skill
			arm = "seed"
		}
		return t.data.Test, t.tested.outcomes[arm], nil
	}
	if arm == "best" {
		return t.data.Selection, t.skills.best.outcomes, nil
	}
	return t.data.Selection, t.baseline.seed.outcomes, nil
}
