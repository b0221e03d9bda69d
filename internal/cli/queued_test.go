package cli

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/queue"
)

// A trainer gets the variables that its config names, and no others.
func TestTrainerGetsWhatItsConfigNames(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_KEY", "AGENT_TOKEN", "SERVER_NAME", "SECRET_OF_OTHERS"} {
		t.Setenv(name, "value of "+name)
	}
	for _, name := range []string{"HTTPS_PROXY", "SSL_CERT_FILE", "LANG", "NO_PROXY"} {
		t.Setenv(name, "/plain")
	}
	for name, tt := range map[string]struct {
		text string
		want []string // apart from the plain ones
	}{
		"a provider":     {"models: {target: {provider: openai, model: m}}", []string{"OPENAI_API_KEY"}},
		"a key by name":  {"models: {target: {provider: openai, model: m, api_key_env: MY_KEY}, optimizer: {provider: anthropic, model: n}}", []string{"ANTHROPIC_API_KEY", "MY_KEY", "OPENAI_API_KEY"}},
		"a simulation":   {"models: {target: {provider: sim, world: w.yaml}}", nil},
		"an agent":       {"agent: {name: claude, pass_env: [AGENT_TOKEN]}", []string{"AGENT_TOKEN"}},
		"an environment": {"env: {command: [prog], pass_env: [AGENT_TOKEN]}", []string{"AGENT_TOKEN"}},
		"by ${NAME}":     {"models: {target: {provider: compatible, model: m, base_url: 'https://${SERVER_NAME}/v1', api_key_env: MY_KEY}}", []string{"MY_KEY", "SERVER_NAME"}},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "config.yaml")
		must(t, os.WriteFile(path, []byte(tt.text+"\ntasks: t.jsonl\n"), 0o600))
		p := &servedProgram{app: &app{}, guard: config.Guard{Roots: []string{dir}, Trusted: []string{sumOfFile(t, path)}}}
		got, err := p.environ(t.Context(), path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var own []string
		plain := 0
		for _, entry := range got {
			key, value, _ := strings.Cut(entry, "=")
			switch {
			case value == "value of "+key:
				own = append(own, key)
			case value == "/plain":
				plain++
			}
		}
		if diff := cmp.Diff(tt.want, own); diff != "" || plain != 4 {
			t.Errorf("%s: %s, %d plain ones of 4", name, diff, plain)
		}
	}
}

func sumOfFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	return hashText(text)
}

// What no server has written for it is not carried out, and neither is what a page may not say.
func TestQueuedIsHeldToItsBounds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := "skill: SKILL.md\ntasks: t.jsonl\nmodels: {target: {provider: compatible, model: m, base_url: 'http://127.0.0.1:1/v1', api_key_env: ''}}\n"
	path := filepath.Join(dir, "config.yaml")
	must(t, os.WriteFile(path, []byte(foreign), 0o600))
	q := queue.New(filepath.Join(dir, "runs", ".queue"), time.Now)
	bounds := `{"Roots": ["` + filepath.ToSlash(dir) + `"]}`
	for name, tt := range map[string]struct {
		words []string
		in    string
		sum   string
		want  string // of the error
	}{
		"no bounds":      {[]string{"train", "."}, "", "", "started by skillopt serve"},
		"no roots":       {[]string{"train", "."}, "{}", "", "started by skillopt serve"},
		"other commands": {[]string{"runs", "rm", "x"}, bounds, "", "carries out train, eval and compare"},
		"changed":        {[]string{"train", "."}, bounds, "0", "has changed since"},
		"foreign":        {[]string{"train", "."}, bounds, hashText([]byte(foreign)), "base_url"},
	} {
		e, err := q.Add(queue.Entry{Words: tt.words, Run: name, Config: path, SHA256: tt.sum})
		must(t, err)
		var out, errs bytes.Buffer
		code := Main(t.Context(), []string{"queued", filepath.Join(dir, "runs", ".queue"), e.ID}, Streams{In: strings.NewReader(tt.in), Out: &out, Err: &errs, Dir: dir}, "test")
		if code != exitInput || !strings.Contains(errs.String(), tt.want) {
			t.Errorf("%s: %d %s", name, code, errs.String())
		}
		e, err = q.Find(e.ID)
		must(t, err)
		if began := tt.in == bounds; began != (e.State == queue.Ended) || began && !strings.Contains(e.Error, tt.want) {
			t.Errorf("%s: %+v", name, e)
		}
		must(t, q.Remove(e.ID))
	}
	if code := Main(t.Context(), []string{"queued", filepath.Join(dir, "runs", ".queue"), "gone"}, Streams{In: strings.NewReader(bounds), Out: io.Discard, Err: io.Discard, Dir: dir}, "test"); code != exitOK {
		t.Errorf("what another process has begun: %d", code)
	}
}

// heard passes on what is written to the one that waits for a text in it.
type heard struct {
	text chan string
	buf  bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	n, err := h.buf.Write(p)
	if strings.Contains(string(p), "still served") {
		h.text <- h.buf.String()
	}
	return n, err
}

// On a terminal the page of train --ui is there after the run, until Ctrl-C; the exit code is that of the run.
func TestPageStaysAfterTheRun(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "quickstart"), os.DirFS(filepath.Join("..", "..", "examples", "quickstart"))); err != nil {
		t.Fatal(err)
	}
	signals := make(chan os.Signal)
	errs := &heard{text: make(chan string, 1)}
	code := make(chan int, 1)
	go func() {
		code <- Main(t.Context(), []string{"train", "quickstart", "--ui", "--run", "runs/r", "--set", "train.epochs=1", "--set", "limits.calls=100", "--keep-open"}, Streams{
			In: strings.NewReader(""), Out: io.Discard, Err: errs, Dir: dir, Terminal: true, Width: 80, Signals: signals,
		}, "test")
	}()
	text := <-errs.text
	if !strings.Contains(text, "raise limits.calls") {
		t.Errorf("the error is printed before the page ends: %s", text)
	}
	_, link, _ := strings.Cut(text, "http://")
	host, _, _ := strings.Cut(link, "/")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/", nil)
	must(t, err)
	resp, err := http.DefaultClient.Do(r)
	must(t, err)
	must(t, resp.Body.Close())
	http.DefaultClient.CloseIdleConnections()
	if resp.StatusCode != http.StatusOK {
		t.Error(resp.Status)
	}
	signals <- os.Interrupt
	if got := <-code; got != exitBudget {
		t.Errorf("exit code %d, want %d", got, exitBudget)
	}
}
