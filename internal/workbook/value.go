package workbook

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// Kind is the type of a value.
type Kind string

// The kinds of values. None is a cell without one.
const (
	None     Kind = ""
	Number   Kind = "number"
	Bool     Kind = "bool"
	Text     Kind = "text"
	Clock    Kind = "time" // of a day
	DateTime Kind = "datetime"
	Date     Kind = "date"
	Span     Kind = "span"
)

// Value is what a cell holds.
type Value struct {
	Kind   Kind
	Number float64   // also of a Bool: 0 or 1
	Text   string    // of a Text
	At     time.Time // of a DateTime or Date, in UTC
	Micros int64     // of a Span, and of a Clock since midnight
}

// NewNumber returns a number.
func NewNumber(n float64) Value { return Value{Kind: Number, Number: n} }

// NewBool returns true or false.
func NewBool(yes bool) Value {
	if yes {
		return Value{Kind: Bool, Number: 1}
	}
	return Value{Kind: Bool}
}

// NewText returns a text.
func NewText(s string) Value { return Value{Kind: Text, Text: s} }

// String returns a value for messages, as Python writes it.
func (v Value) String() string {
	switch v.Kind {
	case None:
		return "None"
	case Text:
		return pytext.Quoted(v.Text)
	case Bool:
		return pytext.Notation(v.Number != 0)
	case Clock:
		return clock(v.Micros)
	case DateTime:
		return v.At.Format("2006-01-02 15:04:05.999999")
	case Date:
		return v.At.Format(time.DateOnly)
	case Span:
		return strconv.FormatFloat(float64(v.Micros)/1e6, 'f', -1, 64) + "s"
	}
	if v.Number == math.Trunc(v.Number) && math.Abs(v.Number) < 1e16 {
		return strconv.FormatFloat(v.Number, 'f', 0, 64)
	}
	return strconv.FormatFloat(v.Number, 'g', -1, 64)
}

// clock returns a time of a day as Python writes it: with six digits below the second, or none.
func clock(micros int64) string {
	text := time.Time{}.Add(time.Duration(micros) * time.Microsecond).Format(time.TimeOnly)
	if below := micros % 1e6; below != 0 {
		text += fmt.Sprintf(".%06d", below)
	}
	return text
}

// Form returns a value as the evaluation compares it: numbers, and texts that are numbers, with two
// decimals, a date with a time as whole days, a time of a day as a text without its last three signs.
func (v Value) Form() Value {
	const day = 86400
	switch v.Kind {
	case Number, Bool:
		return NewNumber(round(v.Number))
	case Text:
		if n, ok := parseNumber(v.Text); ok {
			return NewNumber(round(n))
		}
	case Clock:
		text := clock(v.Micros)
		return NewText(text[:len(text)-3])
	case DateTime:
		seconds := v.At.Unix() - windowsEpoch.Unix()
		return NewNumber(math.RoundToEven(float64(seconds) / day))
	}
	return v
}

// round keeps two decimals of the exact value, as Python does.
func round(n float64) float64 {
	out, _ := strconv.ParseFloat(strconv.FormatFloat(n, 'f', 2, 64), 64)
	return out
}

// Equal reports whether the evaluation takes two values for equal. An empty text is no value; else
// their types have to be the same.
func Equal(a, b Value) bool {
	a, b = a.Form(), b.Form()
	empty := func(v Value) bool { return v.Kind == None || v.Kind == Text && v.Text == "" }
	switch {
	case empty(a) || empty(b):
		return empty(a) && empty(b)
	case a.Kind != b.Kind:
		return false
	case a.Kind == Number:
		return a.Number == b.Number
	}
	return a.Text == b.Text && a.At.Equal(b.At) && a.Micros == b.Micros
}

var numberForm = pattern.New(`^[+-]?(?:(?:\d+(?:_\d+)*)?\.?(?:\d+(?:_\d+)*)?(?:[eE][+-]?\d+(?:_\d+)*)?|(?i:inf|infinity|nan))$`)

// parseNumber reads a text as Python's float does: blanks around it, digits of any script, _ between digits.
func parseNumber(text string) (float64, bool) {
	text = strings.Map(func(r rune) rune {
		if r < 0x80 || !unicode.IsDigit(r) {
			return r
		}
		zero := r // digits of a script follow each other, from one of value 0
		for unicode.IsDigit(zero-1) && r-zero < 9 {
			zero--
		}
		return '0' + r - zero
	}, strings.TrimFunc(text, pytext.IsSpace))
	if !numberForm.MatchString(text) {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	return n, err == nil || math.IsInf(n, 0)
}
