package sim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/model"
)

// optimize answers as the optimizer. An error is a stage that the world cannot
// play, or a fault of the world file.
func (w *World) optimize(p prompt) (string, error) {
	if notes := p.section(headNotes); notes != "" {
		return encode(compactNotes(notes, p.user)), nil
	}
	switch p.stage {
	case model.StageAnalystError, model.StageAnalystSuccess, model.StageContrast:
		return w.analyze(p)
	case model.StageMerge, model.StageMergeFinal:
		return encode(w.merge(p)), nil
	case model.StageRanking:
		if fared := p.section(headFared); fared != "" {
			return encode(w.secondTry(p, fared)), nil
		}
		return encode(w.rank(p)), nil
	case model.StageSlowUpdate:
		return w.guide(p)
	case model.StageMetaSkill:
		return encode(map[string]string{
			"reasoning": "what was accepted stated one convention at a time",
			"meta_skill_content": "State one convention a line, in few words, and only if several failures show it. " +
				"Do not repeat what the skill says already. Remove a statement that makes tasks fail before adding another.",
		}), nil
	case model.StageLRAutonomous:
		return encode(learningRate(p)), nil
	case model.StageRewrite:
		return encode(rewrite(p)), nil
	}
	return "", fmt.Errorf("the simulated world %s does not know the stage %q", w.name, p.stage)
}

// merge unites patches. Changes that say the same become one and add up their
// support: equal texts, or two wordings of one rule.
func (w *World) merge(p prompt) map[string]any {
	section := p.section(headMerge)
	if p.stage == model.StageMergeFinal || section == "" {
		section += "\n" + p.section(headMergeFinal)
	}
	key, list := "op", "edits"
	switch p.form() {
	case asSuggestions:
		key, list = "instruction", "revise_suggestions"
	case asCandidates:
		return map[string]any{"reasoning": "the rules of all candidates", "skill_candidates": w.unite(objects(section, "new_skill"))}
	}
	at := map[string]int{}
	merged := []map[string]any{}
	for _, o := range objects(section, key) {
		name := w.changeKey(o)
		i, ok := at[name]
		if !ok {
			at[name] = len(merged)
			merged = append(merged, o)
			continue
		}
		merged[i]["support_count"] = support(merged[i]) + support(o)
	}
	return map[string]any{"reasoning": "union without duplicates", list: merged}
}

// changeKey names what a change does, whatever its wording.
func (w *World) changeKey(o map[string]any) string {
	if asString(o["op"]) == "describe" {
		return "describe" // there is one description
	}
	content := fold(asString(o["content"]) + asString(o["instruction"]))
	for _, r := range w.rules {
		if content != "" && r.matches(content) {
			content = "rule " + r.id
			break
		}
	}
	kind := asString(o["op"]) + asString(o["type"])
	return kind + "\n" + asString(o["target"]) + "\n" + content
}

func asString(v any) string {
	s, _ := v.(string)
	return s
}

func support(o map[string]any) int {
	switch n := o["support_count"].(type) {
	case int:
		return max(1, n)
	case json.Number:
		if i, err := strconv.Atoi(n.String()); err == nil {
			return max(1, i)
		}
	}
	return 1
}

// unite makes one candidate: the first one, and the rules of the others that it
// does not state.
func (w *World) unite(candidates []map[string]any) []candidate {
	if len(candidates) == 0 {
		return []candidate{}
	}
	out := candidate{Title: "united", Summary: []string{"rules of all candidates"}, NewSkill: asString(candidates[0]["new_skill"])}
	for _, c := range candidates[1:] {
		for _, s := range statements(asString(c["new_skill"])) {
			have := w.read(out.NewSkill).stated
			if slices.ContainsFunc(w.rules, func(r *rule) bool { return r.matches(s.text) && !have[r.index] }) {
				out.NewSkill = appendLine(out.NewSkill, s.raw)
			}
		}
	}
	return []candidate{out}
}

var (
	itemLine    = pattern.New(`(?m)^\[(\d+)\] (.*)$`)
	supportText = pattern.New(`\bsupport=(\d+)`)
)

