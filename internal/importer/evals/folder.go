package evals

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/yamlx"
	"github.com/seed-f4525e22/skillopt/task"
)

// leastTasks is how many tasks can be divided into splits at all.
const leastTasks = 3

// line is a task as it is written.
type line struct {
	ID     string         `json:"id"`
	Type   string         `json:"type,omitempty"`
	Prompt string         `json:"prompt"`
	Images []string       `json:"images,omitempty"`
	Gold   any            `json:"gold,omitempty"`
	Hidden string         `json:"hidden,omitempty"`
	Checks []any          `json:"checks,omitempty"`
	Split  string         `json:"split,omitempty"`
	Meta   map[string]any `json:"meta,omitempty"`
}

// folder writes the tasks, the config and the skill.
func (w *work) folder(at place) (Folder, Report, error) {
	out := Folder{Files: map[string][]byte{}, Copies: map[string]string{}}
	w.systems(at)
	w.joinSame()
	w.identify()
	lines := w.lines(&out)
	w.splits()
	if len(w.items) < leastTasks && len(w.problems) == 0 {
		w.problems = append(w.problems, w.why...)
		w.fail(at, "add some, or have some drafted: `skillopt init DIR --skill SKILL.md --generate 30`", "there are %d tasks with checks in it, at least %d are needed to divide them", len(w.items), leastTasks)
	}
	var tasks bytes.Buffer
	enc := json.NewEncoder(&tasks)
	enc.SetEscapeHTML(false)
	for i, l := range lines {
		l.Split = w.items[i].split
		if err := enc.Encode(l); err != nil {
			return Folder{}, w.report, fmt.Errorf("write task: %w", err)
		}
	}
	if len(w.problems) > 0 {
		return Folder{}, w.report, &task.Error{Problems: w.problems}
	}
	out.Files["tasks.jsonl"] = tasks.Bytes()
	skill := w.skill(&out)
	config, err := w.config(at, skill)
	if err != nil {
		return Folder{}, w.report, err
	}
	out.Files["config.yaml"] = config
	w.report.Tasks = len(w.items)
	return out, w.report, nil
}

// lines returns the tasks as they are written. Those whose checks or pictures cannot be used are left out.
func (w *work) lines(out *Folder) []line {
	var all []line
	var kept []item
	for _, one := range w.items {
		l := line{ID: one.id, Type: one.kind, Prompt: one.prompt, Hidden: one.hidden, Meta: one.meta}
		ok := w.attempt(func() {
			w.examine(&one)
			l.Images = w.pictures(&one, out)
		})
		if !ok {
			for _, name := range l.Images {
				delete(out.Files, name)
				delete(out.Copies, name)
			}
			continue
		}
		l.Checks = one.checks
		if len(one.gold) == 1 {
			l.Gold = one.gold[0]
		} else if len(one.gold) > 1 {
			l.Gold = one.gold
		}
		all, kept = append(all, l), append(kept, one)
	}
	w.items = kept
	return all
}

// systems moves what the source says apart from the prompt to the whole set, where it is
// the same everywhere.
func (w *work) systems(at place) {
	if len(w.items) == 0 {
		return
	}
	first := w.items[0].system
	if !slices.ContainsFunc(w.items, func(i item) bool { return i.system != first }) {
		w.set.system = first
		return
	}
	for i := range w.items {
		if w.items[i].system != "" {
			w.items[i].prompt = w.items[i].system + "\n\n" + w.items[i].prompt
		}
	}
	w.note(at, Changed, "system messages differ from task to task, and are put before the prompts")
}

// joinSame makes one task of those that ask the same thing: which of two splits it would be
// in must not matter.
func (w *work) joinSame() {
	seen := map[string]int{}
	var out []item
	for _, one := range w.items {
		key := one.prompt
		for _, p := range one.images {
			key += "\x00" + p.from + string(p.data)
		}
		at, twice := seen[key]
		if !twice {
			seen[key] = len(out)
			out = append(out, one)
			continue
		}
		first := &out[at]
		switch {
		case len(one.checks) > 0 && len(first.checks) > 0:
			for _, c := range one.checks {
				if !slices.ContainsFunc(first.checks, func(there any) bool { return reflect.DeepEqual(there, c) }) {
					first.checks = append(slices.Clip(first.checks), c)
				}
			}
			w.note(one.at, Changed, "asks what %s asks, and is joined with it: the checks of both are to hold", first.at.label())
		case len(one.checks) == 0 && slices.Equal(one.gold, first.gold):
			w.note(one.at, NotNeeded, "is %s again", first.at.label())
		default:
			w.note(one.at, NoCounterpart, "asks what %s asks with another answer, and is left out", first.at.label())
		}
	}
	w.items = out
}

