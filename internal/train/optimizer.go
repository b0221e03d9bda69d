package train

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// optimizer makes proposals: it puts the stages of package optimize to the optimizer's
// model. It knows the options and what is reported of earlier steps, and nothing of gates.
type optimizer struct {
	opts    Options
	mode    optimize.Mode
	budgets *budgets // nil: the optimizer chooses the count of edits
	ask     Asker
	prompts *prompt.Set
	memory  *memory
	emit    event.Sink
	told    func(t task.Task, s skill.Skill) optimize.Told // nil: not known
	tasks   map[string]*task.Task                          // train tasks by id
	scope   skill.Scope
	loads   *loads
	tooLong int // bytes, see optimize.ReflectInput; of the steps before
}

func newOptimizer(o Options, d Deps, m *memory) (*optimizer, error) {
	mode, ok := optimize.ParseMode(o.Mode)
	if !ok {
		return nil, fmt.Errorf("unknown update mode %q", o.Mode)
	}
	budgets, err := newBudgets(o, d.Data)
	if err != nil {
		return nil, err
	}
	tasks := map[string]*task.Task{}
	for i := range d.Data.Train {
		tasks[d.Data.Train[i].ID] = &d.Data.Train[i]
	}
	return &optimizer{
		opts: o, mode: mode, budgets: budgets, ask: d.Ask, prompts: d.Prompts, memory: m, emit: d.Events, told: d.Told, tasks: tasks, scope: d.Scope,
	}, nil
}

// view returns what the optimizer is shown of rollouts of train tasks with a skill.
func (o *optimizer) view(with skill.Skill) optimize.View {
	v := optimize.View{Whole: o.opts.Whole, Window: o.opts.Window}
	if !o.opts.Whole || o.told == nil {
		return v
	}
	v.Told = func(id string) optimize.Told {
		if of, ok := o.tasks[id]; ok {
			return o.told(*of, with)
		}
		return optimize.Told{}
	}
	return v
}

// document returns the current skill as it is shown with what was done with it. It shows SKILL.md,
// the other files where the skill has some, and the description where that may change too. The view
// says what edits may change of them, and how.
func (o *optimizer) document(current skill.Skill, done []trajectory.Outcome) (string, optimize.View, error) {
	v := o.view(current)
	shown := []string{current.Text()}
	add := func(t prompt.Text) {
		shown[0] = strings.TrimRight(shown[0], "\n")
		shown, v.Rules = append(shown, t.User), strings.TrimPrefix(v.Rules+"\n\n"+t.System, "\n\n")
	}
	if o.tellsFiles(current) {
		told := optimize.FilesInput{Prompts: o.prompts, Mode: o.mode, Skill: current, Scope: o.scope, Outcomes: done}
		files, err := optimize.Files(told)
		if err != nil {
			return "", v, err
		}
		add(files)
		folder := told.Folder()
		v.Forms.Files, v.Folder = !o.scope.Alone(), &folder
	}
	if o.scope.Region() != "" {
		part, err := optimize.Region(o.prompts, current.Text())
		if err != nil {
			return "", v, err
		}
		add(part)
		if v.Folder == nil {
			v.Folder = &optimize.Folder{Skill: current, Scope: o.scope}
		}
	}
	if o.scope.Description() {
		about, err := optimize.Description(optimize.DescriptionInput{
			Prompts: o.prompts, Skill: current, Alone: o.scope.DescriptionAlone(), Loads: o.loads.collectLoads(current, done, o.tasks), Tried: o.loads.tried,
		})
		if err != nil {
			return "", v, err
		}
		add(about)
		v.Forms.Description, v.Forms.Alone = true, o.scope.DescriptionAlone()
	}
	return strings.Join(shown, "\n\n"), v, nil
}

// analystDocument returns what analysts are shown of the current skill: after it what other runs
// tried in vain, if that is known, and after all rules what the user has to say to analysts.
func (o *optimizer) analystDocument(current skill.Skill, done []trajectory.Outcome) (string, optimize.View, error) {
	document, v, err := o.document(current, done)
	if err != nil {
		return "", v, err
	}
	tried, err := o.opts.Remembered.PromptText(o.prompts)
	if err != nil {
		return "", v, err
	}
	guide := prompt.Text{}
	if o.opts.Guide != "" {
		if guide, err = o.prompts.Guide(o.opts.Guide); err != nil {
			return "", v, err
		}
	}
	for _, t := range []prompt.Text{tried, guide} {
		if t.System != "" {
			v.Rules = strings.TrimPrefix(v.Rules+"\n\n"+t.System, "\n\n")
		}
		if t.User != "" {
			document = strings.TrimRight(document, "\n") + "\n\n" + t.User
		}
	}
	return document, v, nil
}

