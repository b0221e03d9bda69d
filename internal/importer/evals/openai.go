package evals

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// openaiEval is an entry of a registry that says how samples are judged.
type openaiEval struct {
	at    place
	class string
	args  map[string]any
}

// registry imports an eval that a registry names.
type registry struct{ *work }

// openai imports an eval of OpenAI: a registry entry with its samples, or samples alone.
func (w *registry) openai(file string) {
	at := place{file: file}
	if ext := strings.ToLower(path.Ext(file)); ext != ".yaml" && ext != ".yml" {
		w.note(at, Added, "there is no registry entry: answers are judged as by Match, which wants them to begin with ideal")
		w.samples(file, openaiEval{at: at, class: "evals.elsuite.basic.match:Match"})
		return
	}
	v, err := w.read.yaml(file)
	if err != nil {
		w.failFile(at, err)
		return
	}
	entries, ok := v.(map[string]any)
	if !ok {
		w.fail(at, "name a file of registry/evals", "found %s, allowed: evals by their names", describe(v))
		return
	}
	var found []openaiEval
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		entry, _ := entries[name].(map[string]any)
		class, isEval := entry["class"].(string)
		if !isEval {
			continue
		}
		args, _ := entry["args"].(map[string]any)
		w.rest(at.in("%s", name), entry, "class args", "id metrics description disclaimer")
		found = append(found, openaiEval{at.in("%s", name), class, args})
	}
	if len(found) == 0 {
		w.fail(at, "name a file whose entries say class and args", "there is no eval with a class in it")
		return
	}
	for _, other := range found[1:] {
		w.note(other.at, NoCounterpart, "one eval is imported at a time: the first")
	}
	e := found[0]
	w.set.name = or(slug(strings.SplitN(e.at.key, ".", 2)[0]), w.set.name)
	samples, ok := w.samplesFile(e)
	if ok {
		w.samples(samples, e)
	}
}

// samplesFile finds the samples of an eval as the registry does: below data next to evals.
func (w *registry) samplesFile(e openaiEval) (string, bool) {
	name, ok := e.args["samples_jsonl"].(string)
	if !ok {
		w.fail(e.at.in("args.samples_jsonl"), "name the file of its samples", "found %s, allowed: a path", describe(e.args["samples_jsonl"]))
		return "", false
	}
	dir := path.Dir(e.at.file)
	for _, base := range []string{path.Join(path.Dir(dir), "data"), path.Join(dir, "data"), dir, "data"} {
		if file, err := resolve(base, name); err == nil {
			if info, err := fs.Stat(w.read.fsys, file); err == nil && !info.IsDir() {
				return file, true
			}
		} else if base == dir {
			w.fail(e.at.in("args.samples_jsonl"), helpOutside, "%v", err)
			return "", false
		}
	}
	w.fail(e.at.in("args.samples_jsonl"), "import the folder that holds evals and data, or put the file next to it", "%.80q is not there, nor below data", name)
	return "", false
}

// openaiChecks returns the checks of a class of evals; lost says why there are none.
func openaiChecks(e openaiEval) (checks []any, changed, lost string) {
	check := func(keys ...any) []any {
		c := map[string]any{}
		for i := 0; i < len(keys); i += 2 {
			c[keys[i].(string)] = keys[i+1]
		}
		return []any{c}
	}
	_, class, _ := strings.Cut(e.class, ":")
	switch class {
	case "Match":
		return check("type", "starts-with", "value", "$gold"), "Match: white space before the answer does not matter here", ""
	case "Includes":
		kind := "contains-any"
		if e.args["ignore_case"] == true {
			kind = "icontains-any"
		}
		return check("type", kind, "value", "$gold"), "", ""
	case "FuzzyMatch":
		return []any{map[string]any{"any": []any{
			map[string]any{"type": "equals", "value": "$gold", "normalize": "squad"}, map[string]any{"type": "icontains-any", "value": "$gold"},
		}}}, "FuzzyMatch: an answer that holds ideal passes, one that ideal holds does not", ""
	case "JsonMatch":
		return check("type", "json-equals", "value", "$gold"), "JsonMatch: the score is the share of equal values", ""
	case "ModelBasedClassify":
		spec, _ := e.args["modelgraded_spec"].(string)
		if spec == "fact" {
			return check("type", "llm-equivalent"), "ModelBasedClassify fact is judged by models.judge, in the words of this program", ""
		}
		if spec == "closedqa" {
			return nil, "ModelBasedClassify closedqa is judged by models.judge, in the words of this program", ""
		}
		return nil, "", "the grading prompt of ModelBasedClassify " + spec + " is not known here; llm-rubric asks a judge"
	}
	return nil, "", "its code is not run; known are Match, Includes, FuzzyMatch, JsonMatch and ModelBasedClassify with fact and closedqa"
}

