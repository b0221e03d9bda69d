package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
)

// Extractor finds the answer within a reply. The zero value takes all of it. It
// is safe for concurrent use.
type Extractor struct {
	rules []extraction // tried in order
}

// extraction is one way to find an answer.
type extraction struct {
	name     string
	argument string // of tag, regex and json_path
	find     func(reply string) (answer string, found bool, err error)

	place func(answer string) (reply string) // that find would find; nil: none can be made
}

// Reply returns a reply in which an answer is found. Of a pattern or a path none can be made:
// it is the answer.
func (e *Extractor) Reply(answer string) string {
	if e == nil || len(e.rules) == 0 || e.rules[0].place == nil {
		return answer
	}
	return e.rules[0].place(answer)
}

// ParseExtract reads where the answer is, as a YAML or JSON decoder returns it.
// It is one of
//
//	all                     the whole reply
//	verbatim                the whole reply, with the white space around it
//	last_line               its last line that is not blank
//	{tag: answer}           the last <answer>...</answer>, in any letter case
//	{regex: "Answer: (.*)"} the last match's first group, or all of the match
//	{json_path: "a.b[0]"}   a value of the JSON object or list in the reply
//	boxed                   the last \boxed{...}, else the last <|begin_of_box|>...<|end_of_box|>
//	choice                  what a reply states as its answer: Answer[ B ], "the answer is B", "answer: B", B alone
//
// or, in short, text such as "tag:answer". An object may also say which: first,
// and a fallback, which is read in the same way, or none: then a reply without
// an answer counts as empty. Without a fallback it is all. Nil is all. A list of
// rules tries them in their order; only the last may have a fallback.
func ParseExtract(v any) (*Extractor, error) {
	e := &Extractor{}
	list, isList := v.([]any)
	if !isList {
		if err := e.parse("extract", v, 0); err != nil {
			return nil, err
		}
		return e, nil
	}
	if len(list) == 0 || len(list) > maxGroupDepth {
		return nil, fmt.Errorf("extract: a list of 1 to %d rules expected, found %d", maxGroupDepth, len(list))
	}
	for i, rule := range list {
		path := fmt.Sprintf("extract[%d]", i)
		m, _ := rule.(map[string]any)
		if last := i == len(list)-1; !last && (m["fallback"] != nil || rule == "none" || rule == "all") {
			return nil, fmt.Errorf("%s: a rule that ends the list is before its end; the rules after it are its fallbacks", path)
		}
		if err := e.parse(path, rule, i); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// parse reads a rule and its fallbacks. before is how many rules there are before it.
func (e *Extractor) parse(path string, v any, before int) error {
	for depth := 0; v != nil; depth++ {
		if depth > maxGroupDepth {
			return fmt.Errorf("%s: more than %d fallbacks", path, maxGroupDepth)
		}
		if v == "none" && depth+before > 0 {
			e.rules = append(e.rules, extraction{name: "none", find: always(func(string) (string, bool) { return "", true })})
			break
		}
		rule, next, err := newExtraction(path+strings.Repeat(".fallback", depth), v)
		if err != nil {
			return err
		}
		e.rules = append(e.rules, rule)
		v = next
	}
	return nil
}

// Answer returns the answer in a reply, without white space around it unless it is taken
// verbatim. When no
// rule finds one, the whole reply is the answer. An error means that a pattern ran
// out of time: how far one comes is a matter of the machine, and no answer.
func (e *Extractor) Answer(reply string) (string, error) {
	answer, _, err := e.Extract(reply)
	return answer, err
}

// NothingFound is what Extract says instead of a rule when none has found an answer.
const NothingFound = "nothing found"

// Extract returns the answer as Answer does, and the rule by which the answer was found, such as
// "tag:answer". The rule is NothingFound if none found one: then the whole reply represents the
// answer, or nothing does after the fallback none. It is "" where there are no rules.
func (e *Extractor) Extract(reply string) (answer, by string, err error) {
	for _, r := range e.rules {
		answer, found, err := r.find(reply)
		if err != nil {
			return "", "", fmt.Errorf("tasks.extract: %w", err)
		}
		switch {
		case found && r.name == "none":
			return "", NothingFound, nil
		case r.name == "verbatim":
			return answer, r.name, nil
		case found:
			return strings.TrimSpace(answer), r.label(), nil
		}
	}
	if len(e.rules) > 0 {
		by = NothingFound
	}
	return strings.TrimSpace(reply), by, nil
}

// label names a rule as users write it in short.
func (r extraction) label() string {
	if r.argument == "" {
		return r.name
	}
	return r.name + ":" + excerpt(r.argument, 80)
}

// Finds reports whether a rule finds an answer in a reply, rather than takes all of it
// for one. A pattern that runs out of time has found none.
func (e *Extractor) Finds(reply string) bool {
	for _, r := range e.rules {
		if _, found, err := r.find(reply); found && err == nil {
			return r.name != "none"
		}
	}
	return len(e.rules) == 0
}

// always returns a way to find an answer that cannot fail.
func always(find func(reply string) (string, bool)) func(string) (string, bool, error) {
	return func(reply string) (string, bool, error) {
		answer, found := find(reply)
		return answer, found, nil
	}
}

func newExtraction(path string, v any) (rule extraction, fallback any, err error) {
	if text, ok := v.(string); ok {
		kind, argument, _ := strings.Cut(text, ":")
		v = map[string]any{strings.ReplaceAll(strings.TrimSpace(kind), "-", "_"): strings.TrimSpace(argument)}
	}
	m, ok := v.(map[string]any)
	if !ok {
		return rule, nil, fmt.Errorf("%s: text or an object expected, found %s", path, describe(v))
	}
	s := &spec{path: path, m: m, kind: "extract"}
	kinds := []string{"all", "verbatim", "last_line", "tag", "regex", "json_path", "boxed", "choice"}
	for _, k := range kinds {
		if _, given := m[k]; given && rule.name == "" {
			rule.name = k
		}
	}
	if rule.name == "" {
		keys := strings.Join(slices.Sorted(maps.Keys(m)), ", ")
		return rule, nil, fmt.Errorf("%s: %q says nothing of where the answer is%s; one of %s is needed", path, keys, suggestion(keys, kinds), strings.Join(kinds, ", "))
	}
	rule.find = s.finder(rule.name)
	rule.argument, _ = m[rule.name].(string)
	switch rule.name {
	case "tag":
		name := strings.Trim(s.text("tag", ""), "<>/")
		rule.place = func(answer string) string { return "<" + name + ">" + answer + "</" + name + ">" }
	case "last_line":
		rule.place = func(answer string) string { return "\n" + answer }
	case "boxed":
		rule.place = func(answer string) string { return `\boxed{` + answer + "}" }
	case "choice":
		rule.place = func(answer string) string { return "The answer is " + answer }
	}
	fallback, _ = s.get("fallback")
	return rule, fallback, s.finish()
}

func (s *spec) finder(kind string) func(string) (string, bool, error) {
	v, _ := s.get(kind)
	argument, isText := v.(string)
	needsText := kind == "tag" || kind == "regex" || kind == "json_path"
	if needsText && (!isText || argument == "") {
		s.fail(kind, "text expected, found %s", describe(v))
		return nil
	}
	if !needsText && v != true && argument != "" {
		s.fail(kind, "takes no argument, found %s", describe(v))
	}
	switch kind {
	case "tag":
		first := s.choice("which", "last", "first") == "first"
		name := strings.Trim(argument, "<>/")
		switch s.choice("form", "robust", "reference", "docvqa") {
		case "docvqa":
			if first {
				s.fail("which", "first does not go with form: docvqa, which takes the last tags")
			}
			return always(func(reply string) (string, bool) { return outerTags(reply, name) })
		case "reference":
			return always(func(reply string) (string, bool) { return trimAnswer(extractTag(reply, name, first)) })
		}
		return always(func(reply string) (string, bool) { return extractTag(reply, name, first) })
	case "regex":
		first := s.choice("which", "last", "first") == "first"
		re := s.regex(kind, argument, s.text("flags", "m"), MatchTimeout)
		return func(reply string) (string, bool, error) { return extractMatch(re, reply, first) }
	case "json_path":
		steps, err := parsePath(argument)
		if err != nil {
			s.fail(kind, "%v", err)
		}
		return always(func(reply string) (string, bool) { return jsonAt(reply, steps) })
	case "last_line":
		if s.choice("form", "robust", "reference") == "reference" {
			return always(lastPythonLine)
		}
		return always(lastLine)
	case "boxed":
		return s.compileBox()
	case "choice":
		if s.choice("form", "robust", "mmrb") == "mmrb" {
			return always(mmrbAnswer)
		}
		return always(statedAnswer)
	}
	return always(func(reply string) (string, bool) { return reply, true })
}

// extractTag returns what is between a tag and the nearest closing tag after
// it. Tags without a closing one do not count.
func extractTag(reply, name string, first bool) (answer string, found bool) {
	low := asciiLower(reply)
	begin, end := "<"+asciiLower(name)+">", "</"+asciiLower(name)+">"
	for pos := 0; ; {
		i := strings.Index(low[pos:], begin)
		if i < 0 {
			return answer, found
		}
		from := pos + i + len(begin)
		j := strings.Index(low[from:], end)
		if j < 0 {
			return answer, found
		}
		answer, found = reply[from:from+j], true
		if first {
			return answer, true
		}
		pos = from + j + len(end)
	}
}

// asciiLower keeps the length, so that positions hold in the original too.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c >= 'A' && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

func lastLine(reply string) (string, bool) {
	reply = strings.TrimSpace(reply)
	if i := strings.LastIndexAny(reply, "\n\r"); i >= 0 {
		reply = reply[i+1:]
	}
	return reply, reply != ""
}

// extractMatch returns the first group of a match, or all of it if there is none.
// Which match would be the last when time is up depends on the machine.
func extractMatch(re *regexp2.Regexp, reply string, first bool) (answer string, found bool, err error) {
	deadline := time.Now().Add(re.MatchTimeout)
	m, err := re.FindStringMatch(reply)
	for ; err == nil && m != nil; m, err = re.FindNextMatch(m) {
		answer, found = m.String(), true
		if groups := m.Groups(); len(groups) > 1 {
			answer = groups[1].String()
		}
		if first {
			return answer, true, nil
		}
		if time.Now().After(deadline) {
			err = errLate
			break
		}
	}
	if err != nil {
		return "", false, errors.New(undecidedVerdict(re.String(), re.MatchTimeout).undecided)
	}
	return answer, found, nil
}

// parsePath reads a path such as a.b[0].c; a leading $ is allowed.
func parsePath(path string) ([]any, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	var steps []any
	for rest != "" {
		if inner, ok := strings.CutPrefix(rest, "["); ok {
			index, after, closed := strings.Cut(inner, "]")
			i, err := strconv.Atoi(index)
			if !closed || err != nil {
				return nil, fmt.Errorf("%q is not a path: [%s must be a whole number in brackets; paths look like a.b[0], a negative index counts from the end", path, index)
			}
			steps, rest = append(steps, i), strings.TrimPrefix(after, ".")
			continue
		}
		end := strings.IndexAny(rest, ".[")
		if end < 0 {
			end = len(rest)
		}
		if end == 0 {
			return nil, fmt.Errorf("%q is not a path: a name is missing; paths look like a.b[0]", path)
		}
		steps = append(steps, rest[:end])
		rest = strings.TrimPrefix(rest[end:], ".")
	}
	return steps, nil
}

func jsonAt(reply string, steps []any) (string, bool) {
	v, err := answerJSON(reply)
	if err != nil {
		if v, err = looseJSON(reply, steps); err != nil {
			return "", false
		}
	}
	for _, step := range steps {
		var ok bool
		if v, ok = stepInto(v, step); !ok {
			return "", false
		}
	}
	return formatValue(v)
}

// looseJSON finds the JSON in a reply with prose around it. Where the path
// starts with an index, a list is looked for.
func looseJSON(reply string, steps []any) (any, error) {
	if len(steps) > 0 {
		if _, isIndex := steps[0].(int); isIndex {
			return jsonx.Array(reply)
		}
	}
	return jsonx.Object(reply)
}

func stepInto(v, step any) (any, bool) {
	switch step := step.(type) {
	case string:
		m, _ := v.(map[string]any)
		inner, ok := m[step]
		return inner, ok
	case int:
		list, _ := v.([]any)
		if step < 0 {
			step += len(list)
		}
		if step < 0 || step >= len(list) {
			return nil, false
		}
		return list[step], true
	}
	return nil, false
}

// formatValue returns text as it is and other values as compact JSON; null is no
// answer.
func formatValue(v any) (string, bool) {
	if v == nil {
		return "", false
	}
	if s, ok := scalar(v); ok {
		return s, true
	}
	text, err := json.Marshal(v)
	return string(text), err == nil
}
