package acceptance_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/testing/openenvtest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// A skill is trained on 30 tasks of a real server of OpenEnv, and tested on others.
func TestSkillsAreTrainedOnOpenEnv(t *testing.T) {
	t.Parallel()
	address := openenvtest.Start(t, 1) // as servers of OpenEnv start by default
	dir := filepath.Join("testdata", "openenv")
	cfg := config.Default()
	cfg.Skill = filepath.Join(dir, "SKILL.md")
	cfg.Env.URL, cfg.Env.Reward, cfg.Env.Turns = address, []float64{-1, 1}, 4
	cfg.Train.Epochs, cfg.Train.BatchSize = 1, 10
	for _, m := range []*config.Model{&cfg.Models.Target, &cfg.Models.Optimizer} {
		m.Provider, m.World = "sim", filepath.Join(dir, "world.yaml")
	}
	var tasks []task.Task
	for n := range 60 {
		kind, gold := "barge", "berth "+[]string{"north", "south", "east", "west"}[n/2%4]+", over"
		if n%2 == 1 {
			kind, gold = "tanker", "pilot; "+gold
		}
		split := task.Train
		if n >= 30 {
			split = []task.Split{task.Selection, task.Test}[n/2%2]
		}
		tasks = append(tasks, task.Task{ID: fmt.Sprint("ship", n), Type: kind, Prompt: "Bring the ship in.", Gold: []string{gold}, Split: split, Data: map[string]any{"reset": map[string]any{"ship": n}}})
	}
	sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithTasks(tasks), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
	if err != nil {
		t.Fatal(err)
	}
	if sum.Test.Best.Hard < sum.Test.Seed.Hard+0.3 {
		t.Errorf("test scores: seed %+v, best %+v", sum.Test.Seed, sum.Test.Best)
	}
	t.Logf("%.2f -> %.2f on %d test tasks", sum.Test.Seed.Hard, sum.Test.Best.Hard, sum.Test.Seed.N)
}

// onServer evaluates one task on a server, and returns the score and what the target was sent.
func onServer(t *testing.T, run string, change func(*config.Env), more ...skillopt.Option) (hard, soft float64, sent string, err error) {
	t.Helper()
	cfg := config.Default()
	cfg.Env.Turns = 2
	change(&cfg.Env)
	ask := modelBy(func(req model.Request) model.Response {
		for _, m := range req.Messages {
			sent += m.Content
		}
		return model.Response{Text: "<action>go</action>", Finish: model.FinishStop}
	})
	tasks := []task.Task{{ID: "a", Prompt: "Play.", Split: task.Test}}
	out, err := skillopt.Evaluate(t.Context(), cfg, "test", append(more, skillopt.WithTasks(tasks), skillopt.WithSkill("# S\n"),
		skillopt.WithClient(model.Target, "t", ask), skillopt.WithRunDir(run))...)
	if err != nil {
		return 0, 0, sent, err
	}
	return out.Splits["test"].Hard, out.Splits["test"].Soft, sent, nil
}

// What a server says in its metadata is in no message and nowhere in the run, and a run is replayed without the server.
func TestMetadataOfServersStayOut(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(openenvtest.Fake{Text: "Go or stay?", Reward: "1"})
	defer server.Close()
	here := func(e *config.Env) { e.URL = server.URL }
	run := filepath.Join(t.TempDir(), "run")
	hard, _, sent, err := onServer(t, run, here)
	if err != nil || hard != 1 || !strings.Contains(sent, "Go or stay?") {
		t.Fatalf("hard %v, %v, sent: %s", hard, err, sent)
	}
	if strings.Contains(sent+readTree(t, run), openenvtest.Secret) {
		t.Error("the metadata were passed on")
	}
	tape := exported(t, run)
	server.Close()
	if hard, _, _, err := onServer(t, filepath.Join(t.TempDir(), "again"), here, skillopt.WithReplay(tape)); err != nil || hard != 1 {
		t.Errorf("replayed: hard %v, %v", hard, err)
	}
}

