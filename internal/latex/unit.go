package latex

import (
	"math/big"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// units are the units that are known, by how they are written, with their one spelling. A
// word that is none of them is no unit: it may change the value ("dozen", "pairs").
var units = unitTable(map[string]string{
	"mm": "mm millimeter millimeters millimetre millimetres", "cm": "cm centimeter centimeters centimetre centimetres",
	"dm": "dm", "m": "m meter meters metre metres", "km": "km kilometer kilometers kilometre kilometres",
	"in": "in inch inches", "ft": "ft foot feet", "yd": "yd yard yards", "mi": "mi mile miles",
	"mg": "mg", "g": "g gram grams", "kg": "kg kilogram kilograms", "t": "t ton tons tonne tonnes", "lb": "lb lbs pound pounds",
	"s": "s sec second seconds", "ms": "ms", "min": "min minute minutes", "h": "h hr hour hours", "d": "day days", "week": "week weeks", "year": "year years yr yrs",
	"L": "L l liter liters litre litres", "mL": "mL ml", "N": "N newton newtons", "J": "J joule joules", "kJ": "kJ", "W": "W watt watts", "kW": "kW", "Pa": "Pa", "kPa": "kPa",
	"Hz": "Hz hertz", "V": "V volt volts", "A": "A", "ohm": "ohm ohms Ω", "K": "K", "mol": "mol", "rad": "rad radian radians", "degree": "degree degrees deg",
	"USD": "dollar dollars USD", "EUR": "euro euros EUR €", "GBP": "GBP £", "cent": "cent cents", "": "unit units",
})

func unitTable(spellings map[string]string) map[string]string {
	table := map[string]string{}
	for unit, words := range spellings {
		for word := range strings.FieldsSeq(words) {
			table[word] = unit
		}
	}
	return table
}

// scales are words that multiply the number before them.
var scales = map[string]int64{
	"dozen": 12, "hundred": 100, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12,
	"hundreds": 100, "thousands": 1e3, "millions": 1e6, "billions": 1e9, "trillions": 1e12,
}

// plainWords finds commands that only say how a unit looks.
var plainWords = pattern.New(`\\(?:text|mathrm|textrm|mathit|mbox|operatorname|rm)\s*\{([^{}]*)\}`)

// cutScales takes scale words off what follows a number.
func cutScales(tail string) (rest string, factor *big.Rat) {
	factor = big.NewRat(1, 1)
	for range 4 {
		tail = strings.TrimSpace(tail)
		word, after, _ := strings.Cut(tail, " ")
		n, ok := scales[strings.ToLower(word)]
		if !ok {
			break
		}
		factor.Mul(factor, new(big.Rat).SetInt64(n))
		tail = after
	}
	return tail, factor
}

// atom finds one unit within a compound one, with its power.
var atom = pattern.New(`^([A-Za-zΩ€£]+)(?:\^?\{?(-?[0-9])\}?)?`)

// parseUnit reads what follows a number as a unit: cm, \mathrm{cm}^2, km/h, square metres. "" is none.
func parseUnit(tail string) (unit string, ok bool) {
	tail = strings.TrimSpace(tail)
	power := ""
	for prefix, p := range map[string]string{"square ": "2", "sq ": "2", "sq. ": "2", "cubic ": "3", "cu ": "3"} {
		if rest, found := strings.CutPrefix(tail, prefix); found {
			tail, power = rest, p
			break
		}
	}
	var b strings.Builder
	for tail != "" {
		m := atom.FindStringSubmatch(tail)
		if m == nil {
			return "", false
		}
		name, known := units[m[1]]
		if !known {
			if name, known = units[strings.ToLower(m[1])]; !known || len(m[1]) < 3 {
				return "", false
			}
		}
		if m[2] == "" {
			m[2], power = power, ""
		}
		if name != "" {
			b.WriteString(name + m[2])
		}
		tail = strings.TrimSpace(tail[len(m[0]):])
		for _, by := range []string{"/", "per ", "*"} {
			if rest, found := strings.CutPrefix(tail, by); found {
				tail = strings.TrimSpace(rest)
				b.WriteString(map[bool]string{true: "*", false: "/"}[by == "*"])
				if tail == "" {
					return "", false
				}
				break
			}
		}
	}
	return b.String(), true
}
