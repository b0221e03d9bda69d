package evals

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/task"
)

// promptfoo reads a configuration of promptfoo.
type promptfoo struct {
	*work
	file    string
	top     map[string]any
	prompts []promptText
	only    []any // names of the prompts that the target is asked with; nil: all
	defTest map[string]any
	vars    map[string]bool // names that tests give values
	counts  map[string]int  // of assertions that were taken over, by their types
	tests   int
}

// promptText is a prompt as the source has it.
type promptText struct {
	at    place
	text  string
	names []string // by which providers and tests may name it
}

func newTask(id string) task.Task { return task.Task{ID: id} }

func (p *promptfoo) count(kind string) { p.counts[kind]++ }

// promptfoo imports a configuration: its first prompt, with every test.
func (w *work) promptfoo(file string) {
	at := place{file: file}
	v, err := w.read.yaml(file)
	if err != nil {
		w.failFile(at, err)
		return
	}
	top, ok := v.(map[string]any)
	if list, isList := v.([]any); isList { // tests alone
		top, ok = map[string]any{"tests": list}, true
	}
	if !ok {
		w.fail(at, "name a configuration of promptfoo", "found %s, allowed: an object with prompts and tests", describe(v))
		return
	}
	p := &promptfoo{work: w, file: file, top: top, vars: map[string]bool{}, counts: map[string]int{}}
	p.keys(at)
	if text, ok := top["description"].(string); ok && slug(text) != "" {
		w.set.name = slug(text)
	}
	p.providers(at)
	p.loadPrompts(at.in("prompts"), top["prompts"])
	p.defTest = p.defaultTest(at.in("defaultTest"))
	p.testKeys(pfTest{at.in("defaultTest"), p.defTest})
	for _, t := range append(p.loadTests(at.in("tests"), top["tests"]), p.scenarios(at.in("scenarios"))...) {
		p.attempt(func() { p.test(t) })
	}
	p.reportUnusedVars(at)
	for _, kind := range slices.Sorted(maps.Keys(p.counts)) {
		w.note(at.in("tests"), Taken, "%d of %s", p.counts[kind], kind)
	}
	if p.tests == 0 && len(w.problems) == 0 {
		w.problems = w.why
		w.fail(at.in("tests"), "add tests with assert", "there are none")
	}
}

// keys says what happens to the keys of the top that are no tests.
func (p *promptfoo) keys(at place) {
	known := strings.Fields("prompts tests defaultTest scenarios providers targets description assertionTemplates")
	idle := strings.Fields("$schema tags metadata evaluateOptions commandLineOptions outputPath sharing writeLatestResults version derivedMetrics tracing")
	for _, key := range slices.Sorted(maps.Keys(p.top)) {
		switch {
		case slices.Contains(known, key):
		case slices.Contains(idle, key):
			p.note(at.in(key), NotNeeded, "it says nothing of tasks")
		case key == "env":
			p.lose(at.in(key), "variables of the environment are not set, and {{env.NAME}} is not filled in")
		case key == "extensions" || key == "nunjucksFilters":
			p.lose(at.in(key), "its code is not run")
		default:
			p.note(at.in(key), NoCounterpart, "nothing here is called so%s", suggestWord(key, append(known, idle...)))
		}
	}
}

// providers takes over the first model that is known here.
func (p *promptfoo) providers(at place) {
	for _, key := range []string{"providers", "targets"} {
		list, ok := p.top[key].([]any)
		if !ok && p.top[key] != nil {
			list = []any{p.top[key]}
		}
		for i, one := range list {
			p.provider(at.in("%s[%d]", key, i), one)
		}
	}
	p.set.unknown = p.set.target.provider == "" && (p.top["providers"] != nil || p.top["targets"] != nil)
}

