package gateway

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// An alarm rings once, never early, and at the next look; one that was removed or
// moved does not.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var rang []string
		w := newWatch(time.Second)
		alarms := map[string]*alarm{}
		for name, after := range map[string]time.Duration{"soon": time.Nanosecond, "late": 2500 * time.Millisecond, "gone": 2 * time.Second, "moved": 2 * time.Second, "unset": 0} {
			a := &alarm{ring: func() { rang = append(rang, name+" "+time.Since(begun).String()) }}
			if after > 0 {
				a.due = begun.Add(after)
			}
			alarms[name] = a
			w.add(a)
		}
		time.Sleep(1500 * time.Millisecond)
		w.remove(alarms["gone"])
		w.mu.Lock()
		alarms["moved"].due = begun.Add(time.Hour)
		w.mu.Unlock()
		time.Sleep(10 * time.Second)
		for _, a := range alarms {
			w.remove(a)
		}
		synctest.Wait() // no look is left behind, or the bubble would not end
		if diff := cmp.Diff([]string{"soon 1s", "late 3s"}, rang); diff != "" {
			t.Error(diff)
		}
	})
}

// What net/http does with the deadlines of a connection.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var set []string
		d := &deadline{}
		d.init(func(at time.Time) error {
			what := "clear"
			if !at.IsZero() {
				what = "pass"
			}
			set = append(set, what+" "+time.Since(begun).String())
			return nil
		})
		w := newWatch(time.Second)
		w.add(&d.alarm)
		until := func(after time.Duration) {
			w.mu.Lock()
			defer w.mu.Unlock()
			at := time.Time{}
			if after != 0 {
				at = time.Now().Add(after)
			}
			if err := d.until(at); err != nil {
				t.Error(err)
			}
		}
		until(1500 * time.Millisecond)
		until(0)
		time.Sleep(3 * time.Second)
		until(500 * time.Millisecond)
		time.Sleep(2 * time.Second)
		until(time.Minute) // one that has passed is taken back by the next
		until(-time.Hour)
		until(0)
		time.Sleep(time.Hour)
		w.remove(&d.alarm)
		if diff := cmp.Diff([]string{"pass 4s", "clear 5s", "pass 5s", "clear 5s"}, set); diff != "" {
			t.Error(diff)
		}
	})
}

// A call ends when its timeout has passed, or a sixteenth of it later, although it
// shares its deadline with others.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(Options{}.withDefaults())
		client := modeltest.Func(func(ctx context.Context, _ model.Request) (model.Response, error) {
			<-ctx.Done()
			return model.Response{}, ctx.Err()
		})
		h := g.newHandle(Session{Client: client, Timeout: 16 * time.Minute}, "key")
		defer h.cancel()
		for _, after := range []time.Duration{0, 30 * time.Second, time.Minute, 61 * time.Second} {
			go func() {
				time.Sleep(after)
				begun := time.Now()
				if _, err := h.ask(t.Context(), Chat, question{}); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after %v: %v, want a deadline", after, err)
				}
				if took := time.Since(begun); took < 16*time.Minute || took > 17*time.Minute {
					t.Errorf("after %v: it took %v", after, took)
				}
			}()
		}
		time.Sleep(time.Hour)
	})
}
