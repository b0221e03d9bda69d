package task_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

func TestImages(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		value any
		want  []string
		bad   bool
	}{
		"absent":      {nil, nil, false},
		"one":         {"a/b.png", []string{"a/b.png"}, false},
		"list":        {[]any{"a.png", "b.jpg"}, []string{"a.png", "b.jpg"}, false},
		"of a CSV":    {`["a.png", "b.jpg"]`, []string{"a.png", "b.jpg"}, false},
		"broken list": {`["a.png"`, nil, true},
		"an address":  {[]any{map[string]any{"url": "https://example.com/a.png"}}, nil, true},
		"outside":     {"../a.png", nil, true},
		"absolute":    {[]any{"/etc/passwd"}, nil, true},
		"empty":       {[]any{""}, nil, true},
		"a number":    {3, nil, true},
	} {
		got, err := task.Task{Data: map[string]any{"images": tt.value}}.Images()
		if diff := cmp.Diff(tt.want, got); diff != "" || (err != nil) != tt.bad {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

// The same question about another picture is another task.
func TestPicturesTellTasksApart(t *testing.T) {
	t.Parallel()
	about := func(picture string, s task.Split) task.Task {
		return task.Task{ID: picture + string(s), Prompt: "What is it?", Gold: []string{"x"}, Split: s, Data: map[string]any{"images": picture}}
	}
	for other, want := range map[string]bool{"a.png": false, "b.png": true} {
		_, err := task.NewSet([]task.Task{about("a.png", task.Train), about(other, task.Test)}, task.Rules{})
		if (err == nil) != want {
			t.Errorf("%s: %v", other, err)
		}
	}
}
