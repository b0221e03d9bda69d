package wiretest

import (
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// Fault is a way to spoil an exchange.
type Fault string

// The faults.
const (
	None        Fault = ""
	RateLimit   Fault = "rate_limit" // 429
	ServerError Fault = "server"     // 500
	Cut         Fault = "cut"        // the body ends in the middle
	Empty       Fault = "empty"      // an answer without text
	Malformed   Fault = "malformed"  // an answer of the optimizer that is no JSON
	Hang        Fault = "hang"       // no answer until the client gives up
	Refused     Fault = "refused"    // Faults.Status
)

// Faults are the shares of requests that are spoilt, each 0 to 1; their sum is
// at most 1. Which requests are hit depends on the seed, on what is asked and on
// how often it was asked before, so that asking again helps.
type Faults struct {
	RateLimit, Server, Cut, Empty, Malformed, Hang float64

	RetryAfter string // header of a 429
	Status     int    // answers every request with this status
	After      int    // how many requests are spared at first
}

// pick draws the fault of request number n.
func (f Faults) pick(d draw, stage string, n int) Fault {
	switch {
	case n <= f.After:
		return None
	case f.Status != 0:
		return Refused
	}
	u := d.chance(purposeFault)
	for _, c := range []struct {
		share float64
		fault Fault
	}{{f.RateLimit, RateLimit}, {f.Server, ServerError}, {f.Cut, Cut}, {f.Empty, Empty}, {f.Hang, Hang}, {f.Malformed, Malformed}} {
		if u < c.share {
			if c.fault == Malformed && stage == model.StageRollout {
				return None
			}
			return c.fault
		}
		u -= c.share
	}
	return None
}

// spoil damages the text of an answer.
func (f Fault) spoil(text string) string {
	switch f {
	case Empty:
		return ""
	case Malformed:
		return strings.ReplaceAll(text[:len(text)*2/3], `":`, `" is `)
	}
	return text
}

// draw makes numbers that depend on a request alone.
type draw struct{ seed, id, nth uint64 }

const (
	purposeFault uint64 = iota + 1
	purposeLatency
)

// chance returns a number in [0, 1).
func (d draw) chance(purpose uint64) float64 {
	var h uint64
	for _, v := range []uint64{d.seed, d.id, d.nth, purpose} {
		// The finalizer of SplitMix64: each bit depends on all values so far.
		h += 0x9e3779b97f4a7c15 + v
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return float64(h>>11) / (1 << 53)
}
