package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// raw is a client that writes lines.
type raw struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	ended  chan error
	inside chan string // "begun" and "ended" of the tool wait
}

func newRaw(t *testing.T) *raw {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	r := &raw{t: t, in: toServer, out: bufio.NewReader(fromServer), ended: make(chan error, 1), inside: make(chan string, 200)}
	s := Server{
		Name: "test", Version: "1",
		Tools: []Tool{
			{
				Name: "echo", Description: "Says what it was given.",
				Params: []Param{{Name: "text", Type: Text, Required: true, Description: "a text"}, {Name: "n", Type: Integer}, {Name: "yes", Type: Boolean}, {Name: "list", Type: Texts}},
				Run: func(_ context.Context, c *Call) (string, error) {
					data, err := json.Marshal(c.Args)
					return string(data), err
				},
			},
			{Name: "fail", Description: "Fails.", Run: func(context.Context, *Call) (string, error) { return "half", errors.New("it failed; try again") }},
			{Name: "wait", Description: "Waits for its end.", Run: func(ctx context.Context, _ *Call) (string, error) {
				r.inside <- "begun"
				<-ctx.Done()
				r.inside <- "ended"
				return "", ctx.Err()
			}},
		},
		Documents: Documents{
			Templates: []Template{{URI: "test://{name}", Name: "test"}},
			List:      func(context.Context, *Peer) ([]Document, error) { return []Document{{URI: "test://a", Name: "a"}}, nil },
			Read: func(_ context.Context, _ *Peer, uri string) (Document, error) {
				if uri == "test://long" {
					return Document{Text: strings.Repeat("x", 2*maxDocument)}, nil
				}
				return Document{Text: strings.TrimPrefix(uri, "test://none")}, nil
			},
		},
	}
	go func() {
		r.ended <- s.Serve(t.Context(), fromClient, toClient)
		_ = toClient.Close()
	}()
	t.Cleanup(func() {
		_ = toServer.Close()
		if err := <-r.ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		goleak.VerifyNone(t, leaks)
	})
	return r
}

func (r *raw) send(line string) {
	r.t.Helper()
	if _, err := io.WriteString(r.in, line+"\n"); err != nil {
		r.t.Fatal(err)
	}
}

func (r *raw) read() string {
	r.t.Helper()
	line, err := r.out.ReadString('\n')
	if err != nil {
		r.t.Fatal(err)
	}
	if !json.Valid([]byte(line)) {
		r.t.Fatalf("no JSON: %s", line)
	}
	return line
}

func (r *raw) ask(line string) string {
	r.t.Helper()
	r.send(line)
	return r.read()
}

