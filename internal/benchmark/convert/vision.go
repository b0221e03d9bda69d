package convert

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/mcq"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/pytext"
)

// BabyVision makes a task of a row of BabyVision.
func BabyVision(r Row, o Options) (Task, error) {
	choices, err := babyChoices(first(r, "options", "choices", "choiceOptions"))
	if err != nil {
		return Task{}, err
	}
	t := Task{ID: orElse(text(r, "taskId", "id"), place(o)), Hidden: text(r, "coT", "cot"), Fields: map[string]any{"question": text(r, "question", "query")}}
	kind := orElse(text(r, "type", "taskType"), "unknown")
	t.Type = orElse(text(r, "subtype", "subType"), kind)
	image, ok := picture(first(r, "image", "image_path", "image_file", "img"), itemName(t.ID)+".png")
	switch {
	case !ok:
		return t, skip("it has no picture")
	case t.Fields["question"] == "":
		return t, skip("it has no question")
	}
	if image.Content == nil {
		image.Name = ""
		image, _ = picture(image.Path, "")
	}
	t.Images = []Image{image}
	t.Fields["kind"], t.Fields["answer_type"] = kind, "blank"
	if babyKind(r, choices) == "blank" {
		blanks := texts(first(r, "blankAns"))
		if len(blanks) == 0 {
			return t, skip("it has no answer")
		}
		t.Gold = []string{strings.Join(blanks, " | ")} // all of them together
		return t, nil
	}
	right, ok := babyRight(r["choiceAns"], choices)
	if !ok {
		return t, skip("its right choice is none of the choices")
	}
	t.Fields["answer_type"], t.Gold = "choice", []string{right.Label}
	choiceFields(t.Fields, choices)
	return t, nil
}

func babyChoices(v any) (choices []mcq.Choice, err error) {
	switch v := v.(type) {
	case []any:
		for i, item := range v {
			c, err := listedChoice(item, i, "text", "content", "option")
			if err != nil {
				return nil, err
			}
			if c.Text != "" {
				choices = append(choices, c)
			}
		}
	case map[string]any:
		for i, label := range slices.Sorted(maps.Keys(v)) {
			if t := trim(pytext.Text(v[label])); t != "" {
				choices = append(choices, mcq.Choice{Label: orElse(trim(label), mcq.Letter(i)), Text: t})
			}
		}
	}
	return choices, nil
}

// babyKind distinguishes a question with choices from one with a blank.
func babyKind(r Row, choices []mcq.Choice) string {
	switch strings.ToLower(text(r, "ansType")) {
	case "choice", "multiple_choice", "mcq", "option":
		return "choice"
	case "blank", "open", "open_ended", "fill_blank", "short_answer":
		return "blank"
	}
	given := r["choiceAns"]
	if list, ok := given.([]any); len(choices) > 0 || given != nil && given != "" && !(ok && len(list) == 0) {
		return "choice"
	}
	return "blank"
}

// babyRight finds the right choice by an object, a place from 0 or else from 1, a label or a
// text.
func babyRight(v any, choices []mcq.Choice) (mcq.Choice, bool) {
	if m, ok := v.(map[string]any); ok {
		label, t := strings.ToUpper(text(m, "label")), text(m, "text")
		for _, c := range choices {
			if label != "" && strings.ToUpper(trim(c.Label)) == label || t != "" && c.Text == t {
				return c, true
			}
		}
	}
	if i, ok := wholeNumber(v); ok {
		if i >= 0 && i < len(choices) {
			return choices[i], true
		}
		if i >= 1 && i <= len(choices) {
			return choices[i-1], true
		}
	}
	if !pytext.Truthy(v) {
		return mcq.Choice{}, false
	}
	t := trim(pytext.Text(v))
	for _, c := range choices {
		if strings.ToUpper(trim(c.Label)) == mcq.Normal(t) || c.Text == t {
			return c, true
		}
	}
	return mcq.Choice{}, false
}

