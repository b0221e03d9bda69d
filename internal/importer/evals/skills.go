package evals

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// skillEvals imports the evals of a skill.
type skillEvals struct{ *work }

// agentSkills imports the evals of a skill folder: evals/evals.json.
func (w *skillEvals) agentSkills(file string) {
	at := place{file: file}
	v, err := w.read.yaml(file)
	if err != nil {
		w.failFile(at, err)
		return
	}
	root := path.Dir(file)
	if path.Base(root) == "evals" {
		root = path.Dir(root)
	}
	list, isList := v.([]any)
	if top, ok := v.(map[string]any); ok {
		if name, ok := top["skill_name"].(string); ok {
			w.set.name = or(slug(name), w.set.name)
		}
		list, isList = top["evals"].([]any)
		w.rest(at, top, "skill_name evals", "")
		at = at.in("evals")
	}
	if !isList {
		w.fail(at, "write {skill_name: ..., evals: [{id, prompt, expected_output, files, expectations}]}", "found %s, allowed: a list of evals", describe(v))
		return
	}
	w.skillFiles(root)
	triggers := 0
	for i, raw := range list {
		here := at.in("[%d]", i)
		m, ok := raw.(map[string]any)
		if !ok {
			w.attempt(func() { w.fail(here, "write {prompt, expectations}", "found %s, allowed: an object", describe(raw)) })
			continue
		}
		if m["should_trigger"] != nil {
			triggers++
			continue
		}
		w.attempt(func() { w.skillEval(here, root, m) })
	}
	switch {
	case triggers == len(list) && triggers > 0:
		w.fail(at, "name this file as tasks.path of a config with an agent: docs/tasks.md", "it is a trigger set, which is no evaluation of answers and is read as it is")
		return
	case triggers > 0:
		w.note(at, NoCounterpart, "%d trigger prompts are left out: put them into a file of their own, and name that as tasks.path", triggers)
	}
}

// skillEval makes a task of an eval.
func (w *skillEvals) skillEval(at place, root string, m map[string]any) {
	one := item{at: at, id: formatValue(m["id"])}
	if name, ok := m["name"].(string); ok && slug(name) != "" {
		one.kind = slug(name)
	}
	text := m["prompt"]
	if text == nil {
		text = m["query"]
	}
	prompt, ok := w.input(at.in("prompt"), text, &one)
	if !ok {
		return
	}
	one.prompt = prompt
	if !w.attachFiles(at.in("files"), root, m["files"], &one) {
		return
	}
	var criteria []any
	for _, key := range []string{"expectations", "assertions", "expected_behavior"} {
		if m[key] == nil {
			continue
		}
		more, ok := w.criteria(at.in(key), m[key])
		if !ok {
			return
		}
		criteria = append(criteria, more...)
	}
	expected, _ := m["expected_output"].(string)
	reference := strings.TrimSpace(expected) != ""
	if reference {
		one.gold = []string{expected}
	}
	if len(criteria) == 0 {
		if !reference {
			w.fail(at.in("expectations"), "write what is to hold of a good answer, each as a sentence", "there is nothing by which an answer is judged")
			return
		}
		criteria = []any{"The answer is what the reference describes."}
	}
	for part := range slices.Chunk(criteria, 20) {
		c := map[string]any{"type": "llm-rubric", "criteria": part, "threshold": 0.9}
		if reference {
			c["reference"] = true
		}
		one.checks = append(one.checks, c)
	}
	w.rest(at, m, "id name prompt query files expectations assertions expected_behavior expected_output", "")
	w.note(at, Changed, "%d expectations are judged by models.judge from the answer alone: nine tenths of their mean passes", len(criteria))
	w.add(one)
}