func (p *promptfoo) provider(at place, v any) {
	id, more := splitEntry(v)
	m, known := parseModel(id)
	config, _ := more["config"].(map[string]any)
	switch {
	case !known:
		p.note(at, NoCounterpart, "no model that is known here by that name")
		return
	case p.set.target.provider != "" || p.set.target.agent != "":
		p.note(at, NotNeeded, "one model is trained for: %s/%s is not", m.provider, m.name)
		return
	}
	p.modelSettings(at.in("config"), "target", &m, config)
	p.set.target = m
	if p.note(at, Taken, "models.target is %s/%s", m.provider, m.name); m.agent != "" {
		p.note(at, Changed, "the agent %s carries out the tasks, in a workspace of each: agent.name", m.agent)
	}
	if more["transform"] != nil {
		p.lose(at.in("transform"), "its code is not run: answers are judged as they are")
	}
	p.only, _ = more["prompts"].([]any)
	p.rest(at, more, "id config transform prompts", "delay label")
}

func (p *promptfoo) resolve(at place, name string) (string, bool) {
	file, err := resolve(path.Dir(p.file), name)
	if err != nil {
		p.fail(at, helpOutside, "%v", err)
	}
	return file, err == nil
}

// test is one test, with where it is.
type pfTest struct {
	at place
	m  map[string]any
}

// testKeys names the keys of a test that nothing reads.
func (p *promptfoo) testKeys(t pfTest) {
	p.rest(t.at, t.m, "vars assert options threshold metadata description assertScoringFunction prompts", "")
	options, _ := t.m["options"].(map[string]any)
	for _, key := range []string{"tools", "functions", "tool_choice", "function_call", "response_format"} {
		if options[key] != nil {
			p.lose(t.at.in("options.%s", key), "nothing here sends it to a model, so that answers may have another form")
		}
	}
	p.rest(t.at.in("options"), options, "prefix suffix transform transformVars postprocess provider disableVarExpansion disableDefaultAsserts tools functions tool_choice function_call response_format", "runSerially repeat disableConversationVar")
}

// reportUnusedVars reports a prompt that uses none of the variables of the tests.
func (p *promptfoo) reportUnusedVars(at place) {
	if len(p.prompts) == 0 || len(p.vars) == 0 {
		return
	}
	text := p.prompts[0].text
	for _, use := range templateUse.FindAllStringSubmatch(text, -1) {
		for word := range strings.FieldsFuncSeq(use[0], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' }) {
			if p.vars[word] {
				return
			}
		}
	}
	names, help := slices.Sorted(maps.Keys(p.vars)), ""
	for _, name := range names {
		if strings.Contains(text, "{"+name+"}") {
			help = fmt.Sprintf("; write {{%s}} for {%s}", name, name)
		}
	}
	row := Row{File: at.file, Key: p.prompts[0].at.key, State: Changed, Note: fmt.Sprintf("the prompt uses none of the variables %s, there neither%s", strings.Join(names[:min(len(names), 5)], ", "), help)}
	p.record(row)
	p.why = append(p.why, task.Problem{Origin: row.File, Msg: row.Key + ": " + row.Note})
}

// templateUse matches the parts of a template that may use variables.
var templateUse = pattern.New(`\{[{%][\s\S]*?[}%]\}`)

// test makes tasks of a test: one for each combination of its variables.
func (p *promptfoo) test(t pfTest) {
	p.tests++
	if len(p.prompts) == 0 {
		return
	}
	p.testKeys(t)
	merged := p.mergeDefaults(t)
	if only, ok := merged["prompts"].([]any); ok && !p.prompts[0].isAmong(only) {
		p.note(t.at.in("prompts"), LeftOut, "it is asked with other prompts than the one that is trained with")
		p.report.LeftOut++
		return
	}
	if merged["assertScoringFunction"] != nil {
		p.lose(t.at.in("assertScoringFunction"), "its code is not run: scores are weighted means")
	}
	options, _ := merged["options"].(map[string]any)
	for _, key := range []string{"transform", "transformVars", "postprocess"} {
		if options[key] != nil {
			p.lose(t.at.in("options.%s", key), "its code is not run: answers are judged as they are")
		}
	}
	p.judge(t.at.in("options.provider"), options["provider"])
	vars, _ := merged["vars"].(map[string]any)
	if merged["vars"] != nil && vars == nil {
		p.fail(t.at.in("vars"), "write name: value", "found %s, allowed: an object", describe(merged["vars"]))
		return
	}
	combined := []map[string]any{vars}
	if options["disableVarExpansion"] != true {
		combined = p.combinations(t.at, vars)
	}
	for name := range vars {
		p.vars[name] = true
	}
	for i, one := range combined {
		at := t.at
		if len(combined) > 1 {
			at = at.in("vars#%d", i+1)
		}
		p.attempt(func() { p.item(at, merged, options, one) })
	}
}

