package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pyrand"
	"github.com/seed-f4525e22/skillopt/task"
)

// Counts are the sizes of the splits, in tasks.
type Counts struct {
	Train     int
	Selection int
	Test      int
}

// Total returns the number of tasks in all splits.
func (c Counts) Total() int { return c.Train + c.Selection + c.Test }

// Of returns the size of one split.
func (c Counts) Of(s task.Split) int {
	switch s {
	case task.Train:
		return c.Train
	case task.Selection:
		return c.Selection
	case task.Test:
		return c.Test
	}
	return 0
}

// keepOne moves tasks from the largest split to empty ones, if there are three
// or more tasks.
func (c Counts) keepOne() Counts {
	if c.Total() < 3 {
		return c
	}
	parts := []*int{&c.Train, &c.Selection, &c.Test}
	for _, part := range parts {
		if *part == 0 {
			largest := slices.MaxFunc(parts, func(a, b *int) int { return cmp.Compare(*a, *b) })
			*largest--
			*part++
		}
	}
	return c
}

// Ratio holds the relative sizes of train, selection and test, each at least 1.
type Ratio [3]int

// ParseRatio reads "train:selection:test" in positive integers, as in "2:1:7".
// White space and empty parts do not count.
func ParseRatio(text string) (Ratio, error) {
	var parts []int
	for part := range strings.SplitSeq(text, ":") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil {
			return Ratio{}, fmt.Errorf("split ratio %q: %q is not an integer: write train:selection:test, as in 2:1:7", text, part)
		}
		if n < 1 {
			return Ratio{}, fmt.Errorf("split ratio %q: %d is not positive: every part is at least 1", text, n)
		}
		parts = append(parts, n)
	}
	if len(parts) != 3 {
		return Ratio{}, fmt.Errorf("split ratio %q has %d parts, not 3: write train:selection:test, as in 2:1:7", text, len(parts))
	}
	return Ratio(parts), nil
}

// String returns the form that ParseRatio reads.
func (r Ratio) String() string { return fmt.Sprintf("%d:%d:%d", r[0], r[1], r[2]) }

// Counts divides n tasks by largest remainder: each split gets the whole part
// of its share, and what is left goes to the largest fractions, among equal ones
// to the larger part. Shares are floating-point numbers, as in the programs
// whose splits this reproduces; exact fractions would tie where theirs do not.
func (r Ratio) Counts(n int) Counts {
	total := float64(r[0]) + float64(r[1]) + float64(r[2])
	var whole [3]int
	var fraction [3]float64
	left := n
	for i, part := range r {
		share := float64(n) * float64(part) / total
		whole[i] = int(share)
		fraction[i] = share - float64(whole[i])
		left -= whole[i]
	}
	order := []int{0, 1, 2}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(fraction[b], fraction[a]), cmp.Compare(r[b], r[a]))
	})
	for _, i := range order[:left] {
		whole[i]++
	}
	return Counts{Train: whole[0], Selection: whole[1], Test: whole[2]}
}

// Split holds the indices of the tasks of each split, in shuffled order.
type Split struct {
	Train     []int
	Selection []int
	Test      []int
}

// SplitConfig says how tasks are divided.
type SplitConfig struct {
	Ratio Ratio
	Seed  int64
	// KeepOne makes every split hold at least one task whenever there are three
	// or more.
	KeepOne bool
}

// RatioSplit divides the indices 0..n-1 by ratio after shuffling them with the
// seed.
func RatioSplit(n int, cfg SplitConfig) Split {
	counts := cfg.Ratio.Counts(n)
	if cfg.KeepOne {
		counts = counts.keepOne()
	}
	return Cut(counts, cfg.Seed)
}

// Cut shuffles the indices 0..c.Total()-1 with the seed and cuts them into
// splits of the given sizes.
func Cut(c Counts, seed int64) Split {
	order := pyrand.New(seed).Perm(c.Total())
	selection, test := c.Train, c.Train+c.Selection
	return Split{
		Train:     slices.Clip(order[:selection]),
		Selection: slices.Clip(order[selection:test]),
		Test:      order[test:],
	}
}

const (
	smallSet    = 300 // tasks up to which the small ratio holds
	largestTest = 300 // tasks that a default test split holds at most
)

// DefaultCounts returns the sizes of the splits of n tasks for which no one
// chose a ratio: 2:2:1 up to 300 tasks, so that the gate of a small set is not
// starved; above that 2:1:7 with at most 300 test tasks, the surplus to train.
// Every split holds a task whenever there are three.
func DefaultCounts(n int) Counts {
	if n <= smallSet {
		return Ratio{2, 2, 1}.Counts(n).keepOne()
	}
	c := Ratio{2, 1, 7}.Counts(n)
	surplus := max(0, c.Test-largestTest)
	c.Test -= surplus
	c.Train += surplus
	return c
}

// DefaultBatch returns the batch size for a train split of n tasks for which
// no one chose one: a third of them, at least 1 and at most 40.
func DefaultBatch(n int) int { return max(1, min(40, n/3)) }

// wideBatch is the most tasks of a batch for which no one chose a size, and which
// analysts read as a whole.
const wideBatch = 30

// WideBatch returns the batch size for a train split of n tasks that cuts it into as few
// equal batches of at most 120 tasks as there can be.
func WideBatch(n int) int {
	parts := (n + wideBatch - 1) / wideBatch
	return (n + max(1, parts) - 1) / max(1, parts)
}

// ParseSplit reads the name of a split or one of its aliases.
func ParseSplit(name string) (task.Split, error) {
	switch name {
	case "train":
		return task.Train, nil
	case "selection", "val", "valid_seen":
		return task.Selection, nil
	case "test", "valid_unseen":
		return task.Test, nil
	}
	return "", fmt.Errorf("split %q is unknown: use train, selection (or val, valid_seen) or test (or valid_unseen)", name)
}
