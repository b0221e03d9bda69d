package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Failing is what fails with a skill on some tasks. A failure is a rate over all its draws.
type Failing struct {
	Where       string        `json:"where"`                // for people
	Step        int           `json:"-"`                    // of the first sheet; 0: of the seed skill, or of the end of an epoch
	Tasks       int           `json:"tasks"`                // that were measured
	Answers     int           `json:"answers"`              // to them
	Unscored    int           `json:"unscored,omitempty"`   // draws that came without a score: they count for nothing
	Unmeasured  []string      `json:"unmeasured,omitempty"` // tasks without any score
	List        []FailingTask `json:"failing"`              // those that fail most often first
	Transcripts []Transcript  `json:"-"`                    // of the first of them
}

// FailingTask is a task that a skill fails: an answer that failed, and how often. Of answers
// that the run has not written down it has the id of the task alone.
type FailingTask struct {
	trajectory.Outcome
	Failures int `json:"failures"`
	Draws    int `json:"draws"` // with a score
	Unscored int `json:"unscored,omitempty"`

	Unread bool `json:"unwritten,omitempty"` // the run has not written down an answer that failed
}

// Transcript is one task with all that was sent and answered.
type Transcript struct {
	Outcome      trajectory.Outcome
	Conversation *caller.Conversation // nil: an episode, or an equal request was answered elsewhere in the run
}

// BestSheet returns the sheet of the best skill on the tasks that judged it; found is false where
// the run has written none.
func (r *Run) BestSheet() (s Sheet, found bool, err error) {
	all, err := r.Sheets()
	if err != nil {
		return s, false, err
	}
	origin, err := bestOrigin(r)
	for _, s := range all {
		if s.Split == "selection" && s.shows(origin) {
			return s, true, err
		}
	}
	return s, false, err
}

// origin returns what candidates.json calls the skill that a sheet is of, "" if it is none of
// those.
func (s Sheet) origin() string {
	switch {
	case s.Epoch > 0:
		return fmt.Sprintf("slow update, epoch %d", s.Epoch)
	case s.Step > 0 && s.Arm == "candidate":
		return fmt.Sprintf("step %d", s.Step)
	case s.Step == 0 && s.Arm == "seed":
		return "seed"
	}
	return ""
}

// shows reports whether the sheet is of the skill with an origin, such as "step 3" and "step 3, second try": a step has
// one sheet, of the candidate that was taken.
func (s Sheet) shows(origin string) bool {
	own := s.origin()
	return own == origin || own != "" && strings.HasPrefix(origin, own+", ")
}

// readBestCandidate reads what candidates.json says of the best skill, and of which tasks. Only
// that file has what the end of the last epoch decided.
func readBestCandidate(r *Run) (of result.Candidate, items []string, err error) {
	var all struct { // all that is needed of a long file
		Items      []string
		Candidates []struct {
			Origin           string
			Best             bool
			Pooled           []gate.Pooled
			Solved, Unscored []int
		}
	}
	if _, err := r.decode(candidatesFile, &all); err != nil {
		return of, nil, err
	}
	for _, c := range all.Candidates {
		if c.Best {
			of = result.Candidate{Origin: c.Origin, Pooled: c.Pooled, Solved: c.Solved, Unscored: c.Unscored}
			if err := checkCounts(of, len(all.Items)); err != nil {
				return of, nil, fmt.Errorf("read run: %s is damaged: %w; the same command, on the run, writes it again", candidatesFile, err)
			}
			return of, all.Items, nil
		}
	}
	if n := len(r.History.Steps); n > 0 {
		of.Origin = r.History.Steps[n-1].BestOrigin
	}
	return of, nil, nil
}

