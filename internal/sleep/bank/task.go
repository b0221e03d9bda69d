package bank

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/sqlstore"
	"github.com/seed-f4525e22/skillopt/result"
)

const (
	// TestEvery: one in this many clusters of a skill is put aside as test.
	TestEvery = 5
	// MaxClusters are kept of a skill in a project.
	MaxClusters = 300
	// AsleepBelow is the weight below which a task sleeps.
	AsleepBelow = 0.1
)

// Review is what the user said of a task.
type Review int

// What the user may have said.
const (
	Unreviewed Review = iota
	Accepted
	Rejected
)

// Cluster is one wish: what was shown of it, and the task by which it is measured.
type Cluster struct {
	Number  int64
	Project string
	Skill   string
	Side    wish.Side // "": no task of it may be used yet
	Night   string    // in which it got its side
	Opened  string    // the night that opened it, of one that was test
	First   time.Time
	Last    time.Time
	Shown   int
	Tasks   []Task // the first is the one by which it is measured
}

// Task is a task of a cluster.
type Task struct {
	wish.Task

	Reviewed Review
}

// Usable reports whether a night may use the task: it can be carried out again, no one rejected
// it, and it is not held and runs no command, or somebody has accepted it all the same.
func (t *Task) Usable() bool {
	return t.Unfit == "" && t.Reviewed != Rejected && (t.Reviewed == Accepted || t.Held == "" && t.Trust != wish.ByCommand)
}

// Weight returns how much a cluster counts at a time: 1 when it is shown, half of it after every
// halfLife in which it is not. A time before it was shown counts as the time when it was.
func (c *Cluster) Weight(now time.Time, halfLife time.Duration) float64 {
	age := max(0, now.Sub(c.Last))
	if halfLife <= 0 {
		return 1
	}
	return math.Exp2(-float64(age) / float64(halfLife))
}

// Asleep reports whether a cluster counts too little to be used. It wakes when it is shown again.
func (c *Cluster) Asleep(now time.Time, halfLife time.Duration) bool {
	return c.Weight(now, halfLife) < AsleepBelow
}

// Match finds the one of the known tasks that is the same wish as t; -1: none.
type Match func(known []wish.Task, t *wish.Task) int

// Take takes mined tasks in, in the order of their time and id. A task that is known by its id
// is not taken again, but noted as shown again if it is of another turn. A cluster gets its side
// when its first usable task comes, and keeps it.
func (b *Bank) Take(ctx context.Context, night string, tasks []wish.Task, same Match, now time.Time, halfLife time.Duration) (result.NightTaken, error) {
	return b.take(ctx, taking{night: night, same: same}, tasks, now, halfLife)
}

// TakeReviewed takes tasks that a person has reviewed. A task that is known by its id has the given texts from then on.
func (b *Bank) TakeReviewed(ctx context.Context, night string, tasks []wish.Task, same Match, now time.Time, halfLife time.Duration) (result.NightTaken, error) {
	return b.take(ctx, taking{night: night, same: same, review: Accepted}, tasks, now, halfLife)
}

func (b *Bank) take(ctx context.Context, t taking, tasks []wish.Task, now time.Time, halfLife time.Duration) (out result.NightTaken, err error) {
	tasks = slices.Clone(tasks)
	slices.SortStableFunc(tasks, func(a, b wish.Task) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Task.ID, b.Task.ID))
	})
	err = b.write(ctx, "take tasks", func(tx *sql.Tx) error {
		t.tx, t.path, t.groups = tx, filepath.Join(b.dir, File), map[[2]string][]Cluster{}
		for i := range tasks {
			if err := t.take(ctx, &tasks[i]); err != nil {
				return fmt.Errorf("task %s: %w", tasks[i].Task.ID, err)
			}
		}
		if err := t.settle(ctx); err != nil {
			return err
		}
		out = t.out
		var err error
		out.Dropped, err = t.drop(ctx, now, halfLife)
		return err
	})
	return out, err
}

