package record

import (
	"cmp"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// What was lost.
const (
	LostAttempts = "attempts" // requests that gave no result
	LostEpisodes = "episodes" // calls within attempts at episodes that gave no result: they are paid for, and count among the calls
)

// Cut is the class of an attempt at an episode of which no failure is recorded: it was killed,
// replaced by another, or is at work.
const Cut = "cut"

// Lost is what was spent and gave no result, for one reason.
type Lost struct {
	What  string   `json:"what"`               // attempts, episodes
	Code  string   `json:"code"`               // why: the class of the failure, or cut
	Count int      `json:"count"`              // attempts, or calls
	Tries int      `json:"attempts,omitempty"` // at episodes that the calls were made in
	In    int64    `json:"input_tokens"`       // of attempts the most that they can have used
	Out   int64    `json:"output_tokens"`
	USD   *float64 `json:"usd"` // so too; null: it is unknown for some
}

// losses counts what gave no result, listed the most often first.
type losses struct {
	sums   map[[2]string]*lost // by kind and reason
	tries  map[tryID]*lost     // calls within attempts at episodes
	why    map[tryID]string    // classes of attempts that failed
	counts map[string]int      // the attempt whose result counts, by the key of an episode
}

type lost struct {
	Lost

	unpriced bool
}

func newLosses() *losses {
	return &losses{sums: map[[2]string]*lost{}, tries: map[tryID]*lost{}, why: map[tryID]string{}, counts: map[string]int{}}
}

func (l *losses) take(rec journal.Record) {
	if rec.Code == journal.CodeInherited {
		return
	}
	id := tryID{rec.Key, rec.Attempt}
	switch c := newCall(rec); {
	case rec.Kind == journal.Episode:
		l.counts[rec.Key] = rec.Attempt
	case rec.Kind == journal.Inner:
		if l.tries[id] == nil {
			l.tries[id] = &lost{}
		}
		l.tries[id].add(rec)
	case rec.Kind != journal.Fault:
	case c.Task != "" && c.Turn == 0 && !c.InEpisode(): // of a whole episode
		l.why[id] = rec.Code
		l.sum(LostAttempts, rec.Code).add(rec)
	default:
		l.sum(LostAttempts, rec.Code).add(rec)
	}
}

func (l *losses) sum(what, code string) *lost {
	key := [2]string{what, cmp.Or(code, "failed")}
	if l.sums[key] == nil {
		l.sums[key] = &lost{Lost: Lost{What: what, Code: key[1]}}
	}
	return l.sums[key]
}

func (l *lost) add(rec journal.Record) {
	l.Count++
	l.In, l.Out = l.In+rec.Usage.Input, l.Out+rec.Usage.Output
	if rec.Cost == nil {
		l.unpriced = true
		return
	}
	usd := float64(*rec.Cost) / nanosOfUSD
	l.addUSD(usd)
}

func (l *lost) addUSD(usd float64) {
	if l.USD != nil {
		usd += *l.USD
	}
	l.USD = &usd
}

// list adds calls of attempts at episodes that gave no result, and sorts.
func (l *losses) list() []Lost {
	for id, t := range l.tries {
		if attempt, ended := l.counts[id.key]; ended && attempt == id.attempt {
			continue
		}
		s := l.sum(LostEpisodes, cmp.Or(l.why[id], Cut))
		s.Tries++
		s.Count, s.In, s.Out, s.unpriced = s.Count+t.Count, s.In+t.In, s.Out+t.Out, s.unpriced || t.unpriced
		if t.USD != nil {
			s.addUSD(*t.USD)
		}
	}
	out := []Lost{}
	for _, s := range l.sums {
		if s.unpriced {
			s.USD = nil
		}
		out = append(out, s.Lost)
	}
	slices.SortFunc(out, func(a, b Lost) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What), cmp.Compare(a.Code, b.Code))
	})
	return out
}
