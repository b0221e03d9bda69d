package gateway

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

const chatBody = `{"model":"m-1","messages":[{"role":"user","content":"q"}]}`

func TestAddress(t *testing.T) {
	t.Parallel()
	for addr, ok := range map[string]bool{
		"": true, "127.0.0.1:0": true, "localhost:0": true, "[::1]:0": true,
		"0.0.0.0:0": false, ":0": false, "192.168.1.1:0": false, "example.com:0": false, "127.0.0.1": false,
	} {
		o := Options{Addr: addr}.withDefaults()
		if err := checkAddr(o); (err == nil) != ok {
			t.Errorf("%q: %v", addr, err)
		}
	}
	if err := checkAddr(Options{Addr: "0.0.0.0:0", Remote: true}); err != nil {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	a, b := open(t, g, Session{Client: says("a")}), open(t, g, Session{Client: says("b")})
	if a.Key() == b.Key() || len(a.Key()) < 64 {
		t.Errorf("keys %q and %q", a.Key(), b.Key())
	}
	fixed := open(t, g, Session{Client: says("c"), Key: "my-own-key"})
	for _, bad := range []string{"short", "with space", "my-own-key", "ünïcödé-key"} {
		if _, err := g.Open(Session{Client: says("d"), Key: bad}); err == nil {
			t.Errorf("the key %q is accepted", bad)
		} else if strings.Contains(err.Error(), bad) {
			t.Errorf("the error tells the key: %v", err)
		}
	}
	if _, err := g.Open(Session{}); err == nil {
		t.Error("a session without a client is accepted")
	}
	fixed.Close()
	fixed.Close()
	again := open(t, g, Session{Client: says("e"), Key: "my-own-key"})
	fixed.Close() // has no say over the new one
	if res := post(t, g.URL()+"/v1/chat/completions", again.Key(), chatBody); res.StatusCode != 200 {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestRandomFails(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{Rand: bytes.NewReader(make([]byte, 40))})
	h := open(t, g, Session{Client: says("a")})
	if _, err := g.Open(Session{Client: says("b")}); err == nil {
		t.Error("a key without randomness")
	}
	if res := post(t, g.URL()+"/v1/chat/completions", h.Key(), chatBody); res.StatusCode != statusStop {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestWhereTheKeyStands(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: says("fine")})
	for name, set := range map[string]func(*http.Request){
		"bearer": func(r *http.Request) { r.Header.Set("Authorization", "bearer "+h.Key()) },
		"x":      func(r *http.Request) { r.Header.Set("X-Api-Key", h.Key()) },
		"both": func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer ")
			r.Header.Set("X-Api-Key", h.Key())
		},
		"azure":  func(r *http.Request) { r.Header.Set("Api-Key", h.Key()) },
		"google": func(r *http.Request) { r.Header.Set("X-Goog-Api-Key", h.Key()) },
		"query":  func(r *http.Request) { r.URL.RawQuery = "key=" + h.Key() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+"/chat/completions", strings.NewReader(chatBody))
			if err != nil {
				t.Fatal(err)
			}
			set(req)
			res, err := agent(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if res.StatusCode != 200 {
				t.Errorf("status %d", res.StatusCode)
			}
		})
	}
}

func TestHost(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: says("fine")})
	for host, want := range map[string]int{
		"127.0.0.1:1": 200, "localhost": 200, "[::1]:80": 200, "LOCALHOST:9": 200,
		"evil.example": 403, "127.0.0.1.evil.example:80": 403, "10.0.0.1": 403, "localhost.evil": 403,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+"/v1/chat/completions", strings.NewReader(chatBody))
		if err != nil {
			t.Fatal(err)
		}
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+h.Key())
		res, err := agent(t).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("host %q: status %d, want %d", host, res.StatusCode, want)
		}
		if res.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Error("pages of other sites may read the answer")
		}
	}
}