// taking is what one Take works with.
type taking struct {
	tx     *sql.Tx
	path   string // of the file
	night  string
	same   Match
	review Review                  // of the tasks
	groups map[[2]string][]Cluster // by project and skill, in order
	out    result.NightTaken
}

func (t *taking) take(ctx context.Context, w *wish.Task) error {
	at := [2]string{w.Project, w.Skill}
	group, ok := t.groups[at]
	if !ok {
		var err error
		if group, err = readClusters(ctx, t.tx, t.path, w.Project, w.Skill); err != nil {
			return err
		}
	}
	group, err := t.place(ctx, group, w)
	t.groups[at] = group
	return err
}

// place puts a task into the cluster that it belongs to, or into one of its own.
func (t *taking) place(ctx context.Context, group []Cluster, w *wish.Task) ([]Cluster, error) {
	known, owner := []wish.Task{}, []int{}
	for i := range group {
		for k := range group[i].Tasks {
			old := &group[i].Tasks[k]
			switch {
			case old.Task.Task.ID == w.Task.ID && t.review == Accepted:
				*old = Task{Task: *w, Reviewed: t.review}
				t.out.Again++
				return group, errors.Join(t.put(ctx, group[i].Number, old), t.updateCluster(ctx, &group[i], w.At))
			case old.Task.Task.ID == w.Task.ID:
				return group, t.addSeen(ctx, &group[i], k, w)
			}
			known, owner = append(known, old.Task), append(owner, i)
		}
	}
	if w.Held != "" {
		t.out.Held++
	}
	if w.Unfit != "" {
		t.out.Unfit++
	}
	at := -1
	if n := t.same(known, w); n >= 0 && n < len(owner) {
		at = owner[n]
		t.out.Again++
	} else {
		c := Cluster{Project: w.Project, Skill: w.Skill, First: w.At, Last: w.At}
		res, err := t.tx.ExecContext(ctx, "INSERT INTO clusters (project, skill, side, night, opened, first, last, shown) VALUES (?, ?, '', '', '', ?, ?, 0)", c.Project, c.Skill, nano(c.First), nano(c.Last))
		if err != nil {
			return group, err
		}
		if c.Number, err = res.LastInsertId(); err != nil {
			return group, err
		}
		group, at = append(group, c), len(group)
		t.out.New++
	}
	c := &group[at]
	c.Tasks = append(c.Tasks, Task{Task: *w, Reviewed: t.review})
	if err := t.put(ctx, c.Number, &c.Tasks[len(c.Tasks)-1]); err != nil {
		return group, err
	}
	return group, t.updateCluster(ctx, c, w.At)
}

// addSeen notes that a known task was shown by turns that it was not known to be shown by.
func (t *taking) addSeen(ctx context.Context, c *Cluster, k int, w *wish.Task) error {
	old, notes := &c.Tasks[k], false
	for _, ref := range w.Seen {
		if !slices.Contains(old.Seen, ref) {
			old.Seen, notes = append(old.Seen, ref), true
		}
	}
	if !notes {
		return nil
	}
	old.At = later(old.At, w.At)
	t.out.Again++
	if err := t.put(ctx, c.Number, old); err != nil {
		return err
	}
	return t.updateCluster(ctx, c, w.At)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func (t *taking) updateCluster(ctx context.Context, c *Cluster, at time.Time) error {
	c.Shown, c.Last = c.Shown+1, later(c.Last, at)
	_, err := t.tx.ExecContext(ctx, "UPDATE clusters SET shown = ?, last = ? WHERE number = ?", c.Shown, nano(c.Last), c.Number)
	return err
}

func (t *taking) put(ctx context.Context, cluster int64, w *Task) error {
	return putTask(ctx, t.tx, cluster, w)
}

func putTask(ctx context.Context, tx *sql.Tx, cluster int64, w *Task) error {
	data, err := json.Marshal(w.Task)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO tasks (id, cluster, held, unfit, reviewed, data) VALUES (?, ?, ?, ?, ?, ?)",
		w.Task.Task.ID, cluster, w.Held, w.Unfit, int(w.Reviewed), string(data))
	return err
}

