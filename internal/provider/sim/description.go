package sim

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/model"
)

// In a world whose loads are byDescription the target inside an agent loads a skill only if
// its description, as the agent lists it, speaks of what it is asked; in others it always
// does.
const byDescription = "description"

// Agents list the skills of a workspace as lines, "- NAME: DESCRIPTION (in PATH)", or as
// elements, whose location names a path or the project. What agents bring of their own is
// listed with other locations, or with none.
var (
	listedAsLine    = pattern.New(`(?m)^\s*- [\w.-]+: (.*) \((?:in|file:) [^()\n]*SKILL\.md\)\s*$`)
	listedAsElement = pattern.New(`<name>[^<]*</name>\s*<description>\s*([^<]*?)\s*</description>\s*<location>\s*(?:project|[^<]*\.(?:agents|claude)/skills/[^<]*)\s*</location>`)
)

// notFor begins what a description says a skill is not for.
const notFor = "Not for: "

// loadsSkill reports whether the target loads a skill: a keyword of what it is asked is in a
// description before notFor, and none after it. At the rate flip it does the opposite.
func (w *World) loadsSkill(req model.Request, asked string, seed uint64) bool {
	if w.loads != byDescription {
		return true
	}
	for _, description := range findDescriptions(req) {
		is, isNot, _ := strings.Cut(description, notFor)
		words := keywords(asked)
		loads := shares(words, keywords(is)) && !shares(words, keywords(isNot))
		if w.chance(drawLoad, digest(asked), digest(description), seed) < w.rates.Flip {
			loads = !loads
		}
		if loads {
			return true
		}
	}
	return false
}

// findDescriptions returns the descriptions of the skills of a workspace that a request lists, in
// its messages or in the descriptions of its tools.
func findDescriptions(req model.Request) []string {
	system, user := texts(req.Messages)
	told := []string{system, user}
	for _, t := range req.Tools {
		told = append(told, t.Description)
	}
	text := strings.Join(told, "\n")
	var out []string
	for _, form := range []pattern.Pattern{listedAsLine, listedAsElement} {
		for _, m := range form.FindAllStringSubmatch(text, -1) {
			out = append(out, m[1])
		}
	}
	return out
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(word string) bool { return slices.Contains(b, word) })
}

// commonWords are words of five letters and more that say nothing of a subject.
const commonWords = " about after again along before could every first from have into might other please shall should their there these those three under until using where which while whole whose would "

// keywords returns the words of a text that say what it is about, each once: five letters and more,
// in lower case, without the s of a plural.
func keywords(text string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if len(word) < 5 || strings.Contains(commonWords, " "+word+" ") {
			continue
		}
		if word = strings.TrimSuffix(word, "s"); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// seenLoads are the prompts of the part of a question that reports loads.
type seenLoads struct{ should, shouldNot, missed, wrong [][]string } // each as its keywords

const (
	headMissed = "Should load the skill, and did not"
	headWrong  = "Should not load the skill, and loaded"
	headKept   = "Should not load the skill"
)

func readLoads(section string) seenLoads {
	var out seenLoads
	head := ""
	for line := range strings.Lines(section) {
		prompt, ok := strings.CutPrefix(line, "- ")
		if !ok {
			head = line
			continue
		}
		words := keywords(prompt)
		if strings.HasPrefix(head, headKept) {
			out.shouldNot = append(out.shouldNot, words)
		} else {
			out.should = append(out.should, words)
		}
		switch {
		case strings.HasPrefix(head, headMissed):
			out.missed = append(out.missed, words)
		case strings.HasPrefix(head, headWrong):
			out.wrong = append(out.wrong, words)
		}
	}
	return out
}

// mostWords is how many words a proposed description gets more, of either kind.
const mostWords = 8

// proposeDescription proposes a description: the present one, with words of prompts that did not load the skill and
// should, and with words of those that did and should not, or would by the new words, as what it is not for. It
// takes no word that speaks for the other kind as much. "": nothing to add.
func (w *World) proposeDescription(p prompt, description string) (text string, support int) {
	seen := readLoads(p.section(headLoads))
	is, isNot, _ := strings.Cut(description, notFor)
	more := selectWords(seen.missed, seen.shouldNot, keywords(is))
	less := selectWords(append(seen.wrong, filterPrompts(seen.shouldNot, more)...), seen.should, keywords(isNot))
	if len(more)+len(less) == 0 {
		return "", 0
	}
	is = strings.TrimSpace(is)
	if len(more) > 0 {
		is += " For " + strings.Join(more, ", ") + "."
	}
	isNot = strings.Trim(isNot, " .")
	if len(less) > 0 {
		isNot = strings.TrimPrefix(isNot+", "+strings.Join(less, ", "), ", ")
	}
	if isNot != "" {
		is += " " + notFor + isNot + "."
	}
	return is, len(seen.missed) + len(seen.wrong)
}

// selectWords returns the words of most prompts that are not in have, and that are in fewer than
// half as many of the others.
func selectWords(of, others [][]string, have []string) []string {
	counts, against := countKeywords(of), countKeywords(others)
	words := make([]string, 0, len(counts))
	for word, n := range counts {
		if !slices.Contains(have, word) && 2*against[word] < n {
			words = append(words, word)
		}
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	return words[:min(len(words), mostWords)]
}

// filterPrompts returns the prompts that words would load the skill on.
func filterPrompts(prompts [][]string, words []string) [][]string {
	var out [][]string
	for _, p := range prompts {
		if shares(p, words) {
			out = append(out, p)
		}
	}
	return out
}

// countKeywords returns how many prompts hold each keyword.
func countKeywords(prompts [][]string) map[string]int {
	out := map[string]int{}
	for _, words := range prompts {
		for _, word := range words {
			out[word]++
		}
	}
	return out
}

// descriptionLine is the description in the part of a question that reports loads.
var descriptionLine = pattern.New(`(?m)^The description has .*:\n(.*)$`)

// describe adds the replacement of a description to what an analyst proposes.
func (w *World) describe(p prompt, reply *analystReply) {
	found := descriptionLine.FindStringSubmatch(p.section(headLoads))
	if found == nil || reply.Patch.Edits == nil {
		return
	}
	if text, support := w.proposeDescription(p, found[1]); text != "" {
		edits := append([]edit{{Op: "describe", Content: text, Support: support}}, *reply.Patch.Edits...)
		edits = edits[:min(len(edits), p.budget())]
		reply.Patch.Edits = &edits
	}
}
