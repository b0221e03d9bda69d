package sandbox

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

const (
	defaultOutput = 64 << 20
	defaultGrace  = 2 * time.Second
)

// Run runs a program to its end, at the latest to that of the context, and ends
// whatever it left behind. The error is a *StartError or an *UnsupportedError
// when it has not run, and the error of Spec.Stdout when that refused what the
// program printed; how the program ended, badly too, is in the Result. Run may
// be called concurrently.
func Run(ctx context.Context, s Spec) (Result, error) {
	if ctx.Err() != nil {
		return Result{Reason: Cancelled, Code: -1}, nil
	}
	cmd, err := s.command()
	if err != nil {
		return Result{}, err
	}
	p := newProcess(s, cmd)
	if s.Confine != nil {
		if err := p.confine(); err != nil {
			return Result{}, err
		}
	}
	if err := p.start(); err != nil {
		return Result{}, &StartError{Program: s.Argv[0], Err: err}
	}
	return p.run(ctx)
}

// command prepares the program, without starting it.
func (s *Spec) command() (*exec.Cmd, error) {
	if len(s.Argv) == 0 {
		return nil, &StartError{Err: errors.New("no program is given")}
	}
	fail := func(err error) (*exec.Cmd, error) { return nil, &StartError{Program: s.Argv[0], Err: err} }
	if !filepath.IsAbs(s.Dir) {
		return fail(fmt.Errorf("the folder %q to run in is not absolute", s.Dir))
	}
	if info, err := os.Stat(s.Dir); err != nil {
		return fail(err)
	} else if !info.IsDir() {
		return fail(fmt.Errorf("%s is not a folder", s.Dir))
	}
	path, err := lookPath(s.Argv[0], s.Dir, s.Env)
	if err != nil {
		return fail(err)
	}
	return &exec.Cmd{Path: path, Args: s.Argv, Dir: s.Dir}, nil
}

// process is one program that runs.
type process struct {
	spec   Spec
	cmd    *exec.Cmd
	marker string // "NAME=value"
	began  time.Time
	wait   Wait
	waited time.Duration // of the deadline that passed
	output *meter
	stderr tail

	status report // of what confines the program

	lifeline *os.File // closing it ends the program and all that is left of it; nil without a supervisor

	pipes []*os.File     // our ends; closing them ends the copying
	stdin *os.File       // our end, nil without input
	input sync.WaitGroup // writes the input
	copy  sync.WaitGroup // reads the outputs
	done  chan struct{}  // closed when the direct child has ended
}

// report is what a process between us and the program says about its work.
type report struct {
	wanted   bool
	lifeline bool // it waits for the end of another pipe
	text     bytes.Buffer
	// read reads the text when all is over: how the program ended, if that is
	// said, and why it has not run, nil if it has.
	read func(text, stderr string) (ending, error)
}

// ending is how a program ended.
type ending struct {
	known  bool
	code   int
	signal string
	over   *overrun // why it was ended before its time, nil if it was not
	cpu    time.Duration
	peak   int64
}

func newProcess(s Spec, cmd *exec.Cmd) *process {
	return &process{spec: s, cmd: cmd, marker: Marker + "=" + rand.Text(), output: newMeter(s.MaxOutput), done: make(chan struct{})}
}

// start starts the program and the goroutines that go with it, which run waits
// for.
func (p *process) start() error {
	cmd := p.cmd
	cmd.Env = append(slices.Clone(p.spec.Env), p.marker)
	ownGroup(cmd)
	theirs, err := p.connect()
	if err == nil {
		p.began, p.wait = time.Now(), BeginWait()
		err = cmd.Start()
	}
	for _, f := range theirs {
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		p.closePipes()
		if cmd.Process != nil {
			kill(cmd)
			_ = cmd.Wait() // it was never to run
		}
		return err
	}
	p.input.Go(p.writeInput)
	stdout := p.spec.Stdout
	if stdout == nil {
		stdout = io.Discard
	}
	p.copy.Go(func() { p.output.copy(stdout, p.pipes[0]) })
	p.copy.Go(func() { p.output.copy(&p.stderr, p.pipes[1]) })
	if p.status.wanted {
		p.copy.Go(func() { _, _ = io.Copy(&p.status.text, io.LimitReader(p.pipes[2], maxStderr)) }) // as far as it comes
	}
	go func() {
		defer close(p.done)
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
	}()
	return nil
}

