package draft

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// maxListed is how many of the prompts that there are already a call gets, the newest.
const maxListed = 200

const (
	triggerWriteFile    = "trigger_write.md"
	triggerTaskFile     = "trigger_task.md"
	triggerLeansFile    = "trigger_leans.md"
	triggerCheckFile    = "trigger_check.md"
	triggerRequestsFile = "trigger_requests.md"
)

// triggerPrompts are the texts that trigger tasks are asked for with.
type triggerPrompts struct {
	write, task, check, requests *template.Template

	leans []string // what calls are to lean towards, in turn, so that they differ
}

func loadTriggerPrompts() (p triggerPrompts, err error) {
	for _, f := range []struct {
		name string
		dst  **template.Template
	}{{triggerWriteFile, &p.write}, {triggerTaskFile, &p.task}, {triggerCheckFile, &p.check}, {triggerRequestsFile, &p.requests}} {
		if *f.dst, err = loadPrompt(f.name); err != nil {
			return p, err
		}
	}
	text, err := texts.ReadFile("text/" + triggerLeansFile)
	if err != nil {
		return p, fmt.Errorf("read prompt: %w", err)
	}
	p.leans = strings.Split(strings.TrimSpace(string(text)), "\n")
	return p, nil
}

// TriggerDigest names the texts that trigger tasks are asked for with.
func TriggerDigest() (string, error) {
	return digest("", triggerWriteFile, triggerTaskFile, triggerLeansFile, triggerCheckFile, triggerRequestsFile)
}

// renderRequest returns the prompts of the nth call of a round. What all calls share comes first,
// so that a provider's cache of prompts helps.
func (d *triggerDrafter) renderRequest(c triggerCall, n int, known []string) (system, user string, err error) {
	if system, err = d.prompts.write.Render(nil); err != nil {
		return "", "", err
	}
	user, err = d.prompts.task.Render(map[string]any{
		"files": d.formatFiles(c.file), "known": formatPrompts(known[max(0, len(known)-maxListed):]), "count": wording.Plural(c.tasks(), "prompt", "prompts"),
		"assignment": d.assignment(c), "lean": d.lean(n),
	})
	return system, user, err
}

// formatFiles returns SKILL.md, and the file that a call is about if that is another.
func (d *triggerDrafter) formatFiles(file int) string {
	text := numberLines(d.Material.Files[0])
	if file > 0 {
		text += "\n\n" + numberLines(d.Material.Files[file])
	}
	return text
}

// lean returns what the nth call leans towards. The seed decides where the turns begin.
func (d *triggerDrafter) lean(n int) string {
	leans := slices.Clone(d.prompts.leans)
	rand.New(rand.NewPCG(uint64(d.Seed), 0x6c65616e)).Shuffle(len(leans), func(i, j int) { leans[i], leans[j] = leans[j], leans[i] })
	return leans[n%len(leans)]
}

// assignment says which kinds the prompts of a call are to be of, and what about.
func (d *triggerDrafter) assignment(c triggerCall) string {
	lines := make([]string, len(c.asked))
	for i, s := range c.asked {
		p := d.parts[s.part]
		lines[i] = fmt.Sprintf("- %s of the kind %s: about lines %d-%d of %s", wording.Plural(s.n, "prompt", "prompts"), s.kind, p.From, p.To, d.Material.Files[c.file].Path)
		if p.Title != "" {
			lines[i] += fmt.Sprintf(" (%s)", excerpt(p.Title, 80))
		}
	}
	return strings.Join(lines, "\n")
}
