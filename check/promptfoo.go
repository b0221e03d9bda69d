package check

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"github.com/dlclark/regexp2"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// promptfooTypes returns the types of checks that can judge as the assertions of promptfoo do.
func promptfooTypes() []string {
	return []string{
		"equals", "contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any",
		"starts-with", "regex", "is-json", "contains-json", "levenshtein", "word-count",
	}
}

// likePromptfoo reads whether a check is to judge as an assertion of promptfoo does.
func (s *spec) likePromptfoo() bool {
	if _, given := s.m["like"]; !given {
		return false
	}
	switch word := s.text("like", ""); {
	case word != "promptfoo":
		s.fail("like", "%q is not allowed; promptfoo is", word)
	case !slices.Contains(promptfooTypes(), s.kind):
		s.fail("like", "%s cannot judge like promptfoo; %s can", s.kind, strings.Join(promptfooTypes(), ", "))
	default:
		return true
	}
	return false
}

// buildPromptfoo compiles a check that passes when the assertion of promptfoo 0.123 of
// the same name does: texts are compared as they are, by UTF-16 code units, and the score
// is 0 or 1.
func buildPromptfoo(s *spec, n *node, timeout time.Duration) {
	var holds func(answer string) (bool, string)
	switch s.kind {
	case "equals":
		holds = promptfooEquals(s, n)
	case "starts-with":
		value := s.needText("value")
		n.holds = "starts with " + quote(value)
		holds = withReason(func(answer string) bool { return strings.HasPrefix(answer, value) }, "does not start with "+quote(value))
	case "regex":
		promptfooRegex(s, n, timeout)
		return
	case "is-json":
		holds = promptfooJSON(s, n)
	case "contains-json":
		holds = promptfooHolds(s, n)
	case "levenshtein":
		value, _ := s.get("value")
		text, ok := value.(string)
		if !ok {
			s.fail("value", "text expected, found %s", describe(value))
		}
		most := s.number("max", 5, 0, maxWeight)
		n.holds = fmt.Sprintf("is at most %v edits from %s", most, quote(text))
		want := jsUnits(text)
		holds = func(answer string) (bool, string) {
			d, near := editDistance(jsUnits(answer), want, int(most))
			return near && float64(d) <= most, fmt.Sprintf("is more than %v edits from %s", most, quote(text))
		}
	case "word-count":
		holds = promptfooWords(s, n)
	default:
		holds = promptfooContains(s, n)
	}
	n.judge = func(answer string, _ []string) verdict {
		if ok, why := holds(answer); !ok {
			return verdict{reason: why + got(answer)}
		}
		return verdict{score: 1, pass: true}
	}
}

func withReason(is func(string) bool, why string) func(string) (bool, string) {
	return func(answer string) (bool, string) { return is(answer), why }
}

func (s *spec) needText(key string) string {
	v, _ := s.get(key)
	text, ok := v.(string)
	if !ok || text == "" {
		s.fail(key, "text expected, found %s", describe(v))
	}
	return text
}

// promptfooEquals compares with a text, a number, true or false as it would be printed,
// and with a list or an object as JSON.
func promptfooEquals(s *spec, n *node) func(string) (bool, string) {
	v, given := s.m["value"]
	if !given {
		s.fail("value", "is missing")
	}
	s.asked = append(s.asked, "value")
	if text, ok := jsText(v); ok {
		n.holds = "equals " + quote(text)
		return withReason(func(answer string) bool { return answer == text }, "does not equal "+quote(text))
	}
	want := jsValue(v)
	n.holds = "equals the JSON that is named"
	return func(answer string) (bool, string) {
		v, err := decodeJSON(answer)
		if err != nil {
			return false, "is not JSON: " + err.Error()
		}
		return jsEqual(jsValue(v), want), "is not the JSON " + short(want)
	}
}

// jsText returns what String(v) gives in JavaScript for a text, a number, true or false.
func jsText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	}
	f, ok := jsValue(v).(float64)
	if !ok {
		return "", false
	}
	switch size := math.Abs(f); {
	case f == 0:
		return "0", true
	case math.IsInf(f, 0):
		return strings.Replace(strconv.FormatFloat(f, 'f', -1, 64), "Inf", "Infinity", 1), true
	case size >= 1e21 || size < 1e-6:
		text := strconv.FormatFloat(f, 'e', -1, 64)
		mantissa, exponent, _ := strings.Cut(text, "e")
		return mantissa + "e" + exponent[:1] + strings.TrimLeft(exponent[1:], "0"), true
	}
	return strconv.FormatFloat(f, 'f', -1, 64), true
}

// jsValue returns a value with every number as JavaScript has it.
func jsValue(v any) any {
	switch v := v.(type) {
	case json.Number:
		f, _ := strconv.ParseFloat(v.String(), 64) // out of range is an infinity there too
		return f
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = jsValue(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key := range v {
			out[key] = jsValue(v[key])
		}
		return out
	}
	if f, ok := yamlx.Number(v); ok {
		return f
	}
	return v
}

func jsEqual(a, b any) bool {
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, jsEqual)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, jsEqual)
	case float64:
		b, ok := b.(float64)
		return ok && a == b && math.Signbit(a) == math.Signbit(b)
	}
	switch b.(type) {
	case []any, map[string]any:
		return false
	}
	return a == b
}

