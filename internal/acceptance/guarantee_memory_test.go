package acceptance_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// harmfulRules are texts by which the world's harmful rules are told.
func harmfulRules() []string { return []string{"courtesy", "small letters"} }

// harmProposed counts the proposals of analysts of a run that state a harmful rule.
func harmProposed(t *testing.T, dir string) (n int) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "steps", "*", "patches.json"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v, %d files of patches", err, len(paths))
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var batches []struct {
			Analyses []struct {
				Patch struct {
					Edits []skill.Edit `json:"edits"`
				} `json:"patch"`
			} `json:"analyses"`
		}
		if err := json.Unmarshal(data, &batches); err != nil {
			t.Fatal(err)
		}
		for _, b := range batches {
			for _, a := range b.Analyses {
				for _, e := range a.Patch.Edits {
					for _, words := range harmfulRules() {
						if e.Op != skill.Delete && strings.Contains(strings.ToLower(e.Content), words) {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

// memoryConfig is a run whose optimizer often draws wrong conclusions.
func memoryConfig(seed int64) config.Config {
	cfg := worldConfig("http://in.process/v1")
	cfg.Train.Epochs, cfg.Train.Seed, cfg.Eval.Test = 3, seed, false
	cfg.Train.SecondTry = false // of a bundle whose part is accepted nothing is remembered as rejected
	return cfg
}

// What other runs tried in vain is proposed less often by an optimizer that heeds what it is
// told, and a run without a memory is what it was.
func TestAMemoryOfOtherRunsIsHeeded(t *testing.T) {
	t.Parallel()
	var without, with int
	var dirs []string
	for seed := range int64(3) {
		dir := filepath.Join(t.TempDir(), "run")
		trained(t, memoryConfig(seed), dir, inProcess(t)...)
		dirs = append(dirs, dir)
	}
	memory, err := skillopt.MemoryOf(dirs...)
	if err != nil || len(memory.Rejected) == 0 || memory.MetaSkill == "" {
		t.Fatalf("%v: %d entries, meta skill %q", err, len(memory.Rejected), memory.MetaSkill)
	}
	for seed := int64(10); seed < 16; seed++ {
		plain, told := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
		trained(t, memoryConfig(seed), plain, inProcess(t)...)
		trained(t, memoryConfig(seed), told, append(inProcess(t), skillopt.WithMemory(memory))...)
		without, with = without+harmProposed(t, plain), with+harmProposed(t, told)
	}
	if without < 6 || with*2 > without {
		t.Errorf("harmful rules were proposed %d times without a memory, %d times with it", without, with)
	}
}

// A memory is part of what a run is: by its content, and not at all where it says nothing.
func TestAMemoryIsPartOfTheIdentity(t *testing.T) {
	t.Parallel()
	cfg := memoryConfig(1)
	cfg.Train.Epochs = 1
	cfg.Run.Dir = t.TempDir()
	identity := func(cfg config.Config, opts ...skillopt.Option) map[string]string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "run")
		trained(t, cfg, dir, append(inProcess(t), opts...)...)
		data, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
		if err != nil {
			t.Fatal(err)
		}
		var m struct {
			Identity map[string]string `json:"identity"`
		}
		if err := json.Unmarshal(data, &m); err != nil {
			t.Fatal(err)
		}
		return m.Identity
	}
	memory := skillopt.Memory{Rejected: []result.Rejected{{Edits: []result.RejectedEdit{{Op: skill.Append, Content: "- Begin with a courtesy."}}}}}
	none, given := identity(cfg), identity(cfg, skillopt.WithMemory(memory))
	if diff := cmp.Diff(none, identity(cfg, skillopt.WithMemory(skillopt.Memory{}))); diff != "" {
		t.Errorf("an empty memory is not as none (-none +empty):\n%s", diff)
	}
	if none["memory"] != "" || len(given["memory"]) < 16 {
		t.Errorf("without: %v, with: %v", none, given)
	}
}

// A run with a memory that met its ceilings, as often as it did, goes on to the same bytes; with
// another memory it is refused.
func TestARunWithAMemoryGoesOn(t *testing.T) {
	t.Parallel()
	memory := skillopt.Memory{MetaSkill: "Prefer short rules.", Rejected: []result.Rejected{{
		Edits:      []result.RejectedEdit{{Op: skill.Append, Content: "- Begin with a courtesy."}},
		Difference: &result.ScoreDifference{Metric: "hard", Mean: -0.2, N: 10},
	}}}
	cfg := worldConfig("http://in.process/v1")
	whole := filepath.Join(t.TempDir(), "run")
	sum := trained(t, cfg, whole, append(inProcess(t), skillopt.WithMemory(memory))...)
	dir := filepath.Join(t.TempDir(), "run")
	stops := 0
	for share := int64(3); share <= 9; share += 2 {
		calls := sum.Calls.Total * share / 10
		cfg.Limits.Calls = &calls
		_, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithMemory(memory), skillopt.WithRunDir(dir), skillopt.WithKeepOpen())...)
		if kind(err) == skillopt.OverBudget {
			stops++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	cfg.Limits.Calls = nil
	other := memory
	other.MetaSkill = "Prefer long rules."
	if _, err := skillopt.Train(t.Context(), cfg, append(inProcess(t), skillopt.WithMemory(other), skillopt.WithRunDir(dir))...); kind(err) != skillopt.BadInput || !strings.Contains(err.Error(), "memory: was") {
		t.Errorf("with another memory: %v", err)
	}
	trained(t, cfg, dir, inProcess(t)...) // it has recorded its memory
	sameResults(t, results(t, whole), dir)
	if stops < 2 {
		t.Errorf("the run was stopped %d times: that proves little", stops)
	}
}
