package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/result"
)

// loadTiles returns tiles of how often the agent loads the skill by its description, before and after.
func loadTiles(t *result.TrainTriggers) []tile {
	if t == nil {
		return nil
	}
	var out []tile
	for _, split := range slices.Sorted(maps.Keys(t.Best)) {
		seed, best := t.Seed[split], t.Best[split]
		out = append(out, tile{
			"Loaded by the agent, " + split,
			loadRate(seed.Should) + " \u2192 " + loadRate(best.Should),
			fmt.Sprintf("on prompts that should load the skill (%s); on prompts that should not %s \u2192 %s (%s); agent %s", loadRange(best.Should), loadRate(seed.ShouldNot), loadRate(best.ShouldNot), loadRange(best.ShouldNot), line(t.Agent, idLength)),
		})
	}
	return out
}

func loadRate(r *result.LoadRate) string {
	if r == nil {
		return "not measured"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.1f", 100*r.Rate), ".0") + " %"
}

// loadRange returns the interval of a rate, in words.
func loadRange(r *result.LoadRate) string {
	if r == nil {
		return "no interval"
	}
	return fmt.Sprintf("now %d of %d, 95 %% interval %s", r.Loaded, r.Evaluations, formatRange(r.Low, r.High))
}
