package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/score"
)

// maxGroupDepth bounds groups within groups.
const maxGroupDepth = 16

// maxWeight keeps the sum of weights a number.
const maxWeight = 1e9

// types lists the check types, for messages.
func types() []string {
	return []string{
		"equals", "one-of", "contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any",
		"starts-with", "istarts-with", "regex", "number", "f1", "levenshtein", "json-schema", "json-equals", "is-json", "contains-json", "word-count", "char-count",
		"anls", "mcq", "math-equal",
		"file-exists", "file-equals", "file-contains", "xlsx", "diff", "tool-called", "command", "tests", "llm-rubric", "llm-equivalent",
	}
}

// runners returns the types that run a program. The others look at an answer, at a workspace, or ask
// the judge.
func runners() []string { return []string{"command", "tests"} }

// Runs lists the checks among those of a set or a task that run a program, each by its place, such
// as checks[1].any[0].
func Runs(specs any) []string { return runningIn("checks", specs) }

func runningIn(path string, v any) (places []string) {
	switch v := v.(type) {
	case []any:
		for i, member := range v {
			places = append(places, runningIn(fmt.Sprintf("%s[%d]", path, i), member)...)
		}
	case string:
		return runningIn(path, map[string]any{"type": v})
	case map[string]any:
		if kind, _ := normalKind(v["type"]); slices.Contains(runners(), kind) {
			places = append(places, path)
		}
		places = append(places, runningIn(join(path, "any"), v["any"])...)
		places = append(places, runningIn(join(path, "all"), v["all"])...)
	}
	return places
}

// normalKind reads the type of a check as it may be written.
func normalKind(v any) (kind string, negate bool) {
	word, _ := v.(string)
	kind = strings.ReplaceAll(strings.ToLower(word), "_", "-")
	kind, negate = strings.CutPrefix(kind, "not-")
	if kind == "git-diff" {
		kind = "diff" // what it is called elsewhere; Git has no say in it
	}
	return kind, negate
}

// compiler turns specs into nodes.
type compiler struct {
	options Options
	own     bool // the checks are a task's own, and come with the tasks
	depth   int
	doubts  []string
}

// compile reads the checks of a set, or those of a task's own.
func compile(specs any, o Options, own bool) (*program, error) {
	list, ok := specs.([]any)
	if !ok {
		list = []any{specs}
	}
	if len(list) == 0 {
		return nil, errors.New("checks: the list is empty")
	}
	c := &compiler{options: o, own: own}
	nodes, err := c.list("checks", list, true)
	if err != nil {
		return nil, err
	}
	if !counts(nodes) {
		return nil, errors.New("checks: every weight is 0, so nothing counts; give at least one check a weight above 0")
	}
	return &program{nodes: nodes, doubts: c.doubts, conditional: conditional(nodes)}, nil
}

func counts(nodes []node) bool {
	return slices.ContainsFunc(nodes, func(n node) bool { return n.weight > 0 })
}

// list compiles the members of a list. required says whether they are required
// unless they say otherwise.
func (c *compiler) list(path string, specs []any, required bool) ([]node, error) {
	var nodes []node
	var errs []error
	for i, raw := range specs {
		n, err := c.node(fmt.Sprintf("%s[%d]", path, i), raw, required)
		n.place = i + 1
		errs = append(errs, err)
		nodes = append(nodes, n)
	}
	return nodes, errors.Join(errs...)
}

func (c *compiler) node(path string, raw any, required bool) (node, error) {
	if word, ok := raw.(string); ok {
		raw = map[string]any{"type": word} // short form for checks without parameters
	}
	m, ok := raw.(map[string]any)
	if !ok {
		return node{}, fmt.Errorf("%s: a check is an object with a type, found %s", path, describe(raw))
	}
	s := &spec{path: path, m: m}
	n := node{}
	s.kind, n.negate = c.parseKind(s)
	n.kind = label(s.kind, n.negate)
	n.name = s.text("name", n.kind)
	n.weight = s.number("weight", 1, 0, maxWeight)
	n.required = s.flag("required", required && n.weight > 0)
	n.feedback = s.text("feedback", "")
	n.when, n.unless = s.field("when"), s.field("unless")
	n.mayBeEmpty = s.choice("empty", "refuse", "pass") == "pass"
	like := s.likePromptfoo()
	switch {
	case like:
		buildPromptfoo(s, &n, c.options.MatchTimeout)
	case s.kind != "":
		c.build(s, &n)
	}
	if s.kind != "command" && !like { // there $name is a text like another
		c.doubts = append(c.doubts, s.references()...)
	}
	if err := s.finish(); err != nil {
		return n, err
	}
	return n, nil
}

func label(kind string, negate bool) string {
	if negate {
		return "not-" + kind
	}
	return kind
}

// parseKind returns the type of a check, "any" and "all" for groups, and "" after
// a fault.
func (c *compiler) parseKind(s *spec) (kind string, negate bool) {
	_, hasAny := s.get("any")
	_, hasAll := s.get("all")
	v, hasType := s.get("type")
	switch {
	case hasType && !hasAny && !hasAll:
		kind, negate = normalKind(v)
		if !slices.Contains(types(), kind) {
			s.fail("type", "unknown check %s%s; known are %s, each also with not-", strings.TrimPrefix(describe(v), "the text "), suggestion(kind, types()), strings.Join(types(), ", "))
			kind = ""
		}
	case hasAny && !hasAll && !hasType:
		kind = "any"
	case hasAll && !hasAny && !hasType:
		kind = "all"
	default:
		s.fail("", "exactly one of type, any and all is needed")
	}
	if kind == "" {
		s.asked = append(s.asked, mapKeys(s.m)...) // the other keys mean nothing without a type
	}
	return kind, negate
}

func mapKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

func (c *compiler) build(s *spec, n *node) {
	switch s.kind {
	case "any", "all":
		c.group(s, n)
	case "equals", "one-of":
		buildEquals(s, n)
	case "starts-with", "istarts-with":
		buildPrefix(s, n)
	case "regex":
		buildRegex(s, n, c.options.MatchTimeout)
	case "number":
		buildNumber(s, n)
	case "f1":
		buildF1(s, n)
	case "anls":
		buildANLS(s, n)
	case "math-equal":
		buildMathEqual(s, n)
	case "mcq":
		buildMCQ(s, n)
	case "is-json":
		n.holds = "is JSON"
		n.judge = isJSON
	case "json-schema":
		buildSchema(s, n)
	case "json-equals":
		buildJSONEquals(s, n)
	case "contains-json":
		buildContainsJSON(s, n)
	case "levenshtein":
		buildLevenshtein(s, n)
	case "word-count", "char-count":
		buildCount(s, n)
	case "file-exists", "file-equals", "file-contains":
		buildFile(s, n, c.options.MatchTimeout)
	case "xlsx":
		buildXLSX(s, n)
	case "diff":
		buildDiff(s, n)
	case "tool-called":
		buildToolCalled(s, n, c.options.MatchTimeout)
	case "command":
		buildCommand(s, n, c.own)
	case "tests":
		buildTests(n)
	case "llm-rubric":
		buildRubric(s, n)
	case "llm-equivalent":
		buildEquivalent(s, n)
	default:
		buildContains(s, n)
	}
}

// group compiles any and all. In a group with a threshold the score decides,
// so that members are required only if they say so.
func (c *compiler) group(s *spec, n *node) {
	v, _ := s.get(s.kind)
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		s.fail(s.kind, "a list of checks expected, found %s", describe(v))
		return
	}
	if c.depth++; c.depth > maxGroupDepth {
		s.fail(s.kind, "groups are nested deeper than %d levels", maxGroupDepth)
		return
	}
	defer func() { c.depth-- }()
	_, hasThreshold := s.m["threshold"]
	threshold := s.number("threshold", 0, 0, 1)
	first := s.kind == "any" && s.flag("first", false)
	nodes, err := c.list(join(s.path, s.kind), list, !hasThreshold)
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	inner := &program{nodes: nodes, conditional: conditional(nodes)}
	if s.kind == "all" && !counts(nodes) {
		s.fail(s.kind, "every weight is 0, so nothing counts")
	}
	n.regroup = func(p *program) (holds string, l look) {
		if s.kind == "any" {
			return "meets one of " + p.names(), p.any(threshold, first)
		}
		return "meets all of " + p.names(), p.all(threshold)
	}
	n.gather(inner)
}

// fit reports whether a gold answer suits the members of a group.
func (p *program) fit(gold string) error { return p.lintGold([]string{gold}) }

// any holds if one member passes, and, with a threshold, scores that much. first says that
// the members after it are not run.
func (p *program) any(threshold float64, first bool) look {
	return func(ctx context.Context, s *subject, id string) (verdict, error) {
		var best verdict
		var reasons, details []string
		var causes []score.Cause
		for i := range p.nodes {
			v, err := p.nodes[i].run(ctx, s, fmt.Sprint(id, "/", p.nodes[i].place))
			if err != nil {
				return verdict{}, fmt.Errorf("%s: %w", p.nodes[i].name, err)
			}
			details = appendSome(details, v.detail)
			best.pass = best.pass || v.pass && v.score >= threshold
			best.score = max(best.score, v.score)
			reasons = append(reasons, p.nodes[i].name+": "+v.reason)
			if v.cause != "" {
				causes = append(causes, v.cause)
			}
			if first && best.pass {
				break
			}
		}
		best.pass = best.pass || threshold > 0 && best.score >= threshold
		if !best.pass {
			best.reason = "none of its members holds (" + firstFew(reasons) + ")"
			best.detail, best.cause = strings.Join(details, "\n"), closestCause(causes)
		}
		return best, nil
	}
}

// all holds if every required member passes and the weighted score reaches the
// threshold.
func (p *program) all(threshold float64) look {
	return func(ctx context.Context, what *subject, id string) (verdict, error) {
		s, err := p.run(ctx, what, id+"/", Options{Threshold: threshold})
		if err != nil {
			return verdict{}, err
		}
		v := verdict{score: s.Soft, pass: s.Hard == 1, reason: s.Reason, cause: s.Cause}
		if v.pass {
			return v, nil
		}
		var reasons []string
		for _, part := range s.Components {
			if !part.Pass && part.Reason != "" {
				reasons = append(reasons, part.Check+": "+part.Reason)
			}
		}
		if len(reasons) > 1 {
			v.reason = firstFew(reasons)
		}
		return v, nil
	}
}

func appendSome(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}

// firstFew keeps messages readable: a long group rarely needs all its reasons.
func firstFew(reasons []string) string {
	const shown = 3
	if len(reasons) > shown {
		reasons = append(slices.Clone(reasons[:shown]), fmt.Sprintf("and %d more", len(reasons)-shown))
	}
	return strings.Join(reasons, "; ")
}
