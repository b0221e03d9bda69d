package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/seed-f4525e22/skillopt/internal/cli"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
)

// printed collects what a command prints while it is at work.
type printed struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *printed) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *printed) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// timerOf writes what a timer of an example starts nights with.
func timerOf(t *testing.T, dir, id string, set ...string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{
		"skillopt_timer": 1, "id": id, "kind": "cron", "at": "00:00", "written": "2026-01-01T00:00:00Z", "program": "/x",
		"profile": filepath.Join(dir, "sleep.yaml"), "folder": dir, "env": map[string]string{}, "flags": map[string]any{"set": set},
	})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, id+".json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func scheduledStart(ctx context.Context, dir, path string, errs *printed) (code int, out string) {
	var into printed
	code = cli.Main(ctx, []string{"sleep", "run", "--profile", path, "--scheduled"}, cli.Streams{
		In: strings.NewReader(""), Out: &into, Err: errs, Dir: dir, Battery: func(context.Context) bool { return false },
	}, "test")
	return code, into.String()
}

// TestTrap91TwoTimers: of two starts of one timer one is carried out, and the other says who has it; the timer of another
// project waits for its turn, and says for whom.
func TestTrap91TwoTimers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if code, text := sleepRunIn(t, dir, "sleep.dir=other"); code != 0 {
		t.Fatalf("%d: %s", code, text)
	}
	one := timerOf(t, dir, "0123456789abcdef")

	// Another process works with what is kept.
	b, err := bank.Open(t.Context(), filepath.Join(dir, "state"))
	if err != nil {
		t.Fatal(err)
	}
	if err := bank.NoteCommand(b, "skillopt sleep run"); err != nil {
		t.Fatal(err)
	}
	var errs printed
	ended := make(chan string, 1)
	go func() {
		code, out := scheduledStart(t.Context(), dir, one, &errs)
		ended <- fmt.Sprintf("%d: %s", code, out)
	}()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	want := fmt.Sprintf("another process is at work on what sleep keeps (skillopt sleep run, process %d, since ", os.Getpid())
	for n := 0; !strings.Contains(errs.String(), want); n++ {
		if n > 1500 {
			t.Fatalf("it does not say who has it: %s", errs.String())
		}
		<-look.C
	}
	// A second start of the same timer, while the first one waits.
	var second printed
	code, out := scheduledStart(t.Context(), dir, one, &second)
	if code != 6 || out != "" || !strings.Contains(second.String(), fmt.Sprintf("a night of this timer is at work, or waits to be (process %d)", os.Getpid())) {
		t.Errorf("%d: %s\n%s", code, out, second.String())
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-ended; !strings.HasPrefix(got, "0: ") || !strings.Contains(got, "memory:CLAUDE.md: suggested") {
		t.Errorf("%s\n%s", got, errs.String())
	}
	// Once a day is enough.
	var third printed
	if code, out := scheduledStart(t.Context(), dir, one, &third); code != 0 || out != "" || !strings.Contains(third.String(), "skipped: no night is due before ") {
		t.Errorf("%d: %s\n%s", code, out, third.String())
	}
}

// TestTrap91ALockThatIsHeldElsewhere: the lock of a timer is the system's, and goes with its process.
func TestTrap91ALockThatIsHeldElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := timerOf(t, dir, "0123456789abcdef")
	lock := flock.New(filepath.Join(dir, "0123456789abcdef.lock"))
	if ok, err := lock.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	var errs printed
	if code, _ := scheduledStart(t.Context(), dir, path, &errs); code != 6 {
		t.Errorf("%d: %s", code, errs.String())
	}
	if err := lock.Unlock(); err != nil {
		t.Fatal(err)
	}
	// It is free, and the profile of the user is not there: the start fails, and that is noted.
	if code, _ := scheduledStart(t.Context(), dir, path, &errs); code != 2 || !strings.Contains(errs.String(), "sleep.yaml") {
		t.Errorf("%d: %s", code, errs.String())
	}
	state, err := os.ReadFile(filepath.Join(dir, "0123456789abcdef.state.json"))
	if err != nil || !strings.Contains(string(state), "no such file") || !strings.Contains(string(state), `"day": ""`) {
		t.Errorf("%s, %v", state, err)
	}
}
