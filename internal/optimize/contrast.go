package optimize

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Contrast is a task that was answered several times with one skill, with different success:
// what the best answer did and the worst did not is what the skill does not yet make sure of.
type Contrast struct {
	Best, Worst trajectory.Outcome
	Spread      float64 // gate score of the best answer minus that of the worst, above 0
	Answers     int     // that were measured
}

// Contrasts finds the best and the worst answer to each task by a metric, the first of equal
// ones; what was not measured is left out. The contrasts come widest first, in the order of
// the tasks where they are equally wide. rest are the tasks without one, by index.
func Contrasts(answers [][]trajectory.Outcome, p score.Projection) (out []Contrast, rest []int) {
	for i, of := range answers {
		if c, ok := newContrast(of, p); ok {
			out = append(out, c)
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(out, func(a, b Contrast) int { return cmp.Compare(b.Spread, a.Spread) })
	return out, rest
}

func newContrast(answers []trajectory.Outcome, p score.Projection) (c Contrast, ok bool) {
	var best, worst float64
	for _, o := range answers {
		if !o.Status.Measured() {
			continue
		}
		v := p.Of(score.Pair{Hard: o.Hard, Soft: o.Soft}, 0)
		if c.Answers == 0 || v > best {
			c.Best, best = o, v
		}
		if c.Answers == 0 || v < worst {
			c.Worst, worst = o, v
		}
		c.Answers++
	}
	c.Spread = best - worst
	return c, c.Spread > score.Negligible
}

// contrastBatches returns the contrasts of each analyst, in their order: half as many as it reads
// trajectories, or as many as the window of v holds.
func (in ReflectInput) contrastBatches(size int) [][]int {
	all := make([]int, len(in.Contrasts))
	for i := range all {
		all[i] = i
	}
	if size > 0 {
		return chunk(all, countContrasts(size))
	}
	if len(all) == 0 {
		return nil
	}
	tokens := func(i int) int { return in.View.tokens(in.Contrasts[i].Best) + in.View.tokens(in.Contrasts[i].Worst) }
	least := countContrasts(leastSimilar(in.View.Window))
	return room{window: in.View.Window, least: least, most: countContrasts(mostSimilar)}.fill([][]int{all}, tokens)
}

// countContrasts returns how many contrasts represent that many trajectories.
func countContrasts(trajectories int) int { return max(1, trajectories/2) }

// MaxContrastBatches bounds the analysts of contrasts of a number of tasks: with size trajectories
// for each, or as many as a window holds, of which it takes countContrasts in any case.
func MaxContrastBatches(tasks, size, window int) int {
	if size <= 0 {
		size = leastSimilar(window)
	}
	each := countContrasts(size)
	return (tasks + each - 1) / each
}

// renderContrasts writes contrasts for an analyst, and what the agent was given with all of
// them.
func (v View) renderContrasts(list []Contrast) (told, text string) {
	if v.Whole {
		return v.writeContrasts(list)
	}
	var b strings.Builder
	for i, c := range list {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "### Task %d of %d: %s\n", i+1, len(list), c.words())
		fmt.Fprintf(&b, "\n#### Best answer\n\n")
		writeOutcome(&b, c.Best)
		fmt.Fprintf(&b, "\n#### Worst answer\n\n")
		writeOutcome(&b, c.Worst)
	}
	return "", b.String()
}

// words returns a text that says how far the answers are apart.
func (c Contrast) words() string {
	return fmt.Sprintf("best and worst of %d answers, %s apart", c.Answers, decimal(c.Spread))
}

// writeContrasts writes contrasts into v.room() bytes. It leaves out those at the end whose
// beginnings do not fit, and says so.
func (v View) writeContrasts(list []Contrast) (told, text string) {
	n := len(list)
	list = list[:min(n, max(1, v.room()/(2*leastShown)-1))]
	ids, own := make([]string, len(list)), Told{}
	for i, c := range list {
		ids[i] = c.Best.ID
		own = firstTold(firstTold(own, c.Best.Told), c.Worst.Told)
	}
	all := v.tells(ids, own)
	var sheets []sheet
	for i, c := range list {
		sheets = append(sheets, contrastSheet(nth{i + 1, n}, c, all.each[i]))
	}
	if all.shared != nil {
		sheets = append(sheets, *all.shared)
	}
	texts := write(sheets, v.room()-len(leftOut(n)))
	if all.shared != nil {
		told, texts = trimSpace(texts[len(list)]), texts[:len(list)]
	}
	text = strings.Join(texts, "\n")
	if n > len(list) {
		text += leftOut(n - len(list))
	}
	return told, text
}

// contrastSheet writes the contrast at a place of a list.
func contrastSheet(at nth, c Contrast, t telling) sheet {
	form := func(conversation func(p *pen, o trajectory.Outcome)) func(p *pen) {
		return func(p *pen) {
			fmt.Fprintf(&p.b, "### Task %d of %d: %s\n\n", at.number, at.of, c.words())
			p.line("id", c.Best.ID)
			p.line("type", c.Best.Type)
			t.write(p, func(at int) string { return fmt.Sprint("number ", at) })
			if !showsTask(c.Best) || !showsTask(c.Worst) {
				p.block("Task", c.Best.Question)
			}
			p.block("Reference (hidden from the agent)", c.Best.Reference)
			p.answer("Best answer", c.Best, conversation)
			p.answer("Worst answer", c.Worst, conversation)
		}
	}
	return sheet{
		write: form(func(p *pen, o trajectory.Outcome) { p.conversation("Conversation", o.Trajectory) }),
		brief: form(func(p *pen, o trajectory.Outcome) { p.block("Conversation", trajectory.Format(o.Trajectory)) }),
	}
}

// answer writes one of two answers to a task.
func (p *pen) answer(title string, o trajectory.Outcome, conversation func(p *pen, o trajectory.Outcome)) {
	fmt.Fprintf(&p.b, "\n#### %s\n\n", title)
	p.line("score", fmt.Sprintf("hard=%s soft=%s", decimal(o.Hard), decimal(o.Soft)))
	p.line("fail reason", o.FailReason)
	p.line("turns", strconv.Itoa(len(o.Trajectory)))
	p.line("scored answer", o.Answer)
	p.block("Feedback", o.Feedback)
	conversation(p, o)
}
