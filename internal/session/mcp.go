package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/agent"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/toolserver"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

const (
	toolsEntry  = "env.mcp tools" // of the identity: what the servers offer
	toolsRecord = "world/tools"   // key of the decision that holds it
)

// listTools asks the servers of env.mcp once what they offer. A replay takes that from its cassette, and a plan starts no
// program.
func (s *loader) listTools(ctx context.Context) error {
	if len(s.Config.Env.MCP) == 0 || s.Replay != nil || s.Plan != nil {
		return nil
	}
	servers, err := s.servers()
	if err != nil {
		return fault.Input(err)
	}
	if s.tools, err = toolserver.Lists(ctx, toolserver.Options{Servers: servers}); err != nil {
		return fault.Input(err)
	}
	return s.sumTools()
}

// sumTools makes what the servers offer a part of what the run is.
func (s *Inputs) sumTools() error {
	data, err := json.Marshal(s.tools)
	if err != nil {
		return fmt.Errorf("encode the tools of env.mcp: %w", err)
	}
	s.Contents[toolsEntry] = Digest(data)
	return nil
}

// recordTools records what the servers offer, and takes it in a replay from the run that is replayed.
func (s *episodes) recordTools(ctx context.Context) error {
	if len(s.Config.Env.MCP) == 0 {
		return nil
	}
	data, err := s.Caller.Decision(ctx, toolsRecord, func() ([]byte, error) { return json.Marshal(s.tools) })
	if err != nil {
		return fmt.Errorf("record the tools of env.mcp: %w", err)
	}
	if err := json.Unmarshal(data, &s.tools); err != nil {
		return fmt.Errorf("read the recorded tools of env.mcp: %w", err)
	}
	return s.sumTools()
}

// openTools makes the tools of the servers the world of the session.
func (s *Session) openTools() error {
	servers, err := s.servers()
	if err != nil {
		return fault.Input(err)
	}
	w, err := toolserver.New(toolserver.Options{Servers: servers}, s.tools)
	if err != nil {
		return fault.Input(err)
	}
	s.acts, s.closers = w, append(s.closers, w.Close)
	return nil
}

// plays reports whether an agent plays the world of the session by the tool act.
func (s *Session) plays() bool {
	return s.Config.Agent.Name != "" && s.acts != nil && s.docs == nil && s.Replay == nil
}

// requireActing fails when the agent of the config cannot be given the tool act.
func (s *Session) requireActing() error {
	name, able := s.Config.Agent.Name, agent.WithTools()
	if !s.plays() || slices.Contains(able, name) {
		return nil
	}
	return fault.Input(fmt.Errorf("agent.name %s plays no worlds: it cannot be given the tool act over MCP; allowed with a world of commands: %s", name, strings.Join(able, ", ")))
}

// describeTools says what the servers offer.
func describeTools(lists []toolserver.List) string {
	var parts []string
	for _, l := range lists {
		parts = append(parts, fmt.Sprintf("%s of %s", wording.Plural(len(l.Tools), "tool", "tools"), strings.TrimSpace(wording.Plain(l.Server+" "+l.Version))))
	}
	return strings.Join(parts, ", ")
}

// servers returns the servers of env.mcp as they are started and reached.
func (s *Inputs) servers() (all []toolserver.Server, err error) {
	for i, m := range s.Config.Env.MCP {
		one := toolserver.Server{Key: fmt.Sprintf("env.mcp[%d]", i), Shared: m.Shared, URL: m.URL}
		if m.URL == "" {
			err = s.program(&one, m)
		} else if m.APIKeyEnv != "" {
			one.Authorization, err = s.variable(one.Key+".api_key_env", m.APIKeyEnv)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// variable returns the value of one that a key names.
func (s *Inputs) variable(key, name string) (string, error) {
	v, ok := s.Loaded.Lookup(name)
	if !ok {
		return "", fmt.Errorf("%s: the variable %s is not set; export it or take it off the config", key, name)
	}
	return v, nil
}

// program says how a server that is a program is started, and what it can reach.
func (s *Inputs) program(one *toolserver.Server, m config.EnvMCP) error {
	search, _ := s.Loaded.Lookup("PATH")
	own := s.resolveCommand(m.Command)
	program, err := lookProgram(own.argv[0], search)
	if err != nil {
		return fmt.Errorf("%s.command: %w; install it, or name it by its path", one.Key, err)
	}
	own.argv[0] = program
	one.Argv, one.Environ = own.argv, []string{"PATH=" + search, "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=1"}
	for _, name := range m.PassEnv {
		v, err := s.variable(one.Key+".pass_env", name)
		if err != nil {
			return err
		}
		one.Environ = append(one.Environ, name+"="+v)
	}
	if s.Config.Agent.Sandbox != "auto" {
		return nil
	}
	if support := sandbox.Supports(); support.Kind == "" {
		return fmt.Errorf("%s.command cannot be confined here: %s; agent.sandbox=off runs it unconfined", one.Key, support.Why)
	}
	programs := s.Commands()
	guard, err := programs.Guard()
	if err != nil {
		return err
	}
	entries := append(programs.Absolute(m.Read), own.files...)
	plan, err := guard.Plan(reach.Disk(), reach.Request{Search: search, Program: program, Beside: own.files, Entries: entries})
	var conflict *reach.ConflictError
	if errors.As(err, &conflict) {
		return fmt.Errorf("%s may not read %s, which %s: %s", one.Key, conflict.Path, conflict.Detail, conflict.Help)
	}
	if err != nil {
		return err
	}
	one.Environ = append(one.Environ, plan.Env...)
	one.Confine = &sandbox.Confine{Read: plan.Read, Network: m.Network, Limits: wiring.Limits(s.Config.Agent.Limits)}
	one.Places = func(dir, home string) sandbox.Places { return wiring.Places(s.isolated(), dir, home) }
	return nil
}

// ownProgram is the command of a server, and the files next to the config that it names.
type ownProgram struct{ argv, files []string }

// resolveCommand returns a command whose words that name files next to the config are their paths: the server does not start there.
func (s *Inputs) resolveCommand(command []string) (own ownProgram) {
	for _, word := range command {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(s.Loaded.Dir, path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			word, own.files = path, append(own.files, path)
		}
		own.argv = append(own.argv, word)
	}
	return own
}

// lookProgram returns the path of a program: a bare name is looked up in the folders of search.
func lookProgram(name, search string) (string, error) {
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	for _, dir := range filepath.SplitList(search) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no program %s in the folders of PATH", name)
}
