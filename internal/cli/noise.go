package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/result"
)

// measureNoise carries out doctor --noise: it asks every selection task twice.
func (o *doctorOptions) measureNoise(ctx context.Context, a *app, path string) error {
	l, err := a.loadConfig(path, o.sets, nil)
	if err != nil {
		return err
	}
	ctx, opts, end, err := a.session(ctx, l, sessionOptions{yes: o.yes, acceptSeed: true})
	if err != nil {
		return err
	}
	n, err := skillopt.MeasureNoise(ctx, l.Config, opts...)
	if err := endSession(err, end); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, n)
	}
	writeNoise(a.results(), n)
	return nil
}

// writeNoise prints what two passes said.
func writeNoise(out printer, n *result.Noise) {
	lines := []string{
		n.After(fmt.Sprintf("%d selection tasks asked twice: means %.3f and %.3f, %d changed", n.Items, n.First, n.Second, len(n.Flips))),
	}
	if n.Detectable != nil {
		lines = append(lines,
			fmt.Sprintf("deviation: %.3f of one evaluation, %.3f between tasks", *n.Within, n.Between),
			fmt.Sprintf("smallest difference that can be seen, 4 times in 5: %.1f points", 100**n.Detectable))
	}
	lines = append(lines, n.Advice...)
	if len(n.Unmeasured) > 0 {
		lines = append(lines, "without "+strings.Join(n.Unmeasured, ", ")+": could not be measured")
	}
	lines = append(lines, "recorded: "+out.path(n.RunDir))
	if n.Simulated {
		lines = append(lines, "simulated models: the noise is that of a simulation")
	}
	for _, line := range lines {
		out.line(line)
	}
}
