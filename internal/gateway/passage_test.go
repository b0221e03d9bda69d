package gateway

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	claude "github.com/seed-f4525e22/skillopt/internal/provider/anthropic"
	google "github.com/seed-f4525e22/skillopt/internal/provider/gemini"
	"github.com/seed-f4525e22/skillopt/internal/provider/openai"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// maker is the server of a provider; it keeps what it was asked.
type maker struct {
	*httptest.Server
	mu     sync.Mutex
	body   string
	header http.Header
	path   string
	asked  int
}

// newMaker answers with a status, a type of content and text. One that is cut
// breaks off behind the text.
func newMaker(t *testing.T, status int, kind, answer string, cut bool) *maker {
	v := &maker{}
	v.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		v.mu.Lock()
		v.body, v.header, v.path, v.asked = string(b), r.Header.Clone(), r.URL.RequestURI(), v.asked+1
		v.mu.Unlock()
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		if _, err := io.WriteString(w, answer); err != nil {
			t.Error(err)
		}
		if cut {
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			panic(http.ErrAbortHandler)
		}
	}))
	t.Cleanup(v.Close)
	return v
}

const eventStream = "text/event-stream"

var usage = trajectory.Usage{Input: 12, Output: 3, Cached: 4}

// passages are what agents send and what servers answer, in the words of each wire.
var passages = []struct {
	wire           Wire
	path           string
	request, want  string
	answer, stream string
}{
	{
		Chat, "/v1/chat/completions",
		`{"model":"asked",  "messages":[{"role":"user","content":"q", "x_own": {"b":1,"a":[ 1e3 ]}}],"store":true,"stream":STREAM,"logit_bias":{"1":2},"tools":[{"type":"web_search"},{"type":"custom","custom":{"name":"c"}}],"temperature":1}`,
		`{"model":"true","messages":[{"role":"user","content":"q", "x_own": {"b":1,"a":[ 1e3 ]}}],"stream":STREAM,"logit_bias":{"1":2},"tools":[{"type":"custom","custom":{"name":"c"}}],"temperature":0.5USAGE}`,
		`{"id":"x","choices":[{"index":0,"message":{"role":"assistant","content":"a","x":1},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":4}}}`,
		": hello\n\ndata: {\"id\":\"x\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\",\"x\":1}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,\"prompt_tokens_details\":{\"cached_tokens\":4}}}\n\ndata: [DONE]\n\n",
	},
	{
		Responses, "/v1/responses",
		`{"model":"asked","instructions":"s","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"q"},{"type":"input_image","image_url":"https://example.com/a.png"}]},{"type":"odd","x":1}],"stream":STREAM,"tools":[{"type":"custom","name":"apply_patch","format":{"type":"grammar"}},{"type":"web_search"}],"prompt_cache_key":"k"}`,
		`{"model":"true","instructions":"s","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"q"},{"type":"input_text","text":"[content that is not in the request was left out: it cannot be shown to this model]"}]},{"type":"odd","x":1}],"stream":STREAM,"tools":[{"type":"custom","name":"apply_patch","format":{"type":"grammar"}}],"prompt_cache_key":"k","store":false,"include":["reasoning.encrypted_content"],"temperature":0.5}`,
		`{"id":"x","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}],"usage":{"input_tokens":12,"output_tokens":3,"input_tokens_details":{"cached_tokens":4}}}`,
		"event: response.created\ndata: {\"type\":\"response.created\"}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"a\"}]}],\"usage\":{\"input_tokens\":12,\"output_tokens\":3,\"input_tokens_details\":{\"cached_tokens\":4}}}}\n\n",
	},
	{
		Messages, "/v1/messages?beta=true",
		`{"model":"asked","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}],"stream":STREAM,"mcp_servers":[{"url":"u"}],"tools":[{"name":"Bash","input_schema":{"type":"object"}},{"type":"bash_20250124","name":"bash"},{"type":"web_search_20250305","name":"web_search"}],"tool_choice":{"type":"tool","name":"web_search"}}`,
		`{"model":"true","max_tokens":9,"system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":[{"type":"text","text":"q","cache_control":{"type":"ephemeral"}}]}],"stream":STREAM,"tools":[{"name":"Bash","input_schema":{"type":"object"}},{"type":"bash_20250124","name":"bash"}],"temperature":0.5}`,
		`{"id":"x","type":"message","role":"assistant","content":[{"type":"text","text":"a","x":1}],"stop_reason":"end_turn","usage":{"input_tokens":8,"output_tokens":3,"cache_read_input_tokens":4}}`,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"type\":\"message\",\"content\":[],\"usage\":{\"input_tokens\":8,\"output_tokens\":1,\"cache_read_input_tokens\":4}}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\nevent: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":3}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
	},
	{
		Gemini, "/v1beta/models/asked:METHOD",
		`{"contents":[{"role":"user","parts":[{"text":"q"},{"fileData":{"fileUri":"https://example.com/a"}}]}],"tools":[{"functionDeclarations":[{"name":"f"}],"googleSearch":{}},{"codeExecution":{}}],"generationConfig":{"topK":64,"temperature":1},"safetySettings":[]}`,
		`{"contents":[{"role":"user","parts":[{"text":"q"},{"text":"[content that is not in the request was left out: it cannot be shown to this model]"}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}],"generationConfig":{"topK":64,"temperature":0.5},"safetySettings":[]}`,
		`{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP","x":1}],"usageMetadata":{"promptTokenCount":12,"cachedContentTokenCount":4,"candidatesTokenCount":3}}`,
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"a\"}]},\"finishReason\":\"STOP\",\"x\":1}],\"usageMetadata\":{\"promptTokenCount\":12,\"cachedContentTokenCount\":4,\"candidatesTokenCount\":3}}\n\n",
	},
}