// tellsFiles reports whether the optimizer learns of the files of a skill: where several may
// change, and where there are others than the one that may.
func (o *optimizer) tellsFiles(s skill.Skill) bool {
	return !o.scope.Alone() || len(s.Others()) > 0 && !o.scope.DescriptionAlone()
}

// documentPair returns the documents of two skills that are compared.
func (o *optimizer) documentPair(previous, current skill.Skill) (before, after string, err error) {
	if before, _, err = o.document(previous, nil); err != nil {
		return "", "", err
	}
	after, _, err = o.document(current, nil)
	return before, after, err
}

// analystBudget returns the number of edits that one reply may hold. When the optimizer chooses the
// count of a step, edits.budget bounds the replies. Nothing bounds those of a warm start.
func (o *optimizer) analystBudget(step int) int {
	switch {
	case o.opts.warms(step):
		return schedule.NoLimit
	case o.budgets == nil:
		return o.opts.Budget
	}
	return o.budgets.of(step).At(step)
}

// reading is what analysts are to read of one microbatch, and how.
type reading struct {
	ask        optimize.Ask
	answered   answered
	current    skill.Skill
	seed       int64
	budget     int
	stepBuffer string
}

func (o *optimizer) reflect(ctx context.Context, r reading) (optimize.ReflectResult, error) {
	document, view, err := o.analystDocument(r.current, r.answered.tasks)
	if err != nil {
		return optimize.ReflectResult{}, err
	}
	single, contrasts := r.answered.read(o.opts.Projection)
	return optimize.Reflect(ctx, optimize.ReflectInput{
		Ask: r.ask, Prompts: o.prompts, Mode: o.mode,
		Outcomes: single, Contrasts: contrasts, Skill: document, View: view, Size: o.opts.Minibatch, Seed: r.seed, Shallow: o.opts.Shallow,
		FailureOnly: o.opts.FailureOnly, SkillAware: o.opts.SkillAware, Budget: r.budget,
		StepBuffer: r.stepBuffer, MetaSkill: o.memory.metaSkill, TooLong: o.tooLong,
	})
}

// Reflect has analysts read outcomes of the skill. Of d it uses Data, Skill, Scope, Ask, Prompts, Events and the notices.
func Reflect(ctx context.Context, o Options, d Deps, outcomes []trajectory.Outcome) (optimize.ReflectResult, error) {
	p, err := newOptimizer(o, d, newMemory(o))
	if err != nil {
		return optimize.ReflectResult{}, err
	}
	p.loads = newLoads(d.Data, nil, d.Events)
	return p.reflect(ctx, reading{ask: d.Ask("reflect"), answered: answered{tasks: outcomes}, current: d.Skill, seed: o.Seed, budget: p.analystBudget(1)})
}

// evidence is what a step has for its proposals in addition to the patches.
type evidence struct {
	step    stepID
	current skill.Skill
	budget  int // of edits, unless the optimizer chooses
	failed  int // of the step's rollouts

	outcomes []trajectory.Outcome // of the step's rollouts
	document string               // the current skill as it is shown
	view     optimize.View
}

// propose makes a candidate of analysts' patches: aggregate, rank, update.
func (o *optimizer) propose(ctx context.Context, p *proposal, e evidence, patches patches) (err error) {
	if e.document, e.view, err = o.document(e.current, e.outcomes); err != nil {
		return err
	}
	if err := o.aggregate(ctx, p, e, patches); err != nil {
		return err
	}
	if err := o.rank(ctx, p, e); err != nil {
		return err
	}
	return o.update(ctx, p, e)
}

func (o *optimizer) aggregate(ctx context.Context, p *proposal, e evidence, patches patches) (err error) {
	o.emit(event.StageStarted{Epoch: e.step.epoch, Step: e.step.number, Stage: "aggregate"})
	p.merged, err = optimize.Aggregate(ctx, optimize.AggregateInput{
		Ask: o.ask(p.prefix), Prompts: o.prompts, Mode: o.mode, FanIn: o.opts.FanIn,
		Failures: patches.failures, Successes: patches.successes, Skill: e.document, MetaSkill: o.memory.metaSkill, View: e.view,
	})
	if err != nil {
		return err
	}
	p.record.Merged = p.merged.Items
	p.record.LostReplies += len(p.merged.Lost)
	p.files["merged_patch.json"] = p.merged
	return nil
}