// mergeDefaults returns a test with what the default test adds.
func (p *promptfoo) mergeDefaults(t pfTest) map[string]any {
	out := maps.Clone(p.defTest)
	if out == nil {
		out = map[string]any{}
	}
	for key, v := range t.m {
		if key == "vars" || key == "options" || key == "metadata" {
			base, okBase := out[key].(map[string]any)
			own, okOwn := v.(map[string]any)
			if okBase && okOwn {
				both := maps.Clone(base)
				maps.Copy(both, own)
				v = both
			}
		}
		if key == "assert" {
			base, _ := out[key].([]any)
			own, ok := v.([]any)
			if v != nil && !ok {
				p.fail(t.at.in("assert"), "write a list of {type: ..., value: ...}", "found %s, allowed: a list of assertions", describe(v))
			}
			if options, _ := t.m["options"].(map[string]any); options["disableDefaultAsserts"] == true {
				base = nil
			}
			v = append(slices.Clone(base), own...)
		}
		out[key] = v
	}
	return out
}

const maxCombinations = 10_000

// combinations expands variables that are lists of texts, and patterns of files.
func (p *promptfoo) combinations(at place, vars map[string]any) []map[string]any {
	out := []map[string]any{{}}
	for _, key := range slices.Sorted(maps.Keys(vars)) {
		values := []any{vars[key]}
		switch v := vars[key].(type) {
		case string:
			if strings.HasPrefix(v, "file://") && strings.ContainsAny(v, "*?[") {
				values = p.globFiles(at.in("vars.%s", key), v)
			}
		case []any:
			if len(v) > 0 {
				if _, isText := v[0].(string); isText {
					values = v
				}
			}
		}
		if len(out)*len(values) > maxCombinations {
			p.fail(at.in("vars.%s", key), "name fewer values", "the variables combine to more than %d tasks", maxCombinations)
			return nil
		}
		next := make([]map[string]any, 0, len(out)*len(values))
		for _, one := range out {
			for _, v := range values {
				more := maps.Clone(one)
				more[key] = v
				next = append(next, more)
			}
		}
		out = next
	}
	return out
}

func (p *promptfoo) globFiles(at place, name string) (values []any) {
	pattern, ok := p.resolve(at, name)
	if !ok {
		return nil
	}
	files, err := p.read.glob(pattern)
	if err != nil || len(files) == 0 {
		p.fail(at, "correct the pattern", "%.80q names no file", name)
	}
	for _, file := range files {
		rel := strings.TrimPrefix(strings.TrimPrefix(file, path.Dir(p.file)), "/")
		values = append(values, "file://"+rel)
	}
	return values
}

// item makes one task of a test whose variables have one value each.
func (p *promptfoo) item(at place, test, options, vars map[string]any) {
	one := item{at: at, meta: map[string]any{}}
	filled, ok := p.fill(at, vars, &one)
	if !ok {
		return
	}
	prompt, ok := p.render(at, p.prompts[0], filled, &one)
	if !ok {
		return
	}
	prefix, _ := options["prefix"].(string)
	suffix, _ := options["suffix"].(string)
	one.prompt = prefix + prompt + suffix
	if strings.TrimSpace(one.prompt) == "" {
		p.fail(at, "give the variables of the prompt values", "the prompt is empty")
		return
	}
	if text, ok := test["description"].(string); ok {
		one.meta["description"] = text
	}
	if m, ok := test["metadata"].(map[string]any); ok {
		one.meta["metadata"] = m
	}
	list, _ := test["assert"].([]any)
	before := len(p.problems)
	checks := p.assertions(at.in("assert"), list, filled, false)
	if len(p.problems) > before {
		return
	}
	switch {
	case len(checks) == 0:
		p.fail(at, "give it an assertion that is known here", "nothing is left that says whether an answer is right")
		return
	case weightless(checks):
		p.note(at, Changed, "every weight is 0, so nothing counts, there neither: its score is the same for all answers")
		if t, _ := yamlx.Number(test["threshold"]); t > 0 {
			checks = append(checks, never())
		} else {
			checks = append(checks, always())
		}
	case test["threshold"] != nil:
		checks = []any{p.withThreshold(at, test["threshold"], checks)}
	}
	one.checks = checks
	if len(one.meta) == 0 {
		one.meta = nil
	}
	p.add(one)
}

