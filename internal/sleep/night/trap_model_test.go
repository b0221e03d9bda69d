package night_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/model"
)

// observed is a night that scores the live document on four tasks, twice each.
func (p *pupil) observed(h *home) *night.Target {
	h.t.Helper()
	r := p.explored(h, func(o *night.Options) { o.Explore = false })
	return &r.Targets[0]
}

// An empty reply is asked for again, and what comes then is what is scored.
func TestTrap26EmptyTwiceThenText(t *testing.T) {
	t.Parallel()
	for name, empty := range map[string]func() (model.Response, error){
		"nothing": func() (model.Response, error) { return model.Response{Finish: model.FinishStop}, nil },
		"white space": func() (model.Response, error) {
			return model.Response{Text: " \n\t\u00a0", Finish: model.FinishStop}, nil
		},
		"said by an API": func() (model.Response, error) {
			return model.Response{}, &model.Error{Code: model.Empty, Endpoint: "pupil", Err: errors.New("no text")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, small())
			p := &pupil{empty: empty, parts: func(_ string, _ bool, asked int) int {
				if asked%3 < 2 {
					return -1
				}
				return 10
			}}
			pupilTasks(h, "a", "b", "c", "d")
			got := p.observed(h)
			if got.Baseline == nil || got.Baseline.Hard != 1 || got.Baseline.Soft != 1 || got.Baseline.N != 4 || got.Outcome != night.NothingToLearn {
				t.Errorf("%s: %s, %+v", got.Outcome, got.Reason, got.Baseline)
			}
			for _, name := range []string{"a", "b", "c", "d"} {
				if n := p.calls(name, false); n != 6 {
					t.Errorf("%s was asked %d times for two answers, want 6", name, n)
				}
			}
		})
	}
}

// Of a failure and a success of the same question the success counts: within a run, and in the next night, which is asked
// anew what an ill model failed in.
func TestTrap28AFailureIsNotKept(t *testing.T) {
	t.Parallel()
	t.Run("in a run", func(t *testing.T) {
		t.Parallel()
		h := newHome(t, small())
		p := &pupil{parts: func(_ string, _ bool, asked int) int {
			if asked%2 == 0 {
				return -1
			}
			return 10
		}}
		p.empty = func() (model.Response, error) {
			return model.Response{Text: "So: part0.", Finish: model.FinishStop}, &model.Error{Code: model.Truncated, Endpoint: "pupil", Err: errors.New("cut")}
		}
		pupilTasks(h, "a", "b", "c", "d")
		if got := p.observed(h); got.Baseline == nil || got.Baseline.Hard != 1 || got.Baseline.N != 4 || p.calls("a", false) != 4 {
			t.Errorf("%s: %s, %+v, asked %d times", got.Outcome, got.Reason, got.Baseline, p.calls("a", false))
		}
	})
	t.Run("in the next night", func(t *testing.T) {
		t.Parallel()
		h := newHome(t, small())
		ill := true
		p := &pupil{parts: func(string, bool, int) int {
			if ill {
				return -1
			}
			return 10
		}}
		p.empty = func() (model.Response, error) {
			return model.Response{}, &model.Error{Code: model.Auth, Endpoint: "pupil", Err: errors.New("the login has expired")}
		}
		pupilTasks(h, "a", "b", "c", "d")
		first := p.observed(h)
		if first.Outcome != night.ModelUnhealthy || first.Baseline != nil || !strings.Contains(first.Reason, "expired") {
			t.Fatalf("%s: %s, %+v", first.Outcome, first.Reason, first.Baseline)
		}
		ill = false
		second := p.observed(h)
		if second.Baseline == nil || second.Baseline.Hard != 1 || second.Baseline.N != 4 {
			t.Errorf("%s: %s, %+v", second.Outcome, second.Reason, second.Baseline)
		}
	})
}

// What the target's provider refuses is counted next to each score of a night, on both sides of a look.
func TestANightCountsRefusals(t *testing.T) {
	t.Parallel()
	h := newHome(t, small())
	p := &pupil{rules: []string{pupilRule}, parts: func(name string, ruled bool, _ int) int {
		if name == "a" {
			return -1
		}
		return right(ruled)
	}}
	p.empty = func() (model.Response, error) {
		return model.Response{}, &model.Error{Code: model.ContentFilter, Endpoint: "pupil", Err: errors.New("no")}
	}
	pupilTasks(h, strings.Split("abcdefghijklmnopqrst", "")...)
	got := p.explored(h).Targets[0]
	const words = "1 refused (content_filter 1)"
	if got.Baseline == nil || got.Baseline.Words() == "" {
		t.Errorf("the live document: %+v", got.Baseline)
	}
	if got.Confirmed == nil || got.Confirmed.Unanswered.Old.Words() != words || got.Confirmed.Unanswered.New.Words() != words {
		t.Fatalf("%s: %s, %+v", got.Outcome, got.Reason, got.Confirmed)
	}
	if want := "not all answered (live: " + words + "; proposed: " + words + ")"; !strings.Contains(got.Reason, want) {
		t.Errorf("want %q in %q", want, got.Reason)
	}
}