func (r *raw) greet() {
	r.t.Helper()
	r.ask(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`)
	r.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func call(id int, tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, arguments)
}

// A request that is wrong is answered, and the next one too.
func TestWrongRequests(t *testing.T) {
	const (
		parse, invalid, params = `"code":-32700`, `"code":-32600`, `"code":-32602`
		refused                = `"isError":true`
	)
	r := newRaw(t)
	if out := r.ask(`{"jsonrpc":"2.0","id":7,"method":"tools/list"}`); !strings.Contains(out, "initialization") {
		t.Errorf("before initialize: %s", out)
	}
	r.greet()
	echo := func(arguments string) string { return call(7, "echo", arguments) }
	for _, tt := range []struct{ name, line, want string }{
		{"no JSON", `{"jsonrpc":`, parse},
		{"words", `hello`, parse},
		{"bytes that are no text", "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"\xff\xfe\"}", `"error"`},
		{"a batch", `[{"jsonrpc":"2.0","id":7,"method":"ping"}]`, invalid},
		{"another version", `{"jsonrpc":"1.0","id":7,"method":"ping"}`, invalid},
		{"no version", `{"id":7,"method":"ping"}`, invalid},
		{"an unknown method", `{"jsonrpc":"2.0","id":7,"method":"tools/run"}`, `"code":-32601`},
		{"a method that is a number", `{"jsonrpc":"2.0","id":7,"method":3}`, invalid},
		{"an id that is a list", `{"jsonrpc":"2.0","id":[7],"method":"ping"}`, invalid},
		{"initialize again", `{"jsonrpc":"2.0","id":7,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"other","version":"1"}}}`, "duplicate"},
		{"params that are a list", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[1]}`, `"error"`},
		{"no params", `{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, `"error"`},
		{"no tool", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}`, params},
		{"an unknown tool", call(7, "rm", `{}`), params},
		{"a missing argument", echo(`{}`), "text is missing"},
		{"no arguments", echo(`null`), "text is missing"},
		{"arguments that are a list", echo(`["x"]`), "not an object"},
		{"arguments that are a text", echo(`"x"`), "not an object"},
		{"a further argument", echo(`{"text":"x","set":["env.command=id"]}`), "there is no argument"},
		{"a number for a text", echo(`{"text":3}`), "allowed: a text"},
		{"null for a text", echo(`{"text":null}`), "allowed: a text"},
		{"true for a number", echo(`{"text":"x","n":true}`), "allowed: a whole number"},
		{"a text for a number", echo(`{"text":"x","n":"3"}`), "allowed: a whole number"},
		{"half a number", echo(`{"text":"x","n":1.5}`), "allowed: a whole number"},
		{"a number that is too large", echo(`{"text":"x","n":99999999999999999999}`), "allowed: a whole number"},
		{"no number", echo(`{"text":"x","n":NaN}`), parse},
		{"a text for true", echo(`{"text":"x","yes":"true"}`), "allowed: true or false"},
		{"a text for a list", echo(`{"text":"x","list":"a"}`), "allowed: a list of at most 64 texts"},
		{"a list of numbers", echo(`{"text":"x","list":[1]}`), "allowed: a list of at most 64 texts"},
		{"a list that is too long", echo(`{"text":"x","list":[` + strings.Repeat(`"a",`, maxTexts) + `"a"]}`), "allowed: a list of at most 64 texts"},
		{"a text that is too long", echo(`{"text":"` + strings.Repeat("a", maxText+1) + `"}`), "allowed: a text of at most 4096 bytes"},
		{"NUL", echo(`{"text":"a\u0000b"}`), "without NUL"},
		{"deep nesting", echo(`{"text":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`), invalid},
		{"nesting", echo(`{"text":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`), refused},
		{"nesting that is too deep", echo(`{"text":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`), parse},
		{"ten megabytes", echo(`{"text":"` + strings.Repeat("a", 10<<20) + `"}`), invalid},
		{"an error of a tool", call(7, "fail", `{}`), "it failed; try again"},
		{"a document that is not there", `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"test://none"}}`, params},
		{"an address that is none", `{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}`, params},
	} {
		if out := r.ask(tt.line); !strings.Contains(out, tt.want) {
			t.Errorf("%s: %.300s", tt.name, out)
		}
		if out := r.ask(`{"jsonrpc":"2.0","id":8,"method":"ping"}`); !strings.Contains(out, `"id":8`) || !strings.Contains(out, "result") {
			t.Fatalf("after %s: %.300s", tt.name, out)
		}
	}
	// What asks nothing is not answered.
	for _, line := range []string{
		``, `   `, `{"jsonrpc":"2.0","id":99,"result":{}}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4711}}`, `{"jsonrpc":"2.0","method":"notifications/none"}`,
	} {
		r.send(line)
	}
	if out := r.ask(echo(`{"text":"ä","n":-3,"yes":true,"list":["a","-b"]}`)); !strings.Contains(out, `{\"list\":[\"a\",\"-b\"],\"n\":-3,\"text\":\"ä\",\"yes\":true}`) || strings.Contains(out, "isError") {
		t.Errorf("a right request: %s", out)
	}
	if out := r.ask(`{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"test://long"}}`); len(out) > maxDocument+1000 || !strings.Contains(out, "left out") {
		t.Errorf("a long document: %d bytes", len(out))
	}
}

