package record

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/score"
)

// Characters of cells, in addition to digits and letters of scores.
const (
	cellPassed     = '1'
	cellFailed     = '0'
	cellError      = 'x'
	cellUnmeasured = 'u'
	cellNotAsked   = '.'
)

// Statuses of tasks with the best skill.
const (
	taskPassed     = "passed"
	taskFailed     = "failed"
	taskUnmeasured = "unmeasured"
	taskNotAsked   = "not_asked"
)

// Grid reads the results of all tasks with all skills that were tried on them, from the files
// with outcomes. A file that is damaged, or gone since the run was opened, is named in Problems,
// and its columns are missing. Of test tasks it has scores alone, neither questions nor reasons. A run that writes no outcomes of tasks down, as an ablation,
// has no columns.
func (r *Run) Grid(ctx context.Context) (result.Grid, error) {
	g := result.Grid{RunDir: r.dir, Columns: []result.GridColumn{}, Tasks: []result.GridTask{}}
	sheets, err := r.Sheets()
	if err != nil {
		return g, err
	}
	slices.SortStableFunc(sheets, func(a, b Sheet) int {
		return cmp.Or(cmp.Compare(a.later(), b.later()), cmp.Compare(lastStep(r.History, a), lastStep(r.History, b)))
	})
	b, err := newGridder(r, sheets)
	if err != nil {
		return g, err
	}
	read, err := gradeAll(ctx, r, sheets, b)
	if err != nil {
		return g, err
	}
	for i, s := range sheets {
		if problem := read.problems[i]; problem != nil {
			if text := problem.Error(); !slices.Contains(g.Problems, text) {
				g.Problems = append(g.Problems, text)
			}
			continue
		}
		b.add(s, read.outcomes[i], b.best[i])
		read.outcomes[i] = nil
	}
	g.Columns, g.Tasks = b.build(read.questions)
	return g, nil
}

// later returns where among the sheets of the end of a run one is, so that what a skill is compared
// with comes before it.
func (s Sheet) later() int {
	if s.file == lastFile {
		return 1
	}
	if s.Split != "test" || s.Step > 0 || s.Epoch > 0 {
		return 0
	}
	return 1 + slices.Index([]string{"no_skill", "seed", "final", "best"}, s.Arm)
}

// lastStep returns the last step that was carried out when a sheet was written: what the end of an epoch
// wrote comes after the steps of the epoch. It is 0 if there was none, or the sheet reports no order.
func lastStep(h result.History, s Sheet) int {
	if s.Epoch == 0 {
		return s.Step
	}
	for _, step := range slices.Backward(h.Steps) {
		if step.Epoch == s.Epoch {
			return step.Step
		}
	}
	return s.Step
}

// readSheets is what was read of sheets, by their number.
type readSheets struct {
	outcomes  [][]graded
	problems  []error
	questions *questions
}

// gradeAll reads the outcomes of all sheets, files side by side.
func gradeAll(ctx context.Context, r *Run, sheets []Sheet, b *gridder) (readSheets, error) {
	read := readSheets{make([][]graded, len(sheets)), make([]error, len(sheets)), &questions{of: map[rowKey]asked{}}}
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for first := 0; first < len(sheets); {
		after := first + 1 // those of one file follow each other
		for after < len(sheets) && sheets[after].file == sheets[first].file {
			after++
		}
		from := first
		group.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			g := &grader{questions: read.questions, at: from, reasons: b.best[from:after], sheets: sheets[from:after]}
			if err := grade(r, sheets[from:after], read.outcomes[from:after], g); err != nil {
				for i := from; i < after; i++ {
					read.problems[i] = err
				}
			}
			return nil
		})
		first = after
	}
	return read, group.Wait()
}

// gridder makes a grid of sheets.
type gridder struct {
	run  *Run
	best []bool // sheets that are of the best skill
	hard map[Sheet]written

	rows  map[rowKey]int
	tasks []*gridRow
	cols  []gridSheet
}

type rowKey struct{ split, id string }

// gridRow is a task, and what of its cells is needed for the next one.
type gridRow struct {
	result.GridTask

	last byte // measured cell, 0 for none
	sum  float64
}

type gridSheet struct {
	column result.GridColumn
	cells  []byte
}

func newGridder(r *Run, sheets []Sheet) (*gridder, error) {
	b := &gridder{run: r, rows: map[rowKey]int{}}
	var err error
	if b.hard, err = hardScores(r); err != nil {
		return nil, err
	}
	b.best, err = ofBest(r, sheets)
	return b, err
}

