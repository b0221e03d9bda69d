package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// notifyTime is how long the program of sleep.notify may take.
const notifyTime = 30 * time.Second

// runNotify runs the program of sleep.notify, which gets counts and no text. It gets what ordinary programs see of the
// environment, and no keys. What it leaves running is ended with it. Its failure fails no night.
func runNotify(ctx context.Context, s sleepSetup, r *night.Report, adopted []adopt.Record) error {
	argv := s.loaded.Config.Sleep.Notify
	if len(argv) == 0 || r == nil || r.Ended.IsZero() {
		return nil
	}
	run := slices.Clone(argv)
	if strings.ContainsAny(run[0], `/\`) || strings.HasPrefix(run[0], "~") {
		run[0] = s.absolute(run[0])
	}
	res, err := sandbox.Run(context.WithoutCancel(ctx), sandbox.Spec{Argv: run, Dir: s.dir, Env: append(env.AllowedVariables(s.loaded.Lookup), nightVariables(r, adopted)...), Timeout: notifyTime})
	switch {
	case err != nil:
		return fmt.Errorf("sleep.notify: %w", err)
	case res.Reason == sandbox.Deadline:
		return fmt.Errorf("sleep.notify: %s: it took more than %s", argv[0], notifyTime)
	case res.Reason != sandbox.Exited || res.Code != 0:
		return fmt.Errorf("sleep.notify: %s: %s, exit code %d: %s", argv[0], res.Reason, res.Code, shortenText(oneLine(strings.TrimSpace(res.Stderr)), 200))
	}
	return nil
}

// nightVariables returns the counts of a night, as variables.
func nightVariables(r *night.Report, adopted []adopt.Record) []string {
	counts := map[night.Outcome]int{}
	held := 0
	for i := range r.Targets {
		counts[r.Targets[i].Outcome]++
		held += len(r.Targets[i].Held)
	}
	out := []string{"SKILLOPT_NIGHT=" + r.ID}
	add := func(name string, n int) { out = append(out, "SKILLOPT_"+name+"="+strconv.Itoa(n)) }
	written := 0
	for _, a := range adopted {
		written += len(a.Files)
	}
	add("ADOPTED", written)
	add("TARGETS", len(r.Targets))
	for _, o := range []night.Outcome{night.Certified, night.Supported, night.Suggested, night.Rejected, night.Refused} {
		add(strings.ToUpper(string(o)), counts[o])
	}
	add("HELD", held+r.Mined.Taken.Held)
	add("SESSIONS", r.Mined.Sessions)
	add("NEW_TASKS", r.Mined.Taken.New)
	add("SIMULATED", yesNo(r.Simulated))
	add("EXPLORATORY", yesNo(r.Exploratory))
	add("TOKENS", int(r.Spent.Input+r.Spent.Output))
	return out
}

func yesNo(b bool) int {
	if b {
		return 1
	}
	return 0
}