// samples makes tasks of the samples of an eval.
func (w *registry) samples(file string, e openaiEval) {
	checks, changed, lost := openaiChecks(e)
	switch {
	case lost != "":
		w.lose(e.at.in("class"), "%.80s: %s", e.class, lost)
		checks = []any{map[string]any{"type": "equals", "normalize": "text"}}
	case changed != "":
		w.note(e.at.in("class"), Changed, "%s", changed)
	default:
		w.note(e.at.in("class"), Taken, "%.80s", e.class)
	}
	w.set.checks = checks
	_, class, _ := strings.Cut(e.class, ":")
	w.rest(e.at.in("args"), e.args, "samples_jsonl "+map[string]string{"Includes": "ignore_case", "ModelBasedClassify": "modelgraded_spec"}[class], "")
	for row, err := range w.read.rows(file) {
		if err != nil {
			if w.badRow(file, err) {
				continue
			}
			return
		}
		at := place{file: file, row: row.n}
		w.attempt(func() { w.openaiSample(at, row.m, len(checks) == 0) })
	}
}

// openaiSample makes a task of a sample, which has its criteria or its answers.
func (w *registry) openaiSample(at place, m map[string]any, byCriteria bool) {
	w.rest(place{file: at.file}, m, "input "+map[bool]string{true: "criteria ideal", false: "ideal"}[byCriteria], "")
	one := item{at: at}
	prompt, ok := w.input(at.in("input"), m["input"], &one)
	if !ok {
		return
	}
	one.prompt = prompt
	if criterion, isText := m["criteria"].(string); isText && byCriteria {
		one.checks = []any{map[string]any{"type": "llm-rubric", "criteria": []any{criterion}}}
	} else if one.gold, ok = w.golds(at.in("ideal"), m["ideal"]); !ok {
		return
	}
	w.add(one)
}

// add adds a task, within bounds.
func (w *work) add(one item) {
	if len(w.items) >= maxItems {
		w.fail(one.at, "import a part of it", "there are more than %d tasks", maxItems)
		return
	}
	w.items = append(w.items, one)
}

// input returns what a sample asks: text, or messages.
func (w *work) input(at place, v any, one *item) (string, bool) {
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case []any:
		var ok bool
		if text, ok = w.messages(at, v, one); !ok {
			return "", false
		}
	default:
		w.fail(at, "write text, or a list of messages", "found %s, allowed: text or a list of messages", describe(v))
		return "", false
	}
	if strings.TrimSpace(text) == "" {
		w.fail(at, "write what is asked", "it asks nothing")
		return "", false
	}
	return text, true
}

// golds returns the accepted answers of a sample.
func (w *work) golds(at place, v any) ([]string, bool) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []string
	for i, one := range list {
		text := ""
		switch one := one.(type) {
		case nil, []any:
		default:
			text = formatValue(one)
		}
		if strings.TrimSpace(text) == "" {
			w.fail(at, "write the accepted answer, or a list of them", "entry %d: found %s, allowed: text that is not empty", i+1, describe(one))
			return nil, false
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		w.fail(at, "write the accepted answer, or a list of them", "the list is empty")
	}
	return out, len(out) > 0
}
