package stats_test

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/internal/stats"
)

// Of 40 test items the candidate alone has 12 right and the seed skill alone 3.
func Example() {
	wins, losses := 12, 3
	p := stats.McNemarExact(wins, losses)
	fmt.Printf("p = %.4f, if this was the only look\n", p.TwoSided)
	fmt.Printf("E = %.1f, at any look; 20 certifies at the level 0.05\n", stats.DiscordantE(wins, losses))

	diffs := make([]float64, 40)
	for i := range wins {
		diffs[i] = 1
	}
	for i := range losses {
		diffs[wins+i] = -1
	}
	b, err := stats.PairedBootstrapBCa(diffs, 10_000, 0.05, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("difference %.3f, from %.2f to %.2f\n", b.Mean, b.Interval.Low, b.Interval.High)
	// Output:
	// p = 0.0352, if this was the only look
	// E = 8.9, at any look; 20 certifies at the level 0.05
	// difference 0.225, from 0.05 to 0.40
}

func ExampleDiscordantE() {
	// Evidence of two nights multiplies.
	first, second := stats.DiscordantE(9, 3), stats.DiscordantE(11, 2)
	fmt.Printf("%.2f * %.2f = %.2f\n", first, second, first*second)
	// Output:
	// 2.73 * 14.91 = 40.73
}

func ExampleBetting() {
	diffs := []float64{1, 0, 1, 1, 0, 0.5, 1, -1, 1, 1, 0, 1, 0.5, 1, 1, 0, 1, 1, 0, 1}
	var b stats.Betting // differences from -1 to 1
	log, err := b.LogWealth(diffs, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	in, err := b.Interval(diffs, 0.95)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("wealth %.1f, mean between %.2f and %.2f at whichever look\n", stats.Evidence(log), in.Low, in.High)
	// Output:
	// wealth 64.3, mean between 0.04 and 0.88 at whichever look
}

func ExampleMinimumDetectable() {
	effect, err := stats.MinimumDetectable(0.5, 40, 0.05, 0.8)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("40 items show a difference of %.2f\n", effect)
	// Output:
	// 40 items show a difference of 0.22
}

func ExampleVarianceSplit() {
	// Three passes over four items.
	split, err := stats.VarianceSplit([][]float64{{1, 1, 1}, {0, 1, 0}, {0, 0, 0}, {1, 0, 1}})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("variance between items %.3f, within %.3f\n", split.Between, split.Within)
	advice, err := split.Advise(0.3, 24, 0.05, 0.8)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("24 items show %.2f; for 0.3 evaluate each %d times, or take %d items\n", advice.Now, advice.Repeats, advice.Items)
	// Output:
	// variance between items 0.130, within 0.167
	// 24 items show 0.31; for 0.3 evaluate each 2 times, or take 26 items
}
