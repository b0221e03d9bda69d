package mcp

import (
	"bufio"
	"bytes"
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

// lines passes the lines of a client that are messages. One that is none is answered with an error, and the next one is
// read: the transport of the library ends the connection on it.
type lines struct {
	in   *bufio.Reader
	out  *answers
	rest []byte // of the line that is being passed
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		switch problem := check(line); {
		case problem != nil:
			if _, err := l.out.Write(append(marshal(map[string]any{"jsonrpc": "2.0", "id": requestID(line), "error": problem}), '\n')); err != nil {
				return 0, err
			}
		case len(line) > 0:
			l.rest = append(line, '\n')
		case err != nil:
			return 0, err
		}
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Close does nothing: the streams are those of the process.
func (*lines) Close() error { return nil }

// next reads a line, of one that is too long its beginning.
func (l *lines) next() (line []byte, err error) {
	for more := true; more && err == nil; {
		var part []byte
		part, more, err = l.in.ReadLine()
		if len(line) <= maxLine {
			line = append(line, part...)
		}
	}
	return bytes.TrimSpace(line), err
}

// check returns what is wrong with a line, nil if it is a message or empty.
func check(line []byte) *jsonrpc.Error {
	switch {
	case len(line) > maxLine:
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", maxLine)}
	case len(line) == 0:
		return nil
	case !json.Valid(line):
		return &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is no JSON, or nested too deeply"}
	case line[0] == '[':
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "batches are not taken: send one message a line"}
	}
	if _, err := jsonrpc.DecodeMessage(line); err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	return nil
}

// requestID returns the id of a request that is otherwise not a valid message, nil for one that cannot be read.
func requestID(line []byte) any {
	var m struct{ ID any }
	_ = json.Unmarshal(line, &m) // it stays nil
	switch m.ID.(type) {
	case string, float64:
		return m.ID
	}
	return nil
}

// answers is what is written to a client, a line at a time.
type answers struct {
	mu  sync.Mutex
	out io.Writer
}

// Write implements io.Writer.
func (a *answers) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.out.Write(p)
}

// Close does nothing, as that of lines.
func (*answers) Close() error { return nil }

// newTransport returns the transport over a pair of streams.
func newTransport(in io.Reader, out io.Writer) sdk.Transport {
	a := &answers{out: out}
	return &sdk.IOTransport{Reader: &lines{in: bufio.NewReaderSize(in, 1<<16), out: a}, Writer: a}
}

// codeClosing is the code by which the library says that its client has gone while a call was at work.
const codeClosing = -32004

// ignoreEnd drops the error of a connection that its client has ended.
func ignoreEnd(err error) error {
	var known *jsonrpc.Error
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, sdk.ErrConnectionClosed) || errors.As(err, &known) && known.Code == codeClosing {
		return nil
	}
	return err
}
