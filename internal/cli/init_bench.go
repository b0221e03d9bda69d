package cli

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/benchmark/folder"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
)

// notInName are the characters that the name of a benchmark has none of.
var notInName = pattern.New(`[^a-z0-9-]+`)

// writeBenchmark writes the folder of a benchmark to change.
func writeBenchmark(a *app, to newFolder) error {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(filepath.Base(to.dir)), "-"), "-")
	if name == "" {
		name = "my-bench"
	}
	files := map[string][]byte{
		folder.FileAbout: []byte(fmt.Sprintf(newBenchAbout, name)),
		"config.yaml":    []byte(newBenchConfig),
		"SKILL.md":       []byte("# " + name + "\n\nAnswer each question from its text.\n"),
		filepath.Join(folder.DirFixture, "rows", "rows.jsonl"): newBenchRows(),
		filepath.Join(folder.DirFixture, folder.FileWorld):     []byte(newBenchWorld),
	}
	names, err := to.write(files)
	if err != nil {
		return err
	}
	if a.json {
		return printJSON(a.Out, map[string]any{"dir": to.dir, "files": names})
	}
	for _, name := range names {
		fmt.Fprintf(a.Out, "wrote %s\n", filepath.Join(to.name, name))
	}
	shown := filepath.ToSlash(to.name)
	if !folder.IsPath(shown) {
		shown = "./" + shown
	}
	_, err = fmt.Fprintf(a.Out, "next: skillopt bench run %s --fixture\n", shellWord(shown))
	return err
}

// newBenchAbout is benchmark.yaml of a new folder, whose name it gets.
const newBenchAbout = `name: %s
title: a benchmark of my own
licence: say under which terms the rows may be used
# source:                                 # what skillopt bench fetch gets; without it, prepare --from DIR
#   - {hf: OWNER/NAME, revision: COMMIT, files: "data/*.parquet", to: rows}
task:                                     # one row becomes one task: {{NAME}} is a field of the row
  rows: rows/**
  id: "{{key}}"
  type: "{{topic}}"
  prompt: "{{text}}\n\nQuestion: {{question}}\n\nPut the answer between <answer> and </answer>."
  gold: {field: answers, split: json}
splits: {ratio: "2:1:2"}
config: config.yaml
skill: SKILL.md
`

const newBenchConfig = `# What the benchmark sets beneath the config of its user.
tasks:
  extract: {tag: answer, fallback: last_line}
  checks:
    - {type: equals, normalize: squad, weight: 0, required: true}
    - {type: f1, threshold: 0, required: false}
`

const newBenchWorld = `# A SIMULATED WORLD for the rows of the fixture: docs/environments.md describes the keys.
name: my-bench
kinds:
  - {type: date, match: 'sent on (?P<date>\d+ [A-Z][a-z]+ \d+)', answer: date}
rules:
  - id: iso-date
    task_types: [date]
    states: [yyyy-mm-dd]
    say: [Write dates as YYYY-MM-DD.]
    transform: {kind: date, from: [2 January 2006], to: "2006-01-02"}
`

// newBenchRows returns the rows of the fixture of a new folder: letters and when they were sent.
func newBenchRows() []byte {
	months := []string{"January", "March", "April", "June", "August", "October", "November"}
	var b strings.Builder
	for i := range 30 {
		month := i % len(months)
		day, year := 1+(i*7)%28, 2001+i
		fmt.Fprintf(&b, `{"key":"letter-%02d","topic":"letters","text":"Letter %d was sent on %d %s %d.","question":"When was it sent?","answers":"[\"%d-%02d-%02d\"]"}`+"\n",
			i+1, i+1, day, months[month], year, year, []int{1, 3, 4, 6, 8, 10, 11}[month], day)
	}
	return []byte(b.String())
}
