package rollout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Bounds of what a body is recognised by.
const (
	minMark = 20  // characters of a line: shorter ones can be anywhere
	maxMark = 160 // bytes: agents cut long lines
	// What is read of a workspace for lines that are there too, in bytes.
	maxSameFile = 1 << 20
	maxSameAll  = 64 << 20
)

// Marks are texts by which the body of a skill is recognised in what a model is given:
// lines of it that are in nothing else that the agent can come upon. There are none
// where the body has no such line: then no one can know whether it was loaded.
type Marks struct{ texts []string }

// FindMarks returns lines of the body of a skill that neither its front matter nor its other files
// hold.
func FindMarks(s skill.Skill) Marks {
	doc, _ := skill.Parse(s.Text()) // one that cannot be read is all body
	var m Marks
	for line := range strings.Lines(doc.Body) {
		line = strings.TrimSpace(line)
		if utf8.RuneCountInString(line) < minMark {
			continue
		}
		if len(line) > maxMark {
			line = strings.TrimSpace(strings.ToValidUTF8(line[:maxMark], ""))
		}
		if !slices.Contains(m.texts, line) {
			m.texts = append(m.texts, line)
		}
	}
	m = m.Without(doc.Head, strings.Join(strings.Fields(doc.Head), " "), doc.Description)
	for _, name := range s.Others() {
		content, _ := s.File(name)
		m = m.Without(content)
	}
	return m
}

// Empty reports whether there is nothing to recognise the body by.
func (m Marks) Empty() bool { return len(m.texts) == 0 }

// Without returns the marks that are in none of the texts.
func (m Marks) Without(texts ...string) Marks {
	var kept Marks
	for _, mark := range m.texts {
		if !slices.ContainsFunc(texts, func(text string) bool { return holds(text, mark) }) {
			kept.texts = append(kept.texts, mark)
		}
	}
	return kept
}

// In reports whether a text holds a part of the body.
func (m Marks) In(text string) bool {
	return slices.ContainsFunc(m.texts, func(mark string) bool { return holds(text, mark) })
}

// holds reports whether a text holds a mark, as it is or within JSON.
func holds(text, mark string) bool {
	return strings.Contains(text, mark) || slices.ContainsFunc([]bool{false, true}, func(html bool) bool {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(html)
		if enc.Encode(mark) != nil {
			return false
		}
		inner := strings.TrimSpace(b.String())
		return strings.Contains(text, inner[1:len(inner)-1])
	})
}

// withoutFiles returns the marks that no file below a folder holds.
func (m Marks) withoutFiles(dir string) Marks {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return m
	}
	defer func() { _ = root.Close() }() // it was only read
	left := int64(maxSameAll)
	_ = disk.Walk(root, func(in *os.Root, _ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || m.Empty() {
			return nil
		}
		info, err := d.Info()
		if err != nil || info.Size() > min(maxSameFile, left) {
			return nil
		}
		left -= info.Size()
		if data, err := fs.ReadFile(in.FS(), d.Name()); err == nil {
			m = m.Without(string(data))
		}
		return nil
	})
	return m
}

// Untellable returns why no one can report whether an agent loaded a skill, "" if it can be reported.
func Untellable(s skill.Skill) string {
	if strings.TrimSpace(s.Text()) == "" {
		return "the skill is empty: there is nothing to load"
	}
	if FindMarks(s).Empty() {
		return fmt.Sprintf("the body of the skill has no line of %d characters or more that is neither in its front matter nor in its other files: it is unknown whether it was loaded", minMark)
	}
	return ""
}

// marks returns the marks of a skill for one trigger task. The error is unmeasurable.
func (a *Agent) marks(t task.Task, s skill.Skill, dir string) (Marks, error) {
	why := Untellable(s)
	m := FindMarks(s).Without(t.Prompt).withoutFiles(dir)
	if why == "" && m.Empty() {
		why = "each line of the body that could show it is in the prompt or in the workspace too"
	}
	if why != "" {
		return m, caller.Unmeasurable(fmt.Errorf("trigger task %s: %s", t.ID, why))
	}
	return m, nil
}

// scoreTrigger fills in the outcome of a trigger task: 1 if the body of the skill was loaded
// and should be, or was not and should not. That is its answer, whatever the agent said.
func scoreTrigger(t task.Task, did episodeRecord, out *trajectory.Outcome) error {
	if did.Load == "" {
		return caller.Unmeasurable(fmt.Errorf("trigger task %s: it is unknown whether the skill was loaded", t.ID))
	}
	out.Status, out.Answer, out.Load = score.OK, string(did.Load), did.Load
	if t.Trigger.Right(did.Load == trajectory.Loaded) {
		out.Hard, out.Soft = 1, 1
		return nil
	}
	out.FailReason = "the skill was loaded and should not be"
	if t.Trigger == task.TriggerShould {
		out.FailReason = "the skill was not loaded and should be"
	}
	return nil
}
