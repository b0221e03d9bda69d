package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxLine is how long a message of a client may be, in bytes.
const maxLine = 1 << 20

// wire is a connection whose messages are lines. A line that is no message is answered with an error, and the next
// one is read: the transport of the library ends the connection instead.
type wire struct {
	in     io.Reader
	lines  chan line
	once   sync.Once
	closed chan struct{}

	mu  sync.Mutex // held by a write
	out io.Writer
}

// line is a line that was read, without its end.
type line struct {
	text []byte
	long bool // it was longer than maxLine, and its text is missing
}

func newWire(in io.Reader, out io.Writer) *wire {
	return &wire{in: in, out: out, lines: make(chan line), closed: make(chan struct{})}
}

// Connect begins to read.
func (w *wire) Connect(context.Context) (sdk.Connection, error) {
	go w.scan()
	return w, nil
}

// scan reads lines until they end. It has no other owner than the stream: what waits for a terminal or a pipe ends
// with it.
func (w *wire) scan() {
	defer close(w.lines)
	r := bufio.NewReaderSize(w.in, 1<<16)
	for {
		l, err := readLine(r)
		if err != nil && len(l.text) == 0 && !l.long {
			return
		}
		select {
		case w.lines <- l:
		case <-w.closed:
			return
		}
	}
}

func readLine(r *bufio.Reader) (l line, err error) {
	for {
		part, more, err := r.ReadLine()
		if len(l.text)+len(part) > maxLine {
			l.long, l.text = true, nil
		}
		if !l.long {
			l.text = append(l.text, part...)
		}
		if err != nil || !more {
			return l, err
		}
	}
}

// Read returns the next message.
func (w *wire) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		select {
		case l, ok := <-w.lines:
			if !ok {
				return nil, io.EOF
			}
			m, bad := l.parse()
			if bad == nil && m != nil {
				return m, nil
			}
			if bad == nil { // an empty line
				continue
			}
			if err := w.write(marshal(map[string]any{"jsonrpc": "2.0", "id": l.id(), "error": bad})); err != nil {
				return nil, err
			}
		case <-w.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// parse returns the message, nil for an empty line, and what is wrong with one that is none.
func (l line) parse() (jsonrpc.Message, *jsonrpc.Error) {
	text := bytes.TrimSpace(l.text)
	switch {
	case l.long:
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", maxLine)}
	case len(text) == 0:
		return nil, nil
	case !json.Valid(text):
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is no JSON, or nested too deeply"}
	case text[0] == '[':
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "batches are not taken: send one message a line"}
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return m, nil
}

// id is that of a request that is no valid message otherwise.
func (l line) id() any {
	var m struct{ ID any }
	_ = json.Unmarshal(l.text, &m) // it stays nil
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// Write sends a message.
func (w *wire) Write(_ context.Context, m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	return w.write(data)
}

func (w *wire) write(data []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, err := w.out.Write(append(data, '\n'))
	return err
}

// Close ends reading. The streams are those of the process.
func (w *wire) Close() error {
	w.once.Do(func() { close(w.closed) })
	return nil
}

// SessionID returns "": there is one session.
func (*wire) SessionID() string { return "" }

// ignoreEnd drops the error of a connection that its client has ended.
func ignoreEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, sdk.ErrConnectionClosed) {
		return nil
	}
	return err
}
