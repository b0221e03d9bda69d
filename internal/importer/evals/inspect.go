package evals

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// inspecting imports what inspect_ai keeps.
type inspecting struct {
	*work
	system, template string // of the solvers of a log
}

// inspect imports samples of inspect_ai: of a data set, or of the log of an evaluation.
func (w *inspecting) inspect(file string) {
	at := place{file: file}
	if strings.EqualFold(path.Ext(file), ".eval") {
		w.evalLog(at)
		return
	}
	if strings.EqualFold(path.Ext(file), ".json") {
		v, err := w.read.log(file)
		if err != nil {
			w.failFile(at, err)
			return
		}
		if log, ok := v.(map[string]any); ok && log["eval"] != nil {
			w.inspectLog(at, log)
			return
		}
	}
	w.note(at, Added, "a data set of inspect names no scorer: an answer that holds the target passes, in any case of letters")
	j := judging{checks: []any{map[string]any{"type": "icontains-any", "value": "$gold"}}}
	w.set.checks = j.checks
	for row, err := range w.read.rows(file) {
		if err != nil {
			if w.badRow(file, err) {
				continue
			}
			return
		}
		w.attempt(func() { w.sample(place{file: file, row: row.n}, row.m, j) })
	}
}

// log reads a log, which may be as large as a file of rows.
func (r reader) log(name string) (any, error) {
	data, err := r.bytes(name, maxFile)
	if err != nil {
		return nil, err
	}
	return decodeJSON(data)
}

// zstandard is how newer logs are packed: method 93 of zip.
const zstandard = 93

// Bounds of what is unpacked of a log.
const (
	maxUnpacked = 512 << 20
	maxMembers  = 200_000
)

// evalLog reads a log as an archive: its header, and a file for each sample.
func (w *inspecting) evalLog(at place) {
	data, err := w.read.bytes(at.file, maxFile)
	if err != nil {
		w.fail(at, "name a log that is there", "%v", err)
		return
	}
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(archive.File) > maxMembers {
		w.fail(at, "copy it again; `inspect log convert` writes it as JSON", "it is no zip archive that can be read: %v", errors.Join(err))
		return
	}
	archive.RegisterDecompressor(zstandard, zstd.ZipDecompressor())
	left := int64(maxUnpacked)
	log := map[string]any{}
	var samples []any
	for _, f := range archive.File {
		isSample := strings.HasPrefix(f.Name, "samples/") && strings.HasSuffix(f.Name, ".json")
		if f.Name != "header.json" && f.Name != "_journal/start.json" && f.Name != "start.json" && !isSample {
			continue
		}
		v, err := member(f, &left)
		if err != nil {
			w.fail(at.in("%s", printable(f.Name)), "copy the log again; `inspect log convert` writes it as JSON", "%v", err)
			return
		}
		m, _ := v.(map[string]any)
		switch {
		case isSample:
			samples = append(samples, m)
		case f.Name == "header.json" || log["eval"] == nil:
			log = m
		}
	}
	if log["eval"] == nil {
		w.fail(at, "name a log that inspect has written", "it holds no header.json")
		return
	}
	log["samples"] = samples
	w.inspectLog(at, log)
}

// member reads a file of an archive, within what is left of the bound on all.
func member(f *zip.File, left *int64) (any, error) {
	in, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer func() { _ = in.Close() }() // it was only read
	most := min(*left, maxFile/4)
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, err
	}
	if *left -= int64(len(data)); int64(len(data)) > most {
		return nil, fmt.Errorf("%w: %d MB in all, and 64 in a file", errTooLarge, maxUnpacked>>20)
	}
	return decodeJSON(data)
}

