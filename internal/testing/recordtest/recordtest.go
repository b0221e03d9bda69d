// Package recordtest writes run directories for tests and benchmarks of whoever reads runs: as
// large as they may become, in the formats in which runs are written. The figures in them are
// drawn from a seed and agree with each other; nothing was trained.
//
// It knows the files of a run. It knows nothing of who reads them.
package recordtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/eventlog"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Size says how large a run is.
type Size struct {
	Steps      int
	Candidates int  // of all steps
	Batch      int  // train tasks of a step
	Selection  int  // tasks
	Train      int  // tasks
	Test       int  // tasks
	Record     bool // each outcome has its call in run.db
	Events     bool // each outcome and decision is in the log of events
	Skill      int  // bytes of the seed skill, about
}

// Large is a run of 300 steps, 1,000 candidates and 100,000 outcomes.
func Large() Size {
	return Size{Steps: 300, Candidates: 1000, Batch: 120, Selection: 213, Train: 600, Test: 55}
}

// Write writes a run directory. It must not exist.
func Write(ctx context.Context, dir string, size Size) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	w := &writer{dir: dir, size: size, dice: rand.New(rand.NewPCG(1, 2)), best: 0.3}
	j, err := journal.Open(ctx, filepath.Join(dir, run.DBFile), journal.Options{})
	if err != nil {
		return err
	}
	w.journal = j
	if err := j.SetMeta(ctx, journal.MetaRunID, "large"); err != nil {
		return errors.Join(err, j.Close())
	}
	if err := w.log(); err != nil {
		return errors.Join(err, j.Close())
	}
	w.seed()
	for step := 1; step <= size.Steps; step++ {
		w.step(step)
	}
	w.end()
	w.flush(ctx)
	if w.events != nil {
		w.events.Close()
	}
	return errors.Join(w.err, w.unlogged, j.Close())
}

// log opens the log of events, if there is to be one.
func (w *writer) log() (err error) {
	if w.size.Events {
		w.events, err = eventlog.Open(w.dir, eventlog.Options{Run: "large", Failed: func(err error) { w.unlogged = err }})
	}
	return err
}

// tell notes an event, a second after the one before.
func (w *writer) tell(e event.Event) {
	if w.events == nil {
		return
	}
	w.told++
	w.events.Add(e, time.Unix(1_760_000_000+w.told, 0).UTC())
}

// writer writes a run. The first error stays.
type writer struct {
	dir     string
	size    Size
	dice    *rand.Rand
	journal *journal.Journal
	calls   []journal.Record
	history result.History
	all     result.Candidates
	lines   []string // of the current skill
	best    float64
	events  *eventlog.Writer // nil: there is no log
	told    int64            // events
	err     error

	unlogged error // why the log ended, once it is closed
}

func (w *writer) write(name string, data []byte) {
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if w.err == nil {
		w.err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, data, 0o600))
	}
}

func (w *writer) json(name string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.write(name, append(data, '\n'))
}

func (w *writer) outcomes(name string, all []trajectory.Outcome) {
	data, err := trajectory.Outcomes(all).Lines()
	if err != nil {
		w.err = errors.Join(w.err, err)
		return
	}
	w.write(name, append(data, '\n'))
}

// asked are the outcomes of tasks of a split from one on, of which a share is solved.
func (w *writer) asked(split string, from, n, of int, share float64, key string) (out []trajectory.Outcome, hard float64, measured int) {
	question := "Here is a document from the files:\n" + strings.Repeat("an entry: \"so many\" of it\n", 8) + "Question: how many are there?"
	for i := range n {
		task := (from + i) % of
		o := trajectory.Outcome{
			ID: fmt.Sprintf("%s-%04d", split, task), Type: fmt.Sprintf("type-%d", task%8), Status: score.OK, Question: question, Reference: "expected: 7",
			Trajectory: []trajectory.Turn{{Role: "assistant", Content: "The document says it.\n<answer>7</answer>"}},
			Usage:      trajectory.Usage{Input: 400, Output: 20}, Served: "sim",
		}
		switch p := w.dice.Float64(); {
		case p < 0.01:
			o.Status, o.FailReason = score.Unmeasured, "server: no answer"
		case p < 0.02:
			o.Status, o.FailReason, o.Answer = score.AgentError, "deadline: it took too long", ""
		case p < share:
			o.Hard, o.Soft, o.Answer = 1, 1, "7"
		default:
			o.Soft, o.Answer, o.FailReason = float64(w.dice.IntN(3))/4, "8", "equals: got \"8\", expected \"7\""
		}
		if o.Status.Measured() {
			measured++
			hard += o.Hard
		}
		out = append(out, o)
		w.call(key+"/"+o.ID, i)
		w.tell(event.OutcomeDone{Key: key + "/" + o.ID, Stage: split, Task: o.ID, Status: string(o.Status), Hard: &o.Hard, Soft: &o.Soft, Reason: o.FailReason, Seconds: 1})
	}
	if measured > 0 {
		hard /= float64(measured)
	}
	return out, hard, measured
}

