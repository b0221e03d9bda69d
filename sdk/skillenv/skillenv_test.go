package skillenv_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/sdk/skillenv"
	"github.com/seed-f4525e22/skillopt/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// asking is a program that plays: it says what the model said, and gold.
func asking(ctx context.Context, s world.Setting, skill string) (world.Observation, error) {
	resp, err := s.Client.Generate(ctx, model.Request{
		Messages: []model.Message{{Role: model.System, Content: skill}, {Role: model.User, Content: s.Task.Prompt}},
		Tags:     model.Tags{Role: model.Judge},
	})
	score := 0.5
	return world.Observation{Text: resp.Text + fmt.Sprint(s.Task.Gold, s.Seed), Done: true, Score: &score}, err
}

// serve has a program answer lines, and returns what it writes, line by line.
func serve(t *testing.T, p skillenv.Program) (ask func(line string) string, end func() error) {
	t.Helper()
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := skillenv.Serve(t.Context(), in, out, p)
		out.Close()
		done <- err
	}()
	lines := bufio.NewReader(fromOut)
	ask = func(line string) string {
		t.Helper()
		if _, err := io.WriteString(toIn, line+"\n"); err != nil {
			t.Fatal(err)
		}
		got, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(got)
	}
	return ask, func() error { toIn.Close(); return <-done }
}

func TestProgramThatPlays(t *testing.T) {
	t.Parallel()
	ask, end := serve(t, skillenv.Program{Name: "n", Version: "1", Play: asking, Tasks: []json.RawMessage{[]byte(`{"id":"a"}`)}})
	for _, tt := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":"skill-env/1","config":{}}}`, `{"jsonrpc":"2.0","id":1,"result":{"name":"n","version":"1","plays":true,"tasks":true,"concurrent":16}}`},
		{`{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocol":"skill-env/2"}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"the protocol is \"skill-env/2\", allowed: skill-env/1","data":{"kind":"infra"}}}`},
		{`{"jsonrpc":"2.0","id":3,"method":"tasks"}`, `{"jsonrpc":"2.0","id":3,"result":{"tasks":[{"id":"a"}]}}`},
		{
			`{"jsonrpc":"2.0","id":4,"method":"start","params":{"episode":"e","seed":7,"skill":"s","task":{"id":"a","prompt":"q","gold":["x",3]}}}`,
			`{"jsonrpc":"2.0","id":"p1","method":"generate","params":{"episode":"e","role":"judge","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"}]}}`,
		},
		{`{"jsonrpc":"2.0","id":"p1","result":{"text":"hm ","finish":"stop"}}`, `{"jsonrpc":"2.0","id":4,"result":{"text":"hm [x 3] 7","done":true,"score":0.5}}`},
		{
			`{"jsonrpc":"2.0","id":5,"method":"start","params":{"episode":"f","seed":7,"task":{"id":"a","prompt":"q"}}}`,
			`{"jsonrpc":"2.0","id":"p2","method":"generate","params":{"episode":"f","role":"judge","messages":[{"role":"system","content":""},{"role":"user","content":"q"}]}}`,
		},
		{`{"jsonrpc":"2.0","id":"p2","error":{"code":1,"message":"too long","data":{"kind":"agent"}}}`, `{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"too long","data":{"kind":"agent"}}}`},
		{`{"jsonrpc":"2.0","id":6,"method":"close","params":{"episode":"e"}}`, `{"jsonrpc":"2.0","id":6,"result":{}}`},
	} {
		if diff := cmp.Diff(tt.want, ask(tt.line)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.line, diff)
		}
	}
	if err := end(); err != nil {
		t.Error(err)
	}
}

// A line that is no message ends the program: nothing can be answered to it.
func TestServeEnds(t *testing.T) {
	t.Parallel()
	for in, bad := range map[string]bool{"": false, "{\n": true, `{"jsonrpc":"2.0","id":1,"method":"shutdown"}` + "\n": false} {
		if err := skillenv.Serve(t.Context(), strings.NewReader(in), io.Discard, skillenv.Program{}); (err != nil) != bad {
			t.Errorf("%q: %v", in, err)
		}
	}
	if err := skillenv.Serve(t.Context(), broken{}, io.Discard, skillenv.Program{}); !errors.Is(err, errBroken) {
		t.Errorf("got %v", err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }
