package main

import (
	"context"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveTools is a program of a user that speaks MCP: it reads files of its folder. It dies at once where the
// variable OFFERS is "nothing"; another value makes it offer another tool.
func serveTools() {
	if os.Getenv("OFFERS") == "nothing" {
		fmt.Fprintln(os.Stderr, "no license was found")
		os.Exit(1)
	}
	type at struct {
		Path string `json:"path"`
	}
	read := func(_ context.Context, _ *mcp.CallToolRequest, in at) (*mcp.CallToolResult, any, error) {
		data, err := os.ReadFile(in.Path)
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(data)}}}, nil, err
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "read", Description: "Reads a file."}, read)
	if os.Getenv("OFFERS") != "" {
		mcp.AddTool(s, &mcp.Tool{Name: "more", Description: "Reads a file, too."}, read)
	}
	if err := s.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
