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
	TooLong     int                  // bytes of the shortest request that took too long before; 0: none did
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

	// TooLong is how many bytes the shortest request has that a reply took too long for,
	// those of ReflectInput included; 0: there is none. Its minibatch was read in halves.
	TooLong int `json:"too_long,omitempty"`
}

// Reflect asks one analyst per minibatch, all at once. An analyst without a
// usable reply is counted in Lost; the results of the others remain.
func Reflect(ctx context.Context, in ReflectInput) (ReflectResult, error) {
	if in.Mode == ModeFullRewrite {
		in.Budget = -1
	}
	jobs, result := in.plan()
	result.TooLong = in.TooLong
	read, err := in.analyseAll(ctx, jobs)
	for _, r := range read {
		result.add(r)
	}
	return result, err
}

// reading is what the analysts of a minibatch said: one, or those of its parts.
type reading struct {
	analyses []Analysis
	lost     []string // keys
	tooLong  int      // see ReflectResult
}

func (r *ReflectResult) add(of reading) {
	r.Analyses, r.Lost = append(r.Analyses, of.analyses...), append(r.Lost, of.lost...)
	r.Calls += len(of.analyses) + len(of.lost)
	r.TooLong = shorter(r.TooLong, of.tooLong)
}

// shorter returns the smaller one of two lengths, of which 0 is none.
func shorter(a, b int) int {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// analyseAll asks the analysts of all jobs at once.
func (in ReflectInput) analyseAll(ctx context.Context, jobs []job) ([]reading, error) {
	read := make([]reading, len(jobs))
	g, ctx := taskgroup.WithContext(ctx)
	for i, j := range jobs {
		g.Go(func() (err error) {
			read[i], err = in.analyse(ctx, j)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return read, nil
}

// job is the request to one analyst.
type job struct {
	key      string
	source   skill.Source
	outcomes []trajectory.Outcome

	contrasts []Contrast // instead of outcomes
}

// size returns how many tasks the analyst reads.
func (j job) size() int { return len(j.outcomes) + len(j.contrasts) }

// halves returns the requests to two analysts instead.
func (j job) halves() []job {
	first, second := j, j
	first.key, second.key = j.key+"/0", j.key+"/1"
	if n := len(j.contrasts) / 2; j.contrasts != nil {
		first.contrasts, second.contrasts = j.contrasts[:n], j.contrasts[n:]
	}
	n := len(j.outcomes) / 2
	first.outcomes, second.outcomes = j.outcomes[:n], j.outcomes[n:]
	return []job{first, second}
}

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
	return jobs, result
}

// analyse asks the analyst of a minibatch, or those of its halves: where the request is as
// long as one that took too long, or takes too long itself.
func (in ReflectInput) analyse(ctx context.Context, j job) (reading, error) {
	q, err := in.request(j)
	if err != nil {
		return reading{}, err
	}
	if size := len(q.System) + len(q.User); q.Divisible && in.TooLong > 0 && size >= in.TooLong {
		return in.analyseHalves(ctx, j, 0)
	}
	reply, err := in.Ask(ctx, q)
	switch {
	case errors.Is(err, ErrTimeout):
		return in.analyseHalves(ctx, j, len(q.System)+len(q.User))
	case errors.Is(err, ErrLost):
		return reading{lost: []string{j.key}}, nil
	case err != nil:
		return reading{}, fmt.Errorf("ask %s: %w", j.key, err)
	}
	a, err := in.read(reply, j)
	if err != nil {
		return reading{}, err
	}
	return reading{analyses: []Analysis{*a}}, nil
}

// analyseHalves asks two analysts instead of one, whose request of size bytes took too
// long; 0: it was not sent.
func (in ReflectInput) analyseHalves(ctx context.Context, j job, size int) (reading, error) {
	in.TooLong = shorter(in.TooLong, size)
	read, err := in.analyseAll(ctx, j.halves())
	if err != nil {
		return reading{}, err
	}
	a, b := read[0], read[1]
	return reading{
		analyses: append(a.analyses, b.analyses...), lost: append(a.lost, b.lost...), tooLong: shorter(in.TooLong, shorter(a.tooLong, b.tooLong)),
	}, nil
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
		SkillAware:   in.writesNotes(j.source),
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
		Schema:    analystSchema(in.Mode, in.View.Forms, j.source, in.writesNotes(j.source)),
		Divisible: j.size() > 1,
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

// writesNotes reports whether analysts of trajectories from source write notes.
func (in ReflectInput) writesNotes(source skill.Source) bool {
	return in.SkillAware && (in.View.Whole || source == skill.FromFailure)
}

// render writes outcomes for an analyst, and what the agent was given with all of them.
func (v View) render(outcomes []trajectory.Outcome) (told, rollouts string) {
	if !v.Whole {
		return "", RenderTrajectories(outcomes)
	}
	return v.writeRollouts(outcomes)
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
