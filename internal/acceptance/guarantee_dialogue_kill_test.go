package acceptance_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/benchmark"
	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/model"
)

// The variables of a process that ends itself: the folder of the benchmark, and before which call it does.
const (
	childBench = "SKILLOPT_TEST_CHILD_BENCH"
	childLast  = "SKILLOPT_TEST_CHILD_LAST"
)

// mortal is a model whose answers are counted in a file, a byte each. It kills its process before one of them.
type mortal struct {
	model.Client
	file *os.File
	left int // calls before the process is killed; negative: it is not
}

func (p *mortal) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if p.left == 0 {
		if self, err := os.FindProcess(os.Getpid()); err == nil {
			_ = self.Kill() // and if it lives on, the test notices that it ended well
		}
		select {}
	}
	p.left--
	resp, err := p.Client.Generate(ctx, req)
	if err == nil {
		_, err = p.file.WriteString("$")
	}
	return resp, err
}

// TestKillDialogueChild is not a test: it is the process that TestKilledDialoguesPayForNoReplyTwice starts.
func TestKillDialogueChild(t *testing.T) {
	dir, bench := os.Getenv(childDir), os.Getenv(childBench)
	if bench == "" {
		t.Skip("it is run by TestKilledDialoguesPayForNoReplyTwice")
	}
	left, err := strconv.Atoi(os.Getenv(childLast))
	if err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{Path: filepath.Join(bench, benchmark.FileConfig), Lookup: os.LookupEnv})
	if err != nil {
		t.Fatal(err)
	}
	world, err := sim.Load(filepath.Join(bench, folder.FileWorld))
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(dir+".paid", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	l.Config.Limits.Concurrency, l.Config.Tasks.Limit = 1, 6 // nothing else is under way when it ends
	p := &mortal{Client: sim.New(world), file: file, left: left}
	trained(t, l.Config, dir, skillopt.WithLoaded(l), skillopt.WithClient(model.Target, "paying", p))
}

// A run whose target searches documents, or plays games, killed 20 times in the middle of dialogues, pays for no reply twice, and ends
// with the results of a run that was not killed.
func TestKilledDialoguesPayForNoReplyTwice(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"officeqa", "alfworld"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killDialogues(t, preparedFixture(t, name))
		})
	}
}

func killDialogues(t *testing.T, bench string) {
	const kills = 20
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func(dir string, left int) error {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^TestKillDialogueChild$", "-test.v=false")
		cmd.Env = append(os.Environ(), childBench+"="+bench, childDir+"="+dir, childLast+"="+strconv.Itoa(left))
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
		}
		return nil
	}
	paid := func(dir string) int {
		data, err := os.ReadFile(dir + ".paid")
		if err != nil {
			t.Fatal(err)
		}
		return len(data)
	}
	clean, dir := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
	if err := start(clean, -1); err != nil {
		t.Fatal(err)
	}
	total := paid(clean)
	if n := recordedKinds(t, clean)[journal.Call]; n < total || total < 5*kills {
		t.Fatalf("%d calls are recorded, and the target was asked %d times", n, total)
	}
	rng := rand.New(rand.NewPCG(4, 8))
	for i := range kills {
		if err := start(dir, 1+rng.IntN(2*total/(3*kills))); err == nil {
			t.Fatalf("kill %d missed the run", i+1)
		}
	}
	if err := start(dir, -1); err != nil {
		t.Fatal(err)
	}
	sameResults(t, results(t, clean), dir)
	if n := paid(dir); n != total {
		t.Errorf("%d replies were paid for after %d kills, and %d without", n, kills, total)
	}
}
