package sim

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// prompt is what an optimizer model is asked. The simulated optimizer knows
// nothing else.
type prompt struct {
	stage  string
	system string
	user   string
}

// Headings by which the parts of a prompt are found.
const (
	headSkill       = "## Current Skill"
	headFailed      = "## Failed Trajectories"
	headContrasts   = "## Tasks With Their Best And Worst Answers"
	headSuccessful  = "## Successful Trajectories"
	headMerge       = "## Patches to merge"
	headMergeFinal  = "## Two pre-merged patches"
	headSuggestions = "## Selected Revise Suggestions"
	headRanking     = "## Edits to rank"
	headGuidance    = "## Previous Slow Update Guidance"
	headComparison  = "## Comparison"
	headProposed    = "## Proposed Items"
	headNotes       = "## Execution Notes"
	headTold        = "## What The Agent Is Told Besides The Skill And The Task"
	headFared       = "## What The Change Won And Lost"
	headCandidates  = "## Candidates"
	headRun         = "## Earlier Steps Of This Run"
	headMemory      = "## Optimizer Memory"
	headFiles       = "## Files Of The Skill"
	headLoads       = "## When Agents Load The Skill"
	headPart        = "## The Part That May Change"
	headOthers      = "## What Other Runs Tried In Vain"
)

// headings returns every heading that can follow another.
func headings() []string {
	return []string{
		headSkill, headFailed, headContrasts, headSuccessful, headMerge, headMergeFinal, headSuggestions,
		headRanking, headGuidance, headComparison, headProposed, headNotes, headTold, headFared, headCandidates, headRun, headMemory, headFiles, headLoads, headPart, headOthers,
	}
}

// section returns the text under a heading, up to the next heading of this
// file, without the blank lines that set it off.
func (p prompt) section(heading string) string {
	text := "\n" + p.user
	i := strings.Index(text, "\n"+heading+"\n")
	if i < 0 {
		return ""
	}
	text = text[i+len(heading)+2:]
	end := len(text)
	for _, h := range headings() {
		if j := strings.Index(text, "\n"+h+"\n"); j >= 0 {
			end = min(end, j)
		}
	}
	text = strings.TrimPrefix(text[:end], "\n")
	return strings.TrimSuffix(text, "\n")
}

// form is the shape in which a prompt wants changes.
type form int

const (
	asEdits form = iota
	asSuggestions
	asCandidates
)

func (p prompt) form() form {
	switch {
	case strings.Contains(p.system, "skill_candidates"):
		return asCandidates
	case strings.Contains(p.system, "revise_suggestions"):
		return asSuggestions
	}
	return asEdits
}

var budgetText = pattern.New(`\bbudget=(\d+)`)

// budget returns the number of changes that the prompt allows, 4 if it does not say.
func (p prompt) budget() int {
	m := budgetText.FindStringSubmatch(p.user)
	if m == nil {
		return 4
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 4
	}
	return n
}

// id represents the prompt in draws.
func (p prompt) id() uint64 { return mix(digest(p.system), digest(p.user)) }

// objects returns every JSON object in a text that has the key, in order. A
// brace that opens no such object is passed over.
func objects(text, key string) []map[string]any {
	var out []map[string]any
	for i := strings.IndexByte(text, '{'); i >= 0; {
		d := json.NewDecoder(strings.NewReader(text[i:]))
		d.UseNumber()
		var o map[string]any
		skip := 1
		if d.Decode(&o) == nil {
			if _, ok := o[key]; ok {
				out = append(out, o)
				skip = int(d.InputOffset())
			}
		}
		next := strings.IndexByte(text[i+skip:], '{')
		if next < 0 {
			break
		}
		i += skip + next
	}
	return out
}

// example is a trajectory as an analyst reads it.
type example struct {
	question string
	talk     string // the conversation: what actions gave
	got      string
	want     []string // accepted answers
}

// Headings that begin a trajectory: of a minibatch, and of the comparison that a
// slow update shows.
const (
	inMinibatch  = "\n### "
	inComparison = "\n#### "
)

// examples reads the trajectories of a section. One without an answer teaches
// nothing and is left out.
func (w *World) examples(section, heading string) []example {
	var out []example
	blocks := strings.Split("\n"+section, heading)
	for _, block := range blocks[1:] {
		got, ok := w.findAnswer(block)
		if !ok {
			continue
		}
		out = append(out, example{question: question(block), talk: block, got: got, want: references(block)})
	}
	return out
}

// Headings of the two answers to a task.
const (
	headBest  = "\n#### Best answer\n"
	headWorst = "\n#### Worst answer\n"
)