// envUse is where a template asks for a variable of the environment.
var envUse = pattern.New(`\{\{[^{}]*\benv\.[^{}]*\}\}`)

// imageMark marks the place of a picture in a prompt.
const imageMark = "\x00image:"

// fill reads the files that variables name, and fills the templates in variables in.
func (p *promptfoo) fill(at place, vars map[string]any, one *item) (map[string]any, bool) {
	out := maps.Clone(vars)
	if out == nil {
		out = map[string]any{}
	}
	for _, key := range slices.Sorted(maps.Keys(vars)) {
		text, ok := vars[key].(string)
		if !ok {
			continue
		}
		here := at.in("vars.%s", key)
		if !strings.HasPrefix(text, "file://") {
			if filled, err := render(text, vars); err == nil {
				out[key] = filled
			} else if errors.Is(err, errEnv) {
				p.lose(here, "%v", err)
			}
			continue
		}
		if v, ok := p.varFile(here, text, one); ok {
			out[key] = v
		} else {
			return nil, false
		}
	}
	return out, true
}

func (p *promptfoo) varFile(at place, name string, one *item) (any, bool) {
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".js", ".cjs", ".mjs", ".ts", ".py", ".rb":
		p.lose(at, "%.80s: its code is not run, and the test is left out", name)
		return nil, false
	case ".pdf", ".mp3", ".wav", ".m4a", ".mp4", ".xlsx":
		p.lose(at, "%.80s: files of this kind are not shown to models here, and the test is left out", name)
		return nil, false
	case ".png", ".jpg", ".jpeg", ".gif", ".webp":
		file, ok := p.resolve(at, name)
		if ok {
			one.images = append(one.images, picture{from: file})
		}
		return imageMark + path.Base(file) + "\x00", ok
	case ".yaml", ".yml", ".json":
		file, ok := p.resolve(at, name)
		if !ok {
			return nil, false
		}
		v, err := p.read.yaml(file)
		if err != nil {
			p.fail(at, "put the file there, or fix it", "%s: %v", file, err)
		}
		return formatValue(v), err == nil
	}
	file, ok := p.resolve(at, name)
	if !ok {
		return nil, false
	}
	text, err := p.read.text(file)
	if err != nil {
		p.fail(at, "put the file there, or correct the path", "%s: %v", file, err)
	}
	return strings.TrimSpace(text), err == nil
}

// render fills a prompt in, and takes a list of messages apart.
func (p *promptfoo) render(at place, prompt promptText, vars map[string]any, one *item) (string, bool) {
	var list []any
	if v, err := decodeJSON([]byte(prompt.text)); err == nil {
		list, _ = v.([]any)
	}
	if list != nil { // rendered message by message, so that quotes in variables break nothing
		rendered, err := renderAll(list, vars)
		if err != nil {
			return p.failRender(prompt.at, err)
		}
		return p.messages(at, rendered.([]any), one)
	}
	text, err := render(prompt.text, vars)
	if errors.Is(err, errEnv) {
		p.lose(prompt.at, "%v, and are in the prompts as they are", err)
		text, err = render(envUse.ReplaceAllString(prompt.text, "{% raw %}$0{% endraw %}"), vars)
	}
	if err != nil {
		return p.failRender(prompt.at, err)
	}
	return withoutMarks(text), true
}

// failRender reports why a prompt cannot be filled in.
func (p *promptfoo) failRender(at place, err error) (string, bool) {
	p.fail(at, "write the prompt with names alone, such as {{question}}", "%v", err)
	return "", false
}

