package steer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Names of ceilings, which are those of the keys below limits.
const (
	USD    = "usd"
	Tokens = "tokens"
	Calls  = "calls"
	Time   = "time"
)

// Names lists them.
func Names() []string { return []string{USD, Tokens, Calls, Time} }

// Limits are ceilings by name: dollars, tokens, calls, and seconds of time. Nil represents
// none, and a name that is missing for one that stays as it is. As JSON the time is a text
// such as "2h0m0s".
type Limits map[string]*float64

// Bounds of what a ceiling can be. A number above maxCount is not exact in every program
// that reads it.
const (
	maxCount = 1 << 53
	maxUSD   = 1e9
	leastFor = time.Millisecond
	longest  = 10 * 366 * 24 * time.Hour
)

// ParseLimits reads ceilings as they are written on a command line: usd=30, tokens=2M,
// calls=500, time=2h, and none for no ceiling. The error says which is wrong and what is
// allowed.
func ParseLimits(args []string) (Limits, error) {
	out := Limits{}
	for _, arg := range args {
		name, text, ok := strings.Cut(arg, "=")
		name = strings.TrimPrefix(strings.TrimSpace(name), "limits.")
		switch {
		case !slices.Contains(Names(), name):
			return nil, unknown(name)
		case !ok:
			return nil, fmt.Errorf("%s: no value; write %s", name, example(name))
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%s is given twice: give it once", name)
		}
		v, err := parse(name, strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, out.check()
}

func unknown(name string) error {
	hint := ""
	if meant, ok := wording.Suggest(name, Names()); ok {
		hint = fmt.Sprintf(", did you mean %s", meant)
	}
	return fmt.Errorf("%q is no ceiling that can be changed while a run is at work%s; allowed: %s", name, hint, strings.Join(Names(), ", "))
}

func example(name string) string {
	return map[string]string{USD: "usd=30 or usd=none", Tokens: "tokens=2M or tokens=none", Calls: "calls=500 or calls=none", Time: "time=2h or time=none"}[name]
}

func wrong(name, found string) error {
	allowed := map[string]string{
		USD: "dollars, 0 or more, such as 30 or 2.50", Tokens: "a whole number, 0 or more, such as 500000, 500k or 2M",
		Calls: "a whole number, 0 or more, such as 500 or 2k", Time: "a length of time such as 90s, 45m or 2h, from 1ms",
	}[name]
	return fmt.Errorf("%s: found %s, allowed: %s; or none", name, found, allowed)
}

// parse reads one ceiling.
func parse(name, text string) (*float64, error) {
	if text == "none" || text == "null" {
		return nil, nil
	}
	if name == Time {
		d, err := time.ParseDuration(text)
		if err != nil {
			return nil, wrong(name, strconv.Quote(text))
		}
		v := d.Seconds()
		return &v, nil
	}
	number, times := text, 1.0
	if n := len(text); n > 1 && name != USD {
		if f := map[byte]float64{'k': 1e3, 'K': 1e3, 'm': 1e6, 'M': 1e6, 'G': 1e9}[text[n-1]]; f > 0 {
			number, times = text[:n-1], f
		}
	}
	if name == USD {
		number = strings.TrimPrefix(number, "$")
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil || strings.ContainsAny(number, "xXpPiInN") {
		return nil, wrong(name, strconv.Quote(text))
	}
	v *= times
	return &v, nil
}

// check reports what no ceiling can be.
func (l Limits) check() error {
	if len(l) == 0 {
		return fmt.Errorf("no ceiling is given; write %s", example(USD))
	}
	for _, name := range Names() {
		v := l[name]
		if v == nil {
			continue
		}
		most, whole := float64(maxCount), true
		switch name {
		case USD:
			most, whole = maxUSD, false
		case Time:
			most, whole = longest.Seconds(), false
		}
		switch {
		case math.IsNaN(*v) || *v < 0 || whole && *v != math.Trunc(*v) || name == Time && *v < leastFor.Seconds():
			return wrong(name, show(name, *v))
		case *v > most:
			return fmt.Errorf("%s: found %s, allowed: up to %s; or none", name, show(name, *v), show(name, most))
		}
	}
	return nil
}

func show(name string, v float64) string {
	if name == Time {
		return time.Duration(min(v, longest.Seconds()*20) * float64(time.Second)).String()
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Duration returns a ceiling of time, given in seconds.
func Duration(seconds float64) time.Duration {
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// Value returns a ceiling as JSON and as configurations have it: a number, a text for a time, or
// null.
func Value(name string, v *float64) json.RawMessage {
	switch {
	case v == nil:
		return json.RawMessage("null")
	case name == Time:
		return json.RawMessage(strconv.Quote(Duration(*v).String()))
	}
	return json.RawMessage(strconv.FormatFloat(*v, 'f', -1, 64))
}

// Values returns all ceilings as JSON.
func (l Limits) Values() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for name, v := range l {
		out[name] = Value(name, v)
	}
	return out
}

// MarshalJSON implements json.Marshaler.
func (l Limits) MarshalJSON() ([]byte, error) { return json.Marshal(l.Values()) }

// UnmarshalJSON implements json.Unmarshaler. It takes what MarshalJSON writes and nothing
// else: an unknown name, a number for a time, or a value that no ceiling can have is an
// error that says what is allowed.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		return fmt.Errorf("limits: want an object such as {\"usd\": 30}")
	}
	out := Limits{}
	for name, text := range raw {
		if !slices.Contains(Names(), name) {
			return unknown(name)
		}
		v, err := Read(name, text)
		if err != nil {
			return err
		}
		out[name] = v
	}
	*l = out
	return out.check()
}

// Read reads a ceiling as Value writes it.
func Read(name string, text json.RawMessage) (*float64, error) {
	if bytes.Equal(bytes.TrimSpace(text), []byte("null")) {
		return nil, nil
	}
	if name == Time {
		var s string
		if json.Unmarshal(text, &s) != nil {
			return nil, wrong(name, string(text))
		}
		return parse(name, s)
	}
	var v float64
	if json.Unmarshal(text, &v) != nil {
		return nil, wrong(name, string(text))
	}
	return &v, nil
}

// Set sets a ceiling; nil is none.
func Set(l *config.Limits, name string, v *float64) {
	var count *int64
	if v != nil {
		n := int64(*v)
		count = &n
	}
	switch name {
	case USD:
		l.USD = v
	case Tokens:
		l.Tokens = count
	case Calls:
		l.Calls = count
	case Time:
		l.Time = nil
		if v != nil {
			d := config.Duration(Duration(*v))
			l.Time = &d
		}
	}
}