// criteria returns the sentences of a list whose items are sentences, or objects that hold one.
func (w *skillEvals) criteria(at place, v any) ([]any, bool) {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var out []any
	for i, one := range list {
		if m, isMap := one.(map[string]any); isMap {
			for _, key := range []string{"text", "description", "assertion", "expectation"} {
				if m[key] != nil {
					one = m[key]
				}
			}
		}
		text, isText := one.(string)
		if !isText || strings.TrimSpace(text) == "" {
			w.fail(at.in("[%d]", i), "write a sentence that is true of a good answer", "found %s, allowed: text", describe(one))
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}

// maxAttached is how much text of a file is put into a prompt, in bytes.
const maxAttached = 64 << 10

// attachFiles adds the files that come with a task: pictures as such, texts after the prompt.
func (w *work) attachFiles(at place, root string, v any, one *item) bool {
	var names []string
	texts := map[string]string{} // of files whose content is given in place
	switch v := v.(type) {
	case nil:
	case []any:
		for i, raw := range v {
			name, ok := raw.(string)
			if !ok {
				w.fail(at.in("[%d]", i), "name it by its path", "found %s, allowed: a path", describe(raw))
				return false
			}
			names = append(names, name)
			texts[name] = name
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			names = append(names, name)
			texts[name], _ = v[name].(string)
		}
	default:
		w.fail(at, "write a list of paths", "found %s, allowed: a list", describe(v))
		return false
	}
	for _, name := range names {
		if !w.attach(at, root, name, texts[name], one) {
			return false
		}
	}
	return true
}

// attach adds one file: the one that from names, or else from is what it holds.
func (w *work) attach(at place, root, name, from string, one *item) bool {
	file, err := resolve(root, from)
	if err != nil && name == from {
		w.fail(at, helpOutside, "%v", err)
		return false
	}
	if slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, strings.ToLower(path.Ext(from))) && err == nil {
		one.images = append(one.images, picture{from: file})
		return true
	}
	_, statErr := fs.Stat(w.read.fsys, file)
	switch {
	case err == nil && slices.Contains(slices.Collect(maps.Values(w.set.skill)), file), statErr != nil && w.set.skill != nil && path.Base(from) == "SKILL.md":
		w.note(at, NotNeeded, "%.80s is the skill itself", name)
		return true
	case statErr != nil && path.Base(from) == "SKILL.md":
		w.note(at, NoCounterpart, "%.80s is the skill itself, which is not in this folder: import that of the skill", name)
		return true
	}
	text := from
	if err == nil && (statErr == nil || name == from) {
		data, err := w.read.bytes(file, maxAttached)
		if err != nil {
			w.fail(at, "put it there, correct the path, or leave it out", "%.80s: %v", name, err)
			return false
		}
		if !utf8.Valid(data) || strings.ContainsRune(string(data), 0) {
			w.lose(at, "%.80s: only text and pictures are shown to models here; an agent is given files by the field workspace", name)
			return true
		}
		text = string(data)
	}
	one.prompt += "\n\nFile " + name + ":\n\n" + text
	w.note(at, Changed, "%.80s is in the prompt: without an agent there are no files", name)
	return true
}

// skillFiles takes the skill over that the evals are of.
func (w *skillEvals) skillFiles(root string) {
	if _, err := fs.Stat(w.read.fsys, path.Join(root, "SKILL.md")); err != nil {
		w.note(place{file: root}, Added, "there is no SKILL.md next to the evals: one to begin with is written")
		return
	}
	w.set.skill = map[string]string{}
	total := int64(0)
	err := fs.WalkDir(w.read.fsys, root, func(name string, d fs.DirEntry, err error) error {
		rel := strings.TrimPrefix(strings.TrimPrefix(name, root), "/")
		if root == "." {
			rel = name
		}
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == "evals" || strings.HasPrefix(d.Name(), ".") && rel != "" && rel != "."):
			return fs.SkipDir
		case !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".") || rel == "evals.json":
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if total += info.Size(); total > maxText || len(w.set.skill) >= 1000 {
			w.fail(place{file: root}, "name the SKILL.md alone: move evals next to it into a folder of their own", "the skill has more than 1000 files or 16 MB")
			return fs.SkipAll
		}
		w.set.skill[rel] = name
		return nil
	})
	if err != nil {
		w.fail(place{file: root}, "fix it", "%v", plain(err))
	}
}
