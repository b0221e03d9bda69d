package evals

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/task"
)

// loadPrompts reads the prompts, of which the first is used.
func (p *promptfoo) loadPrompts(at place, v any) {
	list, ok := v.([]any)
	if !ok && v != nil {
		list = []any{v}
	}
	faults := len(p.problems)
	for i, one := range list {
		before := len(p.prompts)
		p.loadPrompt(at.in("[%d]", i), one)
		if m, ok := one.(map[string]any); ok {
			p.rest(at.in("[%d]", i), m, "raw id file label", "")
			for j := before; j < len(p.prompts); j++ {
				p.prompts[j].names = append(p.prompts[j].names, formatValue(m["label"]), formatValue(m["id"]))
			}
		}
	}
	if len(p.prompts) > 0 { // those that are there are enough
		for _, one := range p.problems[faults:] {
			p.record(Row{File: one.Origin, State: NoCounterpart, Note: one.Msg})
		}
		p.problems = p.problems[:faults]
	}
	p.choosePrompts(at)
	if len(p.prompts) == 0 {
		if len(p.problems) == 0 {
			p.problems = append(p.problems, p.why...)
			p.fail(at, "write one as text with {{names}}", "there is no prompt that can be read")
		}
		return
	}
	for _, other := range p.prompts[1:] {
		p.note(other.at, NoCounterpart, "one prompt is trained with: the first; remove that to train with this one")
	}
}

// choosePrompts keeps the prompts that the source asks the target with.
func (p *promptfoo) choosePrompts(at place) {
	if p.only == nil {
		return
	}
	kept := slices.DeleteFunc(slices.Clone(p.prompts), func(one promptText) bool { return !one.isAmong(p.only) })
	if len(kept) == 0 {
		p.note(at, NoCounterpart, "the prompts that the provider names are not here: the first is taken")
		return
	}
	p.prompts = kept
}

// isAmong reports whether a prompt is one of those that are named, by a label, an id, its file or its text.
func (t promptText) isAmong(names []any) bool {
	return slices.ContainsFunc(names, func(v any) bool {
		ref, isText := v.(string)
		prefix, pattern := strings.CutSuffix(ref, "*")
		return isText && ref != "" && slices.ContainsFunc(append(t.names, t.text), func(name string) bool {
			return name == ref || strings.HasPrefix(name, ref+":") || pattern && strings.HasPrefix(name, prefix)
		})
	})
}

func (p *promptfoo) loadPrompt(at place, v any) {
	if m, ok := v.(map[string]any); ok {
		for _, key := range []string{"raw", "id", "file"} {
			if m[key] != nil {
				p.loadPrompt(at.in(key), m[key])
				return
			}
		}
	}
	text, ok := v.(string)
	if !ok || strings.TrimSpace(text) == "" {
		p.fail(at, "write it as text with {{names}}", "found %s, allowed: a prompt", describe(v))
		return
	}
	ext := strings.ToLower(path.Ext(strings.SplitN(strings.TrimPrefix(text, "file://"), ":", 2)[0]))
	isFile := strings.HasPrefix(text, "file://") || !strings.ContainsAny(text, "\n{ ") && slices.Contains(append(codeEndings(), ".txt", ".json", ".yaml", ".yml", ".md", ".j2"), ext)
	switch {
	case !isFile:
		p.prompts = append(p.prompts, promptText{at: at, text: text})
	case slices.Contains(codeEndings(), ext):
		p.note(at, NoCounterpart, "%.80s: its code is not run", text)
		p.why = append(p.why, task.Problem{Origin: at.file, Msg: fmt.Sprintf("%s: %.80s: its code is not run", at.key, text)})
	default:
		p.promptFile(at, text)
	}
}

func (p *promptfoo) promptFile(at place, name string) {
	pattern, ok := p.resolve(at, name)
	if !ok {
		return
	}
	files, err := p.read.glob(pattern)
	if err != nil || len(files) == 0 {
		p.fail(at, "correct the pattern", "%.80q names no file", name)
	}
	for _, file := range files {
		text, err := p.read.text(file)
		if err != nil {
			p.fail(at, "put the file there, or correct the path", "%s: %v", file, err)
			return
		}
		if ext := path.Ext(file); ext == ".yaml" || ext == ".yml" {
			if v, err := decodeYAML(file, []byte(text)); err == nil {
				text = formatValue(v)
			}
		}
		parts := []string{text}
		if path.Ext(file) == ".txt" {
			parts = strings.Split(text, "\n---\n")
		}
		for _, part := range parts {
			if part = strings.TrimSpace(part); part != "" {
				p.prompts = append(p.prompts, promptText{at, part, []string{name, file}})
			}
		}
	}
}
