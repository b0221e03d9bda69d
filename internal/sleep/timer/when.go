package timer

import (
	"fmt"
	"strconv"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// At is a time of the day.
type At struct{ Hour, Minute int }

var clock = pattern.New(`^([0-9]{1,2}):([0-9]{2})$`)

// ParseAt reads "03:17".
func ParseAt(text string) (At, error) {
	m := clock.FindStringSubmatch(text)
	if m == nil {
		return At{}, notTime(text)
	}
	hour, err1 := strconv.Atoi(m[1])
	minute, err2 := strconv.Atoi(m[2])
	at := At{hour, minute}
	if err1 != nil || err2 != nil || at.check() != nil {
		return At{}, notTime(text)
	}
	return at, nil
}

func notTime(text string) error {
	return &InputError{What: fmt.Sprintf("%q", text), Why: "it is no time of the day; allowed: 00:00 to 23:59"}
}

func (t At) check() error {
	if t.Hour < 0 || t.Hour > 23 || t.Minute < 0 || t.Minute > 59 {
		return notTime(t.String())
	}
	return nil
}

func (t At) String() string { return fmt.Sprintf("%02d:%02d", t.Hour, t.Minute) }

// MarshalText implements encoding.TextMarshaler.
func (t At) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (t *At) UnmarshalText(text []byte) (err error) {
	*t, err = ParseAt(string(text))
	return err
}

const dayFormat = "2006-01-02"

// on returns the time on a day. Where clocks are put forward over the time, it returns when that is done.
func (t At) on(day time.Time) time.Time {
	y, m, d := day.Date()
	return time.Date(y, m, d, t.Hour, t.Minute, 0, 0, day.Location())
}

// Due returns the newest day whose time has passed and that is not done: "2026-11-26". since is
// when the entry was written: what was due before does not count. done is the newest day that was
// carried out, "" if none was. "": nothing is due. Days are distinguished by the date alone, so that one
// is never carried out twice when clocks are put back; a day that is done and lies more than a
// day ahead was noted by a clock that was wrong, and does not count.
func (t At) Due(now, since time.Time, done string) string {
	due := t.on(now)
	if due.After(now) {
		due = t.on(now.AddDate(0, 0, -1))
	}
	if !due.After(since) {
		return ""
	}
	day := due.Format(dayFormat)
	if done >= day && done <= now.AddDate(0, 0, 1).Format(dayFormat) {
		return ""
	}
	return day
}

// Next returns when the time comes next.
func (t At) Next(now time.Time) time.Time {
	next := t.on(now)
	if !next.After(now) {
		next = t.on(now.AddDate(0, 0, 1))
	}
	return next
}
