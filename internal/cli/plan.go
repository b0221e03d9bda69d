package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// runPlan carries out train --plan: it prints what a run is expected to take. Nothing is sent.
func (o *trainOptions) runPlan(ctx context.Context, a *app, path string) error {
	goesOn, err := o.earlier(a)
	if err != nil {
		return err
	}
	l, err := o.load(a, path)
	if err != nil {
		return err
	}
	p, err := interruptible(ctx, a.Signals, func(ctx context.Context) (result.Plan, error) {
		return skillopt.Plan(ctx, l.Config, append(goesOn, skillopt.WithLoaded(l), skillopt.WithClouds(a.Clouds), skillopt.WithRunDir(a.absolute(o.runDir)), skillopt.WithTestLedger(l.Config.Run.Dir))...)
	})
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, p)
	}
	return writePlan(a.printer(a.Out), p)
}

// writePlan prints the upper bound of calls, and the forecast by role and stage.
func writePlan(out printer, p result.Plan) error {
	writeBound(out, p)
	writeLimit(out, p.Limit)
	if p.Pages != "" {
		out.paragraph(p.Pages)
	}
	writeReadBefore(out, p.TestReadBefore)
	if p.CertificateLevel != nil && p.TestReadBefore.Times > 0 {
		out.paragraph(fmt.Sprintf("certificate: tested at the %.4g %% level, since this is reading %d of these tasks; the first is tested at the highest one",
			100**p.CertificateLevel, p.TestReadBefore.Times+1))
	}
	writeNoCertificate(out, p)
	if p.Forecast == nil {
		writeNoForecast(out, p)
		return nil
	}
	if err := writeStages(out, p); err != nil {
		return err
	}
	writeForecast(out, p)
	writeCeilings(out, p)
	return nil
}

// writeNoCertificate says that the test set can certify nothing.
func writeNoCertificate(out printer, p result.Plan) {
	if p.NoCertificate != "" {
		out.paragraph(p.NoCertificate)
	}
}

// writeCeilings says which limits are below what is expected.
func writeCeilings(out printer, p result.Plan) {
	for _, text := range p.Ceilings {
		out.paragraph("limit: " + text)
	}
}

// writeBound prints the upper bound of calls by stage, broken between words.
func writeBound(out printer, p result.Plan) {
	if p.Episodes > 0 {
		each := "as many model calls as it needs"
		if p.EpisodeCalls > 0 {
			each = "at most " + wording.Plural(p.EpisodeCalls, "model call", "model calls")
		}
		fmt.Fprintf(out, "at most %s, each of %s, and %s:\n", wording.Plural(p.Episodes, "episode", "episodes"), each, wording.Plural(p.Total-p.Episodes, "other model call", "other model calls"))
	} else {
		fmt.Fprintf(out, "at most %s, not counting what is asked again:\n", wording.Plural(p.Total, "model call", "model calls"))
	}
	line, width := " ", out.room(lineWidth)
	for _, s := range p.Stages {
		if s.Calls == 0 {
			continue
		}
		word := fmt.Sprintf(" %s %d", s.Stage, s.Calls)
		if len(line)+len(word) > width && line != " " {
			fmt.Fprintln(out, line)
			line = " "
		}
		line += word
	}
	fmt.Fprintln(out, line)
}

// writeNoForecast says why there is no forecast.
func writeNoForecast(out printer, p result.Plan) {
	if p.NoForecast != "" {
		out.paragraph("no forecast: " + p.NoForecast)
	}
}

// writeStages prints the forecast by role and stage.
func writeStages(out io.Writer, p result.Plan) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "role\tstage\tcalls\tinput\toutput\tcost\t")
	for _, st := range p.Forecast.Stages {
		input, output := count(int64(st.Input.Expected)), count(int64(st.Output.Expected))
		if tokensUnknown(st) {
			input, output = "unknown", "unknown"
		}
		fmt.Fprintf(w, "%s\t%s\t%.0f\t%s\t%s\t%s\t\n", st.Role, st.Stage, st.Calls.Expected, input, output, costCell(st.USD, p.Simulated))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print the plan: %w", err)
	}
	return nil
}

// tokensUnknown reports whether the tokens of a stage are unknown.
func tokensUnknown(st result.StageForecast) bool { return st.Input.High == 0 && st.Calls.High > 0 }

// rolesWithoutTokens lists the roles whose tokens are unknown.
func rolesWithoutTokens(f *result.Forecast) []string {
	var out []string
	for _, st := range f.Stages {
		if tokensUnknown(st) && !slices.Contains(out, st.Role) {
			out = append(out, st.Role)
		}
	}
	return out
}

// costCell returns the cost of a stage in the table of stages.
func costCell(v *result.Interval, simulated bool) string {
	switch {
	case simulated:
		return "none"
	case v == nil:
		return "unknown"
	}
	return money(v.Expected)
}

