package rollout

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// skillRoom is how many bytes of the files next to SKILL.md a chat target gets: about
// 16 000 tokens.
const skillRoom = 64 << 10

// skillBytes returns what the outcome of an episode depends on of a skill: its SKILL.md and, where
// there are more files, a sum of all.
func skillBytes(s skill.Skill) []byte {
	if len(s.Others()) == 0 {
		return []byte(s.Text())
	}
	return []byte(s.Text() + "\x00" + s.Digest())
}

// skillText returns a skill as a target without tools gets it: SKILL.md and, after it, the files
// next to it. Those that are text are in full as far as there is room. The text is SKILL.md, byte
// for byte, where that is alone.
func skillText(s skill.Skill) string {
	files := s.Contents(skillRoom)
	if len(files) == 0 {
		return s.Text()
	}
	var b strings.Builder
	b.WriteString(strings.TrimRight(s.Text(), "\n"))
	b.WriteString("\n\n# Files of this skill\n\nNothing can be opened or run here. What is text stands below.\n")
	for _, f := range files {
		if f.Text == nil {
			fmt.Fprintf(&b, "\n- %s: %d bytes, not shown\n", f.Path, f.Bytes)
			continue
		}
		fence := fenceFor(*f.Text)
		fmt.Fprintf(&b, "\n- %s:\n\n%s\n%s\n%s\n", f.Path, fence, strings.TrimRight(*f.Text, "\n"), fence)
	}
	return b.String()
}

// fenceFor returns a fence that a text cannot end.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}
