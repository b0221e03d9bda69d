package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/mcp"
	"github.com/seed-f4525e22/skillopt/internal/steer"
)

// purse is what a server may spend, and has spent. What was spent is what sessions report, whatever tools are given.
type purse struct {
	calls    int64        // that doctor and try may make
	ceilings steer.Limits // of trainings; nil: there are none to be

	mu      sync.Mutex
	asked   int64              // calls of doctor and try
	trained map[string]float64 // by the name of a ceiling
	unknown bool               // the cost of some of it is not known
	busy    string             // the paid tool at work; "": none
	work    *training          // that is at work, or whose end was in no answer yet
}

// training is a training at work in the server.
type training struct {
	words   []string
	signals chan os.Signal
	done    chan struct{} // closed at the end, when doc and err are there
	doc     []byte
	err     error

	mu  sync.Mutex
	far farAway
}

// farAway is how far a training is.
type farAway struct {
	State    string   `json:"state"`
	RunDir   string   `json:"run_dir,omitempty"`
	Stage    string   `json:"stage,omitempty"`
	Step     int      `json:"step"`
	Steps    int      `json:"steps"`
	Best     *float64 `json:"best_score"`
	Calls    int64    `json:"calls"` // of the run, over all its sessions
	MaxCalls int      `json:"max_calls"`
	Next     string   `json:"next"`
}

// purse reads what flags allow.
func (o *mcpOptions) purse() (*purse, error) {
	p := &purse{calls: int64(o.calls), trained: map[string]float64{}}
	switch {
	case o.calls < 0:
		return nil, usagef("--allow-calls %d: allowed: 0 or more", o.calls)
	case o.train == "":
		return p, nil
	}
	var err error
	if p.ceilings, err = steer.ParseLimits(strings.Split(o.train, ",")); err != nil {
		return nil, usagef("--allow-train %s: %v", o.train, err)
	}
	maps.DeleteFunc(p.ceilings, func(_ string, v *float64) bool { return v == nil }) // usd=none is no ceiling
	if p.ceilings[steer.Calls] == nil && p.ceilings[steer.Tokens] == nil && p.ceilings[steer.USD] == nil {
		return nil, usagef("--allow-train %s: name one of calls, tokens and usd at least, such as calls=2000,usd=5", o.train)
	}
	return p, nil
}

// paidTools lists the tools that flags of the server allow.
func (s *mcpServer) paidTools() []tool {
	configArg := mcpArg{name: "config", description: "a config, or a folder with config.yaml", path: true, needed: true}
	runArg := mcpArg{name: "run", description: "the folder of a run, such as runs/my-skill-1; default: the newest at work", path: true}
	var out []tool
	if s.purse.calls > 0 {
		out = append(out,
			tool{name: "doctor", command: "doctor", args: []mcpArg{configArg}, flags: []string{"set"}, run: askModels, list: "rows", note: s.purse.callsNote()},
			tool{name: "try", command: "try", args: []mcpArg{configArg}, flags: []string{"number", "type", "task", "set"}, run: askModels, list: "evaluations", note: s.purse.callsNote()})
	}
	if s.purse.ceilings != nil {
		note := fmt.Sprintf("The user allows %s, for a run and for all together. A training continues in the server when a call ends before it: call again with the same arguments to wait on. Cancelling a call stops it softly, and so does the end of the session; resume continues it.", s.options.train)
		out = append(out,
			tool{name: "train", command: "train", args: []mcpArg{configArg}, flags: []string{"set", "limit", "again"}, run: trainInServer, waits: true, note: note},
			tool{name: "resume", command: "train", args: []mcpArg{configArg}, flags: []string{"run", "finish"}, paths: []string{"run"}, run: trainInServer, waits: true, note: "This tool continues an unfinished run: give run, its folder, and the config that it was begun with. " + note},
			tool{name: "stop", command: "runs stop", args: []mcpArg{runArg}})
	}
	return out
}

func (p *purse) callsNote() string {
	return fmt.Sprintf("The user allows %d calls of models by doctor and try, all together.", p.calls)
}

// take reserves the purse for a tool.
func (p *purse) take(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy != "" {
		return usagef("%s is at work, and one tool that costs something runs at a time: wait for it, or stop it", p.busy)
	}
	p.busy = name
	return nil
}

func (p *purse) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.busy = ""
}

// askModels carries out doctor or try with the calls that are left.
func askModels(ctx context.Context, s *mcpServer, _ *mcp.Call, g *config.Guard, words []string) ([]byte, error) {
	p := s.purse
	if err := p.take(words[0]); err != nil {
		return nil, err
	}
	defer p.release()
	p.mu.Lock()
	left := p.calls - p.asked
	p.mu.Unlock()
	if left <= 0 {
		return nil, usagef("the %d calls that `--allow-calls` in the settings of the server allows are made", p.calls)
	}
	held := *g
	held.Limits.Calls = &left
	signals, end := softStop(ctx)
	defer end()
	return s.carryOut(context.WithoutCancel(ctx), sub{guard: &held, signals: signals, used: func(u event.Progress) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked += u.Calls
	}}, words...)
}

// softStop returns signals that interrupt a command softly when a context ends.
func softStop(ctx context.Context) (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 2)
	stop := context.AfterFunc(ctx, func() { signals <- os.Interrupt })
	return signals, func() { stop() }
}

