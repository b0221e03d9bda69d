package bench

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/internal/prune"
)

// PruneRow is what one method came to in a cell.
type PruneRow struct {
	Method string `json:"method"`
	// Rules that went, as shares of those there are; the error is that of worlds drawn anew.
	Useful  Ratio `json:"useful"`
	Rare    Ratio `json:"rare"`
	Useless Ratio `json:"useless"`
	Harmful Ratio `json:"harmful"`

	Evaluations Figure `json:"evaluations"` // of a task by a text
	Share       Figure `json:"share"`       // of those of the first method in the same world
	WithLast    Figure `json:"with_last"`   // the same, certificates counted on both sides
	Certified   Figure `json:"certified"`   // share of results; that nothing was removed needs no certificate
	Loss        Figure `json:"loss"`        // expected score on the test tasks, whole skill minus pruned one
}

// Ratio is a share of all of a kind in a number of worlds, with its standard error.
type Ratio struct {
	Part float64 `json:"part"`
	Of   float64 `json:"of"`
	SE   float64 `json:"se"`
}

func (r Ratio) mean() float64 { return r.Part / max(1, r.Of) }

// ratio sums up parts and wholes by world. Worlds are what is drawn, so that their
// deviations from the common share make the error.
func ratio(parts, wholes []float64) Ratio {
	var r Ratio
	for i := range parts {
		r.Part, r.Of = r.Part+parts[i], r.Of+wholes[i]
	}
	n, squares := float64(len(parts)), 0.0
	for i := range parts {
		off := parts[i] - r.mean()*wholes[i]
		squares += off * off
	}
	if n > 1 && r.Of > 0 {
		r.SE = math.Sqrt(squares*n/(n-1)) / r.Of
	}
	return r
}

// PruneCell is one kind of world with one share of answers that forget the skill.
type PruneCell struct {
	World string     `json:"world"`
	Flip  float64    `json:"flip"`
	Rows  []PruneRow `json:"rows"`
}

// PruneReport is what a study came to.
type PruneReport struct {
	Simulated bool          `json:"simulated"` // always
	Study     PruneStudy    `json:"study"`
	Margin    float64       `json:"margin"`
	Level     float64       `json:"level"`
	Passes    int           `json:"max_passes"`
	Kinds     []PruneKind   `json:"kinds"`
	Methods   []PruneMethod `json:"methods"`
	Cells     []PruneCell   `json:"cells"`
	Pooled    []PruneRow    `json:"pooled"` // over all worlds
	Findings  []Claim       `json:"findings"`
}

// pruneSettings are those of a run that says nothing else.
func pruneSettings() prune.Settings {
	return prune.Settings{Margin: 0.05, Level: 0.95, Passes: 10, Deterministic: true}
}

// Run carries the study out. The result does not depend on how many worlds are played
// at once.
func (s PruneStudy) Run(ctx context.Context) (PruneReport, error) {
	if err := s.Validate(); err != nil {
		return PruneReport{}, err
	}
	set := pruneSettings()
	r := PruneReport{Simulated: true, Study: s, Margin: set.Margin, Level: set.Level, Passes: set.Passes, Kinds: pruneKinds(), Methods: pruneMethods()}
	var runs [][][]pruneRun // by cell, world and method
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for n, k := range r.Kinds {
		if !s.plays(k) {
			continue
		}
		for f, flip := range pruneFlips() {
			c, worlds := n*len(pruneFlips())+f, make([][]pruneRun, s.Worlds)
			runs, r.Cells = append(runs, worlds), append(r.Cells, PruneCell{World: k.Name, Flip: flip})
			for i := range s.Worlds {
				g.Go(func() (err error) {
					if worlds[i], err = s.play(ctx, k, flip, c, i); err != nil {
						return fmt.Errorf("worlds %q with flips of %v, world %d: %w", k.Name, flip, i, err)
					}
					return nil
				})
			}
		}
	}
	if err := g.Wait(); err != nil {
		return PruneReport{}, err
	}
	var all [][]pruneRun
	for c := range runs {
		r.Cells[c].Rows = pruneRows(runs[c])
		all = append(all, runs[c]...)
	}
	r.Pooled = pruneRows(all)
	r.Findings = r.claims()
	return r, nil
}

