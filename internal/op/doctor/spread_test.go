package doctor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/task"
)

// The tasks that are shown are of several types where there are several, each once.
func TestSpread(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		types string // a letter a task
		n     int
		want  string
	}{
		{"", 0, ""},
		{"a", 1, "0"},
		{"aaaaa", 3, "0 2 4"},
		{"abcabca", 3, "0 4 2"}, // the last step falls on an a; the search goes on from the front
		{"aaaaaab", 3, "0 6 1"},
		{"ab", 2, "0 1"},
	} {
		var list []task.Task
		for i, typ := range tt.types {
			list = append(list, task.Task{ID: string(rune('0' + i)), Type: string(typ)})
		}
		var got []string
		for _, s := range spread(list, tt.n) {
			got = append(got, s.ID)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%d of %q (-want +got):\n%s", tt.n, tt.types, diff)
		}
	}
}