func renderAll(v any, vars map[string]any) (any, error) {
	switch v := v.(type) {
	case string:
		return render(v, vars)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			inner, err := renderAll(v[i], vars)
			if err != nil {
				return nil, err
			}
			out[i] = inner
		}
		return out, nil
	case map[string]any:
		out := map[string]any{}
		for key := range v {
			inner, err := renderAll(v[key], vars)
			if err != nil {
				return nil, err
			}
			out[key] = inner
		}
		return out, nil
	}
	return v, nil
}

// withoutMarks names pictures where they were.
func withoutMarks(text string) string {
	for {
		i := strings.Index(text, imageMark)
		if i < 0 {
			return text
		}
		name, rest, _ := strings.Cut(text[i+len(imageMark):], "\x00")
		text = text[:i] + "[picture: " + name + "]" + rest
	}
}

// messages makes a prompt of a list of messages: what the system says, and the rest, which
// is one text where several take turns.
func (w *work) messages(at place, list []any, one *item) (string, bool) {
	type turn struct{ role, text string }
	var turns []turn
	for i, raw := range list {
		m, _ := raw.(map[string]any)
		role, ok := m["role"].(string)
		text, read := w.content(at.in("[%d].content", i), m["content"], one)
		if !ok || m == nil {
			w.fail(at.in("[%d]", i), "write {role: user, content: ...}", "found %s, allowed: a message", describe(raw))
			return "", false
		}
		if !read {
			return "", false
		}
		if role == "system" || role == "developer" {
			one.system = strings.TrimPrefix(one.system+"\n\n"+text, "\n\n")
			continue
		}
		turns = append(turns, turn{role, text})
	}
	if len(turns) == 1 {
		return turns[0].text, true
	}
	var b strings.Builder
	for _, t := range turns {
		fmt.Fprintf(&b, "%s: %s\n\n", strings.ToUpper(t.role[:min(1, len(t.role))])+t.role[min(1, len(t.role)):], t.text)
	}
	if len(turns) > 0 {
		w.note(at, Changed, "several messages become one prompt")
	}
	return strings.TrimSpace(b.String()), true
}

// content returns the text of a message. Its pictures are those of the task.
func (w *work) content(at place, v any, one *item) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "", true
	case string:
		return withoutMarks(v), true
	case []any:
		var texts []string
		for i, raw := range v {
			part, _ := raw.(map[string]any)
			text, isText := part["text"].(string)
			url := part["image_url"]
			if m, ok := url.(map[string]any); ok {
				url = m["url"]
			}
			if url == nil {
				url = part["image"]
			}
			switch address, isImage := url.(string); {
			case isText:
				texts = append(texts, withoutMarks(text))
			case isImage && strings.Contains(address, imageMark): // a file, which is there already
			case isImage:
				if !w.picture(at.in("[%d]", i), address, one) {
					return "", false
				}
			default:
				w.fail(at.in("[%d]", i), "leave it out", "found %s, allowed: text or a picture", describe(raw))
				return "", false
			}
		}
		return strings.Join(texts, "\n\n"), true
	}
	w.fail(at, "write it as text", "found %s, allowed: text or a list of texts and pictures", describe(v))
	return "", false
}

// picture adds a picture that a message names: by a file, or as data.
func (w *work) picture(at place, address string, one *item) bool {
	if strings.HasPrefix(address, "http:") || strings.HasPrefix(address, "https:") {
		w.fail(at, "save it next to the file, and name it there", "%.80q: nothing is fetched", address)
		return false
	}
	if head, data, ok := strings.Cut(address, ";base64,"); ok && strings.HasPrefix(head, "data:image/") {
		if strings.HasPrefix(data, "data:") {
			w.fail(at, "write it once", "the picture begins with data: and %s twice", head)
			return false
		}
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil || len(raw) > maxPicture {
			w.fail(at, "encode it again", "the picture is no base64 of 20 MB at most")
			return false
		}
		one.images = append(one.images, picture{data: raw, ext: "." + strings.TrimPrefix(head, "data:image/")})
		return true
	}
	file, err := resolve(path.Dir(at.file), address)
	if err != nil {
		w.fail(at, helpOutside, "%v", err)
		return false
	}
	one.images = append(one.images, picture{from: file})
	return true
}
