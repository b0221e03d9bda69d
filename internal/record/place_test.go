package record

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/task"
)

func TestPlaceOf(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]Place{
		"seed/selection/t-1/sample0/attempt1/turn1":   {At: "seed/selection", Task: "t-1", Attempt: 1, Turn: 1},
		"e1/s3/gate/cand/t-1/sample2/attempt0/turn1":  {Epoch: 1, Step: 3, At: "gate/cand", Task: "t-1", Sample: 2, Turn: 1},
		"e2/s12/again/mb0/rollout/t-1/sample0":        {Epoch: 2, Step: 12, At: "again/mb0/rollout", Task: "t-1"},
		"e2/end/gate/cand/t-1/sample0/attempt0/turn1": {Epoch: 2, At: "end/gate/cand", Task: "t-1", Turn: 1},
		"e1/s1/mb0/analyst_error/0/attempt0/turn1":    {Epoch: 1, Step: 1, At: "mb0/analyst_error/0", Turn: 1},
		"final/test/best/t-1/sample0/attempt0/turn1":  {At: "final/test/best", Task: "t-1", Turn: 1},
		"train/start": {At: "train/start"},
		"":            {},
	} {
		if diff := cmp.Diff(want, ParsePlace(key)); diff != "" {
			t.Errorf("%s: %s", key, diff)
		}
	}
}

// placeByPattern takes a key apart by what its grammar is.
func placeByPattern(key string) Place {
	var p Place
	rest := key
	if m := callOfTask.FindStringSubmatch(key); m != nil {
		rest, p.Task = m[1], unescapeID(m[2])
		p.Sample, p.Attempt, p.Turn = number(m[3]), number(m[4]), number(m[5])
	} else if m := callOfNone.FindStringSubmatch(key); m != nil {
		rest, p.Attempt, p.Turn = m[1], number(m[2]), number(m[3])
	}
	if p.At = rest; p.At == "" {
		p.At = key
	}
	if m := inEpoch.FindStringSubmatch(rest); m != nil {
		p.Epoch, p.Step, p.At = number(m[1]), number(m[2]), m[3]
	}
	return p
}

var (
	callOfTask = regexp.MustCompile(`^(.*)/([^/]+)/sample(\d+)(?:/attempt(\d+))?(?:/turn(\d+))?$`)
	callOfNone = regexp.MustCompile(`^(.*?)(?:/attempt(\d+))?(?:/turn(\d+))?$`)
	inEpoch    = regexp.MustCompile(`^e(\d+)(?:/s(\d+))?/(.*)$`)
)

// TestAnyKeyIsTakenApart: whatever it is made of.
func TestAnyKeyIsTakenApart(t *testing.T) {
	t.Parallel()
	parts := []string{"e1", "e", "s2", "s", "e1x", "sample0", "sample", "sample1x", "attempt3", "attempt", "turn4", "turn", "", "a", "t%2F1", "end", "gate", "99999999999999999999", "e0", "\xff", "7"}
	rapid.Check(t, func(t *rapid.T) {
		key := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "parts"), "/")
		if diff := cmp.Diff(placeByPattern(key), ParsePlace(key)); diff != "" {
			t.Fatalf("%q: %s", key, diff)
		}
	})
}

// The key of any task in any place is taken apart into what it was made of.
func TestPlacesOfTasks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.StringMatching(`[a-z0-9/%.\- ]{1,12}`).Draw(t, "id")
		sample := rapid.IntRange(0, 3000).Draw(t, "sample")
		prefix := rapid.SampledFrom([]string{"e1/s3/gate/cand", "final/test/best", "eval/selection"}).Draw(t, "prefix")
		p := ParsePlace(rollout.Place{Prefix: prefix, Sample: sample}.Key(task.Task{ID: id}))
		if p.Task != id || p.Sample != sample {
			t.Fatalf("%q, sample %d: %+v", id, sample, p)
		}
	})
}

// Ablations and prunings ask all their tasks at places that tell no split: what they were
// about does.
func TestCutsOnTestTasks(t *testing.T) {
	t.Parallel()
	p := ParsePlace("text/be632d58b0cb8ca4/t-1/sample1002/attempt0/turn1")
	for _, c := range []struct {
		key, about string
		want       bool
	}{
		{"ablate", "selection, margin 0.05", false},
		{"ablate", "test, margin 0.05", true},
		{"ablate", "all, margin 0.1, rules of SKILL.md, test.md", true},
		{"ablate", "train, margin 0.05, rules of certified on test, x.md", false},
		{"prune", "selection, margin 0.05, certified on train", false},
		{"prune", "selection, margin 0.05, certified on test", true},
		{"prune", "selection, margin 0.05, certified on all, rules of SKILL.md", true},
		{"prune", "test, margin 0.05, certified on train", true},
		{"prune", "of a newer program", true},
	} {
		r := &Run{Manifest: run.Manifest{Identity: map[string]string{"library." + c.key: strconv.Quote(c.about)}}}
		if got := r.OfTest(p); got != c.want {
			t.Errorf("%s: %q: %t", c.key, c.about, got)
		}
	}
}
