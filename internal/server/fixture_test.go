package server

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
)

// trained is a folder with a run that was trained once for all tests.
var trained = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skillopt-server-*")
	if err != nil {
		return "", err
	}
	cfg, err := config.LoadFile(filepath.Join("..", "..", "examples", "quickstart"), "train.epochs=1", "run.dir="+dir)
	if err != nil {
		return "", err
	}
	_, err = skillopt.Train(context.Background(), cfg, skillopt.WithRunDir(filepath.Join(dir, "small-1")), skillopt.WithTestLedger(dir))
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := trained(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// copied is a folder of its own with the trained run, which nothing tells to be a copy.
func copied(t *testing.T) string {
	t.Helper()
	from, err := trained()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "runs")
	if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	own(t, filepath.Join(dir, "small-1"), nil)
	return dir
}

// own changes the manifest of a run, and has it name no directory.
func own(t *testing.T, dir string, change func(map[string]any)) {
	t.Helper()
	path := filepath.Join(dir, "manifest.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	delete(m, "directory")
	if change != nil {
		change(m)
	}
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// site is a server that listens.
type site struct {
	t     *testing.T
	url   string // http://127.0.0.1:PORT
	host  string
	token string
	web   *http.Client
	clock *clock
}

type clock struct {
	mu  sync.Mutex
	add time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.add)
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add += d
}

const testToken = "a-token-for-tests-a-token-for-tests-a-token"

// serve serves folders until the test ends.
func serve(t *testing.T, change func(*Options), folders ...string) *site {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &clock{}
	o := Options{Folders: folders, Build: result.Build{Version: "test"}, Addr: l.Addr().String(), Token: testToken, Key: []byte("a key that signs sessions in tests"), Now: c.now}
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l) }()
	web := &http.Client{Transport: &http.Transport{DisableCompression: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	t.Cleanup(func() {
		web.CloseIdleConnections()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return &site{t: t, url: "http://" + l.Addr().String(), host: l.Addr().String(), token: o.Token, web: web, clock: c}
}

// reply is an answer that was read.
type reply struct {
	status int
	header http.Header
	text   string
}

// refusedAs is the kind of a refusal, "" for an answer that is none.
func (r reply) refusedAs() string {
	var doc struct{ Error struct{ Kind string } }
	if json.Unmarshal([]byte(r.text), &doc) != nil {
		return ""
	}
	return doc.Error.Kind
}

// send sends a request as it is.
func (s *site) send(r *http.Request) reply {
	s.t.Helper()
	resp, err := s.web.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

func (s *site) request(method, path, body string, header ...string) *http.Request {
	s.t.Helper()
	var in io.Reader
	if body != "" {
		in = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, s.url+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		if header[i] == "Host" {
			r.Host = header[i+1]
		} else {
			r.Header.Set(header[i], header[i+1])
		}
	}
	return r
}

// ask asks as a program with the token does.
func (s *site) ask(method, path, body string, header ...string) reply {
	s.t.Helper()
	return s.send(s.request(method, prefix+path, body, append([]string{"Authorization", "Bearer " + s.token}, header...)...))
}

// get is the document of an answer.
func (s *site) get(path string, into any) {
	s.t.Helper()
	r := s.ask(http.MethodGet, path, "")
	if r.status != http.StatusOK {
		s.t.Fatalf("%s: %d %s", path, r.status, r.text)
	}
	if err := json.NewDecoder(bytes.NewReader([]byte(r.text))).Decode(into); err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
}

// asked asks a handler without a socket.
func asked(h http.Handler, path string, header ...string) reply {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}
