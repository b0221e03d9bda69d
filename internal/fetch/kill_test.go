package fetch_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/fetch"
)

// Variables by which the test has itself fetch in a process of its own.
const (
	childBase = "SKILLOPT_FETCH_TEST_BASE"
	childCDN  = "SKILLOPT_FETCH_TEST_CDN"
	childDir  = "SKILLOPT_FETCH_TEST_DIR"
)

// child fetches, and is killed in the middle of it.
func child() {
	o := fetch.Options{
		HFBase: os.Getenv(childBase), HFToken: token, Trusted: []string{os.Getenv(childCDN)},
		Wait: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	sources := append(hf("data/*", "rows"), fetch.Source{URL: os.Getenv(childBase) + "/datasets/owner/name/resolve/" + revision + "/plain.bin"})
	if _, err := fetch.Fetch(context.Background(), o, sources, os.Getenv(childDir), nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// TestKilledTenTimes: a process that fetches is killed at ten moments, wherever it is; the
// next goes on, and what comes out are the bytes of one that nobody disturbed, the lock file
// included. Of files that do not change no byte that was written is fetched twice, but for what
// was on its way.
func TestKilledTenTimes(t *testing.T) {
	t.Parallel()
	h := newHub(t, map[string]string{"data/1.bin": noise(900_000, "1"), "data/2.bin": noise(700_000, "2"), "data/3.csv": "small", "plain.bin": noise(800_000, "3")})
	run := func(dir string) *exec.Cmd {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childBase+"="+h.URL, childCDN+"="+strings.TrimPrefix(h.cdn.URL, "http://"), childDir+"="+dir)
		cmd.Stderr = os.Stderr
		return cmd
	}
	undisturbed, dir := t.TempDir(), t.TempDir()
	if err := run(undisturbed).Run(); err != nil {
		t.Fatal(err)
	}
	whole, begun := read(t, undisturbed), map[string]bool{}
	random := rand.New(rand.NewPCG(4, 10))
	for i := range 10 {
		left := random.IntN(240_000)
		if i == 0 {
			left = 100_000 // in the middle of a file
		}
		g := &gate{left: left, reached: make(chan struct{}), dead: make(chan struct{})}
		h.mu.Lock()
		h.before = func(w http.ResponseWriter, r *http.Request, cdn bool) bool {
			g.pass(len(r.URL.Path)) // so that it may be in the middle of a list
			if cdn {
				h.blob(&gatedWriter{ResponseWriter: w, gate: g}, r, strings.TrimPrefix(r.URL.Path, "/cdn/"))
			}
			return cdn
		}
		h.mu.Unlock()
		cmd := run(dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-g.reached
		for i == 0 && len(begunIn(t, dir, whole)) == 0 {
			runtime.Gosched() // what was let through is on its way to the file
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Error(err)
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("it was to be killed: %v", err)
		}
		close(g.dead)
		maps.Copy(begun, begunIn(t, dir, whole))
	}
	h.mu.Lock()
	h.before = nil
	h.mu.Unlock()
	if err := run(dir).Run(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(whole, read(t, dir)); diff != "" {
		t.Errorf("(-undisturbed +killed):\n%.1000s", diff)
	}
	requests := h.requests()
	for suffix := range begun {
		if !slices.ContainsFunc(requests, func(r string) bool { return strings.HasSuffix(r, suffix) }) {
			t.Errorf("no request went on with%s: %q", suffix, requests)
		}
	}
}

// begunIn returns how requests end that continue the files in a folder that are begun and not whole.
func begunIn(t *testing.T, dir string, whole map[string]string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for name, text := range read(t, dir) {
		if file, is := strings.CutSuffix(name, ".part"); is && text != "" && text != whole[file] {
			out[fmt.Sprintf(" bytes=%d-", len(text))] = true
		}
	}
	return out
}

// gate lets a number of bytes through, says so, and holds back the rest until who gets them
// is dead.
type gate struct {
	mu            sync.Mutex
	left          int
	reached, dead chan struct{}
}

// pass reports how many of n bytes may go.
func (g *gate) pass(n int) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	n = min(n, g.left)
	if g.left -= n; g.left == 0 {
		select {
		case <-g.reached:
		default:
			close(g.reached)
		}
	}
	return n
}

type gatedWriter struct {
	http.ResponseWriter

	gate *gate
}

func (g *gatedWriter) Write(p []byte) (int, error) {
	n := g.gate.pass(len(p))
	if _, err := g.ResponseWriter.Write(p[:n]); err != nil {
		return 0, err
	}
	if n < len(p) {
		_ = http.NewResponseController(g.ResponseWriter).Flush()
		<-g.gate.dead
		panic(http.ErrAbortHandler)
	}
	return n, nil
}
