package acceptance_test

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/seed-f4525e22/skillopt/config"
)

var recordGolden = flag.Bool("record-strict", false, "write testdata/strict anew: only when what strict mode does is meant to change")

// The strict and the observing gate do what they did before there was another:
// history, best skill and every version of it are compared byte by byte with
// what was recorded then.
func TestStrictIsAsItWas(t *testing.T) {
	t.Parallel()
	quickstart := func(t *testing.T, set string) config.Config {
		cfg, err := config.LoadFile("../../examples/quickstart", set, "train.batch_size=20", "reflect.minibatch_size=8", "reflect.view=task", "edits.budget=4", "gate.fresh=false", "train.warm=off", "edits.tidy=false", "edits.examples=off", "train.stop.perfect=false", "train.stop.patience=0", "train.second_try=false")
		if err != nil {
			t.Fatal(err)
		}
		return cfg
	}
	for name, run := range map[string]func(t *testing.T, dir string){
		"quickstart": func(t *testing.T, dir string) { trained(t, quickstart(t, "gate.mode=strict"), dir) },
		"observe":    func(t *testing.T, dir string) { trained(t, quickstart(t, "gate.mode=observe"), dir) },
		"guarantee": func(t *testing.T, dir string) {
			cfg := worldConfig("http://in.process/v1")
			cfg.Edits.Examples = 0
			cfg.Gate.Mode, cfg.Gate.Fresh, cfg.Reflect.View, cfg.Edits.Tidy, cfg.Train.Stop, cfg.Train.SecondTry = "strict", false, "task", false, config.Stop{}, false
			trained(t, cfg, dir, inProcess(t)...)
		},
		"mixed": func(t *testing.T, dir string) {
			cfg := worldConfig("http://in.process/v1")
			cfg.Edits.Examples = 0
			cfg.Gate.Mode, cfg.Gate.Metric, cfg.SlowUpdate.Gated, cfg.Train.Seed = "strict", "mixed", false, 5
			cfg.Gate.Fresh, cfg.Reflect.View, cfg.Edits.Tidy, cfg.Train.Stop, cfg.Train.SecondTry = false, "task", false, config.Stop{}, false
			trained(t, cfg, dir, inProcess(t)...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "run")
			run(t, dir)
			got, golden := joined(results(t, dir)), filepath.Join("testdata", "strict", name+".golden")
			if *recordGolden {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the run differs (-want +got):\n%s", cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")))
			}
		})
	}
}

// joined writes files one after the other, by name.
func joined(files map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "-- %s --\n%s\n", name, files[name])
	}
	return b.String()
}
