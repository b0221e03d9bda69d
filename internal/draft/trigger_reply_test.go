package draft

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/task"
)

// FuzzReadTriggers: whatever a reply holds, what is taken of it is within bounds, plain, of a
// kind, and can be written and read again as a task.
func FuzzReadTriggers(f *testing.F) {
	for _, seed := range []string{
		`{"prompts":[{"trigger":"should","prompt":"p","why":"w"},{"trigger":"should not","prompt":1}]}`,
		"```json\n{\"prompts\":[{\"trigger\":\"SHOULD-NOT\",\"prompt\":\"\\u202etxt\\u0007\"}]}\n```",
		`{"prompts":[{"trigger":{},"prompt":"\ud800"}, 1, null, []]}`,
		`{"opinions":[{"n":1,"load":true},{"n":1,"load":false},{"n":2.0,"load":"TRUE"}]}`,
	} {
		f.Add(seed)
	}
	m := material("---\nname: a-b\ndescription: Sums of invoices.\n---\n# A\n- one\n")
	f.Fuzz(func(t *testing.T, text string) {
		if opinions, err := readOpinions(text); err == nil && len(opinions) == 0 {
			t.Fatal("opinions of nothing")
		}
		list, err := readTriggers(text)
		if err != nil {
			return
		}
		l := newTriggerLinter(m, nil)
		for _, p := range list {
			if p.err != nil {
				continue
			}
			if len(p.prompt) == 0 || len(p.prompt) > maxTriggerPrompt || len([]rune(p.why)) > maxWhy || p.kind != task.TriggerShould && p.kind != task.TriggerShouldNot {
				t.Fatalf("beyond the bounds: %+v", p)
			}
			if strings.ContainsAny(p.prompt+p.why, "\x00\x07\x1b\u202e\u200b") {
				t.Fatalf("not plain: %q %q", p.prompt, p.why)
			}
			if why, _ := l.lint(p.prompt); why != "" {
				continue
			}
			line, err := EncodeTriggers([]TriggerTask{{ID: triggerID(p.triggerCandidate), Prompt: p.prompt, Trigger: p.kind, Why: p.why}})
			if err != nil {
				t.Fatal(err)
			}
			if err := Lint(t.TempDir(), line); err != nil {
				t.Fatalf("%v\n%s", err, line)
			}
		}
	})
}
