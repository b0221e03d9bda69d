package skillopt_test

import (
	"context"
	"fmt"
	"log"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/task"
)

// A skill, tasks with their answers, models: train, and print the result.
func Example() {
	server, dir, stop := startServer() // so that the example runs anywhere
	defer stop()

	cfg := config.Default()
	cfg.Models.Target = config.Compatible(server, "gpt-5-mini").WithKey("sk-of-the-target") // or config.OpenAI("gpt-5-mini")
	cfg.Models.Optimizer = config.Compatible(server, "gpt-5").WithKey("sk-of-the-optimizer")
	cfg.Run.Dir = dir
	var tasks []task.Task
	for n := range 60 {
		tasks = append(tasks, task.New(fmt.Sprintf("What do %d lamps cost, at 12 EUR each?", n), fmt.Sprintf("EUR %d.00", 12*n)))
	}
	sum, err := skillopt.Train(context.Background(), cfg, skillopt.WithSkill("# Prices\n"), skillopt.WithTasks(tasks))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sum.Certificate)
	fmt.Println(len(sum.History.Steps)-1, "step:", sum.Sentence())
	fmt.Print(sum.Skill.Text())
	// Output:
	// certified at the 4 % level (exact McNemar test, p 0.000244): better than the seed skill by at least 52.9 points; measured +100.0 points on 12 test tasks
	// 1 step: 0.00 -> 1.00 on 12 tasks never used before, certified: at least +0.53
	// # Prices
	//
	// - Write amounts as EUR 12.00.
}
