package acceptance_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// A search whose endpoint repeats the key that it was sent leaves the key nowhere in the run, and is replayed without
// the endpoint and without the key.
func TestReplayedSearchNeedsNoEndpoint(t *testing.T) {
	t.Parallel()
	const key = "tea-7f3a90c1d2e4"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"results": [{"title": "Tea", "snippet": "7 cups, `+r.Header.Get("Authorization")+`"}]}`)
	}))
	defer server.Close()
	evaluate := func(variables map[string]string, run string, more ...skillopt.Option) (hard float64, err error) {
		l, err := config.Load(config.Options{Dir: t.TempDir(), Lookup: func(name string) (string, bool) { v, ok := variables[name]; return v, ok }})
		if err != nil {
			t.Fatal(err)
		}
		e := &l.Config.Env
		e.World, e.Mode, e.Turns, e.Search = "corpus", "search", 3, config.EnvSearch{URL: server.URL, APIKeyEnv: "TEA"}
		l.Config.Tasks.Extract, l.Config.Tasks.Checks = map[string]any{"tag": "answer"}, []any{map[string]any{"type": "equals", "value": "$gold"}}
		ask := modelBy(func(req model.Request) model.Response {
			text := `<search_queries>["tea"]</search_queries>`
			if strings.Contains(req.Messages[len(req.Messages)-1].Content, "7 cups") {
				text = "<answer>7</answer>"
			}
			return model.Response{Text: text, Finish: model.FinishStop}
		})
		tasks := []task.Task{{ID: "a", Prompt: "How many cups?", Gold: []string{"7"}, Split: task.Test}}
		out, err := skillopt.Evaluate(t.Context(), l.Config, "test", append(more, skillopt.WithLoaded(l), skillopt.WithTasks(tasks), skillopt.WithSkill("# S\n"),
			skillopt.WithClient(model.Target, "t", ask), skillopt.WithRunDir(run))...)
		if err != nil {
			return 0, err
		}
		return out.Splits["test"].Hard, nil
	}
	run := filepath.Join(t.TempDir(), "run")
	if hard, err := evaluate(map[string]string{"TEA": "Bearer " + key}, run); err != nil || hard != 1 {
		t.Fatalf("hard %v, %v", hard, err)
	}
	if strings.Contains(readTree(t, run), key) {
		t.Error("the key is in the run")
	}
	tape := exported(t, run)
	server.Close()
	if hard, err := evaluate(nil, filepath.Join(t.TempDir(), "again"), skillopt.WithReplay(tape)); err != nil || hard != 1 {
		t.Errorf("replayed: hard %v, %v", hard, err)
	}
}
