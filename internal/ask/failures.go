package ask

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/record"
)

// FailuresQuestion says with which skill tasks shall fail that are listed.
type FailuresQuestion struct {
	Step string // whose candidate is looked at, or best
	Type string // tasks of this type alone; "": all
	Test bool   // those of the test split, with the best skill
}

// Failures is what fails.
type Failures struct {
	RunDir string `json:"run_dir"`
	record.Failing
	Lost []string `json:"lost"` // ids of those that the seed skill had solved

	OfTest bool `json:"-"` // it shows answers to test tasks: a look that is to be noted
}

// ListFailures lists what fails in a run; path is what messages call it.
func ListFailures(r *record.Run, dir, path string, q FailuresQuestion) (Failures, error) {
	sheets, seed, err := q.sheets(r, path)
	if err != nil {
		return Failures{}, err
	}
	f, err := q.findFailures(r, sheets, seed)
	if err != nil {
		return Failures{}, err
	}
	f.RunDir, f.OfTest = dir, sheets[0].Split == "test"
	ofTest := f.OfTest
	f = Shareable(f)
	f.OfTest = ofTest
	return f, nil
}

// sheets finds the outcomes of the skill that is looked at, of an evaluation on all its splits
// but test, and those of the seed skill on the same split, nil if there are none.
func (q FailuresQuestion) sheets(r *record.Run, path string) (sheets []record.Sheet, seed *record.Sheet, err error) {
	all, err := r.Sheets()
	if err != nil {
		return nil, nil, err
	}
	switch {
	case q.Test:
		sheets = OnTest(all)
	case len(r.History.Steps) > 0:
		sheets, err = q.findStepSheets(r, all)
	default:
		sheets = those(all, func(s record.Sheet) bool { return s.Arm == "skill" && s.Split != "test" })
	}
	if err != nil {
		return nil, nil, err
	}
	if len(sheets) == 0 {
		return nil, nil, missingErrorf("run %s has written down no outcomes there; it has: %s", path, strings.Join(listTitles(all), "; "))
	}
	for _, s := range all {
		if s.Arm == "seed" && s.Split == sheets[0].Split && s != sheets[0] {
			seed = &s
		}
	}
	return sheets, seed, nil
}

func those(all []record.Sheet, wanted func(record.Sheet) bool) (out []record.Sheet) {
	for _, s := range all {
		if wanted(s) {
			out = append(out, s)
		}
	}
	return out
}

// OnTest returns the outcomes of the best skill on the test split, or of the skill that was evaluated.
func OnTest(all []record.Sheet) []record.Sheet {
	for _, arm := range []string{"best", "skill", "seed"} { // a seed skill that stayed the best was measured once
		if found := those(all, func(s record.Sheet) bool { return s.Split == "test" && s.Arm == arm }); len(found) > 0 {
			return found
		}
	}
	return nil
}

// findStepSheets returns the outcomes of the skill of a step on the tasks that judged it.
func (q FailuresQuestion) findStepSheets(r *record.Run, all []record.Sheet) ([]record.Sheet, error) {
	step, err := r.ParseStep(q.Step)
	if err != nil {
		return nil, wrong("step", "%v", err)
	}
	if q.Step == "best" {
		best, err := r.BestSheets()
		if err != nil || len(best) > 0 { // a slow update may have made it, which is no step
			return best, err
		}
	}
	found := those(all, func(s record.Sheet) bool { return s.Step == step && s.Epoch == 0 && s.Split == "selection" })
	return found[:min(1, len(found))], nil
}

func listTitles(all []record.Sheet) []string {
	var out []string
	test := false
	for _, s := range all {
		if s.Split == "test" {
			test = true
		} else {
			out = append(out, s.Title())
		}
	}
	if test {
		out = append(out, "those of the test split, with --split test")
	}
	if len(out) == 0 {
		return []string{"none at all"}
	}
	return out
}

// findFailures finds out what fails, and which of it the seed skill had solved.
func (q FailuresQuestion) findFailures(r *record.Run, sheets []record.Sheet, seed *record.Sheet) (Failures, error) {
	all, err := r.Failures(sheets, q.Type)
	f := Failures{Failing: all, Lost: []string{}}
	if err != nil {
		return f, err
	}
	if sheets[0].Arm == "skill" && len(sheets) > 1 { // of an evaluation of several splits
		f.Where = strings.Join(listTitles(sheets), " and ")
	}
	solved := map[string]bool{}
	if seed != nil {
		before, err := r.Outcomes(*seed)
		if err != nil {
			return f, err
		}
		for _, b := range before {
			solved[b.ID] = b.Status.Measured() && b.Hard >= 1
		}
	}
	f.List = append([]record.FailingTask{}, all.List...)
	for _, t := range all.List {
		if solved[t.ID] {
			f.Lost = append(f.Lost, t.ID)
		}
	}
	return f, nil
}
