package server

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

// Listing are all runs, and how much of the queue is to be looked at.
type Listing struct {
	result.Listing

	Queued int `json:"queued"` // entries that wait, are at work, or have failed
}

// runs lists all runs.
func (s *Server) runs(_ http.ResponseWriter, r *http.Request) (any, error) {
	out := Listing{Listing: result.Listing{Folders: []result.Folder{}, Runs: []result.RunRow{}}, Queued: s.countOpen()}
	only := r.URL.Query().Get("folder")
	for _, f := range s.folders {
		if only != "" && only != f.name {
			continue
		}
		at := f.toResult()
		rows, err := s.rows(r.Context(), f)
		if err != nil && at.Error == "" {
			at.Error = err.Error()
		}
		out.Folders, out.Runs = append(out.Folders, at), append(out.Runs, rows...)
	}
	if only != "" && len(out.Folders) == 0 {
		return nil, notFoundError("there is no folder " + quoteText(only))
	}
	if len(out.Folders) > 1 || slices.ContainsFunc(out.Runs, func(r result.RunRow) bool { return r.Night != nil }) {
		slices.SortStableFunc(out.Runs, func(a, b result.RunRow) int { return begun(a).Compare(begun(b)) })
	}
	return out, nil
}

func begun(r result.RunRow) time.Time {
	if r.CreatedAt == nil {
		return time.Time{}
	}
	return *r.CreatedAt
}

// rows returns the rows of a folder: those of its runs, then those of its nights, both oldest first.
func (s *Server) rows(ctx context.Context, f folder) ([]result.RunRow, error) {
	if f.Run != "" {
		at, err := s.find(f.name + ":" + f.Run)
		if err != nil {
			return nil, err
		}
		return []result.RunRow{readRunRow(ctx, at)}, nil
	}
	rows, err := runRows(ctx, &s.index, f)
	nights, list, problem := s.nights.Rows(ctx, f.Folder)
	for i, n := range list {
		nights[i].ID = f.name + ":" + n.ID()
		nameRuns(rows, nights[i])
	}
	return append(rows, nights...), cmp.Or(err, problem)
}

// nameRuns names the night of the runs that it has begun.
func nameRuns(rows []result.RunRow, night result.RunRow) {
	begin := record.NightRuns(night.Night.Project) + night.Name + "-"
	for i := range rows {
		if strings.HasPrefix(rows[i].Name, begin) {
			rows[i].OfNight = night.ID
		}
	}
}

// runRows returns the rows of the runs of a folder.
func runRows(ctx context.Context, index *record.Index, f folder) ([]result.RunRow, error) {
	if f.Night != "" {
		return []result.RunRow{}, nil
	}
	if err := f.CheckRuns(); err != nil {
		return []result.RunRow{}, err
	}
	rows, err := index.Rows(ctx, f.Runs)
	for i := range rows {
		rows[i].ID = f.id(rows[i].Dir)
	}
	return rows, err
}

// readRunRow returns the row of one run.
func readRunRow(ctx context.Context, at found) result.RunRow {
	row := record.Row(ctx, at.dir)
	row.ID = at.id
	return row
}

// Bounds of how many runs are compared at once.
const (
	leastCompared = 2
	mostCompared  = 20
)

// compare sets runs next to each other.
func (s *Server) compare(_ http.ResponseWriter, r *http.Request) (any, error) {
	ids := r.URL.Query()["run"]
	if len(ids) < leastCompared || len(ids) > mostCompared {
		return nil, wrong("%d runs: %d to %d are compared, each as run=ID", len(ids), leastCompared, mostCompared)
	}
	var dirs []string
	for _, id := range ids {
		at, err := s.find(id)
		if err != nil {
			return nil, err
		}
		dirs = append(dirs, at.dir)
	}
	c, err := ask.Compare(r.Context(), dirs, ids)
	for i := range c.Runs {
		c.Runs[i].ID = ids[i]
	}
	return c, err
}

// steerable reports why a run cannot be steered or changed from here; nil: it can.
func steerable(ctx context.Context, at found) error {
	if readRunRow(ctx, at).Copy {
		return conflict("this run is a copy, or may not be written by this server: no process that works on it would notice", "steer it where it is at work, on the machine and as the user that began it")
	}
	return nil
}

func or(text, otherwise string) string { return cmp.Or(text, otherwise) }
