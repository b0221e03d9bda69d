package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

// Scope says which files of a skill edits may change and add. The zero value is
// SKILL.md alone. It is immutable.
type Scope struct {
	patterns []string
	newFiles int
	seed     map[string]bool // paths of the files that were there; true: by its pattern it may change

	description bool
	alone       bool // with description: nothing else
	tidy        bool
	region      Region // "": no part of SKILL.md alone
}

// Why a scope cannot be had, apart from ErrNotUTF8 and ErrTooLarge.
var (
	ErrPattern   = errors.New("no pattern of paths in the skill: want names, *, ? and [...] between slashes, and ** for any folders")
	ErrNoMatch   = errors.New("no file of the skill matches it")
	ErrByPattern = errors.New("scripts may be edited only by name")
)

// ScopeError says which pattern of a scope cannot be used, or which file that it matches.
type ScopeError struct {
	Pattern string
	File    string // "": the pattern itself
	Line    int    // of File, 1-based, with ErrNotUTF8
	Err     error
}

func (e *ScopeError) Error() string {
	where := fmt.Sprintf("%q", e.Pattern)
	if e.File != "" {
		where += fmt.Sprintf(" matches %s", e.File)
	}
	if e.Line > 0 {
		where += fmt.Sprintf(", line %d", e.Line)
	}
	return where + ": " + e.Err.Error()
}

func (e *ScopeError) Unwrap() error { return e.Err }

// NewScope returns the scope of edits of seed, and of what edits make of it: the files
// that patterns match, and at most newFiles files that are not in seed, where a pattern
// allows them. A pattern is a path, slash-separated and relative to the skill directory,
// with * ? and [...] within a name as in package path, and ** for any number of folders.
//
// What may be executed, and what lies in scripts, is matched by its whole name alone, and
// is never added. Files that are matched have to be UTF-8 text of at most MaxBytes. A
// pattern that matches nothing is an error unless it allows new files. The error is a
// *ScopeError.
func NewScope(seed Skill, patterns []string, newFiles int) (Scope, error) {
	s := Scope{patterns: slices.Clone(patterns), newFiles: newFiles, seed: map[string]bool{}}
	for _, p := range patterns {
		if err := s.check(p, seed); err != nil {
			return Scope{}, err
		}
	}
	for _, name := range seed.Files() {
		s.seed[name] = s.matches(name, seed.Executable(name))
	}
	return s, nil
}

func (s Scope) check(pattern string, seed Skill) error {
	if !validPattern(pattern) {
		return &ScopeError{Pattern: pattern, Err: ErrPattern}
	}
	if strings.HasPrefix(pattern, scripts) && !literal(pattern) {
		return &ScopeError{Pattern: pattern, Err: ErrByPattern}
	}
	found := false
	for _, name := range seed.Files() {
		if !matchesOne(pattern, name, seed.Executable(name)) {
			continue
		}
		found = true
		text, _ := seed.File(name)
		if at := invalidUTF8(text); at >= 0 {
			return &ScopeError{Pattern: pattern, File: name, Line: lineNumber(text, at), Err: ErrNotUTF8}
		}
		if len(text) > MaxBytes {
			return &ScopeError{Pattern: pattern, File: name, Err: fmt.Errorf("%d bytes are %w: at most %d", len(text), ErrTooLarge, MaxBytes)}
		}
	}
	if !found && (s.newFiles == 0 || literal(pattern) && strings.HasPrefix(pattern, scripts)) {
		return &ScopeError{Pattern: pattern, Err: ErrNoMatch}
	}
	return nil
}

// scripts is where programs of a skill lie by the standard.
const scripts = "scripts/"

// WithDescription returns the scope in which edits may also replace the description of
// SKILL.md, by Describe.
func (s Scope) WithDescription() Scope {
	s.description = true
	return s
}

// WithDescriptionAlone returns the scope in which edits may replace the description of
// SKILL.md and nothing else.
func (s Scope) WithDescriptionAlone() Scope {
	s.description, s.alone = true, true
	return s
}

// WithTidy returns the scope in which edits are fitted into Markdown files, or are not: list items join
// the list that they are put behind, with its bullet and indent; blocks are parted by one
// blank line; an insert goes behind the whole paragraph or item that holds its target; what
// is taken out leaves no second blank line; white space around the target of a replacement
// stays. An edit within a code block changes it as it would without.
func (s Scope) WithTidy(tidy bool) Scope {
	s.tidy = tidy
	return s
}

// Tidy reports whether edits are fitted in.
func (s Scope) Tidy() bool { return s.tidy }

// Description reports whether edits may replace the description.
func (s Scope) Description() bool { return s.description }

// DescriptionAlone reports whether edits may replace the description and nothing else.
func (s Scope) DescriptionAlone() bool { return s.alone }

