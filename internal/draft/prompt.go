package draft

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/template"
)

//go:embed text/*.md
var texts embed.FS

// AnswerRequest is what every drafted task ends with, for its author and for the
// target, so that the answer can be distinguished from the reasoning. It is a template of
// tasks.prompt, and AnswerTag the tag that tasks.extract looks for.
const (
	AnswerRequest = "{{prompt}}\n\nPut the final answer, and nothing else, between <answer> and </answer>."
	AnswerTag     = "answer"
)

// prompts are the texts of the two stages.
type prompts struct {
	write, task, solve, answer *template.Template
}

func loadPrompts() (p prompts, err error) {
	for _, f := range []struct {
		name string
		dst  **template.Template
	}{{"write.md", &p.write}, {"task.md", &p.task}, {"solve.md", &p.solve}} {
		if *f.dst, err = loadPrompt(f.name); err != nil {
			return p, err
		}
	}
	p.answer, err = template.Parse("tasks.prompt", AnswerRequest)
	return p, err
}

func loadPrompt(name string) (*template.Template, error) {
	text, err := texts.ReadFile("text/" + name)
	if err != nil {
		return nil, fmt.Errorf("read prompt: %w", err)
	}
	return template.Parse(name, strings.TrimSpace(string(text)))
}

// Digest names the texts that models are asked with: another one asks otherwise.
func Digest() (string, error) { return digest(AnswerRequest, "write.md", "task.md", "solve.md") }

// digest sums up texts, and what else is asked with them.
func digest(more string, names ...string) (string, error) {
	h := sha256.New()
	for _, name := range names {
		text, err := texts.ReadFile("text/" + name)
		if err != nil {
			return "", fmt.Errorf("read prompt: %w", err)
		}
		fmt.Fprintf(h, "%s %d\n%s", name, len(text), text)
	}
	h.Write([]byte(more))
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// renderRequest returns the prompts that ask for the tasks of a chunk. What all calls share comes
// first, so that a provider's cache of prompts helps.
func (d *drafter) renderRequest(c chunk, known []string) (system, user string, err error) {
	if system, err = d.prompts.write.Render(map[string]any{"checks": strings.Join(CheckTypes(), ", ")}); err != nil {
		return "", "", err
	}
	files := numberLines(d.material.Files[0])
	if c.file > 0 {
		files += "\n\n" + numberLines(d.material.Files[c.file])
	}
	user, err = d.prompts.task.Render(map[string]any{
		"files": files, "known": formatPrompts(known), "count": c.tasks(), "assignment": d.assignment(c),
	})
	return system, user, err
}

// numberLines returns a file with the numbers of its lines.
func numberLines(f File) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## File %s\n", f.Path)
	for i, line := range f.Lines {
		fmt.Fprintf(&b, "\n%d| %s", i+1, line)
	}
	return b.String()
}

func formatPrompts(prompts []string) string {
	if len(prompts) == 0 {
		return "(none)"
	}
	var b strings.Builder
	for i, p := range prompts {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "- %s", excerpt(p, 200))
	}
	return b.String()
}

// assignment says which lines the tasks of a chunk are to test.
func (d *drafter) assignment(c chunk) string {
	var b strings.Builder
	for i, s := range c.shares {
		p := d.parts[s.part]
		if i > 0 {
			b.WriteByte('\n')
		}
		noun := "tasks"
		if s.n == 1 {
			noun = "task"
		}
		fmt.Fprintf(&b, "- %d %s on lines %d-%d of %s", s.n, noun, p.From, p.To, d.material.Files[c.file].Path)
		if p.Title != "" {
			fmt.Fprintf(&b, " (%s)", excerpt(p.Title, 80))
		}
	}
	return b.String()
}

// excerpt returns the beginning of a text on one line.
func excerpt(text string, limit int) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > limit {
		return string(r[:limit-3]) + "..."
	}
	return string(r)
}
