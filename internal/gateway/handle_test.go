package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestLimits(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	resp := model.Response{Text: "fine", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 60, Output: 40}}
	tests := map[string]struct {
		session Session
		calls   int
		want    *LimitError
	}{
		"calls":  {Session{MaxCalls: 2}, 2, &LimitError{Limit: "calls", Of: 2}},
		"tokens": {Session{MaxTokens: 250}, 3, &LimitError{Limit: "tokens", Of: 250}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.session.Client = &always{resp: resp}
			h := open(t, g, tt.session)
			for range tt.calls {
				if res := post(t, g.URL()+"/v1/messages", h.Key(), chatBody); res.StatusCode != 200 {
					t.Fatalf("status %d: %s", res.StatusCode, res.body)
				}
			}
			if h.Limit() != nil {
				t.Error("a limit before it is reached")
			}
			res := post(t, g.URL()+"/v1/messages", h.Key(), chatBody)
			if res.StatusCode != 402 || !strings.Contains(res.body, "billing_error") {
				t.Errorf("status %d: %s", res.StatusCode, res.body)
			}
			if diff := cmp.Diff(tt.want, h.Limit()); diff != "" {
				t.Error(diff)
			}
			if h.Err() != nil || h.Calls() != tt.calls {
				t.Errorf("Err() = %v after %d calls", h.Err(), h.Calls())
			}
		})
	}
}

// What a session sets wins over what an agent asks for; the rest of that stays.
func TestSampling(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	zero, one := 0.0, 1.0
	body := strings.Replace(chatBody, "{", `{"temperature": 1, "top_p": 1, "max_tokens": 20, `, 1)
	for _, tt := range []struct {
		name string
		set  model.Sampling
		want model.Sampling
	}{
		{"nothing set", model.Sampling{}, model.Sampling{Temperature: &one, TopP: &one, MaxTokens: 20}},
		{"some set", model.Sampling{Temperature: &zero, MaxTokens: 4000, ReasoningEffort: "high"}, model.Sampling{Temperature: &zero, TopP: &one, MaxTokens: 4000, ReasoningEffort: "high"}},
	} {
		client := &always{resp: modeltest.Text("fine").Response}
		h := open(t, g, Session{Client: client, Sampling: tt.set})
		if res := post(t, g.URL()+"/v1/chat/completions", h.Key(), body); res.StatusCode != 200 {
			t.Fatalf("%s: status %d: %s", tt.name, res.StatusCode, res.body)
		}
		if diff := cmp.Diff(tt.want, client.asked().Sampling); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	for path, body := range map[string]string{
		"/v1/responses":                    `{"model":"m","input":[],"previous_response_id":"resp_1"}`,
		"/v1/chat/completions":             `{"model":"m","messages":[],"n":2}`,
		"/v1/messages":                     `{"model":"m","messages":[{"role":"narrator","content":"x"}]}`,
		"/v1beta/models/m:generateContent": `{"contents":[],"cachedContent":"c"}`,
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			h := open(t, g, Session{Client: says("fine")})
			if res := post(t, g.URL()+path, h.Key(), body); res.StatusCode != 400 {
				t.Errorf("status %d: %s", res.StatusCode, res.body)
			}
			var refused *RefusedError
			if !errors.As(h.Err(), &refused) || h.Calls() != 0 {
				t.Errorf("Err() = %v after %d calls", h.Err(), h.Calls())
			}
		})
	}
}

