package gateway

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	claude "github.com/seed-f4525e22/skillopt/internal/provider/anthropic"
	google "github.com/seed-f4525e22/skillopt/internal/provider/gemini"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// adapters are the product's own clients, pointed at a gateway.
func adapters(t *testing.T, url, key string, stream bool) map[Wire]model.Client {
	t.Helper()
	must := func(c model.Client, err error) model.Client {
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := c.(interface{ Close() }); ok {
			t.Cleanup(c.Close)
		}
		return c
	}
	chat, err := openai.New(openai.Options{BaseURL: url + "/v1", APIKey: key, Stream: stream, API: openai.APIChat})
	c := map[Wire]model.Client{Chat: must(chat, err)}
	responses, err := openai.New(openai.Options{BaseURL: url + "/v1", APIKey: key, Stream: stream, API: openai.APIResponses})
	c[Responses] = must(responses, err)
	messages, err := claude.New(claude.Options{BaseURL: url, APIKey: key, Stream: stream})
	c[Messages] = must(messages, err)
	studio, err := google.New(google.Options{BaseURL: url, APIKey: key, Stream: stream})
	c[Gemini] = must(studio, err)
	return c
}

// TestAdaptersMakeTheRoundTrip: a conversation with reasoning, calls and results
// that an adapter of the product leads with a gateway arrives there as it was
// led, also when the reasoning is another provider's.
func TestAdaptersMakeTheRoundTrip(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	kinds := map[string]model.Reasoning{
		"anthropic": {Provider: "anthropic", Text: "hm", Opaque: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)},
		"openai":    {Provider: "openai", Text: "hm", Opaque: json.RawMessage(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"xyz"}`)},
		"gemini":    {Provider: "gemini", Opaque: json.RawMessage(`{"thoughtSignature":"c2ln"}`)},
		"thought":   {Provider: "gemini", Text: "hm", Opaque: json.RawMessage(`{"text":"hm","thought":true,"thoughtSignature":"c2ln"}`)},
	}
	for _, wire := range []Wire{Chat, Responses, Messages, Gemini} {
		for name, r := range kinds {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%v", wire, name, stream), func(t *testing.T) {
					t.Parallel()
					script := modeltest.Script(modeltest.Step{Response: turn("c1", r)}, modeltest.Text("done"))
					h := open(t, g, Session{Client: script})
					c := adapters(t, g.URL(), h.Key(), stream)[wire]
					req := model.Request{
						Model: "m-1", Messages: []model.Message{user("q")},
						Tools: []model.Tool{{Name: "bash", Parameters: json.RawMessage(`{"type":"object","properties":{"cmd":{"type":"string"}}}`)}},
					}
					req.MaxTokens = 500
					first, err := c.Generate(t.Context(), req)
					if err != nil {
						t.Fatal(err)
					}
					req.Messages = append(req.Messages, first.Message(), model.Message{Role: model.ToolRole, Parts: []model.Part{
						{Result: &model.ToolResult{CallID: "c1", Name: "bash", Content: "a.txt"}},
					}})
					second, err := c.Generate(t.Context(), req)
					if err != nil || second.Text != "done" {
						t.Fatalf("%+v, %v", second, err)
					}
					want := []model.Message{req.Messages[0], turn("c1", r).Message(), req.Messages[2]}
					if diff := cmp.Diff(want, script.Calls()[1].Request.Messages, sameJSON()); diff != "" {
						t.Errorf("(-wanted +asked):\n%s", diff)
					}
				})
			}
		}
	}
}

// TestAdaptersClassify: what the gateway says of a failure, the product's own
// adapters understand as that failure.
func TestAdaptersClassify(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	for _, code := range []model.Code{
		model.Auth, model.NotFound, model.BadRequest, model.ContextLength, model.RateLimit, model.Overloaded, model.Server,
	} {
		for _, wire := range []Wire{Chat, Responses, Messages, Gemini} {
			t.Run(string(code)+"/"+string(wire), func(t *testing.T) {
				t.Parallel()
				h := open(t, g, Session{Client: modeltest.Script(modeltest.Fails(code))})
				_, err := adapters(t, g.URL(), h.Key(), false)[wire].Generate(t.Context(), model.Request{Model: "m", Messages: []model.Message{user("q")}})
				if got := model.CodeOf(err); got != code {
					t.Errorf("%q, want %q: %v", got, code, err)
				}
			})
		}
	}
}
