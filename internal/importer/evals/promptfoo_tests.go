package evals

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// loadTests reads the tests: in place, from files, by patterns of files.
func (p *promptfoo) loadTests(at place, v any) []pfTest {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return p.testFiles(at, v)
	case map[string]any:
		if name, ok := v["path"].(string); ok {
			p.rest(at, v, "path", "")
			return p.testFiles(at.in("path"), name)
		}
	case []any:
		var out []pfTest
		for i, one := range v {
			here := at.in("[%d]", i)
			switch one := one.(type) {
			case string:
				out = append(out, p.testFiles(here, one)...)
			case map[string]any:
				if name, ok := one["path"].(string); ok && one["vars"] == nil && one["assert"] == nil {
					p.rest(here, one, "path", "")
					out = append(out, p.testFiles(here.in("path"), name)...)
					continue
				}
				p.keep(&out, here, func() map[string]any { return p.withVars(here, one) })
			default:
				p.attempt(func() { p.fail(here, "write {vars: {...}, assert: [...]}", "found %s, allowed: a test", describe(one)) })
			}
		}
		return out
	}
	p.fail(at, "write a list of tests, or file://tests.csv", "found %s, allowed: a list or the name of a file", describe(v))
	return nil
}

// keep adds a test that can be read.
func (p *promptfoo) keep(tests *[]pfTest, at place, read func() map[string]any) {
	var m map[string]any
	if p.attempt(func() { m = read() }) {
		*tests = append(*tests, pfTest{at, m})
	}
}

// withVars reads variables that are in files of their own.
func (p *promptfoo) withVars(at place, test map[string]any) map[string]any {
	name, ok := test["vars"].(string)
	if !ok {
		return test
	}
	test = maps.Clone(test)
	file, ok := p.resolve(at.in("vars"), name)
	if !ok {
		return test
	}
	v, err := p.read.yaml(file)
	if err != nil {
		p.fail(at.in("vars"), "put the file there, or fix it", "%s: %v", file, err)
	}
	test["vars"] = v
	return test
}

func (p *promptfoo) testFiles(at place, name string) []pfTest {
	if strings.Contains(strings.TrimPrefix(name, "file://"), "://") {
		p.fail(at, "save the tests as CSV or YAML next to the configuration", "%.80q: nothing is fetched", name)
		return nil
	}
	if plain, _, _ := strings.Cut(strings.TrimPrefix(name, "file://"), ":"); slices.Contains(codeEndings(), path.Ext(plain)) {
		name = plain // without the function
	}
	pattern, ok := p.resolve(at, name)
	if !ok {
		return nil
	}
	files, err := p.read.glob(pattern)
	if err != nil || len(files) == 0 {
		p.fail(at, "correct the pattern", "%.80q names no file", name)
		return nil
	}
	var out []pfTest
	for _, file := range files {
		out = append(out, p.testFile(at, file)...)
	}
	return out
}

func (p *promptfoo) testFile(at place, file string) []pfTest {
	ext := strings.ToLower(path.Ext(file))
	if slices.Contains(codeEndings(), ext) {
		p.lose(at, "%s: its code is not run: save the tests that it makes as CSV, JSONL or YAML", file)
		return nil
	}
	switch ext {
	case ".yaml", ".yml", ".json":
		v, err := p.read.yaml(file)
		if err != nil {
			p.failFile(place{file: file}, err)
			return nil
		}
		if m, ok := v.(map[string]any); ok {
			if m["tests"] != nil {
				v = m["tests"]
			} else {
				v = []any{m}
			}
		}
		return p.loadTests(place{file: file}, v)
	case ".csv", ".jsonl", ".tsv":
	default:
		p.fail(at, "save the tests as CSV, JSONL or YAML", "%s: found the ending %q, allowed: .yaml, .json, .jsonl and .csv", file, ext)
		return nil
	}
	var out []pfTest
	for row, err := range p.read.rows(file) {
		if err != nil {
			if p.badRow(file, err) {
				continue
			}
			return out
		}
		here := place{file: file, row: row.n}
		if ext == ".jsonl" {
			p.keep(&out, here, func() map[string]any { return p.withVars(here, row.m) })
			continue
		}
		p.keep(&out, here, func() map[string]any { return p.tableTest(here, row.m) })
	}
	return out
}

// failRow reports a fault of a file of rows, with its row.
func (w *work) failRow(file string, err error) {
	at := place{file: file}
	var of *rowError
	if errors.As(err, &of) {
		at.row, err = of.n, of.err
	}
	w.failFile(at, err)
}

// tableTest makes a test of a row of a table.
func (p *promptfoo) tableTest(at place, cells map[string]any) map[string]any {
	vars, options, metadata := map[string]any{}, map[string]any{}, map[string]any{}
	test := map[string]any{"vars": vars, "options": options}
	var asserts []any
	places := map[string]int{}
	for _, column := range slices.SortedFunc(maps.Keys(cells), byExpected) {
		text, _ := cells[column].(string)
		switch {
		case strings.HasPrefix(column, "__expected"):
			if text = strings.TrimSpace(text); text != "" {
				places[column] = len(asserts)
				asserts = append(asserts, parseAssertion(text))
			}
		case column == "__prefix" || column == "__suffix":
			options[column[2:]] = text
		case column == "__description":
			test["description"] = text
		case column == "__threshold":
			if f, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil {
				test["threshold"] = f
			}
		case strings.HasPrefix(column, "__metadata:"):
			if text != "" {
				metadata[strings.TrimSuffix(column[len("__metadata:"):], "[]")] = text
			}
		case strings.HasPrefix(column, "__config:"):
			p.configure(at.in(column), strings.Split(column, ":"), text, asserts, places)
		case column == "__metric":
			for _, a := range asserts {
				a.(map[string]any)["metric"] = text
			}
		case strings.HasPrefix(column, "__"):
			p.note(at.in(column), NoCounterpart, "nothing here does this")
		default:
			vars[column] = text
		}
	}
	if len(metadata) > 0 {
		test["metadata"] = metadata
	}
	test["assert"] = asserts
	return test
}

