package record

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Evaluation is a task carried out once with one skill.
type Evaluation struct {
	Where string `json:"where"`           // for people
	Arm   string `json:"arm,omitempty"`   // as in Sheet; "": no file has its outcome
	Split string `json:"split,omitempty"` // as in Sheet
	Place
	// Key is that of its last call, or of its episode, in the record. "": the answer was not
	// asked for there; an equal request had been answered elsewhere in the run.
	Key     string              `json:"key,omitempty"`
	Episode bool                `json:"episode,omitempty"` // by an agent or environment
	Open    bool                `json:"open,omitempty"`    // of an episode: no attempt has a result; it was killed, failed, or is at work
	Outcome *trajectory.Outcome `json:"outcome"`           // null: the run has written none down

	test bool
	seq  int64              // of its call
	said *[sha256.Size]byte // of the reply in it; nil: of an episode
}

// ReadConversation reads what the model was sent in an evaluation and its reply; ErrNoCall where no call
// is recorded under its key.
func (r *Run) ReadConversation(ctx context.Context, e Evaluation) (caller.Conversation, error) {
	if e.seq == 0 || e.Episode {
		return caller.Conversation{}, fmt.Errorf("%s: %w", e.Key, ErrNoCall)
	}
	return r.conversation(ctx, e.seq)
}

// OfTest reports whether it shows an answer to a test task.
func (e Evaluation) OfTest() bool { return e.test }

// Task returns all evaluations of a task that the run knows of, in the order of the run;
// none of a task that it has never asked.
func (r *Run) Task(ctx context.Context, id string) ([]Evaluation, error) {
	all, err := r.readEvaluations(ctx, id)
	if err != nil {
		return nil, err
	}
	found := newOfTask(r, id)
	sheets, err := found.sheets()
	if err != nil {
		return nil, err
	}
	for _, s := range sheets {
		outcomes, err := found.of(s)
		if err != nil {
			return nil, err
		}
		all = withOutcomes(all, s, outcomes)
	}
	slices.SortStableFunc(all, func(a, b Evaluation) int {
		return cmp.Or(cmp.Compare(r.order(a.Place), r.order(b.Place)), cmp.Compare(a.Sample, b.Sample))
	})
	return all, nil
}

// readEvaluations returns the evaluations of a task that the record has: the calls of a
// conversation are one, and so are those that were asked again.
func (r *Run) readEvaluations(ctx context.Context, id string) ([]Evaluation, error) {
	var out []Evaluation
	at := map[Place]int{}
	err := r.calls(ctx, Filter{Task: id}, func(c Call, answer []byte) {
		result := c.Kind == journal.Call || c.Kind == journal.Episode
		if !result && !c.InEpisode() || c.Role == "judge" {
			return
		}
		p := c.Place
		p.Attempt, p.Turn = 0, 0
		i, there := at[p]
		if !there {
			i = len(out)
			at[p] = i
			out = append(out, Evaluation{Where: p.words(), Place: p, test: r.OfTest(p), Open: true})
		}
		e := &out[i]
		e.Key, e.Episode, e.seq, e.said = c.Key, c.Kind == journal.Episode || c.InEpisode(), c.Seq, nil
		e.Open = e.Open && !result
		if reply, err := caller.ReadReply(answer); err == nil && !e.Episode { // its checksum is right: a build that keeps replies otherwise has written it
			text := digestText(reply.Text)
			e.said = &text
		}
	})
	return out, err
}

// withOutcomes gives the outcomes of a sheet, one for each sample of the task, to the
// evaluations that they are of.
func withOutcomes(all []Evaluation, s Sheet, outcomes []trajectory.Outcome) []Evaluation {
	for sample, o := range outcomes {
		i := s.pair(all, &o, sample)
		if i < 0 {
			i = len(all)
			all = append(all, Evaluation{Place: Place{Step: s.Step, Epoch: s.Epoch, At: s.stage, Task: o.ID, Sample: sample}})
		}
		e := &all[i]
		e.Where, e.Arm, e.Split, e.Outcome = s.Title(), s.Arm, s.Split, &o
		e.test = e.test || s.Split == "test"
	}
	return all
}

// words returns a name for a place that no sheet has.
func (p Place) words() string {
	switch {
	case p.Step > 0:
		return fmt.Sprintf("step %d, %s", p.Step, p.At)
	case p.Epoch > 0:
		return fmt.Sprintf("epoch %d, %s", p.Epoch, p.At)
	}
	return p.At
}

// order returns where in the run a place comes.
func (r *Run) order(p Place) float64 {
	switch {
	case p.Step > 0:
		return float64(p.Step)
	case p.Epoch > 0:
		last := 0
		for _, s := range r.History.Steps {
			if s.Epoch == p.Epoch {
				last = max(last, s.Step)
			}
		}
		return float64(last) + 0.5
	case strings.HasPrefix(p.At, "seed/"):
		return 0
	}
	return math.Inf(1)
}
