package optimize

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestRenderTrajectories(t *testing.T) {
	t.Parallel()
	talk := func(question string) []trajectory.Turn {
		return []trajectory.Turn{{Role: "user", Content: question}, {Role: "assistant", Content: "42"}}
	}
	got := RenderTrajectories([]trajectory.Outcome{
		{
			ID: "q1", Type: "sum", Hard: 0, Soft: 0.25, FailReason: "wrong: a\nb", Answer: "42", Question: "What is it?",
			Reference: "43", Feedback: "off by one", Trajectory: talk("Context. What is it?"),
		},
		{ID: "q2", Hard: 1, Soft: 1, Question: "Shown, since no turn has it", Trajectory: talk("other")},
	})
	want := `### Trajectory 1 of 2

- id: q1
- type: sum
- score: hard=0 soft=0.25
- fail reason: wrong: a\nb
- turns: 2
- scored answer: 42

Reference (hidden from the agent):
43

Feedback:
off by one

Conversation:
` + trajectory.Format(talk("Context. What is it?")) + `


### Trajectory 2 of 2

- id: q2
- score: hard=1 soft=1
- turns: 2

Task:
Shown, since no turn has it

Conversation:
` + trajectory.Format(talk("other")) + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestRenderTrajectoriesIsBounded(t *testing.T) {
	t.Parallel()
	o := trajectory.Outcome{ID: "q", Question: "Q?", Reference: strings.Repeat("r", 50_000), Feedback: strings.Repeat("f", 50_000)}
	for range 50 {
		o.Trajectory = append(o.Trajectory, trajectory.Turn{Role: "user", Content: strings.Repeat("c", 20_000) + "Q?"},
			trajectory.Turn{Kind: trajectory.ToolCall, Action: strings.Repeat("a", 9_000), Observation: strings.Repeat("o", 9_000)})
	}
	got := RenderTrajectories([]trajectory.Outcome{o})
	if n := utf8.RuneCountInString(got); n > maxTrajectory+2*maxField+1_000 {
		t.Errorf("%d characters", n)
	}
	if !strings.Contains(got, "Q?") || !strings.Contains(got, "characters cut out ...]") {
		t.Error("the question or the mark of the cut is missing")
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.SampledFrom([]rune("aé日🙂\n"))).Draw(t, "s")
		limit := rapid.IntRange(0, 12).Draw(t, "limit")
		got := clip(s, limit)
		n := utf8.RuneCountInString(s)
		if n <= limit {
			if got != s {
				t.Fatalf("%q is short enough, got %q", s, got)
			}
			return
		}
		head, rest, ok := strings.Cut(got, "\n[... ")
		_, tail, ok2 := strings.Cut(rest, " characters cut out ...]\n")
		if !ok || !ok2 || !utf8.ValidString(got) {
			t.Fatalf("no mark in %q", got)
		}
		if utf8.RuneCountInString(head+tail) != limit || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) {
			t.Fatalf("clip(%q, %d) = %q + %q", s, limit, head, tail)
		}
	})
}

