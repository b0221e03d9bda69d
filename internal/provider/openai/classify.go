package openai

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/provider/header"
	"github.com/seed-f4525e22/skillopt/model"
)

// detail is what a server says about a refused request.
type detail struct {
	refusal model.Code // that it names by a code, "" if it names none
	message string
	code    string
	kind    string
	param   string            // the field that it names
	header  map[string]string // of OpenRouter: what its response's own headers leave out
}

// wireError has the fields of all the shapes that servers give an error:
//
//	{"error": {"message": "...", "type": "...", "code": "..."}}   OpenAI
//	{"error": "..."}                                              Ollama
//	{"message": "...", "type": "...", "code": 400}                vLLM
//	{"detail": "..."}                                             FastAPI
type wireError struct {
	Message json.RawMessage `json:"message"`
	Type    json.RawMessage `json:"type"`
	Param   json.RawMessage `json:"param"`
	Status  json.RawMessage `json:"status"`     // Google's name of a textual code, Azure's of the number
	Code    json.RawMessage `json:"code"`       // a string, a number or null
	Inner   json.RawMessage `json:"innererror"` // Azure's, whose code is more exact
	More    json.RawMessage `json:"metadata"`   // OpenRouter's
}

// readDetail reads an error body, or the error in one.
func readDetail(body []byte) detail {
	object, said := header.Reason(body)
	if object == nil {
		return detail{refusal: header.Refusal(body), message: said}
	}
	var w wireError
	if json.Unmarshal(object, &w) != nil {
		return detail{refusal: header.Refusal(body), message: string(object)}
	}
	d := detail{refusal: header.Refusal(body), message: text(w.Message), code: strings.Trim(string(w.Code), `"`), kind: text(w.Type), param: text(w.Param)}
	if d.message == "" && header.Present(w.Message) {
		d.message = unquote(w.Message)
	}
	if d.code == "null" {
		d.code = ""
	}
	if d.kind == "" {
		d.kind = text(w.Status)
	}
	var more struct {
		Headers map[string]string `json:"headers"`
	}
	if json.Unmarshal(w.More, &more) == nil {
		d.header = more.Headers
	}
	var inner wireError
	if classifyName(d.code) == "" && header.Present(w.Inner) && json.Unmarshal(w.Inner, &inner) == nil && classifyName(text(inner.Code)) != "" {
		d.code = text(inner.Code)
	}
	return d
}

// classify gives the class of a refused request. What the server says in words
// counts before the status, since servers put very different things under 400
// and 429.
func classify(status int, d detail) model.Code {
	if d.refusal != "" {
		return d.refusal
	}
	if code := classifyName(d.code); code != "" {
		return code
	}
	if code := classifyName(d.kind); code != "" {
		return code
	}
	if status >= 400 && status < 500 && status != http.StatusTooManyRequests {
		if code := classifyMessage(d.message); code != "" {
			return code
		}
	}
	if code := header.ByStatus(status); code != "" {
		return code
	}
	return byKind(d)
}

// classifyName returns the code for the names that servers give to reasons which their status does
// not show. Some send a 429 for credit that is used up, though no waiting fixes it: the user must
// act on the account.
func classifyName(name string) model.Code {
	switch strings.ToLower(name) {
	case "invalid_api_key", "api_key_invalid", "account_deactivated":
		return model.Auth
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance",
		"exceeded_current_quota_error", "arrearage", "1113": // Moonshot's, Alibaba's, Zhipu's
		return model.Credit
	case "model_not_found", "deploymentnotfound":
		return model.NotFound
	}
	return ""
}

// classifyMessage returns the code for the wording of a reason, where no code is given (vLLM, xAI,
// Google, llama.cpp).
func classifyMessage(message string) model.Code {
	has := func(phrases ...string) bool { return header.Mentions(message, phrases...) }
	switch {
	case has("maximum context length", "context window", "available context size", "context length", "prompt is too long", "too many input tokens"):
		return model.ContextLength
	case has("incorrect api key", "invalid api key", "api key not valid"):
		return model.Auth
	case has("insufficient balance", "credit balance is too low", "billing hard limit"):
		return model.Credit
	case has("content management policy", "content policy"):
		return model.ContentFilter
	}
	return ""
}

// byKind returns the code of an error that came with a good status.
func byKind(d detail) model.Code {
	name := strings.ToLower(d.kind + " " + d.code)
	for _, k := range []struct {
		part string
		code model.Code
	}{
		{"rate_limit", model.RateLimit},
		{"overloaded", model.Overloaded},
		{"authentication", model.Auth},
		{"permission", model.Auth},
		{"not_found", model.NotFound},
		{"invalid_request", model.BadRequest},
		{"timeout", model.Timeout},
		{"image", model.BadRequest}, // a dozen codes of Responses for images that it cannot use
		{"data_residency", model.BadRequest},
	} {
		if strings.Contains(name, k.part) {
			return k.code
		}
	}
	return model.Server
}