// nextLimits returns the ceilings of the next training, and an error if one is reached.
func (p *purse) nextLimits() (l config.Limits, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, ceiling := range p.ceilings {
		rest := *ceiling - p.trained[name]
		switch {
		case name == steer.USD && p.unknown:
			return l, usagef("what an earlier training has cost is not known, so that usd=%g cannot be held: `--allow-train` in the settings of the server takes calls and tokens instead", *ceiling)
		case rest <= 0:
			return l, usagef("the trainings of this server have used up %s=%g, which `--allow-train` in its settings allows", name, *ceiling)
		}
		steer.Set(&l, name, &rest)
	}
	return l, nil
}

// charge notes what a training has used.
func (p *purse) charge(u event.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.trained[steer.Calls] += float64(u.Calls)
	p.trained[steer.Tokens] += float64(u.Input + u.Output)
	if u.Cost != nil {
		p.trained[steer.USD] += *u.Cost
	} else if u.Calls > 0 {
		p.unknown = true
	}
}

// trainInServer begins a training, or finds it at work, and waits for it.
func trainInServer(ctx context.Context, s *mcpServer, call *mcp.Call, g *config.Guard, words []string) ([]byte, error) {
	wait, given := call.Args["wait"].(int)
	if !given {
		wait = 45
	}
	if wait < 0 || wait > 600 {
		return nil, usagef("wait: found %d, allowed: 0 to 600 seconds", wait)
	}
	t, err := s.begin(ctx, g, words)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, call, t, time.Duration(wait)*time.Second)
}

// begin returns the training of a command line, which may be at work already.
func (s *mcpServer) begin(ctx context.Context, g *config.Guard, words []string) (*training, error) {
	p := s.purse
	p.mu.Lock()
	at := p.work
	p.mu.Unlock()
	switch {
	case at != nil && slices.Equal(at.words, words):
		return at, nil
	case at != nil && !at.hasEnded():
		return nil, usagef("another training is at work, and one runs at a time: call train again with its arguments to wait for it, or stop")
	}
	if err := p.take("train"); err != nil {
		return nil, err
	}
	limits, err := p.nextLimits()
	if err != nil {
		p.release()
		return nil, err
	}
	held := *g
	held.Limits = limits
	t := &training{words: words, signals: make(chan os.Signal, 2), done: make(chan struct{})}
	t.far.State = "at work"
	p.mu.Lock()
	p.work = t
	p.mu.Unlock()
	began := time.Now()
	go func() {
		defer close(t.done)
		t.doc, t.err = s.carryOut(context.WithoutCancel(ctx), sub{guard: &held, signals: t.signals, used: p.charge, hear: t.hear}, words...)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.trained[steer.Time] += time.Since(began).Seconds()
		p.busy = ""
	}()
	return t, nil
}

func (t *training) hasEnded() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// hear notes how far the training is.
func (t *training) hear(e event.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch e := e.(type) {
	case event.RunStarted:
		t.far.RunDir, t.far.Steps, t.far.MaxCalls = e.RunDir, e.Steps, e.MaxCalls
	case event.Progress:
		t.far.Calls, t.far.Stage = max(t.far.Calls, e.Calls), e.Stage
	case event.StepDone:
		t.far.Step, t.far.Best = e.Step, e.Best
	}
}

func (t *training) now() farAway {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.far
}

// await waits for a training, and says how far it is if that takes longer. A call that is cancelled stops it softly.
func (s *mcpServer) await(ctx context.Context, call *mcp.Call, t *training, wait time.Duration) ([]byte, error) {
	late := time.NewTimer(wait)
	defer late.Stop()
	tick := time.NewTicker(2 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-t.done:
			s.purse.mu.Lock()
			s.purse.work = nil
			s.purse.mu.Unlock()
			return t.doc, t.err
		case <-ctx.Done():
			t.interrupt()
			return nil, context.Cause(ctx)
		case <-tick.C:
			far := t.now()
			call.Progress(ctx, float64(far.Calls), float64(far.MaxCalls), fmt.Sprintf("step %d of %d, %s", far.Step, far.Steps, far.Stage))
		case <-late.C:
			far := t.now()
			far.Next = "it continues: call again with the same arguments to wait on; stop ends it softly"
			return json.Marshal(far)
		}
	}
}

// interrupt stops a training: softly, and at once if it is stopping already.
func (t *training) interrupt() {
	select {
	case t.signals <- os.Interrupt:
	default: // it has two interrupts already
	}
}

// How long the end of a server waits for a training that was stopped softly, and then at once.
const (
	softEnd = 60 * time.Second
	hardEnd = 10 * time.Second
)

// end stops what is at work when the client has gone, and waits for it. What was paid for is in the record.
func (p *purse) end(errs io.Writer) {
	p.mu.Lock()
	t := p.work
	p.mu.Unlock()
	if t == nil {
		return
	}
	for _, grace := range []time.Duration{softEnd, hardEnd} {
		if !t.hasEnded() {
			t.interrupt()
		}
		select {
		case <-t.done:
			if dir := t.now().RunDir; dir != "" && t.err != nil {
				fmt.Fprintf(errs, "the training was stopped; `skillopt runs show %s` says how far it is\n", dir)
			}
			return
		case <-time.After(grace):
		}
	}
}
