//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// upstream is a model server that counts 100 input tokens, 40 of them cached, and
// 7 output tokens a call. It wants a key, and refuses what it is told to.
func upstream(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer the-real-key":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintln(w, `{"error": {"message": "wrong key"}}`)
		case strings.Contains(string(body), "refuse me"):
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintln(w, `{"error": {"message": "I do not like it"}}`)
		default:
			fmt.Fprintln(w, `{"id": "1", "object": "chat.completion", "created": 1, "model": "m-2", "choices": [{"index": 0, "finish_reason": "stop",
				"message": {"role": "assistant", "content": "hello"}}], "usage": {"prompt_tokens": 100, "completion_tokens": 7,
				"prompt_tokens_details": {"cached_tokens": 40}}}`)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1"
}

// post sends what an agent would and returns the status and the body.
func post(t *testing.T, url, key, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

// exchanges are what three agents send, one of them something that is refused.
var exchanges = []struct {
	path, body, want string
	status           int
}{
	{"/v1/chat/completions", `{"model": "any", "messages": [{"role": "user", "content": "hi"}]}`, `"hello"`, 200},
	{"/v1/responses", `{"model": "any", "input": "hi"}`, `"hello"`, 200},
	{"/v1/chat/completions", `{"model": "any", "messages": [{"role": "user", "content": "refuse me"}]}`, "I do not like it", 400},
	{"/v1/messages", `{"model": "any", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}`, `"hello"`, 200},
}

// gatewayConfig writes a config that has a model and nothing else.
func gatewayConfig(t *testing.T, dir string) {
	t.Helper()
	text := fmt.Sprintf(`
models:
  target: {provider: compatible, model: m-1, base_url: %q, api_key_env: UPSTREAM_KEY, timeout: 10s}
prices: {m-1: {input: 10, output: 100, cached: 1}}
`, upstream(t))
	for name, data := range map[string]string{"config.yaml": text, ".env": "UPSTREAM_KEY=the-real-key\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A gateway serves agents of three protocols, tells of every exchange, and at an
// interrupt what all came to. The real key is nowhere.
func TestGatewayServesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gatewayConfig(t, dir)
	c := start(t, dir, "gateway", ".", "--run", "g")
	url, key, shown := listens(t, c)
	for _, e := range exchanges {
		if status, text := post(t, url+e.path, key, e.body); status != e.status || !strings.Contains(text, e.want) {
			t.Errorf("%s: status %d, %s", e.path, status, text)
		}
	}
	if status, _ := post(t, url+"/v1/responses", "wrong-key", `{}`); status != http.StatusUnauthorized {
		t.Errorf("a wrong key: status %d", status)
	}
	c.interrupt()
	out, errs := c.ends(0)
	out = shown + out
	for _, want := range []string{
		"serving models.target (compatible m-1)\n", "  codex -m m-1 ", `base_url="` + url + `/v1"`, "  ANTHROPIC_BASE_URL=" + url + " ", "  pi --provider skillopt --model m-1\n",
		"4 exchanges, 1 without an answer\ntokens: 300 in (120 cached), 21 out; $0.0040\n", "ledger: g\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	for _, want := range []string{"  chat       m-2  in 100  out 7  cached 40  $0.0013  ", "  responses  m-2  in 100", "  messages   m-2  in 100", "  chat       m-1  failed: bad_request"} {
		if !strings.Contains(errs, want) {
			t.Errorf("standard error lacks %q:\n%s", want, errs)
		}
	}
	if strings.Contains(out+errs, "the-real-key") {
		t.Error("the real key is shown")
	}
	absent(t, filepath.Join(dir, "g"), "the-real-key", key)
}

// Ceilings hold over sessions with one ledger, agents are told to stop, and the
// exit code says that they were.
func TestGatewayHoldsCeilings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gatewayConfig(t, dir)
	for session, want := range []struct {
		answered int
		code     int
		total    float64
	}{{2, 0, 2}, {1, 4, 3}} {
		c := start(t, dir, "gateway", ".", "--run", "g", "--json", "--set", "limits.calls=3")
		var first struct{ Event, URL, Key string }
		line, err := c.out.ReadString('\n')
		if err := errors.Join(err, json.Unmarshal([]byte(line), &first)); err != nil || first.Event != "listening" {
			t.Fatalf("%s: %v", line, err)
		}
		for n := range 2 {
			status := 200
			if n >= want.answered {
				status = http.StatusPaymentRequired
			}
			if got, text := post(t, first.URL+exchanges[0].path, first.Key, exchanges[0].body); got != status {
				t.Errorf("session %d, call %d: status %d, %s", session, n, got, text)
			}
		}
		c.interrupt()
		out, errs := c.ends(want.code)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		var exchange, end map[string]any
		if err := errors.Join(json.Unmarshal([]byte(lines[0]), &exchange), json.Unmarshal([]byte(lines[len(lines)-1]), &end)); err != nil || len(lines) != 3 {
			t.Fatalf("%v in %q", err, lines)
		}
		if exchange["event"] != "exchange" || exchange["wire"] != "chat" || exchange["input_tokens"] != 100.0 || exchange["cost_usd"] == nil {
			t.Errorf("exchange %v", exchange)
		}
		if end["event"] != "end" || end["total_calls"] != want.total {
			t.Errorf("end %v", end)
		}
		if want.code == 4 && !strings.Contains(errs, "limits.calls is reached") {
			t.Errorf("standard error %q", errs)
		}
	}
}

// What was spent is no loss, also that of a session that was killed is counted.
func TestGatewayLedgerOutlivesAKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	gatewayConfig(t, dir)
	for _, kill := range []bool{true, false} {
		c := start(t, dir, "gateway", ".", "--run", "g")
		url, key, _ := listens(t, c)
		for range 2 {
			if status, text := post(t, url+exchanges[0].path, key, exchanges[0].body); status != 200 {
				t.Fatalf("status %d, %s", status, text)
			}
		}
		// The ledger is written beside the answers: an entry is there soon after.
		if kill {
			until(t, c.stderr, func(line string) bool { return strings.Contains(line, "in 100") })
			if err := c.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = c.Wait() // it was killed
			continue
		}
		c.interrupt()
		if out, _ := c.ends(0); !strings.Contains(out, "2 exchanges\n") {
			t.Errorf("output %q", out)
		}
	}
	c := start(t, dir, "runs", "show", "g")
	out, _ := c.ends(0)
	if !strings.Contains(out, "the ledger of `skillopt gateway` (models.target): ") || !strings.Contains(out, "cached), ") {
		t.Errorf("runs show: %q", out)
	}
	c = start(t, dir, "runs", "list", ".")
	if out, _ := c.ends(0); !strings.Contains(out, "gateway\n") {
		t.Errorf("runs list: %q", out)
	}
}

// listens reads where a gateway is.
func listens(t *testing.T, c *child) (url, key, shown string) {
	t.Helper()
	until(t, c.out, func(line string) bool {
		shown += line
		fields := strings.Fields(line)
		if len(fields) == 2 && fields[0] == "url" {
			url = fields[1]
		}
		if len(fields) == 2 && fields[0] == "key" {
			key = fields[1]
		}
		return strings.HasPrefix(line, "Ctrl-C")
	})
	return url, key, shown
}

// absent checks that no file in a folder holds one of the words.
func absent(t *testing.T, dir string, words ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files++
		for _, word := range words {
			if strings.Contains(string(data), word) {
				t.Errorf("%s holds %q", path, word)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}
