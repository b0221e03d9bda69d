package draft

import (
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Why trigger tasks fall, apart from the reasons that they share with others.
const (
	NamesSkill        Reason = "name the skill"
	QuotesDescription Reason = "quote the description of the skill"
)

// triggerLinter decides which prompts become trigger tasks, one after the other.
type triggerLinter struct {
	name      string     // of the skill, in lower case; "" if it has none
	sentences [][]string // of its description, as words; the last one is all of it
	kept      [][]uint32
}

// newTriggerLinter makes a linter that knows the prompts that there are already.
func newTriggerLinter(m Material, known []string) *triggerLinter {
	// What is wrong with the front matter, other than that it can hold no description, is no
	// business of a draft.
	doc, _ := skill.Parse(strings.Join(m.Files[0].Lines, "\n"))
	l := &triggerLinter{name: strings.ToLower(doc.Name)}
	for _, sentence := range append(strings.FieldsFunc(doc.Description, endsSentence), doc.Description) {
		l.sentences = append(l.sentences, words(sentence))
	}
	for _, prompt := range known {
		l.kept = append(l.kept, similar.Words(prompt))
	}
	return l
}

func endsSentence(r rune) bool { return strings.ContainsRune(".;:!?\n", r) }

// lint returns why a prompt makes no trigger task; "" if it does.
func (l *triggerLinter) lint(prompt string) (Reason, string) {
	if l.namesSkill(prompt) {
		return NamesSkill, l.name
	}
	asked := words(prompt)
	for _, sentence := range l.sentences {
		run := longestRun(asked, sentence)
		if run > QuotedWords || run >= minQuote && float64(run) >= quotedShare*float64(len(sentence)) {
			return QuotesDescription, strings.Join(sentence, " ")
		}
	}
	whole := similar.Words(prompt)
	if slices.ContainsFunc(l.kept, func(other []uint32) bool { return similar.Near(whole, other) }) {
		return AlmostEqual, ""
	}
	l.kept = append(l.kept, whole)
	return "", ""
}

// namesSkill reports whether a prompt names the skill: its file, a name of several words in any
// spelling, or one of a single word where it is meant as a name. Such a word by itself may
// well be what the user speaks of.
func (l *triggerLinter) namesSkill(prompt string) bool {
	asked := strings.ToLower(prompt)
	if strings.Contains(asked, strings.ToLower(skill.Main)) {
		return true
	}
	if l.name == "" {
		return false
	}
	if strings.Contains(l.name, "-") && strings.Contains(asked, l.name) { // which the lint of tasks warns of
		return true
	}
	name := words(separateWords(l.name))
	if len(name) > 1 && holds(words(separateWords(asked)), name) {
		return true
	}
	for _, form := range []string{"/" + l.name, "$" + l.name, "@" + l.name, "`" + l.name + "`", l.name + " skill", "skill " + l.name} {
		if strings.Contains(asked, form) {
			return true
		}
	}
	return false
}

// separateWords returns a name as words.
func separateWords(text string) string { return strings.NewReplacer("-", " ", "_", " ").Replace(text) }
