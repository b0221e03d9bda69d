// Command env-go trains a skill on an environment written in Go. It is an
// example: it knows nothing that the library does not offer to any program.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
)

func main() {
	dir := "examples/env-go"
	if len(os.Args) > 1 {
		dir = os.Args[1]
	}
	if err := train(context.Background(), dir, "runs/env-go"); err != nil {
		fmt.Fprintln(os.Stderr, "env-go:", err)
		os.Exit(1)
	}
}

// train trains the skill of the config in dir and prints the result.
func train(ctx context.Context, dir, runDir string) error {
	cfg, err := config.LoadFile(dir)
	if err != nil {
		return err
	}
	summary, err := skillopt.Train(ctx, cfg,
		skillopt.WithEnv("stockroom-v1", stockroom{turns: 4}), // change the name when the environment changes
		skillopt.WithClient(model.Target, "clerk-v1", clerk{}),
		skillopt.WithRunDir(runDir),
	)
	if err != nil {
		return err
	}
	fmt.Printf("%d steps, %d accepted\n", summary.Steps, summary.Accepted)
	fmt.Printf("test: %.2f with the first skill, %.2f with the best\n", summary.Test.Seed.Hard, summary.Test.Best.Hard)
	fmt.Println("best skill:", summary.RunDir+"/best_skill.md")
	return nil
}