// inspectLog makes tasks of the samples of a log, judged as its scorers do.
func (w *inspecting) inspectLog(at place, log map[string]any) {
	spec, ok := log["eval"].(map[string]any)
	if !ok {
		w.fail(at.in("eval"), "name a log that inspect has written", "found %s, allowed: an object", describe(log["eval"]))
		return
	}
	if name, ok := spec["task"].(string); ok {
		w.set.name = or(slug(path.Base(name)), w.set.name)
	}
	w.target(at, spec, log["plan"])
	w.rest(at, log, "eval plan samples", "version status results stats error reductions invalidated location etag tags metadata log_updates config_updates")
	w.rest(at.in("eval"), spec, "task model scorers model_base_url model_generate_config model_roles", `eval_id run_id created task_id task_version task_file
		task_display_name task_registry_name task_attribs task_args_passed dataset config packages revision metrics tags metadata eval_set_id viewer
		task_description headline_metric shards exception exc_type exc_value exc_traceback`)
	j := w.scorers(at.in("eval.scorers"), spec["scorers"])
	w.set.checks = j.checks
	samples, ok := log["samples"].([]any)
	if !ok || len(samples) == 0 {
		w.fail(at.in("samples"), "name a log that was written with its samples (log_samples)", "there are none")
		return
	}
	for i, raw := range samples {
		m, ok := raw.(map[string]any)
		here := at.in("samples[%d]", i)
		if !ok {
			w.attempt(func() { w.fail(here, "copy the log again", "found %s, allowed: a sample", describe(raw)) })
			continue
		}
		if epoch, isNumber := yamlx.Number(m["epoch"]); isNumber && epoch > 1 {
			continue // asked again
		}
		w.attempt(func() { w.sample(here, resolveAttachments(m, m["attachments"]).(map[string]any), j) })
	}
}

// target takes over the model of a log, and how it was asked.
func (w *inspecting) target(at place, spec map[string]any, plan any) {
	id, _ := spec["model"].(string)
	m, known := parseModel(id)
	if w.set.unknown = !known && id != ""; w.set.unknown {
		w.note(at.in("eval.model"), NoCounterpart, "no model that is known here by that name")
	}
	settings, _ := spec["model_generate_config"].(map[string]any)
	if base := spec["model_base_url"]; base != nil && known {
		w.modelSettings(at.in("eval"), "target", &m, map[string]any{"base_url": base})
	}
	roles, _ := spec["model_roles"].(map[string]any)
	w.rest(at.in("eval.model_roles"), roles, "grader", "")
	if grader, ok := roles["grader"].(map[string]any); ok {
		w.judge(at.in("eval.model_roles.grader"), grader["model"])
	}
	if planned, ok := plan.(map[string]any); ok {
		w.rest(at.in("plan"), planned, "steps config", "name")
		w.steps(at.in("plan.steps"), planned["steps"])
		if len(settings) == 0 {
			settings, _ = planned["config"].(map[string]any)
		}
	}
	if text, ok := settings["system_message"].(string); ok {
		settings = maps.Clone(settings)
		delete(settings, "system_message")
		w.system = strings.TrimPrefix(w.system+"\n\n"+text, "\n\n")
		w.note(at.in("eval.model_generate_config.system_message"), Taken, "the system message")
	}
	if !known {
		return
	}
	w.modelSettings(at.in("eval.model_generate_config"), "target", &m, settings)
	w.set.target = m
	w.note(at.in("eval.model"), Taken, "models.target is %s/%s", m.provider, m.name)
}

// steps says what happens to the solvers of a log.
func (w *inspecting) steps(at place, v any) {
	list, _ := v.([]any)
	for i, raw := range list {
		m, _ := raw.(map[string]any)
		params, _ := m["params"].(map[string]any)
		name, _ := m["solver"].(string)
		template, _ := params["template"].(string)
		name = strings.TrimPrefix(name, "inspect_ai/")
		here := at.in("[%d]", i)
		switch plain := !strings.ContainsAny(strings.ReplaceAll(template, "{prompt}", ""), "{}"); {
		case name == "generate":
		case name == "multiple_choice":
			w.note(here, Changed, "multiple_choice: the choices are after the question, in other words")
		case name == "system_message" && template != "" && plain:
			w.system = strings.TrimPrefix(w.system+"\n\n"+template, "\n\n")
			w.note(here, Taken, "the system message")
		case name == "prompt_template" && strings.Contains(template, "{prompt}") && plain:
			w.template = template
			w.note(here, Taken, "the template of the prompt")
		default:
			w.note(here, NoCounterpart, "the solver %.60q changes what is asked or answered there", name)
		}
	}
}

