// Package skill holds the trainable document: a skill directory as a value, the
// edits that change it, and the regions that edits may not touch.
//
// It knows nothing about models, tasks or scores, and does no I/O but what Read
// does on the file system that it is given. Its values are immutable and safe
// for concurrent use, and its functions depend on their arguments alone.
package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// Main is the file of a skill directory that steers the agent, and the only one
// that may be edited for now.
const Main = "SKILL.md"

// MaxBytes is the largest skill document that is accepted.
const MaxBytes = 256 << 10

// Skill is a skill directory: SKILL.md and, beside it, files that it refers to.
// The zero value is the empty skill.
type Skill struct {
	main  string
	files map[string]string // without Main; never written after construction
}

// New returns a skill that is just a SKILL.md.
func New(main string) Skill { return Skill{main: main} }

// Text returns the content of SKILL.md.
func (s Skill) Text() string { return s.main }

// WithText returns a copy with another SKILL.md.
func (s Skill) WithText(main string) Skill { return Skill{main: main, files: s.files} }

// WithFile returns a copy in which the file at path holds content.
func (s Skill) WithFile(path, content string) Skill {
	if path == Main {
		return s.WithText(content)
	}
	files := maps.Clone(s.files)
	if files == nil {
		files = map[string]string{}
	}
	files[path] = content
	return Skill{main: s.main, files: files}
}

// File returns the content of the file at path, which is slash-separated and
// relative to the skill directory.
func (s Skill) File(path string) (string, bool) {
	if path == Main {
		return s.main, true
	}
	c, ok := s.files[path]
	return c, ok
}

// Files returns the paths of all files, SKILL.md first, the others sorted.
func (s Skill) Files() []string {
	return append([]string{Main}, slices.Sorted(maps.Keys(s.files))...)
}

// Hash names the content of SKILL.md: the first 16 hex digits of its SHA-256,
// as in SkillOpt and skillrl.
func (s Skill) Hash() string { return Hash(s.main) }

// Hash returns the first 16 hex digits of the SHA-256 of text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:16]
}
