package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// askAbove is the number of calls above which a command asks before it spends.
const askAbove = 500

// sessionOptions are the flags of every command that carries out tasks.
type sessionOptions struct {
	runDir string // directory of the run, "" = chosen
	replay string // cassette that answers, "" = models do
	yes    bool   // do not ask before spending
	plan   bool   // say what it will take, and end there
	atOnce bool   // the first interrupt ends the work: it is continued by the same command

	acceptSeed bool // continue though the measurement looks broken
}

// addFlags adds all of them to a command; runUsage says what --run does there.
func (o *sessionOptions) addFlags(c *cobra.Command, runUsage string) {
	c.Flags().StringVar(&o.runDir, "run", "", runUsage)
	c.Flags().StringVar(&o.replay, "replay", "", "answer from this cassette (skillopt runs export RUN --format cassette): no network, no key")
	c.Flags().BoolVar(&o.yes, "yes", false, "do not ask before spending")
	c.Flags().BoolVar(&o.acceptSeed, "accept-seed", false, "continue though the first scores look as if the measurement were broken, or many requests are refused")
}

// addPlan adds --plan to a command that measures.
func (o *sessionOptions) addPlan(c *cobra.Command) {
	c.Flags().BoolVar(&o.plan, "plan", false, "say what it is expected to take, and end there: nothing is sent")
}

// printPlan has work say what it would take, and prints that.
func (a *app) printPlan(ctx context.Context, work func(context.Context, skillopt.Option) error) error {
	p, err := interruptible(ctx, a.Signals, func(ctx context.Context) (p result.Plan, err error) {
		err = work(ctx, skillopt.WithPlanOnly(&p))
		return p, err
	})
	switch {
	case err != nil:
		return err
	case a.json:
		return printJSON(a.Out, p)
	}
	return writePlan(a.printer(a.Out), p)
}

// recordUsage says what --run does where there is nothing but a record to keep.
const recordUsage = "keep the record in this directory"

// session returns what such commands share: how the user is asked before anything is spent, where
// events go, and how an interrupt stops the work. The caller must call end when the work is over.
func (a *app) session(ctx context.Context, l *config.Loaded, o sessionOptions) (_ context.Context, opts []skillopt.Option, end func() error, err error) {
	answers, err := a.answers(o)
	if err != nil {
		return nil, nil, nil, err
	}
	sink, closeEvents, err := a.eventSinks()
	if err != nil {
		return nil, nil, nil, err
	}
	var stop <-chan struct{}
	var release func()
	if o.atOnce {
		ctx, release = a.signalContext(ctx)
	} else {
		ctx, stop, release = a.interrupts(ctx)
	}
	opts = append(answers, skillopt.WithLoaded(l), skillopt.WithEvents(sink), skillopt.WithStop(stop), skillopt.WithVersion(a.version), skillopt.WithClouds(a.Clouds),
		skillopt.WithRunDir(a.absolute(o.runDir)), skillopt.WithTestLedger(l.Config.Run.Dir), skillopt.WithUsed(a.used))
	if o.acceptSeed {
		opts = append(opts, skillopt.WithAcceptedSeed())
	}
	return ctx, opts, func() error {
		release()
		if err := closeEvents(); err != nil {
			return fmt.Errorf("close --events file: %w", err)
		}
		return nil
	}, nil
}

// answers returns where the answers of models come from: models, which cost something,
// so that the user is asked first, or a cassette.
func (a *app) answers(o sessionOptions) ([]skillopt.Option, error) {
	if o.replay == "" {
		return []skillopt.Option{skillopt.WithConfirm(a.confirm(o.yes))}, nil
	}
	c, err := skillopt.LoadCassette(a.absolute(o.replay))
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(a.Err, "replaying %s of %s: no model is called\n", wording.Plural(c.Len(), "recorded step", "recorded steps"), o.replay)
	return []skillopt.Option{skillopt.WithReplay(c)}, nil
}

// interrupts turns the first interrupt into a soft stop and the second into a
// hard one. The function that it returns ends that.
func (a *app) interrupts(ctx context.Context) (context.Context, <-chan struct{}, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := make(chan struct{})
	done := make(chan struct{})
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		for n := 0; ; n++ {
			select {
			case <-a.Signals:
			case <-done:
				return
			}
			if n == 0 {
				a.interrupted = true
				fmt.Fprintln(a.Err, "\nstopping: calls in flight are finished and recorded; interrupt again to stop at once")
				close(stop)
				continue
			}
			cancel(context.Canceled)
		}
	}()
	return ctx, stop, func() { close(done); <-finished; cancel(nil) }
}

// confirm shows the upper bound of calls and the forecast, and asks on a terminal
// when the bound is large.
func (a *app) confirm(yes bool) func(result.Plan) error {
	return func(p result.Plan) error {
		out := a.printer(a.Err)
		writeBound(out, p)
		if p.Forecast != nil {
			writeForecast(out, p)
		}
		writeNoForecast(out, p)
		writeCeilings(out, p)
		writeNoCertificate(out, p)
		if p.Simulated {
			out.line("the models are simulated: this run shows how training works, not what a model can do")
		}
		if p.Unreviewed > 0 {
			out.line(exploratory(p.Unreviewed))
		}
		writeLimit(out, p.Limit)
		if yes || p.Simulated || p.Total <= askAbove || !a.Terminal {
			return nil
		}
		fmt.Fprint(out, "continue? [y/N] ")
		line, err := bufio.NewReader(a.In).ReadString('\n')
		if err != nil && line == "" {
			return usagef("no answer; --yes continues without asking")
		}
		if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
			return usagef("not started; --set train.epochs=1 or a smaller task file makes a run cheaper")
		}
		return nil
	}
}

// endSession ends a session, joins its error with that of the work, and adds how the
// work is resumed.
func endSession(err error, end func() error) error { return withSameCommand(errors.Join(err, end())) }

// withSameCommand adds to the error of work that was stopped how it is resumed: by the
// same command, from its record.
func withSameCommand(err error) error {
	switch exitCode(err) {
	case exitUnmeasured, exitStopped, exitEnvironment:
		return fmt.Errorf("%w\nnothing that was paid for is lost; the same command continues", err)
	case exitWaiting:
		return fmt.Errorf("%w\nnothing is scored before they are answered; then the same command continues", err)
	}
	return err
}
