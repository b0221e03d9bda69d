package gemini

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
	status  string   // google.rpc.Code by its name
	code    int      // the HTTP status that the body names, 0 if it names none
	reasons []string // of google.rpc.ErrorInfo
	delay   time.Duration
	daily   bool // a quota of the day is used up, whatever delay is named
}

// wireError is google.rpc.Status as REST shows it. Proxies have other shapes, of
// which the message is read.
type wireError struct {
	Code    json.RawMessage `json:"code"`
	Message string          `json:"message"`
	Status  string          `json:"status"`
	Details []struct {
		Reason     string `json:"reason"`     // ErrorInfo
		RetryDelay string `json:"retryDelay"` // RetryInfo
		Violations []struct {
			QuotaID string `json:"quotaId"`
		} `json:"violations"` // QuotaFailure
	} `json:"details"`
}

// readDetail reads an error body.
func readDetail(body []byte) detail {
	object, text := header.Reason(body)
	if object == nil {
		return detail{refusal: header.Refusal(body), message: text}
	}
	var w wireError
	var shape *json.UnmarshalTypeError // details of another kind: the rest has been read
	if err := json.Unmarshal(object, &w); err != nil && !errors.As(err, &shape) {
		return detail{refusal: header.Refusal(body), message: string(object)}
	}
	d := detail{refusal: header.Refusal(body), message: w.Message, status: w.Status}
	for _, more := range w.Details {
		if more.Reason != "" {
			d.reasons = append(d.reasons, more.Reason)
		}
		d.delay = max(d.delay, retryDelay(more.RetryDelay))
		for _, v := range more.Violations {
			d.daily = d.daily || header.Mentions(v.QuotaID, "perday")
		}
	}
	if n, err := strconv.Atoi(string(w.Code)); err == nil && n >= 400 && n < 600 {
		d.code = n
	}
	return d
}

// responseError classifies a response with an error status.
func (c *Client) responseError(res *http.Response) error {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		body = nil // the status says enough
	}
	d := readDetail(body)
	d.code = 0 // the response's own counts
	return c.detailError(res.StatusCode, d, res.Header)
}

func (c *Client) detailError(status int, d detail, h http.Header) error {
	text := c.server.Excerpt(d.message)
	if text == "" {
		text = "no reason given"
	}
	if d.status != "" && !strings.Contains(text, d.status) {
		text += " (" + c.server.Excerpt(d.status) + ")"
	}
	if d.code != 0 {
		status = d.code
	}
	fault := c.server.Fault(classify(status, d), status, errors.New(text))
	if !fault.Code.Transient() {
		return fault
	}
	fault.RetryAfter = header.Wait(h, time.Now())
	if fault.RetryAfter == 0 && h.Get("Retry-After") == "" {
		fault.RetryAfter = d.delay
	}
	return fault
}

// classify gives the class of a refused request: by the reasons that the server
// names, by its words, since very different things come as invalid arguments,
// by its status's name, by its number.
func classify(status int, d detail) model.Code {
	if d.refusal != "" {
		return d.refusal
	}
	if d.daily {
		return model.Credit // the plan grants no more today
	}
	for _, reason := range d.reasons {
		if reason == "BILLING_DISABLED" {
			return model.Credit
		}
		if authReason(reason) {
			return model.Auth
		}
	}
	if d.status == "INVALID_ARGUMENT" || d.status == "FAILED_PRECONDITION" || status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		if code := classifyMessage(d.message); code != "" {
			return code
		}
	}
	if code := classifyStatus(d.status); code != "" {
		return code
	}
	if code := header.ByStatus(status); code != "" {
		return code
	}
	return model.Server
}

// authReason knows the reasons for which no waiting helps and the user must act
// on the key or the account. A bad key comes as an invalid argument.
func authReason(reason string) bool {
	switch reason {
	case "SERVICE_DISABLED", "CONSUMER_INVALID", "CONSUMER_SUSPENDED",
		"ACCESS_TOKEN_EXPIRED", "ACCESS_TOKEN_SCOPE_INSUFFICIENT", "CREDENTIALS_MISSING", "ACCOUNT_STATE_INVALID":
		return true
	}
	return strings.HasPrefix(reason, "API_KEY_")
}

// classifyStatus returns the code for a name of google.rpc.Code.
func classifyStatus(status string) model.Code {
	switch status {
	case "UNAUTHENTICATED", "PERMISSION_DENIED":
		return model.Auth
	case "NOT_FOUND":
		return model.NotFound
	case "INVALID_ARGUMENT", "FAILED_PRECONDITION", "OUT_OF_RANGE", "UNIMPLEMENTED":
		return model.BadRequest
	case "RESOURCE_EXHAUSTED":
		return model.RateLimit
	case "UNAVAILABLE":
		return model.Overloaded
	case "DEADLINE_EXCEEDED":
		return model.Timeout
	case "INTERNAL", "UNKNOWN", "ABORTED", "CANCELLED", "DATA_LOSS":
		return model.Server
	}
	return ""
}

// classifyMessage returns the code for the wording of a reason.
func classifyMessage(message string) model.Code {
	has := func(phrases ...string) bool { return header.Mentions(message, phrases...) }
	switch {
	case has("exceeds the maximum number of tokens", "request payload size exceeds", "input context is too long", "maximum context length"):
		return model.ContextLength
	case has("api key not valid", "api key expired", "api_key_invalid", "location is not supported"):
		return model.Auth
	case has("enable billing"):
		return model.Credit
	}
	return ""
}
