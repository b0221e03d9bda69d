package session

import (
	"sync/atomic"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Usage returns what the run has used so far.
func (s *Session) Usage() event.Progress {
	sum := s.Caller.Stats().Sum
	used := sum.Tokens()
	return event.Progress{Calls: sum.Calls, Input: used.Input, Output: used.Output, Cost: cost(sum, s.Simulated())}
}

// reportUse reports what was used since the session was connected, once.
func (s *Session) reportUse() {
	if s.Used == nil || s.Caller == nil || s.counted {
		return
	}
	s.counted = true
	_ = s.Caller.Settle() // as in Account
	sum, used := s.Caller.Stats().Sum, s.Usage()
	before := s.usedBefore.Tokens()
	failed := func(t caller.StageStats) int64 { return t.Failed.Usage.Input + t.Failed.Usage.Output }
	used.Calls -= s.usedBefore.Calls
	used.Input += failed(sum) - failed(s.usedBefore) - before.Input
	used.Output -= before.Output
	if usd, all := s.usedBefore.USD(); used.Cost != nil && all {
		*used.Cost -= usd
	}
	s.Used(used)
}

// Account returns what the run used, over all its sessions, and the same by stage and
// role. WallS is that of this session, from Connect on.
func (s *Session) Account() (result.Usage, []result.Stage) {
	_ = s.Caller.Settle() // a record that cannot be written has ended the run, or will be reported when it is closed
	stats := s.Caller.Stats()
	sum := stats.Sum
	used := result.Usage{
		Calls:  result.Calls{Total: sum.Calls, ByStage: map[string]int64{}, Faults: sum.Faults, Reused: sum.Reused, Inherited: sum.Inherited, FromRuns: sum.Elsewhere},
		Tokens: StageTokens(sum), CostUSD: cost(sum, s.Simulated()), Unknown: unknown(sum, s.Simulated()), WallS: s.Now().Sub(s.began).Seconds(),
	}
	var stages []result.Stage
	for _, st := range stats.Stages {
		used.Calls.ByStage[st.Stage] += st.Calls
		tokens := st.Tokens()
		stages = append(stages, result.Stage{
			Stage: st.Stage, Role: st.Role, Calls: st.Calls, Input: tokens.Input, Output: tokens.Output, Cached: tokens.Cached, CostUSD: cost(st, s.Simulated()),
		})
	}
	return used, stages
}

// LeftOut returns what of the requests of agents and programs did not reach the model, each thing
// once.
func (s *Session) LeftOut() []trajectory.LeftOut {
	if s.left == nil {
		return nil
	}
	return s.left()
}

// StageTokens returns the tokens of some calls.
func StageTokens(s caller.StageStats) result.Tokens {
	used := s.Tokens()
	return result.Tokens{Input: used.Input, Output: used.Output, Cached: used.Cached}
}

// unknown says what of the sums is no more than an estimate, nil if nothing is.
func unknown(sum caller.StageStats, simulated bool) *result.UnknownUsage {
	if simulated || sum.Unknown == 0 && sum.Failed == (journal.Spent{}) {
		return nil
	}
	u := &result.UnknownUsage{
		Calls: sum.Unknown, Unbounded: sum.Unbounded, Tokens: sum.Bounded.Usage.Input + sum.Bounded.Usage.Output,
		FailedTokens: sum.Failed.Usage.Input + sum.Failed.Usage.Output,
	}
	if sum.Failed.CostNano > 0 {
		usd := float64(sum.Failed.CostNano) / 1e9
		u.FailedUSD = &usd
	}
	return u
}

// cost returns the dollars of calls, nil when a price is not known; a simulation has none.
func cost(sum caller.StageStats, simulated bool) *float64 {
	usd, all := sum.USD()
	if !all || simulated {
		return nil
	}
	return &usd
}

// Progress returns a function that counts finished rollouts and reports how far
// they are about fifty times.
func (s *Session) Progress(stage string, total int) func() {
	var done atomic.Int64
	every := int64(max(1, total/50))
	return func() {
		n := done.Add(1)
		if n%every == 0 || n == int64(total) {
			p := s.Usage()
			p.Stage, p.Done, p.Total = stage, int(n), total
			s.Emit(p)
		}
	}
}
