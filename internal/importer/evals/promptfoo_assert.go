package evals

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// lostTypes returns the assertions of promptfoo that nothing here judges by, with the reason why.
func lostTypes() map[string]string {
	const code = "its code is not run; a check of type command runs a program of yours"
	const overlap = "an overlap of words is judged by f1 or levenshtein here"
	const traces = "what a program did is judged by tool-called and command here"
	out := map[string]string{
		"javascript": code, "python": code, "ruby": code, "webhook": "nothing is asked of other servers",
		"bleu": overlap, "gleu": overlap, "rouge-n": overlap, "meteor": overlap, "f-score": overlap,
		"similar": "there are no embeddings; llm-equivalent asks a judge", "classifier": "there are no classifiers", "moderation": "there are no classifiers", "pi": "there are no classifiers",
		"latency": "limits are about the run", "cost": "limits are about the run", "perplexity": "probabilities are not asked for", "perplexity-score": "probabilities are not asked for",
		"is-html": "it is judged by a regex or a command", "contains-html": "it is judged by a regex or a command", "is-xml": "it is judged by a regex or a command", "contains-xml": "it is judged by a regex or a command",
		"is-sql": "it is judged by a regex or a command", "contains-sql": "it is judged by a regex or a command", "guardrails": "nothing here does this", "finish-reason": "nothing here does this",
		"is-refusal": "nothing here does this", "select-best": "answers are not compared with each other", "max-score": "answers are not compared with each other",
	}
	for _, t := range strings.Fields("is-valid-function-call is-valid-openai-function-call is-valid-openai-tools-call tool-call-f1 skill-used trace-error-spans trace-span-count trace-span-duration") {
		out[t] = traces
	}
	for _, t := range strings.Fields("answer-relevance context-faithfulness context-recall context-relevance conversation-relevance search-rubric agent-rubric") {
		out[t] = "its prompt is not known here; llm-rubric asks a judge"
	}
	return out
}

// knownTypes returns the assertions of promptfoo that are imported.
func knownTypes() []string {
	return []string{
		"equals", "contains", "contains-all", "contains-any", "icontains", "icontains-all", "icontains-any", "starts-with", "regex",
		"is-json", "contains-json", "levenshtein", "word-count", "assert-set", "llm-rubric", "g-eval", "model-graded-closedqa", "factuality", "model-graded-factuality",
	}
}

