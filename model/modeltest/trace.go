package modeltest

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

// testTraces has the model think before it answers, and the conversation continue.
func testTraces(t *testing.T, h Harness) {
	if h.Lacks.Traces {
		t.Skip("the protocol lacks reasoning that goes back")
	}
	for mode, s := range modes(h) {
		t.Run(mode+"/with an answer", func(t *testing.T) {
			t.Parallel()
			trace := trace(h.Lacks)
			got := recordAnswer(t, h, s, Reply{Trace: trace, Text: "It is 4.", Finish: model.FinishStop})
			if got.Text != "It is 4." || got.Finish != model.FinishStop {
				t.Errorf("text %q and finish %q, want the answer alone", got.Text, got.Finish)
			}
			checkReturned(t, h, s, got, trace)
		})
		t.Run(mode+"/with a call", func(t *testing.T) {
			t.Parallel()
			if h.Lacks.Tools {
				t.Skip("the protocol lacks tools")
			}
			trace := trace(h.Lacks)
			got := recordAnswer(t, h, s, Reply{Trace: trace, Calls: []model.ToolCall{call("call_1", "list", `{}`)}, Finish: model.FinishTools})
			checkReturned(t, h, s, got, trace)
		})
	}
}

func trace(lacks Lacks) *model.Reasoning {
	r := &model.Reasoning{Text: "Two and two.\nFour \"then\"."}
	if !lacks.Opaque {
		r.Opaque = json.RawMessage(`"c2lnbmVkIGJ5IHRoZSBzZXJ2ZXI="`)
	}
	return r
}

// recordAnswer makes one call and returns the answer as it is read back from a record.
func recordAnswer(t *testing.T, h Harness, s Settings, r Reply) model.Response {
	t.Helper()
	srv := reply(t, h, r)
	s.URL = srv.URL
	req := question("q")
	if !h.Lacks.Tools {
		req.Tools = suiteTools()
	}
	res, err := h.New(t, s).Generate(t.Context(), req)
	if err != nil {
		t.Fatalf("Generate: %v", err)
	}
	b, err := json.Marshal(res)
	if err != nil {
		t.Fatalf("record the answer: %v", err)
	}
	var kept model.Response
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatalf("read the record: %v", err)
	}
	return kept
}

// checkReturned looks for the reasoning in an answer and sends it back, once to
// the provider that wrote it and once as another's.
func checkReturned(t *testing.T, h Harness, s Settings, got model.Response, trace *model.Reasoning) {
	t.Helper()
	parts := got.Parts
	if len(parts) == 0 || parts[0].Reasoning == nil {
		t.Fatalf("parts %+v, want the reasoning first", parts)
	}
	if r := parts[0].Reasoning; r.Text != trace.Text || r.Provider == "" {
		t.Errorf("reasoning %+v, want the text %q and a provider", r, trace.Text)
	}
	want := []model.Reasoning{*trace}
	if diff := cmp.Diff(want, traces(sent(t, h, s, goOn(h, got)).Messages)); diff != "" {
		t.Errorf("reasoning (-sent by the server +seen when it comes back):\n%s", diff)
	}
	for _, p := range parts {
		if p.Reasoning != nil {
			p.Reasoning.Provider = "another"
		}
	}
	if seen := traces(sent(t, h, s, goOn(h, got)).Messages); len(seen) > 0 {
		t.Errorf("another provider's reasoning was sent: %+v", seen)
	}
}

// goOn returns the request after an answer.
func goOn(h Harness, res model.Response) model.Request {
	req := question("q")
	req.Messages = append(req.Messages, res.Message())
	var results []model.Part
	for _, c := range res.Calls() {
		results = append(results, model.Part{Result: &model.ToolResult{CallID: c.ID, Name: c.Name, Content: "done"}})
	}
	if len(results) > 0 {
		req.Messages = append(req.Messages, model.Message{Role: model.ToolRole, Parts: results})
	} else {
		req.Messages = append(req.Messages, model.Message{Role: model.User, Content: "Sure?"})
	}
	if !h.Lacks.Tools {
		req.Tools = suiteTools()
	}
	return req
}

func traces(messages []model.Message) []model.Reasoning {
	var all []model.Reasoning
	for _, p := range pieces(messages) {
		if p.Reasoning != nil {
			all = append(all, *p.Reasoning)
		}
	}
	return all
}
