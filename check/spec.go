package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// spec reads the keys of one check. It remembers which were asked for, so that
// the others can be reported, and collects every fault.
type spec struct {
	path string // "checks[0].any[1]"
	m    map[string]any
	kind string // type of the check without not-

	asked []string
	errs  []error
}

func (s *spec) fail(key, format string, args ...any) {
	s.errs = append(s.errs, fmt.Errorf("%s: %s", join(s.path, key), fmt.Sprintf(format, args...)))
}

func join(path, key string) string {
	if key == "" {
		return path
	}
	return path + "." + key
}

// get returns the value of a key, nil when it is absent.
func (s *spec) get(key string) (any, bool) {
	s.asked = append(s.asked, key)
	v, ok := s.m[key]
	return v, ok && v != nil
}

// finish reports the keys that no one asked for, and all faults.
func (s *spec) finish() error {
	for _, key := range slices.Sorted(maps.Keys(s.m)) {
		if slices.Contains(s.asked, key) {
			continue
		}
		slices.Sort(s.asked)
		s.errs = append(s.errs, fmt.Errorf("%s: unknown key %q%s; %s takes %s",
			s.path, key, suggestion(key, s.asked), s.kind, strings.Join(slices.Compact(s.asked), ", ")))
	}
	return errors.Join(s.errs...)
}

func (s *spec) text(key, fallback string) string {
	v, ok := s.get(key)
	if !ok {
		return fallback
	}
	t, ok := v.(string)
	if !ok {
		s.fail(key, "text expected, found %s", describe(v))
	}
	return t
}

// choice reads a word out of a list; the first is the default.
func (s *spec) choice(key string, allowed ...string) string {
	word := s.text(key, allowed[0])
	if !slices.Contains(allowed, word) {
		s.fail(key, "%q is not allowed%s; one of %s is", word, suggestion(word, allowed), strings.Join(allowed, ", "))
	}
	return word
}

func (s *spec) flag(key string, fallback bool) bool {
	v, ok := s.get(key)
	if !ok {
		return fallback
	}
	b, ok := v.(bool)
	if !ok {
		s.fail(key, "true or false expected, found %s", describe(v))
	}
	return b
}

// number reads a number within lo..hi.
func (s *spec) number(key string, fallback, lo, hi float64) float64 {
	v, ok := s.get(key)
	if !ok {
		return fallback
	}
	f, ok := yamlx.Number(v)
	if !ok {
		s.fail(key, "a number expected, found %s", describe(v))
		return fallback
	}
	if !(f >= lo && f <= hi) {
		s.fail(key, "%v is out of range; %s is allowed", f, span(lo, hi))
	}
	return f
}

func span(lo, hi float64) string {
	if hi == math.MaxFloat64 {
		return fmt.Sprintf("%v or more", lo)
	}
	return fmt.Sprintf("%v to %v", lo, hi)
}

// count reads a whole number, -1 when it is absent. Tables and other programs write it as text too.
func (s *spec) count(key string) int {
	if text, ok := s.m[key].(string); ok {
		if n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31); err == nil {
			s.asked = append(s.asked, key)
			return int(n)
		}
	}
	f := s.number(key, -1, 0, 1<<31)
	if f != math.Trunc(f) {
		s.fail(key, "a whole number expected, found %v", f)
	}
	return int(f)
}

// operands reads what to compare with: value, or values, or the default. It
// returns nil for the task's gold.
func (s *spec) operands(fallbackGold bool) []string {
	one, hasOne := s.get("value")
	many, hasMany := s.get("values")
	switch {
	case hasOne && hasMany:
		s.fail("values", "value and values are given; keep one")
	case hasOne && one == goldRef:
		return nil
	case hasOne:
		return s.operandList("value", []any{one})
	case hasMany:
		list, ok := many.([]any)
		if !ok {
			s.fail("values", "a list expected, found %s", describe(many))
		} else if len(list) == 0 {
			s.fail("values", "the list is empty")
		}
		return s.operandList("values", list)
	case !fallbackGold:
		s.fail("value", "is missing; %s needs value or values", s.kind)
	}
	return nil
}

func (s *spec) operandList(key string, list []any) []string {
	texts := make([]string, 0, len(list))
	for i, v := range list {
		t, ok := scalar(v)
		if !ok {
			s.fail(key, "entry %d: text, a number, true or false expected, found %s", i+1, describe(v))
			continue
		}
		texts = append(texts, t)
	}
	return texts
}

// goldRef represents the accepted answers of the task.
const goldRef = "$gold"

func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case json.Number:
		return v.String(), true
	}
	if f, ok := yamlx.Number(v); ok {
		return strconv.FormatFloat(f, 'f', -1, 64), true
	}
	return "", false
}

func describe(v any) string {
	switch v := v.(type) {
	case nil:
		return "nothing"
	case string:
		return fmt.Sprintf("the text %q", excerpt(v, 40))
	case bool:
		return fmt.Sprintf("%v", v)
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("the number %v", v)
}

// suggestion names the allowed word that was probably meant.
func suggestion(word string, allowed []string) string {
	near, ok := wording.Suggest(word, allowed)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", near)
}