// ofBest reports which sheets are of the best skill, or of the one that was evaluated.
func ofBest(r *Run, sheets []Sheet) ([]bool, error) {
	origin, err := bestOrigin(r)
	if err != nil {
		return nil, err
	}
	hash := bestHash(r.History, origin)
	out := make([]bool, len(sheets))
	tested := slices.ContainsFunc(sheets, func(s Sheet) bool { return s.Split == "test" && s.Arm == "best" })
	for i, s := range sheets {
		switch s.Split {
		case "selection":
			out[i] = origin != "" && s.shows(origin) || s.file == lastFile || s.Arm == "skill" || s.Arm == "b"
		case "test":
			out[i] = s.Arm == "best" || !tested && origin == "seed" && s.Arm == "seed" || s.Arm == "skill" || s.Arm == "b"
		case "train":
			out[i] = hash != "" && s.Step > 0 && hashBefore(r.History, s.Step) == hash || s.Arm == "skill" || s.Arm == "b"
		}
	}
	return out, nil
}

// bestHash returns the hash of the skill with an origin, "" if the history has none.
func bestHash(h result.History, origin string) string {
	for _, s := range h.Steps {
		if s.CurrentOrigin == origin {
			return s.SkillHash
		}
	}
	for _, e := range h.Epochs {
		if origin == fmt.Sprintf("slow update, epoch %d", e.Epoch) {
			return e.SkillHash
		}
	}
	return ""
}

// hashBefore returns the hash of the skill that was the current one when a step began.
func hashBefore(h result.History, step int) string {
	steps := h.Steps
	i := slices.IndexFunc(steps, func(s result.StepRecord) bool { return s.Step == step })
	if i < 1 {
		return ""
	}
	if before := steps[i-1]; before.Epoch != steps[i].Epoch {
		for _, e := range h.Epochs {
			if e.Epoch == before.Epoch {
				return e.SkillHash
			}
		}
	}
	return steps[i-1].SkillHash
}

// written is a score that the run has written down.
type written struct {
	hard *float64
	score.Unanswered
}

// hardScores returns the scores of sheets, as the run has written them down.
func hardScores(r *Run) (map[Sheet]written, error) {
	out := map[Sheet]written{}
	for _, s := range r.History.Steps {
		if s.Step == 0 {
			out[Sheet{Arm: "seed", Split: "selection"}] = written{s.SelectionHard, s.SelectionUnanswered}
			continue
		}
		out[Sheet{Step: s.Step, Arm: "current", Split: "train"}] = written{s.RolloutHard, s.RolloutUnanswered}
		out[Sheet{Step: s.Step, Arm: "candidate", Split: "selection"}] = written{s.SelectionHard, s.SelectionUnanswered}
	}
	if f := r.History.Final; f != nil {
		for arm, s := range f.Test {
			if s != nil && s.N > 0 {
				out[Sheet{Arm: arm, Split: "test"}] = written{&s.Hard, s.Unanswered}
			}
		}
	}
	return out, scoresOfOthers(r, out)
}

// scoresOfOthers adds those of an evaluation, or a comparison.
func scoresOfOthers(r *Run, out map[Sheet]written) error {
	var e result.Evaluation
	var c result.Comparison
	if _, err := r.decode(evaluationFile, &e); err != nil {
		return err
	}
	for split, s := range e.Splits {
		if s.N > 0 {
			out[Sheet{Arm: "skill", Split: split}] = written{&s.Hard, s.Unanswered}
		}
	}
	if _, err := r.decode(comparisonFile, &c); err != nil {
		return err
	}
	for arm, s := range map[string]*result.Score{"a": c.A.Score, "b": c.B.Score} {
		if s != nil && s.N > 0 {
			out[Sheet{Arm: arm, Split: r.compares()}] = written{&s.Hard, s.Unanswered}
		}
	}
	return nil
}

// add adds a sheet.
func (b *gridder) add(s Sheet, outcomes []graded, best bool) {
	col := gridSheet{column: result.GridColumn{Step: s.Step, Epoch: s.Epoch, Arm: s.Arm, Split: s.Split, Title: s.Title()}}
	sums := make(map[int]*cellSum, len(outcomes))
	order := make([]int, 0, len(outcomes))
	for _, o := range outcomes {
		at := b.row(s.Split, o)
		sum := sums[at]
		if sum == nil {
			sum = &cellSum{}
			sums[at] = sum
			order = append(order, at)
		}
		sum.add(o)
	}
	col.cells = make([]byte, len(b.tasks))
	for i := range col.cells {
		col.cells[i] = cellNotAsked
	}
	total := 0.0
	for _, at := range order {
		sum := sums[at]
		cell := sum.cell()
		col.cells[at] = cell
		if b.tasks[at].note(cell, sum, best); sum.n > 0 {
			col.column.N++
			total += sum.mean()
		}
	}
	known, ok := b.hard[Sheet{Step: s.Step, Epoch: s.Epoch, Arm: s.Arm, Split: s.Split}]
	if col.column.Hard, col.column.Unanswered = known.hard, known.Unanswered; !ok && col.column.N > 0 {
		mean := total / float64(col.column.N) // of the end of an epoch the history has the gate score alone
		col.column.Hard = &mean
	}
	b.cols = append(b.cols, col)
}

