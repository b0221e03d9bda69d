package acceptance_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
)

// A run may be forked when its agents have worked and were not scored yet. Their
// workspaces stay with it, so that the fork has them work again where a check looks
// there, and only there.
func TestForksScoreWhatWasNotScored(t *testing.T) {
	t.Parallel()
	command := map[string]any{
		"type": "command", "reward": "reward", "run": `if test -e "$CONFIG_DIR/ready"; then grep -q x a.txt && echo 1 >reward || echo 0 >reward; fi`,
	}
	count := filepath.Join(t.TempDir(), "worked")
	r := rogue{change: func(c *config.Config) {
		c.Tasks.Checks = []any{command}
		c.Agent.Sandbox = "off" // to count
		c.Agent.Custom["argv"] = []any{"bash", "-c", "echo >>" + count + "; echo x >a.txt; printf done"}
	}}
	_, from, err := r.run(t)
	if kind(err) != skillopt.Unmeasurable {
		t.Fatalf("error %v", err)
	}
	worked := func() int {
		text, err := os.ReadFile(count)
		if err != nil {
			t.Fatal(err)
		}
		return len(text)
	}
	if n := worked(); n != 3 {
		t.Fatalf("agents worked %d times, want 3", n)
	}
	r.files = map[string]string{"ready": ""}
	to := filepath.Join(t.TempDir(), "fork")
	for session := range 2 { // the second is answered from the record of the fork
		if _, _, err := r.run(t, skillopt.WithRunDir(from), skillopt.WithFork(to)); err != nil {
			t.Fatal(err)
		}
		for id, o := range outcomesIn(t, to) {
			if o.Hard != 1 {
				t.Errorf("session %d: %s: %+v", session+1, id, o)
			}
		}
		if n := worked(); n != 6 {
			t.Errorf("session %d: agents worked %d times, want 6", session+1, n)
		}
	}
}

// A fork that pays for nothing says that others have paid.
func TestAForkSaysWhatItTookOver(t *testing.T) {
	t.Parallel()
	from, to := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "fork")
	cfg := worldConfig("http://in.process/v1")
	whole := trained(t, cfg, from, inProcess(t)...)
	sum := trained(t, cfg, from, append(inProcess(t), skillopt.WithFork(to))...)
	if sum.Calls.Total != 0 || sum.Calls.Inherited != whole.Calls.Total || whole.Calls.Inherited != 0 {
		t.Errorf("%d calls and %d taken over, of %d and %d", sum.Calls.Total, sum.Calls.Inherited, whole.Calls.Total, whole.Calls.Inherited)
	}
	page, err := os.ReadFile(filepath.Join(to, "report.md"))
	if err != nil || !strings.Contains(string(page), "paid for elsewhere") {
		t.Errorf("%v: the report does not say that others paid", err)
	}
}
