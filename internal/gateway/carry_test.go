package gateway

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

// TestReasoningMakesTheRoundTrip: whatever reasoning a model gives, of whichever
// provider, stands in the next request of an agent that hands back what it got.
func TestReasoningMakesTheRoundTrip(t *testing.T) {
	t.Parallel()
	kinds := map[string]model.Reasoning{
		"anthropic": {Provider: anthropic, Text: "hm", Opaque: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"c2ln"}`)},
		"redacted":  {Provider: anthropic, Opaque: json.RawMessage(`{"type":"redacted_thinking","data":"eA=="}`)},
		"openai":    {Provider: openAI, Text: "hm", Opaque: json.RawMessage(`{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"hm"}],"encrypted_content":"xyz"}`)},
		"gemini":    {Provider: gemini, Opaque: json.RawMessage(`{"thoughtSignature":"c2ln"}`)},
		"thought":   {Provider: gemini, Text: "hm", Opaque: json.RawMessage(`{"text":"hm","thought":true,"thoughtSignature":"c2ln"}`)},
		"other":     {Provider: "other", Text: "hm", Opaque: json.RawMessage(`[1,{"a":"b"}]`)},
		"details":   {Provider: openAI, Text: "hm", Opaque: json.RawMessage(`[{"type":"reasoning.text","text":"hm"}]`)},
	}
	back := map[Wire]func(t *testing.T, resp model.Response) []model.Part{
		Messages: func(t *testing.T, resp model.Response) []model.Part {
			return again(t, decodeMessages, object{{"messages", []object{{{"role", "assistant"}, {"content", messagesContent(resp)}}}}})
		},
		Responses: func(t *testing.T, resp model.Response) []model.Part {
			return again(t, decodeResponses, object{{"input", responsesOutput(agentRequest{}, reply{resp: resp})}})
		},
		Gemini: func(t *testing.T, resp model.Response) []model.Part {
			var kept []object // agents drop thoughts, as long as no signature stands at them
			for _, p := range geminiParts(resp) {
				if p.get("thought") != true || p.get("thoughtSignature") != nil {
					kept = append(kept, p)
				}
			}
			return again(t, decodeGemini, object{{"contents", []object{{{"role", "model"}, {"parts", kept}}}}})
		},
	}
	for wire, build := range back {
		for name, r := range kinds {
			t.Run(string(wire)+"/"+name, func(t *testing.T) {
				t.Parallel()
				resp := turn("c1", r)
				if diff := cmp.Diff(resp.Parts, build(t, resp), sameJSON()); diff != "" {
					t.Errorf("(-answered +asked):\n%s", diff)
				}
			})
		}
	}
}

// again decodes a request with one answer in it and returns the answer.
func again(t *testing.T, decode func(inbound) (agentRequest, error), v any) []model.Part {
	t.Helper()
	b, err := document(v)
	if err != nil {
		t.Fatal(err)
	}
	q, err := decode(inbound{body: b})
	if err != nil {
		t.Fatal(err)
	}
	if len(q.req.Messages) != 1 {
		t.Fatalf("%d messages", len(q.req.Messages))
	}
	return q.req.Messages[0].Parts
}

func TestOwnReasoningStaysAsItIs(t *testing.T) {
	t.Parallel()
	block := `{"signature":"c2ln","thinking":"hm","type":"thinking"}`
	r := model.Reasoning{Provider: anthropic, Text: "hm", Opaque: json.RawMessage(block)}
	b, err := document(messagesContent(turn("c", r))[0])
	if err != nil || strings.TrimSpace(string(b)) != block {
		t.Errorf("%s, %v", b, err)
	}
	g := model.Reasoning{Provider: gemini, Opaque: json.RawMessage(`{"thoughtSignature":"c2ln"}`)}
	if p := geminiParts(turn("c", g))[0]; p.get("thoughtSignature") != "c2ln" {
		t.Errorf("%v", p)
	}
}

func TestForeignSignatures(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "c2ln", carrier, carrier + "!", carrier + "eA==", carrier + "bnVsbA"} {
		if parts, ok := unpack(s); ok {
			t.Errorf("%q: %v", s, parts)
		}
	}
}
