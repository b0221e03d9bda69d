package gateway

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
)

// fault is a failure as it is reported to an agent.
type fault struct {
	code    model.Code // "" when no one classified it
	message string
	after   time.Duration // the agent should wait that long, 0 = no hint
	large   bool          // the body is beyond what is taken: status 413
	// final says that asking again is of no use: the failure is permanent, or
	// the client behind the gateway has tried often enough.
	final bool
}

func (f *fault) Error() string { return f.message }

// badRequest says what is wrong with a request.
func badRequest(format string, args ...any) *fault {
	return &fault{code: model.BadRequest, message: fmt.Sprintf(format, args...), final: true}
}

// unread says why a body could not be read.
func unread(err error) *fault {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		f := badRequest("the body has more than the %d bytes that are taken", large.Limit)
		f.large = true
		return f
	}
	return badRequest("the body cannot be read: %v", err)
}

// LimitError says that a session has used up what Session grants it.
type LimitError struct {
	Limit string // "calls" or "tokens"
	Of    int64
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("the session has used up its %d %s", e.Of, e.Limit)
}

// toFault classifies what a client or the gateway itself returned.
func toFault(err error, retried bool) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	var limit *LimitError
	var over *overError
	if errors.As(err, &limit) || errors.As(err, &over) || errors.Is(err, errClosed) {
		return &fault{code: model.Budget, message: err.Error(), final: true}
	}
	f = &fault{message: err.Error(), final: true}
	var e *model.Error
	switch {
	case errors.As(err, &e):
		f.code, f.after = e.Code, e.RetryAfter
		f.final = retried || !e.Code.Transient() && e.Code != model.Empty
	case errors.Is(err, context.DeadlineExceeded):
		f.code, f.final = model.Timeout, retried
	}
	if retried && !agents(f.code) {
		f.code, f.after = "", 0
	}
	if f.code == model.RateLimit && f.after == 0 {
		f.after = time.Second // Codex asks again only when it learns how long to wait
	}
	return f
}

// agents reports whether a failure is about what the agent asked, who may fix
// it. Any other means to an agent that it must stop.
func agents(c model.Code) bool {
	return c == model.BadRequest || c == model.ContextLength || c == model.ContentFilter
}

// status returns the HTTP status of a failure. A final failure never has one that the clients of
// vendors try again on (408, 409, 429, 5xx).
func (f *fault) status() int {
	if f.large {
		return http.StatusRequestEntityTooLarge
	}
	switch f.code {
	case model.Auth:
		return http.StatusUnauthorized
	case model.NotFound:
		return http.StatusNotFound
	case model.BadRequest, model.ContextLength, model.ContentFilter:
		return http.StatusBadRequest
	case model.RateLimit:
		return http.StatusTooManyRequests
	case model.Overloaded:
		return http.StatusServiceUnavailable
	case model.Timeout:
		return http.StatusGatewayTimeout
	case model.Network, model.Redirect, model.Truncated, model.Malformed, model.Empty:
		return http.StatusBadGateway
	case model.Server:
		return http.StatusInternalServerError
	}
	return statusStop
}

// statusStop asks an agent to stop: a budget is spent, or what failed has been
// tried often enough. Measured: of codex, claude, pi, gemini, qwen, copilot and
// opencode none but codex asks again on 402; that one stops on 400.
const statusStop = http.StatusPaymentRequired

// headers sets the headers that the clients of vendors read next to the status.
func (f *fault) headers(h http.Header) {
	if f.after > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(f.after.Seconds()))))
		h.Set("Retry-After-Ms", strconv.FormatInt(f.after.Milliseconds(), 10))
	}
	if f.final {
		h.Set("X-Should-Retry", "false")
	}
}

// formatMessage returns the message; that of a prompt that is too long begins with the phrase by
// which agents know it and shorten it.
func (f *fault) formatMessage(phrase string) string {
	if f.code == model.ContextLength {
		return phrase + ": " + f.message
	}
	return f.message
}
