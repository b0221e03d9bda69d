package acceptance_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/testing/otlptest"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// odd is a key that every way of writing changes.
const odd = `hJ8<header>&"odd"+key/1=~'x'`

// each writes every byte of a text in the same way.
func each(s, form string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, form, s[i])
	}
	return b.String()
}

// echoForms are the ways in which a key may come back, but for base64.
func echoForms(s string) []string {
	quoted, _ := json.Marshal(s)
	plainly := &bytes.Buffer{}
	enc := json.NewEncoder(plainly)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)
	inJSON := strings.Trim(strings.TrimSpace(plainly.String()), `"`)
	return []string{
		s, string(quoted[1 : len(quoted)-1]), inJSON, strings.ReplaceAll(inJSON, "/", `\/`), each(s, `\u%04x`), each(s, `\u%04X`),
		each(s, "%%%02x"), each(s, "%%%02X"), url.QueryEscape(s), url.PathEscape(s), strings.ToLower(url.QueryEscape("/+=")) + url.QueryEscape(s),
		each(s, "%02x"), each(s, "%02X"), html.EscapeString(s), each(s, "&#%d;"), each(s, "&#x%x;"), each(s, "&#x%X;"),
		url.QueryEscape(url.QueryEscape(s)), html.EscapeString(string(quoted)), strings.ReplaceAll(each(s, `\u%04x`), `\`, `\\`),
	}
}

// inBase64 is what is sure of a key in base64, whatever stands around it.
func inBase64(s string) (forms []string) {
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for shift := range 3 {
			all := enc.EncodeToString([]byte("xxx"[:shift] + s))
			forms = append(forms, all[(8*shift+5)/6:len(all)-1])
		}
	}
	return forms
}

// said is all that a server or a program knows of keys, in every form.
func said(keys ...string) string {
	var b strings.Builder
	for _, k := range keys {
		for _, form := range echoForms(k) {
			b.WriteString(form + " | ")
		}
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
			for shift := range 3 {
				b.WriteString(enc.EncodeToString([]byte("abc"[:shift]+k+" and more")) + " | ")
			}
		}
	}
	return b.String()
}

// echoesIn returns the forms of keys that are in a text, whole or cut: ten of its
// bytes at one end of a form are a part of a key.
func echoesIn(text []byte, keys ...string) (found []string) {
	for _, k := range keys {
		for i, form := range append(echoForms(k), inBase64(k)...) {
			n := min(len(form), len(form)*10/len(k)+1)
			if bytes.Contains(text, []byte(form[:n])) || bytes.Contains(text, []byte(form[len(form)-n:])) {
				found = append(found, fmt.Sprintf("%.4s in form %d", k, i))
			}
		}
	}
	return found
}

// noEcho looks for keys in all files of a run, its cassette, and what was told.
func noEcho(t *testing.T, dir string, told []byte, keys ...string) {
	t.Helper()
	check := func(where string, text []byte) {
		if found := echoesIn(text, keys...); len(found) > 0 {
			at := max(0, bytes.Index(text, []byte(keys[0][:10])))
			t.Errorf("%s holds %d forms: %v: ...%q", where, len(found), found[:min(3, len(found))], text[max(0, at-60):min(len(text), at+30)])
		}
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		check(rel, append(text, rel...))
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("%d files were searched: %v", files, err)
	}
	tape := filepath.Join(t.TempDir(), "run.cassette")
	if _, err := skillopt.ExportCassette(t.Context(), dir, tape); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(tape)
	if err != nil {
		t.Error(err)
	}
	check("the cassette", text)
	check("what was told", told)
}

// parrot stands before a model server and says what it was sent, in every form.
type parrot struct {
	inner  http.Handler
	status int // of every answer; 0 = that of inner, and a failure now and then

	mu    sync.Mutex
	n     int
	heard map[string]int
}

func (p *parrot) hear(r *http.Request) (n int, words string) {
	keys := []string{strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), r.Header.Get("X-Odd"), r.Header.Get("X-From-A-Variable"), r.URL.Query().Get("sig")}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	for _, k := range keys {
		p.heard[k]++
	}
	return p.n, said(keys...)
}

func (p *parrot) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n, words := p.hear(r)
	status := p.status
	if status == 0 && n%5 == 3 {
		status = []int{http.StatusInternalServerError, http.StatusTooManyRequests}[n/5%2]
	}
	w.Header().Set("X-Request-Id", words)
	if status != 0 {
		p.refuse(w, n, status, words)
		return
	}
	body, err := io.ReadAll(r.Body)
	var asked map[string]any
	if err == nil {
		err = json.Unmarshal(body, &asked)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	streamed, _ := asked["stream"].(bool)
	delete(asked, "stream")
	delete(asked, "stream_options")
	body, _ = json.Marshal(asked)
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	r.URL.Scheme, r.URL.Host = "", ""
	rec := httptest.NewRecorder()
	p.inner.ServeHTTP(rec, r)
	var doc map[string]any
	if err := json.Unmarshal(rec.Body.Bytes(), &doc); err != nil {
		http.Error(w, rec.Body.String(), rec.Code)
		return
	}
	doc["model"], doc["system_fingerprint"], doc["id"] = words, words, words
	message := doc["choices"].([]any)[0].(map[string]any)["message"].(map[string]any)
	message["content"] = fmt.Sprint(message["content"], "\n\nYou sent ", words)
	message["reasoning_content"] = words
	if streamed {
		stream(w, doc, message)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}

// refuse answers with a failure, as text, as JSON or by sending elsewhere.
func (p *parrot) refuse(w http.ResponseWriter, n, status int, words string) {
	w.Header().Set("Retry-After-Ms", "1")
	switch {
	case status/100 == 3:
		w.Header().Set("Location", "http://other.test/"+strings.NewReplacer(" ", "", "|", "/").Replace(words))
		w.WriteHeader(status)
	case n%2 == 0:
		w.WriteHeader(status)
		fmt.Fprint(w, strings.Repeat("x", n*7%300)+words) // cut at another place each time
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": strings.Repeat("x", n*7%300) + words, "type": words, "code": words}})
	}
}

// stream sends an answer in pieces that each hold a part of a key at most.
func stream(w http.ResponseWriter, doc, message map[string]any) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(choices []any, usage any) {
		data, _ := json.Marshal(map[string]any{"id": doc["id"], "object": "chat.completion.chunk", "created": 1, "model": doc["model"], "choices": choices, "usage": usage})
		fmt.Fprintf(w, "data: %s\n\n", data)
	}
	doc["model"], doc["id"] = "world", "1"
	for _, name := range []string{"reasoning_content", "content"} {
		for text := []rune(fmt.Sprint(message[name])); len(text) > 0; {
			n := min(7, len(text))
			send([]any{map[string]any{"index": 0, "delta": map[string]any{name: string(text[:n])}}}, nil)
			text = text[n:]
		}
	}
	send([]any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}}, nil)
	send([]any{}, doc["usage"])
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// A server that says the keys it was sent, in every way they can be written, in
// answers, streams, failures, headers, names and addresses, has none of them
// recorded, told, reported or sent on.
func TestNoEchoOfServersIsKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		status int
		stream bool
	}{
		"answers": {}, "streams": {stream: true}, "unauthorized": {status: 401}, "bad request": {status: 400}, "elsewhere": {status: 302}, "same request": {status: 307},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inner := wiretest.Start(wiretest.Options{Client: sim.New(simulated(t))})
			t.Cleanup(inner.Close)
			server := &parrot{inner: inner, status: tt.status, heard: map[string]int{}}
			front := httptest.NewServer(server)
			t.Cleanup(front.Close)
			receiver := otlptest.New(t)
			l := secretConfig(t, front.URL, "limits: {concurrency: 1}\ntelemetry: {endpoint: \""+receiver.URL+"\", content: true}\n")
			for _, m := range []*config.Config{&l.Config} {
				m.Models.Target.Headers["X-Odd"], m.Models.Optimizer.Headers["X-Odd"] = odd, odd
				m.Models.Target.Stream, m.Models.Optimizer.Stream = tt.stream, tt.stream
			}
			dir := filepath.Join(t.TempDir(), "run")
			var told bytes.Buffer
			sum, err := skillopt.Train(t.Context(), l.Config, skillopt.WithLoaded(l), skillopt.WithRunDir(dir), toldTo(&told))
			if (err == nil) != (tt.status == 0) {
				t.Fatalf("error %v", err)
			}
			fmt.Fprintf(&told, "%+v %v %#v", sum, err, err)
			fmt.Fprint(&told, receiver.Text())
			keys := []string{planted["TARGET_CREDENTIAL"], odd, planted["HEADER_CREDENTIAL"], planted["query"]}
			for _, k := range append(keys, planted["OPTIMIZER_CREDENTIAL"])[:len(keys)+min(1, 1-min(tt.status, 1))] {
				if server.heard[k] == 0 {
					t.Errorf("%.4s was never sent, so that nothing is proven", k)
				}
			}
			if tt.status == 0 && receiver.Text() == "" {
				t.Error("no telemetry came")
			}
			noEcho(t, dir, told.Bytes(), append(keys, planted["OPTIMIZER_CREDENTIAL"])...)
		})
	}
}