// adapterOf is the adapter of a server that speaks a wire.
func adapterOf(t *testing.T, wire Wire, url string) model.Client {
	t.Helper()
	var c model.Client
	var err error
	switch wire {
	case Messages:
		c, err = claude.New(claude.Options{BaseURL: url, APIKey: "true-key-of-the-vendor"})
	case Gemini:
		c, err = google.New(google.Options{BaseURL: url, APIKey: "true-key-of-the-vendor"})
	case Responses:
		c, err = openai.New(openai.Options{BaseURL: url + "/v1", APIKey: "true-key-of-the-vendor", API: openai.APIResponses})
	default:
		c, err = openai.New(openai.Options{BaseURL: url + "/v1", APIKey: "true-key-of-the-vendor"})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.(interface{ Close() }).Close)
	return c
}

// sent sends a body as an agent does, and returns the whole answer.
func sent(t *testing.T, h *Handle, g *Gateway, path, body string) (status int, kind, answer string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", h.Key())
	req.Header.Set("Anthropic-Beta", "one,two")
	req.Header.Set("X-Stainless-Os", "Linux")
	res, err := agent(t).Do(req)
	if err != nil {
		return 0, "", "", err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return res.StatusCode, res.Header.Get("Content-Type"), string(b), err
}

// Where the model's server speaks the agent's protocol, both get the bytes of the
// other, but for what the config sets and what would happen at the vendor.
func TestSameWireSameBytes(t *testing.T) {
	t.Parallel()
	for _, tt := range passages {
		for _, stream := range []bool{false, true} {
			t.Run(string(tt.wire)+map[bool]string{true: " stream"}[stream], func(t *testing.T) {
				t.Parallel()
				answer, kind, word, usageWanted, method := tt.answer, "application/json", "false", "", "generateContent"
				if stream {
					answer, kind, word, usageWanted, method = tt.stream, eventStream, "true", `,"stream_options":{"include_usage":true}`, "streamGenerateContent?alt=sse"
				}
				v := newMaker(t, http.StatusOK, kind, answer, false)
				g, half := testGateway(t, Options{}), 0.5
				h := open(t, g, Session{Client: adapterOf(t, tt.wire, v.URL), Model: "true", Sampling: model.Sampling{Temperature: &half}})
				fill := strings.NewReplacer("STREAM", word, "USAGE", usageWanted, "METHOD", method)
				status, gotKind, got, err := sent(t, h, g, fill.Replace(tt.path), fill.Replace(tt.request))
				if err != nil || status != http.StatusOK || gotKind != kind {
					t.Fatalf("%d %s, %v: %s", status, gotKind, err, got)
				}
				if diff := cmp.Diff(answer, got); diff != "" {
					t.Errorf("answer (-server +agent):\n%s", diff)
				}
				if diff := cmp.Diff(fill.Replace(tt.want), v.body); diff != "" {
					t.Errorf("request (-want +server):\n%s", diff)
				}
				if h.Usage() != usage || h.Err() != nil || len(h.Transcript()) == 0 {
					t.Errorf("usage %+v, error %v, %d turns", h.Usage(), h.Err(), len(h.Transcript()))
				}
				if len(h.LeftOut()) == 0 {
					t.Error("nothing is told of what was left out")
				}
				if strings.Contains(strings.Join(v.header["X-Api-Key"], ""), h.Key()) || v.header["X-Stainless-Os"] != nil || (v.header.Get("Anthropic-Beta") == "one,two") != (tt.wire == Messages) {
					t.Errorf("headers %v", v.header)
				}
			})
		}
	}
}

// What is allowed reaches the server.
func TestHostedToolsAreAllowed(t *testing.T) {
	t.Parallel()
	v := newMaker(t, http.StatusOK, "application/json", passages[2].answer, false)
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: adapterOf(t, Messages, v.URL), Model: "true", Hosted: []string{"web_search"}})
	body := `{"max_tokens":1,"messages":[{"role":"user","content":"q"}],"tools":[{"type":"web_search_20250305","name":"web_search"},{"type":"code_execution_20250825","name":"code_execution"}]}`
	if status, _, answer, err := sent(t, h, g, "/v1/messages", body); status != http.StatusOK || err != nil {
		t.Fatalf("%d, %v: %s", status, err, answer)
	}
	if !strings.Contains(v.body, "web_search_20250305") || strings.Contains(v.body, "code_execution") {
		t.Errorf("the server got %s", v.body)
	}
	want := []LeftOut{{Kind: trajectory.HostedTool, What: "tool code_execution_20250825", Name: "code_execution"}}
	if diff := cmp.Diff(want, h.LeftOut()); diff != "" {
		t.Error(diff)
	}
}

