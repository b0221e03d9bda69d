package skill

import (
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// FileText is the whole new text of a file.
type FileText struct {
	File    string `json:"file"` // slash-separated, within the skill directory
	Content string `json:"content"`
}

// Rewrite returns s with other texts of files. All of them may be taken over, or none is:
// the error names the file that may not. The limits are those of Apply: the files that the
// scope allows, new ones included, MaxBytes a file, MaxTotal and MaxFiles in all, and the
// protected regions of SKILL.md. With a region of the scope, SKILL.md is what Confine makes
// of it.
//
// Lines that a file has already stay byte for byte as they are; new ones lose characters
// that steer or hide (see Plain) and region markers. A file keeps its line ending, and
// whether it may be executed; a new one has the line ending of SKILL.md. White space at the
// end becomes one line ending. A text that differs from that of its file in nothing else
// changes no byte, and neither does a file that is not named: none can be deleted.
func Rewrite(s Skill, texts []FileText, scope Scope) (Skill, error) {
	next, done := s, map[string]bool{}
	for _, t := range texts {
		name := cut(t.File, previewLength)
		if done[t.File] {
			return Skill{}, fmt.Errorf("%q is there twice: one text a file is allowed", name)
		}
		done[t.File] = true
		if detail := scope.outsideReason(t.File); detail != "" {
			return Skill{}, errors.New(detail)
		}
		content, err := rewritten(s, t)
		if err != nil {
			return Skill{}, fmt.Errorf("%q: %w", name, err)
		}
		if next, err = putFile(next, FileText{File: t.File, Content: content}); err != nil {
			return Skill{}, err
		}
		if detail := tooLong(s, next, t.File, MaxBytes); detail != "" {
			return Skill{}, errors.New(detail)
		}
		if _, detail := scope.tooMuch(s, next); detail != "" {
			return Skill{}, fmt.Errorf("%q: %s", name, detail)
		}
	}
	if next.main == s.main {
		return next, nil
	}
	text, err := scope.Confine(s.main, next.main)
	if err != nil {
		return Skill{}, fmt.Errorf("%q: %w", Main, err)
	}
	if !RegionsEqual(s.main, text) {
		return Skill{}, fmt.Errorf("%q: the front matter and the protected regions must stay as they are, byte for byte", Main)
	}
	return next.WithText(text), nil
}

// breaks are line breaks of either sort. A carriage return before one is no part of its
// line: a line that is in the file stays with it, and must not bring another along.
var breaks = pattern.New(`\r+\n`)

// rewritten returns the text that a file of s gets.
func rewritten(s Skill, t FileText) (string, error) {
	if at := invalidUTF8(t.Content); at >= 0 {
		return "", fmt.Errorf("line %d is not UTF-8 text", lineNumber(t.Content, at))
	}
	was, there := s.File(t.File)
	text := newLines(was, breaks.ReplaceAllString(t.Content, lf), func(line string) string { return StripMarkers(Plain(line)) })
	text = trimEnd(text)
	switch {
	case trim(text) == "":
		return "", errors.New("the text is empty: a file may get another text, and stays as it is if it is not named")
	case !there:
		end := LineEnd(s.main)
		return WithLineEnd(text, end) + end, nil
	case text == trimEnd(breaks.ReplaceAllString(was, lf)):
		return was, nil
	}
	end := LineEnd(was)
	return WithLineEnd(text, end) + end, nil
}

// putFile returns s with the text of a file, which can lie next to the others.
func putFile(s Skill, t FileText) (Skill, error) {
	if _, there := s.File(t.File); !there {
		if detail := collisionReason(s, t.File); detail != "" {
			return Skill{}, errors.New(detail)
		}
	}
	return s.WithFile(t.File, t.Content), nil
}
