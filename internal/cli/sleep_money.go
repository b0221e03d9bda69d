package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/harvest"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/result"
)

// ceilingLine says what a night spends at most. f may be nil.
func ceilingLine(out printer, cfg config.Config, f *result.NightForecast) {
	l := night.Ceilings(cfg, f)
	var parts []string
	if l.USD != nil {
		parts = append(parts, fmt.Sprintf("$%.2f", *l.USD))
	}
	if l.Tokens != nil {
		parts = append(parts, count(*l.Tokens)+" tokens")
	}
	if l.Calls != nil {
		parts = append(parts, count(*l.Calls)+" calls")
	}
	out.line("at most " + strings.Join(parts, ", ") + " a night, mining included (limits)")
}

// nightForecast says what a night is expected to take.
func nightForecast(out printer, f *result.NightForecast, simulated bool) {
	if f == nil {
		return
	}
	cached := "its cached part unknown before a first night"
	if f.Cached != nil {
		cached = roundCount(f.Cached.Expected) + " of it cached"
	}
	cost := "cost unknown (no price known)"
	switch {
	case simulated:
		cost = "no cost"
	case f.USD != nil:
		cost = fmt.Sprintf("%s (%s to %s)", money(f.USD.Expected), money(f.USD.Low), money(f.USD.High))
	}
	out.line(fmt.Sprintf("expected: %s calls, %s tokens in, %s; %s tokens out; %s", rangeText(f.Calls), rangeText(f.Input), cached, rangeText(f.Output), cost))
	if len(f.Unknown) > 0 {
		out.line("  not known, and in none of these figures: " + oneLine(strings.Join(f.Unknown, ", ")))
	}
}

func roundCount(v float64) string { return count(int64(math.Round(v))) }

func rangeText(i result.Interval) string {
	return fmt.Sprintf("%s (%s to %s)", roundCount(i.Expected), roundCount(i.Low), roundCount(i.High))
}

// firstNight says how many sessions a first night reads, of when they are, and what it is expected to take and takes at most. It
// returns how many there are.
func (s sleepSetup) firstNight(ctx context.Context, a *app, out printer, places []harvest.Place) (int, error) {
	allowed := harvest.NewProjects(s.allowedFolders()...)
	chosen := s.projectFilter()
	var sum harvest.Place
	for _, p := range places {
		if allowed.Allow(p.Project) && chosen(p.Project) {
			sum.Add(p)
		}
	}
	out.line("sessions for a first night: " + sessionsText(s.loaded.Config.Sleep, sum))
	c := s.loaded.Config
	if c.Models.Optimizer.Provider == "" {
		return sum.Interactive, nil
	}
	f, err := night.Expect(ctx, night.Options{Config: c, Loaded: s.loaded, Dir: s.dir, Version: a.version, Clouds: a.Clouds}, sum.Interactive)
	if err != nil {
		return 0, err
	}
	if sum.Interactive > 0 {
		out.line("if each has a task and tasks are of the usual length:")
		nightForecast(out, f, onlySimulated(c))
	} else {
		f = nil
	}
	ceilingLine(out, c, f)
	return sum.Interactive, nil
}

// sessionsText says how many sessions there are, of when, and which a first night leaves out by which key.
func sessionsText(c config.Sleep, p harvest.Place) string {
	text := fmt.Sprint(p.Interactive)
	if p.Interactive > 0 {
		text += fmt.Sprintf(", ended from %s to %s", p.Oldest.Local().Format("2006-01-02"), p.Newest.Local().Format("2006-01-02"))
	}
	if most := night.MostSessions(c, p.Interactive); most < p.Interactive {
		text += fmt.Sprintf("; it mines the newest %d, 3 times sleep.tasks", most)
	}
	if p.Old > 0 {
		text += fmt.Sprintf("; %d more ended before sleep.keep (%s) and are left out", p.Old, c.Keep)
	}
	return text
}

// survey looks at the sessions of all agents, and keeps nothing of them.
func (s sleepSetup) survey(ctx context.Context, a *app) ([]harvest.Place, error) {
	temp, err := os.MkdirTemp("", "skillopt-survey-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for copies: %w", err)
	}
	in := harvest.Inputs{Sources: s.sources(), Places: s.places, Clean: s.loaded.Redactor(), Now: time.Now(), Workers: workers(), Temp: temp, Keep: s.loaded.Config.Sleep.Keep.Std()}
	places, err := interruptible(ctx, a.Signals, func(ctx context.Context) ([]harvest.Place, error) {
		places, _, err := harvest.Survey(ctx, in)
		return places, err
	})
	return places, errors.Join(err, os.RemoveAll(temp))
}

// onlySimulated reports whether all models of nights are simulations.
func onlySimulated(c config.Config) bool {
	return c.Models.Target.Provider == "sim" && c.Models.Optimizer.Provider == "sim"
}
