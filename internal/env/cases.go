package env

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/seed-f4525e22/skillopt/internal/skillenv"
	"github.com/seed-f4525e22/skillopt/task"
)

// trialCase is one case. run returns what was seen instead of what is wanted.
type trialCase struct {
	name, wanted string
	run          func(*trial, context.Context) error
	ends         bool // the process may end
}

// trialCases returns all cases, in the order in which they are tried.
func trialCases() []trialCase {
	var all []trialCase
	for _, part := range [][]trialCase{handshakes(), taskCases(), worldCases(), commandCases(), episodeCases(), modelCases(), endCases()} {
		all = append(all, part...)
	}
	return all
}

func handshakes() []trialCase {
	return []trialCase{
		{name: "initialize", wanted: "an answer", run: func(*trial, context.Context) error { return nil }},
		{name: "a name and a version", wanted: "both, as texts", run: func(t *trial, _ context.Context) error {
			if t.info.Name == "" || t.info.Version == "" {
				return fmt.Errorf("name %q, version %q", t.info.Name, t.info.Version)
			}
			return nil
		}},
		{name: "concurrent", wanted: "absent, or a number from 1", run: func(t *trial, _ context.Context) error {
			if t.info.Concurrent < 0 {
				return fmt.Errorf("%d", t.info.Concurrent)
			}
			return nil
		}},
		{name: "plays or pure", wanted: "at most one of them", run: func(t *trial, _ context.Context) error {
			if t.info.Plays && t.info.Pure {
				return errors.New("both")
			}
			return nil
		}},
		{name: "another protocol", wanted: "an error", ends: true, run: func(t *trial, ctx context.Context) error {
			return t.askRefused(ctx, skillenv.Initialize, skillenv.Begin{Protocol: "skill-env/999", Config: map[string]any{}})
		}},
		{name: "an unknown method", wanted: "an error with the code -32601", run: func(t *trial, ctx context.Context) error {
			m, err := t.peer.call(ctx, "no_such_method", struct{}{})
			if err == nil && (m.Error == nil || m.Error.Code != skillenv.UnknownMethod) {
				err = fmt.Errorf("result %s, error %+v", m.Result, m.Error)
			}
			return err
		}},
		{name: "nothing unasked", wanted: "nothing on the standard output but answers and requests", run: func(t *trial, ctx context.Context) error {
			_, err := t.peer.call(ctx, "no_such_method", struct{}{}) // what it had written before is read by now
			return err
		}},
		{name: "a large number as id", wanted: "the same id in the answer", run: func(t *trial, ctx context.Context) error {
			t.peer.mu.Lock()
			t.peer.last = max(t.peer.last, 1<<53-1000)
			t.peer.mu.Unlock()
			_, err := t.peer.call(ctx, "no_such_method", struct{}{})
			return err
		}},
	}
}

func taskCases() []trialCase {
	list := func(t *trial, ctx context.Context) (l skillenv.TaskList, err error) {
		if t.info.Tasks {
			err = t.result(ctx, skillenv.Tasks, struct{}{}, &l)
		}
		return l, err
	}
	return []trialCase{
		{name: "tasks", wanted: "tasks as in a file of tasks, each with an id of its own, if it says that it has some", run: func(t *trial, ctx context.Context) error {
			l, err := list(t, ctx)
			if err != nil || !t.info.Tasks {
				return err
			}
			lines := bytes.Join(rawLines(l.Tasks), []byte("\n"))
			set, err := task.Parse("tasks", lines, task.Rules{OwnScore: true})
			if err == nil && set.Len() == 0 {
				err = errors.New("no tasks")
			}
			if err == nil && t.task.ID == "check" {
				t.task = newWireTask(set.Tasks()[0])
			}
			return err
		}},
		{name: "tasks again", wanted: "the same tasks", run: func(t *trial, ctx context.Context) error {
			one, err := list(t, ctx)
			two, again := list(t, ctx)
			if err = errors.Join(err, again); err == nil && !reflect.DeepEqual(rawLines(one.Tasks), rawLines(two.Tasks)) {
				err = errors.New("others")
			}
			return err
		}},
	}
}

func rawLines(raw []json.RawMessage) [][]byte {
	var lines [][]byte
	for _, r := range raw {
		lines = append(lines, r)
	}
	return lines
}

