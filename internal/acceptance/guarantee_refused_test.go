package acceptance_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
)

// answersOf are right answers of providers, by the end of the path that is asked.
func answersOf(path string) string {
	switch {
	case strings.HasSuffix(path, "/responses"):
		return `{"id":"r","object":"response","status":"completed","model":"m","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"right"}]}],"usage":{"input_tokens":1,"output_tokens":1}}`
	case strings.HasSuffix(path, "/messages"):
		return `{"id":"m","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"right"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`
	case strings.Contains(path, ":generateContent"):
		return `{"candidates":[{"content":{"parts":[{"text":"right"}]},"finishReason":"STOP"}],"modelVersion":"m"}`
	case strings.HasSuffix(path, "/api/show"):
		return `{"model_info":{}}`
	case strings.HasSuffix(path, "/api/chat"):
		return `{"model":"m","message":{"role":"assistant","content":"right"},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}`
	}
	return `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"right"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`
}

// forbids is the address of a server that refuses the prompts with the word "forbidden".
func forbids(t *testing.T, status int, body string) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if err == nil && strings.Contains(string(asked), "forbidden") {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
			return
		}
		_, _ = io.WriteString(w, answersOf(r.URL.Path))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// refusedTasks writes a configuration with n test tasks, of which some are refused.
