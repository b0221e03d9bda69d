package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/testscript"
)

// calls starts skillopt mcp as an agent does, calls tools of it one after the other, and writes their answers to a
// file: calls FILE [FLAG]... -- TOOL ARGUMENTS [TOOL ARGUMENTS]...
func calls(ts *testscript.TestScript, neg bool, args []string) {
	at := slices.Index(args, "--")
	if neg || at < 1 || (len(args)-at)%2 == 0 {
		ts.Fatalf("usage: calls FILE [FLAG]... -- TOOL ARGUMENTS [TOOL ARGUMENTS]...")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server := exec.Command(programOf(ts, "skillopt"), append([]string{"mcp"}, args[1:at]...)...)
	server.Dir, server.Env = ts.MkAbs("."), []string{"HOME=" + ts.Getenv("HOME"), "TMPDIR=" + ts.Getenv("TMPDIR"), "PATH=" + ts.Getenv("PATH")}
	var errs strings.Builder
	server.Stderr = &errs
	client := mcp.NewClient(&mcp.Implementation{Name: "claude-code", Version: "1"}, nil)
	s, err := client.Connect(ctx, &mcp.CommandTransport{Command: server}, nil)
	ts.Check(err)
	var out strings.Builder
	list, err := s.ListTools(ctx, nil)
	ts.Check(err)
	for _, t := range list.Tools {
		out.WriteString("tool " + t.Name + "\n")
	}
	for pair := range slices.Chunk(args[at+1:], 2) {
		r, err := s.CallTool(ctx, &mcp.CallToolParams{Name: pair[0], Arguments: json.RawMessage(pair[1])})
		ts.Check(err)
		for _, c := range r.Content {
			fmt.Fprintf(&out, "%s failed=%v %s\n", pair[0], r.IsError, c.(*mcp.TextContent).Text)
		}
	}
	ts.Check(s.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(out.String()+"stderr: "+errs.String()+"\n"), 0o600))
}
