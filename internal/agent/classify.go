package agent

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/model"
)

// statusForm finds an HTTP status in what an agent says of an error. A bare
// number may be anything, so one of these words must stand before it.
var statusForm = regexp.MustCompile(`(?i)(?:status(?: code)?|error|http|code|rejected|failed)["']?[\s:=(\[]+["']?([45]\d\d)\b|^\s*([45]\d\d)\b`)

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
	low := strings.ToLower(text)
	if status != http.StatusTooManyRequests && status < 500 {
		if code := refused(low); code != "" {
			return code
		}
	}
	if code := byStatus(status); code != "" {
		return code
	}
	if code := worded(low); code != "" {
		return code
	}
	return model.Server
}

// refused knows what servers put under several statuses.
func refused(low string) model.Code {
	switch {
	case has(low, "context_length", "maximum context", "context window", "prompt is too long", "too many input tokens"):
		return model.ContextLength
	case has(low, "content_filter", "content policy", "content management policy", "usage policy"):
		return model.ContentFilter
	}
	return ""
}

func byStatus(status int) model.Code {
	switch status {
	case 0:
		return ""
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden:
		return model.Auth
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return model.NotFound
	case http.StatusRequestTimeout:
		return model.Timeout
	case http.StatusRequestEntityTooLarge:
		return model.ContextLength
	case http.StatusTooManyRequests:
		return model.RateLimit
	case http.StatusServiceUnavailable, 529:
		return model.Overloaded
	}
	switch {
	case status >= 500:
		return model.Server
	case status >= 400:
		return model.BadRequest
	}
	return ""
}

func worded(low string) model.Code {
	switch {
	case has(low, "unauthorized", "authenticat", "api key", "api_key", "not logged in", "/login", "permission_error", "invalid key", "credential", "no auth"):
		return model.Auth
	case has(low, "rate limit", "rate_limit", "too many requests", "resource_exhausted", "quota", "usage limit"):
		return model.RateLimit
	case has(low, "overloaded", "high demand", "at capacity"):
		return model.Overloaded
	case has(low, "model not found", "model_not_found", "unknown model", "does not exist", "no such model"):
		return model.NotFound
	case has(low, "econnrefused", "econnreset", "enotfound", "eai_again", "connection", "network", "fetch failed", "socket", "dns", "stream disconnected", "unreachable"):
		return model.Network
	case has(low, "timed out", "timeout", "etimedout"):
		return model.Timeout
	case has(low, "budget"):
		return model.Budget
	}
	return ""
}

func has(text string, phrases ...string) bool {
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return true
		}
	}
	return false
}
