package optimize

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	tasks := []task.Task{{ID: "a", Prompt: "A?"}, {ID: "b"}, {ID: "c"}, {ID: "d"}, {ID: "e"}, {ID: "gone"}}
	lost := trajectory.Outcome{ID: "e", Status: score.Unmeasured}
	prev := []trajectory.Outcome{
		outcome("e", 1), outcome("d", 0), outcome("c", 1), outcome("b", 0.25),
		{ID: "a", Status: score.OK, Reference: "gold", Answer: "x"},
	}
	curr := []trajectory.Outcome{outcome("a", 1e-9), outcome("b", 1), outcome("c", 0), outcome("d", 0), lost}
	got := Compare(tasks, prev, curr)
	type row struct {
		ID, Task, Reference string
		Category            Category
	}
	var rows []row
	for _, p := range got {
		rows = append(rows, row{p.ID, p.Task, p.Reference, p.Category})
	}
	want := []row{
		{"a", "A?", "gold", Improved},
		{"b", "b", "", StableSuccess},
		{"c", "c", "", Regressed},
		{"d", "d", "", PersistentFail},
		{"gone", "gone", "", PersistentFail},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Error(diff)
	}
	if got[0].Prev.Answer != "x" || got[0].Curr.Answer != "N/A" {
		t.Errorf("answers %q and %q", got[0].Prev.Answer, got[0].Curr.Answer)
	}
}

func TestConversationDoesNotRepeatTheTask(t *testing.T) {
	t.Parallel()
	turns := []trajectory.Turn{{Role: "user", Content: "Q?"}, {Role: "assistant", Content: "A."}}
	o := trajectory.Outcome{ID: "a", Status: score.OK, Question: "Q?", Trajectory: turns}
	pair := Compare([]task.Task{{ID: "a"}}, nil, []trajectory.Outcome{o})[0]
	if diff := cmp.Diff(turns[1:], pair.Curr.Conversation); diff != "" || pair.Task != "Q?" {
		t.Errorf("task %q\n%s", pair.Task, diff)
	}
	if len(o.Trajectory) != 2 || o.Trajectory[0].Content != "Q?" {
		t.Error("the outcome was changed")
	}
}

func TestSelectPairsSplits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		categories := rapid.SliceOf(rapid.SampledFrom([]Category{Improved, Regressed, PersistentFail, StableSuccess})).Draw(t, "categories")
		var pairs []Pair
		for i, c := range categories {
			pairs = append(pairs, Pair{ID: fmt.Sprint(i), Category: c})
		}
		changed, unchanged := SelectPairs(pairs, PairsChanged), SelectPairs(pairs, PairsUnchanged)
		if len(changed)+len(unchanged) != len(SelectPairs(pairs, PairsMixed)) || len(pairs) != len(SelectPairs(pairs, PairsMixed)) {
			t.Fatalf("%d changed and %d unchanged of %d", len(changed), len(unchanged), len(pairs))
		}
		for _, p := range changed {
			if !p.Category.IsChange() {
				t.Fatalf("%s is no change", p.Category)
			}
		}
	})
}