// promptfooContains compiles the six contains checks, of value or of values.
func promptfooContains(s *spec, n *node) func(string) (bool, string) {
	form := func(text string) string { return text }
	kind, lowers := strings.CutPrefix(s.kind, "i")
	if lowers {
		form = lower
	}
	var texts, forms []string
	if kind == "contains" {
		v, _ := s.get("value")
		text, ok := jsText(v)
		if _, isBool := v.(bool); !ok || isBool || text == "" {
			s.fail("value", "text or a number expected, found %s", describe(v))
		}
		texts = []string{text}
	} else {
		v, _ := s.get("values")
		list, ok := v.([]any)
		if !ok {
			s.fail("values", "a list expected, found %s", describe(v))
		}
		for i, one := range list {
			text, ok := jsText(one)
			if !ok {
				s.fail("values", "entry %d: text, a number, true or false expected, found %s", i+1, describe(one))
			}
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		forms = append(forms, form(text))
	}
	n.holds = "contains " + quoteTexts(texts)
	all := kind == "contains-all"
	return func(answer string) (bool, string) {
		body := form(answer)
		var missing []string
		for i := range forms {
			if !strings.Contains(body, forms[i]) {
				missing = append(missing, texts[i])
			}
		}
		if all {
			return len(missing) == 0, fmt.Sprintf("%d of %d are missing: %s", len(missing), len(texts), quoteTexts(missing))
		}
		return len(missing) < len(texts), "does not contain " + quoteTexts(texts)
	}
}

// promptfooRegex compiles a pattern of JavaScript. One that cannot be compiled fails every
// answer, with not- as well, as one that is none does there.
func promptfooRegex(s *spec, n *node, timeout time.Duration) {
	pattern := s.needText("value")
	n.holds = "matches /" + pattern + "/"
	re, err := regexp2.Compile(jsPattern(pattern), regexp2.ECMAScript)
	if err != nil {
		why := fmt.Sprintf("the pattern /%s/ cannot be read as one of JavaScript, so no answer passes: %v", excerpt(pattern, 200), err)
		n.judge = func(string, []string) verdict { return verdict{broken: true, reason: why} }
		return
	}
	re.MatchTimeout = timeout
	n.judge = func(answer string, _ []string) verdict {
		ok, err := re.MatchRunes(jsUnits(answer))
		if err != nil {
			return undecidedVerdict(pattern, timeout)
		}
		if !ok {
			return verdict{reason: fmt.Sprintf("does not match /%s/%s", excerpt(pattern, 200), got(answer))}
		}
		return verdict{score: 1, pass: true}
	}
}

// jsPattern writes what takes two code units as their escapes, since a text of Go cannot
// hold half of it.
func jsPattern(pattern string) string {
	var b strings.Builder
	for _, r := range pattern {
		if hi, lo := utf16.EncodeRune(r); hi != unicode.ReplacementChar {
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// jsUnits returns a text as JavaScript has it: a code unit each.
func jsUnits(text string) []rune {
	units := utf16.Encode([]rune(text))
	out := make([]rune, len(units))
	for i, u := range units {
		out[i] = rune(u)
	}
	return out
}

// isJSSpace reports whether JavaScript takes a character for white space, line ends among it.
func isJSSpace(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

// promptfooSchema reads a schema, of draft-07 unless it says another; nil if there is none.
func promptfooSchema(s *spec) func(v any) string {
	raw, given := s.get("schema")
	if !given {
		return nil
	}
	if m, ok := raw.(map[string]any); ok && m["$schema"] == nil {
		m = maps.Clone(m)
		m["$schema"] = "http://json-schema.org/draft-07/schema#"
		raw = m
	}
	schema, err := resolveSchema(raw)
	if err != nil {
		s.fail("schema", "%v", err)
		return nil
	}
	return func(v any) string {
		if err := schema.Validate(plainNumbers(v)); err != nil {
			return "does not fit the schema: " + excerpt(oneLine(err.Error()), 400)
		}
		return ""
	}
}

func promptfooJSON(s *spec, n *node) func(string) (bool, string) {
	fits := promptfooSchema(s)
	n.holds = "is JSON"
	return func(answer string) (bool, string) {
		v, err := decodeJSON(answer)
		if err != nil {
			return false, "is not JSON: " + err.Error()
		}
		if fits == nil {
			return true, ""
		}
		why := fits(v)
		return why == "", why
	}
}

// promptfooHolds looks for objects between braces, which are read as YAML: names need no
// quotes, and braces that are not closed are.
func promptfooHolds(s *spec, n *node) func(string) (bool, string) {
	fits := promptfooSchema(s)
	n.holds = "contains a JSON object"
	return func(answer string) (bool, string) {
		why := "contains no JSON object"
		for v := range looseObjects(answer) {
			if fits == nil {
				return true, ""
			}
			if why = fits(v); why == "" {
				return true, ""
			}
		}
		return false, why
	}
}

// promptfooWords counts what is between white space.
func promptfooWords(s *spec, n *node) func(string) (bool, string) {
	lo, hi := s.number("min", math.Inf(-1), -maxWeight, maxWeight), s.number("max", math.Inf(1), -maxWeight, maxWeight)
	if _, hasMax := s.m["max"]; !hasMax && s.m["min"] == nil {
		s.fail("min", "is missing; word-count needs min or max, or both")
	}
	if lo > hi {
		s.fail("min", "%v is above max %v", lo, hi)
	}
	n.holds = fmt.Sprintf("has %v to %v words", lo, hi)
	return func(answer string) (bool, string) {
		count := float64(len(strings.FieldsFunc(answer, isJSSpace)))
		return count >= lo && count <= hi, fmt.Sprintf("has %v words", count)
	}
}