// resolveAttachments puts in place what a log keeps apart.
func resolveAttachments(v, attachments any) any {
	kept, _ := attachments.(map[string]any)
	switch v := v.(type) {
	case string:
		if text, ok := kept[strings.TrimPrefix(v, "attachment://")].(string); ok && strings.HasPrefix(v, "attachment://") {
			return text
		}
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = resolveAttachments(v[i], attachments)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			if key == "input" || key == "content" || key == "text" || key == "image" || key == "target" || key == "choices" || key == "metadata" {
				inner = resolveAttachments(inner, attachments)
			}
			out[key] = inner
		}
		return out
	}
	return v
}

// judging is how answers to samples are judged.
type judging struct {
	checks []any
	choice bool // the letters of choices are what is asked for
}

// scorers says what happens to the scorers of a log.
func (w *inspecting) scorers(at place, v any) judging {
	list, _ := v.([]any)
	var j judging
	for i, raw := range list {
		m, _ := raw.(map[string]any)
		name, _ := m["name"].(string)
		options, _ := m["options"].(map[string]any)
		here := at.in("[%d]", i)
		read := "ignore_case location"
		if strings.Contains(name, "model_graded") {
			read = "model"
			w.judge(here.in("options.model"), options["model"])
		}
		w.rest(here.in("options"), options, read, "")
		c, note := scorer(strings.TrimPrefix(name, "inspect_ai/"), options)
		switch {
		case c == nil && strings.TrimPrefix(name, "inspect_ai/") == "choice":
			j.choice = true
			w.note(here, Changed, "choice: the letter is read from between <answer> and </answer>")
		case c == nil:
			w.lose(here, "the scorer %.60q is not known here: its code is not run", name)
		case note != "":
			w.note(here, Changed, "%s: %s", name, note)
			j.checks = append(j.checks, c)
		default:
			w.note(here, Taken, "%s", name)
			j.checks = append(j.checks, c)
		}
	}
	if len(j.checks) == 0 && !j.choice {
		w.note(at, Added, "no scorer that is known here: an answer that holds the target passes, in any case of letters")
		j.checks = []any{map[string]any{"type": "icontains-any", "value": "$gold"}}
	}
	return j
}

// scorer returns the check instead of a scorer of inspect; nil if there is none.
func scorer(name string, options map[string]any) (check map[string]any, changed string) {
	sensitive := options["ignore_case"] == false
	kind := func(base string) string {
		if sensitive {
			return base
		}
		return "i" + base
	}
	switch name {
	case "includes":
		return map[string]any{"type": kind("contains-any"), "value": "$gold"}, ""
	case "match":
		switch options["location"] {
		case "begin":
			return map[string]any{"type": kind("starts-with"), "value": "$gold"}, "punctuation is looked at"
		case "exact":
			return map[string]any{"type": "equals", "value": "$gold", "normalize": "text"}, "articles and punctuation do not matter"
		}
		return map[string]any{"type": kind("contains-any"), "value": "$gold"}, "the target passes anywhere in the answer, not only at its end"
	case "exact":
		return map[string]any{"type": "equals", "value": "$gold", "normalize": "squad"}, ""
	case "f1":
		return map[string]any{"type": "f1", "value": "$gold"}, "an F1 of 0.5 passes"
	case "answer":
		return map[string]any{"type": kind("contains-any"), "value": "$gold"}, "the target passes anywhere in the answer, not only after ANSWER:"
	case "model_graded_qa", "model_graded_fact":
		return map[string]any{"type": "llm-equivalent"}, "judged by models.judge, in the words of this program"
	}
	return nil, ""
}

