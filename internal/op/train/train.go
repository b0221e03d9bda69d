// Package train is the operation that trains a skill: it maps a session to the loop
// (internal/train), keeps the loop within the ceilings of the run, and sums up the
// result. Plan reports what that takes before anything is spent.
//
// It knows sessions and the loop. It knows nothing of how calls are made, and of how the
// loop decides.
package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/forecast"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/remember"
	"github.com/seed-f4525e22/skillopt/internal/report"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/seedcheck"
	"github.com/seed-f4525e22/skillopt/internal/session"
	loop "github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/training"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Run trains a skill, or resumes its training. The summary is there whenever a run was
// begun, also when there is an error. Of a complete run it is the summary of that run.
func Run(ctx context.Context, cfg config.Config, o session.Options) (*result.Summary, error) {
	sum, err := begun(ctx, cfg, o)
	var complete *session.CompleteError
	if !errors.As(err, &complete) {
		return sum, err
	}
	d, err := record.ReadDocuments(complete.RunDir, complete.RunDir)
	if err == nil && d.Summary == nil {
		err = complete
	}
	if err != nil {
		return nil, err
	}
	sum = d.Summary
	sum.Found, sum.History = true, &d.History
	sum.Skill, err = readBest(complete.RunDir)
	return sum, err
}

// readBest reads what a run has trained.
func readBest(dir string) (skill.Skill, error) {
	path := run.SkillPath(filepath.Join(dir, run.BestFile))
	best, err := skill.Read(os.DirFS(dir), filepath.Base(path))
	if err != nil {
		return skill.Skill{}, fmt.Errorf("read what was trained: %w", err)
	}
	return best, nil
}

