package cli

import (
	"context"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/mcp"
)

func runSleepTool(ctx context.Context, s *mcpServer, call *mcp.Call, g *config.Guard, words []string) ([]byte, error) {
	return nil, usagef("not yet")
}

func (s *mcpServer) adoptTool() mcp.Tool { return mcp.Tool{Name: "sleep_adopt"} }
