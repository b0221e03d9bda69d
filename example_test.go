package skillopt_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// A run from a config file, in a simulated world: no key and no network.
func ExampleTrain() {
	cfg, err := config.LoadFile("examples/quickstart", "train.epochs=2")
	if err != nil {
		log.Fatal(err)
	}
	dir, remove := newFolder()
	defer remove()

	summary, err := skillopt.Train(context.Background(), cfg, skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		log.Fatal(err)
	}
	gain := summary.Test.Best.Hard - summary.Test.Seed.Hard
	fmt.Println(summary.Status, summary.Steps, "steps")
	fmt.Println("better on tasks never trained on:", gain > 0.4)
	fmt.Println("the skill has grown:", strings.Count(summary.Skill.Text(), "\n- ") > 3)
	// Output:
	// completed 8 steps
	// better on tasks never trained on: true
	// the skill has grown: true
}

// Evaluate scores one skill, here one that was written by hand.
func ExampleEvaluate() {
	cfg, err := config.LoadFile("examples/quickstart")
	if err != nil {
		log.Fatal(err)
	}
	dir, remove := newFolder()
	defer remove()

	const s = "# Answering from documents\n\n- Put EUR and a space before amounts of money.\n- Give every date in ISO form, with the year first.\n"
	result, err := skillopt.Evaluate(context.Background(), cfg, "test", skillopt.WithSkill(s), skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("tasks:", result.Splits["test"].N)
	fmt.Println("dates:", result.Splits["test"].ByType["due_date"].Hard)
	// Output:
	// tasks: 40
	// dates: 1
}

// Compare asks until it knows which of two skills is better.
func ExampleCompare() {
	cfg, err := config.LoadFile("examples/quickstart")
	if err != nil {
		log.Fatal(err)
	}
	dir, remove := newFolder()
	defer remove()

	old := skill.New("# Answering from documents\n")
	better := skill.New("# Answering from documents\n\n- Put EUR and a space before amounts of money.\n- Round totals half up to full currency units.\n- Give every date in ISO form, with the year first.\n- Give times on the 24-hour clock, without am or pm.\n- State weights in whole grams, followed by g.\n")
	result, err := skillopt.Compare(context.Background(), cfg, old, better, skillopt.WithPasses(20), skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("the new one is", result.Verdict)
	// Output:
	// the new one is better
}

// Edits are applied one after the other, and each gets a report. Front matter
// and protected regions never change.
func Example_applyEdits() {
	s := skill.New("---\nname: desk\n---\n# Answers\n\n- Write dates as MM/DD/YYYY.\n")
	edits := []skill.Edit{
		{Op: skill.Replace, Target: "MM/DD/YYYY", Content: "YYYY-MM-DD"},
		{Op: skill.Append, Content: "- Round totals to two decimals."},
		{Op: skill.Delete, Target: "name: desk"},
		{Op: skill.Replace, Target: "no such text", Content: "x"},
	}
	out, reports := skill.Apply(s, edits, skill.ApplyOptions{Budget: 4})
	for _, r := range reports {
		fmt.Println(r.Index, r.Status)
	}
	fmt.Print(out.Text())
	// Output:
	// 1 applied_replace
	// 2 applied_append
	// 3 skipped_protected_region
	// 4 skipped_replace_target_not_found
	// ---
	// name: desk
	// ---
	// # Answers
	//
	// - Write dates as YYYY-MM-DD.
	//
	// - Round totals to two decimals.
}

// Checks are data. Hard says whether an answer is right, soft how much of it
// is, and feedback tells analysts what was missing.
func Example_scoreAnswers() {
	suite, err := check.Compile([]any{
		map[string]any{"type": "number", "value": "$gold", "abs": 0.5, "unit": "ignore", "weight": 3},
		map[string]any{"type": "contains", "value": "EUR", "feedback": "totals name their currency"},
	}, check.Options{})
	if err != nil {
		log.Fatal(err)
	}
	t := task.Task{ID: "total-1", Prompt: "What is the total?", Gold: []string{"120.00 EUR"}}
	for _, answer := range []string{"EUR 120.2", "120.00", "EUR 99"} {
		s := suite.Score(answer, t)
		fmt.Printf("%s: hard %v, soft %v\n", answer, s.Hard, s.Soft)
		if s.Feedback != "" {
			fmt.Println(" ", s.Feedback)
		}
	}
	// Output:
	// EUR 120.2: hard 1, soft 1
	// 120.00: hard 0, soft 0.75
	//   contains: does not contain "EUR"; got "120.00" - totals name their currency
	// EUR 99: hard 0, soft 0.25
	//   number: got "EUR 99", expected "120.00 EUR": off by -21
}

// Loading tasks finds what would spoil a run, with the line where it stands.
func Example_loadTasks() {
	dir, remove := newFolder()
	defer remove()
	path := filepath.Join(dir, "tasks.jsonl")
	text := `{"id": "a", "prompt": "2 + 2?", "gold": "4"}
{"id": "b", "prompt": "2 + 3?"}
{"id": "a", "prompt": "3 + 3?", "gold": "6"}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}

	_, err := task.Load(path, task.Rules{})
	fmt.Println(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	// Output:
	// tasks.jsonl:2: task "b": neither gold nor checks: without them no answer can be scored
	// tasks.jsonl:3: task "a": duplicate id: it is already taken (tasks.jsonl:1)
}
