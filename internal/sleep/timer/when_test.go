package timer

import (
	"testing"
	"time"
	_ "time/tzdata" // days with 23 and 25 hours, wherever this runs
)

// TestTrap91EachDayOnce: a laptop that slept makes up for the day once, and no hour of looking makes it twice.
func TestTrap91EachDayOnce(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04", text, berlin)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	long := at("2026-01-01 00:00")
	for _, tc := range []struct {
		name, at, now string
		since         time.Time
		done, want    string
	}{
		{"in time", "03:17", "2026-11-26 03:17", long, "2026-11-25", "2026-11-26"},
		{"with jitter", "03:17", "2026-11-26 03:26", long, "2026-11-25", "2026-11-26"},
		{"asleep at 03:17", "03:17", "2026-11-26 09:17", long, "2026-11-25", "2026-11-26"},
		{"an hour later again", "03:17", "2026-11-26 10:17", long, "2026-11-26", ""},
		{"not yet, yesterday is done", "03:17", "2026-11-26 03:16", long, "2026-11-25", ""},
		{"a week asleep: once", "03:17", "2026-11-26 02:00", long, "2026-11-18", "2026-11-25"},
		{"written today after the time", "03:17", "2026-11-26 15:17", at("2026-11-26 15:00"), "", ""},
		{"written yesterday", "03:17", "2026-11-26 03:17", at("2026-11-25 15:00"), "", "2026-11-26"},
		{"a time that this day has not", "02:30", "2026-03-29 03:30", long, "2026-03-28", "2026-03-29"},
		{"a time that this day has twice", "02:30", "2026-10-25 04:00", long, "2026-10-25", ""},
		{"flown west: it is the day before", "03:17", "2026-11-26 03:20", long, "2026-11-27", ""},
		{"noted by a clock that was wrong", "03:17", "2026-11-26 03:20", long, "2030-01-01", "2026-11-26"},
		{"just before midnight", "23:59", "2026-11-26 00:30", long, "2026-11-24", "2026-11-25"},
	} {
		when, err := ParseAt(tc.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := when.Due(at(tc.now), tc.since, tc.done); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	// Looked at every minute of two years, each day comes once.
	when, done, n := At{2, 30}, "", 0
	for now := long.Add(time.Hour * 24); now.Before(long.Add(730 * 24 * time.Hour)); now = now.Add(7 * time.Minute) {
		if day := when.Due(now, long, done); day != "" {
			if day <= done {
				t.Fatalf("%s after %s", day, done)
			}
			done = day
			n++
		}
	}
	if n != 730 {
		t.Errorf("%d nights in 730 days", n)
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 3, 17, 0, 0, time.UTC)
	for at, want := range map[At]string{{3, 17}: "2026-11-27 03:17", {3, 18}: "2026-11-26 03:18", {0, 0}: "2026-11-27 00:00"} {
		if got := at.Next(now).Format("2006-01-02 15:04"); got != want {
			t.Errorf("%s: %s, want %s", at, got, want)
		}
	}
}