func TestPaths(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	h := open(t, g, Session{Client: says("fine"), Model: "real-model"})
	tests := []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/", "", 200, ""},
		{"HEAD", "/", "", 200, ""},
		{"GET", "/v1/models", "", 200, `"id":"real-model"`},
		{"GET", "/models", "", 200, `"id":"real-model"`},
		{"GET", "/v1/models/any", "", 200, `"id":"any"`},
		{"GET", "/v1beta/models", "", 200, `"name":"models/real-model"`},
		{"POST", "/responses", `{"model":"m","input":"q"}`, 200, `"output_text"`},
		{"POST", "/messages", `{"model":"m","messages":[]}`, 200, `"end_turn"`},
		{"POST", "/v1/v1/messages?beta=true", `{"model":"m","messages":[]}`, 200, `"end_turn"`},
		{"POST", "/v1/messages/count_tokens", `{"model":"m","messages":[{"role":"user","content":"12345678"}]}`, 200, `{"input_tokens":6}`},
		{"POST", "/v1/responses/input_tokens", `{"model":"m","input":"12345678"}`, 200, `"input_tokens":6`},
		{"POST", "/v1beta/models/m:countTokens", `{"contents":[{"parts":[{"text":"12345678"}]}]}`, 200, `{"totalTokens":6}`},
		{"POST", "/v1beta/models/m:countTokens", `{"generateContentRequest":{"contents":[{"parts":[{"text":"12345678"}]}]}}`, 200, `{"totalTokens":6}`},
		{"POST", "/v1beta/models/a/b:c:generateContent", `{"contents":"q"}`, 200, `"modelVersion":"a/b:c"`},
		{"POST", "/v1beta/models/m:streamGenerateContent", `{"contents":"q"}`, 200, `[{"responseId"`},
		{"POST", "/v1beta/models/m:embedContent", `{}`, 404, `"status":"NOT_FOUND"`},
		{"POST", "/v1/embeddings", `{}`, 404, `"model_not_found"`},
		{"GET", "/v1/chat/completions", "", 404, `"model_not_found"`},
		{"POST", "/v1/messages/batches", `{}`, 404, `"not_found_error"`},
		{"POST", "/v1/chat/completions", `{"messages":`, 400, "no JSON"},
		{"POST", "/v1/chat/completions", `[]`, 400, "no JSON object"},
		{"POST", "/v1/chat/completions", `{"messages":{}}`, 400, "messages: expected a list"},
	}
	for _, tt := range tests {
		t.Run(tt.method+tt.path, func(t *testing.T) {
			t.Parallel()
			req, err := http.NewRequestWithContext(t.Context(), tt.method, g.URL()+tt.path, strings.NewReader(tt.body))
			if err != nil {
				t.Fatal(err)
			}
			if tt.path != "/" {
				req.Header.Set("X-Api-Key", h.Key())
			}
			res, err := agent(t).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			b, err := io.ReadAll(res.Body)
			if err != nil {
				t.Fatal(err)
			}
			if res.StatusCode != tt.status || !strings.Contains(string(b), tt.want) {
				t.Errorf("status %d, want %d; %s", res.StatusCode, tt.status, b)
			}
		})
	}
}

func TestBodies(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{MaxBody: 1000})
	h := open(t, g, Session{Client: says("fine")})
	res := post(t, g.URL()+"/v1/chat/completions", h.Key(), `{"messages":[{"role":"user","content":"`+strings.Repeat("x", 2000)+`"}]}`)
	if res.StatusCode != 413 || !strings.Contains(res.body, "more than the 1000 bytes") {
		t.Errorf("status %d: %s", res.StatusCode, res.body)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+"/v1/chat/completions", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Encoding", "zstd")
	req.Header.Set("X-Api-Key", h.Key())
	zipped, err := agent(t).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	zipped.Body.Close()
	if zipped.StatusCode != 400 {
		t.Errorf("a compressed body: status %d", zipped.StatusCode)
	}
}

func TestSessionsDoNotMix(t *testing.T) {
	t.Parallel()
	const sessions, requests = 8, 20
	g := testGateway(t, Options{})
	var wg sync.WaitGroup
	for i := range sessions {
		name := fmt.Sprint("session ", i)
		fake := modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
			return model.Response{Text: name + " " + req.Messages[0].Content, Finish: model.FinishStop, Usage: trajectory.Usage{Input: int64(i), Output: 1}}, nil
		})
		h := open(t, g, Session{Client: fake})
		client := agent(t)
		wg.Go(func() {
			var inner sync.WaitGroup
			for n := range requests {
				inner.Go(func() {
					body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"q%d"}]}`, n%2 == 0, n)
					req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+"/v1/chat/completions", strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					req.Header.Set("Authorization", "Bearer "+h.Key())
					res, err := client.Do(req)
					if err != nil {
						t.Error(err)
						return
					}
					defer res.Body.Close()
					b, err := io.ReadAll(res.Body)
					if want := fmt.Sprintf(`"%s q%d"`, name, n); err != nil || !strings.Contains(string(b), want) {
						t.Errorf("%v: want %s in %s", err, want, b)
					}
				})
			}
			inner.Wait()
			want := trajectory.Usage{Input: int64(i) * requests, Output: requests}
			if h.Calls() != requests || h.Usage() != want {
				t.Errorf("%s: %d calls, %+v", name, h.Calls(), h.Usage())
			}
		})
	}
	wg.Wait()
}

// blocked is a client that waits until its context ends.
func blocked() (model.Client, <-chan struct{}, <-chan struct{}) {
	begun, ended := make(chan struct{}), make(chan struct{})
	return modeltest.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return model.Response{}, model.Interrupted(ctx, "fake")
	}), begun, ended
}

func TestAgentGoesAway(t *testing.T) {
	t.Parallel()
	g := testGateway(t, Options{})
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("stream ", stream), func(t *testing.T) {
			t.Parallel()
			client, begun, ended := blocked()
			h := open(t, g, Session{Client: client})
			ctx, cancel := context.WithCancel(t.Context())
			body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"q"}]}`, stream)
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.URL()+"/v1/chat/completions", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+h.Key())
			done := make(chan error, 1)
			go func() {
				res, err := agent(t).Do(req)
				if err == nil {
					res.Body.Close()
				}
				done <- err
			}()
			<-begun
			cancel()
			<-ended
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("the agent got %v", err)
			}
			h.Close()
			if h.Err() != nil {
				t.Errorf("what the agent gave up counts as a failure: %v", h.Err())
			}
		})
	}
}

