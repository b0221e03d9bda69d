package benchmark_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/benchmark"
)

// TestGamesAreTasks checks that games are found where bench fetch lays them and where others keep them, that those of the
// published splits alone are brought, and that a list of games does without them.
func TestGamesAreTasks(t *testing.T) {
	t.Parallel()
	own := map[string]string{
		"benchmark.yaml": "name: mine\nlicence: none\ntask: {convert: alfworld, each: '**/game.tw-pddl'}\nsplits: {ids: ids}\n",
		"ids/train.txt":  "train/look_at_obj_in_light-Cup-None-Lamp-1/trial_1\n",
		"ids/test.txt":   "valid_unseen/pick_and_place_simple-Cup-None-Desk-2/trial_2\n",
	}
	const one, two = "json_2.1.1/train/look_at_obj_in_light-Cup-None-Lamp-1/trial_1/game.tw-pddl", "json_2.1.1/valid_unseen/pick_and_place_simple-Cup-None-Desk-2/trial_2/game.tw-pddl"
	const other = "json_2.1.1/train/other-Cup-None-Lamp-9/trial_9/game.tw-pddl"
	brought := map[string]string{one: "{}", two: "{}"}
	rows := func(id, game string) string { return `[{"id": "` + id + `", "gamefile": "` + game + `"}]` }
	for name, c := range map[string]struct{ data, want map[string]string }{
		"fetched":     {map[string]string{"docs/" + one: "{}", "docs/" + two: "{}", "docs/" + other: "{}"}, brought},
		"as it is":    {map[string]string{one: "{}", two: "{}", other: "{}"}, brought},
		"list":        {map[string]string{"train/items.json": rows("train:0", one), "val/items.json": rows("val:0", other), "test/items.json": rows("test:0", two)}, map[string]string{}},
		"list beside": {map[string]string{"train/items.json": rows("train:0", one), "val/items.json": rows("val:0", other), "test/items.json": rows("test:0", two), "docs/" + two: "{}"}, map[string]string{two: "{}"}},
	} {
		dir, report, err := prepared(t, own, c.data, func(*benchmark.Options) {})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, list(t, filepath.Join(dir, "docs"))); diff != "" || report.Tasks["train"] != 1 || report.Tasks["test"] != 1 {
			t.Errorf("%s: %v %s", name, report.Tasks, diff)
		}
	}
	out := map[string]string{"train/items.json": rows("train:0", "../../etc/game.tw-pddl"), "val/items.json": rows("val:0", other), "test/items.json": rows("test:0", two)}
	if _, report, err := prepared(t, own, out, nil); err != nil || len(report.LeftOut) != 1 {
		t.Errorf("a path that leads out: %v, %v", report.LeftOut, err)
	}
}
