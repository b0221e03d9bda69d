package optimize

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
)

// later says that an answer comes later.
type later struct{}

func (later) Error() string { return "no answer yet" }
func (later) ComesLater()   {}

// desk puts all requests off, the first one before the others are sent.
type desk struct {
	want int // requests

	mu    sync.Mutex
	asked []string
	all   chan struct{}
}

func (d *desk) ask(ctx context.Context, q Request) (string, error) {
	d.mu.Lock()
	d.asked = append(d.asked, q.Key)
	n := len(d.asked)
	if n == d.want {
		close(d.all)
	}
	d.mu.Unlock()
	if n > 1 {
		select {
		case <-d.all:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	return "", later{}
}

// Stages that send several requests at once send all of them before they end for
// an answer that comes later.
func TestQuestionsBesideOneThatWaitsAreAsked(t *testing.T) {
	t.Parallel()
	patches := func() []Patch {
		return []Patch{NewPatch(ModePatch, "a", []any{edit("x", 1)}), NewPatch(ModePatch, "b", []any{edit("y", 1)})}
	}
	tests := []struct {
		name string
		run  func(ask Ask) error
		want []string
	}{
		{"reflect", func(ask Ask) error {
			in := reflectInput(ask, outcome("a", 0), outcome("b", 0), outcome("c", 1))
			in.Shallow = true
			_, err := Reflect(t.Context(), in)
			return err
		}, []string{"analyst_error/0", "analyst_error/1", "analyst_success/0"}},
		{"aggregate", func(ask Ask) error {
			_, err := Aggregate(t.Context(), AggregateInput{
				Ask: ask, Prompts: prompt.Default(), Mode: ModePatch, FanIn: 2, Skill: "# S", Failures: append(patches(), patches()...), Successes: patches(),
			})
			return err
		}, []string{"merge/failure/1/0", "merge/failure/1/1", "merge/success/1/0"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			d := &desk{want: len(tc.want), all: make(chan struct{})}
			if err := tc.run(d.ask); !errors.As(err, new(later)) {
				t.Errorf("error %v", err)
			}
			slices.Sort(d.asked)
			if diff := cmp.Diff(tc.want, d.asked); diff != "" {
				t.Errorf("asked (-want +got)\n%s", diff)
			}
		})
	}
}
