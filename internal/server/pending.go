package server

import (
	"cmp"
	"context"
	"slices"

	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/result"
)

const mostCalls = 500

func (s *Server) rows(ctx context.Context, f folder) ([]result.RunRow, error) {
	list, err := record.List(f.path)
	if err != nil {
		return nil, err
	}
	var out []result.RunRow
	for _, e := range list {
		if f.shows(e.Dir) {
			out = append(out, s.row(ctx, found{folder: f, id: f.id(e.Dir), dir: e.Dir}))
		}
	}
	return out, nil
}

func (s *Server) row(ctx context.Context, at found) result.RunRow {
	v, err := record.ReadView(at.dir, at.id)
	m := v.Manifest
	row := result.RunRow{ID: at.id, Dir: at.dir, Name: m.Name, RunID: m.RunID, Kind: m.KindOf(), Status: string(m.Status), Simulated: m.Simulated, CreatedAt: &m.CreatedAt}
	if err != nil {
		row.Status, row.Reason, row.CreatedAt = "damaged", err.Error(), nil
	}
	return row
}

func sortRows(rows []result.RunRow) {
	slices.SortStableFunc(rows, func(a, b result.RunRow) int {
		if a.CreatedAt == nil || b.CreatedAt == nil {
			return 0
		}
		return cmp.Or(a.CreatedAt.Compare(*b.CreatedAt))
	})
}
