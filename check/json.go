package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net/url"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
)

// decodeJSON reads exactly one JSON value, with numbers as json.Number. The last
// value of a key counts if the key occurs twice in one object.
func decodeJSON(text string) (any, error) {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("it ends too early")
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("there is more after the value, at byte %d", dec.InputOffset())
	}
	return v, nil
}

// wantedJSON decodes as decodeJSON does, for a value that answers are compared with. It refuses two
// values under one key: which of them is expected must not be a guess.
func wantedJSON(text string) (any, error) {
	v, err := decodeJSON(text)
	if err != nil {
		return nil, err
	}
	if twice := jsonx.FindRepeat([]byte(text), 0); twice != nil {
		return nil, errors.New(twice.String())
	}
	return v, nil
}

// answerJSON reads the JSON value that an answer is: the whole of it, or all of
// a single fenced code block.
func answerJSON(answer string) (any, error) {
	return decodeJSON(unfence(answer))
}

// unfence returns the content of a code block that is the whole text.
func unfence(text string) string {
	text = strings.TrimSpace(text)
	inner, ok := strings.CutPrefix(text, "```")
	if !ok {
		return text
	}
	inner, ok = strings.CutSuffix(inner, "```")
	_, inner, cut := strings.Cut(inner, "\n")
	if !ok || !cut || strings.Contains(inner, "```") {
		return text
	}
	return inner
}

func notJSON(answer string, err error) verdict {
	if strings.TrimSpace(answer) == "" {
		return verdict{reason: "the answer is empty, JSON is expected"}
	}
	return verdict{reason: fmt.Sprintf("is not JSON: %v%s", err, got(answer))}
}

func isJSON(answer string, _ []string) verdict {
	if _, err := answerJSON(answer); err != nil {
		return notJSON(answer, err)
	}
	return verdict{score: 1, pass: true}
}

// buildSchema compiles json-schema. References to other documents are refused:
// a check does no I/O.
func buildSchema(s *spec, n *node) {
	raw, ok := s.get("schema")
	if !ok {
		s.fail("schema", "is missing; json-schema needs a JSON Schema")
		return
	}
	schema, err := resolveSchema(raw)
	if err != nil {
		s.fail("schema", "%v", err)
		return
	}
	n.holds = "is JSON of the schema"
	n.judge = func(answer string, _ []string) verdict {
		v, err := answerJSON(answer)
		if err != nil {
			return notJSON(answer, err)
		}
		if err := schema.Validate(plainNumbers(v)); err != nil {
			return verdict{reason: "does not fit the schema: " + excerpt(oneLine(err.Error()), 400)}
		}
		return verdict{score: 1, pass: true}
	}
}

func resolveSchema(raw any) (*jsonschema.Resolved, error) {
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	plain, err := decodeJSON(string(text))
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	nodes, err := lintSchema(plain)
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema that can be used: %w", err)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("not a JSON Schema: %w", err)
	}
	exactNumbers("#", &schema, nodes)
	resolved, err := schema.Resolve(&jsonschema.ResolveOptions{Loader: noLoader})
	if err != nil {
		return nil, fmt.Errorf("not a JSON Schema that can be used: %w", err)
	}
	return resolved, nil
}

func noLoader(*url.URL) (*jsonschema.Schema, error) {
	return nil, errors.New("other documents are not fetched: put the schema under $defs, and refer to it as #/$defs/NAME")
}

// plainNumbers turns json.Number, which the validator takes for text, into
// int64 or float64.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64() // out of range becomes an infinity, which fits no bound
		return f
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plainNumbers(v[key])
		}
	}
	return v
}

// jsonRule is how two JSON values are compared.
type jsonRule struct {
	anyOrder bool // of lists
	extra    bool // further keys of objects are allowed
}

// buildJSONEquals compiles json-equals. The score is the share of the expected
// values that are there.
func buildJSONEquals(s *spec, n *node) {
	r := jsonRule{
		anyOrder: s.choice("order", "strict", "ignore") == "ignore",
		extra:    s.choice("extra", "forbid", "ignore") == "ignore",
	}
	raw, fixed := s.get("value")
	fixed = fixed && raw != goldRef
	n.gold = !fixed
	n.holds = "equals the JSON that is named"
	if n.gold {
		n.fit = func(gold string) error {
			if _, err := wantedJSON(gold); err != nil {
				return fmt.Errorf("%s is not JSON: %w", quote(gold), err)
			}
			return nil
		}
		n.judge = func(answer string, gold []string) verdict { return r.judgeAll(answer, decodeAll(gold)) }
		return
	}
	want, err := sameAsJSON(raw)
	if err != nil {
		s.fail("value", "%v", err)
	}
	n.judge = func(answer string, _ []string) verdict { return r.judgeAll(answer, []any{want}) }
}

