// Package rescore is the operation that scores the recorded answers of a run by other
// checks, and has its gate decide on them again.
//
// It knows sessions, the reader of runs and the gate of the loop. It knows nothing of how
// calls are made: it opens no run for writing, and asks no model.
package rescore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/session"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Filter says what of a run is rescored. The zero value is all but the answers to test
// tasks.
type Filter struct {
	Step string   // a step, or best; "": all
	IDs  []string // of tasks; none: all
	Type string   // of tasks
	Test bool     // answers to test tasks as well
}

// Run scores the recorded answers of the run in dir by the checks, the extraction and the
// tasks of a configuration. A run that has no outcomes is an input error.
func Run(ctx context.Context, cfg config.Config, dir string, f Filter, o session.Options) (*result.Rescore, error) {
	in, err := session.Load(ctx, cfg, o)
	if err != nil {
		return nil, err
	}
	r, err := record.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	w := &work{in: in, run: r, filter: f, out: &result.Rescore{RunDir: dir, Simulated: r.Manifest.Simulated, Sheets: []result.RescoredSheet{}, Decisions: []result.Rejudgement{}, NotRescored: map[string]int{}}}
	if err := w.prepare(ctx); err != nil {
		return nil, err
	}
	if err := w.sheets(ctx); err != nil {
		return nil, err
	}
	if r.Manifest.Kind == result.Train {
		if err := w.decide(ctx); err != nil {
			return nil, err
		}
	}
	return w.out, nil
}

// work is one rescoring.
type work struct {
	in      *session.Inputs
	run     *record.Run
	filter  Filter
	step    int  // of the filter; below 0: all
	met     bool // the filter has let a task through
	replies *record.Replies
	scorer  *rescorer
	out     *result.Rescore
}

// prepare refuses what cannot be rescored, and finds the replies of the run.
func (w *work) prepare(ctx context.Context) error {
	m := w.run.Manifest
	if kind := m.Kind; !slices.Contains([]result.Kind{result.Train, result.Evaluate, result.Compare}, kind) {
		return fault.Input(fmt.Errorf("a run of %s has written down no outcomes to rescore; `skillopt runs list` shows runs of train, eval and compare", kind))
	}
	if w.in.Scorer != nil {
		return fault.Input(errors.New("a rescorer scores instead of checks: there are none to rescore by"))
	}
	if w.in.WorldScores() {
		return fault.Input(errors.New("the world of the run scores its episodes: there are no checks to rescore by"))
	}
	w.step = -1
	if w.filter.Step != "" {
		step, err := w.run.ParseStep(w.filter.Step)
		if err != nil {
			return fault.Input(fmt.Errorf("--step: %w", err))
		}
		w.step = step
	}
	var err error
	if w.replies, err = w.run.Replies(ctx); err != nil {
		return err
	}
	tasks := map[string]task.Task{}
	for _, t := range w.in.Set.Tasks() {
		tasks[t.ID] = t
	}
	w.scorer = &rescorer{
		Tasks: tasks, Suite: w.in.Suite, Extract: w.in.Extract, Prompt: w.in.ChatPrompt(w.in.Images), World: w.in.InWorld(),
		Judged: func(ctx context.Context, key string, q check.JudgeRequest) (string, error) {
			return w.replies.Judgement(ctx, key, q.System, q.User, q.Vote)
		},
	}
	return nil
}

// sheets rescores what the run has written down of outcomes.
func (w *work) sheets(ctx context.Context) error {
	all, err := w.run.Sheets()
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return fault.Input(errors.New("the run has written down no outcomes yet: there is nothing to rescore; `skillopt runs list` shows runs, and how far they are"))
	}
	for _, s := range all {
		switch {
		case s.Split == "test" && !w.filter.Test:
			w.out.TestLeftOut = true
			continue
		case w.step >= 0 && (s.Step != w.step || s.Epoch > 0 || s.Split == "test"):
			continue
		}
		made, err := w.sheet(ctx, s)
		if err != nil {
			return err
		}
		w.out.Sheets = append(w.out.Sheets, made)
	}
	if !w.met && (len(w.filter.IDs) > 0 || w.filter.Type != "") {
		return fault.Input(fmt.Errorf("--task, --type: no answer there is to such a task; `skillopt runs tasks RUN` names tasks of a run%s", orTest(w.out.TestLeftOut)))
	}
	if len(w.out.Sheets) == 0 && w.out.TestLeftOut && w.step < 0 {
		return fault.Input(errors.New("the run has answers to test tasks alone: --test rescores them, which is a reading of the test set"))
	}
	return nil
}