// checkCounts fails if the counts of a skill's draws contradict each other: more are solved than
// were scored, or lists of draws are not of the run's items. A skill may have no counts.
func checkCounts(c result.Candidate, items int) error {
	if len(c.Pooled) == 0 || len(c.Solved) == 0 {
		return nil
	}
	if len(c.Pooled) != items || len(c.Solved) != items || len(c.Unscored) != 0 && len(c.Unscored) != items {
		return fmt.Errorf("the draws of %d, %d and %d items are counted, of %d", len(c.Pooled), len(c.Solved), len(c.Unscored), items)
	}
	for i, p := range c.Pooled {
		if p.N < 0 || c.Solved[i] < 0 || c.Solved[i] > p.N || len(c.Unscored) > 0 && c.Unscored[i] < 0 {
			return fmt.Errorf("item %d is solved in %d of %d scored draws", i+1, c.Solved[i], p.N)
		}
	}
	return nil
}

// bestOrigin returns where the best skill comes from.
func bestOrigin(r *Run) (string, error) {
	c, _, err := readBestCandidate(r)
	return c.Origin, err
}

const (
	candidatesFile = "candidates.json"
	lastFile       = "last_outcomes.json" // what the best skill was asked at the end, by place
)

// ReadFailing reads what fails in the run in dir, see [Run.FindFailing].
func ReadFailing(ctx context.Context, dir string, most int) (f *Failing, err error) {
	r, err := Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.FindFailing(ctx, most)
}

// FindFailing reads what fails with the best skill, with the transcripts of the first most
// tasks. Test tasks are not among them. Nil: the run has written no outcomes down.
func (r *Run) FindFailing(ctx context.Context, most int) (*Failing, error) {
	sheets, err := r.BestSheets()
	if err != nil || len(sheets) == 0 {
		return nil, err
	}
	f, err := r.Failures(sheets, "")
	if err != nil {
		return nil, err
	}
	for _, t := range f.List[:min(most, len(f.List))] {
		f.Transcripts = append(f.Transcripts, Transcript{Outcome: t.Outcome})
	}
	return &f, r.converse(ctx, sheets[0], f.Transcripts)
}

// BestSheets lists the sheets of the best skill on the tasks that judged it: of the gate, and of
// the end of the run.
func (r *Run) BestSheets() ([]Sheet, error) {
	first, found, err := r.BestSheet()
	if err != nil || !found {
		return nil, err
	}
	all, err := r.Sheets()
	out := []Sheet{first}
	for _, s := range all {
		if s.file == lastFile {
			out = append(out, s)
		}
	}
	return out, err
}

// Failures counts, of each task of a type ("": any), how often it fails on sheets of one skill:
// of the best skill over all its draws, also those that no sheet has.
func (r *Run) Failures(sheets []Sheet, kind string) (Failing, error) {
	f := Failing{Where: sheets[0].Title(), Step: sheets[0].Step, List: []FailingTask{}}
	at := map[string]int{}
	var tasks []FailingTask
	for _, s := range sheets {
		outcomes, err := r.Outcomes(s)
		if err != nil {
			return f, err
		}
		for _, o := range outcomes {
			i, known := at[o.ID]
			if !known {
				i, tasks = len(tasks), append(tasks, FailingTask{Outcome: o})
				at[o.ID] = i
			}
			tasks[i].count(o)
		}
	}
	if err := countShipped(r, sheets[0], at, tasks); err != nil {
		return f, err
	}
	for _, t := range tasks {
		if kind == "" || t.Type == kind {
			f.take(t)
		}
	}
	slices.SortStableFunc(f.List, func(a, b FailingTask) int { return cmp.Compare(b.Failures*a.Draws, a.Failures*b.Draws) })
	return f, nil
}

// Over says over how many answers failures are counted, "" where there is one to each task.
func (f *Failing) Over() string {
	text := ""
	if f.Answers > f.Tasks {
		text = ", over " + wording.Plural(f.Answers, "answer", "answers")
	}
	if f.Unscored > 0 {
		text += fmt.Sprintf(", without %s that came without a score", wording.Plural(f.Unscored, "draw", "draws"))
	}
	return text
}

