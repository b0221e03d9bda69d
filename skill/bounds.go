package skill

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// What Apply holds edits to, and Rewrite whole texts of files: which files may change, and
// how large a skill may become.

// outsideReason returns why the file at path may not be changed, "" if it may.
func (s Scope) outsideReason(path string) string {
	switch {
	case s.region != "" && path != Main:
		return fmt.Sprintf("%q: only the learned region of %s may be edited", cut(path, previewLength), Main)
	case s.alone:
		return "only the description may be replaced, by op describe"
	case s.Alone() && path != Main:
		return fmt.Sprintf("%q: only %s may be edited", path, Main)
	case !s.Allows(path):
		return fmt.Sprintf("%q: only what matches %s may be edited", cut(path, previewLength), strings.Join(s.patterns, ", "))
	}
	return ""
}

// tooLong says why the file at path of next is larger than a file may become, "" if it is
// not. What was too large before may stay so.
func tooLong(before, next Skill, path string, most int) string {
	was, _ := before.File(path)
	if after, _ := next.File(path); len(after) > most && len(after) > len(was) {
		return fmt.Sprintf("%s would have %d bytes, at most %d are allowed", displayName(path), len(after), most)
	}
	return ""
}

// tooMuch says why next is more than a skill may become of before, "" if it is not.
func (s Scope) tooMuch(before, next Skill) (status ApplyStatus, detail string) {
	if n := next.bytes(); n > MaxTotal && n > before.bytes() {
		return SkippedTooLarge, fmt.Sprintf("the skill would have %d bytes, at most %d are allowed", n, MaxTotal)
	}
	if len(next.files) == len(before.files) {
		return "", ""
	}
	if s.countNewFiles(next) > s.newFiles {
		return SkippedTooManyFiles, fmt.Sprintf("%s may be added to the skill", wording.Plural(s.newFiles, "file", "files"))
	}
	if len(next.files)+1 > MaxFiles {
		return SkippedTooManyFiles, fmt.Sprintf("a skill may have %d files", MaxFiles)
	}
	return "", ""
}

// displayName returns the name of a file for messages.
func displayName(path string) string {
	if path == Main {
		return "the document"
	}
	return path
}

// collisionReason returns why a file at path cannot be added to s, "" if it can.
func collisionReason(s Skill, path string) string {
	if other, ok := collides(s, path); ok {
		return fmt.Sprintf("%q cannot be next to %s", path, other)
	}
	return ""
}