// worstAnswers leaves of each task its worst answer alone: the best one shows what is expected,
// which the reference says as well.
func worstAnswers(section string) string {
	var b strings.Builder
	blocks := strings.SplitAfter("\n"+section, "\n### ")
	for _, block := range blocks {
		task, answers, _ := strings.Cut(block, headBest)
		b.WriteString(task)
		if _, worst, ok := strings.Cut(answers, headWorst); ok {
			b.WriteString(headWorst + worst)
		}
	}
	return strings.TrimPrefix(b.String(), "\n")
}

// findAnswer returns the answer that was scored, or else the last one that was given.
func (w *World) findAnswer(block string) (string, bool) {
	for _, line := range []pattern.Pattern{scoredLine, nowLine} {
		if m := line.FindStringSubmatch(block); m != nil {
			return strings.ReplaceAll(strings.TrimSpace(m[1]), `\n`, "\n"), true
		}
	}
	return w.readSlot(block)
}

var (
	scoredLine = pattern.New(`(?m)^- scored answer: (.*)$`)
	nowLine    = pattern.New(`(?m)^Now: hard=\S+ soft=\S+ answer=(.*?)(?: \([^()]*\))?$`)
	// A field of a trajectory: a label at the beginning of a line, behind it or
	// below it the text, to the next label.
	blockLabel     = pattern.New(`^(Task|Feedback|Conversation|Reference(?: \([^)\n]*\))?|Expected):[ \t]*`) // at the start of a line
	turnMark       = pattern.New(`(?m)^\[[a-z]+\] `)
	talkLabel      = pattern.New(`^Conversation`)
	taskLabel      = pattern.New(`^Task`)
	hiddenLabel    = pattern.New(`^Reference \(`) // the product's own wording, which no task uses
	referenceLabel = pattern.New(`^(Reference|Expected)`)
)

// fenceLine matches a line that fences a text: what is between two such lines is taken as it is.
var fenceLine = pattern.New("^(?:```+|=====[0-9a-f]{16})\n?$")

// field returns the text behind the first label that the pattern accepts: what is
// between fences, or all up to the next label.
func field(block string, label pattern.Pattern) string {
	var text strings.Builder
	found, fence, labelled := false, "", false
	for line := range strings.Lines(block) {
		below := labelled // the line above is a label and nothing else
		labelled = strings.HasSuffix(line, ":\n")
		if fence != "" {
			if strings.TrimSuffix(line, "\n") == fence {
				if fence = ""; found {
					break
				}
			} else if found {
				text.WriteString(line)
			}
			continue
		}
		if below && fenceLine.MatchString(line) {
			fence = strings.TrimSuffix(line, "\n")
			continue
		}
		m := blockLabel.FindStringSubmatchIndex(line)
		switch {
		case m != nil && found:
			return strings.TrimSpace(text.String())
		case m != nil && label.MatchString(line[m[2]:m[3]]):
			found = true
			text.WriteString(line[m[1]:])
		case found:
			text.WriteString(line)
		}
	}
	return strings.TrimSpace(text.String())
}

// question returns the task of a trajectory: its own field, the first turn of the conversation, or
// what is before the reference.
func question(block string) string {
	if text := field(block, taskLabel); text != "" {
		return text
	}
	_, talk, ok := strings.Cut(block, "\nConversation:\n")
	if !ok {
		text, _, _ := strings.Cut(block, "\nReference (")
		return text
	}
	if fenceLine.MatchString(firstLine(talk)) {
		talk = field(block, talkLabel)
	}
	first := turnMark.FindStringIndex(talk)
	if first == nil {
		return talk
	}
	talk = talk[first[1]:]
	if next := turnMark.FindStringIndex(talk); next != nil {
		talk = talk[:next[0]]
	}
	return strings.TrimSpace(talk)
}

// references returns the answers that a trajectory names as expected. The text
// may be a JSON list, have one answer a line, or several with bars between; which
// of these is meant cannot be known, so every reading is accepted.
func references(block string) []string {
	text := field(block, hiddenLabel)
	if text == "" {
		text = field(block, referenceLabel)
	}
	text = strings.TrimPrefix(text, "expected: ")
	if text == "" {
		return nil
	}
	var list []string
	if json.Unmarshal([]byte(text), &list) == nil {
		return list
	}
	out := []string{text}
	for line := range strings.SplitSeq(text, "\n") {
		out = append(out, strings.TrimSpace(strings.TrimPrefix(line, "- ")))
	}
	for part := range strings.SplitSeq(firstLine(text), " | ") {
		out = append(out, strings.TrimSpace(part))
	}
	return out
}