// connect makes the pipes: ours into p, theirs into the command and returned,
// to be closed once it has started. They are ours, not those of package exec,
// because a descendant may hold its end for as long as it likes.
func (p *process) connect() (theirs []*os.File, err error) {
	for _, out := range []*io.Writer{&p.cmd.Stdout, &p.cmd.Stderr} {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.pipes, theirs, *out = append(p.pipes, r), append(theirs, w), w
	}
	if p.status.wanted {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.pipes, theirs, p.cmd.ExtraFiles = append(p.pipes, r), append(theirs, w), []*os.File{w}
	}
	if p.status.lifeline {
		r, w, err := os.Pipe()
		if err != nil {
			return theirs, err
		}
		p.lifeline, theirs, p.cmd.ExtraFiles = w, append(theirs, r), append(p.cmd.ExtraFiles, r)
	}
	if p.spec.Stdin == nil {
		return theirs, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.cmd.Stdin, p.stdin = r, w
	return append(theirs, r), nil
}

func (p *process) closePipes() {
	for _, f := range append(p.pipes, p.stdin, p.lifeline) {
		if f != nil {
			_ = f.Close() // a second time, or while it is in use, is as well
		}
	}
}

// writeInput feeds the program. It need not read all of it, or any.
func (p *process) writeInput() {
	if p.stdin == nil {
		return
	}
	_, _ = io.Copy(p.stdin, p.spec.Stdin) // a program that ends without reading is its own affair
	_ = p.stdin.Close()
}

// run waits for the end and cleans up.
func (p *process) run(ctx context.Context) (Result, error) {
	reason := p.await(ctx)
	if reason != Exited {
		p.end(reason)
	}
	kill(p.cmd) // what is left of the group; its number is not given away while anything is
	killStrays(p.cmd.Process.Pid, p.marker)
	p.drain()
	if p.output.isOver() {
		reason = Flooded // perhaps with its last words
	} else if reason == Flooded {
		reason = Cancelled // because of an error of Stdout
	}
	how, err := p.readEnding()
	if err != nil && reason == Exited {
		return Result{}, &StartError{Program: p.spec.Argv[0], Err: err}
	}
	r := Result{
		Reason: reason, Code: how.code, Signal: how.signal,
		Stderr: p.stderr.String(), Output: p.output.total(), Took: time.Since(p.began), Waited: p.waited,
		CPU: how.cpu, Peak: how.peak,
	}
	r.blame(how.over)
	return r, p.output.failure()
}

// blame says in a result which limit ended the program, if one did.
func (r *Result) blame(over *overrun) {
	if over == nil || r.Reason != Exited {
		return
	}
	r.Reason, r.Limit, r.Detail = Exhausted, over.Limit, over.Detail
	if over.Limit == "" {
		r.Reason = Starved
	}
}

// readEnding returns how the program ended: as was reported, or else as we saw.
func (p *process) readEnding() (ending, error) {
	seen := exit(p.cmd.ProcessState)
	if !p.status.wanted {
		return seen, nil
	}
	said, err := p.status.read(p.status.text.String(), p.stderr.String())
	if said.known {
		return said, err
	}
	return seen, err
}

// await waits for the program to end by itself, or for a reason to end it.
func (p *process) await(ctx context.Context) Reason {
	var deadline <-chan time.Time
	if p.spec.Timeout > 0 {
		t := time.NewTimer(p.spec.Timeout)
		defer t.Stop()
		deadline = t.C
	}
	select {
	case <-p.done:
		return Exited
	case <-deadline:
		p.waited = p.wait.Measure(p.cmd.Process.Pid)
		return Deadline
	case <-ctx.Done():
		return Cancelled
	case <-p.output.stop:
		return Flooded
	}
}

// end ends the program: by asking, except where it has shown that it does not
// listen.
func (p *process) end(reason Reason) {
	if reason != Flooded {
		ask(p.cmd)
		select {
		case <-p.done:
			return
		case <-p.output.stop:
		case <-time.After(p.grace()):
		}
	}
	if p.lifeline != nil {
		_ = p.lifeline.Close() // it cannot fail in a way that matters
		select {
		case <-p.done:
			return
		case <-time.After(defaultGrace): // the supervisor does not answer
		}
	}
	kill(p.cmd)
	<-p.done
}

// drain waits for the last output. A descendant that no one could find may hold
// the pipes, so the wait is bounded.
func (p *process) drain() {
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		p.copy.Wait()
	}()
	select {
	case <-copied:
	case <-time.After(p.grace()):
	}
	p.closePipes()
	<-copied
	if in, ok := p.spec.Stdin.(io.Closer); ok {
		_ = in.Close() // so that a Read that waits returns
	}
	p.input.Wait()
}

func (p *process) grace() time.Duration {
	if p.spec.Grace > 0 {
		return p.spec.Grace
	}
	return defaultGrace
}