func TestStepBuffer(t *testing.T) {
	t.Parallel()
	if got := StepBuffer(nil); got != "" {
		t.Errorf("no steps: %q", got)
	}
	before, after := 0.5, 0.25
	ids := strings.Split("a b c d e f g h i j", " ")
	patterns := []Pattern{{Pattern: "wrong", Count: 10, TaskIDs: ids}, {Pattern: "", Count: 1, TaskIDs: ids[:1]}}
	for range 10 {
		patterns = append(patterns, Pattern{Pattern: "more", Count: 1, TaskIDs: ids[:1]})
	}
	got := StepBuffer([]StepNote{
		{
			Step: 1, Action: "reject", Failed: 11, Total: 20, Patterns: patterns,
			Diagnoses: []FailureType{{Type: "units", Count: 3, Description: "no\nunit", Class: SkillDefect}},
			Rejected:  []skill.Edit{{Op: skill.Replace, Target: "x", Content: "y\nz"}, {Op: skill.Delete, Target: "x"}},
			Before:    &before, After: &after,
		},
		{Step: 2, Action: "accept", Failed: 0, Total: 20},
		{Step: 3, Action: "reject", Failed: 1, Total: 2, Tried: []string{"rewrote it"}},
	})
	want := `### Step 1: reject, 11 of 20 tasks failed
- wrong: 10 (a, b, c, d, e, f, g, h and 2 more)
- no reason given: 1 (a)
` + strings.Repeat("- more: 1 (a)\n", 8) + `- and 2 more kinds of failure
- diagnosed: units (3) SKILL_DEFECT: no\nunit
Tried and rejected (score 0.5000 before, 0.2500 after):
- replace target=x content=y\nz
- delete target=x

### Step 2: accept, 0 of 20 tasks failed

### Step 3: reject, 1 of 2 tasks failed
Tried and rejected (score unmeasured before, unmeasured after):
- rewrote it`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFailurePatternsPassOverTheUnmeasured(t *testing.T) {
	t.Parallel()
	lost := outcome("u", 0)
	lost.Status = score.Unmeasured
	late := outcome("b", 0)
	late.Status = score.AgentError
	got := FailurePatterns([]trajectory.Outcome{lost, outcome("a", 0), outcome("ok", 1), late})
	want := []Pattern{{Pattern: "class", Count: 2, TaskIDs: []string{"a", "b"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every measured outcome is in exactly one minibatch, apart from the tiny hard
// scores that count as both; none is larger than asked for.
func TestMinibatchesPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var outcomes []trajectory.Outcome
		for range rapid.IntRange(0, 30).Draw(t, "n") {
			o := outcome("x", rapid.SampledFrom([]float64{0, 0.5, 1, 1e-12}).Draw(t, "hard"))
			o.Status = rapid.SampledFrom([]score.Status{score.OK, score.AgentError, score.Unmeasured}).Draw(t, "status")
			outcomes = append(outcomes, o)
		}
		seed := rapid.Int64Range(0, 1000).Draw(t, "seed")
		opts := MinibatchOptions{Size: rapid.IntRange(-1, 5).Draw(t, "size"), Seed: &seed, FailureOnly: rapid.Bool().Draw(t, "only")}
		failures, successes := Minibatches(outcomes, opts)
		seen := make([]int, len(outcomes))
		for _, b := range append(failures, successes...) {
			if len(b) == 0 || len(b) > max(1, opts.Size) {
				t.Fatalf("minibatch of %d", len(b))
			}
			for _, i := range b {
				seen[i]++
			}
		}
		for i, o := range outcomes {
			want := 0
			if o.Status.Measured() {
				if o.Hard < failedBelow {
					want++
				}
				if o.Hard > 0 && !opts.FailureOnly {
					want++
				}
			}
			if seen[i] != want {
				t.Fatalf("outcome %d (%v, %v) is in %d minibatches, want %d", i, o.Hard, o.Status, seen[i], want)
			}
		}
	})
}

func TestParseModeUnknown(t *testing.T) {
	t.Parallel()
	if mode, ok := ParseMode("full-rewrite"); ok || mode != ModePatch {
		t.Errorf("%s, %v", mode, ok)
	}
	if mode, ok := ParseMode(" Rewrite_From_Suggestions\x1f"); !ok || mode != ModeRewrite {
		t.Errorf("%s, %v", mode, ok)
	}
}

func TestAsCount(t *testing.T) {
	t.Parallel()
	tests := map[any]int{
		nil: 1, 3: 3, 0: 1, json.Number("4"): 4, json.Number("2.7"): 2, json.Number("-3"): 1,
		json.Number("1e99"): 1<<31 - 1, json.Number("1e999"): 1, " 5 ": 5, "x": 1, true: 1, "99999999999": 1<<31 - 1,
	}
	for in, want := range tests {
		if got := asCount(in); got != want {
			t.Errorf("asCount(%#v) = %d, want %d", in, got, want)
		}
	}
}

func TestTruthy(t *testing.T) {
	t.Parallel()
	for _, v := range []any{nil, false, "", json.Number("0"), json.Number("0.0"), []any{}, map[string]any{}} {
		if pytext.Truthy(v) {
			t.Errorf("%#v is true", v)
		}
	}
	for _, v := range []any{true, "x", json.Number("5"), json.Number("1e999"), []any{nil}, map[string]any{"": nil}, 1} {
		if !pytext.Truthy(v) {
			t.Errorf("%#v is false", v)
		}
	}
}