// assertions converts the assertions of one test.
func (p *promptfoo) assertions(at place, list []any, vars map[string]any, inSet bool) []any {
	var out []any
	for i, raw := range list {
		here := at.in("[%d]", i)
		a, ok := raw.(map[string]any)
		if !ok {
			p.fail(here, "write {type: contains, value: ...}", "found %s, allowed: an assertion", describe(raw))
			continue
		}
		a = p.resolveRef(here, a)
		if c := p.assertion(here, a, vars, inSet); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// resolveRef returns the assertion template that $ref names, else a.
func (p *promptfoo) resolveRef(at place, a map[string]any) map[string]any {
	ref, ok := a["$ref"].(string)
	if !ok {
		return a
	}
	var v any = p.top
	for _, key := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		m, _ := v.(map[string]any)
		v = m[key]
	}
	found, ok := v.(map[string]any)
	if !ok || !strings.HasPrefix(ref, "#/") || found["$ref"] != nil {
		p.fail(at.in("$ref"), "name one of assertionTemplates", "%.80q names nothing in the configuration", ref)
		return map[string]any{"type": "equals", "value": ""}
	}
	return found
}

// assertion converts one assertion; nil if it is lost or broken.
func (p *promptfoo) assertion(at place, a map[string]any, vars map[string]any, inSet bool) map[string]any {
	kind, _ := a["type"].(string)
	base, negated := strings.CutPrefix(kind, "not-")
	switch why, lost := lostTypes()[strings.SplitN(base, ":", 2)[0]]; {
	case kind == "":
		p.fail(at.in("type"), "name one, such as contains", "found %s, allowed: a type of assertion", describe(a["type"]))
		return nil
	case lost:
		p.lose(at, "%s: %s", kind, why)
		return nil
	case !slices.Contains(knownTypes(), base) || base == "assert-set" && (negated || inSet):
		p.lose(at, "%s is no assertion of promptfoo 0.123 that is allowed here%s", kind, suggestWord(base, knownTypes()))
		return nil
	}
	for _, key := range []string{"transform", "contextTransform"} {
		if a[key] != nil {
			p.lose(at.in(key), "its code is not run: the assertion %s is left out", kind)
			return nil
		}
	}
	var c map[string]any
	if base == "assert-set" {
		c = p.assertSet(at, a, vars)
	} else {
		c = p.check(at, base, negated, a, vars)
	}
	if c == nil {
		return nil
	}
	p.common(at, a, c)
	read := map[string]string{"assert-set": " threshold assert", "levenshtein": " value threshold"}[base]
	if asksJudge(c) {
		read = " value threshold provider rubricPrompt"
	}
	p.rest(at, a, "type weight metric $ref transform contextTransform"+or(read, " value"), "")
	p.count(kind)
	return c
}

// common takes over what every assertion may have.
func (p *promptfoo) common(at place, a, c map[string]any) {
	if v, given := a["weight"]; given && v != nil {
		weight, ok := yamlx.Number(v)
		if !ok || weight < 0 || weight > 1e9 {
			p.fail(at.in("weight"), "give it a share of the score", "found %s, allowed: a number from 0 on", describe(v))
			return
		}
		c["weight"] = weight
		if weight == 0 && a["type"] == "assert-set" {
			c["required"] = true // there it fails the test all the same
		}
	}
	if name, ok := a["metric"].(string); ok && name != "" && !strings.Contains(name, "{{") {
		c["name"] = name
	}
}

// assertSet converts a set of assertions.
func (p *promptfoo) assertSet(at place, a map[string]any, vars map[string]any) map[string]any {
	list, ok := a["assert"].([]any)
	if !ok || len(list) == 0 {
		p.fail(at.in("assert"), "give it some", "found %s, allowed: a list of assertions", describe(a["assert"]))
		return nil
	}
	members := p.assertions(at.in("assert"), list, vars, true)
	if len(members) == 0 {
		return nil
	}
	if weightless(members) {
		p.note(at, Changed, "every weight in the set is 0, so its score is 0 there whatever the answer")
		if t, _ := yamlx.Number(a["threshold"]); t > 0 {
			return never()
		}
		return always()
	}
	return p.withThreshold(at, a["threshold"], members)
}

func weightless(members []any) bool {
	return !slices.ContainsFunc(members, func(v any) bool {
		m, _ := v.(map[string]any)
		weight, given := m["weight"].(float64)
		return !given || weight > 0
	})
}

// withThreshold makes one check of several: all have to hold, or, where there is a threshold,
// their score has to reach it.
func (p *promptfoo) withThreshold(at place, v any, members []any) map[string]any {
	threshold, ok := yamlx.Number(v)
	if v != nil && !ok {
		p.fail(at.in("threshold"), "write a number such as 0.5", "found %s, allowed: a number", describe(v))
	}
	switch {
	case !ok:
		return all(members)
	case threshold > 1:
		p.note(at.in("threshold"), Changed, "no score reaches %v: it never passes, there neither", threshold)
		return never()
	case threshold < 0:
		threshold = 0
	}
	c := all(members)
	c["threshold"] = threshold
	return c
}

// always returns a check that every answer passes, and never a check that none does.
func always() map[string]any {
	return map[string]any{"type": "word-count", "like": "promptfoo", "min": 0}
}

func never() map[string]any {
	return map[string]any{"type": "not-word-count", "like": "promptfoo", "min": 0}
}

// check converts an assertion that is no set.
func (p *promptfoo) check(at place, base string, negated bool, a map[string]any, vars map[string]any) map[string]any {
	value, ok := p.value(at.in("value"), a["value"], vars)
	if !ok {
		return nil
	}
	kind := base
	if negated {
		kind = "not-" + base
	}
	c := map[string]any{"type": kind, "like": "promptfoo"}
	switch base {
	case "equals":
		if _, given := a["value"]; !given {
			p.failMissing(at, kind, "a value")
			return nil
		}
		c["value"] = value
	case "contains", "icontains":
		if text, ok := value.(string); ok && text == "" || !ok && !isNumber(value) {
			p.failMissing(at, kind, "text that is not empty, or a number")
			return nil
		}
		c["value"] = value
	case "starts-with", "regex":
		if text, ok := value.(string); !ok || text == "" {
			p.failMissing(at, kind, "text that is not empty")
			return nil
		}
		c["value"] = value
		if base == "regex" && brokenPattern(c) {
			p.note(at.in("value"), Changed, "%.80q cannot be read as a pattern of JavaScript: it never passes here, nor there if it is none; write it otherwise", value)
		}
	case "contains-all", "contains-any", "icontains-all", "icontains-any":
		return p.several(at, base, negated, value)
	case "is-json", "contains-json":
		return p.withSchema(at, c, value)
	case "levenshtein":
		return p.levenshtein(at, c, negated, value, a["threshold"])
	case "word-count":
		return p.words(at, c, value)
	default:
		return p.newJudgeCheck(at, kind, base, a, value)
	}
	return c
}

func (p *promptfoo) failMissing(at place, kind, what string) {
	p.fail(at.in("value"), "promptfoo ends with an error on it: correct it there", "%s needs %s", kind, what)
}

func isNumber(v any) bool { _, ok := yamlx.Number(v); return ok }

// brokenPattern reports whether a pattern cannot be read as one of JavaScript.
func brokenPattern(c map[string]any) bool {
	suite, err := check.Compile([]any{c}, check.Options{})
	if err != nil {
		return false
	}
	s := suite.Score("", newTask(""))
	return len(s.Components) == 1 && strings.Contains(s.Components[0].Reason, "cannot be read as one of JavaScript")
}

// value renders what an assertion compares with.
func (p *promptfoo) value(at place, v any, vars map[string]any) (any, bool) {
	switch v := v.(type) {
	case string:
		if strings.HasPrefix(v, "file://") {
			return p.fileValue(at, v)
		}
		if strings.HasPrefix(v, "package:") {
			p.lose(at, "its code is not run")
			return nil, false
		}
		return p.renderText(at, v, vars)
	case []any:
		out := make([]any, len(v))
		for i, one := range v {
			out[i] = one
			if text, ok := one.(string); ok {
				inner, ok := p.value(at.in("[%d]", i), text, vars)
				if !ok {
					return nil, false
				}
				out[i] = inner
			}
		}
		return out, true
	}
	return v, true
}

func (p *promptfoo) renderText(at place, text string, vars map[string]any) (any, bool) {
	out, err := render(text, vars)
	if err != nil {
		if errors.Is(err, errEnv) {
			p.lose(at, "%v: the assertion is left out", err)
		} else {
			p.lose(at, "%v: the assertion is left out", err)
		}
		return nil, false
	}
	return out, true
}

// fileValue reads a value from a file.
func (p *promptfoo) fileValue(at place, name string) (any, bool) {
	switch ext := strings.ToLower(path.Ext(strings.SplitN(strings.TrimPrefix(name, "file://"), ":", 2)[0])); ext {
	case ".json", ".yaml", ".yml", ".txt":
		file, ok := p.resolve(at, name)
		if !ok {
			return nil, false
		}
		if ext == ".txt" {
			text, err := p.read.text(file)
			if err != nil {
				p.fail(at, "put the file there", "%s: %v", file, err)
			}
			return strings.TrimSpace(text), err == nil
		}
		v, err := p.read.yaml(file)
		if err != nil {
			p.fail(at, "put the file there, or fix it", "%s: %v", file, err)
		}
		return v, err == nil
	case ".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb":
		p.lose(at, "%.80s: its code is not run", name)
	default:
		p.fail(at, "give it the ending of what it holds", "%.80q: found the ending %q, allowed: .json, .yaml, .yml and .txt", name, ext)
	}
	return nil, false
}

// several converts the checks of several texts. A text represents those between commas.
func (p *promptfoo) several(at place, base string, negated bool, value any) map[string]any {
	if text, ok := value.(string); ok && text != "" {
		list, err := commaValues(text)
		if err != nil {
			p.fail(at.in("value"), "quote a field that holds a comma: a, \"b, c\"", "%v", err)
			return nil
		}
		value = list
	}
	list, ok := value.([]any)
	if !ok {
		p.failMissing(at, base, "a list of texts, or text with commas between")
		return nil
	}
	var texts []any
	empty := false
	for i, one := range list {
		switch one.(type) {
		case []any, map[string]any, nil:
			p.fail(at.in("value[%d]", i), "name texts alone", "found %s, allowed: text or a number", describe(one))
			return nil
		}
		if one == "" {
			empty = true
			continue
		}
		texts = append(texts, one)
	}
	all := strings.HasSuffix(base, "-all")
	switch {
	case all && len(texts) == 0, !all && empty: // every text holds the empty one
		if negated {
			return never()
		}
		return always()
	case len(texts) == 0:
		if negated {
			return always()
		}
		return never()
	}
	if negated {
		base = "not-" + base
	}
	return map[string]any{"type": base, "like": "promptfoo", "values": texts}
}

// commaValues reads a list from one text: fields between commas, which may be in quotes.
func commaValues(text string) ([]any, error) {
	var out []any
	for i := 0; ; {
		i += len(text[i:]) - len(strings.TrimLeft(text[i:], ", \t\r\n\v\f\u00a0\ufeff"))
		if i >= len(text) {
			return out, nil
		}
		if text[i] != '"' {
			end := strings.IndexByte(text[i:], ',')
			if end < 0 {
				end = len(text) - i
			}
			out = append(out, strings.TrimSpace(text[i:i+end]))
			i += end
			continue
		}
		field, next, err := quotedField(text, i+1)
		if err != nil {
			return nil, err
		}
		out = append(out, field)
		i = next + len(text[next:]) - len(strings.TrimLeft(text[next:], " \t\r\n\v\f\u00a0\ufeff"))
		if i < len(text) && text[i] != ',' {
			return nil, errors.New("a comma is wanted after a quoted field")
		}
	}
}

func quotedField(text string, i int) (field string, next int, err error) {
	var b strings.Builder
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case (c == '\\' || c == '"') && i+1 < len(text) && (text[i+1] == '"' || c == '\\' && text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		case c == '"':
			return b.String(), i + 1, nil
		default:
			b.WriteByte(c)
		}
	}
	return "", 0, errors.New("a quoted field is not closed")
}

