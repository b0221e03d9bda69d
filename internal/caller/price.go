package caller

import (
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Rates are in US dollars per million tokens.
type Rates = price.Price

// Price is what a call costs: the rates, and where prompts beyond a length cost
// more, those of all the tokens of such a call.
type Price struct {
	Rates

	UpTo int64 // input tokens, cached ones included, up to which Rates hold; 0 = any
	Long Rates // of calls with more
}

// long reports whether a number of input tokens is more than the first rates hold
// for.
func (p *Price) long(input int64) bool { return p.UpTo > 0 && input > p.UpTo }

// nano returns what one call costs in billionths of a dollar.
func (p *Price) nano(u journal.Usage) *int64 {
	if p == nil {
		return nil
	}
	rates := p.Rates
	if p.long(u.Input) {
		rates = p.Long
	}
	cost := rates.Nano(u)
	return &cost
}

// sum returns what several calls cost that are known by their sum only. Where
// that is longer than the first rates hold for, no one knows which of the calls
// were: the cost is unknown, and no more than most, which a ceiling goes by.
func (p *Price) sum(u journal.Usage) (cost *int64, most int64) {
	if p == nil {
		return nil, 0
	}
	if p.long(u.Input) {
		return nil, max(p.Rates.Nano(u), p.Long.Nano(u))
	}
	return p.nano(u), 0
}

// saneUsage returns a usage whose counts can be added up: what is less than nothing, or
// more than anything, is left out.
func saneUsage(u trajectory.Usage) trajectory.Usage {
	if u.Input > maxSane || u.Output > maxSane {
		return trajectory.Usage{}
	}
	return clampUsage(u)
}

// clampUsage returns usage as the ledger takes it: a negative count is a server's or
// a program's mistake, and must not raise a ceiling.
func clampUsage(u trajectory.Usage) journal.Usage {
	return journal.Usage{
		Input: max(0, u.Input), Output: max(0, u.Output), Cached: max(0, u.Cached), CacheWrite: max(0, u.CacheWrite), Reasoning: max(0, u.Reasoning),
	}
}

// maxEpisodeCost returns what a recorded result may have cost that only a ceiling needs to know:
// that of an episode.
func maxEpisodeCost(r *role, rec *journal.Record) int64 {
	if rec.Kind != journal.Episode || rec.Cost != nil || rec.Code == journal.CodeInherited || r == nil {
		return 0
	}
	_, most := r.Price.sum(rec.Usage)
	return most
}

// USD returns what a call with this usage costs; known is false without a price.
func (p *Price) USD(usage trajectory.Usage) (cost float64, known bool) {
	nano := p.nano(clampUsage(usage))
	if nano == nil {
		return 0, false
	}
	return float64(*nano) / 1e9, true
}
