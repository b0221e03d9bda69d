package acceptance_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// steered puts characters that steer into every longer text of a JSON value.
func steered(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key := range v {
			v[key] = steered(v[key])
		}
	case []any:
		for i := range v {
			v[i] = steered(v[i])
		}
	case string:
		if strings.Contains(v, " ") {
			return strings.ReplaceAll(v, " ", " \x1b[2J\u009b\u202e\x00\u200b")
		}
	}
	return v
}

// TestSkillsArePlain: whatever characters the optimizer writes, in every mode, no
// skill of the run holds one that steers, and the bytes of the seed skill stay.
func TestSkillsArePlain(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"patch", "rewrite_from_suggestions", "full_rewrite_minibatch"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			world := sim.New(simulated(t))
			optimizer := modeltest.Func(func(ctx context.Context, req model.Request) (model.Response, error) {
				resp, err := world.Generate(ctx, req)
				var v any
				if err == nil && json.Unmarshal([]byte(resp.Text), &v) == nil {
					text, err := json.Marshal(steered(v))
					if err != nil {
						return resp, err
					}
					resp.Text = string(text)
				}
				return resp, err
			})
			cfg := worldConfig("http://unused.invalid/v1")
			cfg.Edits.Mode, cfg.Gate.Mode, cfg.Train.Epochs = mode, "observe", 2
			cfg.Train.BatchSize = 20 // two steps: whole skills with such characters are refused, in a third that would end the run
			cfg.Reflect.SkillAware = mode == "patch"
			cfg.SlowUpdate.Enabled, cfg.MetaSkill.Enabled = true, true
			dir := filepath.Join(t.TempDir(), "run")
			_, err := skillopt.Train(t.Context(), cfg, skillopt.WithRunDir(dir),
				skillopt.WithClient(model.Optimizer, "steers", optimizer), skillopt.WithClient(model.Target, "world", world))
			if err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "skills", "*.md"))
			if err != nil || len(files) < 2 {
				t.Fatalf("%d skills: %v", len(files), err)
			}
			changed := false
			for _, name := range append(files, filepath.Join(dir, "best_skill.md")) {
				data, err := os.ReadFile(name)
				if err != nil {
					t.Fatal(err)
				}
				changed = changed || strings.Contains(string(data), "[2J")
				if at := strings.IndexFunc(string(data), wording.Steers); at >= 0 {
					t.Errorf("%s: %q", filepath.Base(name), data[at:min(len(data), at+30)])
				}
			}
			if !changed {
				t.Error("nothing that the optimizer wrote is in a skill")
			}
		})
	}
}
