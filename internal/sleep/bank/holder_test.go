package bank_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
)

// TestTrap91WhoHoldsIt: whoever finds the bank locked is told by whom, and since when.
func TestTrap91WhoHoldsIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "sleep")
	b := open(t, dir)
	try := func() *bank.LockedError {
		var locked *bank.LockedError
		if _, err := bank.Open(t.Context(), dir); !errors.As(err, &locked) {
			t.Fatalf("opened twice: %v", err)
		}
		return locked
	}
	if got := try().Error(); !strings.Contains(got, fmt.Sprintf("(process %d, since ", os.Getpid())) {
		t.Error(got)
	}
	if err := bank.NoteCommand(b, "skillopt sleep run"); err != nil {
		t.Fatal(err)
	}
	if got := try().Error(); !strings.Contains(got, fmt.Sprintf("(skillopt sleep run, process %d, since ", os.Getpid())) {
		t.Error(got)
	}
	if err := os.WriteFile(filepath.Join(dir, "holder.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := try(); got.Holder != (bank.Holder{}) || strings.Contains(got.Error(), "(") {
		t.Error(got)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "holder.json")); err == nil {
		t.Error("the note of who had it stays")
	}
}
