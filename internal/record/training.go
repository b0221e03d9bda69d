package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Training is what the files of a run that trains say. What a run has not got to is absent.
type Training struct {
	Name     string // how the run is called: its path as the reader gave it
	Manifest run.Manifest
	History  result.History
	Summary  *result.Summary // nil until the run has ended once
	Score    result.RunScore // the one that every window shows
	Steps    []Step          // as in History, with what their files say
	Guided   map[int][]Item  // outcomes of the guidance that a slow update wrote, by epoch
	Seed     skill.Skill     // the skill before training, with the files that edits may change
	Best     skill.Skill     // so too
	HasBest  bool
	Test     map[string][]Item // outcomes on the test split by arm

	// Problems are files that could not be used, one line each.
	Problems []string
}

// A NoRunError says that a directory holds no run that can be read.
type NoRunError struct {
	Dir    string
	Reason string
}

func (e *NoRunError) Error() string {
	return fmt.Sprintf("%s: %s; `skillopt runs list` shows runs", e.Dir, e.Reason)
}

// Step is what the files of a step say, in addition to its line of history.json.
type Step struct {
	Candidate skill.Skill // with the files that edits may change
	Made      bool        // the step made a candidate
	Selection []Item      // outcomes of the candidate
	Edits     []provenance.Applied
	Tried     []skill.Edit // of Reports, those that could be read as edits
	Summary   []string     // of a rewrite: what was changed
	Analyses  []provenance.Analysis
	Trained   []Item   // outcomes of the batch, where some of it was not measured
	Lost      []string // keys of the optimizer's requests without a usable reply, by stage
}

// Item is the outcome of one task. The scores mean nothing unless it was measured.
type Item struct {
	ID         string       `json:"id"`
	Type       string       `json:"type"`
	Status     score.Status `json:"status"`
	Hard       float64      `json:"hard"`
	Soft       float64      `json:"soft"`
	FailReason string       `json:"fail_reason"`
}

// ReadTraining reads the files of a run directory; name is what a report calls it. Nothing
// outside of the directory is read, whatever links it holds, and its record is not needed.
// Without a manifest, or when manifest or history are damaged, the error is a *NoRunError.
// Other files that are damaged are named in Problems.
func ReadTraining(dir, name string) (*Training, error) {
	root, err := openRun(dir, name)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	r := &reader{root: root, run: &Training{Name: name}, read: new(atomic.Int64)}
	if err := r.readBasics(); err != nil {
		return nil, err
	}
	r.rest()
	return r.run, nil
}

func openRun(dir, name string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NoRunError{name, "there is no such folder"}
	}
	if err != nil {
		return nil, fmt.Errorf("open run %s: %w", name, err)
	}
	return root, nil
}

type reader struct {
	root *os.Root
	run  *Training
	read *atomic.Int64 // bytes of files; nil: they are not counted
}

// maxTraining is how many bytes of a run's files are read at most where all of its steps are.
const maxTraining = 128 << 20

// readBasics reads what every report needs: the manifest and the history.
func (r *reader) readBasics() error {
	if found, err := r.decode(run.ManifestFile, &r.run.Manifest); err != nil {
		return &NoRunError{r.run.Name, err.Error()}
	} else if !found {
		return &NoRunError{r.run.Name, "is no run directory: it has no " + run.ManifestFile}
	}
	if f := r.run.Manifest.Format; f != run.FormatVersion {
		return &NoRunError{r.run.Name, run.FormatText(run.ManifestFile, f)}
	}
	if _, err := r.decode(run.HistoryFile, &r.run.History); err != nil {
		return &NoRunError{r.run.Name, err.Error()}
	}
	return nil
}

func (r *reader) rest() {
	var s result.Summary
	if r.optional(run.SummaryFile, &s) {
		r.run.Summary = &s
	}
	t := trained{r.run.Manifest, r.run.History, result.Candidates{}, r.run.Summary}
	if !t.hasEnded() {
		r.optional(candidatesFile, &t.candidates)
	}
	shipped, _ := t.best()
	r.run.Score = shipped.RunScore
	r.run.Seed, _ = r.skillAt("skills/skill_v0000.md")
	r.run.Best, r.run.HasBest = r.best()
	r.optional("test_outcomes.json", &r.run.Test)
	r.steps()
	r.run.Guided = map[int][]Item{}
	for _, e := range r.run.History.Epochs {
		var items []Item
		if r.optional(fmt.Sprintf("epochs/epoch_%02d/selection.json", e.Epoch), &items) {
			r.run.Guided[e.Epoch] = items
		}
	}
}

// steps reads the folders of the steps, which are most of what there is to read,
// side by side.
func (r *reader) steps() {
	steps := r.run.History.Steps
	r.run.Steps = make([]Step, len(steps))
	problems := make([][]string, len(steps))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range steps {
		group.Go(func() error {
			own := &reader{root: r.root, run: &Training{}, read: r.read}
			r.run.Steps[i], problems[i] = own.step(s), own.run.Problems
			return nil
		})
	}
	_ = group.Wait() // what cannot be read is a problem, and no error
	r.run.Problems = append(r.run.Problems, slices.Concat(problems...)...)
}