// wholeNumber reads a number without a fraction, and true and false as 1 and 0.
func wholeNumber(v any) (int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case json.Number:
		i, err := strconv.Atoi(v.String())
		return i, err == nil
	case int:
		return v, true
	case int64:
		return int(v), true
	}
	return 0, false
}

// space is white space as Python sees it.
const space = `[\s\v\x1c-\x1f\x85\p{Z}]`

var (
	choiceBlock = pattern.New(`(?i)Choices?` + space + `*:` + space + `*`)
	choiceMark  = pattern.New(`([A-G])` + space + `*[:.)]` + space + `*`)
	nextMark    = pattern.New(space + `+[A-G]` + space + `*[:.)]`)
)

// SplitChoices takes the choices off a question that lists them behind "Choices:".
func SplitChoices(question string) (stem string, choices []mcq.Choice) {
	question = trim(question)
	found := choiceBlock.Regexp().FindAllStringIndex(question, -1)
	at := slices.IndexFunc(found, func(m []int) bool { return !endsInWord(question[:m[0]]) })
	if at < 0 {
		return question, nil
	}
	m := found[at]
	stem = trim(question[:m[0]])
	block := trim(question[m[1]:])
	for {
		mark := choiceMark.FindStringSubmatchIndex(block)
		if mark == nil {
			break
		}
		label, rest := block[mark[2]:mark[3]], block[mark[1]:]
		end := len(rest)
		if next := nextMark.FindStringIndex(rest); next != nil {
			end = next[0]
		}
		if t := squeeze(rest[:end]); t != "" {
			choices = append(choices, mcq.Choice{Label: label, Text: t})
		}
		block = rest[end:]
	}
	return orElse(stem, question), choices
}

