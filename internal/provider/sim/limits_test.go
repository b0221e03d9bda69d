package sim

import (
	"fmt"
	"strings"
	"testing"
)

// Three tasks miss the rule "half", one of them "stars", in this order: half, half, stars, half.
func limitedTasks() []string {
	return []string{
		failedTask("Add 2 and 4", "6", "3"), failedTask("Add 4 and 4", "8", "4"),
		failedTask("Add 3 and 4", "7", "7*"), failedTask("Add 6 and 4", "10", "5"),
	}
}

func TestLimits(t *testing.T) {
	const half, stars = "Halve each number.", "End with a star."
	skill := "Answer.\n\n- Give each number a prefix.\n"
	for name, tt := range map[string]struct {
		keys string
		want []string // parts of what is proposed, in order
	}{
		"none":            {"", []string{half, stars}},
		"need":            {"need: 2", []string{half}},
		"reads the first": {"reads: 2, first: true", []string{half}},
		"writes":          {"writes: 1", nil},
		"misses all":      {"misses: 1", []string{}},
		"drops all":       {"drops: 1", []string{"Give each number a prefix.", half, stars}},
		"repeats all":     {"repeats: 1", []string{"Give each number a prefix.", half, stars}},
		"memorizes all":   {"memorizes: 1", []string{`"Add 2 and 4", the answer is "3"`, `"Add 4 and 4"`, `"Add 3 and 4"`, `"Add 6 and 4"`}},
	} {
		w := duoWorld(t, fmt.Sprintf("optimizer: {%s}\n", tt.keys))
		text := skill
		if !strings.Contains(tt.keys, "drops") && !strings.Contains(tt.keys, "repeats") {
			text = "Answer.\n"
		}
		var got []string
		for _, e := range edits(t, w, analyst(text, limitedTasks()...)) {
			got = append(got, e.Content+e.Target)
		}
		if tt.want == nil {
			if len(got) != 1 {
				t.Errorf("%s: %q, want one edit", name, got)
			}
			continue
		}
		if len(got) != len(tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
			continue
		}
		for i, part := range tt.want {
			if !strings.Contains(got[i], part) {
				t.Errorf("%s: edit %d is %q, want %q", name, i, got[i], part)
			}
		}
	}
}

// An optimizer that reads some trajectories at random reads others in another prompt.
func TestReadsAtRandom(t *testing.T) {
	w := duoWorld(t, "optimizer: {reads: 1}\n")
	seen := map[string]bool{}
	for i := range 20 {
		for _, e := range edits(t, w, analyst(fmt.Sprintf("Answer %d.\n", i), limitedTasks()...)) {
			seen[e.Content] = true
		}
	}
	if len(seen) != 2 {
		t.Errorf("over 20 prompts it has proposed %v, want both rules", seen)
	}
}

func TestLimitsOutOfRange(t *testing.T) {
	for keys, want := range map[string]string{
		"reads: -1": "optimizer.reads: found -1, allowed is 0 to", "writes: -2": "optimizer.writes: found -2", "need: 2000": "optimizer.need: found 2000",
		"misses: 1.5": "optimizer.misses: found 1.5, allowed is 0 to 1", "drops: -1": "optimizer.drops: found -1", "repeats: 2": "optimizer.repeats: found 2", "memorizes: 2": "optimizer.memorizes: found 2",
	} {
		_, err := Parse("duo.yaml", []byte("optimizer: {"+keys+"}\n"+duo))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", keys, err, want)
		}
	}
}
