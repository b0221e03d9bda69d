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
	"github.com/seed-f4525e22/skillopt/internal/wording"
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
		cached = roughly(f.Cached.Expected) + " of it cached"
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

func roughly(v float64) string { return count(int64(math.Round(v))) }

func rangeText(i result.Interval) string {
	return fmt.Sprintf("%s (%s to %s)", roughly(i.Expected), roughly(i.Low), roughly(i.High))
}

// money says what a first night is expected to take, by the sessions of late, and what it takes at most.
func (o *sleepInitOptions) money(ctx context.Context, a *app, s sleepSetup, q *asking) error {
	c := s.loaded.Config
	if c.Models.Optimizer.Provider == "" {
		return nil
	}
	sessions, err := recentSessions(ctx, a, s)
	if err != nil {
		return err
	}
	f, err := night.Expect(ctx, night.Options{Config: c, Loaded: s.loaded, Dir: s.dir, Version: a.version, Clouds: a.Clouds}, sessions)
	if err != nil {
		return err
	}
	lookback := time.Duration(c.Sleep.Lookback)
	q.out.line(fmt.Sprintf("a first night by the sessions of the last %s: %s, if each has a task and tasks are of the usual length", hoursText(lookback), wording.Plural(sessions, "session", "sessions")))
	if sessions > 0 {
		nightForecast(q.out, f, onlySimulated(c))
	} else {
		f = nil
	}
	ceilingLine(q.out, c, f)
	return nil
}

// recentSessions counts the sessions of allowed projects that a first night would look at.
func recentSessions(ctx context.Context, a *app, s sleepSetup) (int, error) {
	allowed, err := s.projects()
	if err != nil {
		return 0, err
	}
	places, err := s.survey(ctx, a)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, p := range places {
		if allowed.Allow(p.Project) {
			n += p.Recent
		}
	}
	return n, nil
}

// survey looks at the sessions of all agents, and keeps nothing of them.
func (s sleepSetup) survey(ctx context.Context, a *app) ([]harvest.Place, error) {
	temp, err := os.MkdirTemp("", "skillopt-survey-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for copies: %w", err)
	}
	recent := s.loaded.Config.Sleep.Lookback.Std()
	in := harvest.Inputs{Sources: s.sources(), Places: s.places, Clean: s.loaded.Redactor(), Now: time.Now(), Workers: workers(), Temp: temp, Recent: recent}
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

// hoursText is a length of time in whole hours.
func hoursText(d time.Duration) string {
	return wording.Plural(int(math.Ceil(d.Hours())), "hour", "hours")
}
