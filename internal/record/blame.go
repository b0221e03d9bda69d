package record

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/provenance"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Blame says where each line of a version of the skill comes from. It is the
// document that `runs blame --json` prints.
type Blame struct {
	Run       string            `json:"run"`
	Version   string            `json:"version"` // "best", or a step
	Simulated bool              `json:"simulated"`
	Lines     []provenance.Line `json:"lines"`           // of SKILL.md
	Files     []provenance.File `json:"files,omitempty"` // others that edits may change
	Sources   []Source          `json:"sources"`         // what wrote them, in the order of the run
	Problems  []string          `json:"problems"`        // files that were missing or damaged: where they were needed an answer is less exact
}

// Source is one writer of lines: an edit, a rewrite, a note or a slow update.
type Source struct {
	Origin  provenance.Origin  `json:"origin"`
	Lines   []int              `json:"lines"`              // numbers of the lines of SKILL.md that it wrote, without blank ones
	Files   map[string][]int   `json:"files,omitempty"`    // those of other files, by path
	Edit    *skill.Edit        `json:"edit,omitempty"`     // nil: not written by an edit
	Summary []string           `json:"summary,omitempty"`  // of a rewrite: what was changed, by the optimizer's word
	Reason  *provenance.Reason `json:"asked_by,omitempty"` // nil: not asked for by trajectories of a step
	Gate    *Judged            `json:"gate,omitempty"`     // nil: no gate judged it
}

// Judged is what the gate measured of the step or slow update that a line came
// with: of all its edits together. A score is null if it was not measured.
type Judged struct {
	Action     string   `json:"action"`
	Reason     string   `json:"reason,omitempty"`
	Before     *float64 `json:"before"`
	After      *float64 `json:"after"`
	Difference *float64 `json:"difference"`
	SE         *float64 `json:"se,omitempty"` // standard error of the difference, if the gate estimated it
	N          int      `json:"n,omitempty"`
	Unmeasured []string `json:"unmeasured,omitempty"`
}

// Blame says what wrote the lines of doc, file by file.
func (r *Training) Blame(version string, doc skill.Skill) Blame {
	b := Blame{Run: r.Name, Version: version, Simulated: r.Manifest.Simulated, Problems: append([]string{}, r.Problems...)}
	changes, problems := r.changes()
	b.Problems = append(b.Problems, problems...)
	files := provenance.Blame(r.Seed, changes, doc, r.edits())
	b.Lines, b.Files = files[0].Lines, files[1:]
	judged := r.Judgements()
	at := map[provenance.Origin]int{}
	for _, f := range files {
		for _, l := range f.Lines {
			if strings.TrimSpace(l.Text) == "" {
				continue // an edit of which nothing but a blank line is left wrote nothing
			}
			i, known := at[l.Origin]
			if !known {
				i = len(b.Sources)
				at[l.Origin] = i
				b.Sources = append(b.Sources, r.source(l.Origin, judged))
			}
			b.Sources[i].wrote(f.Path, l.Number)
		}
	}
	sortSources(b.Sources)
	return b
}

// edits says how the edits of a run were applied.
func (r *Training) edits() skill.Scope {
	scope := skill.Scope{}.WithTidy(r.Manifest.Identity["edits.tidy"] == "true")
	if r.Manifest.Identity["edits.region"] == strconv.Quote(string(skill.LearnedRegion)) {
		scope = scope.WithRegion(skill.LearnedRegion)
	}
	return scope
}

// wrote notes a line of a file.
func (s *Source) wrote(file string, number int) {
	if file == skill.Main {
		s.Lines = append(s.Lines, number)
		return
	}
	if s.Files == nil {
		s.Files = map[string][]int{}
	}
	s.Files[file] = append(s.Files[file], number)
}

// CountLines returns how many lines it wrote, in all files.
func (s Source) CountLines() int {
	n := len(s.Lines)
	for _, lines := range s.Files {
		n += len(lines)
	}
	return n
}

// sortSources puts sources in the order of the run: the seed first, what changed
// the file by hand last.
func sortSources(sources []Source) {
	rank := map[provenance.Kind]int{provenance.Seed: -1, provenance.SlowUpdate: 2, provenance.Rewrite: 1, provenance.Note: 1, provenance.Examples: 1, provenance.Outside: 3}
	slices.SortStableFunc(sources, func(a, b Source) int {
		x, y := a.Origin, b.Origin
		return cmp.Or(
			cmp.Compare(rank[x.Kind]/3, rank[y.Kind]/3), cmp.Compare(x.Step, y.Step), cmp.Compare(rank[x.Kind], rank[y.Kind]),
			cmp.Compare(x.Epoch, y.Epoch), cmp.Compare(x.Edit, y.Edit),
		)
	})
}

func (r *Training) source(o provenance.Origin, judged map[provenance.Origin]*Judged) Source {
	s := Source{Origin: o, Gate: judged[Whole(o)]}
	at := slices.IndexFunc(r.History.Steps, func(step result.StepRecord) bool { return step.Step == o.Step })
	if o.Kind != provenance.Edit && o.Kind != provenance.Rewrite || at < 0 {
		return s
	}
	step := r.Steps[at]
	if o.Kind == provenance.Rewrite {
		s.Summary = step.Summary
		return s
	}
	for _, e := range step.Edits {
		if e.Number == o.Edit {
			reason := provenance.FindReason(e.Edit, step.Analyses)
			s.Edit, s.Reason = &e.Edit, &reason
		}
	}
	return s
}

