package record

import (
	"context"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/eventlog"
)

// NewEventReader returns a reader of the run's events. It may be used as long as the run is open;
// what its log does not hold any more of old outcomes is read back from the record.
func NewEventReader(r *Run) *eventlog.Reader {
	log := eventlog.Read(r.dir)
	log.Rows = loggedRows{r}
	return log
}

// loggedRows reads what the record says of outcomes.
type loggedRows struct{ run *Run }

// spanOfRows is how many entries are read in one go.
const spanOfRows = 512

// Outcomes implements eventlog.Rows. rows are in order.
func (l loggedRows) Outcomes(ctx context.Context, rows []int64) (map[int64]eventlog.Known, error) {
	out := make(map[int64]eventlog.Known, len(rows))
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n]-rows[0] < spanOfRows {
			n++
		}
		found, err := l.run.view.Follow(ctx, rows[0]-1, int(rows[n-1]-rows[0])+1)
		if err != nil {
			return nil, l.run.wrapDamage(err)
		}
		wanted := make(map[int64]bool, n)
		for _, row := range rows[:n] {
			wanted[row] = true
		}
		for _, entry := range found {
			if wanted[entry.Seq] {
				out[entry.Seq] = eventlog.Known{OutcomeDone: outcomeAt(entry.Key, entry.Took.Seconds()), At: entry.EndedAt()}
			}
		}
		rows = rows[n:]
	}
	return out, nil
}

// outcomeAt returns what the key of a reply reports about the outcome that was made of it.
func outcomeAt(key string, took float64) event.OutcomeDone {
	p := ParsePlace(key)
	stage, arm := p.Stage()
	if at := strings.LastIndex(key, "/attempt"); p.Turn > 0 && at > 0 {
		key = key[:at]
	}
	return event.OutcomeDone{Key: key, Epoch: p.Epoch, Step: p.Step, Stage: stage, Arm: arm, Task: p.Task, Sample: p.Sample, Seconds: took}
}
