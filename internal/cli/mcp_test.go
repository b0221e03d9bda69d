package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

// mcpFolder is a folder with a skill, a config, tasks and no runs.
func mcpFolder(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	writeTree(t, dir, map[string]string{"my-skill/SKILL.md": "---\nname: my-skill\ndescription: Says how to count. Use it for counting.\n---\n# Counting\n\nCount.\n"})
	return dir
}

// connectMCP starts the server on pipes and connects a client of the library to it.
func connectMCP(t testing.TB, dir, name string, opts *sdk.ClientOptions, flags ...string) *sdk.ClientSession {
	t.Helper()
	s, _ := connectMCPTo(t, dir, name, opts, flags...)
	return s
}

// connectMCPTo is connectMCP with a function that ends the connection as the end of a client's process does.
func connectMCPTo(t testing.TB, dir, name string, opts *sdk.ClientOptions, flags ...string) (*sdk.ClientSession, func()) {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan int, 1)
	errs := &strings.Builder{}
	go func() {
		ended <- Main(context.Background(), append([]string{"mcp"}, flags...), Streams{In: fromClient, Out: toClient, Err: errs, Dir: dir}, "test")
		_ = toClient.Close()
	}()
	client := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, opts)
	if folder, ok := strings.CutPrefix(name, "rooted "); ok {
		client.AddRoots(&sdk.Root{URI: "file://" + folder}) //lint:ignore SA1019 clients of today have them
	}
	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err, errs)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if code := <-ended; code != exitOK || errs.Len() > 0 && !strings.HasPrefix(errs.String(), "the training was stopped") {
			t.Errorf("the server ended with %d: %s", code, errs)
		}
		idle := []goleak.Option{leaks} // connections between models of tests and their clients
		for _, f := range []string{"net/http.(*persistConn).readLoop", "net/http.(*persistConn).writeLoop", "net/http.(*conn).serve", "net/http.(*connReader).backgroundRead"} {
			idle = append(idle, goleak.IgnoreAnyFunction(f))
		}
		goleak.VerifyNone(t, idle...)
	})
	return session, func() { _, _ = toServer.Close(), fromServer.Close() }
}

// callMCP calls a tool and returns its texts.
func callMCP(t testing.TB, s *sdk.ClientSession, name string, args map[string]any) (text string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", name, args, err)
	}
	for _, c := range r.Content {
		text += c.(*sdk.TextContent).Text + "\n"
	}
	return text, r.IsError
}

func TestMCPTools(t *testing.T) {
	dir := mcpFolder(t)
	s := connectMCP(t, dir, "claude-code", nil)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if tool.Description == "" || len(tool.Description) > 2000 || strings.Contains(tool.Description, "xit code") {
			t.Errorf("%s: %d bytes: %s", tool.Name, len(tool.Description), tool.Description)
		}
	}
	for _, tt := range []struct {
		name   string
		args   map[string]any
		want   string
		failed bool
	}{
		{"skill_lint", map[string]any{"skill": "my-skill"}, `"errors":0`, false},
		{"skill_lint", map[string]any{"skill": dir + "/my-skill/SKILL.md"}, `"errors":0`, false},
		{"skill_lint", nil, "skill is missing", true},
		{"skill_lint", map[string]any{"skill": 3}, "allowed: a text", true},
		{"skill_lint", map[string]any{"skill": "my-skill", "strict": "yes"}, "allowed: true or false", true},
		{"skill_lint", map[string]any{"skill": "my-skill", "color": "never"}, "there is no argument", true},
		{"skill_lint", map[string]any{"skill": "../.."}, "leads out of the folders", true},
		{"skill_lint", map[string]any{"skill": "/etc"}, "leads out of the folders", true},
		{"skill_lint", map[string]any{"skill": "--help"}, "no such file", true},
		{"runs_list", nil, "[]", false},
	} {
		text, failed := callMCP(t, s, tt.name, tt.args)
		if !strings.Contains(text, tt.want) || failed != tt.failed {
			t.Errorf("%s %v: failed %v: %s", tt.name, tt.args, failed, text)
		}
	}
}

func writeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, text)
	}
}

func params(name string, args map[string]any) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: name, Arguments: args}
}

// Without --root the folders are those that the client says it works in, and the first of them is the one that relative
// paths begin in.
func TestMCPRootsOfTheClient(t *testing.T) {
	dir, elsewhere := mcpFolder(t), t.TempDir()
	s := connectMCP(t, elsewhere, "rooted "+dir, nil)
	if text, failed := callMCP(t, s, "skill_lint", map[string]any{"skill": "my-skill"}); failed {
		t.Error(text)
	}
	if text, failed := callMCP(t, s, "skill_lint", map[string]any{"skill": elsewhere}); !failed {
		t.Error(text)
	}
	s = connectMCP(t, dir, "rooted "+elsewhere, nil, "--root", dir)
	if text, failed := callMCP(t, s, "skill_lint", map[string]any{"skill": "my-skill"}); failed {
		t.Errorf("with --root: %s", text)
	}
}