// Whole returns the step, or the slow update, that an origin belongs to.
func Whole(o provenance.Origin) provenance.Origin {
	if o.Kind == provenance.SlowUpdate {
		return provenance.Origin{Kind: provenance.SlowUpdate, Epoch: o.Epoch}
	}
	return provenance.Origin{Kind: provenance.Rewrite, Step: o.Step}
}

// Judgements returns what the gate said of every step and slow update.
func (r *Training) Judgements() map[provenance.Origin]*Judged {
	out := map[provenance.Origin]*Judged{}
	var current *float64
	r.Walk(func(s result.StepRecord, _ Step) {
		if s.Step > 0 {
			j := &Judged{
				Action: s.Action, Reason: s.Reason, Before: current, After: s.Candidate, Difference: minus(s.Candidate, current),
				N: s.SelectionN, Unmeasured: s.Unmeasured,
			}
			if s.Difference != nil { // of a race, which counts every pass
				j.Difference, j.SE = s.Difference, s.SE
			}
			out[Whole(provenance.Origin{Step: s.Step})] = j
		}
		current = s.Current
	}, func(e result.EpochRecord, _ int) {
		out[Whole(provenance.Origin{Kind: provenance.SlowUpdate, Epoch: e.Epoch})] = &Judged{
			Action: e.SlowUpdate, Before: current, After: e.Score, Difference: minus(e.Score, current), Unmeasured: e.Unmeasured,
		}
		if SlowAccepted(e) {
			current = e.Score
		}
	})
	return out
}

func minus(a, b *float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	if math.IsInf(d, 0) { // scores that are none, of a file that somebody else wrote
		return nil
	}
	return &d
}

// SlowAccepted reports whether the guidance of an epoch became part of the skill.
func SlowAccepted(e result.EpochRecord) bool {
	return e.Guidance != "" && (e.SlowUpdate == "forced" || gate.Action(e.SlowUpdate).Accepted())
}

// Walk goes through a run: its steps, and after the last step of an epoch its end.
func (r *Training) Walk(step func(result.StepRecord, Step), epoch func(e result.EpochRecord, lastStep int)) {
	steps := r.History.Steps
	for i, s := range steps {
		step(s, r.Steps[i])
		if i+1 < len(steps) && steps[i+1].Epoch == s.Epoch {
			continue
		}
		for _, e := range r.History.Epochs {
			if e.Epoch == s.Epoch && s.Step > 0 {
				epoch(e, s.Step)
			}
		}
	}
}

// changes returns how the skill changed over the run, and what is missing to know that.
func (r *Training) changes() (out []provenance.Change, problems []string) {
	current := r.Seed
	add := func(c provenance.Change, hash, where string) {
		if c.Skill.Digest() != hash {
			problems = append(problems, where+" does not hold the skill that history.json names: lines may be blamed on a later change")
		}
		current = c.Skill
		out = append(out, c)
	}
	r.Walk(func(s result.StepRecord, f Step) {
		if !gate.Action(s.Action).Accepted() {
			return
		}
		if !f.Made {
			problems = append(problems, fmt.Sprintf("the candidate of step %d is missing: its lines are blamed on a later change", s.Step))
			return
		}
		o := provenance.Origin{Kind: provenance.Rewrite, Step: s.Step}
		switch {
		case slices.ContainsFunc(s.Candidates, func(c result.CandidateRecord) bool { return c.Taken && c.Examples > 0 }):
			o.Kind = provenance.Examples
		case len(s.Notes) > 0:
			o.Kind = provenance.Note
		}
		add(provenance.Change{Origin: o, Edits: f.Edits, Skill: f.Candidate}, s.SkillHash, fmt.Sprintf("steps/step_%04d/candidate_skill.md", s.Step))
	}, func(e result.EpochRecord, last int) {
		if SlowAccepted(e) {
			o := provenance.Origin{Kind: provenance.SlowUpdate, Step: last, Epoch: e.Epoch}
			add(provenance.Change{Origin: o, Skill: r.edits().WithSlow(current, e.Guidance)}, e.SkillHash, fmt.Sprintf("the slow update of epoch %d", e.Epoch))
		}
	})
	return out, problems
}

// Describe names an origin in words: "step 3, edit 2".
func Describe(o provenance.Origin) string {
	switch o.Kind {
	case provenance.Seed:
		return "seed"
	case provenance.Outside:
		return "by hand"
	case provenance.SlowUpdate:
		return fmt.Sprintf("slow update, epoch %d", o.Epoch)
	case provenance.Edit:
		return fmt.Sprintf("step %d, edit %d", o.Step, o.Edit)
	}
	return fmt.Sprintf("step %d, %s", o.Step, strings.ReplaceAll(string(o.Kind), "_", " "))
}

// String says in words what a gate measured.
func (j *Judged) String() string {
	if j == nil {
		return "not judged"
	}
	s := j.Action
	switch {
	case j.Difference != nil && j.SE != nil:
		s += fmt.Sprintf(", %+.3f ± %.3f", *j.Difference, *j.SE)
	case j.Difference != nil && j.Before != nil && j.After != nil:
		s += fmt.Sprintf(", %.3f -> %.3f (%+.3f)", *j.Before, *j.After, *j.Difference)
	case j.After != nil:
		s += fmt.Sprintf(", at %.3f", *j.After)
	default:
		s += ", not measured"
	}
	if j.N > 0 {
		s += " on " + wording.Plural(j.N, "item", "items")
	}
	return s
}

// Measured says what was measured, without the verdict.
func (j *Judged) Measured() string {
	_, s, _ := strings.Cut(j.String(), ", ")
	return s
}
