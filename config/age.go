package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Age is a length of time that may be many days, written as 90d, or as a Duration.
type Age time.Duration

const day = 24 * time.Hour

// ageWant is what messages say is allowed.
const ageWant = "a length of time such as 90d or 72h"

// MarshalText writes whole days as days, so that it reads back the same.
func (a Age) MarshalText() ([]byte, error) {
	if d := time.Duration(a); d != 0 && d%day == 0 {
		return append(strconv.AppendInt(nil, int64(d/day), 10), 'd'), nil
	}
	return []byte(time.Duration(a).String()), nil
}

// UnmarshalText reads days or a Go duration.
func (a *Age) UnmarshalText(text []byte) error {
	if days, ok := strings.CutSuffix(string(text), "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || math.IsNaN(n) || math.Abs(n) > 36500 {
			return fmt.Errorf("want %s, got %q", ageWant, text)
		}
		*a = Age(n * float64(day))
		return nil
	}
	d, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("want %s, got %q", ageWant, text)
	}
	*a = Age(d)
	return nil
}

// Std returns a as the standard library's type.
func (a Age) Std() time.Duration { return time.Duration(a) }

func (a Age) String() string {
	text, _ := a.MarshalText() // never fails
	return string(text)
}
