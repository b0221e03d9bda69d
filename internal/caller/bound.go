package caller

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"math"
	"net"
	"net/http"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// What a request can take at most, in addition to its bytes. A token is no less than a byte
// of what is sent.
const (
	overhead        = 64        // tokens that a server writes around a conversation
	messageOverhead = 16        // and around each message
	toolOverhead    = 1024      // instructions on how to call tools, or to answer by a schema
	imageTokens     = 50_000    // of the dearest image that a vendor counts
	maxSane         = 100 << 20 // tokens that no call has
)

// most returns the most that a request can take: the upper bound of its input and
// the limit of its output. known is false when nothing limits the output.
func (r *role) most(req *model.Request) (u journal.Usage, known bool) {
	u.Input = min(inputBound(req)+r.hidden.Load(), maxSane)
	u.Output = r.outputBound(req.MaxTokens)
	return u, u.Output > 0
}

// outputBound returns the smaller one of the asked output and the most that the model can give. It
// returns 0 if neither is known.
func (r *role) outputBound(asked int) int64 {
	out := min(max(int64(asked), 0), maxSane)
	if limit := min(r.MaxOutput, maxSane); limit > 0 && (out == 0 || limit < out) {
		return limit
	}
	return out
}

// inputBound returns an upper bound of the input tokens of a request.
func inputBound(req *model.Request) int64 {
	n := int64(overhead)
	for i := range req.Messages {
		n += messageBound(&req.Messages[i])
	}
	if req.Schema != nil {
		n += toolOverhead + 2*int64(len(req.Schema.Name)+len(req.Schema.JSON))
	}
	if len(req.Tools) > 0 {
		n += toolOverhead + jsonBytes(req.Tools)
	}
	return n
}

func messageBound(m *model.Message) int64 {
	n := int64(messageOverhead + len(m.Role) + len(m.Content))
	if len(m.Parts) == 0 {
		return n
	}
	for _, p := range m.Parts {
		if p.Image != nil {
			n += imageTokens
			p.Image = nil
		}
		if p.Result != nil && len(p.Result.Images) > 0 {
			result := *p.Result
			n += imageTokens * int64(len(result.Images))
			result.Images = nil
			p.Result = &result
		}
		n += messageOverhead + jsonBytes(p)
	}
	return n
}

// jsonBytes returns the length of v as JSON. It returns 0 for a value that cannot be encoded: such a value cannot be sent.
func jsonBytes(v any) int64 {
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return int64(len(b))
}

// most returns the most that usage can cost, whichever of the rates hold for it.
func (p *Price) most(u journal.Usage) *int64 {
	if p == nil {
		return nil
	}
	dearest := func(r Rates) float64 {
		return max(r.Input, r.Cached, r.CacheWrite)*float64(u.Input) + r.Output*float64(u.Output)
	}
	cost := dearest(p.Rates)
	if p.long(u.Input) {
		cost = max(cost, dearest(p.Long))
	}
	nano := int64(min(math.Ceil(1000*cost), math.MaxInt64/4))
	return &nano
}

// replyUsage returns what a reply says that it used. The bound replaces a part that is missing, or
// that cannot be true, and the whole is an estimate; without a bound nothing is known. Somebody who
// answers in their own time uses nothing.
func (r *role) replyUsage(req *model.Request, resp *model.Response) (u journal.Usage, estimate bool) {
	if r.Patient {
		return clampUsage(resp.Usage), false
	}
	u = resp.Usage
	said := resp.Text != "" || len(resp.Calls()) > 0
	inputKnown := u.Input > 0 && plausible(u.Input, maxSane) && plausible(u.Cached, maxSane) && plausible(u.CacheWrite, maxSane)
	limit := r.outputBound(req.MaxTokens)
	outputKnown := (u.Output > 0 || u.Output == 0 && !said) && plausible(u.Output, maxSaneOutput(limit)) && plausible(u.Reasoning, maxSaneOutput(limit))
	bound, bounded := r.most(req)
	switch {
	case inputKnown && outputKnown:
		r.raiseBound(u.Input - bound.Input)
		return u, false
	case !outputKnown && !bounded:
		return journal.Usage{}, true
	}
	if !inputKnown {
		u.Input, u.Cached, u.CacheWrite = bound.Input, 0, 0
	}
	if !outputKnown {
		u.Output, u.Reasoning = bound.Output, 0
	}
	return u, true
}

// possible reports whether every count is one that calls can have.
func possible(u trajectory.Usage) bool {
	for _, n := range []int64{u.Input, u.Output, u.Cached, u.CacheWrite, u.Reasoning} {
		if n < 0 || n > maxSane*maxSane {
			return false
		}
	}
	return true
}

func plausible(n, limit int64) bool { return n >= 0 && n <= limit }

// maxSaneOutput returns the highest count of output tokens that can be true: some servers count a
// little more than the limit that they were given.
func maxSaneOutput(limit int64) int64 {
	if limit <= 0 {
		return maxSane
	}
	return min(2*limit+1024, maxSane)
}

// raiseBound remembers by how much the input of a call was more than its bound, as with
// a server that puts words of its own before a prompt: the calls to come are bounded
// by that as well.
func (r *role) raiseBound(n int64) {
	for {
		known := r.hidden.Load()
		if n <= 0 || r.hidden.CompareAndSwap(known, known+n) {
			return
		}
	}
}

// isBillable reports whether an attempt that failed may have been charged for: it was
// sent, and the server did not refuse it.
func isBillable(failure *model.Error) bool {
	switch failure.Code {
	case model.Timeout, model.Truncated, model.Malformed:
		return true
	case model.Server:
		return failure.Status < 400 || failure.Status == http.StatusBadGateway || failure.Status == http.StatusGatewayTimeout
	case model.Network:
		return failure.Status != 0 || !unsent(failure.Err)
	}
	return false
}

// unsent reports whether a connection was never made.
func unsent(err error) bool {
	var (
		op     *net.OpError
		dns    *net.DNSError
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
	)
	if errors.As(err, &op) && (op.Op == "dial" || op.Op == "proxyconnect") {
		return true
	}
	return errors.As(err, &dns) || errors.As(err, &verify) || errors.As(err, &record)
}
