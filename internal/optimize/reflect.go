package optimize

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// ReflectInput is what the reflect stage works on.
type ReflectInput struct {
	Ask     Ask
	Prompts *prompt.Set
	Mode    Mode

	Outcomes    []trajectory.Outcome // of one batch, in task order; unmeasured ones are passed over
	Contrasts   []Contrast           // of tasks that are not among the outcomes, widest first
	Skill       string               // the skill document they were made with
	View        View                 // what an analyst is shown of them
	Size        int                  // trajectories per analyst in deep mode; 0: as many of a kind as View.Window holds
	Seed        int64                // of the batch
	Shallow     bool                 // one trajectory per analyst
	FailureOnly bool                 // no analysts for successes
	SkillAware  bool                 // analysts also write appendix notes; with View.Whole also those of successes
	Budget      int                  // items kept of one reply; ModeFullRewrite has none
	StepBuffer  string               // see StepBuffer, may be empty
	MetaSkill   string               // the optimizer's memory, may be empty
}

// ReflectResult is what the analysts of one batch proposed.
type ReflectResult struct {
	Analyses   []Analysis `json:"analyses"`            // failures first, in minibatch order; lost ones are missing
	Failures   int        `json:"failures"`            // failed trajectories
	Successes  int        `json:"successes"`           // successful trajectories that were read
	Contrasts  int        `json:"contrasts,omitempty"` // tasks whose best and worst answers were read next to each other
	Unmeasured int        `json:"unmeasured"`          // trajectories without a score, which no one read
	Calls      int        `json:"calls"`
	Lost       []string   `json:"lost,omitempty"` // keys of analysts that gave no usable reply
}

// Reflect asks one analyst per minibatch, all at once. An analyst without a
// usable reply is counted in Lost; the others are.
func Reflect(ctx context.Context, in ReflectInput) (ReflectResult, error) {
	if in.Mode == ModeFullRewrite {
		in.Budget = -1
	}
	jobs, result := in.plan()
	analyses := make([]*Analysis, len(jobs))
	g, gctx := taskgroup.WithContext(ctx)
	for i, j := range jobs {
		g.Go(func() (err error) {
			analyses[i], err = in.analyse(gctx, j)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return ReflectResult{}, err
	}
	for i, a := range analyses {
		if a == nil {
			result.Lost = append(result.Lost, jobs[i].key)
			continue
		}
		result.Analyses = append(result.Analyses, *a)
	}
	return result, nil
}

// job is the request to one analyst.
type job struct {
	key      string
	source   skill.Source
	outcomes []trajectory.Outcome

	contrasts []Contrast // instead of outcomes
}

// size is how many tasks the analyst reads.
func (j job) size() int { return len(j.outcomes) + len(j.contrasts) }

func (in ReflectInput) plan() ([]job, ReflectResult) {
	size := in.Size
	if in.Shallow {
		size = 1
	}
	o := MinibatchOptions{Size: size, Seed: &in.Seed, FailureOnly: in.FailureOnly}
	failures, successes := Minibatches(in.Outcomes, o)
	if size == 0 {
		failures, successes = BySimilarity(in.Outcomes, o, in.View)
	}
	var jobs []job
	add := func(stage string, source skill.Source, batches [][]int) (n int) {
		for i, batch := range batches {
			j := job{key: fmt.Sprintf("%s/%d", stage, i), source: source}
			for _, index := range batch {
				j.outcomes = append(j.outcomes, in.Outcomes[index])
			}
			jobs = append(jobs, j)
			n += len(batch)
		}
		return n
	}
	result := ReflectResult{Analyses: []Analysis{}}
	result.Failures = add(model.StageAnalystError, skill.FromFailure, failures)
	result.Successes = add(model.StageAnalystSuccess, skill.FromSuccess, successes)
	for i, batch := range in.contrastBatches(size) {
		j := job{key: fmt.Sprintf("%s/%d", model.StageContrast, i), source: skill.FromFailure}
		for _, index := range batch {
			j.contrasts = append(j.contrasts, in.Contrasts[index])
		}
		jobs = append(jobs, j)
		result.Contrasts += len(batch)
	}
	for _, o := range in.Outcomes {
		if !o.Status.Measured() {
			result.Unmeasured++
		}
	}
	result.Calls = len(jobs)
	return jobs, result
}

// analyse returns nil without an error when the reply is lost.
func (in ReflectInput) analyse(ctx context.Context, j job) (*Analysis, error) {
	q, err := in.request(j)
	if err != nil {
		return nil, err
	}
	reply, err := in.Ask(ctx, q)
	if errors.Is(err, ErrLost) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", j.key, err)
	}
	return in.read(reply, j)
}

func (in ReflectInput) request(j job) (Request, error) {
	failed := j.source == skill.FromFailure
	told, shown := in.View.render(j.outcomes)
	if j.contrasts != nil {
		told, shown = in.View.renderContrasts(j.contrasts)
	}
	text, err := in.Prompts.Analyst(prompt.AnalystInput{
		Failures:     failed,
		Contrasts:    j.contrasts != nil,
		Mode:         string(in.Mode),
		SkillAware:   in.noted(j.source),
		Deep:         !in.Shallow,
		Budget:       max(0, in.Budget),
		StepBuffer:   in.StepBuffer,
		MetaSkill:    in.MetaSkill,
		Skill:        in.Skill,
		Agent:        told,
		Trajectories: shown,
		Count:        j.size(),
	})
	if err != nil {
		return Request{}, fmt.Errorf("analyst question: %w", err)
	}
	q := Request{
		Key: j.key, Stage: model.StageAnalystSuccess, System: in.View.system(text.System), User: text.User,
		Schema: analystSchema(in.Mode, in.View.Forms, j.source, in.noted(j.source)),
		Accept: func(reply string) error {
			_, err := in.read(reply, j)
			return err
		},
	}
	switch {
	case j.contrasts != nil:
		q.Stage = model.StageContrast
	case failed:
		q.Stage = model.StageAnalystError
	}
	return q, nil
}

// noted reports whether analysts of trajectories from source write notes.
func (in ReflectInput) noted(source skill.Source) bool {
	return in.SkillAware && (in.View.Whole || source == skill.FromFailure)
}

// render writes outcomes for an analyst, and what the agent was given with all of them.
func (v View) render(outcomes []trajectory.Outcome) (told, rollouts string) {
	if !v.Whole {
		return "", RenderTrajectories(outcomes)
	}
	return v.shown(outcomes)
}

// Patches returns what the analysts proposed, ready for Aggregate: empty
// patches dropped, every item with its source and the number of trajectories
// behind it.
func (r ReflectResult) Patches(mode Mode) (failures, successes []Patch) {
	records := make([]any, len(r.Analyses))
	for i, a := range r.Analyses {
		records[i] = map[string]any{
			"patch":       map[string]any(a.Patch),
			"source_type": string(a.Source),
			"batch_size":  a.BatchSize,
		}
	}
	return NormalisePatches(records, mode)
}

// Notes returns the appendix notes of all analysts, in order.
func (r ReflectResult) Notes() []string {
	var notes []string
	for _, a := range r.Analyses {
		notes = append(notes, a.Notes...)
	}
	return notes
}

// Diagnoses returns the kinds of failure that the analysts found, in order.
func (r ReflectResult) Diagnoses() []FailureType {
	var all []FailureType
	for _, a := range r.Analyses {
		all = append(all, a.FailureSummary...)
	}
	return all
}
