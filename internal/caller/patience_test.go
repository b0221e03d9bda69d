package caller

import (
	"testing"
	"time"
)

// An answer that comes after the others were told to wait for an hour must not
// let them wait for it: nothing else will fail meanwhile.
func TestPatienceEndsBelowALongHint(t *testing.T) {
	t.Parallel()
	e := newEndpoint(Role{Endpoint: "server", Model: "model"}, Options{Patience: time.Minute, Concurrency: 8})
	a, b := e.begin(), e.begin()
	now := time.Unix(1000, 0)
	e.noteFailure(now, a)
	e.noteFailure(now, b)
	e.noteAnswer(now.Add(time.Millisecond), time.Millisecond)
	for _, tries := range []*attempts{a, b} {
		if j := e.judgeAgain(now.Add(time.Minute), tries); j.verdict != tryAgain {
			t.Errorf("after a minute, with an answer since: %v", j.verdict)
		}
	}
	if j := e.judgeAgain(now.Add(2*time.Minute), a); j.verdict != stopRun { // of several
		t.Errorf("after two minutes, one without an answer: %v, want a stop", j.verdict)
	}
	e.noteAnswer(now.Add(3*time.Minute), time.Millisecond)
	for i := range 9 {
		if j := e.judgeAgain(now.Add(time.Duration(4+i)*time.Minute), a); j.verdict != tryAgain {
			t.Fatalf("the only one that waits does not obey the server: %v", j.verdict)
		}
	}
}

// The server answers a call, tells the next to wait for an hour and gives nothing to
// anyone until the patience ends: that is its failure and not that of the call.
func TestASingleFailureIsOfTheEndpoint(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int]verdict{1: stopRun, 2: giveUp} {
		e := newEndpoint(Role{Endpoint: "server", Model: "model"}, Options{Patience: time.Minute, Concurrency: 8})
		a, now := e.begin(), time.Unix(1000, 0)
		e.noteAnswer(now, time.Millisecond)
		for range failures {
			e.noteFailure(now, a)
		}
		if j := e.judgeAgain(now.Add(time.Minute), a); j.verdict != want {
			t.Errorf("%d failures: verdict %v, want %v", failures, j.verdict, want)
		}
	}
}