func worldCases() []trialCase {
	return []trialCase{
		{name: "start", wanted: "a scene with choices or tools that have names, or an end with a score", run: playCommand("look")},
		{name: "a start without an end", wanted: "no end before the target did anything, unless the program plays", run: func(t *trial, ctx context.Context) error {
			o, err := t.start(ctx, 1)
			if err == nil && !t.info.Plays && (o.Done || o.Failure != "") {
				err = fmt.Errorf("done %v, failure %q", o.Done, o.Failure)
			}
			return errors.Join(err, t.close(ctx))
		}},
		{name: "the seed 0", wanted: "an answer", run: func(t *trial, ctx context.Context) error { _, err := t.play(ctx, 0); return err }},
		{name: "a large seed", wanted: "an answer", run: func(t *trial, ctx context.Context) error { _, err := t.play(ctx, 1<<31-1); return err }},
		{name: "a score at the end", wanted: "a score or a failure, once the episode is done", run: func(t *trial, ctx context.Context) error {
			seen, err := t.play(ctx, 1)
			if err != nil {
				return err
			}
			var score *float64
			for _, o := range seen {
				if o.Score != nil {
					score = o.Score
				}
			}
			if last := seen[len(seen)-1]; last.Done && last.Failure == "" && score == nil {
				return errors.New("an end without either")
			}
			return nil
		}},
		{name: "a pure program", wanted: "the same answers to the same commands", run: func(t *trial, ctx context.Context) error {
			one, err := t.play(ctx, 7)
			two, again := t.play(ctx, 7)
			if err = errors.Join(err, again); err == nil && t.info.Pure && !reflect.DeepEqual(one, two) {
				err = errors.New("others; leave pure out")
			}
			return err
		}},
		{name: "a task with more fields", wanted: "an answer", run: func(t *trial, ctx context.Context) error {
			was := t.task
			defer func() { t.task = was }()
			t.task.Data = map[string]any{"Überschrift": []any{1, nil, map[string]any{"a": "\u2028"}}}
			for k, v := range was.Data {
				t.task.Data[k] = v
			}
			return playCommand("look")(t, ctx)
		}},
		{name: "a parameter that is not known", wanted: "an answer: later hosts may send more", run: func(t *trial, ctx context.Context) error {
			t.number++
			t.begin(t.episode())
			var o skillenv.Observation
			err := t.result(ctx, skillenv.Start, map[string]any{"episode": t.episode(), "task": t.task, "seed": 1, "skill": "", "later": true}, &o)
			return errors.Join(err, t.close(ctx))
		}},
	}
}

func commandCases() []trialCase {
	var all []trialCase
	for _, c := range [][2]string{
		{"a command that is not known", "no such command"},
		{"an empty command", ""},
		{"a command in other scripts", "öffne die Tür 門を開ける افتح 🚪🏽 e\u0301"},
		{"a command with quotes and lines", "say \"it's\\n\"\r\n\ttwo {}[]"},
		{"a command with separators", "one\u2028two\u2029three\u0000four\u007f"},
		{"a command of 1 MB", strings.Repeat("go ", 350_000)},
		{"a command that looks like a message", `{"jsonrpc":"2.0","id":1,"result":{}}`},
	} {
		all = append(all, trialCase{name: c[0], wanted: "an answer that says so, or a failure of the target", run: playCommand(c[1])})
	}
	return append(all, trialCase{name: "a tool that is not there", wanted: "an answer", run: func(t *trial, ctx context.Context) error {
		if _, err := t.start(ctx, 1); err != nil {
			return err
		}
		act := skillenv.Action{Episode: t.episode(), Call: &skillenv.Call{Name: "no_such_tool", Arguments: []byte(`{"a":[1]}`)}}
		_, err := t.peer.call(ctx, skillenv.Act, act)
		return errors.Join(err, t.close(ctx))
	}})
}

