package gate_test

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/gate"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// The rule of the strict gate, of scores that are there.
func ExampleDecide() {
	fmt.Println(gate.Decide(0.7, 0.6, 0.6))
	fmt.Println(gate.Decide(0.7, 0.6, 0.8))
	fmt.Println(gate.Decide(0.6, 0.6, 0.6))
	// Output:
	// accept_new_best
	// accept
	// reject
}

// A trial asks for the outcomes that its policy wants to see, until that one knows.
func ExampleRun() {
	measure := func(_ context.Context, item int, arm gate.Arm, _ int) (trajectory.Outcome, error) {
		o := trajectory.Outcome{Status: score.OK}
		if arm == gate.Candidate || item == 0 {
			o.Hard, o.Soft = 1, 1
		}
		return o, nil
	}
	trial := gate.Trial{Items: []string{"t1", "t2", "t3", "t4"}, AtOnce: 2, Projection: score.Projection{Metric: score.Hard}}
	r, err := gate.Run(context.Background(), trial, gate.Strict{}, measure)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s: %s\n", r.Verdict.Action, r.Verdict.Reason)
	// Output: accept_new_best: 1.0000 is above the current 0.2500 on 4 items
}

// A certificate says whether a candidate is better than a reference, by pairs that nothing was decided by.
func ExampleCertify() {
	pairs := make([]gate.Pair, 20)
	for i := range pairs {
		pairs[i] = gate.Pair{Candidate: 1, Reference: float64(i % 2)}
	}
	c, err := gate.Certify(pairs, 0.05)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Wins, c.Losses, c.Ties, c.Certified)
	fmt.Printf("at least %.2f\n", *c.Low)
	// Output:
	// 10 0 10 true
	// at least 0.06
}
