//go:build cloud

package gateway

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	ant "github.com/anthropics/anthropic-sdk-go"
	"github.com/google/go-cmp/cmp"
	oai "github.com/openai/openai-go/v3"
	"google.golang.org/genai"

	"github.com/seed-f4525e22/skillopt/model"
)

// told is what a vendor's client makes of a failure.
type told struct {
	Status int
	Kind   string // the wire's own class: code, type or status
}

func toldBy(t *testing.T, err error) told {
	t.Helper()
	var o *oai.Error
	var a *ant.Error
	var g genai.APIError
	switch {
	case errors.As(err, &o):
		return told{o.StatusCode, o.Code}
	case errors.As(err, &a):
		return told{a.StatusCode, string(a.Type())}
	case errors.As(err, &g):
		return told{g.Code, g.Status}
	}
	t.Fatalf("no error of a vendor's client: %v", err)
	return told{}
}

// faults are what each wire says of each class.
func faults() map[model.Code]map[Wire]told {
	return map[model.Code]map[Wire]told{
		model.Auth:          {Chat: {401, "invalid_api_key"}, Messages: {401, "authentication_error"}, Gemini: {401, "UNAUTHENTICATED"}},
		model.NotFound:      {Chat: {404, "model_not_found"}, Messages: {404, "not_found_error"}, Gemini: {404, "NOT_FOUND"}},
		model.BadRequest:    {Chat: {400, "invalid_request"}, Messages: {400, "invalid_request_error"}, Gemini: {400, "INVALID_ARGUMENT"}},
		model.ContextLength: {Chat: {400, "context_length_exceeded"}, Messages: {400, "invalid_request_error"}, Gemini: {400, "INVALID_ARGUMENT"}},
		model.ContentFilter: {Chat: {400, "content_filter"}, Messages: {400, "invalid_request_error"}, Gemini: {400, "INVALID_ARGUMENT"}},
		model.RateLimit:     {Chat: {429, "rate_limit_exceeded"}, Messages: {429, "rate_limit_error"}, Gemini: {429, "RESOURCE_EXHAUSTED"}},
		model.Overloaded:    {Chat: {503, "server_is_overloaded"}, Messages: {529, "overloaded_error"}, Gemini: {503, "UNAVAILABLE"}},
		model.Server:        {Chat: {500, "server_error"}, Messages: {500, "api_error"}, Gemini: {500, "INTERNAL"}},
		model.Network:       {Chat: {502, "server_error"}, Messages: {502, "api_error"}, Gemini: {503, "UNAVAILABLE"}},
		model.Redirect:      {Chat: {502, "server_error"}, Messages: {502, "api_error"}, Gemini: {503, "UNAVAILABLE"}},
		model.Credit:        {Chat: {402, "insufficient_quota"}, Responses: {400, "insufficient_quota"}, Messages: {402, "billing_error"}, Gemini: {402, "FAILED_PRECONDITION"}},
		model.Certificate:   {Chat: {402, "insufficient_quota"}, Responses: {400, "insufficient_quota"}, Messages: {402, "billing_error"}, Gemini: {402, "FAILED_PRECONDITION"}},
		model.Truncated:     {Chat: {502, "server_error"}, Messages: {502, "api_error"}, Gemini: {503, "INTERNAL"}},
		model.Timeout:       {Chat: {504, "timeout"}, Messages: {504, "timeout_error"}, Gemini: {504, "DEADLINE_EXCEEDED"}},
		model.Budget:        {Chat: {402, "insufficient_quota"}, Responses: {400, "insufficient_quota"}, Messages: {402, "billing_error"}, Gemini: {402, "FAILED_PRECONDITION"}},
		model.Waiting:       {Chat: {402, "insufficient_quota"}, Responses: {400, "insufficient_quota"}, Messages: {402, "billing_error"}, Gemini: {402, "FAILED_PRECONDITION"}},
		"":                  {Chat: {402, "insufficient_quota"}, Responses: {400, "insufficient_quota"}, Messages: {402, "billing_error"}, Gemini: {402, "FAILED_PRECONDITION"}},
	}
}