// withSchema adds the schema that the value of is-json and contains-json is.
func (p *promptfoo) withSchema(at place, c map[string]any, value any) map[string]any {
	if text, ok := value.(string); ok && text != "" {
		v, err := decodeYAML("", []byte(text))
		if err != nil {
			p.fail(at.in("value"), "write a JSON Schema", "%v", err)
			return nil
		}
		value = v
	}
	switch v := value.(type) {
	case nil, string:
	case map[string]any:
		c["schema"] = v
		if key := unknownKeyword(v); key != "" {
			p.fail(at.in("value"), "promptfoo ends with an error on it: correct it there", "%q is no keyword of JSON Schema%s", key, suggestWord(key, schemaKeywords()))
			return nil
		}
		if hasFormat(v) {
			p.lose(at.in("value"), "format of a JSON Schema is not looked at")
		}
	case bool:
		if v {
			p.failMissing(at, fmt.Sprint(c["type"]), "a JSON Schema, or none")
			return nil
		}
	default:
		if f, ok := yamlx.Number(v); ok && f == 0 {
			return c
		}
		p.failMissing(at, fmt.Sprint(c["type"]), "a JSON Schema, or none")
		return nil
	}
	return c
}

// hasFormat reports whether a schema says format of something.
func hasFormat(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if _, isText := v["format"].(string); isText {
			return true
		}
		for key, inner := range v {
			if key != "enum" && key != "const" && key != "default" && hasFormat(inner) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasFormat)
	}
	return false
}

