package survey

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/runner"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Reasons why a test is left out.
const (
	flaking = "flaking"
	network = "network"
	port    = "needs a port"
	fails   = "fails at HEAD"
)

// examine runs the whole suite at HEAD twice, and notes which tests decide nothing.
func (s *surveyor) examine(ctx context.Context) error {
	s.limit = 2 * time.Hour
	if err := s.warm(ctx); err != nil {
		return err
	}
	head, err := s.withDocuments(ctx, s.top)
	if err != nil {
		return err
	}
	var two [2]runner.Report
	for i := range two {
		if two[i], err = s.run(ctx, head, nil, i); err != nil {
			return err
		}
		if ended := two[i].Ended; ended != sandbox.Exited {
			return &runner.Unfit{Why: fmt.Sprintf("the tests at HEAD did not end (%s; they have two hours); --test COMMAND can run fewer of them", ended)}
		}
		s.note("tests at HEAD, run %d of 2: %d named, %.1f s of CPU", i+1, len(two[i].Tests), two[i].CPU.Seconds())
	}
	if len(two[0].Tests) == 0 {
		return &runner.Unfit{Why: "no test is named by the report at HEAD, in a workspace that has what is committed and nothing that a build adds; --test COMMAND can add it and run the tests: " + wording.Middle(strings.TrimSpace(cmp.Or(two[0].Unbuilt, two[0].Output)), 800)}
	}
	s.compare(two[0], two[1])
	s.limit = max(10*time.Minute, 2*two[0].CPU) // a fault may make a loop that does not end
	return nil
}

// compare notes tests that two runs of the same tree report otherwise, or that need what no workspace has.
func (s *surveyor) compare(a, b runner.Report) {
	for _, pair := range [][2]runner.Report{{a, b}, {b, a}} {
		for name, test := range pair[0].Tests {
			other := pair[1].Tests[name]
			switch {
			case other.Status != test.Status:
				s.bad[name] = flaking
			case test.Status != runner.Failed:
			case runner.NeedsNetwork(test.Message):
				s.bad[name] = network
			case runner.NeedsPort(test.Message):
				s.bad[name] = port
			default:
				s.bad[name] = fails
			}
		}
	}
}

// warm builds what tests need of dependencies, once.
func (s *surveyor) warm(ctx context.Context) error {
	if len(s.suite.Caches) == 0 {
		return nil
	}
	_, err := loadOrRun(ctx, s.runs, []any{"warm", s.top}, func() (bool, error) {
		return true, s.inTree(ctx, s.top, func(work, home string) error {
			_, err := s.suite.Run(ctx, runner.Job{Dir: work, Home: home, Timeout: s.limit, Base: s.runs.base, Warm: true})
			return err
		})
	})
	if err != nil {
		return fmt.Errorf("build what tests need: %w", err)
	}
	return nil
}

var errNoTasks = errors.New("no commit and no fault of the repository makes a task")