// TestWhatCannotBeShown: the model is told of it, and the agent goes on.
func TestWhatCannotBeShown(t *testing.T) {
	t.Parallel()
	tests := map[Wire][]string{
		Chat:      {`{"type":"file","file":{"file_id":"f"}}`, `{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}`},
		Responses: {`{"type":"input_file","file_id":"f"}`, `{"type":"input_image","file_id":"f"}`},
		Messages:  {`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"AAAA"}}`, `{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}`},
		Gemini:    {`{"fileData":{"fileUri":"gs://x"}}`, `{"inlineData":{"mimeType":"application/pdf","data":"AAAA"}}`},
	}
	for wire, parts := range tests {
		for _, part := range parts {
			t.Run(string(wire)+part, func(t *testing.T) {
				t.Parallel()
				body := `{"messages":[{"role":"user","content":[` + part + `]}],"input":[{"role":"user","content":[` + part + `]}],"contents":[{"parts":[` + part + `]}]}`
				c := map[Wire]codec{Chat: chatCodec(), Responses: responsesCodec(), Messages: messagesCodec(), Gemini: geminiCodec()}[wire]
				q, err := c.decode(inbound{body: []byte(body)})
				if err != nil {
					t.Fatal(err)
				}
				if s := q.req.Messages[0].Content; !strings.Contains(s, "was left out") || len(q.leftOut) != 1 {
					t.Errorf("%q; %q", s, q.leftOut)
				}
			})
		}
	}
}

func TestConcurrencyIsBounded(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	release := make(chan struct{})
	var fake *modeltest.Fake
	full := make(chan struct{}, 16)
	fake = modeltest.New(func(context.Context, int, model.Request) (model.Response, error) {
		full <- struct{}{}
		<-release
		return model.Response{Text: "fine", Finish: model.FinishStop}, nil
	})
	h := open(t, g, Session{Client: fake, Concurrency: 2})
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if res := post(t, g.URL()+"/v1/chat/completions", h.Key(), chatBody); res.StatusCode != 200 {
				t.Errorf("status %d", res.StatusCode)
			}
		})
	}
	<-full
	<-full
	close(release)
	wg.Wait()
	if fake.Peak() > 2 || fake.Count() != 6 {
		t.Errorf("%d at once, %d in all", fake.Peak(), fake.Count())
	}
}