func (p place) label() string {
	if p.key == "" {
		return p.origin()
	}
	return p.origin() + " " + p.key
}

func all(checks []any) map[string]any { return map[string]any{"all": checks} }

// identify gives every task a name of its own.
func (w *work) identify() {
	used := map[string]bool{}
	for i := range w.items {
		one := &w.items[i]
		id := strings.TrimSpace(one.id)
		if id == "" {
			sum := sha256.Sum256([]byte(one.prompt))
			id = "t-" + hex.EncodeToString(sum[:5])
		}
		if used[id] {
			w.note(one.at, Changed, "the id %.60q is there twice: the later task is named %s-%d", id, id, i+1)
			id = fmt.Sprintf("%s-%d", id, i+1)
		}
		used[id], one.id = true, id
	}
}

// splits drops what some tasks say of their split where others say nothing.
func (w *work) splits() {
	named := 0
	for _, one := range w.items {
		if one.split != "" {
			named++
		}
	}
	if named == 0 || named == len(w.items) {
		return
	}
	for i := range w.items {
		w.items[i].split = ""
	}
	w.note(place{}, NoCounterpart, "only %d of %d tasks name their split: all are divided again", named, len(w.items))
}

// examine has the checks of a task compiled, and says so where an empty answer passes them
// as it did in the source.
func (w *work) examine(one *item) {
	checks := any(one.checks)
	if len(one.checks) == 0 {
		checks = any(w.set.checks)
		if len(w.set.checks) == 0 {
			checks = nil
		}
	}
	suite, err := check.Compile(checks, check.Options{Workspace: true, Judge: true})
	if err != nil {
		w.fail(one.at, "fix it in the source, or leave it out", "%v", oneLine(err))
		return
	}
	t := task.Task{ID: one.id, Prompt: one.prompt, Gold: one.gold}
	if len(one.checks) == 0 || suite.Needs(t) != (check.Needs{}) {
		return
	}
	if len(one.gold) == 0 {
		one.gold = findGold(suite, t, one.checks)
	}
	if suite.Score("", t).Hard == 0 {
		return
	}
	if first, ok := one.checks[0].(map[string]any); ok {
		first["empty"] = "pass"
		w.note(one.at, Changed, "an empty answer passes its checks, there too: nothing can be learned from it")
	}
}

// findGold returns the first text, among those that checks compare with, that passes all of them:
// what analysts see as expected.
func findGold(suite *check.Suite, t task.Task, checks []any) []string {
	for _, text := range collectTexts(checks) {
		if strings.TrimSpace(text) == text && text != "" && suite.Score(text, t).Hard == 1 {
			return []string{text}
		}
	}
	return nil
}

// collectTexts returns the texts that an answer is to equal or to hold, at most a few.
func collectTexts(v any) (texts []string) {
	const most = 5
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			if texts = append(texts, collectTexts(one)...); len(texts) >= most {
				return texts[:most]
			}
		}
	case map[string]any:
		if text, ok := v["value"].(string); ok && v["like"] == "promptfoo" && v["type"] != "regex" && !strings.HasPrefix(fmt.Sprint(v["type"]), "not-") {
			texts = append(texts, text)
		}
		texts = append(append(texts, collectTexts(v["all"])...), collectTexts(v["any"])...)
	}
	return texts
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// Bounds of the pictures and files that are copied.
const (
	maxPicture = 20 << 20
	maxCopies  = 20_000
)

