package report

import (
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
)

// Markdown returns report.md: what a pull request should say of a new skill. What
// came from models, tasks or users is escaped, or is in a code block that it
// cannot end.
func Markdown(r *Run) []byte {
	p := newPage(r)
	m := &markdown{}
	m.head(p.Title, p.Lead, p.Notices, p.Tiles)
	m.baselines(p)
	m.steps(p)
	m.skill(r)
	m.origins(p.Origins)
	m.writeLosses(p)
	m.writeCommands(p)
	return []byte(strings.TrimRight(m.b.String(), "\n") + "\n")
}

type markdown struct{ b strings.Builder }

// say writes a paragraph. Its arguments are escaped.
func (m *markdown) say(format string, args ...any) { fmt.Fprintf(&m.b, format+"\n\n", args...) }

func (*markdown) text(s string) string { return Plain(s) }

// Plain returns a text as Markdown that shows it, on one line. It escapes what could be taken for
// markup, would end a cell of a table or call somebody.
func Plain(s string) string {
	var b strings.Builder
	for _, r := range line(s, 1<<16) {
		switch r {
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@': // would call somebody
			b.WriteString("&#64;")
		case '\\', '`', '*', '_', '[', ']', '|', '#', '~', '!', '$':
			b.WriteRune('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// block writes text as it is. The fence is longer than any in the text.
func (m *markdown) block(language, text string) {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	fmt.Fprintf(&m.b, "%s%s\n%s\n%s\n\n", fence, language, strings.TrimRight(text, "\n"), fence)
}

func (m *markdown) table(head string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	columns := strings.Split(head, "|")
	fmt.Fprintf(&m.b, "| %s |\n|%s\n", strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)))
	for _, row := range rows {
		for i := range row {
			row[i] = m.text(row[i])
		}
		fmt.Fprintf(&m.b, "| %s |\n", strings.Join(row, " | "))
	}
	m.b.WriteByte('\n')
}

// head writes what a report begins with.
func (m *markdown) head(title, lead string, notices []notice, tiles []tile) {
	m.say("# %s", m.text(title))
	m.say("%s", m.text(lead))
	for _, n := range notices {
		m.say("> **%s.** %s", m.text(n.Head), m.text(n.Text))
	}
	m.tiles(tiles)
}

func (m *markdown) tiles(tiles []tile) {
	var rows [][]string
	for _, t := range tiles {
		rows = append(rows, []string{t.Label, t.Value, t.Note})
	}
	m.table("figure|value|remark", rows)
}

func (m *markdown) baselines(p page) {
	m.say("## Baselines")
	m.say("%s", m.text(p.Compared))
	var rows [][]string
	for _, a := range p.Arms {
		rows = append(rows, []string{a.Name, a.Score, a.Range, a.Soft, a.N})
	}
	m.table("arm|hard|95 % interval|soft|n", rows)
}

func (m *markdown) steps(p page) {
	steps, raced := p.Steps, ""
	if p.Raced {
		raced = " After ± is one standard error of the difference."
	}
	m.say("## Steps")
	if len(steps) == 0 {
		m.say("No step is done yet.")
		return
	}
	m.say("Scores are gate scores on the selection split, by which training chooses: new tasks would probably give lower ones.%s", raced)
	var rows [][]string
	for _, s := range steps {
		rows = append(rows, []string{s.Label, strings.TrimSpace(number(s.Score) + " " + s.Part), s.Change, number(s.Current), s.Verdict.Words, s.Reason})
	}
	m.table("step|candidate|difference|current|verdict|why", rows)
}

func (m *markdown) skill(r *Run) {
	m.say("## Skill")
	switch diff := skill.Diff(cleanSkill(r.Seed), cleanSkill(r.Best), "seed", "best"); {
	case !r.HasBest:
		m.say("There is no best skill yet.")
	case diff == "":
		m.say("The best skill is the one that training began with.")
	default:
		m.block("diff", diff)
	}
}

// cleanSkill returns a skill with the texts of its files as a report shows them.
func cleanSkill(s skill.Skill) skill.Skill {
	out := skill.New(clean(s.Text(), skill.MaxBytes))
	for _, name := range s.Others() {
		text, _ := s.File(name)
		out = out.WithFile(line(name, idLength), clean(text, skill.MaxBytes))
	}
	return out
}

func (m *markdown) origins(groups []group) {
	if len(groups) == 0 {
		return
	}
	m.say("## Where the lines come from")
	for _, g := range groups {
		m.say("**%s**, %s: %s", m.text(g.Head), m.text(g.Verdict.Words), m.text(g.Gate))
		for _, e := range g.Edits {
			fmt.Fprintf(&m.b, "- %s: %s\n", m.text(e.Head), m.text(e.Content))
			if e.Asked != "" {
				fmt.Fprintf(&m.b, "  - %s; tasks: %s\n", m.text(e.Asked), m.text(e.Tasks))
			}
			for _, p := range e.Patterns {
				fmt.Fprintf(&m.b, "  - seen: %s\n", m.text(p))
			}
		}
		m.b.WriteByte('\n')
	}
}

func (m *markdown) writeLosses(p page) {
	m.say("## What was lost, and why")
	var rows [][]string
	for _, l := range p.Lost {
		rows = append(rows, []string{l.Where, l.What, l.Why})
	}
	switch {
	case len(rows) > 0:
	case p.Ended:
		m.say("Nothing: every item was measured and every reply was used.")
	default:
		m.say("Nothing so far.")
	}
	m.table("where|what|why, and what followed", rows)
	for _, text := range p.Problems {
		m.say("> **Incomplete.** %s", m.text(text))
	}
}

func (m *markdown) writeCommands(p page) {
	m.say("## Do it again")
	var b strings.Builder
	for _, c := range p.Commands {
		fmt.Fprintf(&b, "# %s\n%s\n", c.What, c.Text)
	}
	m.block("sh", b.String())
	var rows [][]string
	for _, f := range append(p.Spent, p.Facts...) {
		rows = append(rows, []string{f.Name, f.Value})
	}
	m.table("fact|value", rows)
}