// play prunes the skill of one world in every way. No two cells draw the same worlds.
func (s PruneStudy) play(ctx context.Context, k PruneKind, flip float64, cell, world int) ([]pruneRun, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	setup := pruneSetup()
	k.change(&setup)
	setup.World.Flip, setup.Seed = flip, s.Seed*1_009+uint64(cell)
	w, err := newPruneWorld(setup, k, world)
	if err != nil {
		return nil, err
	}
	fates, err := w.fates(ctx)
	if err != nil {
		return nil, err
	}
	var out []pruneRun
	for _, m := range pruneMethods() {
		set := pruneSettings()
		set.Joint = m.joint
		r, err := w.prune(ctx, set, fates)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func pruneRows(runs [][]pruneRun) []PruneRow {
	var rows []PruneRow
	for j, m := range pruneMethods() {
		of := func(pick func(r, first pruneRun) float64) Figure {
			var xs []float64
			for _, world := range runs {
				xs = append(xs, pick(world[j], world[0]))
			}
			return figure(xs)
		}
		went := func(f fate) Ratio {
			var parts, wholes []float64
			for _, world := range runs {
				parts, wholes = append(parts, world[j].gone[f]), append(wholes, world[j].all[f])
			}
			return ratio(parts, wholes)
		}
		rows = append(rows, PruneRow{
			Method: m.Name, Useful: went(useful), Rare: went(rare), Useless: went(useless), Harmful: went(harmful),
			Evaluations: of(func(r, _ pruneRun) float64 { return r.evaluations }),
			Share:       of(func(r, first pruneRun) float64 { return r.evaluations / first.evaluations }),
			WithLast: of(func(r, first pruneRun) float64 {
				return (r.evaluations + r.certificate) / (first.evaluations + first.certificate)
			}),
			Certified: of(func(r, _ pruneRun) float64 { return r.certified }),
			Loss:      of(func(r, _ pruneRun) float64 { return r.loss }),
		})
	}
	return rows
}

// claims holds what prune does against what it is to do.
func (r PruneReport) claims() []Claim {
	last := len(r.Methods) - 1
	all := r.Pooled[last]
	var few, many []string
	for _, c := range r.Cells {
		row := c.Rows[last]
		if row.Useless.mean() < 0.7 {
			few = append(few, fmt.Sprintf("%s %v: %s", c.World, c.Flip, row.Useless.text()))
		}
		if row.Share.Mean > 2 {
			many = append(many, fmt.Sprintf("%s %v: %s", c.World, c.Flip, row.Share.text()))
		}
	}
	in := func(cells []string) string {
		return fmt.Sprintf("%d of %d cells", len(cells), len(r.Cells)) + strings.TrimSuffix("; "+strings.Join(cells, ", "), "; ")
	}
	return []Claim{
		{"no useful rule is removed", all.Useful.Part == 0, fmt.Sprintf("%.0f of %.0f", all.Useful.Part, all.Useful.Of)},
		{"70 % of the useless rules and more are removed, all worlds together", all.Useless.mean() >= 0.7, all.Useless.text()},
		{"no cell removes less than 70 % of them", len(few) == 0, in(few)},
		{"no cell takes more than twice the evaluations of one by one", len(many) == 0, in(many)},
		{"with the certificates on both sides it takes no more than twice as many, all worlds together", all.WithLast.Mean <= 2, all.WithLast.text()},
	}
}

func (r Ratio) text() string {
	if r.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f (%.3f)", r.mean(), r.SE)
}

// count is a share that should be 0 or nearly so, as what it is made of.
func (r Ratio) count() string {
	if r.Of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f of %.0f", r.Part, r.Of)
}

// CSV writes one line a cell and method.
func (r PruneReport) CSV(w io.Writer) error {
	lines := [][]string{{
		"world", "flip", "method", "useful_removed", "useful", "rare_removed", "rare", "useless_removed", "useless", "useless_share", "useless_se", "harmful_removed", "harmful",
		"evaluations", "evaluations_se", "of_one_by_one", "of_one_by_one_se", "certified", "certified_se", "loss", "loss_se", "worlds", "seed", "simulated",
	}}
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			line := []string{c.World, strconv.FormatFloat(c.Flip, 'g', -1, 64), row.Method}
			share := row.Useless.mean()
			for _, v := range []float64{
				row.Useful.Part, row.Useful.Of, row.Rare.Part, row.Rare.Of, row.Useless.Part, row.Useless.Of, share, row.Useless.SE, row.Harmful.Part, row.Harmful.Of,
				row.Evaluations.Mean, row.Evaluations.SE, row.Share.Mean, row.Share.SE, row.Certified.Mean, row.Certified.SE, row.Loss.Mean, row.Loss.SE,
			} {
				line = append(line, number(&v))
			}
			lines = append(lines, append(line, strconv.Itoa(r.Study.Worlds), strconv.FormatUint(r.Study.Seed, 10), "true"))
		}
	}
	return writeTable(w, lines)
}

