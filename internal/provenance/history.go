package provenance

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/skill"
)

// history is a skill whose lines know their origin, as it was after one of its changes.
type history struct {
	scope skill.Scope
	skill skill.Skill
	files map[string]tracked // a value is never changed in place
}

func newHistory(seed skill.Skill, changes []Change, edits skill.Scope) *history {
	h := &history{scope: anyFile(seed, changes).WithTidy(edits.Tidy()).WithRegion(edits.Region()), skill: seed, files: map[string]tracked{}}
	for _, name := range seed.Files() {
		text, _ := seed.File(name)
		h.files[name] = *newTracked(text)
	}
	return h
}

// anyFile returns a scope in which edits may change whatever they have changed.
func anyFile(seed skill.Skill, changes []Change) skill.Scope {
	var names []string
	for _, name := range seed.Files() {
		if text, _ := seed.File(name); utf8.ValidString(text) && len(text) <= skill.MaxBytes {
			names = append(names, name)
		}
	}
	for _, c := range changes {
		for _, name := range c.Skill.Others() {
			if _, there := seed.File(name); !there && !strings.HasPrefix(name, "scripts/") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	scope, err := skill.NewScope(seed, names, skill.MaxFiles)
	if err != nil {
		return skill.Scope{}.WithDescription() // names that no scope takes: their lines are compared
	}
	return scope.WithDescription()
}

// file returns a copy of what is known of a file, nothing of one that is not there.
func (h *history) file(name string) tracked { return h.files[name] }

// find keeps the lines of those files that are as they are in doc.
func (h *history) find(doc skill.Skill, found map[string][]line) {
	for _, name := range doc.Files() {
		text, _ := doc.File(name)
		if t, there := h.files[name]; there && t.text == text {
			found[name] = t.lines
		}
	}
}

// follow takes a change over. Its edits count only when each of them can be
// applied: an incomplete record must not name an edit that did something else.
func (h *history) follow(c Change) {
	before, files := h.skill, maps.Clone(h.files)
	for _, e := range c.Edits {
		if !h.apply(e.Edit, Origin{Kind: Edit, Step: c.Origin.Step, Edit: e.Number}) {
			h.skill, h.files = before, files
			break
		}
	}
	for name := range h.files {
		if _, there := c.Skill.File(name); !there {
			delete(h.files, name)
		}
	}
	for _, name := range c.Skill.Files() {
		text, _ := c.Skill.File(name)
		t := h.file(name)
		t.become(text, c.Origin)
		h.files[name] = t
	}
	h.skill = c.Skill
}

// apply carries an edit out, and reports whether it could be applied.
func (h *history) apply(e skill.Edit, origin Origin) bool {
	next, _, changes := skill.Trace(h.skill, []skill.Edit{e}, skill.ApplyOptions{Scope: h.scope})
	if changes[0] == nil {
		return false
	}
	for c := changes[0]; c != nil; c = c.Also {
		name := c.File
		if name == "" {
			name = skill.Main
		}
		t := h.file(name)
		t.splice(*c, origin)
		h.files[name] = t
	}
	h.skill = next
	return true
}
