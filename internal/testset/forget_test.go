package testset

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What a run was called is gone from the file; that it has read a set stays, and other runs stay.
func TestForgetTakesNamesOfRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	never := func(string) bool { t.Error("asked without a ledger"); return true }
	if err := Forget(t.Context(), dir, never); err != nil {
		t.Fatal(err)
	}
	for i, run := range []string{"p1-zebra-rules", "p2-other"} {
		if _, err := Claim(t.Context(), dir, Reading{RunID: fmt.Sprint(i), Number: 1, Run: run, Command: "train", At: time.Unix(1, 0)}, set(3*i, 3*i+5)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := Forget(t.Context(), dir, func(run string) bool { return strings.HasPrefix(run, "p1-") }); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(filepath.Join(dir, File))
		if err != nil || bytes.Contains(data, []byte("zebra-rules")) {
			t.Errorf("the name is left: %v", err)
		}
		found, err := Look(t.Context(), dir, set(0, 8))
		if err != nil || len(found) != 2 || !strings.HasPrefix(found[0].Run, "forgotten-") || found[1].Run != "p2-other" {
			t.Errorf("%v %+v", err, found)
		}
	}
}
