package textgame

import (
	"cmp"
	"slices"
)

// facts are those that hold, by predicate. The tables are never changed, so that states share them.
type facts []*table

// table holds the facts of one predicate, sorted. A fact is a row of objects.
type table struct {
	rows [][]int32
	by   [][]int32 // by argument: numbers of rows, sorted by it and then as the rows are
}

func newTable(arity int, rows [][]int32) *table {
	slices.SortFunc(rows, slices.Compare)
	rows = slices.CompactFunc(rows, slices.Equal)
	t := &table{rows: rows, by: make([][]int32, arity)}
	for p := range t.by {
		order := make([]int32, len(rows))
		for i := range order {
			order[i] = int32(i)
		}
		slices.SortFunc(order, func(i, j int32) int { return cmp.Or(cmp.Compare(rows[i][p], rows[j][p]), cmp.Compare(i, j)) })
		t.by[p] = order
	}
	return t
}

// find returns the numbers of the rows that have a value as an argument, in the order of the rows.
func (t *table) find(arg int, value int32) []int32 {
	order := t.by[arg]
	compare := func(row, value int32) int { return cmp.Compare(t.rows[row][arg], value) }
	from, _ := slices.BinarySearchFunc(order, value, compare)
	n, _ := slices.BinarySearchFunc(order[from:], value+1, compare)
	return order[from : from+n]
}

func (t *table) has(row []int32) bool {
	_, found := slices.BinarySearchFunc(t.rows, row, slices.Compare)
	return found
}

// update returns a table with rows more and fewer; no row is both.
func (t *table) update(added, removed [][]int32) *table {
	rows := slices.DeleteFunc(slices.Clone(t.rows), func(row []int32) bool {
		return slices.ContainsFunc(removed, func(r []int32) bool { return slices.Equal(r, row) })
	})
	kept := len(rows)
	for _, row := range added {
		if !t.has(row) {
			rows = append(rows, row)
		}
	}
	if kept == len(t.rows) && len(rows) == kept {
		return t
	}
	return newTable(len(t.by), rows)
}
