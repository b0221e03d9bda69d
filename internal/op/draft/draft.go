// Package draft is the operation that has the optimizer write tasks for a skill: those that
// it is trained on, or trigger tasks.
//
// It knows sessions, and asks what internal/draft wants to know. It knows nothing of how
// a draft is written and judged.
package draft

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// Request says which tasks are to be drafted.
type Request struct {
	Skill string // a skill folder, its SKILL.md, or another Markdown file
	Tasks int    // how many, 1 to 500
	Seed  int64  // of the requests, and of the choice between equal parts of the skill

	// Triggers asks for trigger tasks, 2 to 500: half of them prompts that should load the
	// skill, half near misses that should not.
	Triggers bool
	// Known are prompts of trigger tasks that there are already, to which others are not to
	// be alike. A draft that is resumed keeps to those that it was begun with.
	Known []string
}

// Run drafts. Of cfg it uses models.optimizer, limits, prices, cache and record. Every
// call is recorded in the directory of the options: the same request again pays for
// nothing twice.
func Run(ctx context.Context, cfg config.Config, req Request, o session.Options) (*result.Draft, error) {
	s, w, err := prepare(ctx, cfg, req, o)
	if err != nil {
		return nil, err
	}
	var out *result.Draft
	err = s.Do(ctx, session.Op{
		Kind:  result.DraftTasks,
		Check: func() error { return s.Models.Load(model.Optimizer) },
		Ask:   func(context.Context) (result.Plan, error) { return w.plan(s), nil },
		Work: func(ctx context.Context) (result.Status, error) {
			if out, err = w.run(ctx, s); err != nil {
				return "", err
			}
			return result.Completed, nil
		},
	})
	var other *run.IdentityError
	if errors.As(err, &other) {
		err = fault.Input(fmt.Errorf("%s holds the record of a draft with other settings:\n  %s\nuse the same, choose another folder, or remove that one",
			other.Dir, strings.Join(other.Changes, "\n  ")))
	}
	return out, err
}

// prepare loads what a draft needs. A draft depends on nothing else, so that the record
// fits also when the rest of the configuration has changed.
func prepare(ctx context.Context, cfg config.Config, req Request, o session.Options) (*session.Session, work, error) {
	only := session.OptimizerOnly(cfg)
	only.Train.Seed = req.Seed
	in, err := session.NewInputs(only, o)
	if err != nil {
		return nil, nil, err
	}
	s, err := session.Over(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	w, err := newWork(req)
	if err != nil {
		return nil, nil, err
	}
	texts, err := w.texts()
	if err != nil {
		return nil, nil, err
	}
	s.Contents["skill"] = materialDigest(w.material())
	s.Identify(w.name(), strconv.Itoa(req.Tasks))
	s.Identify("draft.prompts", texts)
	return s, w, nil
}

// work is what is drafted: tasks with expected answers, or trigger tasks.
type work interface {
	name() string             // of its entry in the identity of the run, which holds the number
	texts() (string, error)   // names the texts that models are asked with
	material() draft.Material // what is drafted from
	plan(s *session.Session) result.Plan
	run(ctx context.Context, s *session.Session) (*result.Draft, error) // in an open run
}

// newWork checks a request and reads the skill that it names.
func newWork(req Request) (work, error) {
	least, check := 1, func(m draft.Material) error {
		if len(draft.Sections(m)) == 0 {
			return draft.ErrNothingToTest
		}
		return nil
	}
	if req.Triggers {
		least, check = draft.MinTriggers, draft.CheckTriggers
	}
	if req.Tasks < least || req.Tasks > draft.MaxTasks {
		return nil, fault.Input(fmt.Errorf("%d tasks are asked for: %d to %d can be", req.Tasks, least, draft.MaxTasks))
	}
	m, err := material(req.Skill, check)
	if err != nil {
		return nil, err
	}
	if req.Triggers {
		return triggerWork{req, m}, nil
	}
	return taskWork{req, m}, nil
}

// material reads the skill that tasks are drafted from, and checks it.
func material(path string, check func(draft.Material) error) (draft.Material, error) {
	m, err := draft.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("found nothing at %s, allowed: a SKILL.md or a folder with one", path)
	}
	if err == nil {
		err = check(m)
	}
	if err != nil {
		return m, fault.Input(fmt.Errorf("skill: %w", err))
	}
	return m, nil
}

