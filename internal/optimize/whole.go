package optimize

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Folder is a skill of which whole texts are written, and which of its files they may be of.
type Folder struct {
	Skill  skill.Skill
	Scope  skill.Scope
	Unseen []string // files of which the author is shown no text: a new one would lose the old
}

// several reports whether more files than SKILL.md may be written.
func (f Folder) several() bool { return !f.Scope.Alone() }

// candidate returns the skill with the SKILL.md and the other files of an item, all of
// which may be taken over. What differs in white space at the end alone is the same.
func (f Folder) candidate(item any) (skill.Skill, error) {
	object, _ := asObject(item)
	document, ok := object["new_skill"].(string)
	if !ok {
		return skill.Skill{}, errors.New("new_skill is not a string")
	}
	document = trimRightSpace(document)
	switch {
	case document == "" && f.several() && !f.Scope.Allows(skill.Main):
		return f.with("", object)
	case document == "":
		return skill.Skill{}, errors.New("new_skill is empty")
	}
	document, err := successor(f.Skill.Text(), document+"\n", f.Scope)
	if err != nil {
		return skill.Skill{}, err
	}
	return f.with(document, object)
}

// with returns the skill with a document, "" for the one that it has, and with the other
// files of an object where there may be some.
func (f Folder) with(document string, object map[string]any) (skill.Skill, error) {
	if document == "" || trimRightSpace(document) == trimRightSpace(f.Skill.Text()) {
		document = f.Skill.Text()
	}
	if !f.several() {
		return f.Skill.WithText(document), nil
	}
	texts, err := fileTexts(object["files"])
	if err != nil {
		return skill.Skill{}, err
	}
	for _, t := range texts {
		if slices.Contains(f.Unseen, t.File) && f.Scope.Allows(t.File) {
			return skill.Skill{}, fmt.Errorf("%q: its text was not shown, and stays as it is", t.File)
		}
	}
	if document != f.Skill.Text() {
		texts = append([]skill.FileText{{File: skill.Main, Content: document}}, texts...)
	}
	return skill.Rewrite(f.Skill, texts, f.Scope)
}

// fileTexts reads the other files of a reply; none is as good as an empty list.
func fileTexts(v any) ([]skill.FileText, error) {
	if v == nil {
		return nil, nil
	}
	list, ok := v.([]any)
	if !ok {
		return nil, errors.New(`files is not a list: want [{"file": "<path>", "content": "<the complete text>"}]`)
	}
	texts := make([]skill.FileText, len(list))
	for i, e := range list {
		entry, _ := asObject(e)
		file, named := entry["file"].(string)
		content, written := entry["content"].(string)
		switch {
		case !named || !written:
			return nil, fmt.Errorf("files[%d]: file and content are to be strings", i)
		case file == skill.Main:
			return nil, fmt.Errorf("files[%d]: the text of %s is new_skill, not one of files", i, skill.Main)
		}
		texts[i] = skill.FileText{File: file, Content: content}
	}
	return texts, nil
}

// oneWholeSkill reports why none of the candidates may take the skill's place, nil if one
// may or there is none.
func (f Folder) oneWholeSkill(items []any) error {
	var first error
	for i, item := range items {
		_, err := f.candidate(item)
		if err == nil {
			return nil
		}
		if first == nil {
			first = fmt.Errorf("skill_candidates[%d]: %w", i, err)
		}
	}
	return first
}

// usable returns the candidates that may take the skill's place. What their author was not
// shown, no one else knows.
func (f Folder) usable(items []any) []any {
	return slices.DeleteFunc(slices.Clone(items), func(item any) bool {
		_, err := f.candidate(item)
		return err != nil
	})
}

// successor checks that a whole document may take the incumbent's place, and
// gives it the incumbent's line ends. What is new in it is plain text. Outside of the region
// of scope it is the incumbent, byte for byte.
func successor(incumbent, document string, scope skill.Scope) (string, error) {
	document = skill.PlainLines(incumbent, document)
	document = skill.WithLineEnd(document, skill.LineEnd(incumbent))
	if trimRightSpace(document) == "" {
		return "", errors.New("new_skill is empty")
	}
	if len(document) > skill.MaxBytes {
		return "", fmt.Errorf("the new skill has %d bytes, at most %d are allowed", len(document), skill.MaxBytes)
	}
	document, err := scope.Confine(incumbent, document)
	if err != nil {
		return "", fmt.Errorf("the new skill: %w", err)
	}
	if !skill.RegionsEqual(incumbent, document) {
		return "", errors.New("the new skill changes a protected part: the front matter and the regions between the SLOW_UPDATE and APPENDIX markers must stay as they are, byte for byte")
	}
	return document, nil
}

// fileNames returns the names of an item's other files, on one line.
func fileNames(item map[string]any) string {
	var names []string
	list, _ := item["files"].([]any)
	for _, e := range list {
		entry, _ := asObject(e)
		names = append(names, optionalText(entry["file"]))
	}
	return strings.Join(names, ", ")
}

// otherTexts returns an item's other files, each under its name.
func otherTexts(item map[string]any) string {
	var b strings.Builder
	list, _ := item["files"].([]any)
	for _, e := range list {
		entry, _ := asObject(e)
		fmt.Fprintf(&b, "%s:\n%s\n\n", escapeNewlines(optionalText(entry["file"])), optionalText(entry["content"]))
	}
	return strings.TrimRight(b.String(), "\n")
}
