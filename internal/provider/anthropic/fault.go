package anthropic

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// detail is what a server says about a refused request.
type detail struct {
	refusal model.Code // that it names by a code, "" if it names none
	message string
	kind    string // Anthropic's type, AWS's exception, Google's status
	status  int    // that the body names, 0 if it names none
}

// wireError has the fields of the shapes that errors come in:
//
//	{"type": "error", "error": {"type": "...", "message": "..."}}        Anthropic
//	{"message": "..."} and the kind in a header                          AWS
//	{"error": {"code": 429, "message": "...", "status": "..."}}, or a    Google
//	list of it
type wireError struct {
	Type    string          `json:"type"`
	AWSType string          `json:"__type"`
	Message string          `json:"message"`
	Status  string          `json:"status"`
	Code    json.RawMessage `json:"code"`
}

// readDetail reads an error body.
func readDetail(body []byte) detail {
	object, text := header.Reason(body)
	if object == nil {
		return detail{refusal: header.Refusal(body), message: text}
	}
	var w wireError
	if json.Unmarshal(object, &w) != nil {
		return detail{refusal: header.Refusal(body), message: string(object)}
	}
	d := detail{refusal: header.Refusal(body), message: w.Message, kind: w.Type}
	for _, kind := range []string{w.Status, w.AWSType} {
		if d.kind == "" {
			d.kind = kind
		}
	}
	if n, err := strconv.Atoi(string(w.Code)); err == nil && n >= 400 && n < 600 {
		d.status = n
	}
	return d
}

// readError classifies a response with an error status.
func (c *Client) readError(res *http.Response) error {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = nil
	}
	d := readDetail(body)
	if kind := res.Header.Get("X-Amzn-Errortype"); kind != "" {
		d.kind, _, _ = strings.Cut(kind, ":")
	}
	d.status = 0 // the response's own counts
	return c.newFault(res.StatusCode, d, res.Header)
}

func (c *Client) newFault(status int, d detail, h http.Header) error {
	text := c.server.Excerpt(d.message)
	if text == "" {
		text = "no reason given"
	}
	if d.kind != "" && !strings.Contains(text, d.kind) {
		text += " (" + c.server.Excerpt(d.kind) + ")"
	}
	if d.status != 0 {
		status = d.status
	}
	fault := c.server.Fault(classify(status, d), status, errors.New(text))
	if fault.Code.Transient() {
		fault.RetryAfter = wait(h, time.Now())
	}
	return fault
}

// classify gives the class of a refused request. What the server says in words
// counts first, since very different things come as invalid requests; then the
// kind that it names, then the status.
func classify(status int, d detail) model.Code {
	if d.refusal != "" {
		return d.refusal
	}
	kind := strings.ToLower(d.kind)
	if kind == "invalid_request_error" || kind == "validationexception" || status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		if code := classifyMessage(d.message); code != "" {
			return code
		}
	}
	if code := classifyKind(kind); code != "" && (code != model.Server || !ours(status)) {
		return code
	}
	if code := header.ByStatus(status); code != "" {
		return code
	}
	return model.Server
}

// ours reports whether a status lays a failure on the request, whatever kind the
// server names: one that it cannot process is no better when it is sent again.
func ours(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// classifyKind returns the class of a kind of error: it knows Anthropic's, then AWS's, then Google's; "" if it does not know the kind.
func classifyKind(kind string) model.Code {
	switch kind {
	case "authentication_error", "permission_error",
		"accessdeniedexception", "unrecognizedclientexception", "invalidsignatureexception", "expiredtokenexception",
		"unauthenticated", "permission_denied":
		return model.Auth
	case "billing_error":
		return model.Credit
	case "not_found_error", "resourcenotfoundexception", "not_found":
		return model.NotFound
	case "request_too_large":
		return model.ContextLength
	case "invalid_request_error", "validationexception", "invalid_argument", "failed_precondition":
		return model.BadRequest
	case "rate_limit_error", "throttlingexception", "resource_exhausted":
		return model.RateLimit
	case "overloaded_error", "serviceunavailableexception", "modelnotreadyexception", "unavailable":
		return model.Overloaded
	case "timeout_error", "modeltimeoutexception", "deadline_exceeded":
		return model.Timeout
	case "api_error", "internalserverexception", "modelerrorexception", "modelstreamerrorexception", "internal":
		return model.Server
	}
	return ""
}

// classifyMessage returns the class of an error by the wording of its message, "" if it does not know the wording.
func classifyMessage(message string) model.Code {
	has := func(phrases ...string) bool { return header.Mentions(message, phrases...) }
	switch {
	case has("prompt is too long", "exceed context limit", "input is too long", "context window", "maximum context length", "too many input tokens"):
		return model.ContextLength
	case has("credit balance is too low", "usage limits"):
		return model.Credit
	case has("invalid x-api-key"):
		return model.Auth
	case has("content filtering policy"):
		return model.ContentFilter
	}
	return ""
}
