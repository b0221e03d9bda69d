package schedule_test

import (
	"fmt"

	"github.com/seed-f4525e22/skillopt/schedule"
)

// The edit budget falls over a run as a learning rate does.
func ExampleNewBudget() {
	b, err := schedule.NewBudget(schedule.BudgetConfig{Mode: schedule.Cosine, Max: 8, Min: 2, Total: 6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Step(), b.Step(), b.Step(), b.At(6))
	// Output: 8 6 5 2
}

// An epoch is one pass over the train split, in batches. The same seed gives the same ones.
func ExampleEpoch() {
	counts := schedule.DefaultCounts(20)
	fmt.Println("test:", schedule.Cut(counts, 42).Test)
	steps := schedule.StepsPerEpoch(counts.Train, 3, 1)
	for _, b := range schedule.Epoch(schedule.EpochConfig{Train: counts.Train, BatchSize: 3, Accumulation: 1, Steps: steps, Epoch: 1, Seed: 42}) {
		fmt.Println(b.Seed, b.Items)
	}
	// Output:
	// test: [7 8 0 3]
	// 1043 [4 7 6]
	// 1044 [5 0 2]
	// 1045 [1 3]
}