func endsInWord(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return s != "" && (unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_')
}

// MathVerse makes a task of a row of MathVerse.
func MathVerse(r Row, o Options) (Task, error) {
	version := text(r, "problem_version")
	if o.Version != "" && version != "" && version != o.Version {
		return Task{}, skip("its problem_version is %s", version)
	}
	answer, kind := text(r, "answer"), text(r, "question_type")
	image, ok := picture(r["image"], "")
	if !ok || answer == "" {
		return Task{}, skip("it has no picture or no answer")
	}
	question := text(r, "question")
	stem, choices := SplitChoices(question)
	meta, _ := r["metadata"].(map[string]any)
	isChoice := kind == "multi-choice" || len(choices) > 0
	if kind == "" {
		kind = map[bool]string{true: "multi-choice", false: "free-form"}[isChoice]
	}
	id := orElse(text(r, "problem_index"), orElse(text(r, "sample_index"), place(o)))
	t := Task{
		ID: id, Gold: []string{answer}, Images: []Image{image},
		Type:   orElse(text(meta, "subfield"), orElse(text(meta, "subject"), orElse(kind, "mathverse"))),
		Hidden: text(r, "text_dominant_question"),
		Fields: map[string]any{"question": question, "stem": stem, "question_type": kind},
	}
	if t.Images[0].Content != nil && t.Images[0].Name == "image" {
		t.Images[0].Name = itemName(id) + ".png"
	}
	set(t.Fields, map[string]string{
		"problem_version": orElse(version, o.Version), "problem_index": text(r, "problem_index"), "source": text(meta, "source"), "subject": text(meta, "subject"),
	})
	if isChoice {
		t.Gold = []string{mcq.Normal(answer)}
		choiceFields(t.Fields, withRight(choices, mcq.Normal(answer)))
	}
	return t, nil
}

// withRight returns the choices of a question and the right one with them, at least A to D where
// the question names none.
func withRight(choices []mcq.Choice, right string) []mcq.Choice {
	const usual = 4
	if len(choices) == 0 {
		for i := range usual {
			choices = append(choices, mcq.Choice{Label: mcq.Letter(i)})
		}
	}
	if !slices.ContainsFunc(choices, func(c mcq.Choice) bool { return c.Label == right }) && len(right) == 1 {
		choices = append(choices, mcq.Choice{Label: right})
	}
	return choices
}

var (
	optionMark  = pattern.New(`^\(?([A-Z])\)`)
	placeholder = pattern.New(`\{image#(\d+)\}`)
)

// MMRB makes a task of a row of MMRB.
func MMRB(r Row, o Options) (Task, error) {
	question, answer := squeeze(raw(r, "question")), squeeze(raw(r, "answer"))
	list, _ := r["image_paths"].([]any)
	if question == "" || answer == "" || len(list) == 0 {
		return Task{}, skip("it has no question, no answer or no pictures")
	}
	t := Task{Gold: []string{answer}}
	for _, v := range list {
		if image, ok := picture(v, ""); ok {
			t.Images = append(t.Images, image)
		}
	}
	if len(t.Images) == 0 {
		return t, skip("it has no pictures")
	}
	subtask := squeeze(orElse(raw(r, "subtask"), "unknown"))
	index, ok := r["index"]
	if !ok {
		index = o.Index
	}
	source := squeeze(orElse(raw(r, "source"), "unknown"))
	t.ID, t.Type = fmt.Sprintf("%s:%s:%s", source, subtask, pytext.Text(index)), subtask
	t.Fields = map[string]any{"question": PlaceImages(question, len(t.Images)), "source": source}
	t.Hidden = formatReasoning(r["reasoning_steps"])
	options, _ := first(r, "options").([]any)
	var choices []mcq.Choice
	for _, option := range options {
		if s := squeeze(orElse(pytextOrEmpty(option), "")); s != "" {
			choices = append(choices, option1(s, len(choices)))
		}
	}
	choiceFields(t.Fields, choices)
	return t, nil
}

func pytextOrEmpty(v any) string {
	if !pytext.Truthy(v) {
		return ""
	}
	return pytext.Text(v)
}

// option1 reads an option such as "(A) a cat".
func option1(s string, i int) mcq.Choice {
	if m := optionMark.FindStringSubmatch(s); m != nil {
		return mcq.Choice{Label: m[1], Text: strings.Trim(s[len(m[0]):], " .:-")}
	}
	return mcq.Choice{Label: mcq.Letter(min(i, mcq.MaxChoices-1)), Text: s}
}

// PlaceImages returns a question whose places of pictures, {image#1} and so on, are those of n
// pictures. A place without a picture becomes text, and pictures without a place follow at the end.
func PlaceImages(question string, n int) string {
	used := map[int]bool{}
	text := placeholder.Regexp().ReplaceAllStringFunc(question, func(m string) string {
		i, err := strconv.Atoi(m[len("{image#") : len(m)-1])
		if err != nil || i < 1 || i > n {
			return "[Image #" + m[len("{image#"):len(m)-1] + "]"
		}
		used[i] = true
		return fmt.Sprintf("{image#%d}", i)
	})
	for i := 1; i <= n; i++ {
		if !used[i] {
			text += fmt.Sprintf("\n[Additional Image #%d] {image#%d}", i, i)
		}
	}
	return text
}

// formatReasoning writes up to three ways to the answer, step by step.
func formatReasoning(v any) string {
	const most = 3
	paths, _ := v.([]any)
	var out []string
	for i, p := range paths[:min(len(paths), most)] {
		steps, ok := p.([]any)
		if !ok {
			steps = []any{p}
		}
		lines := []string{fmt.Sprintf("Reasoning path %d:", i+1)}
		for j, s := range steps {
			if line := step(s); line != "" {
				lines = append(lines, fmt.Sprintf("%d. %s", j+1, line))
			}
		}
		if len(lines) > 1 {
			out = append(out, strings.Join(lines, "\n"))
		}
	}
	return strings.Join(out, "\n\n")
}

func step(v any) string {
	m, ok := v.(map[string]any)
	if !ok {
		return squeeze(pytextOrEmpty(v))
	}
	line := squeeze(raw(m, "reasoning step", "reasoning_step", "step"))
	if kind := squeeze(raw(m, "reasoning type", "reasoning_type")); kind != "" {
		line = "[" + kind + "] " + line
	}
	if why := squeeze(raw(m, "rationale")); why != "" {
		line += " (" + why + ")"
	}
	return line
}