func TestVendorsClassifyFailures(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	req := model.Request{Model: "m-1", Messages: []model.Message{user("q")}}
	for code, wires := range faults() {
		for wire, ask := range vendors() {
			for _, retried := range []bool{false, true} {
				for _, stream := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s/retried=%v/stream=%v", code, wire, retried, stream), func(t *testing.T) {
						t.Parallel()
						err := failing(code)
						h := open(t, g, Session{Client: &always{err: err}, Retried: retried})
						defer h.Close()
						want, ok := wires[wire]
						if !ok {
							want = wires[Chat]
						}
						if retried && !agents(code) {
							want = faults()[""][wire]
						}
						_, got := ask(t, g.URL(), h.Key(), req, stream)
						if got == nil {
							t.Fatal("no error")
						}
						if wire == Responses && stream && code == model.ContextLength {
							if !strings.HasPrefix(got.Error(), "context_length_exceeded: ") {
								t.Errorf("got %v, want response.failed", got)
							}
						} else if diff := cmp.Diff(want, toldBy(t, got)); diff != "" {
							t.Errorf("(-want +told):\n%s\n%v", diff, got)
						}
						own := code == model.ContextLength || code == model.ContentFilter
						if (h.Err() == nil) != own || !own && !errors.Is(h.Err(), err) {
							t.Errorf("Err() = %v", h.Err())
						}
					})
				}
			}
		}
	}
}

// TestVendorsKnowBodiesThatAreTooLarge: as 413, in each wire's own form, which
// no client of a vendor sends again.
func TestVendorsKnowBodiesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{MaxBody: 10_000})
	wants := map[Wire]told{
		Chat: {413, "request_too_large"}, Responses: {413, "request_too_large"},
		Messages: {413, "request_too_large"}, Gemini: {413, "INVALID_ARGUMENT"},
	}
	for wire, ask := range vendors() {
		for _, size := range []int{10_000, 1 << 20} {
			for _, retried := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%v", wire, size, retried), func(t *testing.T) {
					t.Parallel()
					h := open(t, g, Session{Client: says("fine"), Retried: retried})
					defer h.Close()
					_, got := ask(t, g.URL(), h.Key(), model.Request{Model: "m", Messages: []model.Message{user(strings.Repeat("x", size))}}, true)
					if diff := cmp.Diff(wants[wire], toldBy(t, got)); diff != "" {
						t.Errorf("(-want +told):\n%s\n%v", diff, got)
					}
					if h.Err() == nil || h.Calls() != 0 {
						t.Errorf("Err() = %v after %d calls", h.Err(), h.Calls())
					}
				})
			}
		}
	}
}

func TestHints(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	tests := map[string]struct {
		session Session
		want    map[string]string
	}{
		"transient":      {Session{Client: &always{err: failing(model.RateLimit)}}, map[string]string{"Retry-After": "2", "Retry-After-Ms": "1500", "X-Should-Retry": ""}},
		"permanent":      {Session{Client: &always{err: &model.Error{Code: model.BadRequest, Err: io.EOF}}}, map[string]string{"Retry-After": "", "X-Should-Retry": "false"}},
		"tried before":   {Session{Client: &always{err: failing(model.RateLimit)}, Retried: true}, map[string]string{"Retry-After": "", "X-Should-Retry": "false"}},
		"nobody's class": {Session{Client: &always{err: io.EOF}}, map[string]string{"Retry-After": "", "X-Should-Retry": "false"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := open(t, g, tt.session)
			defer h.Close()
			res := post(t, g.URL()+"/v1/chat/completions", h.Key(), `{"model":"m","messages":[]}`)
			for k, v := range tt.want {
				if got := res.Header.Get(k); got != v {
					t.Errorf("%s: %q, want %q", k, got, v)
				}
			}
		})
	}
}
