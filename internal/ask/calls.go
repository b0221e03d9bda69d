package ask

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/record"
)

// Calls are calls of a run, in the order of commits.
type Calls struct {
	RunDir string        `json:"run_dir"`
	Calls  []record.Call `json:"calls"`
	Left   int           `json:"left_out"`       // before them; of a page that was asked for by after, behind them
	Next   int64         `json:"next,omitempty"` // the page behind them begins after this number; missing: there is none, or it was not asked for

	TestLeftOut int `json:"test_left_out,omitempty"` // calls about test tasks: their sizes say something of the answers

	OfTest bool `json:"-"` // it lists calls about test tasks: a look that is to be noted
}

// CallsQuestion says which calls are wanted: those that all of it holds for.
type CallsQuestion struct {
	Stage    string // that they were made for
	Task     string // id
	Failed   bool   // attempts that gave no result
	Episodes bool   // those inside episodes
	Test     bool   // those about test tasks as well; attempts that gave no result are listed anyway
	Limit    int    // at most that many; 0: all
	After    int64  // those with a higher number, the first ones; below 0: the latest ones of all
}

// filter returns the part of the question that the record can answer.
func (q CallsQuestion) filter() record.Filter {
	return record.Filter{Stage: q.Stage, Task: q.Task, Failed: q.Failed}
}

// lets reports whether a call is wanted. Decisions and checks are none.
func (q CallsQuestion) lets(c record.Call) bool {
	return c.Stage != "" && (!q.Episodes || c.InEpisode()) && c.Seq > q.After
}

// ListCalls lists calls of the run in dir. It holds no more of them than it lists.
func ListCalls(ctx context.Context, r *record.Run, dir string, q CallsQuestion) (Calls, error) {
	out := Calls{RunDir: dir, Calls: []record.Call{}}
	read := record.Skim
	if q.Task != "" || q.Limit == 0 { // of a task there is an index, and all of them are read anyway
		read = record.EachCall
	}
	err := read(ctx, r, q.filter(), func(c record.Call) {
		switch {
		case !q.lets(c):
		case !q.Test && ofTest(r, c):
			out.TestLeftOut++
		case q.Limit == 0 || len(out.Calls) < q.Limit:
			out.Calls = append(out.Calls, c)
		case q.After >= 0: // the page is full
			out.Left++
		default: // the latest ones
			out.Calls[out.Left%q.Limit] = c
			out.Left++
		}
	})
	if err != nil {
		return Calls{}, err
	}
	if q.After < 0 && out.Left > 0 { // the oldest is where the next one would be
		at := out.Left % q.Limit
		out.Calls = slices.Concat(out.Calls[at:], out.Calls[:at])
	}
	if n := len(out.Calls); q.After >= 0 && out.Left > 0 && n > 0 {
		out.Next = out.Calls[n-1].Seq
	}
	if q.Task == "" && q.Limit > 0 {
		for i, c := range out.Calls {
			if out.Calls[i], err = record.CallAt(ctx, r, c.Seq); err != nil {
				return Calls{}, err
			}
		}
	}
	out.OfTest = slices.ContainsFunc(out.Calls, func(c record.Call) bool { return ofTest(r, c) })
	return Shareable(out), nil
}

// AnswersTest reports whether a run has recorded an answer to a test task.
func AnswersTest(ctx context.Context, r *record.Run) (found bool, err error) {
	err = record.Skim(ctx, r, record.Filter{}, func(c record.Call) { found = found || c.Stage != "" && ofTest(r, c) })
	return found, err
}

// ofTest reports whether an entry of the record is an answer about a test task: an attempt that
// gave no result says nothing of one.
func ofTest(r *record.Run, c record.Call) bool { return c.Kind != journal.Fault && r.OfTest(c.Place) }

// Tries are the calls inside an episode.
type Tries struct {
	Key      string       `json:"key"`
	Attempts []record.Try `json:"attempts"`
}

// Spending is what the parts of a run paid for.
type Spending struct {
	RunDir string         `json:"run_dir"`
	By     string         `json:"by"` // part, stage, role, model, step
	Parts  []record.Spent `json:"parts"`
	Lost   []record.Lost  `json:"lost"` // what gave no result, and why
}

// SumSpending sums up what the run in dir paid for; by is part, stage, role, model or step, and part
// where it is "".
func SumSpending(ctx context.Context, r *record.Run, dir, by string) (Spending, error) {
	if by = cmp.Or(by, record.ByPart); !slices.Contains([]string{record.ByPart, record.ByStage, record.ByRole, record.ByModel, record.ByStep}, by) {
		return Spending{}, wrong("by", "found %q, allowed are part, stage, role, model and step", by)
	}
	parts, lost, err := record.SpendingBy(ctx, r, by)
	if err != nil {
		return Spending{}, err
	}
	return Spending{RunDir: dir, By: by, Parts: parts, Lost: lost}, nil
}
