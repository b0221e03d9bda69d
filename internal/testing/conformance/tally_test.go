package conformance

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// family is a family of cases with all that is said of them.
type family struct {
	name        string
	cases       []vector
	differences []difference
	gaps        []gap
	cap         float64 // share of deliberate differences among the cases that are built
	few         int     // deliberate differences that are allowed however small the family is
}

// tally says what became of the cases of a family. Every case is in one count.
type tally struct {
	family     string
	compared   int            // our result was held against the recorded one
	notBuilt   map[string]int // by feature: nothing was held against anything
	deliberate int            // our result was held against an expectation of ours
	reasons    map[string]int // the deliberate ones by reason
}

func (c tally) String() string {
	text := fmt.Sprintf("%-24s %5d compared, %3d deliberate, %3d not built", c.family, c.compared, c.deliberate, c.unbuilt())
	var features []string
	for _, feature := range slices.Sorted(maps.Keys(c.notBuilt)) {
		features = append(features, fmt.Sprintf("%s %d", feature, c.notBuilt[feature]))
	}
	if len(features) > 0 {
		text += " (" + strings.Join(features, ", ") + ")"
	}
	return text
}

func (c tally) unbuilt() (n int) {
	for _, of := range c.notBuilt {
		n += of
	}
	return n
}

func newTally(family string) tally {
	return tally{family: family, notBuilt: map[string]int{}, reasons: map[string]int{}}
}

// compare runs check on the cases of a family, counts them, and says what is wrong.
//
// A case counts as compared only if check objects to another recorded result: one
// that returns without a look at it is a fault.
func (f family) compare(check comparison) (c tally, faults []string) {
	c = newTally(f.name)
	capped, failed := 0, 0
	for _, v := range f.cases {
		if g, ok := firstHolding(f.gaps, gap.covers, v.in); ok {
			c.notBuilt[g.feature]++
			continue
		}
		diff := ""
		if d, ok := firstHolding(f.differences, difference.covers, v.in); ok {
			c.deliberate++
			c.reasons[d.reason]++
			if !d.named && !strings.HasPrefix(v.tag, "ref_bug_") { // marked as a fault of the reference: does not count
				capped++
			}
			diff = check(v.in, d.want(v.in, v.out))
		} else {
			c.compared++
			diff = compared(check, v)
		}
		if diff == "" {
			continue
		}
		if failed++; failed <= 5 {
			in, _ := json.Marshal(v.in)
			faults = append(faults, fmt.Sprintf("%s line %d (%s):\n%s\nin: %.1500s", f.name, v.line, v.tag, diff, in))
		}
	}
	built := c.compared + c.deliberate
	if failed > 5 {
		faults = append(faults, fmt.Sprintf("%s: %d of %d cases differ", f.name, failed, built))
	}
	if share := float64(capped) / float64(max(1, built)); share > f.cap && capped > f.few {
		faults = append(faults, fmt.Sprintf("%s: %.1f %% of the cases are deliberate differences, at most %.0f %% are allowed",
			f.name, 100*share, 100*f.cap))
	}
	return c, faults
}

// compared runs check on a case and makes sure that it would have noticed.
func compared(check comparison, v vector) string {
	if diff := check(v.in, v.out); diff != "" {
		return diff
	}
	if !objects(check, v.in, falsified(v.out).(map[string]any)) {
		return "passed unread: nothing is said against another result either"
	}
	return ""
}

// objects reports whether check says anything against a result that is false. One
// that breaks on it has read it.
func objects(check comparison, in, out map[string]any) (objects bool) {
	defer func() {
		if recover() != nil {
			objects = true
		}
	}()
	return check(in, out) != ""
}

// falsified returns a copy of a recorded result in which every value is another,
// of the same kind where it can be.
func falsified(v any) any {
	const other = "falsified"
	switch v := v.(type) {
	case string:
		return v + other
	case bool:
		return !v
	case json.Number:
		return otherNumber(v)
	case []any:
		if len(v) == 0 {
			return []any{other}
		}
		list := make([]any, len(v))
		for i := range v {
			list[i] = falsified(v[i])
		}
		return list
	case map[string]any:
		if _, failed := v["error"]; failed && len(v) <= 2 || len(v) == 0 { // an error and its message
			return map[string]any{"ok": other}
		}
		fields := make(map[string]any, len(v))
		for key := range v {
			fields[key] = falsified(v[key])
		}
		return fields
	}
	return other
}

func otherNumber(n json.Number) json.Number {
	if !strings.ContainsAny(n.String(), ".eE") {
		return json.Number(strings.TrimLeft(n.String()+"7", "0"))
	}
	f, _ := n.Float64()
	if f > 1e6 || f < -1e6 {
		return json.Number(fmt.Sprint(f / 2))
	}
	return json.Number(fmt.Sprint(f + 1.5))
}

// firstHolding returns the first rule that covers an input.
func firstHolding[R any](rules []R, covers func(R, map[string]any) bool, in map[string]any) (rule R, ok bool) {
	i := slices.IndexFunc(rules, func(r R) bool { return covers(r, in) })
	if i < 0 {
		return rule, false
	}
	return rules[i], true
}

func (d difference) covers(in map[string]any) bool { return d.holds(in) }

// tallies are those of all families that were run.
var tallies struct {
	sync.Mutex
	list []tally
}

func account(c tally) {
	tallies.Lock()
	defer tallies.Unlock()
	tallies.list = append(tallies.list, c)
}

// TestMain prints what became of the cases of all families after the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	if testing.Verbose() {
		fmt.Print(summary(tallies.list))
	}
	os.Exit(code)
}

// summary is the table of all families, with their sum at the end.
func summary(list []tally) string {
	var b strings.Builder
	sum := newTally("all families")
	slices.SortFunc(list, func(a, b tally) int { return cmp.Compare(a.family, b.family) })
	for _, c := range list {
		fmt.Fprintln(&b, c)
		sum.compared += c.compared
		sum.deliberate += c.deliberate
		for feature, n := range c.notBuilt {
			sum.notBuilt[feature] += n
		}
	}
	fmt.Fprintln(&b, sum)
	return b.String()
}
