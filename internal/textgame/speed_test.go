package textgame

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/testing/textgames"
)

// TestSpeed prints what a step costs in a room of 48 fixtures and 60 objects, and what 500 episodes hold.
func TestSpeed(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures")
	}
	made := textgames.MakeLarge(1, 48, 60)
	begin := time.Now()
	g, err := Parse(made.Name, made.Data)
	if err != nil {
		t.Fatal(err)
	}
	loaded := time.Since(begin)
	rng := rand.New(rand.NewPCG(1, 1))
	p, _, err := g.Start()
	if err != nil {
		t.Fatal(err)
	}
	var steps []time.Duration
	for range 300 {
		command := p.Admissible()[rng.IntN(len(p.Admissible()))]
		begin := time.Now()
		if _, err := p.Act(command); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, time.Since(begin))
	}
	slices.Sort(steps)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	plays := make([]*Play, 500)
	for i := range plays {
		if plays[i], _, err = g.Start(); err != nil {
			t.Fatal(err)
		}
		for range 1 {
			if _, err := plays[i].Act(plays[i].Admissible()[rng.IntN(len(plays[i].Admissible()))]); err != nil {
				t.Fatal(err)
			}
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	held := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("load %v, step: median %v, most %v; 500 episodes hold %d KB", loaded, steps[150], steps[299], held>>10)
	if held > 256<<20 {
		t.Errorf("500 episodes hold %d MB", held>>20)
	}
	runtime.KeepAlive(plays)
}
