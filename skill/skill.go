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
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Main is the file of a skill directory that steers the agent.
const Main = "SKILL.md"

// Bounds of a skill. A larger one is refused.
const (
	MaxBytes = 256 << 10 // of SKILL.md
	MaxFiles = 256       // SKILL.md included
	MaxTotal = 8 << 20   // bytes of all files
)

// Skill is a skill directory: SKILL.md and, next to it, files that it refers to: texts,
// scripts, data, of any bytes. The zero value is the empty skill.
type Skill struct {
	main  string
	files map[string]file // without Main; never written after construction
}

// file is one next to SKILL.md.
type file struct {
	content    string
	executable bool
}

// New returns a skill that is just a SKILL.md.
func New(main string) Skill { return Skill{main: main} }

// Text returns the content of SKILL.md.
func (s Skill) Text() string { return s.main }

// WithText returns a copy with another SKILL.md.
func (s Skill) WithText(main string) Skill { return Skill{main: main, files: s.files} }

// WithFile returns a copy in which the file at path holds content. One that was
// executable stays so.
func (s Skill) WithFile(path, content string) Skill {
	if path == Main {
		return s.WithText(content)
	}
	return s.with(path, file{content: content, executable: s.files[path].executable})
}

// WithExecutable returns a copy in which the file at path, which is there, may be
// executed. Of SKILL.md, and of a path without a file, it is the same skill.
func (s Skill) WithExecutable(path string) Skill {
	f, ok := s.files[path]
	if !ok {
		return s
	}
	f.executable = true
	return s.with(path, f)
}

func (s Skill) with(path string, f file) Skill {
	files := maps.Clone(s.files)
	if files == nil {
		files = map[string]file{}
	}
	files[path] = f
	return Skill{main: s.main, files: files}
}

// File returns the content of the file at path, which is slash-separated and
// relative to the skill directory.
func (s Skill) File(path string) (string, bool) {
	if path == Main {
		return s.main, true
	}
	f, ok := s.files[path]
	return f.content, ok
}

// Executable reports whether the file at path is to be executable.
func (s Skill) Executable(path string) bool { return s.files[path].executable }

// Files returns the paths of all files, SKILL.md first, the others sorted.
func (s Skill) Files() []string { return append([]string{Main}, s.Others()...) }

// Others returns the paths of the files next to SKILL.md, sorted.
func (s Skill) Others() []string { return slices.Sorted(maps.Keys(s.files)) }

// bytes returns the size of all files.
func (s Skill) bytes() int {
	n := len(s.main)
	for _, f := range s.files {
		n += len(f.content)
	}
	return n
}

// Equal reports whether two skills have the same files, bytes and modes.
func (s Skill) Equal(o Skill) bool { return s.main == o.main && maps.Equal(s.files, o.files) }

// Hash names the content of SKILL.md: the first 16 hex digits of its SHA-256,
// as in SkillOpt and skillrl.
func (s Skill) Hash() string { return Hash(s.main) }

// Digest names the skill with all its files, what they hold and which may be executed.
// Of a SKILL.md alone it is Hash.
func (s Skill) Digest() string {
	if len(s.files) == 0 {
		return s.Hash()
	}
	var all strings.Builder
	fmt.Fprintf(&all, "%q %s\n", Main, s.Hash())
	for _, path := range s.Others() {
		fmt.Fprintf(&all, "%q %s\n", path, s.FileDigest(path))
	}
	return Hash(all.String())
}

// FileDigest names what the file at path holds, and whether it may be executed; "" if
// there is none.
func (s Skill) FileDigest(path string) string {
	content, ok := s.File(path)
	switch {
	case !ok:
		return ""
	case s.Executable(path):
		return Hash(content) + " executable"
	}
	return Hash(content)
}

// Hash returns the first 16 hex digits of the SHA-256 of text.
func Hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])[:16]
}
