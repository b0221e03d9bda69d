package skillopt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// DraftRequest says which tasks are to be drafted.
type DraftRequest struct {
	Skill string // a skill folder, its SKILL.md, or another Markdown file
	Tasks int    // how many, 1 to 500
	Seed  int64  // of the requests, and of the choice between equal parts of the skill
}

// Drafted is what a draft came to.
type Drafted struct {
	RunDir    string        `json:"run_dir"` // its record
	Simulated bool          `json:"simulated"`
	Asked     int           `json:"asked"`
	Kept      int           `json:"kept"`
	Doubtful  int           `json:"doubtful"` // kept, with something for a reviewer to look at
	Fell      []Fallen      `json:"fell,omitempty"`
	Files     []string      `json:"files"`             // of the skill, that tasks were drafted from
	Skipped   []string      `json:"skipped,omitempty"` // files of the skill that were left out, and why
	Recorded  int           `json:"recorded"`          // calls that the record answered
	Calls     CallSummary   `json:"calls"`
	Tokens    TokenSummary  `json:"tokens"`
	CostUSD   *float64      `json:"cost_usd"`
	Unknown   *UnknownUsage `json:"usage_unknown,omitempty"` // what of tokens and cost is an estimate
	WallS     float64       `json:"wall_s"`

	// Tasks are the lines of a task file; each says reviewed: false.
	Tasks []byte `json:"-"`
}

// Fallen counts the drafts that were not kept for one reason.
type Fallen struct {
	Reason  string `json:"reason"` // goes on after "drafts that": "quote the rule that they test"
	N       int    `json:"n"`
	Example string `json:"example,omitempty"` // what was wrong with the first of them
}

// Draft has the optimizer of a configuration write tasks for a skill that has
// none. Of cfg it uses models.optimizer, limits, prices, cache and record. Every
// call is recorded in the directory of WithRunDir: the same request again pays
// for nothing twice. The error is an *Error.
func Draft(ctx context.Context, cfg Config, req DraftRequest, opts ...Option) (*Drafted, error) {
	s, m, err := prepareDraft(ctx, cfg, req, opts)
	if err != nil {
		return nil, classify(err, "")
	}
	r, err := s.open(ctx)
	var other *run.IdentityError
	if errors.As(err, &other) {
		err = &inputError{fmt.Errorf("%s holds the record of a draft with other settings:\n  %s\nuse the same, choose another folder, or remove that one",
			other.Dir, strings.Join(other.Changes, "\n  "))}
	}
	if err != nil {
		return nil, classify(err, "")
	}
	d, err := s.draft(ctx, r, m, req)
	return d, closed(r, err)
}

// prepareDraft loads what a draft needs. A draft depends on nothing else, so that
// the record fits also when the rest of the configuration has changed.
func prepareDraft(ctx context.Context, cfg Config, req DraftRequest, opts []Option) (*setup, draft.Material, error) {
	only := config.Default()
	only.Models.Optimizer, only.Limits, only.Prices, only.PriceFile = cfg.Models.Optimizer, cfg.Limits, cfg.Prices, cfg.PriceFile
	only.Cache, only.Record, only.Run, only.Train.Seed = cfg.Cache, cfg.Record, cfg.Run, req.Seed
	only.Telemetry = cfg.Telemetry
	s := &setup{cfg: only, command: "draft", contents: map[string]string{}}
	var m draft.Material
	if err := s.begin(ctx, opts); err != nil {
		return nil, m, err
	}
	if req.Tasks < 1 || req.Tasks > draft.MaxTasks {
		return nil, m, &inputError{fmt.Errorf("%d tasks are asked for: 1 to %d can be", req.Tasks, draft.MaxTasks)}
	}
	m, err := draft.Read(req.Skill)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("found nothing at %s, allowed: a SKILL.md or a folder with one", req.Skill)
	}
	if err == nil && len(draft.Parts(m)) == 0 {
		err = draft.ErrNothingToTest
	}
	if err != nil {
		return nil, m, &inputError{fmt.Errorf("skill: %w", err)}
	}
	texts, err := draft.Digest()
	if err != nil {
		return nil, m, err
	}
	s.contents["skill"] = materialDigest(m)
	s.identify("draft", strconv.Itoa(req.Tasks))
	s.identify("draft.prompts", texts)
	return s, m, s.loadModel(model.Optimizer)
}

// begin applies options, fills in what they leave open, and loads the prices.
func (s *setup) begin(ctx context.Context, opts []Option) error {
	for _, o := range opts {
		o(&s.options)
	}
	s.models = map[string]wire.Built{}
	if s.now == nil {
		s.now = time.Now
	}
	if s.loaded = s.options.loaded; s.loaded == nil {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("find working directory: %w", err)
		}
		s.loaded = config.Detached(s.cfg, dir)
	}
	if err := s.cfg.Validate(); err != nil {
		return err
	}
	return s.loadPrices(ctx)
}

