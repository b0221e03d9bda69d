package toolserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// played is the variable that makes this binary a server.
const played = "SKILLOPT_TEST_SERVER"

func TestMain(m *testing.M) {
	sandbox.Main(os.Args)
	if mode := os.Getenv(played); mode != "" {
		if err := play(mode); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}

// play is a server that misbehaves as mode says.
func play(mode string) error {
	switch mode {
	case "dies at once":
		return errors.New("no license was found")
	case "says nothing":
		_, err := bufio.NewReader(os.Stdin).ReadString(0)
		return err
	case "writes prose":
		fmt.Println("Server is listening!")
		time.Sleep(time.Minute)
		return nil
	case "floods":
		for {
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 64<<10) + `"}}`)
		}
	case "floods stderr":
		for {
			fmt.Fprintln(os.Stderr, strings.Repeat("x", 64<<10))
		}
	case "lies about ids":
		return lie()
	}
	return newTestServer(mode).Run(context.Background(), &mcp.StdioTransport{})
}

// lie answers each request under an id that was not asked.
func lie() error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var r struct{ ID int }
		if json.Unmarshal(in.Bytes(), &r) == nil {
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"result":{}}`+"\n", r.ID+1000)
		}
	}
	return in.Err()
}

type argument struct {
	Text string `json:"text"`
}

// newTestServer is a server with tools that do what their names say.
func newTestServer(mode string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test server", Version: "1"}, nil)
	add := func(name, about string, do func(ctx context.Context, r *mcp.CallToolRequest, text string) (*mcp.CallToolResult, error)) {
		mcp.AddTool(s, &mcp.Tool{Name: name, Description: about}, func(ctx context.Context, r *mcp.CallToolRequest, in argument) (*mcp.CallToolResult, any, error) {
			got, err := do(ctx, r, in.Text)
			return got, nil, err
		})
	}
	text := func(t string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: t}}}
	}
	add("echo", "Returns the text.", func(_ context.Context, _ *mcp.CallToolRequest, t string) (*mcp.CallToolResult, error) {
		return text(t), nil
	})
	add("where", "Returns the folder.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		dir, err := os.Getwd()
		return text(dir + "/file"), err
	})
	add("write", "Writes a file.", func(_ context.Context, _ *mcp.CallToolRequest, t string) (*mcp.CallToolResult, error) {
		return text("written"), os.WriteFile("out.txt", []byte(t), 0o600)
	})
	add("long", "Returns much.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		return text(strings.Repeat("ä", maxResult)), nil
	})
	add("picture", "Returns no text.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.ImageContent{MIMEType: "image/png", Data: make([]byte, 2048)}, &mcp.AudioContent{MIMEType: "audio/wav", Data: []byte("x")},
			&mcp.ResourceLink{URI: "file:///a", Name: "a"}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: "file:///b", Text: "of b"}},
		}}, nil
	})
	add("structured", "Returns a value.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{}, StructuredContent: map[string]any{"rows": 3}}, nil
	})
	add("fail", "Fails.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		return nil, errors.New("no such row")
	})
	add("die", "Dies.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(3)
		return nil, nil
	})
	add("hang", "Hangs.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		time.Sleep(time.Minute)
		return nil, nil
	})
	add("change", "Changes the tools.", func(context.Context, *mcp.CallToolRequest, string) (*mcp.CallToolResult, error) {
		s.RemoveTools("long")
		add("new", "Is new.", nil)
		return text("changed"), nil
	})
	add("ask", "Asks the client.", func(ctx context.Context, r *mcp.CallToolRequest, _ string) (*mcp.CallToolResult, error) {
		//lint:ignore SA1019 servers of today ask so
		_, model := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 1, Messages: []*mcp.SamplingMessage{}})
		//lint:ignore SA1019 the same
		_, roots := r.Session.ListRoots(ctx, nil)
		_, user := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "your password?"})
		return text(fmt.Sprintf("%v\n%v\n%v", model, roots, user)), nil
	})
	add("reach", "Gets hold of what is not its own.", func(_ context.Context, _ *mcp.CallToolRequest, t string) (*mcp.CallToolResult, error) {
		out, err := escape(t)
		return text(out), err
	})
	if mode == "other tools" {
		s.RemoveTools("fail")
	}
	return s
}

// program is a server that this binary plays.
func program(t *testing.T, mode string) Server {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	s := Server{Key: "env.mcp[0]", Argv: []string{self, mode}, Environ: []string{played + "=" + mode, "PATH=" + os.Getenv("PATH")}}
	if can := sandbox.Supports(); can.Kind != "" {
		s.Confine = &sandbox.Confine{Read: []string{self}}
	}
	return s
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