// sample makes a task of a sample.
func (w *inspecting) sample(at place, m map[string]any, j judging) {
	one := item{at: at, id: formatValue(m["id"])}
	prompt, ok := w.input(at.in("input"), m["input"], &one)
	if !ok {
		return
	}
	one.prompt = prompt
	if w.template != "" {
		one.prompt = strings.ReplaceAll(w.template, "{prompt}", prompt)
	}
	if w.system != "" {
		one.system = strings.TrimSuffix(w.system+"\n\n"+one.system, "\n\n")
	}
	target := m["target"]
	if text, isText := target.(string); isText && strings.HasPrefix(strings.TrimSpace(text), "[") {
		if v, err := decodeJSON([]byte(text)); err == nil { // a cell of a table that holds a list
			target = v
		}
	}
	if one.gold, ok = w.golds(at.in("target"), target); !ok {
		return
	}
	if !w.choices(at.in("choices"), m["choices"], &one) {
		return
	}
	w.rest(place{file: at.file}, m, "id epoch input target choices metadata setup sandbox files attachments",
		`uuid messages output scores store events model_usage role_usage started_at completed_at total_time working_time error error_retries limit invalidation timelines events_data
		description model_fallbacks turn_count token_limit token_limit_type token_limit_usage message_limit time_limit`)
	if meta, isMap := m["metadata"].(map[string]any); isMap && len(meta) > 0 {
		one.meta = meta
	}
	for _, key := range []string{"setup", "sandbox"} {
		if m[key] != nil && m[key] != "" {
			w.note(at.in(key), NoCounterpart, "its code is not run, and there is no container")
		}
	}
	if files, isList := m["files"].([]any); isList && len(files) > 0 {
		w.note(at.in("files"), NoCounterpart, "a log has the names of %d files and not what they hold", len(files))
	} else if m["files"] != nil && m["files"] != "" {
		if !w.attachFiles(at.in("files"), path.Dir(at.file), m["files"], &one) {
			return
		}
	}
	w.add(one)
}

// choices writes the choices of a sample behind its question, and makes the letters of
// those that are right the gold.
func (w *inspecting) choices(at place, v any, one *item) bool {
	if text, isText := v.(string); isText && strings.TrimSpace(text) != "" {
		if list, err := decodeJSON([]byte(text)); err == nil {
			v = list
		} else {
			var list []any
			for part := range strings.SplitSeq(text, ",") {
				list = append(list, strings.TrimSpace(part))
			}
			v = list
		}
	}
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return true
	}
	if len(list) > 26 {
		w.fail(at, "ask for the answer itself", "there are %d choices, 26 are allowed", len(list))
		return false
	}
	var b strings.Builder
	var letters, labels []string
	for i, raw := range list {
		letter := string(rune('A' + i))
		letters = append(letters, letter)
		labels = append(labels, formatValue(raw))
		fmt.Fprintf(&b, "\n%s) %s", letter, formatValue(raw))
	}
	for i, gold := range one.gold {
		at := slices.Index(labels, gold)
		switch {
		case slices.Contains(letters, gold):
		case at >= 0:
			one.gold[i] = letters[at]
		default:
			w.fail(place{file: one.at.file, row: one.at.row, key: one.at.key}.in("target"), "write the letter of a choice", "%.60q is none of the %d choices", gold, len(list))
			return false
		}
	}
	ask := "\n\nPut the letter of the right choice, and nothing else, between <answer> and </answer>."
	if len(one.gold) > 1 {
		one.gold = []string{strings.Join(one.gold, ", ")}
		ask = "\n\nPut the letters of all right choices, in their order and with a comma between, between <answer> and </answer>."
	}
	one.prompt += "\n" + b.String() + ask
	w.note(place{file: at.file, key: "choices"}, Changed, "the choices come after the question, and the letter is read from between <answer> and </answer>")
	one.checks = []any{map[string]any{"type": "equals", "value": "$gold", "normalize": "casefold"}}
	w.set.extract = map[string]any{"tag": "answer", "fallback": "verbatim"}
	return true
}
