package session

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
)

// A ceiling of time counts from the beginning, whenever it is changed.
func TestAlarm(t *testing.T) {
	t.Parallel()
	limit := func(d time.Duration) *config.Duration { c := config.Duration(d); return &c }
	type change struct {
		at time.Duration
		to *config.Duration
	}
	for name, tt := range map[string]struct {
		changes []change
		rings   time.Duration // 0: not within an hour
	}{
		"none":                   {nil, 0},
		"as it is":               {[]change{{0, limit(10 * time.Second)}, {time.Second, limit(10 * time.Second)}}, 10 * time.Second},
		"raised":                 {[]change{{0, limit(10 * time.Second)}, {9 * time.Second, limit(20 * time.Second)}}, 20 * time.Second},
		"lowered":                {[]change{{0, limit(10 * time.Minute)}, {9 * time.Second, limit(20 * time.Second)}}, 20 * time.Second},
		"lower than what passed": {[]change{{0, limit(10 * time.Minute)}, {9 * time.Second, limit(time.Second)}}, 9 * time.Second},
		"taken away":             {[]change{{0, limit(10 * time.Second)}, {9 * time.Second, nil}}, 0},
		"set late":               {[]change{{30 * time.Second, limit(45 * time.Second)}}, 45 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			a := alarm{began: began}
			defer a.stop()
			end := time.NewTimer(time.Hour)
			for _, c := range append(tt.changes, change{at: -1}) {
				var next <-chan time.Time
				if c.at >= 0 {
					next = time.After(c.at - time.Since(began))
				}
				select {
				case <-next:
					a.set(c.to)
					continue
				case <-a.rings:
				case <-end.C:
					if tt.rings != 0 {
						t.Errorf("%s: it has not rung", name)
					}
					return
				}
				if got := time.Since(began); got != tt.rings {
					t.Errorf("%s: it rang after %s, want %s", name, got, tt.rings)
				}
				return
			}
		})
	}
}
