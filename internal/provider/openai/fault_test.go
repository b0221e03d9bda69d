package openai

import (
	"encoding/json"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

func errorBody(message, kind, code string) []byte {
	return mustJSON(map[string]any{"error": map[string]any{"message": message, "type": kind, "param": nil, "code": code}})
}

func mustJSON(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// vendorFaults are errors as various servers word them.
func vendorFaults() []modeltest.Fault {
	body := func(message, kind, code string) string { return string(errorBody(message, kind, code)) }
	return []modeltest.Fault{
		{Name: "openai context", Status: 400, Want: model.ContextLength, Body: body("This model's maximum context length is 8192 tokens.", "invalid_request_error", "context_length_exceeded")},
		{Name: "vllm context", Status: 400, Want: model.ContextLength, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`},
		{Name: "llama.cpp context", Status: 400, Want: model.ContextLength, Body: `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`},
		{Name: "too large", Status: 413, Want: model.ContextLength, Body: body("Request too large", "tokens", "rate_limit_exceeded")},
		{Name: "azure filter", Status: 400, Want: model.ContentFilter, Body: body("The response was filtered", "", "content_filter")},
		{Name: "azure filter in words", Status: 400, Want: model.ContentFilter, Body: body("triggering Azure OpenAI's content management policy", "", "")},
		{Name: "policy", Status: 403, Want: model.ContentFilter, Body: body("no", "", "content_policy_violation")},
		{Name: "xai key", Status: 400, Want: model.Auth, Body: `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***."}`},
		{Name: "google key", Status: 400, Want: model.Auth, Body: `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`},
		{Name: "no credit", Status: 429, Want: model.Credit, Header: map[string]string{"Retry-After": "5"}, Body: body("You exceeded your current quota", "insufficient_quota", "insufficient_quota")},
		{Name: "payment", Status: 402, Want: model.Credit, Body: body("Insufficient credits", "", "")},
		{Name: "hard limit", Status: 400, Want: model.Credit, Body: body("Billing hard limit has been reached", "invalid_request_error", "billing_hard_limit_reached")},
		{Name: "deepseek's balance", Status: 402, Want: model.Credit, Body: body("Insufficient Balance", "unknown_error", "invalid_request_error")},
		{Name: "moonshot's balance", Status: 429, Want: model.Credit, Body: body("Your account is suspended", "exceeded_current_quota_error", "")},
		{Name: "a rate in words of quota", Status: 429, Want: model.RateLimit, Body: body("You exceeded your current quota, please check your plan and billing details", "rate_limit", "")},
		{Name: "ollama model", Status: 404, Want: model.NotFound, Body: `{"error":"model 'x' not found"}`},
		{Name: "model not found as bad request", Status: 400, Want: model.NotFound, Body: body("no such model", "invalid_request_error", "model_not_found")},
		{Name: "fastapi", Status: 422, Want: model.BadRequest, Body: `{"detail":[{"loc":["body","seed"],"msg":"extra fields not permitted"}]}`},
		{Name: "wrong method", Status: 405, Want: model.NotFound, Body: `{"detail":"Method Not Allowed"}`},
		{Name: "conflict", Status: 409, Want: model.Server, Body: body("try again", "", "")},
		{Name: "gateway timeout", Status: 504, Want: model.Server, Body: "upstream timed out"},
		{Name: "early", Status: 425, Want: model.Overloaded},
		{Name: "teapot", Status: 418, Want: model.BadRequest},
		{
			Name: "reset headers", Status: 429, Want: model.RateLimit, Wait: 6*time.Minute + 500*time.Millisecond, Body: body("slow down", "requests", "rate_limit_exceeded"),
			Header: map[string]string{"X-Ratelimit-Remaining-Tokens": "0", "X-Ratelimit-Reset-Tokens": "6m0.5s", "X-Ratelimit-Remaining-Requests": "12", "X-Ratelimit-Reset-Requests": "8h"},
		},
		{
			Name: "openrouter repeats headers in its body", Status: 429, Want: model.RateLimit, Wait: 40 * time.Second,
			Header: map[string]string{"Date": "Sun, 01 Mar 2026 12:00:00 GMT"},
			Body:   `{"error":{"message":"Rate limit exceeded: free-models-per-min.","code":429,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Remaining":"0","X-RateLimit-Reset":"1772366440000"},"provider_name":null}}}`,
		},
		{
			Name: "metadata of another shape", Status: 429, Want: model.RateLimit,
			Body: `{"error":{"message":"slow down","code":429,"metadata":{"headers":["X-RateLimit-Reset"]}}}`,
		},
		{Name: "good status, rate limit inside", Status: 200, Want: model.RateLimit, Body: body("Rate limit reached", "rate_limit_error", "")},
		{Name: "good status, overloaded inside", Status: 200, Want: model.Overloaded, Body: body("busy", "overloaded_error", "")},
		{Name: "good status, unknown error inside", Status: 200, Want: model.Server, Body: `{"error":"the model crashed"}`},
	}
}
