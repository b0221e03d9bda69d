//go:build cloud

package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// crossCase is a request that a vendor's client sends, and the answer that it
// must understand, over every wire.
type crossCase struct {
	name string
	req  model.Request
	resp model.Response
	want answer // with the finish of Chat; the others follow from the table below
	not  map[Wire]string
}

var finishes = map[string]map[Wire]string{
	"stop":           {Responses: "completed", Messages: "end_turn", Gemini: "STOP"},
	"tool_calls":     {Responses: "completed", Messages: "tool_use", Gemini: "STOP"},
	"length":         {Responses: "max_output_tokens", Messages: "max_tokens", Gemini: "MAX_TOKENS"},
	"content_filter": {Responses: "content_filter", Messages: "refusal", Gemini: "SAFETY"},
	"refusal":        {Responses: "refusal", Messages: "refusal", Gemini: "STOP"},
}

func crossCases() []crossCase {
	tool := model.Tool{
		Name: "write_file", Description: "writes a \"file\"",
		Parameters: json.RawMessage(`{"properties":{"path":{"type":"string"}},"type":"object"}`),
	}
	other := model.Tool{Name: "read", Description: "reads", Parameters: json.RawMessage(`{"properties":{"a":{"items":{"enum":["x","y"]},"type":"array"}},"type":"object"}`)}
	first := model.ToolCall{ID: "call_1", Name: "write_file", Arguments: json.RawMessage(`{"path":"a <b> & \"c\".txt"}`)}
	second := model.ToolCall{ID: "call_2", Name: "read", Arguments: json.RawMessage(`{"a":["x"]}`)}
	usage := trajectory.Usage{Input: 100, Output: 20, Cached: 60, CacheWrite: 30, Reasoning: 5}
	zero, seed := 0.0, int64(7)
	odd := "Füße, 水, 🙂, \u2028 <b> & \"q\" \\ \r\n\t\u0007 end"
	asked := func(m ...model.Message) model.Request {
		return model.Request{Model: "m-1", Messages: m, Sampling: model.Sampling{MaxTokens: 500}}
	}
	withTools := asked(user("write"))
	withTools.Tools = []model.Tool{tool, other}
	chosen := withTools
	chosen.ToolChoice = "write_file"
	must := withTools
	must.ToolChoice = model.ToolChoiceRequired
	none := withTools
	none.ToolChoice = model.ToolChoiceNone
	trip := asked(
		model.Message{Role: model.System, Content: "sys"}, user("write"),
		model.Message{Role: model.Assistant, Parts: []model.Part{{Text: "I will."}, {Call: &first}, {Call: &second}}},
		model.Message{Role: model.ToolRole, Parts: []model.Part{
			{Result: &model.ToolResult{CallID: "call_1", Name: "write_file", Content: "done\n" + odd}},
			{Result: &model.ToolResult{CallID: "call_2", Name: "read", Content: "no such file"}},
		}},
	)
	trip.Tools = withTools.Tools
	failed := asked(trip.Messages[:3]...)
	failed.Messages = append(failed.Messages[:3:3], model.Message{Role: model.ToolRole, Parts: []model.Part{
		{Result: &model.ToolResult{CallID: "call_1", Name: "write_file", Content: "disk full", IsError: true}},
		{Result: &model.ToolResult{CallID: "call_2", Name: "read", Content: "fine"}},
	}})
	sampled := asked(user("q"))
	sampled.Temperature, sampled.Seed, sampled.ReasoningEffort = &zero, &seed, "high"
	schema := asked(user("q"))
	schema.Schema = &model.Schema{Name: "answer", JSON: json.RawMessage(`{"properties":{"n":{"type":"integer"}},"required":["n"],"type":"object"}`)}
	picture := asked(model.Message{Role: model.User, Parts: []model.Part{
		{Text: "look"}, {Image: &model.Image{MIME: "image/png", Data: []byte("\x89PNG\r\n\x1a\n\x00\xff")}}, {Text: "and tell"},
	}})
	text := func(s string, f model.Finish) model.Response {
		return model.Response{Text: s, Finish: f, Usage: trajectory.Usage{Input: 3, Output: 2}}
	}
	plain := trajectory.Usage{Input: 3, Output: 2}
	calls := model.Response{Text: "Now.", Finish: model.FinishTools, Usage: usage, Parts: []model.Part{{Text: "Now."}, {Call: &first}, {Call: &second}}}
	fine := text("fine", model.FinishStop)
	ok := answer{Text: "fine", Finish: "stop", Usage: plain}
	return []crossCase{
		{name: "text", req: asked(model.Message{Role: model.System, Content: "# Skill\n" + odd}, user(odd)), resp: text(odd, model.FinishStop), want: answer{Text: odd, Finish: "stop", Usage: plain}},
		{name: "empty text", req: asked(user("q")), resp: text("", model.FinishStop), want: answer{Finish: "stop", Usage: plain}},
		{name: "no counts", req: asked(user("q")), resp: model.Response{Text: "fine", Finish: model.FinishStop}, want: answer{Text: "fine", Finish: "stop"}},
		{name: "turns", req: asked(user("u1"), model.Message{Role: model.Assistant, Content: "a1"}, user("u2")), resp: fine, want: ok},
		{name: "several calls", req: withTools, resp: calls, want: answer{Text: "Now.", Calls: []model.ToolCall{first, second}, Finish: "tool_calls", Usage: usage}},
		{
			name: "a call alone", req: chosen, resp: model.Response{Finish: model.FinishTools, Usage: plain, Parts: []model.Part{{Call: &first}}},
			want: answer{Calls: []model.ToolCall{first}, Finish: "tool_calls", Usage: plain},
		},
		{name: "must call", req: must, resp: fine, want: ok},
		{name: "must not call", req: none, resp: fine, want: ok},
		{name: "results", req: trip, resp: fine, want: ok},
		{name: "failed result", req: failed, resp: fine, want: ok, not: map[Wire]string{Chat: "no field for errors", Responses: "no field for errors"}},
		{name: "sampling", req: sampled, resp: fine, want: ok},
		{name: "schema", req: schema, resp: text(`{"n":1}`, model.FinishStop), want: answer{Text: `{"n":1}`, Finish: "stop", Usage: plain}},
		{name: "image", req: picture, resp: fine, want: ok},
		{name: "length", req: asked(user("q")), resp: text("half an", model.FinishLength), want: answer{Text: "half an", Finish: "length", Usage: plain}},
		{name: "filter", req: asked(user("q")), resp: text("some", model.FinishFilter), want: answer{Text: "some", Finish: "content_filter", Usage: plain}},
		{name: "refusal", req: asked(user("q")), resp: text("I won't.", model.FinishRefusal), want: answer{Text: "I won't.", Finish: "refusal", Usage: plain}},
	}
}

