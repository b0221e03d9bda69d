package record

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Failing is what fails with the best skill of a run on the tasks that judged it.
type Failing struct {
	Where       string // for people
	Step        int    // of the sheet; 0: of the seed skill, or of the end of an epoch
	Tasks       int    // that were measured
	Failing     int    // of them
	Transcripts []Transcript
}

// Transcript is one task with all that was sent and answered.
type Transcript struct {
	Outcome      trajectory.Outcome
	Conversation *caller.Conversation // nil: an episode, or an equal request was answered elsewhere in the run
}

// BestSheet is the sheet of the best skill on the tasks that judged it; found is false
// where the run has written none.
func (r *Run) BestSheet() (s Sheet, found bool, err error) {
	all, err := r.Sheets()
	if err != nil {
		return s, false, err
	}
	origin, err := r.bestOrigin()
	for _, s := range all {
		if s.Split == "selection" && s.origin() == origin {
			return s, true, err
		}
	}
	return s, false, err
}

// origin is what candidates.json calls the skill that a sheet is of, "" if it is none of
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

// bestOrigin is where the best skill comes from. What the end of the last epoch decided
// stands in candidates.json alone, which older builds did not write.
func (r *Run) bestOrigin() (string, error) {
	var all struct { // all that is needed of a long file
		Candidates []struct {
			Origin string `json:"origin"`
			Best   bool   `json:"best"`
		} `json:"candidates"`
	}
	if _, err := r.decode(candidatesFile, &all); err != nil {
		return "", err
	}
	for _, c := range all.Candidates {
		if c.Best {
			return c.Origin, nil
		}
	}
	if n := len(r.History.Steps); n > 0 {
		return r.History.Steps[n-1].BestOrigin, nil
	}
	return "", nil
}

const candidatesFile = "candidates.json"

// FailingOf is Failing of the run in dir.
func FailingOf(ctx context.Context, dir string, most int) (f *Failing, err error) {
	r, err := Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Failing(ctx, most)
}

// Failing reads what fails with the best skill, with the transcripts of the first most
// tasks. Test tasks are not among them. Nil: the run has written no outcomes down.
func (r *Run) Failing(ctx context.Context, most int) (*Failing, error) {
	sheet, found, err := r.BestSheet()
	if err != nil || !found {
		return nil, err
	}
	outcomes, err := r.Outcomes(sheet)
	if err != nil {
		return nil, err
	}
	f := &Failing{Where: sheet.Title(), Step: sheet.Step}
	for _, o := range outcomes {
		if !o.Status.Measured() {
			continue
		}
		if f.Tasks++; o.Hard >= 1 {
			continue
		}
		if f.Failing++; len(f.Transcripts) < most {
			f.Transcripts = append(f.Transcripts, Transcript{Outcome: o})
		}
	}
	return f, r.converse(ctx, sheet, f.Transcripts)
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
	at := map[int][]int64{} // calls of each: also those that were judged anew
	for seq := int64(0); ; {
		entries, err := r.view.Follow(ctx, seq, entriesAtOnce)
		if err != nil {
			return r.damaged(err)
		}
		for _, e := range entries {
			seq = e.Seq
			if e.Kind != journal.Call || e.Role == "judge" || !strings.Contains(e.Key, "/sample0") {
				continue
			}
			p := PlaceOf(e.Key)
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
			if said := list[i].Outcome.Trajectory; len(said) == 1 && textOf(said[0].Content) != textOf(c.Reply.Text) {
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
		return caller.Conversation{}, r.damaged(err)
	}
	in, err := r.view.Input(ctx, seq)
	if err != nil {
		return caller.Conversation{}, r.damaged(err)
	}
	c, err := caller.ReadConversation(in, e.Result)
	if err != nil {
		return c, fmt.Errorf("read entry %d of run %s: %w", seq, filepath.Join(r.dir, run.DBFile), err)
	}
	return c, nil
}