// count counts a draw.
func (t *FailingTask) count(o trajectory.Outcome) {
	switch {
	case !o.Status.Measured() && o.FailReason == "": // it was not asked
		return
	case !o.Status.Measured():
		t.Unscored++
		return
	case o.Hard < 1:
		if t.Failures++; t.Failures == 1 {
			t.Outcome = o
		}
	}
	t.Draws++
}

// countShipped replaces the counts of sheets of the best skill with those over all its draws.
func countShipped(r *Run, s Sheet, at map[string]int, tasks []FailingTask) error {
	c, items, err := readBestCandidate(r)
	if err != nil || s.Split != "selection" || c.Origin == "" || !s.shows(c.Origin) || len(c.Pooled) == 0 || len(c.Solved) == 0 {
		return err
	}
	for k, id := range items {
		i, known := at[id]
		if !known {
			continue
		}
		t := &tasks[i]
		t.Draws, t.Failures, t.Unscored = c.Pooled[k].N, c.Pooled[k].N-c.Solved[k], 0
		if len(c.Unscored) == len(items) {
			t.Unscored = c.Unscored[k]
		}
		if t.Failures > 0 && t.Hard >= 1 { // the answer that failed is not written down
			t.Unread = true
			t.Outcome = trajectory.Outcome{ID: t.ID, Type: t.Type, Question: t.Question, Reference: t.Reference, Status: score.OK}
		}
	}
	return nil
}

// take adds a task to what fails.
func (f *Failing) take(t FailingTask) {
	f.Unscored += t.Unscored
	if t.Draws == 0 {
		f.Unmeasured = append(f.Unmeasured, t.ID)
		return
	}
	f.Tasks++
	f.Answers += t.Draws
	if t.Failures > 0 {
		f.List = append(f.List, t)
	}
}

// converse finds what was said of each transcript of a sheet.
func (r *Run) converse(ctx context.Context, sheet Sheet, list []Transcript) error {
	if len(list) == 0 {
		return nil
	}
	wanted := map[string]int{}
	for i, t := range list {
		wanted[t.Outcome.ID] = i
	}
	at := map[int][]int64{} // calls of each: also those that were judged again
	for seq := int64(0); ; {
		entries, err := r.view.Follow(ctx, seq, entriesAtOnce)
		if err != nil {
			return r.wrapDamage(err)
		}
		for _, e := range entries {
			seq = e.Seq
			if e.Kind != journal.Call || e.Role == "judge" || !strings.Contains(e.Key, "/sample0") {
				continue
			}
			p := ParsePlace(e.Key)
			if i, ok := wanted[p.Task]; ok && p.Sample == 0 && sheet.holds(p) {
				at[i] = append(at[i], e.Seq)
			}
		}
		if len(entries) < entriesAtOnce {
			break
		}
	}
	for i, calls := range at {
		for _, seq := range slices.Backward(calls) {
			c, err := r.conversation(ctx, seq)
			if err != nil {
				return err
			}
			if said := list[i].Outcome.Trajectory; len(said) == 1 && digestText(said[0].Content) != digestText(c.Reply.Text) {
				continue // one that could not be used, or did not count
			}
			list[i].Conversation = &c
			break
		}
	}
	return nil
}

// conversation reads the call that is entry seq.
func (r *Run) conversation(ctx context.Context, seq int64) (caller.Conversation, error) {
	e, err := r.view.Entry(ctx, seq)
	if err != nil {
		return caller.Conversation{}, r.wrapDamage(err)
	}
	in, err := r.view.Input(ctx, seq)
	if err != nil {
		return caller.Conversation{}, r.wrapDamage(err)
	}
	c, err := caller.ReadConversation(in, e.Result)
	if err != nil {
		return c, fmt.Errorf("read entry %d of run %s: %w", seq, filepath.Join(r.dir, run.DBFile), err)
	}
	return c, nil
}
