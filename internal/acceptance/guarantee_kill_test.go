package acceptance_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
)

// Variables that make the test binary a training run which can be killed.
const (
	childURL = "SKILLOPT_TEST_CHILD_URL"
	childDir = "SKILLOPT_TEST_CHILD_DIR"
)

// TestKillChild is not a test: it is the process that TestKilledRunsPayOnce
// starts and kills.
func TestKillChild(t *testing.T) {
	url, dir := os.Getenv(childURL), os.Getenv(childDir)
	if url == "" {
		t.Skip("it is run by TestKilledRunsPayOnce")
	}
	trained(t, worldConfig(url), dir)
}

// child trains in a process of its own.
func child(t *testing.T, url, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKillChild$", "-test.v=false")
	cmd.Env = append(os.Environ(), childURL+"="+url, childDir+"="+dir)
	return cmd
}

// executioner kills a process when a request arrives: at once, or after it has
// held up the server until the process has written down all that it was told.
type executioner struct {
	server *wiretest.Server

	mu      sync.Mutex
	at      int // number of the request; 0 = none
	calm    bool
	victim  *os.Process
	reached chan struct{} // closed when the request has come and the kill is calm
	resume  chan struct{} // ends the hold-up
	held    int           // requests that are held up
}

func (x *executioner) arrived(n int) {
	x.mu.Lock()
	if x.at == 0 || n < x.at {
		x.mu.Unlock()
		return
	}
	if !x.calm {
		x.at = 0
		_ = x.victim.Kill() // it has ended by itself if this fails, and the test notices
		x.mu.Unlock()
		return
	}
	if n == x.at {
		close(x.reached)
	}
	resume := x.resume
	x.held++
	x.mu.Unlock()
	<-resume
}

// settled reports whether no request is being answered and every answer stands
// in the record. The order matters: who is held up stays, so that as many requests
// at the server as were held up before are the same ones.
func (x *executioner) settled(answered, recorded int) bool {
	x.mu.Lock()
	held := x.held
	x.mu.Unlock()
	stats := x.server.Stats()
	return stats.InFlight == held && stats.Answered-answered == recorded
}

// start starts a process that cannot send a request before the executioner
// knows it.
func (x *executioner) start(cmd *exec.Cmd, at int, calm bool) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.at, x.calm, x.held, x.reached, x.resume = at, calm, 0, make(chan struct{}), make(chan struct{})
	if err := cmd.Start(); err != nil {
		return err
	}
	x.victim = cmd.Process
	return nil
}

// release ends the hold-up. It may be called again.
func (x *executioner) release() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.resume != nil {
		close(x.resume)
	}
	x.at, x.resume = 0, nil
}

// session is what one process did before it was killed.
type session struct{ sent, answered, recorded int }

// run runs a session and kills it. recorded counts the calls in its records.
func (x *executioner) run(t *testing.T, cmd *exec.Cmd, recorded func() int, at int, calm bool) session {
	t.Helper()
	before, had := x.server.Stats(), recorded()
	if err := x.start(cmd, at, calm); err != nil {
		t.Fatal(err)
	}
	defer x.release()
	if calm {
		<-x.reached
		// What was answered is on its way to the disk, and what was asked before
		// the hold-up is still being answered.
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for !x.settled(before.Answered, recorded()-had) {
			select {
			case <-tick.C:
			case <-t.Context().Done():
				t.Fatal("the answers were never recorded")
			}
		}
		_ = cmd.Process.Kill() // it waits for answers: it cannot have ended
	}
	if err := cmd.Wait(); err == nil {
		t.Fatalf("the session came to its end: the kill at request %d missed it", at)
	}
	answered := x.server.Stats().Answered // what is held up will be answered too, but to nobody
	x.release()
	if err := x.server.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return session{sent: x.server.Stats().Calls - before.Calls, answered: answered - before.Answered, recorded: recorded() - had}
}

// A run that is killed at any moment and taken up again, over and over, ends as
// if nothing had happened, and pays again only for what was under way.
func TestKilledRunsPayOnce(t *testing.T) {
	t.Parallel()
	const kills, concurrency = 20, 8
	clean := filepath.Join(t.TempDir(), "run")
	total := int(trained(t, worldConfig("http://in.process/v1"), clean, inProcess(t)...).Calls.Total)

	x := &executioner{}
	x.server = serve(t, wiretest.Options{Latency: 2 * time.Millisecond, Jitter: 1, OnRequest: x.arrived})
	dir := filepath.Join(t.TempDir(), "run")
	rng := rand.New(rand.NewPCG(20, 7))
	lost := 0
	for i := range kills {
		// Each session gets a piece of the run and ends somewhere in it.
		at := x.server.Stats().Calls + 1 + rng.IntN(max(1, 2*(total-recordedCalls(t, dir))/(kills-i+1)))
		calm := i%2 == 0
		s := x.run(t, child(t, x.server.URL(), dir), func() int { return recordedCalls(t, dir) }, at, calm)
		lost += s.sent - s.recorded
		t.Logf("kill %2d: %2d calls sent, %2d answered, %2d recorded", i+1, s.sent, s.answered, s.recorded)
		if calm && (s.recorded < s.answered || s.sent-s.recorded > concurrency) {
			t.Errorf("kill %d: %d calls were finished and %d recorded, with at most %d in flight", i+1, s.answered, s.recorded, concurrency)
		}
	}
	if out, err := child(t, x.server.URL(), dir).CombinedOutput(); err != nil {
		t.Fatalf("last session: %v\n%s", err, out)
	}
	sameResults(t, results(t, clean), dir)
	if repeats := x.server.Stats().Calls - total; repeats != lost {
		t.Errorf("%d calls were repeated, but %d had been sent and not recorded: a recorded call was paid again, or one was never made", repeats, lost)
	}
}

// recordedCalls counts the calls in the record of a run that nobody has open.
func recordedCalls(t *testing.T, dir string) int {
	t.Helper()
	path := filepath.Join(dir, run.DBFile)
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		return 0
	}
	j, err := journal.Open(context.WithoutCancel(t.Context()), path, journal.Options{ReadOnly: true})
	if err != nil {
		t.Fatalf("open the record: %v", err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	}()
	n := 0
	for r, err := range j.Results(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == journal.Call {
			n++
		}
	}
	return n
}