func materialDigest(m draft.Material) string {
	var b strings.Builder
	for _, f := range m.Files {
		fmt.Fprintf(&b, "%q %d\n%s\n", f.Path, len(f.Lines), strings.Join(f.Lines, "\n"))
	}
	return digest([]byte(b.String()))
}

// draft drafts in an open run directory.
func (s *setup) draft(ctx context.Context, r *run.Run, m draft.Material, req DraftRequest) (*Drafted, error) {
	began := s.now()
	if err := s.confirmDraft(r, m, req); err != nil {
		return nil, err
	}
	if err := s.writeConfig(r); err != nil {
		return nil, err
	}
	w, err := s.world(ctx, r)
	if err != nil {
		return nil, err
	}
	defer w.close()
	result, err := draft.Run(ctx, draft.Options{Material: m, Tasks: req.Tasks, Seed: req.Seed, Ask: w.askAuthor, Progress: w.drafting})
	if err != nil {
		return nil, s.endEvaluation(r, w.cause(ctx, err))
	}
	d := &Drafted{RunDir: r.Dir, Simulated: s.simulated(), Asked: req.Tasks, Recorded: w.recorded, Skipped: m.Skipped}
	d.describe(result, m)
	if d.Tasks, err = draft.Encode(result.Tasks); err != nil {
		return nil, err
	}
	var sum Summary
	w.account(&sum)
	d.Calls, d.Tokens, d.CostUSD, d.Unknown, d.WallS = sum.Calls, sum.Tokens, sum.CostUSD, sum.Unknown, s.now().Sub(began).Seconds()
	w.events(event.RunDone{Status: "completed", WallS: d.WallS})
	return d, errors.Join(r.WriteFile("tasks.jsonl", d.Tasks), r.WriteJSON("fell.json", result.Fell), r.SetStatus("completed"))
}

func (s *setup) confirmDraft(r *run.Run, m draft.Material, req DraftRequest) error {
	if s.confirm == nil || r.Resumed {
		return nil
	}
	write, solve := draft.Plan(m, req.Tasks, req.Seed)
	plan := Plan{
		Total: write + solve, Simulated: s.simulated(),
		Stages: []train.StageCalls{{Stage: model.StageDraft, Calls: write}, {Stage: model.StageDraftCheck, Calls: solve}},
	}
	if err := s.confirm(plan); err != nil {
		return errors.Join(&inputError{err}, r.Discard())
	}
	return nil
}

// askAuthor asks the optimizer for a draft.
func (w *world) askAuthor(ctx context.Context, q draft.Question) (string, error) {
	text, err := w.ask("draft")(ctx, optimize.Question{Key: q.Key, Stage: q.Stage, System: q.System, User: q.User, Schema: q.Schema, Accept: q.Accept})
	if errors.Is(err, optimize.ErrLost) {
		return "", draft.ErrLost
	}
	return text, err
}

func (w *world) drafting(stage string, done, total int) {
	p := w.usage()
	p.Stage, p.Done, p.Total = stage, done, total
	w.events(p)
}

// describe sums up what was kept and what fell.
func (d *Drafted) describe(r draft.Result, m draft.Material) {
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
		i := slices.IndexFunc(d.Fell, func(o Fallen) bool { return o.Reason == string(f.Reason) })
		if i < 0 {
			i = len(d.Fell)
			d.Fell = append(d.Fell, Fallen{Reason: string(f.Reason), Example: f.Detail})
		}
		d.Fell[i].N++
	}
	slices.SortStableFunc(d.Fell, func(a, b Fallen) int { return b.N - a.N })
}

// unreviewedKey stands among the settings of a session in the manifest of a run.
const unreviewedKey = "tasks.unreviewed"

// settings is what may change between the sessions of a run: the operational
// keys, and how many tasks are unreviewed drafts.
func (s *setup) settings() map[string]string {
	out := maps.Clone(s.cfg.Settings(s.loaded.Redactor()))
	maps.Copy(out, s.versions)
	if n := s.set.Unreviewed(); n > 0 {
		out[unreviewedKey] = strconv.Itoa(n)
	}
	return out
}

// unreviewed counts the drafts in splits.
func (s *setup) unreviewed(splits []task.Split) int {
	n := 0
	for _, split := range splits {
		for _, t := range s.set.Split(split) {
			if t.Unreviewed {
				n++
			}
		}
	}
	return n
}
