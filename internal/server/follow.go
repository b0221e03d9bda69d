package server

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/eventlog"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
)

// follow answers with the events of a run as they come.
func (s *Server) follow(w http.ResponseWriter, r *http.Request) (any, error) {
	at, err := s.find(r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	from := or(r.Header.Get("Last-Event-ID"), r.URL.Query().Get("after"))
	after, err := strconv.ParseInt(or(from, "0"), 10, 64)
	if err != nil {
		return nil, wrong("events after %s: want the number of an event", quoteText(from))
	}
	select {
	case s.streams <- struct{}{}:
	default:
		return nil, &door.Refusal{Status: http.StatusTooManyRequests, Kind: door.Busy, Message: "too many pages follow runs of this server", Help: "close some of them"}
	}
	defer func() { <-s.streams }()
	return nil, s.hub.Serve(w, r, at.dir, after)
}

// newEventReader returns a reader of the events of a run. It reads from the record what the log
// does not hold any more.
func newEventReader(dir string) *eventlog.Reader {
	log := eventlog.Read(dir)
	log.Rows = oldRows{dir}
	return log
}

// oldRows opens the record for those who go back far, and not before.
type oldRows struct{ dir string }

// Outcomes implements eventlog.Rows.
func (o oldRows) Outcomes(ctx context.Context, rows []int64) (map[int64]eventlog.Known, error) {
	r, err := record.Open(ctx, o.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }() // it was only read
	return record.NewEventReader(r).Rows.Outcomes(ctx, rows)
}

// Bounds of what is remembered of runs as they were looked at last: how many, and the bytes of
// their documents together. One is, however large.
const (
	mostLookers = 32
	lookedBytes = 8 << 20
)

// lookers remember runs, so that a look reads what is new alone.
type lookers struct {
	mu   sync.Mutex
	list []*looker // the one used last is the last
}

// looker looks at one run, for all who do.
type looker struct {
	dir string

	mu      sync.Mutex
	watcher *record.Watcher
}

// Look looks once. It may be called concurrently.
func (l *looker) Look(ctx context.Context) (record.Progress, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.watcher.Look(ctx)
}

// of returns the looker of a run.
func (l *lookers) of(dir string, now func() time.Time) *looker {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.IndexFunc(l.list, func(at *looker) bool { return at.dir == dir })
	if i < 0 {
		i = len(l.list)
		l.list = append(l.list, &looker{dir: dir, watcher: record.Watch(dir, now)})
	}
	at := l.list[i]
	l.list = append(slices.Delete(l.list, i, i+1), at)
	size := int64(0)
	for i := len(l.list) - 1; i >= 0; i-- {
		if size += record.DocumentSize(l.list[i].dir); len(l.list)-i > mostLookers || size > lookedBytes && l.list[i] != at {
			l.list = slices.Delete(l.list, 0, i+1)
			break
		}
	}
	return at
}
