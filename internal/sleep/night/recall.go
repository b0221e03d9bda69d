package night

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// chosen are the clusters that a night works with, of one target.
type chosen struct {
	tonight []bank.Cluster // open, shown since the last night
	recall  []bank.Cluster // open, older ones that are like them
	fresh   []bank.Cluster // test, unread but by this very night
	open    int            // awake
	place   map[int64]int  // of an open cluster, by number: among those that never were test, or among those that were
	asleep  int
	waiting int
}

// train returns the clusters that are trained on, in the order in which they came.
func (c *chosen) train() []bank.Cluster {
	all := slices.Concat(c.tonight, c.recall)
	slices.SortFunc(all, func(a, b bank.Cluster) int { return cmp.Compare(a.Number, b.Number) })
	return all
}

// choice says what a night chooses from.
type choice struct {
	night    string    // what it found first is tonight's, whenever it was shown
	since    time.Time // of tonight's clusters
	now      time.Time
	halfLife time.Duration
	tasks    int                     // of tonight at most
	recall   int                     // older ones at most
	files    []time.Time             // when nights on files began: what was shown last by these is older
	only     func(bank.Cluster) bool // chosen from, and all of them tonight's; nil: all are chosen from
}

// choose takes tonight's clusters, those that count most first, and older open ones: by how like they are to one of
// tonight's, then by weight. What is not like any is not recalled, unless there is nothing new: then
// weight alone counts. Test clusters are never recalled.
func (c choice) choose(clusters []bank.Cluster) chosen {
	out := chosen{place: map[int64]int{}}
	places := map[bool]int{}
	var older []bank.Cluster
	for _, k := range clusters {
		if k.Side == wish.Open {
			out.place[k.Number] = places[k.Opened != ""]
			places[k.Opened != ""]++
		}
		switch {
		case c.only != nil && !c.only(k):
		case !k.Tasks[0].Usable():
			out.waiting++
		case k.Asleep(c.now, c.halfLife):
			out.asleep++
		case k.Side == wish.Test || k.Opened != "" && k.Opened == c.night:
			out.fresh = append(out.fresh, k)
		case k.Side != wish.Open:
			out.waiting++
		case c.only == nil && (k.Last.Before(c.since) && k.Night != c.night || slices.ContainsFunc(c.files, k.Last.Equal)):
			out.open++
			older = append(older, k)
		default:
			out.open++
			out.tonight = append(out.tonight, k)
		}
	}
	slices.SortStableFunc(out.tonight, c.heavier)
	if c.only == nil {
		out.tonight = out.tonight[:min(len(out.tonight), c.tasks)]
	}
	out.recall = c.recallClusters(out.tonight, older)
	return out
}

func (c choice) heavier(a, b bank.Cluster) int {
	return cmp.Or(cmp.Compare(b.Weight(c.now, c.halfLife), a.Weight(c.now, c.halfLife)), cmp.Compare(a.Number, b.Number))
}

func (c choice) recallClusters(tonight, older []bank.Cluster) []bank.Cluster {
	type like struct {
		bank.Cluster
		likeness float64
	}
	var list []like
	var sets []map[string]bool
	for _, k := range tonight {
		sets = append(sets, wordSet(k.Tasks[0].Task.Task.Prompt))
	}
	for _, k := range older {
		set, best := wordSet(k.Tasks[0].Task.Task.Prompt), 0.0
		for _, other := range sets {
			best = max(best, likeness(set, other))
		}
		if best > 0 || len(tonight) == 0 {
			list = append(list, like{k, best})
		}
	}
	slices.SortStableFunc(list, func(a, b like) int {
		return cmp.Or(cmp.Compare(b.likeness, a.likeness), c.heavier(a.Cluster, b.Cluster))
	})
	var out []bank.Cluster
	for _, l := range list[:min(len(list), c.recall)] {
		out = append(out, l.Cluster)
	}
	return out
}

// wordSet returns the words of a text of three letters and more, in lower case.
func wordSet(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(w) > 2 {
			out[w] = true
		}
	}
	return out
}

// likeness returns the Jaccard index of two sets.
func likeness(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if both == 0 {
		return 0
	}
	return float64(both) / float64(len(a)+len(b)-both)
}