func (p *promptfoo) levenshtein(at place, c map[string]any, negated bool, value, threshold any) map[string]any {
	text, ok := value.(string)
	if !ok {
		p.failMissing(at, "levenshtein", "text")
		return nil
	}
	most := 5.0
	if threshold != nil {
		if most, ok = yamlx.Number(threshold); !ok {
			p.fail(at.in("threshold"), "write how many edits are allowed", "found %s, allowed: a number", describe(threshold))
			return nil
		}
	}
	if most < 0 {
		if negated {
			return always()
		}
		return never()
	}
	c["value"], c["max"] = text, math.Min(most, 1e9)
	return c
}

func (p *promptfoo) words(at place, c map[string]any, value any) map[string]any {
	if m, ok := value.(map[string]any); ok {
		for _, key := range []string{"min", "max"} {
			v, given := m[key]
			if !given {
				continue
			}
			n, ok := yamlx.Number(v)
			if !ok {
				p.fail(at.in("value.%s", key), "write a number of words", "found %s, allowed: a number", describe(v))
				return nil
			}
			c[key] = n
		}
		lo, hasLo := c["min"].(float64)
		hi, hasHi := c["max"].(float64)
		if !hasLo && !hasHi || hasLo && hasHi && lo > hi {
			p.failMissing(at, "word-count", "min, max or both, the smaller first")
			return nil
		}
		return c
	}
	n, ok := yamlx.Number(value)
	if text, isText := value.(string); isText {
		f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if n, ok = f, err == nil; strings.TrimSpace(text) == "" {
			n, ok = 0, true
		}
	}
	if !ok {
		p.failMissing(at, "word-count", "a number, or min and max")
		return nil
	}
	c["min"], c["max"] = n, n
	return c
}

