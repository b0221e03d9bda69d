package agent

import (
	"net/http"
	"strconv"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// statusForm finds an HTTP status in what an agent says of an error. A bare
// number may be anything, so one of these words must be before it.
var statusForm = pattern.New(`(?i)(?:status(?: code)?|error|http|code|rejected|failed)["']?[\s:=(\[]+["']?([45]\d\d)\b|^\s*([45]\d\d)\b`)

func statusIn(text string) int {
	m := statusForm.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil {
		return 0
	}
	return n
}

// classify gives the class of a failure by its status and its words. What is
// not known is Server: the same job may succeed another time.
func classify(status int, text string) model.Code {
	if status != http.StatusTooManyRequests && status < 500 {
		if code := classifyRefusal(text); code != "" {
			return code
		}
	}
	if code := header.ByStatus(status); code != "" {
		return code
	}
	if code := classifyText(text); code != "" {
		return code
	}
	return model.Server
}

// classifyRefusal returns the class of a refusal that servers put under several statuses.
func classifyRefusal(text string) model.Code {
	has := func(phrases ...string) bool { return header.Mentions(text, phrases...) }
	switch {
	case has("context_length", "maximum context", "context window", "prompt is too long", "prompt as too long", "too many input tokens"):
		return model.ContextLength
	case has("content_filter", "content policy", "content management policy", "usage policy"):
		return model.ContentFilter
	}
	return ""
}

// classifyText returns the class of a failure by its wording.
func classifyText(text string) model.Code {
	has := func(phrases ...string) bool { return header.Mentions(text, phrases...) }
	switch {
	case has("insufficient_quota", "credit balance is too low", "insufficient balance", "billing_error", "billing_hard_limit", "daily quota"):
		return model.Credit
	case has("self signed certificate", "self-signed certificate", "unable to verify the first certificate", "certificate has expired", "unknownissuer", "err_tls_cert"):
		return model.Certificate
	case has("unauthorized", "authenticat", "api key", "api_key", "not logged in", "/login", "permission_error", "invalid key", "credential", "no auth",
		"log out and sign in", "refresh_token_reused", "token_expired", "token is expired", "token has expired"):
		return model.Auth
	case has("rate limit", "rate_limit", "too many requests", "resource_exhausted", "quota", "usage limit"):
		return model.RateLimit
	case has("overloaded", "high demand", "at capacity"):
		return model.Overloaded
	case has("model not found", "model_not_found", "unknown model", "does not exist", "no such model"):
		return model.NotFound
	case has("econnrefused", "econnreset", "enotfound", "eai_again", "connection", "network", "fetch failed", "socket", "dns", "stream disconnected", "unreachable"):
		return model.Network
	case has("timed out", "timeout", "etimedout"):
		return model.Timeout
	case has("budget"):
		return model.Budget
	}
	return ""
}
