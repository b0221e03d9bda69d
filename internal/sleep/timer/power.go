package timer

import (
	"context"
	"strings"
)

// Power is what a machine runs on.
type Power string

// What it may be. Where it cannot be found out, it is unknown, not mains.
const (
	Mains   Power = "mains"
	Battery Power = "battery"
	Unknown Power = "unknown"
)

// pmset reads what `pmset -g batt` prints.
func pmset(text string) Power {
	switch {
	case strings.Contains(text, "'AC Power'"):
		return Mains
	case strings.Contains(text, "'Battery Power'"):
		return Battery
	}
	return Unknown
}

// Power reports what the machine runs on now.
func (h Host) Power(ctx context.Context) Power { return h.power(ctx) }
