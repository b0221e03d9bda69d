package night_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Three nights, each of which is adopted, leave every byte outside of the region, and every rule of the nights before: rules
// of several lines, with leading dashes and with the text of markers, in files with any line ends and with text behind.
func TestTrap14ThreeNightsRoundTrip(t *testing.T) {
	t.Parallel()
	rules := []string{"- pass --flag to it\n  and no other,\n\n  whatever it says", "--flag comes last " + skill.LearnedEnd, "- write `<!-- x -->`, not\n  " + skill.LearnedStart + "\n  and the rest"}
	stripped := strings.NewReplacer(skill.LearnedEnd, "", skill.LearnedStart, "")
	for name, live := range map[string]string{
		"text behind":   "# Shop\r\n\r\n" + skill.LearnedStart + "\r\n" + skill.LearnedEnd + "\r\n\r\n\r\n\r\n## Behind  \r\n\r\n- --flag\r\n",
		"no end":        "# Shop\n\n" + skill.LearnedStart + "\n- old rule\n" + skill.LearnedEnd + "\nbehind",
		"nothing there": "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, small())
			file := filepath.Join(h.project, "CLAUDE.md")
			if err := os.WriteFile(file, []byte(live), 0o644); err != nil {
				t.Fatal(err)
			}
			head, tail := live, ""
			if from, to, err := skill.LearnedRange(live); err == nil {
				head, tail = live[:from], live[to:]
			}
			for k, rule := range rules {
				p := &pupil{rule: strings.TrimSpace(strings.SplitN(stripped.Replace(rule), "\n", 2)[0]), rules: []string{rule}, parts: func(_ string, ruled bool, _ int) int { return right(ruled) }}
				var names []string
				for i := range 4 {
					names = append(names, fmt.Sprintf("night%d-task%d", k, i))
				}
				pupilTasks(h, names...)
				r := p.explored(h)
				got := r.Targets[0]
				if got.Outcome != night.Suggested {
					t.Fatalf("night %d: %s: %s", k+1, got.Outcome, got.Reason)
				}
				proposal, err := night.Open(h.dir, h.project, r.ID)
				if err != nil {
					t.Fatal(err)
				}
				text, err := proposal.Text(got.Target)
				if err != nil || !strings.HasPrefix(text, head) || !strings.HasSuffix(text, tail) {
					t.Fatalf("night %d changed text outside of the region (%v): %q", k+1, err, text)
				}
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			data, err := os.ReadFile(file)
			text := string(data)
			learned, lerr := skill.LearnedText(text)
			if err != nil || lerr != nil {
				t.Fatalf("%v, %v: %q", err, lerr, text)
			}
			if crlf := strings.Contains(live, "\r\n"); crlf != strings.Contains(text, "\r\n") || strings.Count(text, "\n") != strings.Count(text, "\r\n") && crlf {
				t.Errorf("line ends are mixed: %q", text)
			}
			for k, rule := range rules {
				for line := range strings.Lines(stripped.Replace(rule)) {
					if line = strings.TrimSpace(line); !strings.Contains(learned, line) {
						t.Errorf("rule %d has lost %q: %q", k+1, line, learned)
					}
				}
			}
			if strings.Contains(live, "- old rule") && !strings.Contains(learned, "- old rule") {
				t.Errorf("the rule that was there is gone: %q", learned)
			}
		})
	}
}