func TestParsePairPolicy(t *testing.T) {
	t.Parallel()
	for want, names := range map[PairPolicy][]string{
		PairsMixed:     {"", "mixed", "default", " Random\n", "all", "ALL\x1f"},
		PairsChanged:   {"changed", "Change", "DELTA", "01_10", " 10_01"},
		PairsUnchanged: {"unchanged", "stable", "Same ", "00_11"},
	} {
		for _, name := range names {
			if got, err := ParsePairPolicy(name); got != want || err != nil {
				t.Errorf("%q: %q, %v", name, got, err)
			}
		}
	}
	for _, name := range []string{"x", " ", "alls", "11_00"} {
		if got, err := ParsePairPolicy(name); err == nil || !strings.Contains(err.Error(), strconv.Quote(name)) {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
}

func TestRepresentative(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in := RepresentativeInput{
			Types: map[string]string{}, Seed: rapid.Int64Range(0, 99).Draw(t, "seed"),
			Failures: rapid.IntRange(-1, 4).Draw(t, "failures"), Successes: rapid.IntRange(-1, 4).Draw(t, "successes"),
		}
		hard, kinds := map[string]float64{}, [2]map[string]bool{{}, {}}
		sizes := [2]int{}
		for i := range rapid.IntRange(0, 12).Draw(t, "n") {
			o := outcome(fmt.Sprint(i), rapid.SampledFrom([]float64{0, 0.5, 1}).Draw(t, "hard"))
			o.Type = rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "type")
			in.Outcomes, hard[o.ID] = append(in.Outcomes, o), o.Hard
			if rapid.Bool().Draw(t, "known") {
				in.Types[o.ID] = "other"
				side := 0
				if o.Hard > 0 {
					side = 1
				}
				kinds[side][o.Type] = true
				sizes[side]++
			}
		}
		ids := Representative(in)
		firstSuccess := slices.IndexFunc(ids, func(id string) bool { return hard[id] > 0 })
		if firstSuccess < 0 {
			firstSuccess = len(ids)
		}
		for side, part := range [][]string{ids[:firstSuccess], ids[firstSuccess:]} {
			quota := max(0, []int{in.Failures, in.Successes}[side])
			if len(part) != min(quota, sizes[side]) {
				t.Fatalf("%d of %d with a quota of %d", len(part), sizes[side], quota)
			}
			shown := map[string]bool{}
			for _, id := range part {
				if _, known := in.Types[id]; !known || (hard[id] > 0) != (side == 1) {
					t.Fatalf("%s does not belong here", id)
				}
				shown[in.Outcomes[slices.IndexFunc(in.Outcomes, func(o trajectory.Outcome) bool { return o.ID == id })].Type] = true
			}
			if len(shown) != min(quota, len(kinds[side])) {
				t.Fatalf("%d types shown of %d", len(shown), len(kinds[side]))
			}
		}
	})
}

func TestRepresentativePassesOverTheUnmeasured(t *testing.T) {
	t.Parallel()
	got := Representative(RepresentativeInput{
		Outcomes: []trajectory.Outcome{{ID: "a", Status: score.Unmeasured}, outcome("b", 0)},
		Types:    map[string]string{"a": "", "b": ""}, Failures: 5, Successes: 5,
	})
	if diff := cmp.Diff([]string{"b"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestSafePairIDIsSafe(t *testing.T) {
	t.Parallel()
	safe := regexp.MustCompile(`^[A-Za-z0-9._-]{1,80}$`)
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.String().Draw(t, "id")
		if got := SafePairID(id); !safe.MatchString(got) {
			t.Fatalf("%q became %q", id, got)
		}
	})
}

func TestRenderPairs(t *testing.T) {
	t.Parallel()
	talk := []trajectory.Turn{{Role: "assistant", Content: "[0] my try"}}
	pairs := []Pair{
		{ID: "s", Category: StableSuccess, Task: "easy\none", Prev: Side{Hard: 1, Conversation: talk}},
		{ID: "i", Category: Improved, Task: "I?", Prev: Side{Answer: "N/A", FailReason: "format: bad"}, Curr: Side{Hard: 1, Soft: 1, Answer: "42"}},
		{
			ID: "r", Category: Regressed, Task: "R?", Reference: "7\n8",
			Prev: Side{Hard: 1, Soft: 1, Answer: "7", Conversation: talk}, Curr: Side{Soft: 0.5, Answer: "9", Conversation: talk},
		},
	}
	want := strings.Join([]string{
		"3 tasks: 1 regressed, 1 improved, 0 failed both times, 1 solved both times.",
		"",
		"### Regressed: solved before, failed now",
		"",
		"#### Task r",
		"R?",
		`Reference (hidden from the agent): 7\n8`,
		"Before: hard=1 soft=1 answer=7",
		"[agent] [0] my try",
		"Now: hard=0 soft=0.5 answer=9",
		"[agent] [0] my try",
		"",
		"### Improved: failed before, solved now",
		"",
		"#### Task i",
		"I?",
		"Before: hard=0 soft=0 answer=N/A (format: bad)",
		"Now: hard=1 soft=1 answer=42",
		"",
		"### Solved both times",
		`- s: easy\none`,
	}, "\n")
	if diff := cmp.Diff(want, RenderPairs(pairs)); diff != "" {
		t.Error(diff)
	}
	if got := RenderPairs(nil); got != "" {
		t.Errorf("no pairs give %q", got)
	}
}
