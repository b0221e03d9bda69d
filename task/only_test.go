package task

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Some tasks of a set keep their splits and order, trigger tasks among themselves.
func TestOnly(t *testing.T) {
	t.Parallel()
	set, err := NewSet([]Task{
		{ID: "a", Prompt: "1", Gold: []string{"x"}, Type: "k", Split: Train},
		{ID: "b", Prompt: "2", Gold: []string{"x"}, Split: Train},
		{ID: "c", Prompt: "3", Gold: []string{"x"}, Type: "k", Split: Test},
		{ID: "d", Prompt: "4", Gold: []string{"x"}, Type: "k", Split: Train},
		{ID: "e", Prompt: "5", Trigger: TriggerShould, Type: "k", Split: Train},
		{ID: "f", Prompt: "6", Trigger: TriggerShouldNot, Split: Train},
	}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	ids := func(tasks []Task) []string {
		out := []string{}
		for _, tk := range tasks {
			out = append(out, tk.ID)
		}
		return out
	}
	ofK := func(tk Task) bool { return tk.Type == "k" }
	some, first := set.Only(ofK, 0), set.Only(ofK, 1)
	for name, tc := range map[string]struct{ got, want []string }{
		"train":       {ids(some.Split(Train)), []string{"a", "d"}},
		"test":        {ids(some.Split(Test)), []string{"c"}},
		"triggers":    {ids(some.Triggers().Split(Train)), []string{"e"}},
		"the first":   {ids(first.Split(Train)), []string{"a"}},
		"all of it":   {ids(first.Tasks()), []string{"c", "a"}},
		"none":        {ids(set.Only(func(Task) bool { return false }, 0).Tasks()), []string{}},
		"the set has": {ids(set.Split(Train)), []string{"a", "b", "d"}},
	} {
		if diff := cmp.Diff(tc.want, tc.got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
