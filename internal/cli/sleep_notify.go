package cli

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// notifyTime is how long the program of sleep.notify may take.
const notifyTime = 30 * time.Second

// notifyOf starts the program of sleep.notify, which is told counts and no text. It gets what ordinary programs see of
// the environment, and no keys. That it fails fails no night.
func notifyOf(ctx context.Context, a *app, s sleepSetup, r *night.Report) error {
	argv := s.loaded.Config.Sleep.Notify
	if len(argv) == 0 || r == nil || r.Ended.IsZero() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifyTime)
	defer cancel()
	program := argv[0]
	if strings.ContainsAny(program, `/\`) || strings.HasPrefix(program, "~") {
		program = s.absolute(program)
	}
	cmd := exec.CommandContext(ctx, program, argv[1:]...)
	cmd.Dir = s.dir
	cmd.Env = append(env.Allowed(s.loaded.Lookup), told(r)...)
	cmd.WaitDelay = time.Second // whatever it has started and left behind does not keep the night
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it took more than %s", notifyTime)
		}
		return fmt.Errorf("sleep.notify: %s: %w", argv[0], err)
	}
	return nil
}

// told are the counts of a night, as variables.
func told(r *night.Report) []string {
	counts := map[night.Outcome]int{}
	held := 0
	for i := range r.Targets {
		counts[r.Targets[i].Outcome]++
		held += len(r.Targets[i].Held)
	}
	out := []string{"SKILLOPT_NIGHT=" + r.ID}
	add := func(name string, n int) { out = append(out, "SKILLOPT_"+name+"="+strconv.Itoa(n)) }
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