// Text is the report for a terminal: what is pooled, and the findings.
func (r PruneReport) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "simulated: %d worlds in each of %d cells, seed %d; (standard error)\n", r.Study.Worlds, len(r.Cells), r.Study.Seed)
	for _, row := range r.Pooled {
		fmt.Fprintf(&b, "  %-11s useful removed %s  useless removed %s  evaluations %.0f  of one by one %s  certified %s\n",
			row.Method, row.Useful.count(), row.Useless.text(), row.Evaluations.Mean, row.Share.text(), row.Certified.text())
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s: %s\n", f.verdict(), f.Claim+" ("+f.Why+")")
	}
	return b.String()
}

// Markdown writes the report as a page. command is what makes it.
func (r PruneReport) Markdown(command string) string {
	var b strings.Builder
	b.WriteString(strings.NewReplacer("{{command}}", command, "{{worlds}}", strconv.Itoa(r.Study.Worlds), "{{cells}}", strconv.Itoa(len(r.Cells))).Replace(pruneIntro))
	b.WriteString("| world | what is special |\n|---|---|\n")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, "| %s | %s |\n", k.Name, k.What)
	}
	b.WriteString("\n| method | what it does |\n|---|---|\n")
	for _, m := range r.Methods {
		fmt.Fprintf(&b, "| %s | %s |\n", m.Name, m.What)
	}
	b.WriteString("\n## What is to hold\n\n")
	for _, f := range r.Findings {
		verdict := f.verdict()
		if !f.Holds {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(&b, "- %s: %s (%s).\n", f.Claim, verdict, f.Why)
	}
	const head = "useful removed | rare | useless | harmful | evaluations | of one by one | certified | loss |\n"
	b.WriteString("\n## All cells together\n\n| method | " + head + "|---|---|---|---|---|---|---|---|---|\n")
	for _, row := range r.Pooled {
		fmt.Fprintf(&b, "| %s |\n", row.line())
	}
	b.WriteString("\n## Every cell\n\n| world | flips | method | " + head + "|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, c := range r.Cells {
		for _, row := range c.Rows {
			fmt.Fprintf(&b, "| %s | %v | %s |\n", c.World, c.Flip, row.line())
		}
	}
	return b.String()
}

func (r PruneRow) line() string {
	return fmt.Sprintf("%s | %s | %s | %s | %s | %.0f (%.0f) | %s | %s | %s", r.Method, r.Useful.count(), r.Rare.count(), r.Useless.text(), r.Harmful.count(),
		r.Evaluations.Mean, r.Evaluations.SE, r.Share.text(), r.Certified.text(), r.Loss.signed())
}

// pruneIntro begins the page.
const pruneIntro = `# What prune removes

Made by this command, which takes some minutes on two cores:

` + "```sh\n{{command}}\n```" + `

Everything here is simulated: {{worlds}} worlds in each of {{cells}} cells. A skill states the rules
that the tasks need, and eight that they do not. The target forgets the skill in a share of
its answers (flips), a wrong answer then; 3 % of the tasks cannot be solved. Rules are judged on 60
tasks and the result is certified on 60 others, with the defaults of the command. What
should become of a rule is known from a target that never forgets: one is useful if at least
three of the tasks that rules are judged on are not solved without it, rare if one or two are
not, useless if nothing changes. A rule that is said twice is useful once and useless
once. Numbers in brackets are standard errors over worlds; loss is the expected score on
200 other tasks, whole skill minus pruned one, where tasks occur that none of the 60 was
like. Evaluations are of a task by a text, without the certificate; what two comparisons
share counts once.

`
