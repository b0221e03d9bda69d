package report

import (
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/result"
)

// What a skill or a task says is shown and nothing else, and numbers are not those
// of binary fractions.
func TestReportOfAPrunedSkill(t *testing.T) {
	t.Parallel()
	low, high := -0.02, 0.03
	rule := result.Rule{Number: 1, Line: 3, LastLine: 3, Text: "- <script>alert(1)</script> \\| ![x](http://tracker.invalid/p.png) @everyone \u202egnp `x`"}
	p := &result.Pruned{
		Ablation:    result.Ablation{Margin: 0.07, Level: 1 - 0.07, Rules: []result.RuleWorth{{Rule: rule, Verdict: result.RuleUseless, Worth: &high, Low: &low, High: &high, Unmeasured: []string{"a|b<i>"}}}},
		Removed:     []result.Rule{rule},
		Certificate: &result.NotWorse{Certified: true, HeldOut: true, Deterministic: true, Tasks: 9, Difference: &low, Low: &low, High: &high},
		CertifiedOn: "train",
	}
	text := string(FormatPruned(p))
	for _, bad := range []string{"<script", "![", "[x](", "@everyone", "\u202e", "a|b", "<i>", "0000001", " `x`"} {
		if strings.Contains(text, bad) {
			t.Errorf("%q stands in the report:\n%s", bad, text)
		}
	}
	want := "certified not worse by 7 points or more: measured -2.0 points [-2.0, +3.0] on 9 train tasks, with a 93 % interval that is exact for these tasks, since answers were alike"
	if got := p.Words(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "|") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
			t.Errorf("a row with another number of cells: %s", line)
		}
	}
}
