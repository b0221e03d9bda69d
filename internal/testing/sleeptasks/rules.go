package sleeptasks

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"

	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// Verdict is what a rule judge says of an answer.
type Verdict struct {
	Hard float64 // 1: all checks pass
	Soft float64 // share of the checks that pass
	Why  string
}

// ops lists the checks that there are; the second list those that look at the form alone.
func ops() (known, shape []string) {
	shape = []string{"section_present", "section_contains", "max_chars", "min_chars"}
	return append([]string{"contains", "not_contains", "regex", "no_refusal", "tool_called"}, shape...), shape
}

// checksOf are the checks of a judge; none where it says nothing.
func checksOf(judge any) ([]any, error) {
	if !pytext.Truthy(judge) {
		return nil, nil
	}
	object, ok := judge.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("judge must be an object, got %s", kindOf(judge))
	}
	if !pytext.Truthy(object["checks"]) {
		return nil, nil
	}
	list, ok := object["checks"].([]any)
	if !ok {
		return nil, fmt.Errorf("judge 'checks' must be an array, got %s", kindOf(object["checks"]))
	}
	return list, nil
}

// Judge scores an answer by the checks of a rule judge. tools are the names of tools that
// were called. A check of an unknown kind passes; a judge or check that is none, and a bound
// that is no number, are errors.
func Judge(judge any, answer string, tools []string) (Verdict, error) {
	checks, err := checksOf(judge)
	if err != nil {
		return Verdict{}, err
	}
	if len(checks) == 0 {
		return Verdict{Why: "no checks"}, nil
	}
	passed, failed := 0, []string{}
	for i, raw := range checks {
		c, ok := raw.(map[string]any)
		if !ok {
			return Verdict{}, fmt.Errorf("check #%d is not an object", i)
		}
		op, has := c["op"]
		if !has {
			op = ""
		}
		ok, problem, err := holds(op, c["arg"], answer, tools)
		if err != nil {
			return Verdict{}, fmt.Errorf("check #%d: %w", i, err)
		}
		if ok {
			passed++
			continue
		}
		text := pytext.Text(c["op"]) + "=" + pytext.Text(c["arg"])
		if problem != "" {
			text += " [" + problem + "]"
		}
		failed = append(failed, text)
	}
	v := Verdict{Soft: float64(passed) / float64(len(checks))}
	if v.Why = "failed: " + strings.Join(failed, ", "); passed == len(checks) {
		v.Hard, v.Why = 1, "all checks passed"
	}
	return v, nil
}

// holds reports whether a check passes. problem says what is wrong with the check itself.
func holds(op, arg any, answer string, tools []string) (ok bool, problem string, err error) {
	text := pytext.Text(arg)
	switch op {
	case "section_present":
		ok, err = sectionPresent(answer, text)
	case "section_contains":
		ok = sectionContains(answer, text)
	case "regex":
		return matches(text, answer)
	case "max_chars", "min_chars":
		bound, err := roundedBound(arg)
		if err != nil {
			return false, "", err
		}
		n := big.NewInt(int64(utf8.RuneCountInString(answer)))
		if op == "max_chars" {
			return n.Cmp(bound) <= 0, "", nil
		}
		return n.Cmp(bound) >= 0, "", nil
	case "contains":
		ok = strings.Contains(lower(answer), lower(text))
	case "not_contains":
		ok = !strings.Contains(lower(answer), lower(text))
	case "no_refusal":
		ok = !Refusal(answer)
	case "tool_called":
		ok, err = toolCalled(answer, lower(text), tools)
	default:
		ok = true
	}
	return ok, "", err
}

// patience is how long a pattern may take.
const patience = time.Second

// search finds a pattern of this package.
func search(pattern, text string, o regexp2.RegexOptions) (bool, error) {
	re, err := regexp2.Compile(pattern, o)
	if err != nil {
		return false, fmt.Errorf("pattern: %w", err)
	}
	re.MatchTimeout = patience
	return re.MatchString(text)
}

// space is white space within patterns of this package.
const space = `[\s\x1c-\x1f]`