func (r *reader) step(of result.StepRecord) Step {
	dir := fmt.Sprintf("steps/step_%04d/", of.Step)
	var s Step
	s.Candidate, s.Made = r.skillAt(dir + "candidate_skill.md")
	r.optional(dir+"selection.json", &s.Selection)
	var update struct {
		Edits   []skill.Edit   `json:"edits"`
		Reports []skill.Report `json:"reports"`
		Summary []string       `json:"summary"`
	}
	if r.optional(dir+"edit_apply_report.json", &update) {
		s.Tried, s.Summary = update.Edits, update.Summary
		s.Edits = pairEdits(update.Edits, update.Reports)
	}
	var batches []struct {
		Analyses []analysis `json:"analyses"`
		Lost     []string   `json:"lost"`
	}
	r.optional(dir+"patches.json", &batches)
	for i, b := range batches {
		for _, a := range b.Analyses {
			plain := a.plain()
			if a.Key != "" {
				plain.Place = fmt.Sprintf("mb%d/%s", i, a.Key)
			}
			s.Analyses = append(s.Analyses, plain)
		}
		s.Lost = append(s.Lost, b.Lost...)
	}
	if len(of.Unmeasured) > 0 {
		r.optional(dir+"rollout.json", &s.Trained)
	}
	if of.LostReplies > len(s.Lost) {
		s.Lost = append(s.Lost, r.readLostKeys(dir)...)
	}
	return s
}

// readLostKeys returns the keys of requests without a usable reply after those to analysts. Those
// of a second try are in a file of their own.
func (r *reader) readLostKeys(dir string) (keys []string) {
	var again struct {
		Lost []string `json:"lost"`
	}
	if r.optional(dir+"second_try.json", &again) {
		keys = append(keys, again.Lost...)
	}
	for _, name := range []string{"merged_patch.json", "edit_budget.json", "ranked_edits.json", "edit_apply_report.json", "appendix.json"} {
		var stage struct {
			Lost []string `json:"lost"`
		}
		if r.optional(dir+name, &stage) {
			keys = append(keys, stage.Lost...)
		}
	}
	return keys
}

// pairEdits pairs edits with their reports. Proposals that were no edits at all
// have a report and no edit.
func pairEdits(edits []skill.Edit, reports []skill.Report) []provenance.Applied {
	var out []provenance.Applied
	at := 0
	for i, rep := range reports {
		if unread := rep.Status == skill.Failed && len(reports)-i > len(edits)-at; unread || at >= len(edits) {
			continue
		}
		if rep.Status.Applied() {
			out = append(out, provenance.Applied{Number: rep.Index, Edit: edits[at]})
		}
		at++
	}
	return out
}

// analysis is an analyst's reply as a step recorded it.
type analysis struct {
	Key      string       `json:"key"`
	Source   skill.Source `json:"source_type"`
	TaskIDs  []string     `json:"task_ids"`
	Failures []struct {
		Type        string `json:"failure_type"`
		Count       int    `json:"count"`
		Description string `json:"description"`
	} `json:"failure_summary"`
	Successes []string                   `json:"success_patterns"`
	Patch     map[string]json.RawMessage `json:"patch"`
}

func (a analysis) plain() provenance.Analysis {
	out := provenance.Analysis{Source: a.Source, Tasks: a.TaskIDs}
	for _, f := range a.Failures {
		out.Patterns = append(out.Patterns, provenance.Pattern{Name: f.Type, Count: f.Count, Description: f.Description})
	}
	for _, s := range a.Successes {
		out.Patterns = append(out.Patterns, provenance.Pattern{Description: s})
	}
	_ = json.Unmarshal(a.Patch["reasoning"], &out.Why) // another update mode gives none
	var items []any
	if json.Unmarshal(a.Patch["edits"], &items) != nil {
		return out // another update mode: it proposed no edits
	}
	for _, item := range items {
		if e, err := skill.DecodeEdit(item); err == nil {
			out.Edits = append(out.Edits, e)
		}
	}
	return out
}

// optional reads a file that may be missing; one that is damaged is a problem.
func (r *reader) optional(name string, into any) bool {
	found, err := r.decode(name, into)
	r.problem(err)
	return found && err == nil
}

// text reads a document. What is not there, or cannot be read, is "".
func (r *reader) text(name string) (string, bool) {
	data, found, err := r.bytes(name)
	r.problem(err)
	return string(data), found && err == nil
}

func (r *reader) problem(err error) {
	if err != nil {
		r.run.Problems = append(r.run.Problems, err.Error())
	}
}

func (r *reader) decode(name string, into any) (found bool, err error) {
	data, found, err := r.bytes(name)
	if !found || err != nil {
		return found, err
	}
	err = run.Decode(name, data, into)
	if errors.Is(err, disk.ErrTooLarge) {
		return true, fmt.Errorf("read %w", err)
	}
	if err != nil {
		return true, fmt.Errorf("%s is damaged: %w; resume the run to write it again", name, err)
	}
	return true, nil
}

func (r *reader) bytes(name string) (data []byte, found bool, err error) {
	if r.read != nil && r.read.Load() > maxTraining {
		return nil, true, fmt.Errorf("read %s: the files of the run have more than %d MB together, and the rest is not read", name, maxTraining>>20)
	}
	data, found, err = readIn(r.root, filepath.FromSlash(name))
	if r.read != nil {
		r.read.Add(int64(len(data)))
	}
	if err != nil {
		return nil, true, fmt.Errorf("read %w", err)
	}
	return data, found, nil
}
