package train

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/optimize"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// fruitlessSteps is after how many steps in a row, in each of which analysts were asked
// and not one reply could be used, a run ends: it would continue to its end and learn
// nothing.
const fruitlessSteps = 3

// A FruitlessError says that analysts gave nothing that can be used for several steps
// in a row.
type FruitlessError struct {
	Steps []int // their numbers
	Asked int   // requests, none of which got a reply that could be used
	Reply optimize.LostError
	File  string // of the run, where what was lost in the last step is listed
}

func (e *FruitlessError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the analysts gave no reply that can be used in %d steps running (%s): %d of %d were unusable\n",
		len(e.Steps), formatIndices(e.Steps), e.Asked, e.Asked)
	fmt.Fprintf(&b, "one of the last, after %s: %s\n", wording.Plural(e.Reply.Replies, "try", "tries"), e.Reply.Reason)
	if e.Reply.Text != "" {
		fmt.Fprintf(&b, "it begins: %q\n", e.Reply.Text)
	}
	fmt.Fprintf(&b, "it is recorded in run.db as %s; %s lists what was lost\n", e.Reply.Key, e.File)
	b.WriteString("change what may change in a run, such as models.optimizer.base_url, and the same command continues; " +
		"or change models.optimizer.model, models.optimizer.structured_output (on) or models.optimizer.max_tokens (more, where replies are cut), or fix the server")
	return b.String()
}

// ChangesIdentity says that most of what helps makes another run of it.
func (e *FruitlessError) ChangesIdentity() bool { return true }

// fruitless counts the steps in a row whose analysts said nothing that can be used. A
// step that asked no one, or was answered from another run's record, says nothing of
// the optimizer: it neither counts nor ends the row.
type fruitless struct {
	on        bool
	record    Recorder
	optimizer string // what may change of it from session to session
	steps     []int
	asked     int
}

func newFruitless(o Options, d Deps) *fruitless {
	return &fruitless{on: d.Fruitless && o.EndAfter == nil, record: d.Record, optimizer: d.Optimizer}
}

// lostReplies is what a step knows of the replies of its analysts that were lost. It is
// safe for concurrent use.
type lostReplies struct {
	mu    sync.Mutex
	first *optimize.LostError // by its key
	own   bool                // one of them was asked for by this run
}

// heed returns ask, which remembers the replies that were lost.
func (l *lostReplies) heed(ask optimize.Ask) optimize.Ask {
	return func(ctx context.Context, q optimize.Request) (string, error) {
		text, err := ask(ctx, q)
		var lost *optimize.LostError
		if errors.As(err, &lost) {
			l.add(lost)
		}
		return text, err
	}
}

func (l *lostReplies) add(lost *optimize.LostError) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.first == nil || lost.Key < l.first.Key {
		l.first = lost
	}
	l.own = l.own || !lost.Inherited
}

// check ends the run when its analysts have given nothing that can be used for too
// long. It follows from the replies that are recorded, so that a resumed run ends where
// it ended before; once what may change of the optimizer has changed, it continues from
// there, whatever comes later.
func (f *fruitless) check(ctx context.Context, id stepID, reflected []optimize.ReflectResult, replies *lostReplies) error {
	asked, used := 0, 0
	for _, r := range reflected {
		asked, used = asked+r.Calls, used+len(r.Analyses)
	}
	switch {
	case !f.on || asked == 0:
		return nil
	case used > 0:
		f.steps, f.asked = nil, 0
		return nil
	case !replies.own:
		return nil
	}
	f.steps, f.asked = append(f.steps, id.number), f.asked+asked
	if len(f.steps) < fruitlessSteps {
		return nil
	}
	on, err := f.goesOn(ctx, id)
	if err != nil {
		return err
	}
	found := &FruitlessError{Steps: f.steps, Asked: f.asked, Reply: *replies.first, File: fmt.Sprintf("steps/step_%04d/patches.json", id.number)}
	f.steps, f.asked = nil, 0
	if on {
		return nil
	}
	return found
}

// stopped is the record of where a run ended for want of replies.
type stopped struct {
	Optimizer string `json:"optimizer"` // what may change of it, as it was then
}

// goesOn reports whether the run continues though it ended here before: the optimizer is
// another since, or was in some session after.
func (f *fruitless) goesOn(ctx context.Context, id stepID) (bool, error) {
	key := id.key() + "/fruitless"
	now, err := json.Marshal(stopped{f.optimizer})
	if err != nil {
		return false, fmt.Errorf("encode the optimizer: %w", err)
	}
	same := func() ([]byte, error) { return now, nil }
	then, err := f.record.Decision(ctx, key, same)
	if err != nil {
		return false, err
	}
	if _, passed := f.record.Decided(key + "/passed"); passed || string(then) == string(now) {
		return passed, nil
	}
	_, err = f.record.Decision(ctx, key+"/passed", same)
	return err == nil, err
}

// formatIndices writes indices: "1, 2".
func formatIndices(indices []int) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(indices), " ", ", "), "[]")
}
