package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/cli"
)

// onBatteryHasAnEffect: a night that a timer starts is skipped on battery, and says so, unless the profile wants it.
func onBatteryHasAnEffect(t *testing.T) {
	for set, want := range map[string]string{"false": "the machine runs on battery", "true": ""} {
		dir := t.TempDir()
		if code, said := sleepRunIn(t, dir, "sleep.dir=other"); code != 0 {
			t.Fatalf("%d: %s", code, said)
		}
		path := timerOf(t, dir, "0123456789abcdef", "sleep.on_battery="+set)
		var out, errs bytes.Buffer
		code := cli.Main(t.Context(), []string{"sleep", "run", "--profile", path, "--scheduled", "--json"}, cli.Streams{
			In: strings.NewReader(""), Out: &out, Err: &errs, Dir: dir, Battery: func(context.Context) bool { return true },
		}, "test")
		var done struct{ Skipped string }
		if err := json.Unmarshal(out.Bytes(), &done); code != 0 || err != nil || !strings.Contains(done.Skipped, want) || (done.Skipped == "") != (want == "") {
			t.Errorf("sleep.on_battery=%s: %d, %v: %s\n%s", set, code, err, &out, &errs)
		}
		if _, err := os.Stat(filepath.Join(dir, "state", "bank.db")); (err == nil) != (want == "") {
			t.Errorf("sleep.on_battery=%s: bank: %v", set, err)
		}
	}
}
