package ask

import (
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/record"
)

// Calls are calls of a run, the latest ones last.
type Calls struct {
	RunDir string        `json:"run_dir"`
	Calls  []record.Call `json:"calls"`
	Left   int           `json:"left_out"` // before them
}

// Stages are the calls of a run, summed up by stage.
type Stages struct {
	RunDir string      `json:"run_dir"`
	Stages []*StageSum `json:"stages"`
}

// Tries are the calls inside an episode.
type Tries struct {
	Key      string       `json:"key"`
	Attempts []record.Try `json:"attempts"`
}

// Spending is what the parts of a run paid for.
type Spending struct {
	RunDir string         `json:"run_dir"`
	Parts  []record.Spent `json:"parts"`
}

// StageSum is what the calls of one stage come to.
type StageSum struct {
	Stage     string   `json:"stage"`
	Role      string   `json:"role"`
	Results   int      `json:"results"` // calls that were made and answered; of all stages together, calls.total of the summary
	Failed    int      `json:"failed_attempts"`
	TakenOver int      `json:"taken_over,omitempty"`    // answers that another run paid for, which are no calls
	Reused    int      `json:"reused,omitempty"`        // of those, the ones whose origin is known
	Unknown   int      `json:"usage_unknown,omitempty"` // calls that did not say what they used; tokens have the most that it can have been, or nothing
	Input     int64    `json:"input_tokens"`
	Output    int64    `json:"output_tokens"`
	USD       *float64 `json:"usd"` // null: of some no price is known
	unpriced  bool
}

// ByStage sums up calls by stage. The calls within an episode count, not the episode.
func ByStage(calls []record.Call) []*StageSum {
	var sums []*StageSum
	at := map[string]*StageSum{}
	for _, c := range calls {
		s := at[c.Stage]
		if s == nil {
			s = &StageSum{Stage: c.Stage, Role: c.Role}
			at[c.Stage], sums = s, append(sums, s)
		}
		s.add(c)
	}
	for _, s := range sums {
		if s.unpriced {
			s.USD = nil
		}
	}
	return sums
}

func (s *StageSum) add(c record.Call) {
	switch c.Kind {
	case journal.Fault:
		s.Failed++
		return
	case journal.Call, journal.Inner, journal.Episode:
	default:
		return
	}
	switch {
	case c.Code == journal.CodeInherited:
		s.TakenOver++
		if c.Origin != nil {
			s.Reused++
		}
		return
	case c.Kind == journal.Episode: // its calls are entries of their own
		return
	}
	s.Results++
	if c.Estimate {
		s.Unknown++
	}
	s.Input, s.Output = s.Input+c.Usage.Input, s.Output+c.Usage.Output
	if c.USD == nil {
		s.unpriced = true
		return
	}
	total := *c.USD
	if s.USD != nil {
		total += *s.USD
	}
	s.USD = &total
}