func refusedTasks(t *testing.T, provider, url string, n, refused int) config.Config {
	t.Helper()
	dir := t.TempDir()
	var tasks strings.Builder
	for i := range n {
		word := "allowed"
		if i < refused {
			word = "forbidden"
		}
		fmt.Fprintf(&tasks, `{"id":"t%d","prompt":"%s %d","gold":["right"],"split":"test"}`+"\n", i, word, i)
	}
	cfg := "skill: skill.md\ntasks: {path: tasks.jsonl, checks: [{type: equals}]}\nmodels: {target: {" + strings.ReplaceAll(provider, "URL", url) + ", model: m}}\nprices: {m: {input: 0, output: 0}}\n"
	for name, text := range map[string]string{"skill.md": "answer\n", "tasks.jsonl": tasks.String(), "config.yaml": cfg} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := config.LoadFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What a provider refuses is a score of 0, and is counted next to it by its cause, whichever
// wire says it and in whatever form.
func TestRefusalsAreCountedOnEveryWire(t *testing.T) {
	t.Parallel()
	const (
		chat      = `provider: compatible, base_url: "URL/v1", api: chat, api_key_env: ""`
		responses = `provider: compatible, base_url: "URL/v1", api: responses, api_key_env: ""`
		anthropic = `provider: anthropic, base_url: "URL", api_key_env: "", max_tokens: 100`
		gemini    = `provider: gemini, base_url: "URL", api_key_env: ""`
		ollama    = `provider: ollama, base_url: "URL"`
	)
	type refusal struct {
		provider string
		status   int
		body     string
		cause    string
	}
	var all []refusal
	for _, code := range []struct{ name, cause string }{
		{"content_filter", "content_filter"}, {"invalid_prompt", "content_filter"}, {"context_length_exceeded", "context_length"},
	} {
		for _, provider := range []string{chat, responses, anthropic, gemini, ollama} {
			for _, member := range []string{"code", "type", "status"} {
				all = append(all, refusal{provider, 400, fmt.Sprintf(`{"error":{"message":"no","%s":"%s"}}`, member, code.name), code.cause})
			}
		}
		all = append(all, refusal{responses, 200, fmt.Sprintf(`{"id":"r","status":"failed","model":"m","output":[],"error":{"code":"%s","message":"no"}}`, code.name), code.cause})
	}
	for _, reason := range []struct{ said, cause string }{{"content_filter", "content_filter"}, {"refusal", "refusal"}} {
		all = append(all,
			refusal{chat, 200, fmt.Sprintf(`{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":""},"finish_reason":"%s"}]}`, reason.said), reason.cause},
			refusal{anthropic, 200, fmt.Sprintf(`{"id":"m","type":"message","role":"assistant","model":"m","content":[],"stop_reason":"%s","usage":{"input_tokens":1,"output_tokens":1}}`, reason.said), reason.cause},
			refusal{ollama, 200, fmt.Sprintf(`{"model":"m","message":{"role":"assistant","content":""},"done":true,"done_reason":"%s"}`, reason.said), reason.cause},
		)
	}
	all = append(all,
		refusal{chat, 200, `{"id":"c","model":"m","choices":[{"index":0,"message":{"role":"assistant","refusal":"I cannot"},"finish_reason":"stop"}]}`, "refusal"},
		refusal{responses, 200, `{"id":"r","status":"incomplete","model":"m","output":[],"incomplete_details":{"reason":"content_filter"}}`, "content_filter"},
		refusal{responses, 200, `{"id":"r","status":"completed","model":"m","output":[{"type":"message","role":"assistant","content":[{"type":"refusal","refusal":"no"}]}]}`, "refusal"},
		refusal{gemini, 200, `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"modelVersion":"m"}`, "content_filter"},
		refusal{gemini, 200, `{"candidates":[{"content":{"parts":[]},"finishReason":"SAFETY"}],"modelVersion":"m"}`, "content_filter"},
		refusal{ollama, 500, `{"error":"the prompt is longer than the context length"}`, "context_length"},
		refusal{chat, 413, `{"error":{"message":"too large"}}`, "context_length"},
	)
	for n, r := range all {
		t.Run(fmt.Sprintf("%d %s", n, r.body), func(t *testing.T) {
			t.Parallel()
			var warned []string
			got, err := skillopt.Evaluate(t.Context(), refusedTasks(t, r.provider, forbids(t, r.status, r.body), 8, 3), "test",
				skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithEvents(func(e event.Event) {
					if w, ok := e.(event.Warning); ok {
						warned = append(warned, w.Text)
					}
				}))
			if err != nil {
				t.Fatal(err)
			}
			s := got.Splits["test"]
			if s.Hard != 0.625 || s.N != 8 || s.Refused[r.cause] != 3 || s.NumRefused() != 3 {
				t.Errorf("hard %v on %d, refused %v; want 0.625 on 8, 3 by %s", s.Hard, s.N, s.Refused, r.cause)
			}
			if text := strings.Join(warned, "\n"); !strings.Contains(text, "38 % of 8 replies") || !strings.Contains(text, r.cause+" 3") {
				t.Errorf("no warning of a share above 5 %%: %q", text)
			}
		})
	}
}

// A run most of whose requests are refused measures the provider: it stops, unless it is told
// to continue.
func TestRunsStopWhenMuchIsRefused(t *testing.T) {
	t.Parallel()
	const body = `{"error":{"message":"no","code":"content_filter"}}`
	for _, tt := range []struct {
		n, refused int
		accept     bool
		warns      bool
		stops      bool
	}{
		{n: 20, refused: 1},
		{n: 20, refused: 2, warns: true},
		{n: 20, refused: 4, warns: true},
		{n: 20, refused: 5, stops: true},
		{n: 20, refused: 20, stops: true},
		{n: 19, refused: 19, warns: true},
		{n: 20, refused: 20, accept: true, warns: true},
	} {
		t.Run(fmt.Sprintf("%d of %d, %v", tt.refused, tt.n, tt.accept), func(t *testing.T) {
			t.Parallel()
			cfg := refusedTasks(t, `provider: compatible, base_url: "URL/v1", api: chat, api_key_env: ""`, forbids(t, 400, body), tt.n, tt.refused)
			warned := false
			opts := []skillopt.Option{skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")), skillopt.WithEvents(func(e event.Event) {
				w, ok := e.(event.Warning)
				warned = warned || ok && strings.Contains(w.Text, "refus")
			})}
			if tt.accept {
				opts = append(opts, skillopt.WithAcceptedSeed())
			}
			_, err := skillopt.Evaluate(t.Context(), cfg, "test", opts...)
			var kind *skillopt.Error
			if stopped := errors.As(err, &kind) && kind.Kind == skillopt.Unmeasurable && strings.Contains(err.Error(), "--accept-seed"); stopped != tt.stops || !stopped && err != nil {
				t.Errorf("stops: %v, want %v: %v", stopped, tt.stops, err)
			}
			if warned != tt.warns {
				t.Errorf("warns: %v, want %v", warned, tt.warns)
			}
		})
	}
}