// A failure before the first byte has its status and may be tried again; one after
// it ends the agent's connection and is kept.
func TestPassagesThatFail(t *testing.T) {
	t.Parallel()
	t.Run("before", func(t *testing.T) {
		t.Parallel()
		v := newMaker(t, http.StatusTooManyRequests, "application/json", `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`, false)
		g := testGateway(t, Options{})
		h := open(t, g, Session{Client: adapterOf(t, Messages, v.URL), Model: "true"})
		status, _, answer, err := sent(t, h, g, "/v1/messages", `{"max_tokens":1,"stream":true,"messages":[{"role":"user","content":"q"}]}`)
		if status != http.StatusTooManyRequests || err != nil || !strings.Contains(answer, "slow down") || model.CodeOf(h.Err()) != model.RateLimit {
			t.Errorf("%d, %v, %v: %s", status, err, h.Err(), answer)
		}
	})
	for _, tt := range passages {
		t.Run("after/"+string(tt.wire), func(t *testing.T) {
			t.Parallel()
			begun, _, _ := strings.Cut(tt.stream, "\n\n")
			if tt.wire == Gemini {
				begun = strings.Replace(begun, `"finishReason":"STOP",`, "", 1)
			}
			v := newMaker(t, http.StatusOK, eventStream, begun+"\n\n", true)
			g := testGateway(t, Options{})
			h := open(t, g, Session{Client: adapterOf(t, tt.wire, v.URL), Model: "true"})
			fill := strings.NewReplacer("STREAM", "true", "METHOD", "streamGenerateContent?alt=sse")
			status, _, got, err := sent(t, h, g, fill.Replace(tt.path), fill.Replace(tt.request))
			if status != http.StatusOK || err == nil || got != begun+"\n\n" {
				t.Errorf("%d, %v: %q, want what came and a broken connection", status, err, got)
			}
			if h.Err() == nil || v.asked != 1 {
				t.Errorf("error %v after %d requests", h.Err(), v.asked)
			}
		})
	}
}

// A body that may mean two things is translated.
func TestAmbiguousBodiesAreTranslated(t *testing.T) {
	t.Parallel()
	v := newMaker(t, http.StatusOK, "application/json", passages[0].answer, false)
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: adapterOf(t, Chat, v.URL), Model: "true"})
	body := `{"tools":[{"type":"web_search"}],"messages":[{"role":"user","content":"q"}],"tools":[]}`
	if status, _, answer, err := sent(t, h, g, "/v1/chat/completions", body); status != http.StatusOK || err != nil {
		t.Fatalf("%d, %v: %s", status, err, answer)
	}
	if strings.Contains(v.body, "web_search") {
		t.Errorf("the server got %s", v.body)
	}
}

// breaking hands a beginning over and fails.
type breaking struct{}

func (breaking) Passes(string) bool { return true }

func (breaking) Generate(_ context.Context, req model.Request) (model.Response, error) {
	if _, err := req.Passage.Write(eventStream, []byte("data: {}\n\n")); err != nil {
		return model.Response{}, err
	}
	return model.Response{}, errors.New("gone")
}

func TestBrokenPassageIsKept(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: breaking{}, Retried: true})
	if _, _, _, err := sent(t, h, g, "/v1/chat/completions", `{"stream":true,"messages":[{"role":"user","content":"q"}]}`); err == nil {
		t.Error("the agent takes the answer for whole")
	}
	if h.Err() == nil || h.Err().Error() != "gone" {
		t.Errorf("error %v", h.Err())
	}
}
