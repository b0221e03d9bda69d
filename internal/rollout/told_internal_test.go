package rollout

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Wherever a key lies in what an agent says to its model, no part of it is kept, and what
// is kept is bounded.
func TestNoPartOfAKeyIsTold(t *testing.T) {
	t.Parallel()
	const key = "Zq7-unlike-anything-else-0451"
	hide := redact.NewExact(key)
	for at := 0; at < 3*maxTool; at += 7 {
		line := strings.Repeat("a", at) + key + strings.Repeat("b", 3*maxTool-at)
		text := strings.Repeat("c", maxSystem/2-3*maxTool/2) + line + strings.Repeat("d", maxSystem)
		got := shortenTold(trajectory.Told{System: text, Tools: line + "\n" + strings.Repeat(line+"\n", 100)}, hide)
		if len(got.System) > maxSystem || len(got.Tools) > maxTools {
			t.Fatalf("kept %d and %d bytes", len(got.System), len(got.Tools))
		}
		for _, kept := range []string{got.System, got.Tools} {
			for i := range len(key) - 5 {
				if strings.Contains(kept, key[i:i+6]) {
					t.Fatalf("at %d a part of the key is kept: %q", at, key[i:i+6])
				}
			}
		}
	}
}