// sectionPresent reports whether a heading ends with a name, a line in bold holds it, or it
// stands before a colon at the beginning of a line.
func sectionPresent(answer, name string) (bool, error) {
	name = regexp2.Escape(name)
	pattern := `^` + space + `{0,3}(#{1,6}` + space + `*.*` + name + `|\*\*.*` + name + `.*\*\*` + space + `*:?)` + space + `*$`
	ok, err := search(pattern, answer, regexp2.IgnoreCase|regexp2.Multiline)
	if ok || err != nil {
		return ok, err
	}
	return search(`^`+space+`*`+name+space+`*:`, answer, regexp2.IgnoreCase|regexp2.Multiline)
}

// sectionContains reports whether a heading of Markdown that begins with # holds a text.
func sectionContains(answer, name string) bool {
	name = fold(name)
	for line := range strings.SplitSeq(answer, "\n") {
		rest := strings.TrimLeft(line, " ")
		indent := len(line) - len(rest)
		title := strings.TrimLeft(rest, "#")
		level := len(rest) - len(title)
		if indent > 3 || level < 1 || level > 6 || title != "" && title[0] != ' ' && title[0] != '\t' {
			continue
		}
		if strings.Contains(fold(strings.TrimLeft(title, " \t")), name) {
			return true
		}
	}
	return false
}

// matches reports whether a pattern is found in an answer. One that is none is a problem of
// the check.
func matches(pattern, answer string) (ok bool, problem string, err error) {
	re, cerr := compiled(pattern)
	if cerr != nil {
		return false, fmt.Sprintf("invalid regex (%v)", cerr), nil
	}
	ok, err = re.MatchString(answer)
	if err != nil {
		err = fmt.Errorf("the pattern %s was not decided within %v: simplify it", pytext.Quoted(pattern), patience)
	}
	return ok, "", err
}

// compiled reads a pattern in the spelling of Python, in which \Z is the very end.
func compiled(pattern string) (*regexp2.Regexp, error) {
	re, err := regexp2.Compile(pytext.Groups(absoluteEnd(pattern)), regexp2.None)
	if err != nil {
		return nil, fmt.Errorf("read pattern: %w", err)
	}
	re.MatchTimeout = patience
	return re, nil
}

// toolCalled reports whether a tool was called, or the answer has the mark of it.
func toolCalled(answer, name string, tools []string) (bool, error) {
	if slices.ContainsFunc(tools, func(t string) bool { return lower(t) == name }) {
		return true, nil
	}
	return search(`\btool_call`+space+`*:`+space+`*`+regexp2.Escape(name)+`\b`, answer, regexp2.IgnoreCase)
}

// Refusal reports whether an answer is nothing but a refusal: empty, or short and beginning
// with one, whatever marks of Markdown stand before it.
func Refusal(answer string) bool {
	text := trim(answer)
	if text == "" {
		return true
	}
	text = withoutMarks(text)
	const head, long = 160, 600 // characters
	runes := []rune(text)
	if len(runes) >= long {
		return false
	}
	begin := lower(string(runes[:min(head, len(runes))]))
	return slices.ContainsFunc([]string{
		"cannot complete", "i cannot", "i can't", "i'm unable", "i am unable", "unable to complete", "sorry, i can't", "sorry, i cannot", "no can do",
	}, func(prefix string) bool { return strings.HasPrefix(begin, prefix) })
}

// withoutMarks is a text without quotes, bullets, numbers and headings before it.
func withoutMarks(text string) string {
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		if strings.ContainsRune(">-*_#", r) || pytext.IsSpace(r) {
			text = text[size:]
			continue
		}
		rest := strings.TrimLeftFunc(text, func(r rune) bool { return digitOf(r) >= 0 })
		if len(rest) == len(text) || rest == "" || rest[0] != '.' && rest[0] != ')' {
			break
		}
		text = rest[1:]
	}
	return text
}

// CharBound reads a bound of characters: a whole number, or a text that is one, which may be
// negative.
func CharBound(arg any) (*big.Int, error) {
	switch arg := arg.(type) {
	case string:
		return wholeOf(arg, false)
	case json.Number:
		if isWhole(arg) {
			return wholeOf(string(arg), false)
		}
	}
	return wholeFloat(arg, false)
}