func episodeCases() []trialCase {
	stranger := skillenv.Action{Episode: "unknown", Command: "look"}
	return []trialCase{
		{name: "act in an unknown episode", wanted: "an error", run: func(t *trial, ctx context.Context) error { return t.askRefused(ctx, skillenv.Act, stranger) }},
		{name: "close an unknown episode", wanted: "an answer", run: func(t *trial, ctx context.Context) error {
			_, err := t.peer.call(ctx, skillenv.Close, skillenv.Action{Episode: "unknown"})
			return err
		}},
		{name: "close before the first command", wanted: "an answer", run: func(t *trial, ctx context.Context) error {
			_, err := t.start(ctx, 1)
			return errors.Join(err, t.close(ctx))
		}},
		{name: "close twice", wanted: "an answer to both", run: func(t *trial, ctx context.Context) error {
			err := playCommand("look")(t, ctx)
			_, again := t.peer.call(ctx, skillenv.Close, skillenv.Action{Episode: t.episode()})
			return errors.Join(err, again)
		}},
		{name: "act after close", wanted: "an error", run: func(t *trial, ctx context.Context) error {
			err := playCommand("look")(t, ctx)
			return errors.Join(err, t.askRefused(ctx, skillenv.Act, skillenv.Action{Episode: t.episode(), Command: "look"}))
		}},
		{name: "act after the end", wanted: "an answer", run: func(t *trial, ctx context.Context) error {
			o, err := t.start(ctx, 1)
			for range 20 {
				if err == nil && !t.info.Plays && len(o.Choices) > 0 {
					o, err = t.act(ctx, o.Choices[0])
				}
			}
			return errors.Join(err, t.close(ctx))
		}},
		{name: "an id that was used before", wanted: "a new episode", run: func(t *trial, ctx context.Context) error {
			err := playCommand("look")(t, ctx)
			t.number--
			return errors.Join(err, playCommand("look")(t, ctx))
		}},
		{name: "many episodes", wanted: "30 that are opened and closed", run: func(t *trial, ctx context.Context) error {
			for range 30 {
				if err := playCommand("look")(t, ctx); err != nil {
					return err
				}
			}
			return nil
		}},
		{name: "episodes at a time", wanted: "as many as concurrent says, each with answers of its own", run: playSeveral},
	}
}

// playSeveral sends the requests of several episodes without waiting for answers.
func playSeveral(t *trial, ctx context.Context) error {
	n := min(8, max(1, t.info.Concurrent))
	errs := make([]error, n)
	var wait sync.WaitGroup
	for i := range n {
		id := fmt.Sprintf("together-%d", i)
		t.begin(id)
		wait.Go(func() {
			open := skillenv.Opening{Episode: id, Task: t.task, Seed: int64(i)}
			var o skillenv.Observation
			if errs[i] = t.peer.ask(ctx, skillenv.Start, open, &o); errs[i] == nil && !t.info.Plays {
				_, errs[i] = t.peer.call(ctx, skillenv.Act, skillenv.Action{Episode: id, Command: "look"})
			}
			_, err := t.peer.call(ctx, skillenv.Close, skillenv.Action{Episode: id})
			errs[i] = errors.Join(errs[i], err)
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

func modelCases() []trialCase {
	failing := func(kind string) func(*trial, context.Context) error {
		return func(t *trial, ctx context.Context) error {
			t.mu.Lock()
			t.asked, t.fault = nil, &skillenv.Error{Code: skillenv.Failed, Message: "the model did not answer", Data: skillenv.ErrorData{Kind: kind}}
			t.mu.Unlock()
			seen, err := t.play(ctx, 3)
			t.mu.Lock()
			defer t.mu.Unlock()
			if len(t.asked) == 0 {
				return err // it asks no model
			}
			var fault *Error
			if errors.As(err, &fault) && fault.Kind == Refused {
				return nil
			}
			if last := seen[len(seen)-1]; err == nil && last.Score != nil && last.Failure == "" {
				err = fmt.Errorf("a score of %v without an answer of the model", *last.Score)
			}
			return err
		}
	}
	return []trialCase{
		{name: "generate", wanted: "an episode that is under way, a role, and messages of system, user and assistant; a program that plays asks at least once", run: func(t *trial, ctx context.Context) error {
			t.asked = nil
			_, err := t.play(ctx, 1)
			t.mu.Lock()
			defer t.mu.Unlock()
			if err == nil && t.info.Plays && len(t.asked) == 0 {
				err = errors.New("it has asked no model")
			}
			return err
		}},
		{name: "a model that fails", wanted: "an error, or a failure: no score", run: failing(skillenv.Infra)},
		{name: "a model at the limit of the task", wanted: "an error, or a failure: no score", run: failing(skillenv.Agent)},
	}
}

func endCases() []trialCase {
	return []trialCase{
		{name: "shutdown", wanted: "an answer, and then the end with the exit code 0", ends: true, run: func(t *trial, ctx context.Context) error {
			return t.awaitEnd(ctx, func() error { return t.result(ctx, skillenv.Shutdown, struct{}{}, nil) })
		}},
		{name: "shutdown amid an episode", wanted: "an answer, and then the end with the exit code 0", ends: true, run: func(t *trial, ctx context.Context) error {
			_, err := t.start(ctx, 1)
			return errors.Join(err, t.awaitEnd(ctx, func() error { return t.result(ctx, skillenv.Shutdown, struct{}{}, nil) }))
		}},
		{name: "the end of the input", wanted: "the end with the exit code 0", ends: true, run: func(t *trial, ctx context.Context) error {
			return t.awaitEnd(ctx, t.peer.process.stdin.Close)
		}},
	}
}
