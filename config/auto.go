package config

import (
	"fmt"
	"strconv"
)

// Auto is a number that a run may find by itself: AutoCount, written auto.
type Auto int

// AutoCount represents the number that a run finds by itself.
const AutoCount Auto = -1

// AutoBudget is edits.budget where the run finds it by itself.
const AutoBudget = 16

// autoWant is what messages say is allowed.
const autoWant = "auto or a whole number"

// MarshalJSON writes a number as it is.
func (a Auto) MarshalJSON() ([]byte, error) {
	if a == AutoCount {
		return []byte(`"auto"`), nil
	}
	return strconv.AppendInt(nil, int64(a), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (a *Auto) UnmarshalJSON(data []byte) error {
	text := string(data)
	if unquoted, err := strconv.Unquote(text); err == nil {
		text = unquoted
	}
	return a.UnmarshalText([]byte(text))
}

// UnmarshalText reads auto, a number, or off for 0.
func (a *Auto) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*a = AutoCount
		return nil
	}
	if string(text) == "off" {
		*a = 0
		return nil
	}
	n, err := strconv.Atoi(string(text))
	if err != nil || n < 0 {
		return fmt.Errorf("want %s, got %q", autoWant, text)
	}
	*a = Auto(n)
	return nil
}

func (a Auto) String() string {
	if a == AutoCount {
		return "auto"
	}
	return strconv.Itoa(int(a))
}

// Or returns the number, and n for auto.
func (a Auto) Or(n int) int {
	if a == AutoCount {
		return n
	}
	return int(a)
}
