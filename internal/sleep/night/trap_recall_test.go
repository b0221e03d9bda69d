package night_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// Older tasks are recalled by how like they are: never those put aside as test, nor anything of their cluster, and none that
// has nothing in common with tonight's.
func TestTrap18WhatIsRecalled(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		recall int
		want   []string // asked by the second night
	}{
		{20, []string{"dark-red-plum", "red-apple", "red-berry", "red-date", "red-grape"}},
		{2, []string{"red-apple", "red-berry", "red-date", "red-grape"}},
		{0, []string{"red-berry", "red-date"}},
	} {
		h := newHome(t, small())
		h.cfg.Sleep.Recall = tt.recall
		p := &pupil{parts: func(string, bool, int) int { return 0 }}
		pupilTasks(h, "red-apple", "dark-red-plum", "green-pear", "blue-fig", "red-cherry", "blue-kiwi", "red-grape", "blue-lime", "green-melon", "red-mango")
		first := p.explored(h)
		tests := map[string]bool{}
		clusters, err := h.bank.Clusters(t.Context(), h.project, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range clusters {
			if k.Side == wish.Test {
				tests[k.Tasks[0].Task.Task.ID] = true
			}
		}
		if want := map[string]bool{"red-cherry": true, "red-mango": true}; !maps.Equal(tests, want) || first.Targets[0].Groups.Recall != 0 {
			t.Fatalf("put aside: %v, %+v", tests, first.Targets[0].Groups)
		}
		pupilTasks(h, "red-berry", "red-date", "dark-red-cherry")
		for id, w := range h.miner.tasks { // the wish of a test task in other words
			if w.Task.ID == "dark-red-cherry" {
				w.Input = "red-cherry"
				h.miner.tasks[id] = w
			}
		}
		asked := map[string]bool{}
		second := p.explored(h, func(o *night.Options) {
			o.Events = func(e event.Event) {
				if e, ok := e.(event.OutcomeDone); ok {
					asked[e.Task] = true
				}
			}
		})
		if diff := cmp.Diff(tt.want, slices.Sorted(maps.Keys(asked))); diff != "" {
			t.Errorf("recall %d: asked (-want +got):\n%s", tt.recall, diff)
		}
		if c := second.Targets[0].Groups; c.Tonight != 2 || c.Recall != len(tt.want)-2 || c.Fresh != 2 {
			t.Errorf("recall %d: %+v", tt.recall, c)
		}
	}
}