// pictures puts the images of a task into the folder, and returns their names.
func (w *work) pictures(one *item, out *Folder) []string {
	var names []string
	for i, p := range one.images {
		ext := strings.ToLower(or(p.ext, path.Ext(p.from)))
		if !slices.Contains([]string{".png", ".jpg", ".jpeg", ".gif", ".webp"}, ext) {
			w.fail(one.at, "save it as PNG or JPEG", "%.80q is no picture that models are shown; png, jpeg, gif and webp are", or(p.from, ext))
			continue
		}
		name := fmt.Sprintf("images/%s-%d%s", or(slug(one.id), "task"), i+1, ext)
		if _, there := out.Files[name]; there || out.Copies[name] != "" {
			name = fmt.Sprintf("images/%s-%d-%d%s", or(slug(one.id), "task"), len(out.Copies)+len(out.Files), i+1, ext)
		}
		names = append(names, name)
		if p.from == "" {
			out.Files[name] = p.data
			continue
		}
		info, err := fs.Stat(w.read.fsys, p.from)
		if err == nil && (!info.Mode().IsRegular() || info.Size() > maxPicture) {
			err = errors.New("is no regular file of 20 MB at most")
		}
		if err == nil {
			err = w.read.checkPointer(p.from)
		}
		if err != nil {
			w.fail(one.at, "put it there, or correct the path", "the picture %.80q: %v", p.from, plain(err))
		}
		out.Copies[name] = p.from
	}
	return names
}

// skill puts the skill of the source into the folder, or one to begin with, and returns
// what the config calls it.
func (w *work) skill(out *Folder) string {
	if len(w.set.skill) == 0 {
		out.Files["SKILL.md"] = seed(w.set.name)
		return "SKILL.md"
	}
	for name, from := range w.set.skill {
		if len(w.set.skill) == 1 {
			out.Copies["SKILL.md"] = from
			return "SKILL.md"
		}
		out.Copies["skill/"+name] = from
	}
	return "skill"
}

// seed returns a skill that says next to nothing.
func seed(name string) []byte {
	return fmt.Appendf(nil, `---
name: %s
description: How to do the tasks of %s. Use for each of them.
---

# %s

- Read the whole task before you answer.
- Give what is asked for, in the form in which it is asked for.
`, name, name, name)
}

// config writes the configuration.
func (w *work) config(at place, skill string) ([]byte, error) {
	tasks := yamlx.Ordered{{Key: "path", Value: "tasks.jsonl"}}
	if w.set.system != "" {
		tasks = append(tasks, yamlx.Entry{Key: "system", Value: escapeTemplate(w.set.system) + "\n\n{{skill}}"})
		w.note(at, Taken, "the system message is put before the skill: tasks.system")
	}
	tasks = append(tasks, yamlx.Entry{Key: "extract", Value: w.set.extract})
	if len(w.set.checks) > 0 {
		tasks = append(tasks, yamlx.Entry{Key: "checks", Value: w.set.checks})
	}
	top := yamlx.Ordered{{Key: "skill", Value: skill}, {Key: "tasks", Value: tasks}}
	if w.items[0].split == "" {
		top = append(top, yamlx.Entry{Key: "split", Value: yamlx.Ordered{{Key: "seed", Value: 42}}})
	}
	if w.set.target.agent != "" {
		top = append(top, yamlx.Entry{Key: "agent", Value: yamlx.Ordered{{Key: "name", Value: w.set.target.agent}}})
	}
	if models := w.models(at); models != nil {
		top = append(top, yamlx.Entry{Key: "models", Value: models})
	}
	body, err := yamlx.Encode(top)
	if err != nil {
		return nil, fmt.Errorf("write config: %w", err)
	}
	head := fmt.Sprintf("# Tasks imported from %s (%s). How: skillopt tasks import, docs/import.md.\n", printable(at.file), w.report.Format)
	return append([]byte(head), body...), nil
}

func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
}

// escapeTemplate returns a text as templates have it.
func escapeTemplate(text string) string { return strings.ReplaceAll(text, "{{", "{{{{") }

// needsJudge reports whether a check asks a judge.
func (w *work) needsJudge() bool {
	if asksJudge(w.set.checks) {
		return true
	}
	return slices.ContainsFunc(w.items, func(i item) bool { return asksJudge(i.checks) })
}

func asksJudge(v any) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, asksJudge)
	case map[string]any:
		kind, _ := v["type"].(string)
		return strings.HasPrefix(strings.TrimPrefix(kind, "not-"), "llm-") || asksJudge(v["any"]) || asksJudge(v["all"])
	}
	return false
}
