package skillopt_test

import (
	"context"
	"fmt"
	"log"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// guessing is an environment of several turns: the agent guesses a number and
// is told whether it is too high or too low.
type guessing struct{ turns int }

var _ task.Env = guessing{}

func (g guessing) Rollout(ctx context.Context, t task.Task, s skill.Skill, client model.Client) (trajectory.Outcome, error) {
	secret, err := strconv.Atoi(t.Gold[0])
	if err != nil {
		return trajectory.Outcome{}, fmt.Errorf("task %s: %w", t.ID, err)
	}
	out := trajectory.Outcome{Status: score.OK, Question: "Guess a number from 1 to 100."}
	messages := []model.Message{{Role: model.System, Content: s.Text()}, {Role: model.User, Content: out.Question}}
	for range g.turns {
		resp, err := client.Generate(ctx, model.Request{Messages: messages})
		if err != nil {
			return out, err // nothing was measured, which is no score of 0
		}
		guess, err := strconv.Atoi(strings.TrimSpace(resp.Text))
		hint := "too low"
		switch {
		case err != nil:
			hint = "not a number"
		case guess == secret:
			out.Hard, out.Soft, out.Answer = 1, 1, resp.Text
			return out, nil
		case guess > secret:
			hint = "too high"
		}
		out.Trajectory = append(out.Trajectory, trajectory.Turn{Kind: trajectory.EnvStep, Action: resp.Text, Observation: hint})
		messages = append(messages, model.Message{Role: model.Assistant, Content: resp.Text}, model.Message{Role: model.User, Content: hint})
	}
	out.Status = score.AgentError // a limit of the task itself: a score of 0
	out.FailReason = fmt.Sprintf("turns: no right guess in %d turns", g.turns)
	out.Feedback = "halve the range that is left with every guess"
	return out, nil
}

// player guesses by halving when the skill says so, else by counting up.
type player struct{}

func (player) Generate(_ context.Context, req model.Request) (model.Response, error) {
	halve := strings.Contains(req.Messages[0].Content, "halve")
	low, high, guess := 1, 100, 0
	for i := 2; ; i += 2 {
		guess = low
		if halve {
			guess = (low + high) / 2
		}
		if i >= len(req.Messages) {
			break
		}
		if req.Messages[i+1].Content == "too high" {
			high = guess - 1
		} else {
			low = guess + 1
		}
	}
	return model.Response{Text: strconv.Itoa(guess), Finish: model.FinishStop}, nil
}

// An environment of your own. Each episode is one durable step: when the run
// is resumed, a finished episode is not carried out again.
func ExampleWithEnv() {
	secrets := []int{11, 25, 37, 42, 58, 63, 77, 90}
	tasks := make([]task.Task, len(secrets))
	for i, n := range secrets {
		tasks[i] = task.Task{ID: fmt.Sprintf("secret-%d", i), Gold: []string{strconv.Itoa(n)}, Split: task.Test}
	}
	dir, remove := newFolder()
	defer remove()

	for i, text := range []string{"# Guessing\n", "# Guessing\n\n- Always halve the range that is left.\n"} {
		result, err := skillopt.Evaluate(context.Background(), config.Default(), "test",
			skillopt.WithTasks(tasks),
			skillopt.WithEnv("guessing-v1", guessing{turns: 7}),
			skillopt.WithClient(model.Target, "player-v1", player{}),
			skillopt.WithSkill(text),
			skillopt.WithRunDir(filepath.Join(dir, strconv.Itoa(i))))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(result.Splits["test"].Hard)
	}
	// Output:
	// 0
	// 1
}
