package config

import (
	"fmt"
	"time"
)

// Duration is a length of time, written as in Go: 500ms, 30s, 2m, 1h30m.
type Duration time.Duration

// MarshalText writes the shortest form that reads back the same.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads a Go duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("want a duration such as 30s or 2m, got %q", text)
	}
	*d = Duration(v)
	return nil
}

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }
