package env

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// MaxLine is the longest line that a process may answer, in bytes.
const MaxLine = 16 << 20

// grace is how long a process may take to end when its input does, and its last
// output to arrive when it has ended.
const grace = 2 * time.Second

// process is one running program. One rollout uses it at a time.
type process struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout *os.File // our end
	stderr *tail
	hide   *redact.Exact
	key    string        // that its variables hold, "" if it has none
	own    *redact.Exact // of that key
	lines  chan line     // what it writes, line by line; closed at its end
	quit   chan struct{} // closed when no one reads lines any more
	done   chan struct{} // closed when it has ended; then exit is set
	exit   error

	once sync.Once // guards quit
}

type line struct {
	text []byte
	more bool // there was output behind it already
	err  error
}

// start runs the program. Two goroutines go with it, which owner waits for: one
// reads its output, one waits for its end.
func start(o Options, owner *sync.WaitGroup) (*process, error) {
	key, environ, err := o.modelAccess()
	if err != nil {
		return nil, startError(err)
	}
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Dir = o.Dir
	cmd.Env = append(append([]string{}, o.Environ...), environ...) // not nil, which would pass on everything
	cmd.WaitDelay = grace                                          // for a grandchild that holds the standard error
	ownGroup(cmd)
	p := &process{cmd: cmd, hide: o.Hide, stderr: &tail{hide: o.Hide}, lines: make(chan line), quit: make(chan struct{}), done: make(chan struct{})}
	p.key, p.own = key, redact.NewExact(key)
	cmd.Stderr = p.stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, startError(err)
	}
	p.stdin = stdin
	// Not StdoutPipe: waiting for the end would close it while there is still
	// output to read.
	out, in, err := os.Pipe()
	if err != nil {
		return nil, startError(errors.Join(err, stdin.Close()))
	}
	p.stdout, cmd.Stdout = out, in
	if err := cmd.Start(); err != nil {
		return nil, startError(errors.Join(err, stdin.Close(), out.Close(), in.Close()))
	}
	closeErr := in.Close()
	owner.Go(p.readLines)
	owner.Go(p.wait)
	if closeErr != nil {
		p.kill()
		return nil, startError(closeErr)
	}
	return p, nil
}

// modelAccess returns what a process finds a model by; nothing if there is none.
func (o Options) modelAccess() (key string, environ []string, err error) {
	if o.Keyed == nil {
		return "", nil, nil
	}
	return o.Keyed()
}

func startError(err error) error {
	return &Error{Kind: Start, Detail: "the process could not be started", Err: err}
}

func (p *process) wait() {
	p.exit = p.cmd.Wait()
	if errors.Is(p.exit, exec.ErrWaitDelay) {
		p.exit = nil // it ended well; what it left behind held the standard error
	}
	killLeftovers(p.cmd)
	close(p.done)
}

// readLines reads the output until it ends, or no one wants it any more.
func (p *process) readLines() {
	defer close(p.lines)
	defer p.stdout.Close() // an error of closing what was read to the end says nothing
	r := bufio.NewReaderSize(p.stdout, 64<<10)
	for {
		text, err := readLine(r)
		l := line{text: p.own.JSON(p.hide.JSON(text)), err: err, more: r.Buffered() > 0}
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			return
		}
		select {
		case p.lines <- l:
		case <-p.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// readLine reads up to a line feed. The last line may do without it.
func readLine(r *bufio.Reader) ([]byte, error) {
	var text []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(text)+len(part) > MaxLine {
			return nil, &Error{Kind: TooLong, Detail: fmt.Sprintf("a line of output is longer than %d MB", MaxLine>>20)}
		}
		text = append(text, part...)
		switch {
		case err == nil, errors.Is(err, io.EOF) && len(text) > 0:
			return text, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (p *process) hasExited() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// answer returns what ask returns, with the model of a task at hand.
func (p *process) answer(ctx context.Context, q question) ([]byte, error) {
	if err := q.access.bind(p); err != nil {
		return nil, err
	}
	return p.ask(ctx, q.line)
}

// ask writes a line and waits for the answer. After an error the process is of
// no further use.
func (p *process) ask(ctx context.Context, request []byte) ([]byte, error) {
	select {
	case l, ok := <-p.lines:
		if ok {
			return nil, unaskedError(l)
		}
		return nil, p.exitError()
	default:
	}
	// Ending the process is what unblocks the write when it does not read.
	stop := context.AfterFunc(ctx, p.kill)
	defer stop()
	answer, err := p.exchange(ctx, request)
	if err != nil && ctx.Err() != nil {
		return nil, contextError(ctx) // it ended because we ended it
	}
	return answer, err
}

func (p *process) exchange(ctx context.Context, request []byte) ([]byte, error) {
	_, writeErr := p.stdin.Write(request)
	if writeErr != nil {
		return p.last(ctx)
	}
	select {
	case l, ok := <-p.lines:
		if !ok {
			return nil, p.exitError()
		}
		return p.check(l)
	case <-ctx.Done():
		return nil, contextError(ctx)
	case <-p.done:
		return p.last(ctx)
	}
}

// last reads what the process wrote before it ended or stopped reading.
func (p *process) last(ctx context.Context) ([]byte, error) {
	timer := time.NewTimer(grace) // a grandchild may keep the output open
	defer timer.Stop()
	select {
	case l, ok := <-p.lines:
		if ok {
			return p.check(l)
		}
	case <-ctx.Done():
		return nil, contextError(ctx)
	case <-timer.C:
	}
	return nil, p.exitError()
}

func (p *process) check(l line) ([]byte, error) {
	if l.err != nil {
		return nil, l.err
	}
	if l.more {
		return nil, &Error{Kind: Rubbish, Detail: fmt.Sprintf("it wrote more than one line for a task, the first is %s; logs belong on the standard error", excerpt(l.text))}
	}
	return l.text, nil
}

func contextError(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errDeadline) {
		return &Error{Kind: Deadline, Err: errDeadline}
	}
	return context.Cause(ctx)
}

// exitError returns how the process ended.
func (p *process) exitError() error {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		return &Error{Kind: Died, Detail: "the process closed its output without an answer"}
	}
	if p.exit == nil {
		return &Error{Kind: Died, Detail: "the process ended without an answer", Err: errLeft}
	}
	return &Error{Kind: Died, Detail: "the process ended without an answer", Err: p.exit}
}

// abandon ends the process and adds what it had to say to the error.
func (p *process) abandon(err error) error {
	p.kill()
	<-p.done
	return p.quote(err)
}

// quote adds the end of the standard error to a fault. What it says itself may have
// been written in JSON, and hold a secret only now that this is read.
func (p *process) quote(err error) error {
	var fault *Error
	if errors.As(err, &fault) {
		fault.Detail = p.own.Text(p.hide.Text(fault.Detail))
		fault.Stderr = p.own.Text(p.stderr.text())
	}
	return err
}

// kill ends the process and its children at once. It may be called from several
// goroutines, and more than once.
func (p *process) kill() {
	p.once.Do(func() {
		close(p.quit)
		if !p.hasExited() {
			killGroup(p.cmd)
		}
		p.stdin.Close()  // unblocks a write; the process is ending anyway
		p.stdout.Close() // unblocks the reader if a grandchild holds the other end
	})
}

// dismiss ends the input of an idle process and gives it a moment to end.
// killed reports that it took longer.
func (p *process) dismiss() (killed bool) {
	p.stdin.Close() // if it fails, the deadline below ends the process
	timer := time.AfterFunc(grace, p.kill)
	defer func() { killed = !timer.Stop() }()
	for {
		select {
		case _, ok := <-p.lines: // parting words
			if !ok {
				<-p.done
				return false
			}
		case <-p.done:
			p.kill()
			return false
		}
	}
}
