package record

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// NotChosen is the status of an edit that was proposed and is in no candidate: the step chose
// others when it ranked them.
const NotChosen = "not_chosen"

// A StepError says that a run has not done a step.
type StepError struct {
	Run  string
	Step int
	Last int // that it has done; below 0: none
}

func (e *StepError) Error() string {
	if e.Last < 0 {
		return fmt.Sprintf("run %s has done no step yet", e.Run)
	}
	return fmt.Sprintf("run %s has no step %d: allowed are 0 to %d", e.Run, e.Step, e.Last)
}

// ErrorKind says whose business the error is.
func (*StepError) ErrorKind() string { return string(fault.BadInput) }

// ReadStep reads all that a step of the run in dir proposed and decided: its edits with their
// full texts, also those that were not chosen, not applied or rejected by the gate. A file that
// is gone or damaged is a problem of the answer; a step that the run has not done is a
// *StepError.
func ReadStep(dir string, step int) (result.StepDetail, error) {
	out := result.StepDetail{RunDir: dir, Edits: []result.EditDetail{}}
	r, err := openVersions(dir)
	if err != nil {
		return out, err
	}
	defer r.root.Close()
	if _, err := r.decode(run.HistoryFile, &r.run.History); err != nil {
		return out, &FileError{Path: dir + "/" + run.HistoryFile, Err: err}
	}
	i := slices.IndexFunc(r.run.History.Steps, func(s result.StepRecord) bool { return s.Step == step })
	if i < 0 {
		return out, &StepError{dir, step, len(r.run.History.Steps) - 1}
	}
	out.Record = r.run.History.Steps[i]
	files := r.step(out.Record)
	out.Lost, out.Rewritten = files.Lost, files.Summary
	out.Edits = append(out.Edits, r.edits(out.Record, files)...)
	for _, a := range files.Analyses {
		out.Analyses = append(out.Analyses, result.AnalysisDetail{Place: a.Place, Source: string(a.Source), Tasks: a.Tasks, Why: a.Why, Patterns: newPatternDetails(a.Patterns)})
	}
	out.Problems = r.run.Problems
	return out, nil
}

func newPatternDetails(all []provenance.Pattern) (out []result.PatternDetail) {
	for _, p := range all {
		out = append(out, result.PatternDetail{Name: p.Name, Count: p.Count, Description: p.Description})
	}
	return out
}

// tried is what a file of a step says of edits that were applied to the skill.
type tried struct {
	Edits   []skill.Edit   `json:"edits"`
	Reports []skill.Report `json:"reports"`
}

// edits returns the edits of all candidates of a step: first of the one that it is recorded by.
func (r *reader) edits(of result.StepRecord, files Step) []result.EditDetail {
	dir := fmt.Sprintf("steps/step_%04d/", of.Step)
	var main tried
	r.optional(dir+"edit_apply_report.json", &main)
	own := 0 // number of that candidate, where several have files of their own
	var others []result.EditDetail
	for _, c := range of.Candidates {
		var t tried
		folder := fmt.Sprintf("%sp%d/", dir, c.Index)
		if !r.optional(folder+"edit_apply_report.json", &t) {
			continue
		}
		if own == 0 && sameTried(t, main) && (c.Taken || !slices.ContainsFunc(of.Candidates, func(c result.CandidateRecord) bool { return c.Taken })) {
			own = c.Index
		} else {
			others = append(others, newEditDetails(t, files.Analyses, c.Index, c.Taken)...)
		}
		others = append(others, r.notChosen(folder, files.Analyses, c.Index)...)
	}
	out := append(newEditDetails(main, files.Analyses, own, gate.Action(of.Action).Accepted()), others...)
	if own == 0 {
		out = append(out, r.notChosen(dir, files.Analyses, 0)...)
	}
	keptToo(out)
	return out
}

// keptToo marks edits of candidates that were merged into the one that was taken.
func keptToo(edits []result.EditDetail) {
	key := func(e result.EditDetail) [4]string { return [4]string{e.Op, e.File, e.Target, e.Content} }
	kept := map[[4]string]bool{}
	for _, e := range edits {
		if e.Kept {
			kept[key(e)] = true
		}
	}
	for i, e := range edits {
		edits[i].Kept = e.Kept || kept[key(e)] && skill.ApplyStatus(e.Status).Applied()
	}
}

// sameTried reports whether two files say the same.
func sameTried(a, b tried) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// newEditDetails pairs edits with their reports. A proposal that was no edit at all has a report
// alone.
func newEditDetails(t tried, analyses []provenance.Analysis, candidate int, taken bool) (out []result.EditDetail) {
	at := 0
	for i, rep := range t.Reports {
		d := result.EditDetail{
			Index: rep.Index, Op: string(rep.Op), File: rep.File, Target: rep.Target, Content: rep.Content, Status: string(rep.Status), Detail: rep.Detail,
			Candidate: candidate, Kept: taken && rep.Status.Applied(),
		}
		unread := rep.Status == skill.Failed && len(t.Reports)-i > len(t.Edits)-at
		if !unread && at < len(t.Edits) {
			askedFor(&d, t.Edits[at], analyses)
			at++
		}
		out = append(out, d)
	}
	return out
}

// askedFor adds what an edit says whole, and who asked for it.
func askedFor(d *result.EditDetail, e skill.Edit, analyses []provenance.Analysis) {
	reason := provenance.FindReason(e, analyses)
	d.Op, d.File, d.Target, d.Content = string(e.Op), e.File, e.Target, e.Content
	d.Why, d.Tasks, d.Trajectory, d.Link, d.Source = reason.Why, reason.Tasks, reason.Support, string(reason.Link), string(reason.Source)
}

// notChosen returns the edits of a candidate that were proposed, and left out when they were ranked.
func (r *reader) notChosen(dir string, analyses []provenance.Analysis, candidate int) (out []result.EditDetail) {
	type patch struct {
		Patch struct {
			Edits []any `json:"edits"`
		} `json:"patch"`
	}
	var merged, ranked patch
	if !r.optional(dir+"merged_patch.json", &merged) || !r.optional(dir+"ranked_edits.json", &ranked) {
		return nil
	}
	chosen := map[string]int{}
	for _, item := range ranked.Patch.Edits {
		chosen[keyOfEdit(item)]++
	}
	for _, item := range merged.Patch.Edits {
		key := keyOfEdit(item)
		if chosen[key] > 0 {
			chosen[key]--
			continue
		}
		if e, err := skill.DecodeEdit(item); err == nil {
			d := result.EditDetail{Status: NotChosen, Candidate: candidate}
			askedFor(&d, e, analyses)
			out = append(out, d)
		}
	}
	return out
}

// keyOfEdit distinguishes proposals, whatever a ranking has added to them.
func keyOfEdit(item any) string {
	e, err := skill.DecodeEdit(item)
	if err != nil {
		return fmt.Sprint(item)
	}
	return fmt.Sprintf("%s\x00%s\x00%s\x00%s", e.Op, e.File, e.Target, e.Content)
}