// row returns the number of a task's row.
func (b *gridder) row(split string, o graded) int {
	key := rowKey{split, o.id}
	at, known := b.rows[key]
	if !known {
		at = len(b.tasks)
		b.rows[key] = at
		b.tasks = append(b.tasks, &gridRow{GridTask: result.GridTask{ID: o.id, Type: o.kind, Split: split, Status: taskNotAsked}})
	}
	return at
}

// note counts a cell of a task.
func (t *gridRow) note(cell byte, sum *cellSum, best bool) {
	if best && t.Status != taskFailed { // a task that fails in one pass fails
		t.Status, t.Reason = taskFailed, sum.reason
		switch {
		case cell == cellNotAsked:
			t.Status = taskNotAsked
		case sum.n == 0:
			t.Status = taskUnmeasured
		case cell == cellPassed:
			t.Status, t.Reason = taskPassed, ""
		}
	}
	if sum.n == 0 {
		return
	}
	t.Asked++
	t.sum += sum.mean()
	if t.last != 0 && (t.last == cellPassed) != (cell == cellPassed) {
		t.Flips++
		if t.last == cellPassed {
			t.Regressions++
		}
	}
	t.last = cell
}

// cellSum is the result of one task on one sheet, in one pass or several.
type cellSum struct {
	n, errors  int
	lost       bool // it could not be measured once
	hard, soft float64
	reason     string // of the first that fails
}

func (c *cellSum) add(o graded) {
	if !o.measured {
		c.lost = c.lost || o.why
		if c.n == 0 && c.reason == "" {
			c.reason = o.reason
		}
		return
	}
	if c.n == 0 || c.reason == "" {
		c.reason = o.reason
	}
	if c.n++; o.failed {
		c.errors++
	}
	c.hard, c.soft = c.hard+o.hard, c.soft+o.soft
}

func (c *cellSum) mean() float64 { return c.hard / float64(c.n) }

// cell returns the character of the cell. What could not be measured has a reason; what has none
// was not asked, since the gate knew enough before.
func (c *cellSum) cell() byte {
	switch {
	case c.n == 0 && !c.lost:
		return cellNotAsked
	case c.n == 0:
		return cellUnmeasured
	case c.errors == c.n:
		return cellError
	case c.mean() >= 1:
		return cellPassed
	}
	value := c.mean()
	if value <= 0 {
		value = c.soft / float64(c.n)
	}
	if value <= 0 {
		return cellFailed
	}
	return 'a' + byte(min(8, max(0, int(value*10+rounding)-1)))
}

// rounding keeps 0.3, a sum of shares, from being a bit less.
const rounding = 1e-9

// build returns the columns and rows; those of one split are together, in the order in which the
// run reached the tasks.
func (b *gridder) build(q *questions) ([]result.GridColumn, []result.GridTask) {
	order := make([]int, len(b.tasks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return rankOfSplit(b.tasks[x].Split) - rankOfSplit(b.tasks[y].Split) })
	tasks := make([]result.GridTask, len(order))
	for to, from := range order {
		t := b.tasks[from]
		if t.Asked > 0 {
			mean := t.sum / float64(t.Asked)
			t.Solved = &mean
		}
		t.Text = q.of[rowKey{t.Split, t.ID}].text
		tasks[to] = t.GridTask
	}
	columns := make([]result.GridColumn, len(b.cols))
	for i, c := range b.cols {
		cells := make([]byte, len(order))
		for to, from := range order {
			cells[to] = cellNotAsked
			if from < len(c.cells) {
				cells[to] = c.cells[from]
			}
		}
		c.column.Cells = string(cells)
		columns[i] = c.column
	}
	return columns, tasks
}

// rankOfSplit returns the place of a split's tasks.
func rankOfSplit(split string) int {
	return slices.Index([]string{"train", "selection", "test"}, split)
}

// GridRow is a task of a grid with its cells: those of the columns of its split, in their order.
type GridRow struct {
	result.GridTask

	Cells string
}

// GridRows returns the tasks of a grid by row.
func GridRows(g result.Grid) []GridRow {
	rows := make([]GridRow, len(g.Tasks))
	for i, t := range g.Tasks {
		rows[i].GridTask = t
	}
	cells := make([][]byte, len(rows))
	for _, c := range g.Columns {
		for i := range rows {
			if rows[i].Split == c.Split {
				cells[i] = append(cells[i], c.Cells[i])
			}
		}
	}
	for i := range rows {
		rows[i].Cells = string(cells[i])
	}
	return rows
}
