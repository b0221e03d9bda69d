package prune

import (
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Cuttable reports whether rules can be distinguished in a file: whether it is a Markdown
// document by its name.
func Cuttable(name string) bool {
	return slices.Contains([]string{".md", ".markdown"}, strings.ToLower(path.Ext(name)))
}

// ParseRules cuts files of a skill, SKILL.md alone if files is nil, into rules, as far as the
// region of scope holds them. The numbers of the rules run through all of them. A file that is no
// Markdown document, or is not there, has no rules.
func ParseRules(s skill.Skill, files []string, scope skill.Scope) []Rule {
	if files == nil {
		files = []string{skill.Main}
	}
	var out []Rule
	for _, name := range files {
		text, there := s.File(name)
		if !there || !Cuttable(name) {
			continue
		}
		for _, r := range rulesIn(name, text, scope) {
			r.Number = len(out) + 1
			if name != skill.Main {
				r.File = name
			}
			out = append(out, r)
		}
	}
	return out
}

// rulesIn cuts a file of a skill.
func rulesIn(name, text string, scope skill.Scope) []Rule {
	if name == skill.Main {
		return cut(text, scope.Protected(text))
	}
	return Rules(text)
}

// Leave returns the skill without some of its rules, which ParseRules has cut of it. What
// Without says holds for each file; a file whose rules all go stays, with what else it
// holds.
func Leave(s skill.Skill, gone ...Rule) skill.Skill {
	of := map[string][]Rule{}
	for _, r := range gone {
		of[r.File] = append(of[r.File], r)
	}
	out := s
	for name, rules := range of {
		if name == "" {
			out = out.WithText(Without(s.Text(), rules...))
			continue
		}
		text, _ := s.File(name)
		out = out.WithFile(name, Without(text, rules...))
	}
	return out
}