// newJudgeCheck converts an assertion that a model grades.
func (p *promptfoo) newJudgeCheck(at place, kind, base string, a map[string]any, value any) map[string]any {
	var criteria []any
	switch v := value.(type) {
	case string:
		criteria = []any{v}
	case []any:
		criteria = v
	}
	for _, one := range criteria {
		if text, ok := one.(string); !ok || strings.TrimSpace(text) == "" {
			criteria = nil
		}
	}
	if len(criteria) == 0 || len(criteria) > 20 {
		p.failMissing(at, kind, "what is to hold, in words")
		return nil
	}
	p.judge(at.in("provider"), a["provider"])
	if a["rubricPrompt"] != nil {
		p.note(at.in("rubricPrompt"), NoCounterpart, "the judge is asked in the words of this program")
	}
	not := ""
	if strings.HasPrefix(kind, "not-") {
		not = "not-"
	}
	p.note(at, Changed, "%s is judged by models.judge, in the words of this program", kind)
	if strings.HasSuffix(base, "factuality") {
		return map[string]any{"type": not + "llm-equivalent", "value": criteria[0]}
	}
	c := map[string]any{"type": not + "llm-rubric", "criteria": criteria}
	if t, ok := yamlx.Number(a["threshold"]); ok && t >= 0 && t <= 1 {
		c["threshold"] = t
	}
	return c
}

func schemaKeywords() []string {
	return strings.Fields(`$schema $id $ref $comment $defs $anchor definitions title description default examples readOnly writeOnly nullable deprecated
		type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength pattern format contentEncoding contentMediaType
		items additionalItems maxItems minItems uniqueItems contains maxProperties minProperties required properties patternProperties additionalProperties
		propertyNames dependencies dependentRequired dependentSchemas not if then else allOf anyOf oneOf`)
}

// unknownKeyword returns a keyword of a schema that is none, "" if all are.
func unknownKeyword(v any) string {
	schema, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(schema)) {
		var below []any
		switch key {
		case "properties", "patternProperties", "definitions", "$defs", "dependencies", "dependentSchemas":
			named, _ := schema[key].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(named)) {
				below = append(below, named[name])
			}
		case "enum", "const", "default", "examples", "required":
		case "allOf", "anyOf", "oneOf", "items":
			below, _ = schema[key].([]any)
			below = append(below, schema[key])
		default:
			if !slices.Contains(schemaKeywords(), key) {
				return key
			}
			below = []any{schema[key]}
		}
		for _, inner := range below {
			if found := unknownKeyword(inner); found != "" {
				return found
			}
		}
	}
	return ""
}