// roundedBound reads one as judging does, more freely: true is 1, and what stands behind the
// point is dropped.
func roundedBound(arg any) (*big.Int, error) {
	switch arg := arg.(type) {
	case bool:
		if arg {
			return big.NewInt(1), nil
		}
		return big.NewInt(0), nil
	case string:
		return wholeOf(arg, true)
	case json.Number:
		if isWhole(arg) {
			return wholeOf(string(arg), false)
		}
	}
	return wholeFloat(arg, true)
}

// wholeFloat is the whole number that a value is, or begins with.
func wholeFloat(arg any, cut bool) (*big.Int, error) {
	f, err := floatOf(arg)
	if err != nil {
		return nil, err
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || !cut && f != math.Trunc(f) {
		return nil, errNoWhole
	}
	n, _ := big.NewFloat(math.Trunc(f)).Int(nil)
	return n, nil
}

// ShapeOnly reports whether a judge looks at the form of answers alone: it says nothing of
// what they say.
func ShapeOnly(judge any) bool {
	checks, err := checksOf(judge)
	if err != nil || len(checks) == 0 {
		return false
	}
	_, shape := ops()
	for _, raw := range checks {
		c, _ := raw.(map[string]any)
		if op, ok := c["op"].(string); !ok || !slices.Contains(shape, op) {
			return false
		}
	}
	return true
}

// Validate says what is wrong with a judge: faults with which a check can never do what it
// says, and warnings of checks that say nothing.
func Validate(judge any) (faults, warnings []string) {
	if _, object := judge.(map[string]any); judge != nil && !object {
		return []string{"judge must be an object, got " + kindOf(judge)}, nil
	}
	checks, err := checksOf(judge)
	if err != nil {
		return []string{err.Error()}, nil
	}
	for i, raw := range checks {
		if fault, warning := validate(raw); fault != "" {
			faults = append(faults, fmt.Sprintf("check #%d %s", i, fault))
		} else if warning != "" {
			warnings = append(warnings, fmt.Sprintf("check #%d %s", i, warning))
		}
	}
	if len(faults) == 0 && ShapeOnly(judge) {
		warnings = append(warnings, "judge is shape-only (formatting checks); it can be satisfied by reformatting rather than by a better answer")
	}
	return faults, warnings
}

// validate says what is wrong with a check.
func validate(raw any) (fault, warning string) {
	c, ok := raw.(map[string]any)
	if !ok {
		return "is not an object", ""
	}
	var op any = ""
	if v, has := c["op"]; has {
		op = v
	}
	name, ok := op.(string)
	if !ok {
		return "op must be a string, got " + kindOf(op), ""
	}
	arg := c["arg"]
	known, _ := ops()
	switch {
	case name == "max_chars" || name == "min_chars":
		return validateBound(name, arg)
	case name == "no_refusal":
		return "", ""
	case !slices.Contains(known, name):
		return "", fmt.Sprintf("has unknown op %s — it always passes", pytext.Quoted(name))
	case arg == nil || trim(pytext.Text(arg)) == "":
		return name + " needs a non-empty arg", ""
	case name == "regex":
		if _, err := compiled(pytext.Text(arg)); err != nil {
			return fmt.Sprintf("regex does not compile (%v): %s", err, pytext.Notation(arg)), ""
		}
	}
	return "", ""
}

func validateBound(name string, arg any) (fault, warning string) {
	bound, err := CharBound(arg)
	switch {
	case errors.Is(err, errNoWhole) || err != nil:
		return fmt.Sprintf("%s needs an integer arg, got %s", name, pytext.Notation(arg)), ""
	case bound.Sign() < 0:
		return fmt.Sprintf("%s cannot be negative, got %s", name, bound), ""
	case name == "min_chars" && bound.Sign() == 0:
		return "", "min_chars=0 always passes"
	}
	return "", ""
}

// absoluteEnd spells \Z as the engine does.
func absoluteEnd(pattern string) string {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		if pattern[i] == '\\' && i+1 < len(pattern) {
			i++
			next := pattern[i]
			if next == 'Z' {
				next = 'z'
			}
			b.WriteByte('\\')
			b.WriteByte(next)
			continue
		}
		b.WriteByte(pattern[i])
	}
	return b.String()
}
