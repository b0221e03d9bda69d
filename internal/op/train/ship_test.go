package train

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// The folder best_skill holds what the best skill is and nothing else, also where another
// session has left more, and is empty of a skill without other files.
func TestShipHoldsTheBestSkill(t *testing.T) {
	t.Parallel()
	r, err := run.Open(t.Context(), run.OpenOptions{Dir: filepath.Join(t.TempDir(), "run"), Kind: result.Train, Identity: map[string]string{"a": "1"}, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	seed := skill.New("# S\n").WithFile("references/a.md", "a\n").WithFile("scripts/x", "#!/bin/sh\n").WithExecutable("scripts/x")
	for i, best := range []skill.Skill{
		seed, seed.WithFile("references/new.md", "new\n"), seed.WithText("# T\n"), skill.New("# U\n"), seed,
	} {
		s, err := newShipper(r) // as in a session of its own
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := s.ship(best); err != nil {
				t.Fatal(err)
			}
		}
		if len(best.Others()) == 0 {
			if len(s.held) != 0 {
				t.Errorf("%d: %v is left", i, s.held)
			}
			continue
		}
		got, err := run.ReadBest(r.Dir)
		if err != nil || !got.Equal(best) {
			t.Errorf("%d: it holds %v, %v (-want +got):\n%s", i, got.Files(), err, cmp.Diff(best.Files(), got.Files()))
		}
	}
}
