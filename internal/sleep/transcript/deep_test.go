package transcript_test

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// A line that nests without an end does not exhaust the stack.
func TestTrap79DeepNesting(t *testing.T) {
	t.Parallel()
	deep := `{"type":"session","x":` + strings.Repeat("[", 15<<20)
	for name, src := range map[string]transcript.Source{
		".copilot/session-state/s/events.jsonl":     transcript.Copilot{},
		".openclaw/agents/main/sessions/s.jsonl":    transcript.OpenClaw{},
		".local/share/devin/cli/transcripts/s.json": transcript.Devin{},
	} {
		for _, text := range []string{deep + "\n", strings.ReplaceAll(deep, "[", `{"a":`)[:15<<20] + "\n", deep + strings.Repeat("]", 1<<19) + "\n"} {
			if res := readFiles(t, src, map[string]string{name: text}); len(res.Problems) != 1 || res.Err != nil {
				t.Errorf("%s: %v %v", name, res.Problems, res.Err)
			}
		}
	}
}
