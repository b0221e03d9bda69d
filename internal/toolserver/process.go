package toolserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Bounds of what a server sends.
const (
	maxMessage = 8 << 20  // bytes of one message
	maxPrinted = 64 << 20 // of all that a program prints, and of one answer over HTTP
	grace      = 2 * time.Second
)

// name names the server for messages.
func (v Server) name() string {
	if v.URL != "" {
		host := v.URL
		if u, err := url.Parse(v.URL); err == nil {
			host = u.Host // the rest may hold a key
		}
		return fmt.Sprintf("%s (%s)", v.Key, host)
	}
	var words []string
	for _, arg := range v.Argv {
		words = append(words, filepath.Base(arg))
	}
	return fmt.Sprintf("%s (%s)", v.Key, wording.Cut(strings.Join(words, " "), 100))
}

func (v Server) help() string {
	if v.URL != "" {
		return "nothing was measured: look at the server, and at " + v.Key + ".url and .api_key_env"
	}
	return "nothing was measured: start the program by hand to see what it says; " + v.Key + ".network, .pass_env and .read open to it what it needs"
}

// transport begins a program, or is the way to an address.
func (v Server) transport(s *session, dir string) (mcp.Transport, error) {
	if v.URL == "" {
		p, err := v.start(dir)
		if err != nil {
			return nil, err
		}
		s.process = p
		return &mcp.IOTransport{Reader: p.output, Writer: p.input, MaxLineLength: maxMessage}, nil
	}
	s.web = &http.Transport{TLSHandshakeTimeout: defaultTimeout, ForceAttemptHTTP2: true, IdleConnTimeout: time.Minute}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // calls go where the user has sent them
	return &mcp.StreamableClientTransport{
		Endpoint: v.URL, MaxRetries: -1, MaxEventSize: maxMessage,
		HTTPClient: &http.Client{Transport: &authorized{value: v.Authorization, next: s.web}, CheckRedirect: stay},
	}, nil
}

// authorized sends requests with a header, and bounds the answers.
type authorized struct {
	value string
	next  http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (a *authorized) RoundTrip(r *http.Request) (*http.Response, error) {
	if a.value != "" {
		r = r.Clone(r.Context())
		r.Header.Set("Authorization", a.value)
	}
	resp, err := a.next.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxPrinted), resp.Body}
	}
	return resp, err
}

// withoutAddress takes the address out of an error: it may hold a key.
func withoutAddress(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}

// process is a program at work. All methods can be called on nil, which is none.
type process struct {
	input  *io.PipeWriter
	output *io.PipeReader
	places sandbox.Places
	dir    string
	own    string // folder that is removed with it

	end    context.CancelFunc
	ended  chan struct{}
	result sandbox.Result // and err, when it has ended
	err    error
}

// start starts the program in a folder, "" for one of its own, with a home folder that is removed when it ends.
func (v Server) start(dir string) (_ *process, err error) {
	own, err := os.MkdirTemp("", disk.Tools)
	if err == nil {
		own, err = filepath.EvalSymlinks(own)
	}
	home := filepath.Join(own, "home")
	if err == nil {
		err = os.MkdirAll(filepath.Join(home, "tmp"), 0o700)
	}
	if err == nil && dir == "" {
		dir = filepath.Join(own, "work")
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return nil, fmt.Errorf("make a folder for a server of tools: %w", err)
	}
	in, input := io.Pipe()
	output, out := io.Pipe()
	ctx, end := context.WithCancel(context.Background())
	p := &process{input: input, output: output, dir: dir, own: own, end: end, ended: make(chan struct{})}
	spec := sandbox.Spec{Argv: v.Argv, Dir: dir, Stdin: in, Stdout: out, MaxOutput: maxPrinted, Grace: grace}
	if v.Confine != nil {
		c := *v.Confine
		c.Write = []string{dir, home}
		if v.Places != nil {
			c.Show = v.Places(dir, home)
		}
		spec.Confine, p.places = &c, c.Show
	}
	seen := p.places.Seen(home)
	spec.Env = append([]string{"HOME=" + seen, "TMPDIR=" + filepath.Join(seen, "tmp")}, v.Environ...)
	go func() {
		defer close(p.ended)
		p.result, p.err = sandbox.Run(ctx, spec)
		_ = out.Close() // what was printed is read first
	}()
	return p, nil
}

// plain shows the folder of a program where no other place is shown for it as a relative path.
func (p *process) plain(text string) string {
	if len(p.places) > 0 {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, p.dir+"/", ""), p.dir, ".")
}

// failure says how a program has ended, nil while it is at work.
func (p *process) failure() error {
	if p == nil {
		return nil
	}
	select {
	case <-p.ended:
	case <-time.After(grace): // its output has ended, or is no use: it may be about to
		return p.complaint()
	}
	if p.err != nil {
		return p.err
	}
	how := fmt.Sprintf("it ended with exit code %d", p.result.Code)
	switch r := p.result; {
	case r.Reason == sandbox.Flooded:
		how = "it printed more than " + disk.Size(maxPrinted)
	case r.Detail != "":
		how = "it was ended: " + r.Detail
	case r.Reason == sandbox.Cancelled:
		how = "it was ended after it had sent what is no message, or one of more than " + disk.Size(maxMessage)
	case r.Signal != "":
		how = "it was ended by " + r.Signal
	}
	return errors.New(how + quoteErrors(p.result.Stderr))
}

// quoteErrors returns the end of what a program wrote to its standard error.
func quoteErrors(text string) string {
	if text = strings.TrimSpace(wording.Plain(text)); text == "" {
		return ""
	}
	return ", and wrote: " + text[max(0, len(text)-maxReason/2):]
}

// complaint ends the program and returns what it wrote to its standard error; nil: nothing.
func (p *process) complaint() error {
	if p == nil {
		return nil
	}
	p.stop()
	if text := quoteErrors(p.result.Stderr); text != "" {
		return errors.New(strings.TrimPrefix(text, ", and "))
	}
	return nil
}

// close has the program end, whose input has, and waits for it.
func (p *process) close() error {
	if p == nil {
		return nil
	}
	_ = p.input.Close() // a second time, as a rule
	select {
	case <-p.ended:
	case <-time.After(grace):
	}
	p.stop()
	return disk.RemoveAll(p.own)
}

// stop ends the program, which may wait for its output to be read.
func (p *process) stop() {
	_ = p.output.Close() // a second time, as a rule
	p.end()
	<-p.ended
}