// sameAsJSON gives a YAML-decoded value the types of a JSON-decoded one. Text
// that is JSON is taken as the value that it holds.
func sameAsJSON(raw any) (any, error) {
	if text, ok := raw.(string); ok {
		if _, err := decodeJSON(text); err == nil {
			return wantedJSON(text)
		}
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, fmt.Errorf("not a JSON value: %w", err)
	}
	return decodeJSON(string(text))
}

func decodeAll(gold []string) []any {
	var values []any
	for _, g := range gold {
		if v, err := decodeJSON(g); err == nil {
			values = append(values, v)
		}
	}
	return values
}

func (r jsonRule) judgeAll(answer string, accepted []any) verdict {
	v, err := answerJSON(answer)
	if err != nil {
		return notJSON(answer, err)
	}
	best := verdict{score: -1, reason: "there is nothing to compare with: the task has no gold answer that is JSON"}
	for _, want := range accepted {
		d := &jsonDiff{rule: r}
		d.compare("$", v, want)
		if d.first == "" {
			return verdict{score: 1, pass: true}
		}
		share := float64(d.same) / float64(max(1, d.total))
		if share > best.score {
			best = verdict{score: share, reason: d.first}
		}
	}
	best.score = max(0, best.score)
	return best
}

// jsonDiff counts the leaves that two values share, and keeps the first place
// where they differ.
type jsonDiff struct {
	rule        jsonRule
	same, total int
	first       string
}

func (d *jsonDiff) differ(path, format string, args ...any) {
	if d.first == "" {
		d.first = fmt.Sprintf("at %s: ", path) + fmt.Sprintf(format, args...)
	}
}

func (d *jsonDiff) compare(path string, got, want any) {
	switch w := want.(type) {
	case map[string]any:
		if g, ok := got.(map[string]any); ok {
			d.objects(path, g, w)
			return
		}
	case []any:
		if g, ok := got.([]any); ok {
			d.lists(path, g, w)
			return
		}
	default:
		d.total++
		if !sameScalar(got, want) {
			d.differ(path, "got %s, expected %s", short(got), short(want))
			return
		}
		d.same++
		return
	}
	d.total += leaves(want)
	d.differ(path, "got %s, expected %s", short(got), short(want))
}

func (d *jsonDiff) objects(path string, got, want map[string]any) {
	d.total++ // that it is an object at all, so that an empty one counts
	d.same++
	for _, key := range slices.Sorted(maps.Keys(want)) {
		g, ok := got[key]
		if !ok {
			d.total += leaves(want[key])
			d.differ(path, "key %q is missing", key)
			continue
		}
		d.compare(path+"."+key, g, want[key])
	}
	if d.rule.extra {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[key]; !ok {
			d.total++
			d.differ(path, "key %q is not expected", key)
		}
	}
}

func (d *jsonDiff) lists(path string, got, want []any) {
	d.total++
	d.same++
	if len(got) != len(want) {
		d.differ(path, "%d elements, expected %d", len(got), len(want))
	}
	if d.rule.anyOrder {
		got = d.rule.align(got, want)
	}
	for i, w := range want {
		if i >= len(got) {
			d.total += leaves(w)
			continue
		}
		d.compare(fmt.Sprintf("%s[%d]", path, i), got[i], w)
	}
	d.total += max(0, len(got)-len(want))
}

// leaves counts what compare would count for a value that is missing.
func leaves(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			n += leaves(e)
		}
	case []any:
		for _, e := range v {
			n += leaves(e)
		}
	}
	return n
}

// sameScalar compares numbers by value, however they are written.
func sameScalar(a, b any) bool {
	x, okX := a.(json.Number)
	y, okY := b.(json.Number)
	if !okX || !okY {
		return isScalar(a) && a == b
	}
	if x == y {
		return true
	}
	if isPlain(x) && isPlain(y) { // JSON has one way to write a whole number, and -0
		return strings.TrimPrefix(string(x), "-") == "0" && strings.TrimPrefix(string(y), "-") == "0"
	}
	p, okP := rational(x)
	q, okQ := rational(y)
	return okP && okQ && p.Cmp(q) == 0
}

func isPlain(n json.Number) bool { return !strings.ContainsAny(string(n), ".eE") }

// maxNumber is the longest number that is read as one, in characters. Longer
// ones are equal only if they are written alike.
const maxNumber = 1000

// rational refuses what would make a number of gigabytes, or take minutes.
func rational(n json.Number) (*big.Rat, bool) {
	_, exponent, _ := strings.Cut(strings.ToLower(n.String()), "e")
	if len(n) > maxNumber || len(strings.TrimLeft(exponent, "+-0")) > 3 {
		return nil, false
	}
	return new(big.Rat).SetString(n.String())
}

func isScalar(v any) bool {
	switch v.(type) {
	case map[string]any, []any:
		return false
	}
	return true
}

func short(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return describe(v)
	}
	return excerpt(string(text), 80)
}
