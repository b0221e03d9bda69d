package sleeptasks

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
)

// Splits of tasks.
const (
	Train = "train"
	Val   = "val" // the gate judges by it
	Test  = "test"
)

// dream is the origin of tasks that were made of others.
const dream = "dream"

// Task is a mined task, as far as it is told apart and divided.
type Task struct {
	ID       string
	Project  string
	Intent   string
	Split    string   // as it stands in the file; see SplitOf
	Origin   string   // "dream": made of another one
	Outcome  string   // success, fail, mixed or unknown
	Hint     string   // the skill that was at work, "" if none or several
	Sessions []string // that it comes from
}

// TaskID is the id of a task that was mined without a model.
func TaskID(project, intent string) string {
	sum := sha256.Sum256([]byte(project + "::" + intent))
	return "task_" + hex.EncodeToString(sum[:])[:12]
}

// SplitOf gives old names of splits their new ones; others stay.
func SplitOf(name string) string {
	switch name {
	case "replay":
		return Train
	case "holdout":
		return Val
	}
	return name
}

// Dedupe makes one of tasks with the same id, where the first of them stands: with the
// sessions of all, the best outcome that is known, and the hint that all of those agree on
// which have one. The tasks that are given stay as they are.
func Dedupe(tasks []Task) []Task {
	var out []Task
	at, hints := map[string]int{}, map[string]map[string]bool{}
	for _, t := range tasks {
		if hints[t.ID] == nil {
			hints[t.ID] = map[string]bool{}
		}
		if t.Hint != "" {
			hints[t.ID][t.Hint] = true
		}
		i, seen := at[t.ID]
		if !seen {
			at[t.ID] = len(out)
			t.Sessions = slices.Clone(t.Sessions)
			out = append(out, t)
			continue
		}
		for _, s := range t.Sessions {
			if !slices.Contains(out[i].Sessions, s) {
				out[i].Sessions = append(out[i].Sessions, s)
			}
		}
		if rank(t.Outcome) > rank(out[i].Outcome) {
			out[i].Outcome = t.Outcome
		}
	}
	for i := range out {
		out[i].Hint = ""
		if all := hints[out[i].ID]; len(all) == 1 {
			for hint := range all {
				out[i].Hint = hint
			}
		}
	}
	return out
}

// rank is how much an outcome says.
func rank(outcome string) int {
	return max(0, slices.Index([]string{"unknown", "mixed", "fail", "success"}, outcome))
}

// Shares are the parts of tasks that judge and that are tested on, each from 0 to 1 and below
// 1 together. DefaultShares are those of a night.
type Shares struct{ Val, Test float64 }

// DefaultShares are the shares that hold where nothing else is said.
func DefaultShares() Shares { return Shares{Val: 0.34} }

// AssignSplits divides tasks: each by a hash of its id, so that it stays where it is whatever
// others come; made ones are train. Of two tasks or more at least one judges, if one can be
// spared from train, and then at least one is train, if one can be spared from those that
// judge; test lends none. The tasks that are given stay as they are.
func AssignSplits(tasks []Task, shares Shares, seed int64) ([]Task, error) {
	for _, s := range []struct {
		name  string
		share float64
	}{{"val", shares.Val}, {"test", shares.Test}} {
		if !(s.share >= 0 && s.share <= 1) {
			return nil, fmt.Errorf("share of %s: found %v, allowed is 0 to 1", s.name, s.share)
		}
	}
	if sum := shares.Val + shares.Test; sum >= 1 {
		return nil, fmt.Errorf("shares of val and test: found %v together, allowed is less than 1: train needs the rest", sum)
	}
	out := slices.Clone(tasks)
	d := division{tasks: out, seed: seed}
	d.assign(shares)
	return out, nil
}

// division divides tasks.
type division struct {
	tasks []Task
	seed  int64
}

// key orders tasks by hash; its last two decimal digits are the task's place in a hundred.
func (d division) key(t Task) [sha256.Size]byte {
	return sha256.Sum256([]byte(strconv.FormatInt(d.seed, 10) + t.ID))
}

func (d division) assign(shares Shares) {
	const parts = 100
	val := int64(math.RoundToEven(shares.Val * parts))
	test := val + int64(math.RoundToEven(shares.Test*parts))
	real := 0
	for i := range d.tasks {
		t := &d.tasks[i]
		t.Split = Train
		if t.Origin == dream {
			continue
		}
		real++
		sum := d.key(*t)
		switch place := new(big.Int).Mod(new(big.Int).SetBytes(sum[:]), big.NewInt(parts)).Int64(); {
		case place < val:
			t.Split = Val
		case place < test:
			t.Split = Test
		}
	}
	if real < 2 {
		return
	}
	if !d.has(Val) {
		d.lend(Train, Val)
	}
	if !d.has(Train) {
		d.lend(Val, Train)
	}
}

func (d division) has(split string) bool {
	return slices.ContainsFunc(d.tasks, func(t Task) bool { return t.Split == split })
}

// lend moves the task with the smallest hash from one split to another.
func (d division) lend(from, to string) {
	found := -1
	for i, t := range d.tasks {
		if t.Split != from || t.Origin == dream {
			continue
		}
		if found < 0 || d.before(t, d.tasks[found]) {
			found = i
		}
	}
	if found >= 0 {
		d.tasks[found].Split = to
	}
}

func (d division) before(a, b Task) bool {
	x, y := d.key(a), d.key(b)
	return cmp.Or(bytes.Compare(x[:], y[:]), cmp.Compare(a.ID, b.ID)) < 0
}

// Slices are the tasks that a night learns from, and those that judge what it made.
type Slices struct {
	Train, Val []Task
	Leaked     bool // one task does both: what passes says nothing of other tasks
}

// Slice says which tasks drive a night and which judge it. Where a split is empty the other
// one, or what is not test, stands in for it.
func Slice(tasks []Task) Slices {
	var s Slices
	var rest []Task // all but test
	for _, t := range tasks {
		switch SplitOf(t.Split) {
		case Train:
			s.Train = append(s.Train, t)
		case Val:
			s.Val = append(s.Val, t)
		}
		if SplitOf(t.Split) != Test {
			rest = append(rest, t)
		}
	}
	if len(s.Val) == 0 {
		if s.Val = s.Train; len(s.Val) == 0 {
			s.Val = rest
		}
		s.Leaked = len(s.Val) > 0
	}
	if len(s.Train) == 0 {
		s.Train = s.Val
		s.Leaked = s.Leaked || len(s.Train) > 0
	}
	for _, t := range s.Val {
		s.Leaked = s.Leaked || slices.ContainsFunc(s.Train, func(o Task) bool { return o.ID == t.ID })
	}
	return s
}
