package acceptance_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// inTurns is an environment that asks its model in three turns.
type inTurns struct{}

func (inTurns) Rollout(ctx context.Context, t task.Task, _ skill.Skill, client model.Client) (trajectory.Outcome, error) {
	messages := []model.Message{{Role: model.System, Content: "The key is sk-proj-Zz81kQp0aRt5wLm2xVb7Nn93."}}
	last := ""
	for i := range 3 {
		messages = append(messages, model.Message{Role: model.User, Content: fmt.Sprintf("%s, question %d", t.Prompt, i)})
		resp, err := client.Generate(ctx, model.Request{Messages: messages})
		if err != nil {
			return trajectory.Outcome{}, err
		}
		last, messages = resp.Text, append(messages, resp.Message())
	}
	hard := float64(len(last) % 2)
	return trajectory.Outcome{ID: t.ID, Type: t.Type, Status: score.OK, Hard: hard, Soft: hard, Answer: last}, nil
}

// asked trains with inTurns until a number of calls, 0 = to its end.
func asked(t *testing.T, dir, episodes string, calls int64) {
	t.Helper()
	cfg := worldConfig("http://unused.invalid/v1")
	cfg.Train.Epochs, cfg.Record.Episodes = 1, episodes
	if calls > 0 {
		cfg.Limits.Calls = &calls
	}
	target := modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
		text := req.Messages[len(req.Messages)-1].Content
		return model.Response{Text: "re " + text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 2}}, nil
	})
	_, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir), skillopt.WithTasks(envTasks(30)), skillopt.WithEnv("in turns", inTurns{}), skillopt.WithAcceptedSeed(),
		skillopt.WithClient(model.Target, "t", target), skillopt.WithClient(model.Optimizer, "world", sim.New(simulated(t))))
	if err != nil && calls == 0 {
		t.Fatal(err)
	}
}

// conversations counts the attempts at episodes of a run, and those whose words are kept.
func conversations(t *testing.T, dir string) (tries, kept int) {
	t.Helper()
	r, err := record.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for _, task := range envTasks(30) {
		found, err := r.Task(t.Context(), task.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range found {
			if e.Key == "" {
				continue
			}
			list, err := r.Tries(t.Context(), task.ID, e.Key)
			if err != nil {
				t.Fatal(err)
			}
			for _, try := range list {
				tries++
				if !try.HasConversation() {
					continue
				}
				kept++
				if len(try.Calls) == 3 && (len(try.Messages) != 7 || try.Messages[0].Parts[0].Text != "The key is [redacted]." || try.Calls[2].Said.Damage != "") {
					t.Errorf("%s: %+v", e.Key, try)
				}
			}
		}
	}
	return tries, kept
}

// What is said inside episodes is kept with full and not with usage, and a run comes to the
// same bytes with either, also when it is stopped and goes on with the other.
func TestWordsOfEpisodesChangeNothing(t *testing.T) {
	t.Parallel()
	wordsOfEpisodes(t)
}

func wordsOfEpisodes(t *testing.T) {
	full, usage, mixed := t.TempDir(), t.TempDir(), t.TempDir()
	asked(t, full, config.EpisodesFull, 0)
	asked(t, usage, config.EpisodesUsage, 0)
	asked(t, mixed, config.EpisodesUsage, 100)
	asked(t, mixed, config.EpisodesFull, 0)
	for name, dir := range map[string]string{"usage": usage, "usage, then full": mixed} {
		if diff := cmp.Diff(results(t, full), results(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if tries, kept := conversations(t, full); tries == 0 || kept != tries {
		t.Errorf("full: %d of %d are kept", kept, tries)
	}
	if tries, kept := conversations(t, usage); tries == 0 || kept != 0 {
		t.Errorf("usage: %d of %d are kept", kept, tries)
	}
	if tries, kept := conversations(t, mixed); kept == 0 || kept >= tries {
		t.Errorf("usage, then full: %d of %d are kept", kept, tries)
	}
}