// Rewards that are none, and servers that are not there, are not measured: no score is 0 because of them.
func TestRewardsThatAreNoneAreNotMeasured(t *testing.T) {
	t.Parallel()
	for reward, want := range map[string]string{
		"null": "the episode ended without a score", "NaN": "is not JSON of OpenEnv", `"1"`: `reward: found "1", want a number or null`, "1e999": "reward: found 1e999",
	} {
		t.Run(reward, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(openenvtest.Fake{Reward: reward})
			t.Cleanup(server.Close)
			_, _, _, err := onServer(t, filepath.Join(t.TempDir(), "run"), func(e *config.Env) { e.URL = server.URL })
			if err == nil || kind(err) != skillopt.Unmeasurable || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	_, _, _, err := onServer(t, filepath.Join(t.TempDir(), "run"), func(e *config.Env) { e.URL = "ws://127.0.0.1:1" })
	if err == nil || kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "start the server, or correct the address") {
		t.Error(err)
	}
}

// serverEffects are the keys of servers.
func serverEffects() map[string]effect {
	seen := func(t *testing.T, f openenvtest.Fake, reward []float64) (soft float64, sent string) {
		t.Helper()
		server := httptest.NewServer(f)
		defer server.Close()
		_, soft, sent, err := onServer(t, filepath.Join(t.TempDir(), "run"), func(e *config.Env) { e.URL, e.Reward = server.URL, reward })
		if err != nil {
			t.Fatal(err)
		}
		return soft, sent
	}
	return map[string]effect{
		"env.url": {test: func(t *testing.T) {
			_, one := seen(t, openenvtest.Fake{Text: "One.", Reward: "1"}, []float64{0, 1})
			_, two := seen(t, openenvtest.Fake{Text: "Two.", Reward: "1"}, []float64{0, 1})
			if !strings.Contains(one, "One.") || !strings.Contains(two, "Two.") {
				t.Error(one, two)
			}
		}},
		"env.reward": {test: func(t *testing.T) {
			one, _ := seen(t, openenvtest.Fake{Reward: "0.5"}, []float64{0, 1})
			two, _ := seen(t, openenvtest.Fake{Reward: "0.5"}, []float64{0, 2})
			if one != 0.5 || two != 0.25 {
				t.Error(one, two)
			}
		}},
	}
}

// Doctor connects to a server and carries out tasks there, and says what is wrong with one that is none.
func TestDoctorTriesServers(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(openenvtest.Fake{Text: "Go or stay?", Reward: "0.25"})
	t.Cleanup(server.Close)
	for url, want := range map[string]string{
		server.URL:              "world env.url: a server of OpenEnv, schema ",
		server.URL + "/nothing": "world env.url: env.url " + server.URL + "/nothing: GET /schema answered 404 Not Found",
	} {
		cfg := config.Default()
		cfg.Env.URL, cfg.Env.Turns, cfg.Tasks.Path, cfg.Skill = url, 2, filepath.Join(t.TempDir(), "tasks.jsonl"), filepath.Join("testdata", "openenv", "SKILL.md")
		if err := os.WriteFile(cfg.Tasks.Path, []byte(`{"id": "a", "prompt": "Play.", "split": "train"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		ask := modelBy(func(model.Request) model.Response {
			return model.Response{Text: "<action>go</action>", Finish: model.FinishStop}
		})
		found := ""
		for _, row := range skillopt.Examine(t.Context(), cfg, skillopt.WithClient(model.Target, "t", ask)).Rows {
			found += row.Name + ": " + row.Detail + "\n"
		}
		if !strings.Contains(found, want) || strings.Contains(found, "a replay") || url == server.URL && !strings.Contains(found, "the world gave 0.25 of 1") {
			t.Errorf("%s: %s", url, found)
		}
	}
}
