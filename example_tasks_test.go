package skillopt_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// The models of these examples are scripts. The target writes names in capital
// letters once its skill says so, which nothing in the tasks tells it.
type scriptedTarget struct{}

func (scriptedTarget) Generate(_ context.Context, req model.Request) (model.Response, error) {
	name := req.Messages[len(req.Messages)-1].Content
	for _, m := range req.Messages {
		if m.Role == model.System && strings.Contains(m.Content, "capital letters") {
			name = strings.ToUpper(name)
		}
	}
	return model.Response{Text: name, Finish: model.FinishStop}, nil
}

// The optimizer is told by Tags.Stage what it is asked for; a model would see
// it from the prompt. It answers with the JSON that the prompts ask for.
type scriptedOptimizer struct{}

func (scriptedOptimizer) Generate(_ context.Context, req model.Request) (model.Response, error) {
	text := `{"patch": {"reasoning": "nothing to add", "edits": []}}`
	if req.Tags.Stage == model.StageAnalystError {
		text = `{"patch": {"reasoning": "gold answers are upper case", "edits": [
			{"op": "append", "content": "- Write names in capital letters."}]}}`
	}
	return model.Response{Text: text, Finish: model.FinishStop}, nil
}

// names returns tasks that ask for a name and expect it in capital letters.
func names(split task.Split, words ...string) []task.Task {
	tasks := make([]task.Task, len(words))
	for i, w := range words {
		tasks[i] = task.Task{ID: w, Prompt: w, Gold: []string{strings.ToUpper(w)}, Split: split}
	}
	return tasks
}

// smallRun is a configuration for a handful of tasks.
func smallRun() config.Config {
	cfg := config.Default()
	cfg.Train.Epochs = 1
	cfg.Train.BatchSize = 4
	cfg.Tasks.Checks = []any{check.Equals("$gold")}
	return cfg
}

// Tasks of your own instead of a file, and clients of your own instead of a
// provider. The names "v1" stand for them in the identity of the run.
func ExampleWithTasks() {
	tasks := names(task.Train, "ada", "ben", "cleo", "dora", "emil", "fay", "gus", "hana")
	tasks = append(tasks, names(task.Selection, "ines", "jon", "kit")...)
	tasks = append(tasks, names(task.Test, "lea", "max", "nora")...)
	dir, remove := newFolder()
	defer remove()

	summary, err := skillopt.Train(context.Background(), smallRun(),
		skillopt.WithTasks(tasks),
		skillopt.WithSkill("# Names\n"),
		skillopt.WithClient(model.Target, "v1", scriptedTarget{}),
		skillopt.WithClient(model.Optimizer, "v1", scriptedOptimizer{}),
		skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("test: seed %.1f, best %.1f\n", summary.Test.Seed.Hard, summary.Test.Best.Hard)
	fmt.Print(summary.Skill.Text())
	// Output:
	// test: seed 0.0, best 1.0
	// # Names
	//
	// - Write names in capital letters.
}

// Events tell what happens while it happens, in order and one at a time. The
// run waits for the sink.
func ExampleWithEvents() {
	tasks := names(task.Train, "ada", "ben", "cleo", "dora", "emil", "fay", "gus", "hana")
	tasks = append(tasks, names(task.Selection, "ines", "jon", "kit")...)
	tasks = append(tasks, names(task.Test, "lea", "max", "nora")...)
	dir, remove := newFolder()
	defer remove()

	show := func(e event.Event) {
		switch e := e.(type) {
		case event.StepDone:
			fmt.Printf("step %d: %s\n", e.Step, e.Action)
		case event.TestDone:
			fmt.Printf("test %s: %.1f on %d tasks\n", e.Arm, e.Hard, e.N)
		case event.RunDone:
			fmt.Println(e.Status)
		}
	}
	_, err := skillopt.Train(context.Background(), smallRun(),
		skillopt.WithTasks(tasks), skillopt.WithEvents(show),
		skillopt.WithClient(model.Target, "v1", scriptedTarget{}),
		skillopt.WithClient(model.Optimizer, "v1", scriptedOptimizer{}),
		skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// step 0: baseline
	// step 1: accept_new_best
	// test seed: 0.0 on 3 tasks
	// test best: 1.0 on 3 tasks
	// test final: 1.0 on 3 tasks
	// completed
}

// A scorer of your own instead of checks. It gets the answer that was
// extracted from the reply, and must be pure.
func ExampleWithScorer() {
	half := func(answer string, t task.Task) score.Score {
		switch {
		case answer == t.Gold[0]:
			return score.Score{Hard: 1, Soft: 1}
		case strings.EqualFold(answer, t.Gold[0]):
			return score.Score{Soft: 0.5, Reason: "case: the name is right, its letters are not", Feedback: "only the case of the letters is wrong"}
		}
		return score.Score{Reason: "name: another name was expected"}
	}
	dir, remove := newFolder()
	defer remove()

	result, err := skillopt.Evaluate(context.Background(), smallRun(), "test",
		skillopt.WithTasks(names(task.Test, "lea", "max", "nora")),
		skillopt.WithScorer("half-v1", half),
		skillopt.WithClient(model.Target, "v1", scriptedTarget{}),
		skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Splits["test"].Hard, result.Splits["test"].Soft)
	// Output: 0 0.5
}

// One stage alone: analysts read what was done with a skill, and propose edits. Nothing is applied.
func ExampleReflect() {
	dir, remove := newFolder()
	defer remove()

	var outcomes []trajectory.Outcome
	for _, name := range []string{"ada", "ben", "cleo"} {
		outcomes = append(outcomes, trajectory.Outcome{
			ID: name, Status: score.OK, Question: name, Answer: name, Reference: "expected: " + strings.ToUpper(name), FailReason: "equals: another text was expected",
		})
	}
	found, err := skillopt.Reflect(context.Background(), smallRun(), outcomes,
		skillopt.WithSkill("# Names\n"), skillopt.WithClient(model.Optimizer, "v1", scriptedOptimizer{}), skillopt.WithRunDir(filepath.Join(dir, "run")))
	if err != nil {
		log.Fatal(err)
	}
	for _, p := range found.Patches {
		fmt.Printf("%s: %s %q\n", p.Reasoning, p.Edits[0].Op, p.Edits[0].Content)
	}
	// Output:
	// gold answers are upper case: append "- Write names in capital letters."
}
