package acceptance_test

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// returnsDesk is the example of a program with a model.
const returnsDesk = "../../examples/env-model"

// targetTokens are what the target has used by the summary of a run.
func targetTokens(t *testing.T, dir string) (tokens int64) {
	t.Helper()
	var sum result.Summary
	readJSON(t, filepath.Join(dir, "summary.json"), &sum)
	for _, s := range sum.Stages {
		if s.Role == model.Target {
			tokens += s.Input + s.Output
		}
	}
	return tokens
}

// TestKillProgramChild is not a test: it is the process that
// TestKilledProgramsPayForNoEpisodeTwice starts and kills.
func TestKillProgramChild(t *testing.T) {
	url, dir := os.Getenv(childURL), os.Getenv(childDir)
	if url == "" || os.Getenv(childKey) == "" {
		t.Skip("it is run by TestKilledProgramsPayForNoEpisodeTwice")
	}
	l, err := config.Load(config.Options{Path: returnsDesk, Dir: returnsDesk, Lookup: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	key := childKey
	m := config.Default().Models.Target
	m.Provider, m.Model, m.BaseURL, m.APIKeyEnv = "compatible", "world", url+"/v1", &key
	l.Config.Models.Target = m
	l.Config.Gate.Mode = "strict" // a race reads as many answers as came in time
	trained(t, l.Config, dir, skillopt.WithLoaded(l))
}

// Episodes of a program that were finished when a run was killed are not paid for again,
// and the result is that of a run that nobody killed, to the token.
func TestKilledProgramsPayForNoEpisodeTwice(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip(err)
	}
	const kills, processes = 3, 4
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	world, err := sim.Load(filepath.Join(returnsDesk, "world.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	s := &cashier{client: sim.New(world)}
	var mu sync.Mutex
	var victim *os.Process
	at := 0
	s.on = func(context.Context, string) {
		begun := s.seen().first
		mu.Lock()
		defer mu.Unlock()
		if at > 0 && begun >= at {
			_ = victim.Kill() // it has ended by itself if this fails, and the test notices
		}
	}
	url := s.serve(t)
	start := func(dir string, kill int) error {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKillProgramChild$", "-test.v=false")
		cmd.Env = append(os.Environ(), childURL+"="+url, childDir+"="+dir, childKey+"=sk-a-key-of-the-provider")
		mu.Lock()
		at = kill
		err := cmd.Start()
		victim = cmd.Process
		mu.Unlock()
		if err != nil {
			return err
		}
		return cmd.Wait()
	}
	clean := filepath.Join(t.TempDir(), "run")
	if err := start(clean, 0); err != nil {
		t.Fatal(err)
	}
	total, tokens := s.seen().first, s.seen().input+s.seen().output
	if kinds, used := recordedKinds(t, clean), targetTokens(t, clean); kinds[journal.Episode] != total || kinds[journal.Inner] != s.seen().requests || used != tokens {
		t.Errorf("%v are recorded with %d tokens of the target; the server saw %d episodes, %d requests and %d tokens", kinds, used, total, s.seen().requests, tokens)
	}
	dir := filepath.Join(t.TempDir(), "run")
	rng := rand.New(rand.NewPCG(3, 16))
	for i := range kills {
		if err := start(dir, s.seen().first+2+rng.IntN(total/(kills+1))); err == nil {
			t.Fatalf("kill %d missed the run", i+1)
		}
	}
	if err := start(dir, 0); err != nil {
		t.Fatal(err)
	}
	sameResults(t, results(t, clean), dir)
	if n := recordedKinds(t, dir)[journal.Episode]; n != total {
		t.Errorf("%d episodes are recorded, want %d", n, total)
	}
	if again := s.seen().first - 2*total; again < 1 || again > kills*processes {
		t.Errorf("%d episodes were begun again after %d kills of runs with %d at a time", again, kills, processes)
	}
}