// orTest says that answers to test tasks were left out.
func orTest(leftOut bool) string {
	if leftOut {
		return "; answers to test tasks take --test"
	}
	return ""
}

// sheet rescores one sheet.
func (w *work) sheet(ctx context.Context, s record.Sheet) (result.RescoredSheet, error) {
	out := result.RescoredSheet{Where: s.Title(), Step: s.Step, Epoch: s.Epoch, Arm: s.Arm, Split: s.Split, Changed: []result.RescoredTask{}, NotRescored: []result.Unrescored{}}
	outcomes, err := w.run.Outcomes(s)
	if err != nil {
		return out, err
	}
	var then, now []trajectory.Outcome
	samples := map[string]int{}
	for _, o := range outcomes {
		sample := samples[o.ID]
		samples[o.ID]++
		if !w.matchesFilter(o) || !o.Status.Measured() && o.FailReason == "" { // no one asked: the gate knew before
			continue
		}
		w.met = true
		again, err := w.outcome(ctx, s, o, sample)
		var no *refusedError
		if errors.As(err, &no) {
			out.NotRescored = append(out.NotRescored, result.Unrescored{ID: o.ID, Sample: sample, Reason: no.Reason})
			w.out.NotRescored[no.Reason]++
			continue
		}
		if err != nil {
			return out, err
		}
		then, now = append(then, slim(o)), append(now, slim(again))
		if differs(o, again) {
			out.Changed = append(out.Changed, newRescoredTask(o, again, sample))
		}
	}
	out.Rescored = len(now)
	if out.Before, err = scoreOutcomes(then); err == nil {
		out.After, err = scoreOutcomes(now)
	}
	return out, err
}

// matchesFilter reports whether the filter lets a task through.
func (w *work) matchesFilter(o trajectory.Outcome) bool {
	return (len(w.filter.IDs) == 0 || slices.Contains(w.filter.IDs, o.ID)) && (w.filter.Type == "" || o.Type == w.filter.Type)
}

// Reasons of replies that cannot be found.
const (
	notMeasured = "it could not be measured"
	noReply     = "the record has no reply of the agent there"
)

// outcome rescores one outcome of a sheet.
func (w *work) outcome(ctx context.Context, s record.Sheet, o trajectory.Outcome, sample int) (trajectory.Outcome, error) {
	if !o.Status.Measured() {
		return o, &refusedError{Reason: notMeasured}
	}
	key := w.replies.Of(s, o.ID, sample)
	reply := recordedReply(o)
	if w.replies.Episodes() {
		var err error
		if reply, err = w.replies.Read(ctx, key); errors.Is(err, record.ErrNoReply) {
			return o, &refusedError{Reason: noReply}
		} else if err != nil {
			return o, err
		}
	}
	return w.scorer.outcome(ctx, o.ID, key, reply, skill.Skill{})
}

// slim returns what scores need of an outcome.
func slim(o trajectory.Outcome) trajectory.Outcome {
	return trajectory.Outcome{ID: o.ID, Type: o.Type, Status: o.Status, Hard: o.Hard, Soft: o.Soft}
}

// maxAnswer is how much of an answer is reported, in bytes.
const maxAnswer = 2000

func newRescoredTask(then, now trajectory.Outcome, sample int) result.RescoredTask {
	return result.RescoredTask{ID: then.ID, Type: now.Type, Sample: sample, Before: newScored(then), After: newScored(now), Expected: wording.Middle(now.Reference, maxAnswer)}
}

func newScored(o trajectory.Outcome) result.Scored {
	return result.Scored{Hard: o.Hard, Soft: o.Soft, Answer: wording.Middle(o.Answer, maxAnswer), Extracted: o.Extracted, Why: wording.Middle(o.FailReason, maxAnswer), Checks: o.Checks}
}

// undecidable are the keys, or their beginnings, that the gate's decisions depend on apart from
// skills and scores.
var undecidable = [...]string{"gate.", "split.", "train.seed", "eval.selection", "edits.files", "edits.description"}

// sameGate says what of the gate is another one in the configuration, "" if nothing is.
func (w *work) sameGate() (string, error) {
	begun := w.run.Manifest.Identity
	id, err := w.in.Identity()
	if err != nil {
		return "", err
	}
	var found []string
	for _, c := range config.Changes(begun, id) {
		if slices.ContainsFunc(undecidable[:], func(part string) bool { return strings.HasPrefix(c.Key, part) }) {
			found = append(found, c.String())
		}
	}
	return strings.Join(found, "; "), nil
}