// settle gives the clusters a side that have a usable task now: every fifth of a skill is test.
func (t *taking) settle(ctx context.Context) error {
	for _, at := range slices.SortedFunc(maps.Keys(t.groups), func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	}) {
		n, err := settleGroup(ctx, t.tx, t.night, t.groups[at])
		if err != nil {
			return err
		}
		t.out.Test += n
	}
	return nil
}

// settleGroup gives the clusters of a skill a side, in the order in which they came.
func settleGroup(ctx context.Context, tx *sql.Tx, night string, group []Cluster) (test int, err error) {
	if len(group) == 0 {
		return 0, nil
	}
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT sided FROM groups WHERE project = ? AND skill = ?", group[0].Project, group[0].Skill).Scan(&n); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	before := n
	for i := range group {
		c := &group[i]
		if c.Side != "" || !slices.ContainsFunc(c.Tasks, func(w Task) bool { return w.Usable() }) {
			continue
		}
		n++
		c.Side, c.Night = wish.Open, night
		if n%TestEvery == 0 {
			c.Side = wish.Test
			test++
		}
		if _, err := tx.ExecContext(ctx, "UPDATE clusters SET side = ?, night = ? WHERE number = ?", string(c.Side), night, c.Number); err != nil {
			return test, err
		}
	}
	if n > before {
		_, err = tx.ExecContext(ctx, "INSERT OR REPLACE INTO groups (project, skill, sided) VALUES (?, ?, ?)", group[0].Project, group[0].Skill, n)
	}
	return test, err
}

// drop deletes the open clusters that count least where a skill has too many. Those that are put aside
// as test stay: which ones go must not follow from what nights need.
func (t *taking) drop(ctx context.Context, now time.Time, halfLife time.Duration) (int, error) {
	gone := 0
	for _, group := range t.groups {
		excess := len(group) - MaxClusters
		open := slices.DeleteFunc(slices.Clone(group), func(c Cluster) bool { return c.Side == wish.Test })
		slices.SortStableFunc(open, func(a, b Cluster) int {
			return cmp.Or(cmp.Compare(a.Weight(now, halfLife), b.Weight(now, halfLife)), cmp.Compare(a.Number, b.Number))
		})
		for i := 0; i < excess && i < len(open); i++ {
			if err := dropCluster(ctx, t.tx, open[i].Number); err != nil {
				return gone, err
			}
			gone++
		}
	}
	return gone, nil
}

func dropCluster(ctx context.Context, tx *sql.Tx, number int64) error {
	for _, q := range []string{"DELETE FROM tasks WHERE cluster = ?", "DELETE FROM clusters WHERE number = ?"} {
		if _, err := tx.ExecContext(ctx, q, number); err != nil {
			return err
		}
	}
	return nil
}

// Clusters returns the clusters of a skill in a project, in the order in which they came.
func (b *Bank) Clusters(ctx context.Context, project, skill string) ([]Cluster, error) {
	out, err := readClusters(ctx, b.db, filepath.Join(b.dir, File), project, skill)
	return out, b.wrapError("list tasks", err)
}

// readClusters reads the clusters of a skill from the file at path.
func readClusters(ctx context.Context, db sqlstore.Querier, path, project, skill string) (out []Cluster, err error) {
	query := `SELECT c.number, c.side, c.night, c.opened, c.first, c.last, c.shown, t.reviewed, t.data
		FROM clusters c JOIN tasks t ON t.cluster = c.number WHERE c.project = ? AND c.skill = ? ORDER BY c.number`
	err = sqlstore.Each(ctx, db, query, []any{project, skill}, func(rows *sql.Rows) error {
		c := Cluster{Project: project, Skill: skill}
		var first, last int64
		var t Task
		var data []byte
		if err := rows.Scan(&c.Number, &c.Side, &c.Night, &c.Opened, &first, &last, &c.Shown, &t.Reviewed, &data); err != nil {
			return err
		}
		if err := json.Unmarshal(data, &t.Task); err != nil {
			return damagedError(path, "a task cannot be read")
		}
		t.Task.Task.Unreviewed = t.Reviewed != Accepted
		c.First, c.Last = ofNano(first), ofNano(last)
		if len(out) == 0 || out[len(out)-1].Number != c.Number {
			out = append(out, c)
		}
		at := &out[len(out)-1]
		at.Tasks = append(at.Tasks, t)
		return nil
	})
	for i := range out {
		slices.SortStableFunc(out[i].Tasks, measuredFirst)
	}
	return out, err
}

