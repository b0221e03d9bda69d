package caller

import (
	"context"
	"crypto/sha256"
	"maps"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
)

// cutCounts counts the replies of each role, and of them those that were cut at the
// output limit or refused. It counts each step once, however often it is looked up, so that the
// counts are a function of the steps that were used and not of the session.
type cutCounts struct {
	mu    sync.Mutex
	steps map[stepID]struct{} // that are counted
	roles map[string]replies
}

// stepID represents the key of a step.
type stepID [16]byte

func newStepID(key string) stepID {
	sum := sha256.Sum256([]byte(key))
	return stepID(sum[:])
}

// replies are what came back for a step: several for an episode.
type replies struct {
	all, cut int
	refused  map[string]int // by cause
}

func newCutCounts() *cutCounts {
	return &cutCounts{steps: make(map[stepID]struct{}), roles: make(map[string]replies)}
}

func (c *cutCounts) add(s usedStep) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, counted := c.steps[s.id]; counted {
		return
	}
	c.steps[s.id] = struct{}{}
	sum := c.roles[s.role]
	sum.all, sum.cut = sum.all+s.replies.all, sum.cut+s.replies.cut
	for cause, n := range s.replies.refused {
		if sum.refused == nil {
			sum.refused = map[string]int{}
		}
		sum.refused[cause] += n
	}
	c.roles[s.role] = sum
}

// usedStep is a step whose replies are to be counted.
type usedStep struct {
	id      stepID
	role    string
	replies replies
}

// ahead holds back what was used ahead of its turn.
type ahead struct {
	counts *cutCounts

	mu   sync.Mutex
	due  bool // its turn has come
	held []usedStep
}

func (a *ahead) add(s usedStep) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.due {
		a.counts.add(s)
		return
	}
	a.held = append(a.held, s)
}

func (a *ahead) count() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due = true
	for _, s := range a.held {
		a.counts.add(s)
	}
	a.held = nil
}

type aheadKey struct{}

// AheadContext returns a context for calls and episodes that are made ahead of their turn, and
// a function to be called when that has come: LengthShare does not count their replies
// before. So it does not depend on how far they had got.
func (c *Caller) AheadContext(ctx context.Context) (context.Context, func()) {
	a := &ahead{counts: c.cuts}
	return context.WithValue(ctx, aheadKey{}, a), a.count
}

// used counts the replies of a step.
func (c *Caller) used(ctx context.Context, key, role string, n replies) {
	s := usedStep{id: newStepID(key), role: role, replies: n}
	if a, ok := ctx.Value(aheadKey{}).(*ahead); ok {
		a.add(s)
		return
	}
	c.cuts.add(s)
}

// usedReply counts the reply of one attempt of a call.
func (c *Caller) usedReply(ctx context.Context, key, role string, rep *reply) {
	n := replies{all: 1}
	if rep.Finish == model.FinishLength {
		n.cut = 1
	}
	if cause := rep.refusal(); cause != "" {
		n.refused = map[string]int{cause: 1}
	}
	c.used(ctx, key, role, n)
}

// usedEpisode counts the replies that an episode got before its result.
func (c *Caller) usedEpisode(ctx context.Context, key, role string, try int) {
	if in := c.journal.LastTry(key); in.Ended && in.Attempt == try {
		c.used(ctx, key, role, replies{all: in.Calls, cut: in.Cut, refused: in.Refused})
	}
}

// usedBefore counts the recorded replies of a call that was given up: they were counted
// when it was made.
func (c *Caller) usedBefore(ctx context.Context, call Call) error {
	for n := 0; ; n++ {
		rec, ok, err := c.journal.Lookup(stepKey(call.Key, n, call.Turn))
		if err != nil {
			return err
		}
		if !ok || rec.Kind != journal.Call {
			return nil
		}
		rep, err := decodeReply(&rec)
		if err != nil {
			return err
		}
		c.usedReply(ctx, rec.Key, call.Role, &rep)
	}
}

// LengthShare returns which share of a role's replies was cut at the output limit, and
// of how many: of the steps that were used so far, whether they were made now or are on
// record, so that a resumed run sees what the first one saw. Those inside episodes count
// once these have ended with a result, except in runs recorded before that was noted.
func (c *Caller) LengthShare(role string) (share float64, n int) {
	c.cuts.mu.Lock()
	defer c.cuts.mu.Unlock()
	r := c.cuts.roles[role]
	if r.all == 0 {
		return 0, 0
	}
	return float64(r.cut) / float64(r.all), r.all
}

// CountRefused returns how many of a role's replies were refusals, by cause, of the replies that
// LengthShare counts.
func CountRefused(c *Caller, role string) (byCause map[string]int, n int) {
	c.cuts.mu.Lock()
	defer c.cuts.mu.Unlock()
	r := c.cuts.roles[role]
	return maps.Clone(r.refused), r.all
}
