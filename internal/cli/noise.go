package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/seed-f4525e22/skillopt"
)

// noiseFlags are the flags of doctor --noise.
type noiseFlags struct {
	sets []string
	yes  bool
}

func (a *app) noise(ctx context.Context, path string, f noiseFlags) error {
	l, err := a.loadConfig(path, f.sets, nil)
	if err != nil {
		return err
	}
	ctx, opts, end, err := a.session(ctx, l, sessionFlags{yes: f.yes})
	if err != nil {
		return err
	}
	n, err := skillopt.MeasureNoise(ctx, l.Config, opts...)
	if err := ended(err, end); err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, n)
	}
	a.writeNoise(a.results(), n)
	return nil
}

// writeNoise prints what two passes said.
func (a *app) writeNoise(out io.Writer, n *skillopt.NoiseReport) {
	lines := []string{
		fmt.Sprintf("%d selection tasks asked twice: means %.3f and %.3f, %d changed", n.Items, n.First, n.Second, len(n.Flips)),
		fmt.Sprintf("deviation: %.3f of one evaluation, %.3f between tasks", n.Within, n.Between),
		fmt.Sprintf("smallest difference that can be seen, 4 times in 5: %.1f points", 100*n.Detectable),
	}
	lines = append(lines, n.Advice...)
	if len(n.Unmeasured) > 0 {
		lines = append(lines, "without "+strings.Join(n.Unmeasured, ", ")+": could not be measured")
	}
	lines = append(lines, "recorded: "+a.relative(n.RunDir))
	if n.Simulated {
		lines = append(lines, "simulated models: the noise is that of a simulation")
	}
	for _, line := range lines {
		if a.Terminal && a.Width > 0 {
			line = fold(line, a.Width-1)
		}
		fmt.Fprintln(out, line)
	}
}