func (o *optimizer) rank(ctx context.Context, p *proposal, e evidence) error {
	o.emit(event.StageStarted{Epoch: e.step.epoch, Step: e.step.number, Stage: "rank"})
	budget, err := o.editBudget(ctx, p, e)
	if err != nil {
		return err
	}
	if budget < schedule.NoLimit && o.mode != optimize.ModeFullRewrite {
		p.record.Budget = &budget
	}
	p.ranked, err = optimize.Rank(ctx, optimize.RankInput{
		Ask: o.ask(p.prefix), Prompts: o.prompts, Mode: o.mode, Patch: p.merged.Patch, Budget: budget,
		Skill: e.document, MetaSkill: o.memory.metaSkill, View: e.view,
	})
	if err != nil {
		return err
	}
	p.record.Ranked = p.ranked.Items
	p.record.LostReplies += len(p.ranked.Lost)
	p.files["ranked_edits.json"] = p.ranked
	return nil
}

// editBudget returns how many edits a proposal may hold: as scheduled, or as the optimizer chooses.
func (o *optimizer) editBudget(ctx context.Context, p *proposal, e evidence) (int, error) {
	if o.budgets != nil || o.opts.warms(e.step.number) || o.mode == optimize.ModeFullRewrite {
		return e.budget, nil
	}
	rate, err := optimize.LearningRate(ctx, optimize.LearningRateInput{
		Ask: o.ask(p.prefix), Prompts: o.prompts, Mode: o.mode, Patch: p.merged.Patch,
		Skill: e.document, RolloutHard: p.record.RolloutHard, RolloutSoft: p.record.RolloutSoft,
		View: e.view, Rollouts: p.record.RolloutN, Failed: e.failed, History: o.memory.stepBuffer(), MetaSkill: o.memory.metaSkill,
	})
	if err != nil {
		return 0, err
	}
	p.record.LostReplies += len(rate.Lost)
	p.files["edit_budget.json"] = rate
	return rate.LearningRate, nil
}

// update applies the edits and, in skill-aware mode, adds the notes.
func (o *optimizer) update(ctx context.Context, p *proposal, e evidence) (err error) {
	budget := schedule.NoLimit
	if p.record.Budget != nil {
		budget = *p.record.Budget
	}
	p.updated, err = optimize.Update(ctx, optimize.UpdateInput{
		Ask: o.ask(p.prefix), Prompts: o.prompts, Mode: o.mode, Skill: e.current, Patch: p.ranked.Patch,
		Budget: budget, Scope: o.scope, Outcomes: e.outcomes, MetaSkill: o.memory.metaSkill,
	})
	if err != nil {
		return err
	}
	p.candidate = p.updated.Candidate
	p.record.Edits, p.record.Refused = p.updated.Reports, p.updated.Refused
	p.record.LostReplies += len(p.updated.Lost)
	for _, edit := range p.updated.Edits {
		p.record.Support = append(p.record.Support, edit.SupportCount)
	}
	p.files["edit_apply_report.json"] = p.updated
	return o.appendNotes(ctx, p)
}

// appendNotes adds the notes on lapses to the appendix of the candidate.
func (o *optimizer) appendNotes(ctx context.Context, p *proposal) error {
	if !o.opts.SkillAware || len(p.record.Notes) == 0 {
		return nil
	}
	notes, err := optimize.Appendix(ctx, optimize.AppendixInput{
		Ask: o.ask(p.prefix), Prompts: o.prompts, Skill: p.candidate, Scope: o.scope, Notes: p.record.Notes,
	})
	if err != nil {
		return err
	}
	if n := len(notes.Skill.Text()); n <= skill.MaxBytes {
		p.candidate = notes.Skill
	} else {
		p.record.Refused = fmt.Sprintf("with its notes the skill has %d bytes, at most %d are allowed", n, skill.MaxBytes)
	}
	p.record.LostReplies += len(notes.Lost)
	p.files["appendix.json"] = notes
	return nil
}
