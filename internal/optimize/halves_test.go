package optimize

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// A minibatch that an analyst takes too long over is read in halves, and so is, without
// being sent, what is as long later. One trajectory is no half of anything.
func TestReflectHalves(t *testing.T) {
	t.Parallel()
	var outcomes []trajectory.Outcome
	for _, id := range strings.Split("abcde", "") {
		outcomes = append(outcomes, outcome(id, 0))
	}
	all := &script{replies: map[string]string{}}
	for _, part := range []string{"0", "0/0", "0/1", "0/0/0", "0/0/1", "0/1/0", "0/1/1", "0/1/1/0", "0/1/1/1"} {
		all.replies["analyst_error/"+part] = oneEdit
	}
	slow := func(ctx context.Context, q Request) (string, error) {
		reply, err := all.ask(ctx, q)
		if q.Divisible && strings.Count(q.User, "### Trajectory") > 2 {
			return "", ErrTimeout
		}
		return reply, err
	}
	in := reflectInput(slow, outcomes...)
	in.Size = 5
	read := func(in ReflectInput) (asked []string, tasks string, got ReflectResult) {
		all.asked = nil
		got, err := Reflect(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		for key := range all.asked {
			asked = append(asked, strings.TrimPrefix(key, "analyst_error/"))
		}
		var ids []string
		for _, a := range got.Analyses {
			ids = append(ids, a.TaskIDs...)
		}
		slices.Sort(asked)
		slices.Sort(ids)
		return asked, strings.Join(ids, ""), got
	}
	asked, tasks, got := read(in)
	if diff := cmp.Diff([]string{"0", "0/0", "0/1", "0/1/0", "0/1/1"}, asked); diff != "" {
		t.Errorf("asked (-want +got):\n%s", diff)
	}
	if tasks != "abcde" || got.Calls != 3 || got.TooLong == 0 {
		t.Errorf("tasks %s, %d calls, too long from %d bytes on", tasks, got.Calls, got.TooLong)
	}
	in.TooLong = got.TooLong
	asked, tasks, again := read(in)
	if diff := cmp.Diff([]string{"0/0", "0/1/0", "0/1/1"}, asked); diff != "" {
		t.Errorf("asked later (-want +got):\n%s", diff)
	}
	if tasks != "abcde" || again.TooLong != got.TooLong {
		t.Errorf("tasks %s, too long from %d bytes on, was %d", tasks, again.TooLong, got.TooLong)
	}
	in.TooLong = 1
	if _, tasks, one := read(in); tasks != "abcde" || one.Calls != 5 {
		t.Errorf("tasks %s in %d calls, want 5", tasks, one.Calls)
	}
}
