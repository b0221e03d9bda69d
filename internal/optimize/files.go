package optimize

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// filesRoom is how many bytes of texts of files next to SKILL.md a prompt holds.
const filesRoom = 96 << 10

// FilesInput is a skill with several files, of which some may change.
type FilesInput struct {
	Prompts  *prompt.Set
	Mode     Mode // how they change; "" = ModePatch
	Author   bool // of ModeRewrite: for the author, not for those who make suggestions
	Skill    skill.Skill
	Scope    skill.Scope
	Outcomes []trajectory.Outcome // what was done with the skill; may be empty
}

// Files writes what the optimizer learns of the files of a skill: in System how proposals name
// them, in User all of them, with the texts of those that may be edited and of those that
// the trajectories touched. Those come first, as far as there is room for 96 KB; what is
// left out is named.
func Files(in FilesInput) (prompt.Text, error) {
	touched := Touched(in.Outcomes, in.Skill.Others())
	var b strings.Builder
	fmt.Fprintf(&b, "- %s: %s, %s, always loaded, shown above%s\n", skill.Main,
		wording.Plural(len(in.Skill.Text()), "byte", "bytes"), wording.Plural(len(strings.Fields(in.Skill.Text())), "word", "words"), in.about(skill.Main, touched))
	for _, name := range in.Skill.Others() {
		text, _ := in.Skill.File(name)
		fmt.Fprintf(&b, "- %s: %s%s\n", escapeNewlines(name), wording.Plural(len(text), "byte", "bytes"), in.about(name, touched))
	}
	in.texts(&b, touched)
	return in.Prompts.Files(prompt.FilesInput{
		Mode: string(in.Mode), Author: in.Author, Fixed: in.Scope.Alone(),
		Files: strings.TrimRight(b.String(), "\n"), NewFiles: in.Scope.Room(in.Skill), Patterns: strings.Join(in.Scope.Patterns(), ", "),
	})
}

func (in FilesInput) about(name string, touched []string) string {
	out := ""
	if in.Skill.Executable(name) {
		out += ", a program"
	}
	if slices.Contains(touched, name) {
		out += ", touched in these trajectories"
	}
	if in.Scope.Allows(name) {
		return out + "; may be edited"
	}
	return out + "; fixed"
}

// texts writes the texts of the files that matter, those that were touched first.
func (in FilesInput) texts(b *strings.Builder, touched []string) {
	for _, f := range in.chooseFiles(touched) {
		if !f.fits {
			fmt.Fprintf(b, "\n%s is not shown: there is no room for it.\n", escapeNewlines(f.name))
			continue
		}
		p := pen{fence: chooseFence(ticksIn(f.text), sha256.Sum256([]byte(f.text)))}
		p.writeFenced(escapeNewlines(f.name), strings.TrimRight(f.text, "\n"))
		b.WriteString(p.b.String())
	}
}

// chosen is a file that matters, and whether there is room for its text.
type chosen struct {
	name, text string
	fits       bool
}

// chooseFiles returns the files that matter and are texts, those first that were touched.
func (in FilesInput) chooseFiles(touched []string) (out []chosen) {
	names := slices.DeleteFunc(in.Skill.Others(), func(name string) bool {
		return slices.Contains(touched, name) || !in.Scope.Allows(name)
	})
	room := filesRoom
	for _, c := range in.Skill.Contents(skill.MaxTotal) {
		if c.Text == nil { // nothing to read
			names, touched = removeName(names, c.Path), removeName(touched, c.Path)
		}
	}
	for _, name := range slices.Concat(touched, names) {
		text, _ := in.Skill.File(name)
		fits := len(text) <= room
		if fits {
			room -= len(text)
		}
		out = append(out, chosen{name, text, fits})
	}
	return out
}

// Folder returns the skill as those who learn of its files may write it again: not the files that
// they are shown no text of.
func (in FilesInput) Folder() Folder {
	f := Folder{Skill: in.Skill, Scope: in.Scope, Unseen: in.Skill.Others()}
	for _, c := range in.chooseFiles(Touched(in.Outcomes, in.Skill.Others())) {
		if c.fits {
			f.Unseen = removeName(f.Unseen, c.name)
		}
	}
	return f
}

func removeName(names []string, name string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == name })
}

// Touched returns those of the given files of a skill that trajectories name in what was
// done or in its result: by their path, or by a base name that no other file has. The order
// is that of paths.
func Touched(outcomes []trajectory.Outcome, paths []string) []string {
	bases := map[string]int{}
	for _, p := range paths {
		bases[path.Base(p)]++
	}
	var out []string
	for _, p := range paths {
		name := p
		if base := path.Base(p); bases[base] == 1 {
			name = base
		}
		if slices.ContainsFunc(outcomes, func(o trajectory.Outcome) bool { return names(o, name) }) {
			out = append(out, p)
		}
	}
	return out
}

func names(o trajectory.Outcome, text string) bool {
	return slices.ContainsFunc(o.Trajectory, func(t trajectory.Turn) bool {
		return strings.Contains(t.Action, text) || strings.Contains(t.Observation, text) || strings.Contains(t.Content, text)
	})
}
