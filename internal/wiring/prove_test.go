package wiring

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

func needsShell(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no shell")
	}
}

// program writes a script into a folder of its own and returns that.
func program(t *testing.T, name, text string) (dir string) {
	t.Helper()
	needsShell(t)
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func pathIs(path string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == "PATH" {
			return path, true
		}
		return "", false
	}
}

func TestBuiltinIsProven(t *testing.T) {
	t.Parallel()
	needsShell(t)
	c := realConfig("builtin")
	if sandbox.Supports().Kind == "" {
		c.Sandbox = "off"
	}
	res, err := ProveAgent(t.Context(), c, reach.Guard{}, config.Model{Model: "m"}, os.LookupEnv)
	if err != nil || !res.OK || len(res.Shown) != 6 {
		t.Errorf("%+v, %v", res, err)
	}
}

// A program that tells a good version need not be the agent.
func TestVersionProvesNothing(t *testing.T) {
	t.Parallel()
	dir := program(t, "codex", "echo codex-cli 0.20.0")
	c := realConfig("codex")
	c.Sandbox = "off"
	lookup := pathIs(dir + string(os.PathListSeparator) + os.Getenv("PATH"))
	if version, err := CheckAgent(t.Context(), c, lookup); err != nil || version != "0.20.0" {
		t.Fatalf("version %q, %v", version, err)
	}
	res, err := ProveAgent(t.Context(), c, reach.Guard{}, config.Model{Model: "m"}, lookup)
	if err != nil || res.OK || !strings.Contains(strings.Join(res.Wrong, "; "), "asked its model nothing") {
		t.Errorf("%+v, %v", res, err)
	}
}

// OpenCode needs ripgrep, unless it works with the network of its user's login.
func TestAgentNeedsRipgrep(t *testing.T) {
	t.Parallel()
	dir := program(t, "opencode", "echo 1.18.33")
	c := realConfig("opencode")
	c.Sandbox = "off"
	_, err := CheckAgent(t.Context(), c, pathIs(dir))
	var unfit *AgentError
	if !errors.As(err, &unfit) || !strings.Contains(err.Error(), "ripgrep") || !strings.Contains(unfit.Help, "apt-get install ripgrep") {
		t.Errorf("without ripgrep: %v", err)
	}
	c.Gateway = false
	if _, err := CheckAgent(t.Context(), c, pathIs(dir)); err != nil {
		t.Errorf("with a login: %v", err)
	}
	c.Gateway = true
	rg := program(t, "rg", "exit 0")
	if _, err := CheckAgent(t.Context(), c, pathIs(dir+string(os.PathListSeparator)+rg)); err != nil {
		t.Errorf("with ripgrep: %v", err)
	}
}

func TestProofOfAnAgentWithAWireOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := program(t, "cursor-agent", "echo 1.0")
	c := realConfig("cursor")
	c.Gateway, c.Sandbox = false, "off"
	res, err := ProveAgent(t.Context(), c, reach.Guard{}, config.Model{}, pathIs(dir))
	if err != nil || res.OK || !strings.Contains(res.Unprovable, "login of its own") {
		t.Errorf("%+v, %v", res, err)
	}
}
