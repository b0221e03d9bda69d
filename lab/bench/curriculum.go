package bench

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Study measures curricula in worlds of several kinds.
type Study struct {
	Worlds int    `json:"worlds"` // of each kind
	Seed   uint64 `json:"seed"`
}

// DefaultStudy takes a few minutes on two cores.
func DefaultStudy() Study { return Study{Worlds: 40, Seed: 1} }

// Validate reports what nothing can be measured with.
func (s Study) Validate() error {
	switch {
	case s.Worlds < 2 || s.Worlds > 100_000:
		return fmt.Errorf("worlds: found %d, allowed is 2 to 100000", s.Worlds)
	}
	return nil
}

// kindOfWorld is a kind of world that curricula are tried in.
type kindOfWorld struct {
	name, what string
	change     func(*Setup)
}

func kindsOfWorlds() []kindOfWorld {
	return []kindOfWorld{
		{"mixed", "20 rules of unequal frequency, a quarter of the tasks always solved, 3 % never", func(*Setup) {}},
		{"mostly solved", "8 rules, 80 % of the tasks always solved; 8 epochs in batches of 10", func(s *Setup) {
			s.World.Rules, s.World.Plain, s.Epochs, s.Batch = 8, 0.8, 8, 10
		}},
		{"noisy", "10 rules, 40 % always solved, 30 % never", func(s *Setup) {
			s.World.Rules, s.World.Plain, s.World.Noise = 10, 0.4, 0.3
		}},
		{"rare rules", "20 rules, most of them rare, 120 train tasks", func(s *Setup) {
			s.World.Skew, s.Train, s.Calls = 1.5, 120, 1500
		}},
	}
}

// Finding is how the curricula did in one kind of world.
type Finding struct {
	World  string `json:"world"`
	What   string `json:"what"`
	Result Result `json:"result"`
}

// Report is what a study came to.
type Report struct {
	Simulated bool      `json:"simulated"` // always
	Study     Study     `json:"study"`
	Findings  []Finding `json:"findings"`
}

// Run carries the study out.
func (s Study) Run(ctx context.Context) (Report, error) {
	if err := s.Validate(); err != nil {
		return Report{}, err
	}
	report := Report{Simulated: true, Study: s}
	for _, k := range kindsOfWorlds() {
		setup := Default()
		setup.Worlds, setup.Seed = s.Worlds, s.Seed
		k.change(&setup)
		r, err := Run(ctx, setup, Curricula())
		if err != nil {
			return Report{}, fmt.Errorf("worlds %q: %w", k.name, err)
		}
		report.Findings = append(report.Findings, Finding{World: k.name, What: k.what, Result: r})
	}
	return report, nil
}

// CSV writes one line a curriculum and kind of world.
func (r Report) CSV(w io.Writer) error {
	lines := [][]string{{"world", "curriculum", "score", "score_low", "score_high", "difference", "difference_low", "difference_high", "better", "worse", "calls", "worlds", "simulated"}}
	for _, f := range r.Findings {
		for _, row := range f.Result.Rows {
			d := []string{"", "", ""}
			if row.Difference != nil {
				d = fields(*row.Difference)
			}
			line := append([]string{f.World, row.Name}, fields(row.Score)...)
			lines = append(lines, append(append(line, d...), strconv.Itoa(row.Better), strconv.Itoa(row.Worse), number(&row.Calls), strconv.Itoa(r.Study.Worlds), "true"))
		}
	}
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

// Chart draws the differences to training without a curriculum.
func (r Report) Chart() Chart {
	c := Chart{
		Title: "What a curriculum adds to the test score, in points", Zero: true,
		Note: fmt.Sprintf("simulated: %d worlds of each kind, seed %d, equal budgets; 0 is training without; 95 %% intervals", r.Study.Worlds, r.Study.Seed),
	}
	for _, f := range r.Findings {
		c.Bars = append(c.Bars, Bar{Name: f.World})
		for _, row := range f.Result.Rows[1:] {
			c.Bars = append(c.Bars, Bar{row.Name, row.Difference})
		}
	}
	return c
}

// verdict says what an interval of a difference shows.
func verdict(e Estimate) string {
	switch {
	case e.Low == nil:
		return "no difference seen"
	case *e.Low > 0:
		return "helps"
	case *e.High < 0:
		return "hurts"
	}
	return "not told apart"
}

// Markdown writes the report as a page. command is what makes it, figure the
// name of the chart beside it.
func (r Report) Markdown(command, figure string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Does a curriculum help?

SIMULATED: no model was asked. This page and its figure are written by

    %s

in a few minutes on two cores; equal seeds give equal pages. Training is the real
loop, with its usual settings, in worlds made by `+"`skillopt init --world`"+`. It
holds for these worlds: their optimizer reads a rule off a single failure.

## What is compared

Training without a curriculum takes each train task once an epoch. The strategies of
`+"`train.curriculum.strategy`"+` draw batches by difficulty instead. Draws come from the run's seed and its
record alone: a resumed run draws alike. None of this touches the gate, the selection
split or the test split.

Each contestant may use the same number of model calls in a world. It begins no step
if the rest is below the cost of its dearest step so far; a dearer one still can pass
the budget by a few calls. Differences are to training without a curriculum
in the same worlds, in points of the test score (200 tasks a world, outside of the
budget), with 95 %% bootstrap intervals over the worlds. There is no correction for
looking at many of them: about one in twenty would stand out by chance.

![Differences to training without a curriculum](%s)
`, command, figure)
	r.summary(&b)
	for _, f := range r.Findings {
		s := f.Result.Setup
		fmt.Fprintf(&b, "\n## Worlds: %s\n\n%s. %d worlds, %d train and %d selection tasks, at most %d calls.\n\n", f.World, f.What, s.Worlds, s.Train, s.Selection, s.Calls)
		b.WriteString("| curriculum | test score | difference | 95 % interval | better / worse | calls | |\n|---|---|---|---|---|---|---|\n")
		for _, row := range f.Result.Rows {
			if row.Difference == nil {
				fmt.Fprintf(&b, "| %s | %.3f | | | | %.0f | |\n", row.Name, row.Score.Mean, row.Calls)
				continue
			}
			d := *row.Difference
			interval := ""
			if d.Low != nil {
				interval = fmt.Sprintf("%+.2f to %+.2f", 100**d.Low, 100**d.High)
			}
			fmt.Fprintf(&b, "| %s | %.3f | %+.2f | %s | %d / %d | %.0f | %s |\n", row.Name, row.Score.Mean, 100*d.Mean, interval, row.Better, row.Worse, row.Calls, verdict(d))
		}
	}
	return b.String()
}

// summary counts the verdicts by curriculum.
func (r Report) summary(b *strings.Builder) {
	b.WriteString("\n## In short\n\n| curriculum | helps in | hurts in | not told apart in |\n|---|---|---|---|\n")
	for i, row := range r.Findings[0].Result.Rows {
		if i == 0 {
			continue
		}
		in := map[string][]string{}
		for _, f := range r.Findings {
			v := verdict(*f.Result.Rows[i].Difference)
			if v == "no difference seen" {
				v = "not told apart"
			}
			in[v] = append(in[v], f.World)
		}
		list := func(v string) string {
			if len(in[v]) == 0 {
				return "-"
			}
			return strings.Join(in[v], ", ")
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", row.Name, list("helps"), list("hurts"), list("not told apart"))
	}
	b.WriteString("\nThe strategy is `none` unless a config asks for another.\n")
}