func materialDigest(m draft.Material) string {
	var b strings.Builder
	for _, f := range m.Files {
		fmt.Fprintf(&b, "%q %d\n%s\n", f.Path, len(f.Lines), strings.Join(f.Lines, "\n"))
	}
	return session.Digest([]byte(b.String()))
}

// taskWork drafts tasks with expected answers.
type taskWork struct {
	req  Request
	from draft.Material
}

func (taskWork) name() string               { return "draft" }
func (taskWork) texts() (string, error)     { return draft.Digest() }
func (w taskWork) material() draft.Material { return w.from }

func (w taskWork) plan(s *session.Session) result.Plan {
	write, solve := draft.Plan(w.from, w.req.Tasks, w.req.Seed)
	return newPlan(s, write, solve)
}

// newPlan returns the plan of a draft with at most that many calls that write, and that check.
func newPlan(s *session.Session, write, check int) result.Plan {
	return result.Plan{
		Total: write + check, Simulated: s.Simulated(),
		Stages: []result.StageCalls{{Stage: model.StageDraft, Calls: write}, {Stage: model.StageDraftCheck, Calls: check}},
	}
}

func (w taskWork) run(ctx context.Context, s *session.Session) (*result.Draft, error) {
	drafted, err := draft.Run(ctx, options(s, w.req, w.from))
	if err != nil {
		return nil, err
	}
	d := begun(s, w.req, w.from)
	d.Kept, d.Fell = len(drafted.Tasks), countReasons(drafted.Fell)
	for _, t := range drafted.Tasks {
		if len(t.Doubts) > 0 {
			d.Doubtful++
		}
	}
	if d.Tasks, err = draft.Encode(drafted.Tasks); err != nil {
		return nil, err
	}
	return d, finish(s, d, drafted.Fell)
}

// options returns the options of any draft in an open run.
func options(s *session.Session, req Request, m draft.Material) draft.Options {
	return draft.Options{
		Material: m, Tasks: req.Tasks, Seed: req.Seed,
		Ask: func(ctx context.Context, q draft.Request) (string, error) { return ask(ctx, s, q) },
		Progress: func(stage string, done, total int) {
			p := s.Usage()
			p.Stage, p.Done, p.Total = stage, done, total
			s.Emit(p)
		},
	}
}

// begun returns the result of a draft before it is known what was kept.
func begun(s *session.Session, req Request, m draft.Material) *result.Draft {
	d := &result.Draft{RunDir: s.Run.Dir, Simulated: s.Simulated(), Asked: req.Tasks, Recorded: s.Recorded, Skipped: m.Skipped}
	for _, f := range m.Files {
		d.Files = append(d.Files, f.Path)
	}
	return d
}

// finish accounts for a draft and writes its result into its run directory.
func finish(s *session.Session, d *result.Draft, fell []draft.Fall) error {
	d.Usage, _ = s.Account()
	s.Emit(event.RunDone{Status: string(result.Completed), WallS: d.WallS})
	return errors.Join(s.Run.WriteFile("tasks.jsonl", d.Tasks), s.Run.WriteJSON("fell.json", fell))
}

// ask asks the optimizer for a draft.
func ask(ctx context.Context, s *session.Session, q draft.Request) (string, error) {
	text, err := s.Ask("draft")(ctx, optimize.Request{Key: q.Key, Stage: q.Stage, System: q.System, User: q.User, Schema: q.Schema, Accept: q.Accept})
	if errors.Is(err, optimize.ErrLost) {
		return "", draft.ErrLost
	}
	return text, err
}

// countReasons counts drafts that fell by their reasons, the most frequent first.
func countReasons(fell []draft.Fall) []result.Dropped {
	var out []result.Dropped
	for _, f := range fell {
		i := slices.IndexFunc(out, func(o result.Dropped) bool { return o.Reason == string(f.Reason) })
		if i < 0 {
			i = len(out)
			out = append(out, result.Dropped{Reason: string(f.Reason), Example: f.Detail})
		}
		out[i].N++
	}
	slices.SortStableFunc(out, func(a, b result.Dropped) int { return b.N - a.N })
	return out
}
