package acceptance_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/cli"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/testing/wiretest"
	"github.com/seed-f4525e22/skillopt/model"
)

// Variables that make the test binary a night that can be killed.
const (
	nightDir  = "SKILLOPT_TEST_NIGHT_DIR"
	nightArgs = "SKILLOPT_TEST_NIGHT_ARGS"
)

// TestNightKillChild is not a test: it is the process that tests of killed nights start and kill.
func TestNightKillChild(t *testing.T) {
	dir := os.Getenv(nightDir)
	if dir == "" {
		t.Skip("only the child process of TestAKilledNight runs it")
	}
	if code := cli.Main(t.Context(), strings.Split(os.Getenv(nightArgs), "\n"), cli.Streams{In: strings.NewReader(""), Out: os.Stdout, Err: os.Stderr, Dir: dir}, "test"); code != 0 {
		t.Fatalf("exit code %d", code)
	}
}

// killedDesk is a desk whose nights are processes that are killed.
type killedDesk struct {
	*desk
	x       *executioner
	answers int // that nights got before they were killed, or to their end
}

func newKilledDesk(t *testing.T, sessions int) *killedDesk {
	t.Helper()
	d := &killedDesk{desk: newDesk(t), x: &executioner{}}
	d.x.server = wiretest.Start(wiretest.Options{Client: d.models, OnRequest: d.x.arrived})
	t.Cleanup(d.x.server.Close)
	for i, s := range d.set {
		d.set[i] = strings.ReplaceAll(s, d.server.URL+"/v1", d.x.server.URL())
	}
	d.sessions(sessions)
	if code, _, errs := d.sleep("harvest"); code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	return d
}

// process is a night as a process of its own.
func (d *killedDesk) process(set ...string) *exec.Cmd {
	d.t.Helper()
	self, err := os.Executable()
	if err != nil {
		d.t.Fatal(err)
	}
	args := []string{"sleep", "run", "--yes", "--profile", "sleep.yaml"}
	for _, s := range append(set, d.set...) {
		args = append(args, "--set", s)
	}
	cmd := exec.CommandContext(d.t.Context(), self, "-test.run=^TestNightKillChild$", "-test.v=false")
	cmd.Env = append(os.Environ(), nightDir+"="+d.dir, nightArgs+"="+strings.Join(args, "\n"))
	return cmd
}

// recorded counts the calls in the records of all runs.
func (d *killedDesk) recorded() (n int) {
	d.t.Helper()
	runs, err := filepath.Glob(filepath.Join(d.dir, "state", "runs", "*", "run.db"))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, r := range runs {
		n += recordedCalls(d.t, filepath.Dir(r))
	}
	return n
}

// kill kills a night when the n-th request of all arrives, once all that it was answered is in its records.
func (d *killedDesk) kill(n int, set ...string) {
	d.t.Helper()
	d.answers += d.x.run(d.t, d.process(set...), d.recorded, n, true).answered
}

// finish carries the night on to where it ends by itself.
func (d *killedDesk) finish(set ...string) {
	d.t.Helper()
	before := d.x.server.Stats().Answered
	if out, err := d.process(set...).CombinedOutput(); err != nil {
		d.t.Fatalf("%v: %s", err, out)
	}
	d.answers += d.x.server.Stats().Answered - before
}

// shown is the night as `skillopt sleep` and the page show it.
func (d *killedDesk) shown() (r night.Report) {
	d.t.Helper()
	code, out, errs := d.sleep("--json")
	if code != 0 {
		d.t.Fatalf("exit code %d: %s", code, errs)
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		d.t.Fatal(err)
	}
	return r
}

// agrees fails if what is shown of the night is not what the server has answered.
func (d *killedDesk) agrees(when string) {
	d.t.Helper()
	r := d.shown()
	sum := int64(0)
	for _, s := range r.ByRun {
		sum += s.Calls
	}
	_, status, _ := d.sleep("status", "--json")
	var of struct {
		Week struct {
			Spent night.Spent `json:"spent"`
		} `json:"week"`
	}
	if err := json.Unmarshal([]byte(status), &of); err != nil {
		d.t.Fatal(err)
	}
	nights, err := record.InspectFolder(filepath.Join(d.dir, "state")).Nights()
	if err != nil || len(nights) != 1 {
		d.t.Fatalf("%v: %v", nights, err)
	}
	page := nights[0].Row(d.t.Context()).Calls
	if want := int64(d.answers); r.Spent.Calls != want || sum != want || of.Week.Spent.Calls != want || page != want {
		d.t.Errorf("%s: the server has answered %d calls; the night shows %d, %d by run, the week %d, the page %d", when, want, r.Spent.Calls, sum, of.Week.Spent.Calls, page)
	}
}

// A night that is killed at each of its stages has one account: whenever it is shown, and at its end, it is what the server
// has answered.
func TestAKilledNightKnowsWhatItSpent(t *testing.T) {
	t.Parallel()
	const kills = 10
	whole := newKilledDesk(t, 14)
	whole.finish()
	whole.agrees("uninterrupted")
	total := whole.answers

	d := newKilledDesk(t, 14)
	for i := range kills {
		left := total - d.answers
		if left < 2 {
			break
		}
		at := d.x.server.Stats().Calls + max(1, left/(kills-i))
		d.kill(at)
		d.agrees("kill " + strconv.Itoa(i+1))
	}
	d.finish()
	d.agrees("the end")
	stages := d.x.server.Stats().ByStage
	if r := d.shown(); r.Ended.IsZero() || stages[model.StageMine] == 0 || d.answers != total {
		t.Errorf("ended at %v after %d calls, %d of the uninterrupted one; %v", r.Ended, d.answers, total, stages)
	}
}

// A night that was killed after mining keeps within its ceiling, what mining cost included.
func TestAKilledNightKeepsItsCeiling(t *testing.T) {
	t.Parallel()
	whole := newKilledDesk(t, 14)
	whole.finish()
	mined := whole.x.server.Stats().ByStage[model.StageMine]
	most := "limits.calls=" + strconv.Itoa(whole.answers-mined/2)

	d := newKilledDesk(t, 14)
	d.kill(mined+1, most)
	if got := d.x.server.Stats().ByStage[model.StageMine]; got != mined {
		t.Fatalf("it was killed after %d of %d calls of mining", got, mined)
	}
	_ = d.process(most).Run() // which the ceiling ends
	if answered := d.x.server.Stats().Answered; answered > whole.answers-mined/2+1 {
		t.Errorf("%d calls were answered with %s", answered, most)
	}
}