func begun(ctx context.Context, cfg config.Config, o session.Options) (*result.Summary, error) {
	earlier, err := session.Continue(ctx, &cfg, &o)
	if err != nil {
		return nil, err
	}
	s, err := session.Prepare(ctx, cfg, o, model.Target, model.Optimizer)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(session.TrainDescription(s.Inputs), session.TrainRegion(s.Inputs), session.TrainExamples(s.Inputs)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	t := &operation{session: s, sizes: training.New(s), earlier: earlier}
	err = s.Do(ctx, session.Op{Kind: result.Train, Check: s.RequireSplits, Ask: t.ask, Steps: t.steps, Begin: t.begin, Work: t.work, Ends: true})
	return t.summary, err
}

// operation is one session of training.
type operation struct {
	session *session.Session
	sizes   *training.Sizes
	options loop.Options
	plan    result.Plan
	summary *result.Summary // nil: the run was not begun

	earlier []loop.Stretch // of the runs that this one continues from
	end     *loop.LoopEnd  // where the loop was ended before its last step; nil: nowhere

	warnings []string // before anybody was asked
}

// ask settles how large the run is, and returns what it will take.
func (t *operation) ask(ctx context.Context) (result.Plan, error) {
	s := t.session
	if err := t.sizes.Settle(s.Run); err != nil {
		return t.plan, err
	}
	if err := t.settleEarlier(); err != nil {
		return t.plan, err
	}
	for _, text := range t.sizes.LeftOut() {
		s.Warn(text)
	}
	if s.KeepOpen && !t.sizes.KeepsOpen() {
		return t.plan, fault.Input(errors.New("--keep-open: the run was begun without it, and its sizes follow its ceilings; begin another run with it"))
	}
	t.options = goingOn(t.sizes.Options(), t.earlier)
	t.plan = forecast.Bound(s, t.options.Rest())
	t.warnings = s.Warnings
	if s.Run.Resumed {
		return t.plan, nil
	}
	if err := t.sizes.Refused(); err != nil {
		return t.plan, errors.Join(err, s.Run.Discard())
	}
	if why := t.options.TooFewToShow(s.Data); why != "" {
		return t.plan, errors.Join(fault.Input(errors.New(why)), s.Run.Discard())
	}
	if s.Finish {
		return t.plan, errors.Join(fault.Input(errors.New("--finish: there is no unfinished run of this configuration; `skillopt runs list` shows runs, --run names one")), s.Run.Discard())
	}
	if s.Confirm == nil {
		return t.plan, nil
	}
	forecast.Foretell(ctx, s, t.options, &t.plan)
	return t.plan, foretellReading(ctx, s, t.options, &t.plan)
}

// steps returns how many steps the settled run has.
func (t *operation) steps() int { return t.options.Steps(t.session.Data.Drawable()) }

// begin records what was settled, before anything rests on it.
func (t *operation) begin(ctx context.Context) (err error) {
	s := t.session
	t.summary = &result.Summary{RunDir: s.Run.Dir, Simulated: s.Simulated(), Exploratory: t.plan.Unreviewed > 0, Limit: s.Config.Tasks.Limit, Warnings: t.warnings, Skill: s.Skill}
	t.summary.Continues = newContinues(t.earlier)
	if err := errors.Join(t.sizes.Record(ctx, s.Run), t.recordEarlier(ctx), t.keepMemory()); err != nil {
		return err
	}
	if err = t.settleEnd(ctx); err != nil {
		t.summary = nil
	}
	return err
}

// keepMemory writes what other runs leave to this one into its directory, so that it can be
// given again wherever the run goes.
func (t *operation) keepMemory() error {
	s := t.session
	if remember.Empty(s.Remembered) {
		return nil
	}
	text, err := remember.Encode(s.Remembered)
	if err != nil {
		return err
	}
	return s.Run.WriteFile(run.MemoryFile, text)
}

// work runs the loop and sums it up.
func (t *operation) work(ctx context.Context) (result.Status, error) {
	s := t.session
	t.announce()
	deps, err := t.deps(s)
	if err != nil {
		return "", err
	}
	var trained *loop.Result
	if err = t.seedPasses(ctx, deps); err == nil {
		trained, err = t.train(ctx, deps)
	}
	err = s.Cause(ctx, err)
	sum := t.summary
	describe(sum, trained, session.AgentName(s.Inputs))
	if trained != nil {
		sum.Skill, sum.History = trained.Best, &trained.History
		sum.Examples = len(s.Data.ShownBy(trained.Best, s.Data.Train))
	}
	sum.Usage, sum.Stages = s.Account()
	sum.LeftOut = s.LeftOut()
	if t.end != nil && t.options.Raisable {
		sum.Ceiling = t.end.Limit
	}
	setStatus(sum, err)
	if werr := t.writeEnd(context.WithoutCancel(ctx)); werr != nil && err == nil {
		err = werr
		setStatus(sum, err)
	}
	s.Emit(event.RunDone{Status: string(sum.Status), Reason: sum.Reason, WallS: sum.WallS})
	return sum.Status, err
}

// seedPasses fails if the seed skill does not pass what each candidate has to.
func (t *operation) seedPasses(ctx context.Context, deps loop.Deps) error {
	if deps.Verify == nil {
		return nil
	}
	refused, err := deps.Verify(ctx, "seed/verify", deps.Skill)
	if err == nil && refused != "" {
		err = fault.Input(fmt.Errorf("the seed skill does not pass: %s", refused))
	}
	return err
}

// setStatus records how the run ended.
func setStatus(sum *result.Summary, err error) {
	sum.Status = session.RunStatus(err)
	if err != nil {
		sum.Reason = err.Error()
	}
}

// announce sends the first events of the run.
func (t *operation) announce() {
	s := t.session
	s.Emit(event.RunStarted{
		RunDir: s.Run.Dir, RunID: s.Run.Manifest.RunID, Resumed: s.Run.Resumed, Recorded: s.Recorded,
		Train: len(s.Data.Train), Selection: len(s.Data.Selection), Test: len(s.Data.Test), Folds: s.Data.NumFolds(), Steps: t.steps(), MaxCalls: t.plan.Total, Continues: continuesWords(t.earlier),
	})
	for _, change := range s.Run.Changed {
		s.Emit(event.Warning{Text: "since the last session, " + change})
	}
	s.EmitWarnings()
}

// deps returns what the loop works with in a session, without ceilings.
func (t *operation) deps(s *session.Session) (loop.Deps, error) {
	measure, err := s.Measure(s.Run)
	if err != nil {
		return loop.Deps{}, err
	}
	best, err := newShipper(s.Run)
	if err != nil {
		return loop.Deps{}, fmt.Errorf("look at the best skill of the run: %w", err)
	}
	d := loop.Deps{
		Data: s.Data, Skill: s.Skill, Scope: s.Scope, Ship: best.ship, Roller: s.Runner, Ask: s.Ask, Record: s.Caller, Prompts: s.Prompts, Files: s.Run,
		Told:   s.TargetContext(s.Hidden()),
		AtOnce: max(gate.DefaultAtOnce, s.Config.Limits.Concurrency),
		Events: s.Emit, Usage: s.Usage, Health: s.Health, Overlap: func() bool { return !hasCeiling(session.InForce(s)) }, Ahead: s.Caller.AheadContext,
		Look: seedcheck.AtStart(s), Measure: measure, Optimizer: changeable(s.Inputs, "models.optimizer."),
		// A replay gives what was recorded, to its end.
		Fruitless: s.Replay == nil,
	}
	if len(s.Config.Edits.Verify.Command) > 0 {
		d.Verify = s.Verify
	}
	if reads := s.TestReads(s.Data.Test); reads != nil {
		d.Before = func(ctx context.Context, n int, taken bool) (result.TestReads, error) {
			return reads.Note(ctx, n, taken || t.testedBefore())
		}
	}
	return d, nil
}

// changeable represents the settings under a prefix that may change between sessions.
func changeable(s *session.Inputs, prefix string) string {
	settings := s.Settings()
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if strings.HasPrefix(key, prefix) {
			fmt.Fprintf(&b, "%q=%q\n", key, settings[key])
		}
	}
	return session.Digest([]byte(b.String()))
}

// writeEnd writes the summary and the report, and how the run ended. It is written also
// when the context of the run is cancelled.
func (t *operation) writeEnd(ctx context.Context) error {
	r := t.session.Run
	kept := *t.summary
	kept.RunDir = "." // a run directory can be moved: the file names no place
	if err := r.WriteJSON(run.SummaryFile, kept); err != nil {
		return err
	}
	if err := writeReport(ctx, r, &kept); err != nil {
		return err
	}
	return r.SetStatus(t.summary.Status)
}

// writeReport writes report.html and report.md from the other files of a run. The manifest
// says until the end that the run is at work, so the score is that of the summary.
func writeReport(ctx context.Context, r *run.Run, s *result.Summary) error {
	files, err := record.ReadTraining(r.Dir, report.RunName(r.Dir))
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	files.Score = s.RunScore()
	out := report.Of(files)
	if out.Failing, err = record.ReadFailing(ctx, r.Dir, report.Transcripts); err != nil {
		out.Problems = append(out.Problems, "what fails is not shown: "+err.Error())
	}
	page, err := report.HTML(out)
	if err != nil {
		return err
	}
	if err := r.WriteFile(run.ReportFile, page); err != nil {
		return err
	}
	return r.WriteFile(run.PullFile, report.Markdown(out))
}
