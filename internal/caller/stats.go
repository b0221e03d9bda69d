package caller

import (
	"context"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/journal"
)

// StageStats is what calls of one stage and role add up to: the sums of the
// record, earlier sessions included, and what this session did without sending.
type StageStats struct {
	journal.Total

	Reused   int64 // answered by an equal call of the run
	Replayed int64 // answered from the record of an earlier session
}

// Retries returns how many attempts gave no result.
func (s StageStats) Retries() int64 { return s.FaultCount() }

// USD returns the cost in US dollars, that of calls of unknown usage as the most that
// it can be; all reports whether nothing is missing.
func (s StageStats) USD() (cost float64, all bool) {
	return float64(s.CostNano+s.Bounded.CostNano) / 1e9, s.Unpriced == 0
}

// Tokens returns the tokens of all calls, those of unknown usage as the most that they
// can have used.
func (s StageStats) Tokens() journal.Usage {
	u, v := s.Usage, s.Bounded.Usage
	return journal.Usage{
		Input: u.Input + v.Input, Output: u.Output + v.Output, Cached: u.Cached + v.Cached, Reasoning: u.Reasoning + v.Reasoning, CacheWrite: u.CacheWrite + v.CacheWrite,
	}
}

// Stats are the sums of a run.
type Stats struct {
	Stages []StageStats // sorted by stage and role
	Sum    StageStats
}

// Settle waits until what was charged is durable: of a run that ends at once the sums
// would miss it. An error is that of all later writes.
func (c *Caller) Settle() error { return c.journal.Append(context.Background()) }

// Stats returns the sums of everything that is durable. A stage that was only
// reused or replayed in this session is in the record too, so every stage
// that made a call is listed.
func (c *Caller) Stats() Stats {
	totals := c.journal.Totals()
	stats := Stats{Sum: StageStats{Total: journal.Sum(totals)}}
	c.live.mu.Lock()
	defer c.live.mu.Unlock()
	for _, t := range totals {
		s := StageStats{Total: t}
		n := c.live.counts[stageRole{t.Stage, t.Role}]
		s.Reused, s.Replayed = n[reused], n[replayed]
		stats.Sum.Reused += s.Reused
		stats.Sum.Replayed += s.Replayed
		stats.Stages = append(stats.Stages, s)
	}
	return stats
}

type stageRole struct{ stage, role string }

// way is how a call was answered without being sent.
type way int

const (
	reused way = iota
	replayed
)

type liveStats struct {
	mu     sync.Mutex
	counts map[stageRole][2]int64
}

func newLiveStats() *liveStats { return &liveStats{counts: make(map[stageRole][2]int64)} }

func (l *liveStats) add(stage, role string, w way) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.counts[stageRole{stage, role}]
	n[w]++
	l.counts[stageRole{stage, role}] = n
}