// rank orders the listed changes: removals of harmful statements, then rules by
// their support, then the rest. A harmful rule comes last unless the optimizer
// is fooled by it.
func (w *World) rank(p prompt) map[string]any {
	type item struct {
		index   int
		class   int
		support int
	}
	var items []item
	for _, m := range itemLine.FindAllStringSubmatch(p.user, -1) {
		index, err := strconv.Atoi(m[1])
		if err != nil {
			continue
		}
		it := item{index: index, class: w.class(m[2])}
		if s := supportText.FindStringSubmatch(m[2]); s != nil {
			it.support, _ = strconv.Atoi(s[1]) // out of range: no support
		}
		items = append(items, it)
	}
	slices.SortStableFunc(items, func(a, b item) int {
		return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(b.support, a.support))
	})
	selected := []int{}
	for _, it := range items[:min(len(items), p.budget())] {
		selected = append(selected, it.index)
	}
	return map[string]any{"reasoning": "rules with the most failures behind them come first", "selected_indices": selected}
}

// Classes of changes in ranking.
const (
	classHarmful = iota
	classNote
	classRule
	classFooled
	classRemoval
)

func (w *World) class(line string) int {
	if strings.HasPrefix(line, "op=delete") || strings.HasPrefix(line, "type=remove") {
		return classRemoval
	}
	if strings.HasPrefix(line, "op=describe") {
		return classRule
	}
	text := fold(strings.ReplaceAll(line, `\n`, " "))
	class := classNote
	for _, r := range w.rules {
		switch {
		case !r.matches(text):
		case !r.harmful:
			class = max(class, classRule)
		case w.chance(drawFooled, digest(line)) < w.rates.Fooled:
			return classFooled
		default:
			return classHarmful
		}
	}
	return class
}

// guide writes slow-update guidance: what the former guidance said of use, and
// the rule that explains most of what still fails.
func (w *World) guide(p prompt) (string, error) {
	lines := []string{"Before answering, check the form of the answer against every rule that fits the task."}
	for _, s := range statements(p.section(headGuidance)) {
		for _, r := range w.rules {
			if !r.harmful && r.matches(s.text) {
				lines = append(lines, s.raw)
				break
			}
		}
	}
	found, err := w.diagnose(p, p.section(headSkill), w.examples(p.section(headComparison), inComparison))
	if err != nil {
		return "", err
	}
	for _, c := range found.proposals {
		if c.rule != nil && !c.rule.harmful && !c.remove {
			lines = append(lines, c.text)
			break
		}
	}
	return encode(map[string]string{
		"reasoning":           "what the same tasks show before and after",
		"slow_update_content": strings.Join(lines, "\n"),
	}), nil
}

var proposedText = pattern.New(`\bproposed_update_items=(\d+)`)

// learningRate takes three changes at most: fewer are easier to judge.
func learningRate(p prompt) map[string]any {
	n := 0
	if m := proposedText.FindStringSubmatch(p.user); m != nil {
		n, _ = strconv.Atoi(m[1]) // out of range: none
	}
	return map[string]any{
		"learning_rate": min(n, 3), "reasoning": "few changes at a time can be judged", "confidence": "medium", "risk_notes": []string{},
	}
}

// instructionText finds the instruction of a suggestion: the rest of its line
// and the lines below that are indented as deep.
var instructionText = pattern.New(`(?m)^   instruction: (.*(?:\n   .*)*)`)

// rewrite carries out suggestions.
func rewrite(p prompt) map[string]any {
	skill, changes := p.section(headSkill), []string{}
	for _, m := range instructionText.FindAllStringSubmatch(p.section(headSuggestions), -1) {
		instruction := strings.ReplaceAll(m[1], "\n   ", "\n")
		if target, ok := strings.CutPrefix(instruction, removal); ok {
			skill = removeStatement(skill, target)
		} else {
			skill = appendLine(skill, "- "+instruction)
		}
		changes = append(changes, firstLine(instruction))
	}
	return map[string]any{"reasoning": "each suggestion became a line", "change_summary": changes, "new_skill": skill}
}

var limitText = pattern.New(`\blimit=(\d+)`)

// compactNotes returns the first reminders, without repetitions.
func compactNotes(notes, user string) map[string]any {
	limit := 10
	if m := limitText.FindStringSubmatch(user); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			limit = n
		}
	}
	kept, seen := []string{}, map[string]bool{}
	for _, s := range statements(notes) {
		note := strings.TrimLeft(s.raw, "-*+ ")
		if !seen[s.text] && len(kept) < limit && !strings.HasPrefix(note, "Reply with") {
			kept = append(kept, note)
		}
		seen[s.text] = true
	}
	return map[string]any{"reasoning": "no repetitions", "appendix_notes": kept}
}
