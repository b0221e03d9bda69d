package skillopt_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// The quick start of skillrl in this library: config, environment, two clients,
// trainer, train, summary. docs/from-skillrl.md maps the other names.
func Example_fromSkillrl() {
	outRoot, err := os.MkdirTemp("", "skillopt-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(outRoot)

	// SkillOptConfig(num_epochs=2, batch_size=4, edit_budget=4, out_root=...)
	cfg := config.Default()
	cfg.Train.Epochs = 2
	cfg.Train.BatchSize = 4
	cfg.Edits.Budget = 4
	cfg.Gate.Mode = "strict" // the rule there: any higher mean on the selection split
	cfg.Run.Dir = outRoot

	// SimpleQAEnv(train_items, val_items, test_items): questions with accepted
	// answers, scored by exact match and F1. These checks are the default.
	items := []task.Task{
		{ID: "q1", Prompt: "the first name of Lovelace", Gold: []string{"ADA"}, Split: task.Train},
		{ID: "q2", Prompt: "the first name of Franklin", Gold: []string{"BEN"}, Split: task.Train},
		{ID: "q3", Prompt: "the first name of Hopper", Gold: []string{"GRACE"}, Split: task.Train},
		{ID: "q4", Prompt: "the first name of Turing", Gold: []string{"ALAN"}, Split: task.Train},
		{ID: "q5", Prompt: "the first name of Liskov", Gold: []string{"BARBARA"}, Split: task.Selection},
		{ID: "q6", Prompt: "the first name of Knuth", Gold: []string{"DON"}, Split: task.Test},
	}
	// The default ignores the case of letters. These tasks are about it.
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "$gold"}}

	// OpenAIChatClient("gpt-5-mini"), OpenAIChatClient("gpt-5"): a provider and
	// a model in the config. The key is read from OPENAI_API_KEY.
	cfg.Models.Target.Provider, cfg.Models.Target.Model = "openai", "gpt-5-mini"
	cfg.Models.Optimizer.Provider, cfg.Models.Optimizer.Model = "openai", "gpt-5"

	// So that this example runs anywhere, scripts answer in their place.
	scripts := []skillopt.Option{
		skillopt.WithClient(model.Target, "script-v1", almanac{}),
		skillopt.WithClient(model.Optimizer, "script-v1", scriptedOptimizer{}),
	}

	// SkillOptTrainer(config, env, optimizer, target, initial_skill).train().
	// The same call again resumes a run that was not finished.
	opts := append(scripts, skillopt.WithTasks(items), skillopt.WithSkill(skill.New("# Answer with the name alone\n")))
	summary, err := skillopt.Train(context.Background(), cfg, opts...)
	if err != nil {
		log.Fatal(err)
	}

	// summary["test_hard"]: a pointer, nil when it was not measured.
	fmt.Println("test_hard:", summary.Test.Best.Hard)
	fmt.Println("before:", summary.Test.Seed.Hard)
	rel, err := filepath.Rel(outRoot, summary.RunDir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("out:", rel)
	// Output:
	// test_hard: 1
	// before: 0
	// out: run-1
}

// almanac is a target that knows the answers and writes them as its skill says.
type almanac struct{}

func (almanac) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	known := map[string]string{
		"the first name of Lovelace": "Ada", "the first name of Franklin": "Ben", "the first name of Hopper": "Grace",
		"the first name of Turing": "Alan", "the first name of Liskov": "Barbara", "the first name of Knuth": "Don",
	}
	last := len(req.Messages) - 1
	req.Messages = append(req.Messages[:last:last], model.Message{Role: model.User, Content: known[req.Messages[last].Content]})
	return scriptedTarget{}.Generate(ctx, req)
}
