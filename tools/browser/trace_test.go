package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/io"
	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// task is a task of the main thread of the page.
//
// What counts is its time on a processor. A task that the system has put aside for others takes
// longer on the clock, which says something of the machine and nothing of the page.
type task struct {
	wall, cpu time.Duration
	script    time.Duration // of the processor time
	frame     bool          // handlers of a frame ran in it
	what      string        // the longest that it did, for whoever looks for the reason
}

// traced carries out what is to be looked at, and returns the tasks that the main thread of the
// page had meanwhile, in order. The page must be the same at the end as in what is looked at.
func (p *tab) traced(what func()) []task {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, 4*patience)
	defer cancel()
	config := &tracing.TraceConfig{ExcludedCategories: []string{"*"}, IncludedCategories: []string{"blink.user_timing", "devtools.timeline", "disabled-by-default-devtools.timeline"}}
	if _, err := chromedp.Call(ctx, tracing.Start, tracing.StartParams{TransferMode: tracing.StartTransferModeReturnAsStream, TraceConfig: config}); err != nil {
		p.t.Fatalf("begin a trace: %v", err)
	}
	what()
	eval[bool](p, `(performance.mark("traced"), true)`)
	ended := chromedp.Events(ctx, tracing.TracingComplete)
	if _, err := chromedp.Call(ctx, tracing.End, cdp.Empty{}); err != nil {
		p.t.Fatalf("end the trace: %v", err)
	}
	for end, err := range ended {
		if err != nil {
			p.t.Fatalf("end the trace: %v", err)
		}
		if end.DataLossOccurred {
			p.t.Fatal("the trace is not whole")
		}
		tasks, err := tasksOf(p.stream(ctx, end.Stream))
		if err != nil {
			p.t.Fatalf("read the trace: %v", err)
		}
		return tasks
	}
	p.t.Fatal("the trace does not end")
	return nil
}

// stream reads a stream of the browser to its end.
func (p *tab) stream(ctx context.Context, handle io.StreamHandle) []byte {
	p.t.Helper()
	var all []byte
	for {
		part, err := chromedp.Call(ctx, io.Read, io.ReadParams{Handle: handle, Size: 1 << 20})
		if err != nil {
			p.t.Fatalf("read the trace: %v", err)
		}
		all = append(all, part.Data...)
		if part.EOF {
			return all
		}
	}
}

// traceEvent is an event of a trace, in the format of chrome://tracing. Times are in microseconds.
type traceEvent struct {
	Name     string  `json:"name"`
	Category string  `json:"cat"`
	Phase    string  `json:"ph"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
	At       float64 `json:"ts"`
	Wall     float64 `json:"dur"`
	CPU      float64 `json:"tdur"`
}

// tasksOf reads the tasks of the thread on which the page set its mark.
func tasksOf(trace []byte) ([]task, error) {
	var all struct {
		Events []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(trace, &all); err != nil {
		return nil, err
	}
	mark := slices.IndexFunc(all.Events, func(e traceEvent) bool { return e.Name == "traced" && strings.Contains(e.Category, "user_timing") })
	if mark < 0 {
		return nil, fmt.Errorf("the mark of the page is not among %d events", len(all.Events))
	}
	of := all.Events[mark]
	events := slices.DeleteFunc(all.Events, func(e traceEvent) bool { return e.Process != of.Process || e.Thread != of.Thread || e.Phase != "X" })
	slices.SortStableFunc(events, func(a, b traceEvent) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(b.Wall, a.Wall)) })
	tasks := nested(events)
	if len(tasks) == 0 || !slices.ContainsFunc(tasks, func(t task) bool { return t.cpu > 0 }) {
		return nil, fmt.Errorf("%d tasks, none with its processor time: the browser measures none on this system", len(tasks))
	}
	return tasks, nil
}

// nested makes tasks of events, of which each stands inside of those before it that have not ended.
func nested(events []traceEvent) (tasks []task) {
	var end, scripted, longest float64
	for _, e := range events {
		if e.At >= end {
			end, scripted, longest = e.At+e.Wall, 0, 0
			tasks = append(tasks, task{wall: micro(e.Wall), cpu: micro(e.CPU)})
		}
		t := &tasks[len(tasks)-1]
		if e.CPU > longest && !strings.Contains(e.Name, "RunTask") {
			longest, t.what = e.CPU, e.Name
		}
		t.frame = t.frame || e.Name == "FireAnimationFrame"
		if isScript(e) && e.At >= scripted {
			scripted = e.At + e.Wall
			t.script += micro(e.CPU)
		}
	}
	return tasks
}

func isScript(e traceEvent) bool {
	switch e.Name {
	case "EventDispatch", "FireAnimationFrame", "FunctionCall", "EvaluateScript", "TimerFire", "RunMicrotasks", "v8.evaluateModule", "v8.callFunction":
		return true
	}
	return false
}

func micro(v float64) time.Duration { return time.Duration(v * float64(time.Microsecond)) }

// longest is the task with the most processor time, and the most time by the clock of any.
func longest(tasks []task) (most task, wall time.Duration) {
	for _, t := range tasks {
		if t.cpu > most.cpu {
			most = t
		}
		wall = max(wall, t.wall)
	}
	return most, wall
}

// scripts are the processor times of script for each frame: what ran since the frame before.
func scripts(tasks []task) (frames []time.Duration) {
	var sum time.Duration
	for _, t := range tasks {
		sum += t.script
		if t.frame {
			frames = append(frames, sum)
			sum = 0
		}
	}
	return frames
}

func median(v []time.Duration) time.Duration {
	if len(v) == 0 {
		return 0
	}
	return slices.Sorted(slices.Values(v))[len(v)/2]
}