// byExpected sorts columns so that those with assertions come first, in the order of their
// numbers.
func byExpected(a, b string) int {
	rank := func(name string) int {
		rest, ok := strings.CutPrefix(name, "__expected")
		if !ok {
			return 1 << 30
		}
		n, _ := strconv.Atoi(rest)
		return n
	}
	if x, y := rank(a), rank(b); x != y {
		return x - y
	}
	return strings.Compare(a, b)
}

// configure reads a column such as __config:__expected1:threshold.
func (p *promptfoo) configure(at place, parts []string, text string, asserts []any, places map[string]int) {
	f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if len(parts) != 3 || parts[2] != "threshold" || err != nil {
		p.fail(at, "write __config:__expected1:threshold with a number below it", "found %.40q, allowed: a number for threshold", text)
		return
	}
	for _, column := range []string{parts[1], strings.TrimSuffix(parts[1], "1")} {
		if i, ok := places[column]; ok {
			asserts[i].(map[string]any)["threshold"] = f
			return
		}
	}
}

// shortAssertion is an assertion in a cell: contains-all: a, b or levenshtein(3): text.
var shortAssertion = pattern.New(`^(not-)?([a-z][a-z0-9:-]*?)(?:\((\d+(?:\.\d+)?)\))?(?::([\s\S]*))?$`)

// parseAssertion reads an assertion from a cell of a table. Text that names none is what the
// answer is to equal.
func parseAssertion(cell string) map[string]any {
	for prefix, kind := range map[string]string{"javascript:": "javascript", "fn:": "javascript", "eval:": "javascript", "python:": "python"} {
		if rest, ok := strings.CutPrefix(cell, prefix); ok {
			return map[string]any{"type": kind, "value": strings.TrimSpace(rest)}
		}
	}
	for _, prefix := range []string{"grade:", "llm-rubric:"} {
		if rest, ok := strings.CutPrefix(cell, prefix); ok {
			return map[string]any{"type": "llm-rubric", "value": rest}
		}
	}
	if strings.HasPrefix(cell, "file://") {
		switch ext := path.Ext(strings.SplitN(cell[len("file://"):], ":", 2)[0]); ext {
		case ".py":
			return map[string]any{"type": "python", "value": cell}
		case ".js", ".cjs", ".mjs", ".ts":
			return map[string]any{"type": "javascript", "value": cell}
		}
	}
	m := shortAssertion.FindStringSubmatch(cell)
	_, lost := lostTypes()[first(m, 2)]
	if m == nil || !lost && (!slices.Contains(knownTypes(), m[2]) || m[2] == "assert-set") {
		return map[string]any{"type": "equals", "value": cell}
	}
	a := map[string]any{"type": m[1] + m[2]}
	switch base := m[2]; {
	case base == "is-json" || base == "contains-json":
		a["value"] = m[4]
	case strings.HasPrefix(base, "contains-a"), strings.HasPrefix(base, "icontains-a"):
		a["value"] = m[4]
	default:
		a["value"] = strings.TrimSpace(m[4])
	}
	if m[2] == "levenshtein" {
		a["threshold"] = 0.75 // what promptfoo takes in a table where none is said
	}
	if f, err := strconv.ParseFloat(m[3], 64); err == nil {
		a["threshold"] = f
	}
	return a
}

func first(m []string, i int) string {
	if i >= len(m) {
		return ""
	}
	return m[i]
}

// defaultTest returns what every test begins with.
func (p *promptfoo) defaultTest(at place) map[string]any {
	switch v := p.top["defaultTest"].(type) {
	case nil:
		return nil
	case map[string]any:
		return v
	case string:
		file, ok := p.resolve(at, v)
		if !ok {
			return nil
		}
		read, err := p.read.yaml(file)
		if err != nil {
			p.fail(at, "put the file there, or fix it", "%s: %v", file, err)
		}
		m, _ := read.(map[string]any)
		return m
	default:
		p.fail(at, "write {assert: [...]}", "found %s, allowed: an object", describe(v))
	}
	return nil
}

// scenarios returns tests over sets of variables.
func (p *promptfoo) scenarios(at place) []pfTest {
	list, ok := p.top["scenarios"].([]any)
	if !ok && p.top["scenarios"] != nil {
		p.fail(at, "write a list of {config: [...], tests: [...]}", "found %s, allowed: a list", describe(p.top["scenarios"]))
	}
	var out []pfTest
	for i, raw := range list {
		here := at.in("[%d]", i)
		s, _ := raw.(map[string]any)
		configs, ok := s["config"].([]any)
		if !ok {
			p.fail(here.in("config"), "write a list of {vars: {...}}", "found %s, allowed: a list", describe(s["config"]))
			continue
		}
		p.rest(here, s, "config tests", "description")
		tests := p.loadTests(here.in("tests"), s["tests"])
		if len(tests) == 0 {
			tests = []pfTest{{here, map[string]any{}}}
		}
		for j, config := range configs {
			base, _ := config.(map[string]any)
			p.testKeys(pfTest{here.in("config[%d]", j), base})
			for _, t := range tests {
				q := &promptfoo{work: p.work, defTest: base}
				out = append(out, pfTest{place{file: t.at.file, row: t.at.row, key: fmt.Sprintf("%s config %d", t.at.key, j)}, q.mergeDefaults(t)})
			}
		}
	}
	return out
}
