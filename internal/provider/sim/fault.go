package sim

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// fault is what spoils a reply.
type fault struct {
	empty     bool
	malformed bool
	choice    int // how a malformed reply is broken
}

// faulty reports whether a request has to be looked at before it is answered.
func (r rates) faulty() bool {
	return r.Errors > 0 || r.Empty > 0 || r.Malformed > 0 || r.LatencyMS > 0
}

// disturb waits for the latency and draws the fault of this attempt. The draw
// depends on how often the same request came before: a fault that came back
// every time could not be overcome by asking again.
func (c *Client) disturb(ctx context.Context, req model.Request) (fault, error) {
	w := c.world
	id := []uint64{requestSeed(req)}
	for _, m := range req.Messages {
		id = append(id, digest(m.Text()))
	}
	name := mix(id...)
	attempt := c.attempt(name)
	if err := c.wait(ctx, w.latency(name, attempt)); err != nil {
		return fault{}, err
	}
	u := w.chance(drawFault, name, attempt)
	if u < w.rates.Errors {
		return fault{}, c.transportError(w.pick(4, drawBreak, name, attempt))
	}
	u -= w.rates.Errors
	if u < w.rates.Empty {
		return fault{empty: true}, nil
	}
	u -= w.rates.Empty
	if u < w.rates.Malformed && req.Tags.Stage != model.StageRollout {
		return fault{malformed: true, choice: w.pick(3, drawBreak, name, attempt)}, nil
	}
	return fault{}, nil
}

// attempt counts a request and returns how often it came before.
func (c *Client) attempt(name uint64) uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.seen[name]
	c.seen[name] = n + 1
	return uint64(n)
}

func (w *World) latency(name, attempt uint64) time.Duration {
	spread := 1 + w.rates.Jitter*(2*w.chance(drawLatency, name, attempt)-1)
	return time.Duration(w.rates.LatencyMS * spread * float64(time.Millisecond))
}

// transportError returns one of the ways in which a transport fails.
func (c *Client) transportError(choice int) error {
	e := &model.Error{Endpoint: c.label, Err: errors.New("injected by the simulated world")}
	switch choice {
	case 0:
		e.Code, e.Status = model.RateLimit, 429
	case 1:
		e.Code, e.Status = model.Server, 500
	case 2:
		e.Code = model.Network
	default:
		e.Code = model.Truncated
	}
	return e
}

// damage spoils a reply.
func (f fault) damage(text string) string {
	switch {
	case f.empty:
		return ""
	case !f.malformed:
		return text
	case f.choice == 0:
		return strings.ToValidUTF8(text[:len(text)*2/3], "")
	case f.choice == 1:
		return "Let me think about what these trajectories have in common before I propose anything."
	}
	return strings.ReplaceAll(text, ":", " is ")
}
