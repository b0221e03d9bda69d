// Package draft is the operation that has the optimizer write tasks for a skill that has
// none.
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
}

// Run drafts. Of cfg it uses models.optimizer, limits, prices, cache and record. Every
// call is recorded in the directory of the options: the same request again pays for
// nothing twice.
func Run(ctx context.Context, cfg config.Config, req Request, o session.Options) (*result.Draft, error) {
	s, m, err := prepare(ctx, cfg, req, o)
	if err != nil {
		return nil, err
	}
	var out *result.Draft
	err = s.Do(ctx, session.Op{
		Kind:  result.DraftTasks,
		Check: func() error { return s.Models.Load(model.Optimizer) },
		Ask:   func(context.Context) (result.Plan, error) { return plan(s, m, req), nil },
		Work: func(ctx context.Context) (result.Status, error) {
			if out, err = work(ctx, s, m, req); err != nil {
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
func prepare(ctx context.Context, cfg config.Config, req Request, o session.Options) (*session.Session, draft.Material, error) {
	only := config.Default()
	only.Models.Optimizer, only.Limits, only.Prices, only.PriceFile = cfg.Models.Optimizer, cfg.Limits, cfg.Prices, cfg.PriceFile
	only.Cache, only.Record, only.Run, only.Train.Seed = cfg.Cache, cfg.Record, cfg.Run, req.Seed
	only.Telemetry = cfg.Telemetry
	var m draft.Material
	in, err := session.Detached(only, o)
	if err != nil {
		return nil, m, err
	}
	s, err := session.Over(ctx, in)
	if err != nil {
		return nil, m, err
	}
	if req.Tasks < 1 || req.Tasks > draft.MaxTasks {
		return nil, m, fault.Input(fmt.Errorf("%d tasks are asked for: 1 to %d can be", req.Tasks, draft.MaxTasks))
	}
	if m, err = material(req.Skill); err != nil {
		return nil, m, err
	}
	texts, err := draft.Digest()
	if err != nil {
		return nil, m, err
	}
	s.Contents["skill"] = materialDigest(m)
	s.Identify("draft", strconv.Itoa(req.Tasks))
	s.Identify("draft.prompts", texts)
	return s, m, nil
}

// material reads the skill that tasks are drafted from.
func material(path string) (draft.Material, error) {
	m, err := draft.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("found nothing at %s, allowed: a SKILL.md or a folder with one", path)
	}
	if err == nil && len(draft.Sections(m)) == 0 {
		err = draft.ErrNothingToTest
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

// work drafts in an open run.
func work(ctx context.Context, s *session.Session, m draft.Material, req Request) (*result.Draft, error) {
	drafted, err := draft.Run(ctx, draft.Options{
		Material: m, Tasks: req.Tasks, Seed: req.Seed,
		Ask: func(ctx context.Context, q draft.Request) (string, error) { return ask(ctx, s, q) },
		Progress: func(stage string, done, total int) {
			p := s.Usage()
			p.Stage, p.Done, p.Total = stage, done, total
			s.Emit(p)
		},
	})
	if err != nil {
		return nil, err
	}
	d := &result.Draft{RunDir: s.Run.Dir, Simulated: s.Simulated(), Asked: req.Tasks, Recorded: s.Recorded, Skipped: m.Skipped}
	describe(d, drafted, m)
	if d.Tasks, err = draft.Encode(drafted.Tasks); err != nil {
		return nil, err
	}
	d.Usage, _ = s.Account()
	s.Emit(event.RunDone{Status: string(result.Completed), WallS: d.WallS})
	return d, errors.Join(s.Run.WriteFile("tasks.jsonl", d.Tasks), s.Run.WriteJSON("fell.json", drafted.Fell))
}

func plan(s *session.Session, m draft.Material, req Request) result.Plan {
	write, solve := draft.Plan(m, req.Tasks, req.Seed)
	return result.Plan{
		Total: write + solve, Simulated: s.Simulated(),
		Stages: []result.StageCalls{{Stage: model.StageDraft, Calls: write}, {Stage: model.StageDraftCheck, Calls: solve}},
	}
}

// ask asks the optimizer for a draft.
func ask(ctx context.Context, s *session.Session, q draft.Request) (string, error) {
	text, err := s.Ask("draft")(ctx, optimize.Request{Key: q.Key, Stage: q.Stage, System: q.System, User: q.User, Schema: q.Schema, Accept: q.Accept})
	if errors.Is(err, optimize.ErrLost) {
		return "", draft.ErrLost
	}
	return text, err
}

// describe sums up what was kept and what fell.
func describe(d *result.Draft, r draft.Result, m draft.Material) {
	for _, f := range m.Files {
		d.Files = append(d.Files, f.Path)
	}
	d.Kept = len(r.Tasks)
	for _, t := range r.Tasks {
		if len(t.Doubts) > 0 {
			d.Doubtful++
		}
	}
	for _, f := range r.Fell {
		i := slices.IndexFunc(d.Fell, func(o result.Dropped) bool { return o.Reason == string(f.Reason) })
		if i < 0 {
			i = len(d.Fell)
			d.Fell = append(d.Fell, result.Dropped{Reason: string(f.Reason), Example: f.Detail})
		}
		d.Fell[i].N++
	}
	slices.SortStableFunc(d.Fell, func(a, b result.Dropped) int { return b.N - a.N })
}
