package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// merge returns the edits of all patches, each once, with their support added up.
func merge(q question) map[string]any {
	text := q.user
	for _, heading := range []string{"## Patches to merge", "## Two pre-merged"} {
		if i := strings.Index(text, heading); i >= 0 {
			text = text[i:]
			break
		}
	}
	edits, at := []map[string]any{}, map[string]int{}
	for _, e := range findEdits(text) {
		key := fmt.Sprint(e["op"], "|", e["target"], "|", e["content"])
		i, again := at[key]
		if !again {
			at[key] = len(edits)
			edits = append(edits, e)
			continue
		}
		a, _ := edits[i]["support_count"].(float64)
		b, _ := e["support_count"].(float64)
		edits[i]["support_count"] = a + b
	}
	return map[string]any{"reasoning": "union without duplicates", "edits": edits}
}

// findEdits returns the JSON objects of a text that have an op.
func findEdits(text string) []map[string]any {
	var out []map[string]any
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		d := json.NewDecoder(strings.NewReader(text[i:]))
		var m map[string]any
		if d.Decode(&m) == nil && m["op"] != nil {
			out = append(out, m)
			i += int(d.InputOffset()) - 1
		}
	}
	return out
}

var (
	candidateText = regexp.MustCompile(`(?m)^\[(\d+)\] (.*)$`)
	faredText     = regexp.MustCompile(`(?m)^- (K\d+): won (\d+), lost (\d+)`)
	kindText      = regexp.MustCompile(`-(K\d+)`)
)

// rank chooses edits: deletions, then rules, then notes; now and then it is fooled by a
// harmful one. In a second try it leaves out those whose kind lost more than it won.
func (m simulated) rank(q question) map[string]any {
	type candidate struct {
		index  int
		weight float64
	}
	lost := lostKinds(q.user)
	var all []candidate
	for _, c := range candidateText.FindAllStringSubmatch(q.user, -1) {
		index, _ := strconv.Atoi(c[1]) // digits alone
		if !slices.ContainsFunc(kindText.FindAllStringSubmatch(c[2], -1), func(k []string) bool { return lost[k[1]] }) {
			all = append(all, candidate{index, m.weight(c[2])})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	chosen := []int{}
	for _, c := range all[:min(len(all), q.budget())] {
		chosen = append(chosen, c.index)
	}
	return map[string]any{"reasoning": "rules before notes", "selected_indices": chosen}
}

// weight returns how much an edit seems to help.
func (m simulated) weight(text string) float64 {
	switch {
	case strings.Contains(text, "op=delete"):
		return 4
	case strings.Contains(text, "RULE-"):
		return 3
	case strings.Contains(text, "ANTI-") && m.draw("rk", text) < m.fooled:
		return 3.5
	}
	return 1
}

// lostKinds returns the kinds that lost more than they won by a rejected change.
func lostKinds(text string) map[string]bool {
	out := map[string]bool{}
	for _, f := range faredText.FindAllStringSubmatch(text, -1) {
		won, _ := strconv.Atoi(f[2]) // digits alone
		lost, _ := strconv.Atoi(f[3])
		if lost > won {
			out[f[1]] = true
		}
	}
	return out
}
