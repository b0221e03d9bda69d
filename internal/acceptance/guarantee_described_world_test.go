package acceptance_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/task"
)

// subjects are what the prompts of simulated worlds are about.
func subjects() []string {
	return strings.Fields("invoices receipts statements remittances ledgers vouchers refunds deposits expenses payrolls mortgages dividends premiums royalties tariffs")
}

// describedWorld is a simulated world in which agents go by the words of a description, with
// a skill for ten subjects whose description names three of them, and its trigger tasks:
// a share of those that should not load the skill names one of the subjects as well.
func describedWorld(t *testing.T, seed uint64, flip float64) (config.Config, []task.Task) {
	t.Helper()
	draw, about, dir := rand.New(rand.NewPCG(seed, 1)), subjectsOf(seed), t.TempDir()
	world := fmt.Sprintf("name: described\nseed: %d\nloads: description\nrates: {flip: %g}\nkinds:\n  - {type: sum, match: 'Sum up', answer: \"'1'\"}\n", seed, flip)
	text := fmt.Sprintf("---\nname: desk\ndescription: Adds up %s, %s and %s of suppliers.\n---\n\n# Desk\n\nAdd up the lines before you read the stated total.\n", about[0], about[1], about[2])
	for name, content := range map[string]string{"world.yaml": world, "SKILL.md": text} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg := config.Default()
	cfg.Agent.Name, cfg.Agent.Sandbox = "builtin", "off"
	cfg.Edits.Description = true
	cfg.Skill = filepath.Join(dir, "SKILL.md")
	cfg.Tasks.Checks = []any{map[string]any{"type": "equals", "value": "done"}}
	for _, m := range []*config.Model{&cfg.Models.Target, &cfg.Models.Optimizer} {
		m.Provider, m.World = "sim", filepath.Join(dir, "world.yaml")
	}
	return cfg, promptsOf(draw, about, sizes{30, 20, 50})
}

// subjectsOf are the ten subjects of a world; its description names the first three.
func subjectsOf(seed uint64) []string {
	about := subjects()
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(about), func(i, j int) { about[i], about[j] = about[j], about[i] })
	return about[:10]
}

// sizes are how many prompts of either kind each split holds.
type sizes struct{ train, selection, test int }

func promptsOf(draw *rand.Rand, about []string, n sizes) []task.Task {
	asks := []string{"How much do the %s of %s come to?", "Go through the %s in %s and tell me what is due", "Are the %s of %s right?", "Which of the %s from %s is too high?"}
	others := []string{"Sing a song in %s", "Draw the map of %s", "Write a poem in %s", "Cook for %s"}
	near := []string{"Translate the %s of %s", "Paint a picture of the %s of %s"}
	var out []task.Task
	add := func(split task.Split, kind task.Trigger, prompt string) {
		out = append(out, task.Task{ID: fmt.Sprint("t", len(out)), Prompt: prompt, Trigger: kind, Split: split})
	}
	for _, of := range []struct {
		split task.Split
		month string
		n     int // of either kind
	}{{task.Train, "May", n.train}, {task.Selection, "July", n.selection}, {task.Test, "June", n.test}} {
		for i := range of.n {
			where := fmt.Sprint(of.month, " ", i)
			add(of.split, task.TriggerShould, fmt.Sprintf(asks[draw.IntN(len(asks))], about[draw.IntN(len(about))], where))
			if i%5 == 0 {
				add(of.split, task.TriggerShouldNot, fmt.Sprintf(near[draw.IntN(len(near))], about[draw.IntN(len(about))], where))
			} else {
				add(of.split, task.TriggerShouldNot, fmt.Sprintf(others[draw.IntN(len(others))], where))
			}
		}
	}
	return out
}

// In simulated worlds a description that makes agents load the skill on three prompts of ten
// that should load it comes to four of five at least, on prompts that training has not
// seen, and no more often on prompts that should not. The figures are those of a
// simulation: they show that the loop works, and nothing of real agents. With SKILLOPT_LONG=1 there
// are two worlds of each kind, else one.
func TestADescriptionIsTrainedInSimulatedWorlds(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it trains in several worlds")
	}
	worlds := uint64(1)
	if os.Getenv("SKILLOPT_LONG") != "" {
		worlds = 2
	}
	for _, flip := range []float64{0, 0.05} {
		var before, after, wrongBefore, wrongAfter []float64
		for seed := uint64(1); seed <= worlds; seed++ {
			cfg, tasks := describedWorld(t, seed, flip)
			sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithTasks(tasks), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
			if err != nil {
				t.Fatal(err)
			}
			seedRates, best := sum.Triggers.Seed["test"], sum.Triggers.Best["test"]
			before, after = append(before, seedRates.Should.Rate), append(after, best.Should.Rate)
			wrongBefore, wrongAfter = append(wrongBefore, seedRates.ShouldNot.Rate), append(wrongAfter, best.ShouldNot.Rate)
			t.Logf("simulated, seed %d, flip %.2f: should %.2f -> %.2f, should not %.2f -> %.2f, %d calls, certified %v", seed, flip,
				seedRates.Should.Rate, best.Should.Rate, seedRates.ShouldNot.Rate, best.ShouldNot.Rate, sum.Calls.Total, sum.Certificate != nil && sum.Certificate.Certified)
			if !sum.Simulated {
				t.Error("a simulation is not called one")
			}
		}
		b, a, wb, wa := meanOf(before), meanOf(after), meanOf(wrongBefore), meanOf(wrongAfter)
		noise := 2 * math.Sqrt(2*flip*(1-flip)/float64(50*worlds)) // two standard errors of a difference that is none
		if b > 0.45 || a < 0.8 || wa > wb+noise {
			t.Errorf("flip %.2f: should %.2f -> %.2f, should not %.2f -> %.2f", flip, b, a, wb, wa)
		}
	}
}

func meanOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / math.Max(1, float64(len(values)))
}