// call notes the call of an outcome.
func (w *writer) call(key string, i int) {
	if !w.size.Record {
		return
	}
	w.calls = append(w.calls, journal.Record{
		Kind: journal.Call, Key: key + "/sample0/attempt0/turn1", Input: journal.Input{Own: []byte(`{"model":"m","messages":[]}`)},
		Result: []byte(`{"text":"The document says it.\n<answer>7</answer>","finish":"stop","usage":{"input":400,"output":20}}`),
		Spend:  journal.Spend{Stage: "rollout", Role: "target", Model: "m", Usage: journal.Usage{Input: 400, Output: 20}, StartedAt: time.Unix(1_760_000_000+int64(i), 0), Took: time.Second},
	})
}

// flush writes the calls, in parts.
func (w *writer) flush(ctx context.Context) {
	for len(w.calls) > 0 && w.err == nil {
		n := min(5000, len(w.calls))
		w.err = w.journal.Append(ctx, w.calls[:n]...)
		w.calls = w.calls[n:]
	}
}

func (w *writer) text() string {
	return "---\nname: large\ndescription: A skill of a run that is large.\n---\n\n# Large\n\n" + strings.Join(w.lines, "\n") + "\n"
}

// seed is what stands before the first step.
func (w *writer) seed() {
	w.lines = []string{"- Answer the question."}
	for n, size := 1, 0; size < w.size.Skill; n++ {
		line := fmt.Sprintf("- Rule %d of the seed: read the document to its end, and count what is asked for, not what stands beside it.", n)
		w.lines, size = append(w.lines, line), size+len(line)+1
	}
	w.tell(event.RunStarted{RunID: "large", Train: w.size.Train, Selection: w.size.Selection, Test: w.size.Test, Steps: w.size.Steps})
	outcomes, hard, n := w.asked("sel", 0, w.size.Selection, w.size.Selection, w.best, "seed/selection")
	w.best = hard
	s := skill.New(w.text())
	w.history.Steps = append(w.history.Steps, result.StepRecord{
		Action: result.ActionBaseline, SelectionHard: &hard, SelectionN: n, Candidate: &hard, Current: &hard, Best: &hard, CurrentOrigin: "seed", BestOrigin: "seed", SkillHash: s.Digest(),
	})
	w.all.Candidates = append(w.all.Candidates, result.Candidate{Hash: s.Digest(), Origin: "seed", Text: s.Text(), Accepted: true})
	for _, o := range outcomes {
		w.all.Items = append(w.all.Items, o.ID)
	}
	w.write("skills/skill_v0000.md", []byte(s.Text()))
	w.outcomes("steps/step_0000/selection.json", outcomes)
}

// step is a step, of which the first candidate of every third one is taken.
func (w *writer) step(step int) {
	w.tell(event.StageStarted{Epoch: 1 + (step-1)/30, Step: step, Stage: "rollout", Total: w.size.Batch})
	dir, last, epoch := fmt.Sprintf("steps/step_%04d/", step), w.history.Steps[step-1], 1+(step-1)/30
	rolled, train, trained := w.asked("train", step*w.size.Batch, w.size.Batch, w.size.Train, w.best, fmt.Sprintf("e%d/s%d/rollout", epoch, step))
	judged, hard, n := w.asked("sel", 0, w.size.Selection, w.size.Selection, min(0.95, w.best+0.05), fmt.Sprintf("e%d/s%d/gate/cand", epoch, step))
	edit := skill.Edit{Op: skill.Append, Content: fmt.Sprintf("- Rule %d: give the number alone.", step), SupportCount: 3, Source: skill.FromFailure}
	made, reports := skill.New(w.text()+edit.Content+"\n"), []skill.Report{{Index: 1, Op: edit.Op, Status: skill.AppliedAppend, Content: edit.Content}}
	rec := result.StepRecord{
		Step: step, Epoch: epoch, StepInEpoch: 1 + (step-1)%30, Action: "reject", RolloutHard: &train, RolloutN: trained, SelectionHard: &hard, SelectionN: n, Candidate: &hard,
		CandidateHash: made.Digest(), Metric: "hard", Edits: reports, Merged: 1, Ranked: 1, Patches: 1, FailurePatches: 1,
		Current: last.Current, Best: last.Best, BestStep: last.BestStep, CurrentOrigin: last.CurrentOrigin, BestOrigin: last.BestOrigin, SkillHash: last.SkillHash,
	}
	if hard > *last.Best {
		w.lines, w.best = append(w.lines, edit.Content), hard
		rec.Action, rec.Current, rec.Best, rec.BestStep, rec.SkillHash = "accept_new_best", &hard, &hard, step, made.Digest()
		rec.CurrentOrigin, rec.BestOrigin = fmt.Sprintf("step %d", step), fmt.Sprintf("step %d", step)
	}
	w.history.Steps = append(w.history.Steps, rec)
	w.tell(event.StepDone{Epoch: epoch, Step: step, Action: string(rec.Action), Rollout: &train, Candidate: &hard, Current: rec.Current, Best: rec.Best, BestStep: rec.BestStep, Edits: 1, N: n})
	w.candidates(step, made, &hard, rec)
	w.write(fmt.Sprintf("skills/skill_v%04d.md", step), []byte(w.text()))
	w.write(dir+"candidate_skill.md", []byte(made.Text()))
	w.outcomes(dir+"rollout.json", rolled)
	w.outcomes(dir+"selection.json", judged)
	w.json(dir+"edit_apply_report.json", map[string]any{"changed": true, "edits": []skill.Edit{edit}, "reports": reports})
	w.json(dir+"patches.json", []any{map[string]any{"analyses": []any{map[string]any{
		"key": "analyst_error/0", "source_type": "failure", "task_ids": []string{rolled[0].ID}, "patch": map[string]any{"reasoning": "the number stood in a sentence", "edits": []skill.Edit{edit}},
	}}}})
}

