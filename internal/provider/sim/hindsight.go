package sim

import (
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// What the simulated optimizer makes of a rejection, according to what it is given alone: an edit is to
// blame when the tasks of the types that it names lost more than they won, and one that
// names none when all together did. It errs where several edits are about one type, and
// where an edit for all tasks is not what hurt.

var faredLine = pattern.New(`(?m)^- (.*): won (\d+), lost (\d+), same \d+$`)

// toBlame reports whether the text of an edit is.
func toBlame(fared, text string) bool {
	named, all, some := 0, 0, false
	for _, m := range faredLine.FindAllStringSubmatch(fared, -1) {
		won, err := strconv.Atoi(m[2])
		lost, err2 := strconv.Atoi(m[3])
		if err != nil || err2 != nil {
			continue
		}
		all += won - lost
		if strings.Contains(text, fold(m[1])) {
			named, some = named+won-lost, true
		}
	}
	if some {
		return named < 0
	}
	return all < 0
}

// secondTry keeps the edits of a rejected bundle that are not to blame. Without a suspect
// there is nothing to try.
func (w *World) secondTry(p prompt, fared string) map[string]any {
	keep, suspects := []int{}, 0
	for _, m := range itemLine.FindAllStringSubmatch(p.section(headCandidates), -1) {
		index, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		if !strings.HasPrefix(m[2], "op=delete") && w.states(m[2]) && toBlame(fared, fold(strings.ReplaceAll(m[2], `\n`, " "))) {
			suspects++
			continue
		}
		keep = append(keep, index)
	}
	if suspects == 0 {
		keep = []int{}
	}
	return map[string]any{"reasoning": "what is about tasks that lost more than they won is left out", "selected_indices": keep}
}

// states reports whether a line states any rule: others change nothing.
func (w *World) states(line string) bool {
	text := fold(strings.ReplaceAll(line, `\n`, " "))
	return slices.ContainsFunc(w.rules, func(r *rule) bool { return r.matches(text) })
}

// triedInVain reports whether a prompt describes a rejected step that tried a rule and puts the
// blame on it, or says that another run did worse with it.
func (p prompt) triedInVain(r *rule) bool {
	for _, step := range strings.Split("\n"+p.section(headRun), "\n### ") {
		_, tried, ok := strings.Cut(step, "\nTried and rejected ")
		if !ok {
			continue
		}
		for line := range strings.Lines(tried) {
			text := fold(strings.ReplaceAll(line, `\n`, " "))
			if strings.Contains(line, " content=") && r.matches(text) && toBlame(tried, text) {
				return true
			}
		}
	}
	return p.othersInVain(r)
}

// measuredWorse begins an entry of other runs whose edits did worse.
var measuredWorse = pattern.New(`^\d+ changes?, difference -`)

// othersInVain reports whether a prompt says that another run tried a rule and did worse with
// it.
func (p prompt) othersInVain(r *rule) bool {
	for _, entry := range strings.Split("\n"+p.section(headOthers), "\n### ")[1:] {
		if !measuredWorse.MatchString(entry) {
			continue
		}
		for line := range strings.Lines(entry) {
			if strings.Contains(line, " content=") && r.matches(fold(strings.ReplaceAll(line, `\n`, " "))) {
				return true
			}
		}
	}
	return false
}
