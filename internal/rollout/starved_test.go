package rollout

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// checked is a Recorder that keeps nothing.
type checked struct{ through }

func (checked) Recorded(string) bool { return false }

func (checked) Check(ctx context.Context, _ caller.CheckCall, run func(context.Context) ([]byte, error)) ([]byte, error) {
	return run(ctx)
}

// late is an agent that is not done at its deadline: of each task for as many tries as its
// prompt says.
type late struct {
	mu      sync.Mutex
	tries   map[string]int
	atWork  atomic.Int64
	most    [3]int64 // at work at once, by try
	starved bool
}

func (a *late) Work(_ context.Context, job AgentJob) (AgentReport, error) {
	a.mu.Lock()
	try := a.tries[job.Prompt]
	a.tries[job.Prompt]++
	a.mu.Unlock()
	n := a.atWork.Add(1)
	defer a.atWork.Add(-1)
	time.Sleep(time.Second)
	a.mu.Lock()
	a.most[try] = max(a.most[try], n)
	a.mu.Unlock()
	if fmt.Sprint(try) < job.Prompt[:1] {
		return AgentReport{Failure: "deadline: not done", Starved: a.starved}, nil
	}
	return AgentReport{Answer: "done"}, nil
}

// A deadline that passed for want of a processor is no score: the episode is tried again with
// fewer at once, at most twice, then its deadline counts.
func TestStarvedEpisodesAreTriedAgain(t *testing.T) {
	t.Parallel()
	text, err := template.Parse("prompt", "{{prompt}}")
	if err != nil {
		t.Fatal(err)
	}
	for _, starved := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var warned []string
			agent := &late{tries: map[string]int{}, starved: starved}
			places := &Workspaces{Dir: t.TempDir()}
			if err := places.Open(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := places.Close(); err != nil {
					t.Error(err)
				}
			}()
			a := &Agent{
				Agent: agent, Record: checked{}, Workspaces: places, Prompt: text, Slots: NewSlots(8),
				Assess: func(context.Context, string, task.Task, Evidence) (Assessment, error) {
					return Assessment{Answer: "done", Score: score.Score{Hard: 1, Soft: 1}}, nil
				},
				Warn: func(err error) { mu.Lock(); warned = append(warned, err.Error()); mu.Unlock() },
			}
			var tasks []task.Task
			for i := range 16 {
				tasks = append(tasks, task.Task{ID: fmt.Sprint("t", i), Prompt: fmt.Sprintf("%d tries, %d", i%4, i)}) // 3 tries are too many
			}
			out, err := (&Runner{Episode: a}).All(t.Context(), Place{Prefix: "p"}, tasks, skill.New("s"), nil)
			if err != nil {
				t.Fatal(err)
			}
			zeros, tries := score.Unanswered{}, 0
			for i := range out {
				zeros.Add(out[i].Unanswered())
				tries += agent.tries[tasks[i].Prompt]
			}
			want, wantTries := score.Unanswered{Deadlines: 4}, 4*(1+2+3+3)
			if !starved {
				want, wantTries = score.Unanswered{Deadlines: 12}, 16
			}
			if diff := cmp.Diff(want, zeros); diff != "" || tries != wantTries {
				t.Errorf("%d tries, want %d; deadlines (-want +got): %s", tries, wantTries, diff)
			}
			if starved && (agent.most[0] > 8 || agent.most[1] > 5 || agent.most[2] != 1) {
				t.Errorf("at work at once, by try: %v", agent.most)
			}
			if told := strings.Contains(strings.Join(warned, "\n"), "waited for a processor"); told != starved {
				t.Errorf("told: %q", warned)
			}
		})
	}
}
