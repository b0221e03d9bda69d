package skill

import "strings"

// The examples region holds worked examples: tasks with their answers. It is written as a
// whole, and edits do not change it.

// Markers of the examples region.
const (
	ExamplesStart = "<!-- EXAMPLES_START -->"
	ExamplesEnd   = "<!-- EXAMPLES_END -->"
)

const (
	examplesTitle = "## Worked examples"
	exampleTitle  = "### Example"
	exampleTask   = "Task:"
	exampleAnswer = "Answer:"
)

var examples = kind{start: ExamplesStart, end: ExamplesEnd}

// Example is a task with its answer.
type Example struct {
	Task   string `json:"task"`
	Answer string `json:"answer"`
}

// Text returns the example as it is in the region, with line ends of one character.
func (e Example) Text() string {
	return exampleTitle + lf + lf + e.question() + plainPart(e.Answer)
}

// question returns what is in the region of the task alone.
func (e Example) question() string {
	return exampleTask + lf + plainPart(e.Task) + lf + lf + exampleAnswer + lf
}

// plainPart returns a text as the region can hold it: no marker, and no line that begins an example.
func plainPart(text string) string {
	text = StripMarkers(Plain(WithLineEnd(trim(text), lf)))
	return strings.ReplaceAll(text, exampleTitle, strings.TrimLeft(exampleTitle, "# "))
}

// WithExamples returns a copy whose examples region holds the examples, which is none if
// there are none. A region that is there stays in its place and nothing around it changes.
func (s Skill) WithExamples(all []Example) Skill {
	if len(all) == 0 {
		if !examples.present(s.main) {
			return s
		}
		return s.WithText(examples.strip(s.main) + LineEnd(s.main))
	}
	parts := []string{ExamplesStart + lf + examplesTitle}
	for _, e := range all {
		parts = append(parts, e.Text())
	}
	block := strings.Join(parts, lf+lf) + lf + ExamplesEnd
	return s.WithText(setRegion(s.main, examples, WithLineEnd(block, LineEnd(s.main))))
}

// Shows returns the function that reports whether a text shows a task as a worked example.
func Shows(text string) func(task string) bool {
	inner := WithLineEnd(examples.inner(text), lf)
	return func(task string) bool {
		return inner != "" && strings.Contains(inner, exampleTitle+lf+lf+Example{Task: task}.question())
	}
}

// Examples returns the worked examples that a text shows.
func Examples(text string) (out []Example) {
	for _, at := range ExampleRanges(text) {
		_, of, _ := strings.Cut(WithLineEnd(text[at[0]:at[1]], lf), exampleTask+lf)
		task, answer, found := strings.Cut(of, lf+lf+exampleAnswer+lf)
		if found {
			out = append(out, Example{task, answer})
		}
	}
	return out
}

// ExampleRanges returns the half-open byte ranges of the single examples in text: each with
// its title, and without empty lines at its end.
func ExampleRanges(text string) (out [][2]int) {
	for _, region := range examples.regions(text, frontMatterEnd(text)) {
		end := region.to - len(ExamplesEnd)
		at := indexFrom(text[:end], exampleTitle, region.from)
		for at >= 0 {
			next := indexFrom(text[:end], exampleTitle, at+len(exampleTitle))
			to := end
			if next >= 0 {
				to = next
			}
			out = append(out, [2]int{at, at + len(trimEnd(text[at:to]))})
			at = next
		}
	}
	return out
}