// lacking takes out of a request and an answer what a wire cannot say.
func lacking(w Wire, req *model.Request, a *answer) {
	switch w {
	case Responses:
		req.Seed = nil
	case Messages:
		req.Seed = nil
		a.Usage.Reasoning = 0
	case Gemini:
		a.Usage.CacheWrite = 0
	}
}

func TestVendorsUnderstand(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	for wire, ask := range vendors() {
		for _, tt := range crossCases() {
			for name, stream := range map[string]bool{"json": false, "stream": true} {
				t.Run(string(wire)+"/"+tt.name+"/"+name, func(t *testing.T) {
					if why, not := tt.not[wire]; not {
						t.Skip(why)
					}
					t.Parallel()
					client := &always{resp: tt.resp}
					h := open(t, g, Session{Client: client, Tags: model.Tags{Role: model.Target}})
					defer h.Close()
					got, err := ask(t, g.URL(), h.Key(), tt.req, stream)
					if err != nil {
						t.Fatal(err)
					}
					wanted, want := tt.req, tt.want
					lacking(wire, &wanted, &want)
					wanted.Tags.Role = model.Target
					if f, ok := finishes[want.Finish][wire]; ok {
						want.Finish = f
					}
					if diff := cmp.Diff(wanted, client.asked(), sameJSON()); diff != "" {
						t.Errorf("request (-sent +asked):\n%s", diff)
					}
					if diff := cmp.Diff(want, got, sameJSON()); diff != "" {
						t.Errorf("answer (-want +understood):\n%s", diff)
					}
				})
			}
		}
	}
}

func TestWrongAndClosedKeys(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: says("fine")})
	h.Close()
	for wire, ask := range vendors() {
		for name, key := range map[string]string{"wrong": "sk-wrong-key", "closed": h.Key()} {
			t.Run(string(wire)+"/"+name, func(t *testing.T) {
				t.Parallel()
				_, err := ask(t, g.URL(), key, model.Request{Model: "m", Messages: []model.Message{user("q")}}, true)
				want := faults()[model.Auth][wire]
				if wire == Responses {
					want = faults()[model.Auth][Chat]
				}
				if diff := cmp.Diff(want, toldBy(t, err)); diff != "" {
					t.Error(diff)
				}
				if strings.Contains(err.Error(), key) {
					t.Errorf("the error tells the key: %v", err)
				}
			})
		}
	}
}

// TestVendorsReadSlowStreams: signs of life do not disturb clients of vendors,
// and a late failure is one to them.
func TestVendorsReadSlowStreams(t *testing.T) {
	t.Parallel()
	req := model.Request{Model: "m", Messages: []model.Message{user("q")}, Sampling: model.Sampling{MaxTokens: 9}}
	for wire, ask := range vendors() {
		for name, fault := range map[string]error{"answer": nil, "failure": failing(model.Server)} {
			t.Run(string(wire)+"/"+name, func(t *testing.T) {
				t.Parallel()
				enough := make(chan struct{})
				g := newGateway(Options{Patience: time.Millisecond, KeepAlive: time.Millisecond}.withDefaults())
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					g.ServeHTTP(&signs{ResponseWriter: w, left: 3, enough: enough}, r)
				}))
				defer srv.Close()
				h := open(t, g, Session{Client: modeltest.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
					select {
					case <-enough:
					case <-ctx.Done():
					}
					return modeltest.Text("the answer").Response, fault
				})})
				defer h.Close()
				got, err := ask(t, srv.URL, h.Key(), req, true)
				if (err != nil) != (fault != nil) || err == nil && got.Text != "the answer" {
					t.Errorf("%+v, %v", got, err)
				}
			})
		}
	}
}

func failing(code model.Code) error {
	if code == "" {
		return errors.New("limits.usd is reached")
	}
	return &model.Error{Code: code, Status: 418, Endpoint: "api.example.com", RetryAfter: 1500 * time.Millisecond, Err: fmt.Errorf("scripted")}
}

// signs lets a model answer once an agent has been sent a few signs of life.
type signs struct {
	http.ResponseWriter
	left   int
	enough chan struct{}
}

func (s *signs) Unwrap() http.ResponseWriter { return s.ResponseWriter }

func (s *signs) Flush() {
	if err := http.NewResponseController(s.ResponseWriter).Flush(); err != nil {
		panic(err)
	}
	if s.left--; s.left == 0 {
		close(s.enough)
	}
}
