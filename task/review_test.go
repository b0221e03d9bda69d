package task_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestReviewed(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, content string
		want                []bool // Unreviewed
	}{
		{"absent means yes", "t.jsonl", `{"prompt":"p","gold":"g"}`, []bool{false}},
		{"bools", "t.jsonl", `{"prompt":"p","gold":"g","reviewed":false}` + "\n" + `{"prompt":"q","gold":"g","reviewed":true}`, []bool{true, false}},
		{"null and empty count as absent", "t.jsonl", `{"prompt":"p","gold":"g","reviewed":null}` + "\n" + `{"prompt":"q","gold":"g","reviewed":""}`, []bool{false, false}},
		{"cells of a table", "t.csv", "prompt,gold,reviewed\np,g,FALSE\nq,g,true\nr,g,\n", []bool{true, false, false}},
		{"yaml", "t.yaml", "- {prompt: p, gold: g, reviewed: false}\n", []bool{true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set, fault := load(t, tt.file, tt.content, task.Rules{Checker: checker(t)})
			if fault != "" {
				t.Fatal(fault)
			}
			var got []bool
			count := 0
			for _, one := range set.Tasks() {
				got = append(got, one.Unreviewed)
				if one.Unreviewed {
					count++
				}
				if _, is := one.Data["reviewed"]; is {
					t.Error("reviewed is data as well: templates and environments would see it")
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if set.Unreviewed() != count {
				t.Errorf("Unreviewed() = %d, want %d", set.Unreviewed(), count)
			}
		})
	}
}

func TestReviewedMustBeABool(t *testing.T) {
	t.Parallel()
	for _, value := range []string{`"2026-01-02"`, `2`, `[true]`, `{"by":"me"}`} {
		_, fault := load(t, "t.jsonl", `{"prompt":"p","gold":"g","reviewed":`+value+`}`, task.Rules{Checker: checker(t)})
		if !strings.Contains(fault, `field "reviewed" must be true or false, found`) {
			t.Errorf("reviewed: %s: %q", value, fault)
		}
	}
}

// TestReviewChangesNoIdentity: accepting a task neither renames it nor makes
// another set of it.
func TestReviewChangesNoIdentity(t *testing.T) {
	t.Parallel()
	digest := func(reviewed string) string {
		set, fault := load(t, "t.jsonl", `{"prompt":"p","gold":"g","source":"SKILL.md:3"`+reviewed+`}`, task.Rules{Checker: checker(t)})
		if fault != "" {
			t.Fatal(fault)
		}
		text, err := json.Marshal(set.Tasks())
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	draft, accepted, plain := digest(`,"reviewed":false`), digest(`,"reviewed":true`), digest("")
	if draft != accepted || accepted != plain {
		t.Errorf("three sets of one task:\n%s\n%s\n%s", draft, accepted, plain)
	}
}

// TestRejectedTasksAreNoSet: the file that a review writes beside the tasks does
// not get in the way of a directory.
func TestRejectedTasksAreNoSet(t *testing.T) {
	t.Parallel()
	line := `{"prompt":"p","gold":"g"}`
	dir := write(t, map[string]string{
		"train/mine.jsonl": line, "train/" + task.RejectedFile: line,
		"test/mine.jsonl": `{"prompt":"q","gold":"g"}`,
	})
	set, err := task.Load(dir, task.Rules{Checker: checker(t)})
	if err != nil {
		t.Fatal(err)
	}
	if set.Len() != 2 {
		t.Errorf("%d tasks, want 2", set.Len())
	}
}