// money has cents, and more digits where cents would say nothing.
func money(v float64) string {
	if v < 1 {
		return fmt.Sprintf("$%.4f", v)
	}
	return fmt.Sprintf("$%.2f", v)
}

// writeForecast prints the sums of a forecast with their intervals.
func writeForecast(out printer, p result.Plan) {
	f := p.Forecast
	between := func(i result.Interval) string {
		return fmt.Sprintf("%s (%s to %s)", count(int64(math.Round(i.Expected))), count(int64(math.Round(i.Low))), count(int64(math.Round(i.High))))
	}
	what := "calls"
	if p.Episodes > 0 {
		what = "calls and episodes"
	}
	lines := []string{fmt.Sprintf("expected: %s %s", between(f.Calls), what)}
	tokens := fmt.Sprintf("tokens: %s input, %s output", between(f.Input), between(f.Output))
	if roles := rolesWithoutTokens(f); len(roles) > 0 {
		tokens += ", next to those of the " + strings.Join(roles, " and the ") + ", which is unknown before an episode was made"
	}
	lines = append(lines, tokens, forecastCost(p))
	if text := forecastTime(p); text != "" {
		lines = append(lines, text)
	}
	if text := gateSees(p); text != "" {
		lines = append(lines, text)
	}
	lines = append(lines, "("+basis(p)+")")
	for _, line := range lines {
		out.line(line)
	}
}

// forecastCost says what a run will cost.
func forecastCost(p result.Plan) string {
	switch f := p.Forecast; {
	case p.Simulated:
		return "cost: none, the models are simulated"
	case f.USD != nil:
		return fmt.Sprintf("cost: %s (%s to %s)", money(f.USD.Expected), money(f.USD.Low), money(f.USD.High))
	default:
		return "cost: unknown: that of " + strings.Join(f.Unknown, " and ") + " is not known"
	}
}

// forecastTime says how long a run will take, "" where that says nothing: how long real
// models usually take is not known of simulated ones.
func forecastTime(p result.Plan) string {
	switch f := p.Forecast; {
	case f.TimeS == nil && p.Episodes == 0:
		return "time: unknown: `skillopt doctor` measures how fast a model on this machine is"
	case f.TimeS == nil:
		return "time: unknown, as long as no episode was made"
	case !p.Simulated || f.Basis == result.Measured:
		return fmt.Sprintf("time: %s (%s to %s) at the configured limits", durationText(f.TimeS.Expected), durationText(f.TimeS.Low), durationText(f.TimeS.High))
	}
	return ""
}

// basis says what a forecast rests on, and how far off such forecasts were.
func basis(p result.Plan) string {
	f := p.Forecast
	if f.Basis == result.Measured {
		return "as the record of this configuration has measured"
	}
	text := "estimated: prompts as they will be, replies of a usual length"
	if l := f.Learned; l != nil {
		text = "estimated: prompts as they will be; from " + strings.Join(l.Runs, ", ")
		if len(l.Replies) > 0 {
			text += fmt.Sprintf(", with the same models, the length of replies (%s)", strings.Join(l.Replies, ", "))
		}
		if l.Judged > 0 && p.Selection > 0 { // without a gate nothing has to survive
			text += fmt.Sprintf(", and how often candidates survive (%d of %d)", l.Survived, l.Judged)
		}
	}
	if a := f.Accuracy; a != nil {
		text += fmt.Sprintf("; of %d simulated configurations %d came within 20 %% in calls, %d in input and %d in output tokens", a.Tried, a.Calls, a.Input, a.Output)
	}
	return text
}

// gateSees says what a difference the gate can see, as far as that is known.
func gateSees(p result.Plan) string {
	switch {
	case p.Selection == 0:
		return ""
	case p.Folds == 1:
		return fmt.Sprintf("gate: %s in one pool, all of which teaches and judges", wording.Plural(p.Selection, "task", "tasks"))
	case p.Folds > 1:
		return fmt.Sprintf("gate: %s in %d folds; each step learns from all but one, which judges it, by about %d tasks",
			wording.Plural(p.Selection, "task", "tasks"), p.Folds, p.Selection/p.Folds)
	case p.Noise == nil:
		return fmt.Sprintf("gate: %s, each %.1f points; noise is not measured yet (skillopt doctor --noise)",
			wording.Plural(p.Selection, "selection task", "selection tasks"), 100/float64(p.Selection))
	case p.Noise.TooSmall || p.Noise.Detectable == nil:
		return "gate: " + strings.Join(p.Noise.Advice, "; ")
	}
	text := fmt.Sprintf("gate: %s, differences from %.1f points are more than chance", wording.Plural(p.Selection, "selection task", "selection tasks"), 100**p.Noise.Detectable)
	if len(p.Noise.Flips) == 0 {
		text += " if no score changes by it, as none did when they were asked twice"
	}
	return text
}

// durationText returns a time of that many seconds, in words of a useful precision.
func durationText(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", seconds)
	case d < time.Hour:
		return d.Round(time.Second).String()
	}
	return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
}