// A call that is cancelled ends, and so do calls at work when the client goes.
func TestCallsEnd(t *testing.T) {
	r := newRaw(t)
	r.greet()
	r.send(call(2, "wait", `{}`))
	<-r.inside
	r.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if got := <-r.inside; got != "ended" {
		t.Error(got)
	}
	if out := r.read(); !strings.Contains(out, `"id":2`) {
		t.Error(out)
	}
	r.send(call(3, "wait", `{}`))
	<-r.inside // newRaw's cleanup closes the connection now, and checks that nothing is left
}

// Fifty calls at once are all answered, each by its own answer.
func TestManyCalls(t *testing.T) {
	r := newRaw(t)
	r.greet()
	go func() {
		for i := range 50 {
			r.send(call(100+i, "echo", fmt.Sprintf(`{"text":"t%d"}`, i)))
		}
	}()
	seen := map[int]bool{}
	for range 50 {
		var m struct {
			ID     int
			Result struct{ Content []struct{ Text string } }
		}
		if err := json.Unmarshal([]byte(r.read()), &m); err != nil || len(m.Result.Content) != 1 {
			t.Fatal(err, m)
		}
		if want := fmt.Sprintf(`{"text":"t%d"}`, m.ID-100); m.Result.Content[0].Text != want {
			t.Errorf("%d: %s", m.ID, m.Result.Content[0].Text)
		}
		seen[m.ID] = true
	}
	if len(seen) != 50 {
		t.Errorf("%d answers", len(seen))
	}
}

// A document that is too long is shortened, and says which argument shows the rest.
func TestShorten(t *testing.T) {
	list := func(n, size int) string {
		return `{"a":"b","list":["` + strings.Repeat(strings.Repeat("x", size)+`","`, n-1) + `y"],"n":12345678901234567890}`
	}
	for _, tt := range []struct {
		name, doc string
		page      Page
		want      []string
	}{
		{"short", `{ "a": 1 }`, Page{}, []string{`{"a":1}`}},
		{"long", list(100, 1000), Page{List: "list"}, []string{"list: 1 to ", "of 100 are shown, after=", `"n":12345678901234567890`}},
		{"asked for few", list(10, 1), Page{List: "list", Limit: 2, After: 3}, []string{`"list":["x","x"]`, "4 to 5 of 10", "after=5"}},
		{"the end", list(10, 1), Page{List: "list", After: 9}, []string{`"list":["y"]`, "the first 9 of 10"}},
		{"beyond the end", list(10, 1), Page{List: "list", After: 99}, []string{`"list":[]`}},
		{"a short list at the top", `[]`, Page{List: "runs"}, []string{`{"runs":[]}`}},
		{"a list at the top", `[1,2,3]`, Page{List: "runs", Limit: 2}, []string{`"runs":[1,2]`, "after=2"}},
		{"inside", `{"a":{"b":[1,2,3]}}`, Page{List: "a.b", Limit: 1}, []string{`"b":[1]`, "a.b: 1 to 1 of 3"}},
		{"lines", `{"diff":"a\nb\nc\n"}`, Page{List: "diff", Limit: 2}, []string{`"diff":"a\nb\n"`, "after=2"}},
		{"one long text", `{"t":"` + strings.Repeat("x", 2*maxAnswer) + `"}`, Page{}, []string{"of 1 member the middle"}},
		{"no JSON", "x", Page{}, []string{"x"}},
	} {
		got := tt.page.Shorten([]byte(tt.doc))
		if len(got) > maxAnswer {
			t.Errorf("%s: %d bytes", tt.name, len(got))
		}
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %.400s", tt.name, want, got)
			}
		}
	}
}
