package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/adopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
)

// partReason says why what is to be adopted is not what a night has measured; "": it is.
func (o *sleepAdoptOptions) partReason(r *night.Report, items []night.Item) string {
	if len(o.rules) > 0 {
		return "some rules of a proposal, of which nothing was measured by themselves"
	}
	if r.Joint == nil {
		return ""
	}
	var left []string
	taken := false
	for _, id := range r.Joint.Targets {
		if slices.ContainsFunc(items, func(it night.Item) bool { return it.Target == id }) {
			taken = true
			continue
		}
		left = append(left, id)
	}
	if !taken || len(left) == 0 {
		return ""
	}
	return "a part of what was measured together: without " + strings.Join(left, ", ")
}

// measureItem measures what is to be adopted of a document by itself, and calls it that result.
func (o *sleepAdoptOptions) measureItem(ctx context.Context, a *app, s sleepSetup, r *night.Report, p *night.Proposal, it *adopt.Item, part string) (err error) {
	if part == "" {
		return usagef("--measure: %s as a whole is what night %s has measured; it goes with --rule, or with --target where several documents were measured together", it.Target, r.ID)
	}
	w, err := openNightWork(ctx, a, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	ctx, stop, release := a.interrupts(ctx)
	defer release()
	w.stop = stop
	ceilingLine(a.printer(a.Err), s.loaded.Config, nil)
	opts := w.options(r.Project)
	opts.With = append(opts.With, skillopt.WithConfirm(a.confirm(o.yes)))
	got, err := night.Measure(ctx, opts, r, p, it.Target, it.Proposed)
	if err = errors.Join(err, w.endEvents()); err != nil {
		return err
	}
	it.Claim, it.Reason = string(got.Outcome), got.Reason
	a.printer(a.Err).line(oneLine(fmt.Sprintf("measured: %s; %d calls, %d tokens; kept in %s", got.Reason, got.Usage.Calls, got.Usage.Input+got.Usage.Output, got.Look.Run)))
	return nil
}
