package night_test

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"os"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// nullTarget answers each task with a chance of its own, whatever the skill says: what it is told changes
// which answers are right, and not how many.
type nullTarget struct {
	golds map[string]string // by prompt
	seed  uint64
}

func (c nullTarget) Generate(_ context.Context, req model.Request) (model.Response, error) {
	prompt := req.Messages[len(req.Messages)-1].Content
	h := fnv.New64a()
	_ = binary.Write(h, binary.LittleEndian, c.seed)
	h.Write([]byte(prompt))
	chance := 0.3 + 0.4*fraction(h.Sum64())
	for _, m := range req.Messages {
		h.Write([]byte(m.Content))
	}
	if req.Seed != nil {
		_ = binary.Write(h, binary.LittleEndian, *req.Seed)
	}
	answer := "none"
	if fraction(h.Sum64()*0x9e3779b97f4a7c15) < chance {
		answer = c.golds[prompt]
	}
	return model.Response{Text: "<answer>" + answer + "</answer>", Finish: model.FinishStop, Usage: trajectory.Usage{Input: int64(len(prompt)), Output: 4}}, nil
}

func fraction(h uint64) float64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	return float64(h>>11) / (1 << 53)
}

// nullHome has an optimizer that proposes rules, and a target that none of them makes better.
func nullHome(t *testing.T, seed uint64) (*home, func(*night.Options)) {
	t.Helper()
	p := small()
	p.Seed, p.Tasks = seed, 400
	h := newHome(t, p)
	golds := map[string]string{}
	for _, it := range h.world.Items {
		golds[it.Prompt] = it.Gold
	}
	return h, func(o *night.Options) {
		o.With = []skillopt.Option{skillopt.WithClient(model.Target, "null", nullTarget{golds, seed})}
	}
}

// tenth is how many of so many simulations are carried out: all by SKILLOPT_LONG=1, else a tenth.
func tenth(n int) int {
	if os.Getenv("SKILLOPT_LONG") == "1" {
		return n
	}
	return (n + 9) / 10
}

// Of nights of an optimizer without effect few say "supported", and fewer certify.
func TestNullNights(t *testing.T) {
	t.Parallel()
	total := tenth(400)
	supported, certified, opened, confirmed := 0, 0, 0, 0
	came := map[night.Outcome]int{}
	for i := range total {
		h, with := nullHome(t, uint64(i+1))
		// A day whose clusters are those of three sizes in turns, all reviewed.
		h.day([]int{12 * 5 / 4, 24, 48}[i%3], "", true)
		take(h, with)
		h.reviewed()
		r := h.night(with)
		got := r.Targets[0]
		switch got.Outcome {
		case night.Supported:
			supported++
		case night.Certified:
			supported++
			certified++
		}
		if got.Test != nil {
			opened++
		}
		if got.Confirmed != nil {
			confirmed++
		}
		if came[got.Outcome]++; came[got.Outcome] == 1 {
			t.Logf("%s: %s, %+v", got.Outcome, got.Reason, got.Groups)
		}
	}
	t.Logf("%d null nights %v: %d confirmations, %d supported (%.3f, s.e. %.3f), %d certified, %d tests", total, came, confirmed, supported, rate(supported, total), se(supported, total), certified, opened)
	if rate(supported, total) > 0.07+2*math.Sqrt(0.05*0.95/float64(total)) || rate(certified, total) > 0.05+2*math.Sqrt(0.05*0.95/float64(total)) {
		t.Errorf("%d supported, %d certified of %d", supported, certified, total)
	}
}

func rate(k, n int) float64 { return float64(k) / float64(n) }

func se(k, n int) float64 { p := rate(k, n); return math.Sqrt(p * (1 - p) / float64(n)) }

// take has the bank take what sessions show before the night, so that it can be reviewed.
func take(h *home, change ...func(*night.Options)) {
	h.t.Helper()
	if _, err := h.try(append(change, func(o *night.Options) { o.Config.Limits.Calls = new(int64) })...); err != nil {
		h.t.Fatal(err)
	}
}

// Nights that go on for long with an optimizer without effect, whose proposals are carried, certify nothing.
func TestTrap82TwentyNullNights(t *testing.T) {
	t.Parallel()
	supported, nights := 0, 0
	for i := range tenth(20) {
		h, with := nullHome(t, uint64(1000+i))
		for range 20 {
			h.day(12, "", true)
			take(h, with)
			h.reviewed()
			r := h.night(with)
			nights++
			got := r.Targets[0]
			if got.Outcome == night.Certified || got.Continued != nil && got.Continued.State == string(bank.Certified) {
				t.Errorf("home %d: night %s certified: %s", i, r.ID, got.Reason)
			}
			if got.Outcome == night.Supported {
				supported++
			}
		}
	}
	t.Logf("%d nights, supported %d", nights, supported)
	if supported > 2*tenth(20) {
		t.Errorf("supported in %d of %d nights", supported, nights)
	}
}