// Alone reports whether SKILL.md is the only file that edits may change.
func (s Scope) Alone() bool {
	return !slices.ContainsFunc(s.patterns, func(p string) bool { return p != Main })
}

// Allows reports whether edits may change the file at path, or add it.
func (s Scope) Allows(path string) bool {
	if len(s.patterns) == 0 {
		return path == Main
	}
	if allowed, there := s.seed[path]; there {
		return allowed
	}
	return s.newFiles > 0 && s.matches(path, false) && addable(path)
}

// Of returns the files of sk that edits may change, SKILL.md first, the others sorted.
func (s Scope) Of(sk Skill) []string {
	return slices.DeleteFunc(sk.Files(), func(path string) bool { return !s.Allows(path) })
}

// Patterns returns the patterns of the scope.
func (s Scope) Patterns() []string {
	if len(s.patterns) == 0 {
		return []string{Main}
	}
	return slices.Clone(s.patterns)
}

// Room returns how many files may still be added to sk.
func (s Scope) Room(sk Skill) int { return max(0, s.newFiles-s.countNewFiles(sk)) }

// Hash names a skill by the part of it that edits may change: it is the Digest of Part.
func (s Scope) Hash(sk Skill) string { return s.Part(sk).Digest() }

// Part returns SKILL.md with those other files of sk that edits may change.
func (s Scope) Part(sk Skill) Skill {
	out := New(sk.main)
	for _, path := range s.Of(sk) {
		if f, there := sk.files[path]; there {
			out = out.with(path, f)
		}
	}
	return out
}

// countNewFiles counts the files of sk that were not there in the beginning.
func (s Scope) countNewFiles(sk Skill) int {
	n := 0
	for _, path := range sk.Others() {
		if _, there := s.seed[path]; !there {
			n++
		}
	}
	return n
}

func (s Scope) matches(path string, executable bool) bool {
	return slices.ContainsFunc(s.patterns, func(p string) bool { return matchesOne(p, path, executable) })
}

func matchesOne(pattern, name string, executable bool) bool {
	if literal(pattern) || executable || strings.HasPrefix(name, scripts) {
		return pattern == name
	}
	return match(strings.Split(pattern, "/"), strings.Split(name, "/"))
}

// match matches names of a path one by one; ** represents any number of them but the last.
func match(pattern, names []string) bool {
	switch {
	case len(pattern) == 0 || len(names) == 0:
		return len(pattern) == len(names)
	case pattern[0] == anyFolders:
		return match(pattern[1:], names) || len(names) > 1 && match(pattern, names[1:])
	}
	ok, err := path.Match(pattern[0], names[0])
	return err == nil && ok && match(pattern[1:], names[1:])
}

const anyFolders = "**"

func validPattern(pattern string) bool {
	names := strings.Split(pattern, "/")
	if !fs.ValidPath(pattern) || pattern == "." || len(names) > maxDepth || names[len(names)-1] == anyFolders {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		_, err := path.Match(name, "")
		return err != nil || name != anyFolders && strings.Contains(name, anyFolders)
	})
}

// literal reports whether a pattern matches one path only.
func literal(pattern string) bool { return !strings.ContainsAny(pattern, `*?[\`) }

// Bounds of the paths of files that edits add.
const (
	maxDepth = 8
	maxPath  = 200 // bytes
)

// addable reports whether a file of that path may be added: Read would read it again, on
// every system.
func addable(name string) bool {
	if !fs.ValidPath(name) || invalidUTF8(name) >= 0 || len(name) > maxPath || strings.ContainsFunc(name, unsafeRune) {
		return false
	}
	parts := strings.Split(name, "/")
	return len(parts) <= maxDepth && parts[0] != evals && !instructs(path.Base(name)) &&
		!slices.ContainsFunc(parts, func(part string) bool {
			return foreignName(part) || strings.HasSuffix(part, ".") || strings.TrimSpace(part) != part || part == ""
		})
}

// instructs reports whether agents read a file of that name by themselves, wherever it
// lies: one that is added would be another skill, or orders that no skill gives.
func instructs(base string) bool {
	return slices.ContainsFunc([]string{Main, "AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "QWEN.md"}, func(name string) bool {
		return strings.EqualFold(base, name)
	})
}

// unsafeRune reports whether a character has no place in the name of a file that a model
// thought of.
func unsafeRune(r rune) bool {
	return !unicode.IsGraphic(r) || unicode.Is(unicode.Bidi_Control, r) || strings.ContainsRune(`<>:"|?*\`, r)
}

// collides returns the file of sk with which one at path could not lie side by side: one
// that is a folder of the other, or has the same name but for upper and lower case.
func collides(sk Skill, name string) (string, bool) {
	folded := strings.ToLower(name)
	for _, other := range sk.Files() {
		o := strings.ToLower(other)
		if o == folded || strings.HasPrefix(o, folded+"/") || strings.HasPrefix(folded, o+"/") {
			return other, true
		}
	}
	return "", false
}