func TestCloseEndsWhatIsInFlight(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Gateway, *Handle){
		"session": func(_ *Gateway, h *Handle) { h.Close() },
		"gateway": func(g *Gateway, _ *Handle) {
			if err := g.Close(); err != nil {
				panic(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := testGateway(t, Options{})
			client, begun, ended := blocked()
			h := open(t, g, Session{Client: client})
			done := make(chan struct{})
			hc := agent(t)
			go func() {
				defer close(done)
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.URL()+"/v1/chat/completions", strings.NewReader(chatBody))
				if err != nil {
					return
				}
				req.Header.Set("Authorization", "Bearer "+h.Key())
				if res, err := hc.Do(req); err == nil {
					res.Body.Close()
				}
			}()
			<-begun
			end(g, h)
			select {
			case <-ended:
			default:
				t.Error("Close returned before the call had ended")
			}
			<-done
			if h.Err() != nil {
				t.Errorf("Err() = %v", h.Err())
			}
			if name == "gateway" {
				if _, err := g.Open(Session{Client: client}); err == nil {
					t.Error("a closed gateway opens a session")
				}
			}
		})
	}
}

// What is in flight when a gateway is drained is answered; nothing else is.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream=%v", stream), func(t *testing.T) {
			t.Parallel()
			begun, release := make(chan struct{}), make(chan struct{})
			g := testGateway(t, Options{})
			h := open(t, g, Session{Concurrency: 1, Client: modeltest.Func(func(context.Context, model.Request) (model.Response, error) {
				close(begun) // a second call would panic
				<-release
				return model.Response{Text: "paid for", Finish: model.FinishStop}, nil
			})})
			url, c := g.URL()+"/v1/chat/completions", agent(t)
			body := fmt.Sprintf(`{"model":"m","stream":%v,"messages":[{"role":"user","content":"q"}]}`, stream)
			type got struct {
				status int
				text   string
			}
			answers := make(chan got, 1)
			go func() {
				status, text := ask(t, c, url, h.Key(), body)
				answers <- got{status, text}
			}()
			<-begun
			drained := make(chan error, 1)
			h.drain(errors.New("the day is over")) // as Drain does it first
			rec := httptest.NewRecorder()
			req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
			req.Header.Set("X-Api-Key", h.Key())
			g.ServeHTTP(rec, req)
			if rec.Code != http.StatusPaymentRequired || !strings.Contains(rec.Body.String(), "the day is over") {
				t.Errorf("a new request: status %d, %s", rec.Code, rec.Body)
			}
			go func() { drained <- g.Drain(t.Context(), errors.New("the day is over")) }()
			close(release)
			if a := <-answers; a.status != http.StatusOK || !strings.Contains(a.text, "paid for") {
				t.Errorf("in flight: %+v", a)
			}
			if err := <-drained; err != nil {
				t.Error(err)
			}
			if h.Calls() != 1 || h.Err() != nil {
				t.Errorf("%d calls, %v", h.Calls(), h.Err())
			}
		})
	}
}

// ask sends a body and returns all of the answer.
func ask(t *testing.T, c *http.Client, url, key, body string) (int, string) {
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	req.Header.Set("X-Api-Key", key)
	res, err := c.Do(req)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
	}
	return res.StatusCode, string(text)
}
