package night

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/run"
)

// otherSettings finds that a run which the night was to continue with was begun with other settings; nil: it was not.
func otherSettings(err error) *run.IdentityError {
	var e *run.IdentityError
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// startAgain ends a night that cannot continue, since the models, the world or what else its runs are have changed since it began,
// and begins another one in its place, with a name, a ceiling and runs of its own. What was mined is in the bank and is
// tonight's still; what was claimed stays claimed.
func (n *night) startAgain(ctx context.Context, e *run.IdentityError) (*night, error) {
	old := n.report
	old.Targets = n.before
	for i := range old.Targets {
		if t := &old.Targets[i]; ends(t.Outcome) {
			t.Outcome, t.Reason, t.Help = Refused, "its settings have changed since it began: the next night began again", ""
		}
	}
	n.note("it ended where it was: its settings have changed since it began")
	if err := n.keep(context.WithoutCancel(ctx), true); err != nil {
		return nil, err
	}
	next := newNight(n.Options)
	if err := next.begin(ctx); err != nil {
		return nil, err
	}
	next.report.Since = old.Since
	next.said = fmt.Sprintf("night %s was begun with other settings and is over; this one begins again (%s)", old.ID, strings.Join(e.Changes, "; "))
	return next, nil
}
