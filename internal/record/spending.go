package record

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// Spent is what a part of a run paid for, and what it brought.
type Spent struct {
	Part  string `json:"part"`            // seed, step 3, end of epoch 1, final; or a stage, role, model
	Step  int    `json:"step"`            // 0: before the first step, or after the last
	Epoch int    `json:"epoch,omitempty"` // 0: outside of epochs
	Calls int    `json:"calls"`           // that were made and answered, those within episodes too: of all parts together, calls.total of the summary
	Used
	Best *float64 `json:"best"` // score of the best skill afterwards, on the selection split; null: not known
	Gain *float64 `json:"gain"` // that it rose by; null: not known
}

// Used is what calls have used together. Those within an episode count, not the episode.
type Used struct {
	Failed    int      `json:"failed_attempts"`
	TakenOver int      `json:"taken_over,omitempty"`    // answers that another run paid for, which are no calls
	Unknown   int      `json:"usage_unknown,omitempty"` // calls that did not say what they used; tokens have the most that it can have been, or nothing
	Input     int64    `json:"input_tokens"`
	Output    int64    `json:"output_tokens"`
	Cached    int64    `json:"cached_tokens"` // of the input, read from the provider's cache
	USD       *float64 `json:"usd"`           // null: of some no price is known

	unpriced bool
}

// SumCalls sums up the calls of the run by the part of it that made them, in the order of
// the parts. Calls made ahead count where they belong.
func (r *Run) SumCalls(ctx context.Context) ([]Spent, error) {
	return r.sumCallsBy(ctx, func(journal.Record) bool { return true }, partsBy)
}

// What spending can be summed up by, in addition to the part of the run.
const (
	ByPart  = "part"
	ByStage = "stage"
	ByRole  = "role"
	ByModel = "model"
	ByStep  = "step"
)

// SpendingBy returns what SumCalls does, summed up by something else, and what was spent without a result. Only
// by part and step it reports what was gained. What is no step, or has no name, is "other".
func SpendingBy(ctx context.Context, r *Run, by string) ([]Spent, []Lost, error) {
	name := map[string]func(journal.Record, Place) string{
		ByPart:  partsBy,
		ByStage: func(rec journal.Record, _ Place) string { return rec.Stage },
		ByRole:  func(rec journal.Record, _ Place) string { return rec.Role },
		ByModel: func(rec journal.Record, _ Place) string { return rec.Model },
		ByStep: func(_ journal.Record, p Place) string {
			if p.Step > 0 {
				return partName(p)
			}
			return ""
		},
	}[by]
	if name == nil {
		return nil, nil, fmt.Errorf("spending by %q: allowed are part, stage, role, model and step", by)
	}
	lost := newLosses()
	out, err := r.sumCallsBy(ctx, func(rec journal.Record) bool { lost.take(rec); return true }, func(rec journal.Record, p Place) string { return cmp.Or(name(rec, p), "other") })
	if by == ByPart || by == ByStep {
		return out, lost.list(), err
	}
	for i := range out {
		out[i].Step, out[i].Epoch, out[i].Best, out[i].Gain = 0, 0, nil, nil
	}
	slices.SortStableFunc(out, func(a, b Spent) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Part, b.Part)) })
	return out, lost.list(), err
}

// partsBy sums up by the part of the run.
func partsBy(_ journal.Record, p Place) string { return partName(p) }

func (r *Run) sumCallsBy(ctx context.Context, wanted func(journal.Record) bool, part func(journal.Record, Place) string) ([]Spent, error) {
	at := map[string]*Spent{}
	var parts []*Spent
	for rec, err := range r.view.Entries(ctx, journal.Query{}) {
		if err != nil {
			return nil, r.wrapDamage(err)
		}
		if !wanted(rec) || rec.Stage == "" {
			continue
		}
		p := ParsePlace(rec.Key)
		name := part(rec, p)
		s := at[name]
		if s == nil {
			s = &Spent{Part: name, Step: p.Step, Epoch: p.Epoch}
			at[name], parts = s, append(parts, s)
		}
		s.add(rec)
	}
	slices.SortStableFunc(parts, func(a, b *Spent) int { return cmp.Compare(a.order(), b.order()) })
	out := make([]Spent, len(parts))
	gains := r.gains()
	for i, s := range parts {
		if g, ok := gains[s.Part]; ok {
			s.Best, s.Gain = g.best, g.gain
		}
		out[i] = *s
	}
	return out, nil
}

// partName returns the name of the part of a run that a place belongs to.
func partName(p Place) string {
	switch {
	case p.Step > 0:
		return fmt.Sprintf("step %d", p.Step)
	case p.Epoch > 0:
		return fmt.Sprintf("end of epoch %d", p.Epoch)
	}
	name, _, _ := strings.Cut(p.At, "/")
	return name
}

// order returns where in the run a part is: before the epochs, in one, after them.
func (s *Spent) order() int {
	const most = 1 << 30
	switch {
	case s.Part == "final":
		return math.MaxInt
	case s.Epoch == 0:
		return 0
	case s.Step == 0: // the end of an epoch follows its steps, whose numbers continue from epoch to epoch
		return s.Epoch*(most>>10) + most>>11
	}
	return s.Epoch*(most>>10) + min(s.Step, most>>11-1)
}

func (s *Spent) add(rec journal.Record) {
	var usd *float64
	if rec.Cost != nil {
		cost := float64(*rec.Cost) / nanosOfUSD
		usd = &cost
	}
	if s.count(rec.Kind, rec.Code, rec.Usage, rec.Estimate, usd) {
		s.Calls++
	}
}

func (u *Used) count(kind journal.Kind, code string, usage journal.Usage, estimate bool, usd *float64) (answered bool) {
	switch {
	case kind == journal.Fault:
		u.Failed++
		return false
	case kind != journal.Call && kind != journal.Inner && kind != journal.Episode:
		return false
	case code == journal.CodeInherited:
		u.TakenOver++
		return false
	case kind == journal.Episode: // its calls are entries of their own
		return false
	}
	if estimate {
		u.Unknown++
	}
	u.Input, u.Output, u.Cached = u.Input+usage.Input, u.Output+usage.Output, u.Cached+usage.Cached
	if usd == nil || u.unpriced {
		u.USD, u.unpriced = nil, true // of one no price is known: of all of them neither
		return true
	}
	total := *usd
	if u.USD != nil {
		total += *u.USD
	}
	u.USD = &total
	return true
}

// gained is the best score behind a part, and by how much it rose there.
type gained struct{ best, gain *float64 }

// gains returns the best scores by part, as the history has them.
func (r *Run) gains() map[string]gained {
	out := map[string]gained{}
	var before *float64
	note := func(part string, best *float64) {
		g := gained{best: best}
		if before != nil && best != nil {
			d := *best - *before
			g.gain = &d
		}
		if best != nil {
			before = best
		}
		out[part] = g
	}
	epochs := r.History.Epochs
	end := func() {
		if s := epochs[0]; s.SlowUpdate == string(gate.AcceptNewBest) {
			note(fmt.Sprintf("end of epoch %d", s.Epoch), s.Score)
		} else {
			note(fmt.Sprintf("end of epoch %d", s.Epoch), before)
		}
		epochs = epochs[1:]
	}
	for _, s := range r.History.Steps {
		for len(epochs) > 0 && s.Step > 0 && epochs[0].Epoch < s.Epoch {
			end()
		}
		if s.Step == 0 {
			note("seed", s.Best)
		} else {
			note(fmt.Sprintf("step %d", s.Step), s.Best)
		}
	}
	for len(epochs) > 0 {
		end()
	}
	return out
}