// measuredFirst puts the task first by which a cluster is measured: one that may be used, that a person has accepted, of
// the strongest trust, that was shown first.
func measuredFirst(a, b Task) int {
	rank := func(t Task) int {
		switch {
		case !t.Usable():
			return 2
		case t.Reviewed != Accepted:
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Trust.Rank(), b.Trust.Rank()), a.At.Compare(b.At), cmp.Compare(a.Task.Task.ID, b.Task.Task.ID))
}

// Group is a skill of a project that there are tasks of.
type Group struct {
	Project string `json:"project"`
	Skill   string `json:"skill"`
	Open    int    `json:"open"`
	Test    int    `json:"test"`
	Waiting int    `json:"waiting"` // clusters of which no task may be used yet
}

// Groups lists the skills of projects that there are tasks of, by name.
func (b *Bank) Groups(ctx context.Context) ([]Group, error) {
	query := "SELECT project, skill, sum(side = 'open'), sum(side = 'test'), sum(side = '') FROM clusters GROUP BY project, skill ORDER BY project, skill"
	out, err := sqlstore.All(ctx, b.db, query, nil, func(rows *sql.Rows, g *Group) error {
		return rows.Scan(&g.Project, &g.Skill, &g.Open, &g.Test, &g.Waiting)
	})
	return out, b.wrapError("list tasks", err)
}

// OpenTests moves clusters from test to open: a night reads them. It fails if one is not test, and then
// moves none.
func (b *Bank) OpenTests(ctx context.Context, night string, clusters []int64) error {
	return b.write(ctx, "open test tasks", func(tx *sql.Tx) error {
		for _, number := range clusters {
			res, err := tx.ExecContext(ctx, "UPDATE clusters SET side = 'open', opened = ? WHERE number = ? AND (side = 'test' OR opened = ?)", night, number, night)
			if err != nil {
				return err
			}
			if n, err := res.RowsAffected(); err != nil || n != 1 {
				return errors.Join(err, fmt.Errorf("cluster %d is not put aside as test", number))
			}
		}
		return nil
	})
}

// Say notes what the user said of a task, in its file or by name; unknown ids are an error. A
// cluster that has a usable task now gets its side.
func (b *Bank) Say(ctx context.Context, night string, said map[string]Review) error {
	return b.write(ctx, "note what was reviewed", func(tx *sql.Tx) error {
		places := map[[2]string]bool{}
		for _, id := range slices.Sorted(maps.Keys(said)) {
			var project, skill string
			err := tx.QueryRowContext(ctx, "SELECT c.project, c.skill FROM tasks t JOIN clusters c ON c.number = t.cluster WHERE t.id = ?", id).Scan(&project, &skill)
			if errors.Is(err, sql.ErrNoRows) {
				return fmt.Errorf("there is no task %s", id)
			}
			if err == nil {
				_, err = tx.ExecContext(ctx, "UPDATE tasks SET reviewed = ? WHERE id = ?", int(said[id]), id)
			}
			if err != nil {
				return err
			}
			places[[2]string{project, skill}] = true
		}
		for _, at := range slices.SortedFunc(maps.Keys(places), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
			group, err := readClusters(ctx, tx, filepath.Join(b.dir, File), at[0], at[1])
			if err == nil {
				_, err = settleGroup(ctx, tx, night, group)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