func TestObserver(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	g := testGateway(t, Options{Now: func() time.Time { return now }})
	var got []Exchange
	fault := errors.New("broken")
	client := modeltest.Script(modeltest.Text("fine"), modeltest.Step{Err: fault})
	h := open(t, g, Session{
		Client: client, Model: "real", Tags: model.Tags{Stage: model.StageRollout}, Observe: func(e Exchange) { got = append(got, e) },
	})
	body := `{"model":"asked","messages":[{"role":"user","content":"q"}],"logit_bias":{},"tools":[{"type":"custom","custom":{"name":"x"}}]}`
	res := post(t, g.URL()+"/v1/chat/completions", h.Key(), body)
	if !strings.Contains(res.body, `"model":"asked"`) || !strings.Contains(res.body, `"created":1767323045`) {
		t.Errorf("body %s", res.body)
	}
	post(t, g.URL()+"/v1/chat/completions", h.Key(), body)
	req := model.Request{Model: "real", Messages: []model.Message{user("q")}, Tags: model.Tags{Stage: model.StageRollout}}
	want := []Exchange{
		{Wire: Chat, Asked: "asked", Request: req, Response: modeltest.Text("fine").Response, LeftOut: []LeftOut{{Kind: trajectory.Field, What: "logit_bias"}, {Kind: trajectory.ClientTool, What: "tool custom"}}, StartedAt: now},
		{Wire: Chat, Asked: "asked", Request: req, Err: fault, LeftOut: []LeftOut{{Kind: trajectory.Field, What: "logit_bias"}, {Kind: trajectory.ClientTool, What: "tool custom"}}, StartedAt: now},
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateErrors()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !errors.Is(h.Err(), fault) {
		t.Errorf("Err() = %v", h.Err())
	}
}

// turn is an answer with reasoning and calls.
func turn(id string, r model.Reasoning) model.Response {
	return model.Response{Text: "Now.", Finish: model.FinishTools, Parts: []model.Part{
		{Reasoning: &r}, {Text: "Now."}, {Call: &model.ToolCall{ID: id, Name: "bash", Arguments: json.RawMessage(`{"cmd":"ls"}`)}},
	}}
}

func TestThoughtsComeBack(t *testing.T) {
	t.Parallel()
	r := model.Reasoning{Provider: "anthropic", Text: "hm", Opaque: json.RawMessage(`{"type":"thinking","thinking":"hm","signature":"s"}`)}
	g := testGateway(t, Options{})
	client := modeltest.Script(modeltest.Step{Response: turn("c1", r)}, modeltest.Text("done"), modeltest.Text("done"))
	h := open(t, g, Session{Client: client})
	post(t, g.URL()+"/v1/chat/completions", h.Key(), chatBody)
	back := `{"model":"m","messages":[{"role":"user","content":"q"},
		{"role":"assistant","content":"Now.","reasoning_content":"hm","tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"cmd\":\"ls\"}"}}]},
		{"role":"tool","tool_call_id":"c1","content":"a.txt"}]}`
	post(t, g.URL()+"/v1/chat/completions", h.Key(), back)
	got := client.Calls()[1].Request.Messages[1]
	if diff := cmp.Diff(turn("c1", r).Message(), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	post(t, g.URL()+"/v1/chat/completions", h.Key(), strings.ReplaceAll(back, `"bash"`, `"other"`))
	if p := client.Calls()[2].Request.Messages[1].Parts[0]; p.Reasoning == nil || p.Reasoning.Opaque != nil {
		t.Errorf("the thought of another call: %+v", p)
	}
	want := []trajectory.Turn{
		{Role: model.User, Content: "q"},
		{Role: model.Assistant, Content: "Now."},
		{Kind: trajectory.ToolCall, Action: `bash {"cmd":"ls"}`, Observation: "a.txt"},
		{Role: model.Assistant, Content: "done"},
		{Role: model.Assistant, Content: "done"},
	}
	if diff := cmp.Diff(want, h.Transcript()); diff != "" {
		t.Errorf("transcript (-want +got):\n%s", diff)
	}
}

func TestThoughtsAreBounded(t *testing.T) {
	t.Parallel()
	var th thoughts
	big := model.Reasoning{Provider: "x", Text: strings.Repeat("t", maxThoughts/4)}
	for _, id := range []string{"a", "b", "b", "c", "d", "e"} {
		th.keep(turn(id, big).Parts)
	}
	if diff := cmp.Diff([]string{"c", "d", "e"}, th.order); diff != "" || th.size > maxThoughts || len(th.byCall) != 3 {
		t.Errorf("%d bytes of %d; %s", th.size, maxThoughts, diff)
	}
}

func TestStopSequences(t *testing.T) {
	t.Parallel()
	q := agentRequest{stop: []string{"END", "X"}}
	c := &model.ToolCall{ID: "1", Name: "n"}
	tests := map[string]struct{ in, want model.Response }{
		"none":  {model.Response{Text: "abc", Finish: model.FinishLength}, model.Response{Text: "abc", Finish: model.FinishLength}},
		"first": {model.Response{Text: "aXbEND", Finish: model.FinishLength}, model.Response{Text: "a", Finish: model.FinishStop, StopSequence: "X"}},
		"parts": {
			model.Response{Text: "a ENDb", Finish: model.FinishTools, Parts: []model.Part{{Text: "a "}, {Text: "ENDb"}, {Call: c}}},
			model.Response{Text: "a ", Finish: model.FinishStop, StopSequence: "END", Parts: []model.Part{{Text: "a "}, {}}},
		},
		"a call before the cut": {
			model.Response{Text: "aEND", Finish: model.FinishTools, Parts: []model.Part{{Call: c}, {Text: "aEND"}}},
			model.Response{Text: "a", Finish: model.FinishTools, StopSequence: "END", Parts: []model.Part{{Call: c}, {Text: "a"}}},
		},
		"calls stay": {
			model.Response{Text: "a", Finish: model.FinishTools, Parts: []model.Part{{Text: "a"}, {Call: c}}},
			model.Response{Text: "a", Finish: model.FinishTools, Parts: []model.Part{{Text: "a"}, {Call: c}}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, q.cut(tt.in)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// A call ends when its timeout has passed.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(Options{}.withDefaults())
		client := modeltest.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
			<-ctx.Done()
			return model.Response{}, ctx.Err()
		})
		h := g.newHandle(Session{Client: client, Timeout: 16 * time.Minute}, "key")
		defer h.cancel()
		begun := time.Now()
		if _, err := h.ask(t.Context(), Chat, agentRequest{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, want a deadline", err)
		}
		if took := time.Since(begun); took != 16*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
}
