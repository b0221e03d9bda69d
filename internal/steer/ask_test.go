package steer

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

// atWork opens a run, as a process does that works on it.
func atWork(t *testing.T) *run.Run {
	t.Helper()
	r, err := run.Open(t.Context(), run.OpenOptions{
		Dir: filepath.Join(t.TempDir(), "run"), Name: "run", Version: "v", Identity: map[string]string{}, Now: time.Now,
		Compare: func(_, _ map[string]string) []string { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func asking(what string, l Limits) Asking {
	return Asking{What: what, Limits: l, From: "test", Now: time.Now, Wait: 300 * time.Millisecond}
}

// ended leaves a run with a status.
func ended(t *testing.T, status result.Status) string {
	t.Helper()
	r := atWork(t)
	if err := errors.Join(r.SetStatus(status), r.Close()); err != nil {
		t.Fatal(err)
	}
	return r.Dir
}

func noRequests(t *testing.T, dir string) {
	t.Helper()
	if n := countRequests(dir); n > 0 {
		t.Errorf("%d requests are left", n)
	}
}

func TestARunThatNobodyWorksOn(t *testing.T) {
	t.Parallel()
	usd := Limits{USD: number(3)}
	for _, tt := range []struct {
		status result.Status
		ask    Asking
		want   result.SteerState
		text   string
	}{
		{result.Completed, asking(Stop, nil), result.SteerIdle, "the run has ended: there is nothing to stop"},
		{result.Running, asking(StopNow, nil), result.SteerIdle, "it was killed"},
		{result.OverBudget, asking(Stop, nil), result.SteerIdle, "no process works on the run (budget)"},
		{result.Running, asking(Limit, usd), result.SteerKept, "no process works on the run (killed): its next session begins with limits.usd 3"},
		{result.Stopped, asking(Limit, Limits{Time: nil}), result.SteerKept, "limits.time none"},
	} {
		dir := ended(t, tt.status)
		got, err := Ask(t.Context(), dir, tt.ask)
		if err != nil || got.State != tt.want || !strings.Contains(got.Text, tt.text) {
			t.Errorf("%s of a run that is %s: %v, %+v", tt.ask.What, tt.status, err, got)
		}
		if n := countRequests(dir); (n == 1) != (tt.want == result.SteerKept) {
			t.Errorf("%s of a run that is %s: %d requests are there", tt.ask.What, tt.status, n)
		}
	}
	dir := ended(t, result.Completed)
	if _, err := Ask(t.Context(), dir, asking(Limit, usd)); fault.Of(err) != fault.BadInput || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a ceiling of a completed run: %v", err)
	}
	noRequests(t, dir)
	var missing *run.MissingError
	if _, err := Ask(t.Context(), t.TempDir(), asking(Stop, nil)); !errors.As(err, &missing) || fault.Of(err) != fault.BadInput {
		t.Errorf("a folder without a run: %v", err)
	}
	if _, err := Ask(t.Context(), dir, asking("restart", nil)); fault.Of(err) != fault.BadInput {
		t.Errorf("something unknown: %v", err)
	}
}

// Who works on a run and does not answer is told from who cannot, and nothing is left that
// a later session would find.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	r := atWork(t)
	defer r.Close() //nolint:errcheck // a test's
	got, err := Ask(t.Context(), r.Dir, asking(Stop, nil))
	if err != nil || got.State != result.SteerUnanswered || got.Request == "" || !strings.Contains(got.Text, "the request was taken back") {
		t.Errorf("%v, %+v", err, got)
	}
	noRequests(t, r.Dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got, err := Ask(ctx, r.Dir, asking(Stop, nil)); err != nil || got.State != result.SteerUnanswered {
		t.Errorf("nobody waits: %v, %+v", err, got)
	}
	noRequests(t, r.Dir)
}

// What the run answers is told, and a request that it could not remove is.
func TestAnswers(t *testing.T) {
	t.Parallel()
	for _, refused := range []string{"", "not today"} {
		r := atWork(t)
		done := make(chan error)
		go func() {
			desk := NewDesk(r.Dir, time.Now)
			for {
				look, err := desk.Look()
				if err != nil || len(look.Found) > 0 {
					s := r.Steering()
					for _, f := range look.Found {
						s.Answers = append(s.Answers, run.Answer{Request: f.ID, Refused: refused, Note: "a note"})
					}
					done <- errors.Join(err, r.Steer(s))
					return
				}
			}
		}()
		ask := asking(Limit, Limits{Calls: number(9)})
		ask.Wait = time.Minute
		got, err := Ask(t.Context(), r.Dir, ask)
		if err := errors.Join(err, <-done, r.Close()); err != nil {
			t.Fatal(err)
		}
		if refused == "" && (got.State != result.SteerDone || !strings.Contains(got.Text, "limits.calls is 9 now") || !strings.Contains(got.Text, "a note")) {
			t.Errorf("%+v", got)
		}
		if refused != "" && (got.State != result.SteerRefused || !strings.Contains(got.Text, "refused it: not today")) {
			t.Errorf("%+v", got)
		}
		noRequests(t, r.Dir)
	}
}

// A request that a run finds when it begins to listen is put again: the run was at work already.
func TestAskedBeforeTheRunListens(t *testing.T) {
	t.Parallel()
	r := atWork(t)
	done := make(chan error)
	go func() {
		desk, seen := NewDesk(r.Dir, time.Now), map[string]bool{}
		for len(seen) < 2 {
			look, err := desk.Look()
			s := r.Steering()
			for _, f := range look.Found {
				if seen[f.ID] {
					continue
				}
				a := run.Answer{Request: f.ID}
				if len(seen) == 0 {
					a.Refused = AskedBefore
				}
				seen[f.ID], s.Answers = true, append(s.Answers, a)
				err = errors.Join(err, r.Steer(s))
			}
			if err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	ask := asking(Stop, nil)
	ask.Wait = time.Minute
	got, err := Ask(t.Context(), r.Dir, ask)
	if err := errors.Join(err, <-done, r.Close()); err != nil {
		t.Fatal(err)
	}
	if got.State != result.SteerDone {
		t.Errorf("%+v", got)
	}
}