// candidates are as many as come to a step.
func (w *writer) candidates(step int, made skill.Skill, mean *float64, rec result.StepRecord) {
	n := w.size.Candidates*step/w.size.Steps - w.size.Candidates*(step-1)/w.size.Steps
	for i := range n {
		c := result.Candidate{Hash: fmt.Sprintf("%s-%d", made.Digest(), i), Origin: fmt.Sprintf("step %d", step), Step: step, Text: made.Text()}
		if i == 0 {
			c.Hash, c.Mean, c.Accepted = made.Digest(), mean, rec.SkillHash == made.Digest()
			c.Pooled = []gate.Pooled{{Sum: *mean, N: 1}}
		}
		w.all.Candidates = append(w.all.Candidates, c)
	}
}

// end is what stands behind the last step.
func (w *writer) end() {
	last := w.history.Steps[w.size.Steps]
	for i := range w.all.Candidates {
		c := &w.all.Candidates[i]
		c.Best = c.Origin == last.BestOrigin && (c.Accepted || c.Origin == "seed")
	}
	tested, arms, scores := map[string][]trajectory.Outcome{}, map[string]*result.Arm{}, map[string]*result.Score{}
	for arm, share := range map[string]float64{"seed": 0.3, "best": w.best} {
		outcomes, hard, n := w.asked("test", 0, w.size.Test, w.size.Test, share, "final/test/"+arm)
		ci := score.Wilson(hard, n, score.Z95)
		tested[arm] = outcomes
		arms[arm] = &result.Arm{Hard: hard, Soft: hard, N: n, Low: ci.Low, High: ci.High}
		scores[arm] = arms[arm].Score()
	}
	named, err := trajectory.Named(tested).Lines()
	w.err = errors.Join(w.err, err)
	w.write("test_outcomes.json", named)
	w.history.Final = &result.FinalRecord{BestScore: last.Best, BestStep: last.BestStep, Test: arms}
	w.json(run.HistoryFile, w.history)
	w.json("candidates.json", w.all)
	w.write(run.BestFile, []byte(w.text()))
	w.tell(event.RunDone{Status: string(result.Completed), WallS: float64(w.told)})
	summary := result.Summary{Status: result.Completed, Simulated: true, Steps: w.size.Steps, Best: result.Best{Step: last.BestStep}, Test: result.Test{Seed: scores["seed"], Best: scores["best"]}, Stages: []result.Stage{}}
	summary.Calls = result.Calls{Total: int64(len(w.calls)), ByStage: map[string]int64{"rollout": int64(len(w.calls))}}
	w.json(run.SummaryFile, summary)
	w.json(run.ManifestFile, run.Manifest{
		Format: run.FormatVersion, RunID: "large", Name: filepath.Base(w.dir), Kind: result.Train, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Version: "test",
		Status: result.Completed, HighWater: int64(len(w.calls)), Identity: map[string]string{"gate.metric": `"hard"`}, Simulated: true,
		Plan: &run.Plan{Train: w.size.Train, Selection: w.size.Selection, Test: w.size.Test, Steps: w.size.Steps},
	})
}
