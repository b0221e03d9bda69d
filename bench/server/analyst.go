package main

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// edit is a change of a skill, as replies hold it.
type edit struct {
	Op      string `json:"op"`
	Target  string `json:"target,omitempty"`
	Content string `json:"content,omitempty"`
}

// kindCount is a kind and how many tasks of it were read.
type kindCount struct {
	kind string
	n    int
}

// countKinds counts kinds, the most frequent first.
func countKinds(read []sight) []kindCount {
	counts := map[string]int{}
	for _, s := range read {
		counts[s.kind]++
	}
	out := make([]kindCount, 0, len(counts))
	for kind, n := range counts {
		out = append(out, kindCount{kind, n})
	}
	slices.SortFunc(out, func(a, b kindCount) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.kind, b.kind))
	})
	return out
}

// read returns the trajectories that a reader that tires takes in, in order. key is of
// the question, name of a trajectory.
func read[T any](m simulated, key string, all []T, name func(T) string) []T {
	if m.attend == 0 || len(all) <= m.attend {
		return all
	}
	if m.attendHow == "first" {
		return all[:m.attend]
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(m.draw("attend", key, name(all[a])), m.draw("attend", key, name(all[b])))
	})
	order = order[:m.attend]
	slices.Sort(order)
	out := make([]T, len(order))
	for i, at := range order {
		out[i] = all[at]
	}
	return out
}

// analyseFailures proposes the rules that failed tasks lack.
func (m simulated) analyseFailures(q question) map[string]any {
	seen := read(m, q.hash(), q.trajectories(), func(s sight) string { return s.id })
	summary := []map[string]any{}
	for _, k := range countKinds(seen) {
		summary = append(summary, map[string]any{"failure_type": "rule_missing", "count": k.n, "description": "kind " + k.kind + " unsolved"})
	}
	edits := m.propose(q.hash(), q.skill(), countKinds(seen))
	out := analysis(len(seen), "kinds without a rule fail", edits[:min(len(edits), q.budget())])
	out["failure_summary"] = summary
	return out
}

// analysis returns the reply of an analyst; skillrl reads the edits at its top, the others
// in its patch.
func analysis(read int, reasoning string, edits []edit) map[string]any {
	patch := map[string]any{"reasoning": reasoning, "edits": edits}
	return map[string]any{"batch_size": read, "reasoning": reasoning, "edits": edits, "patch": patch}
}

// propose returns the edits that failures of some kinds suggest to an optimizer with
// these dials: what it drops and harms comes first, so that a budget does not hide it.
func (m simulated) propose(key, skill string, failed []kindCount) []edit {
	edits := append(m.mistakes(key, skill), m.repairs(key, skill, failed)...)
	if m.limit > 0 && len(edits) > m.limit {
		slices.SortStableFunc(edits, func(a, b edit) int {
			return cmp.Compare(m.draw("cap", key, a.Target+a.Content), m.draw("cap", key, b.Target+b.Content))
		})
		edits = edits[:m.limit]
	}
	return edits
}

// mistakes returns edits that help with nothing: dropped rules and harm.
func (m simulated) mistakes(key, skill string) []edit {
	edits := []edit{}
	for _, line := range ruleLine.FindAllString(skill, -1) {
		if m.draw("drop", key, line) < m.drop {
			edits = append([]edit{{Op: "delete", Target: line}}, edits...)
		}
	}
	if m.draw("harm", key) < m.harm {
		harmed := kindName(int(hash(strconv.FormatUint(m.seed, 10), "hk", key) % kinds))
		edits = append(edits, edit{Op: "append", Content: harm(harmed)})
	}
	return edits
}

// repairs returns the rules that failed kinds lack, and takes out what harms them.
func (m simulated) repairs(key, skill string, failed []kindCount) []edit {
	have, edits := named(ruleText, skill), []edit{}
	for _, k := range failed {
		lines := harmLine.FindAllStringSubmatch(skill, -1)
		if i := slices.IndexFunc(lines, func(line []string) bool { return line[1] == k.kind }); i >= 0 {
			edits = append(edits, edit{Op: "delete", Target: lines[i][0]})
		}
		switch {
		case have[k.kind] || k.n < m.need:
		case m.draw("hit", key, k.kind) < m.hit:
			edits = append(edits, edit{Op: "append", Content: rule(k.kind)})
		default:
			edits = append(edits, edit{Op: "append", Content: "- NOTE-" + key[:6] + k.kind + ": take care with items of kind " + k.kind + "."})
		}
	}
	return edits
}

// analyseSuccesses writes a note about the most frequent kind, half of the time.
func (m simulated) analyseSuccesses(q question) map[string]any {
	kinds, edits := countKinds(q.trajectories()), []edit{}
	if len(kinds) > 0 && m.draw("succ", q.hash()) < 0.5 {
		k := kinds[0].kind
		edits = append(edits, edit{Op: "append", Content: "- NOTE-" + k + ": items of kind " + k + " are solved well; keep the short answer format."})
	}
	out := analysis(len(q.trajectories()), "keep what works", edits)
	out["success_patterns"] = []string{"short answers"}
	return out
}

// reflect returns a new document, in a fence, for GEPA.
func (m simulated) reflect(q question) string {
	document, examples := q.reflection()
	var failed []sight
	for _, example := range read(m, q.hash(), examples, func(s string) string { return s }) {
		_, feedback, _ := strings.Cut(example, "## Feedback")
		if strings.Contains(feedback, "incorrect") {
			failed = append(failed, sights(example)...)
		}
	}
	for _, e := range m.propose(q.hash(), document, countKinds(failed)) {
		if e.Op == "delete" {
			document = strings.Replace(document, e.Target, "", 1)
		} else {
			document = strings.TrimRight(document, "\n") + "\n" + e.Content
		}
	}
	return "The new instructions:\n```\n" + document + "\n```\n"
}
