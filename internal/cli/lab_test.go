package cli

import (
	"bytes"
	"os"
	"testing"
)

// A study takes minutes and writes nothing before its end: the first signal ends it.
func TestAStudyCanBeStopped(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{"lab", "loop", "--worlds", "10000"},
		{"lab", "few", "--worlds", "10000"},
		{"lab", "prune", "--worlds", "1000"},
		{"lab", "certificate", "--runs", "100000000"},
		{"lab", "curriculum", "--worlds", "10000"},
		{"lab", "baselines", "--worlds", "10000"},
	} {
		t.Run(args[1], func(t *testing.T) {
			t.Parallel()
			signals := make(chan os.Signal, 1)
			signals <- os.Interrupt
			var out, errs bytes.Buffer
			code := Main(t.Context(), args, Streams{In: bytes.NewReader(nil), Out: &out, Err: &errs, Dir: t.TempDir(), Signals: signals}, "test")
			if code != 130 || out.Len() > 0 {
				t.Errorf("exit code %d\n%s%s", code, &out, &errs)
			}
		})
	}
}
