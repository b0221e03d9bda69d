package adopt_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
)

// adopted is a store in which so many nights were adopted, one after the other, of ten projects in turns.
func adopted(t testing.TB, count int) world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := world{project: filepath.Join(base, "project"), dir: filepath.Join(base, "adopted")}
	if err := os.Mkdir(w.project, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := adopt.Fill(w.store(), w.project, count); err != nil {
		t.Fatal(err)
	}
	return w
}

// What each sleep command does first, and what lists are made of, does not grow past reason with what was adopted.
func BenchmarkManyAdoptions(b *testing.B) {
	for _, count := range []int{15, 150, 1500} {
		w := adopted(b, count)
		text, err := os.ReadFile(filepath.Join(w.project, "CLAUDE.md"))
		if err != nil {
			b.Fatal(err)
		}
		for name, f := range map[string]func() error{
			"Recover":  func() error { return w.store().Recover(b.Context()) },
			"History":  func() error { _, err := w.store().History(); return err },
			"Blame":    func() error { _, err := w.store().Blame(w.project, "memory:CLAUDE.md", string(text)); return err },
			"Standing": func() error { _, err := w.store().FindAdoption(w.project, 0); return err },
		} {
			b.Run(fmt.Sprintf("%s/%d", name, count), func(b *testing.B) {
				for b.Loop() {
					if err := f(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// Each command recovers first: with 1,500 adoptions in the store that may not be felt. The bound is wide, since machines that test are busy.
func TestRecoverOfManyIsNotFelt(t *testing.T) {
	if testing.Short() {
		t.Skip("1,500 folders are made")
	}
	w := adopted(t, 1500)
	best := time.Hour
	for range 5 {
		from := time.Now()
		if err := w.store().Recover(t.Context()); err != nil {
			t.Fatal(err)
		}
		best = min(best, time.Since(from))
	}
	if best > 250*time.Millisecond {
		t.Errorf("it takes %s", best)
	}
}
