package check_test

import (
	"context"
	"fmt"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/task"
)

// A judge is whatever answers a request: here one that always says the same.
func ExampleSuite_Assess() {
	suite, err := check.Compile([]any{
		map[string]any{"type": "contains", "value": "refund"},
		map[string]any{"type": "llm-rubric", "criteria": "It apologises before it explains.", "threshold": 0.7},
	}, check.Options{Judge: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	judge := func(_ context.Context, id string, _ check.JudgeRequest) (string, error) {
		return `{"reason": "It explains first.", "score": 0.5}`, nil
	}
	got, err := suite.Assess(context.Background(),
		check.Evidence{Answer: "The refund takes three days. Sorry."}, task.Task{Prompt: "Where is my refund?"}, check.Means{Judge: judge})
	fmt.Println(got.Hard, got.Soft, err)
	fmt.Println(got.Reason)
	// Output:
	// 0 0.75 <nil>
	// llm-rubric: the judge gives 0.5, 0.7 is needed: It explains first.
}
