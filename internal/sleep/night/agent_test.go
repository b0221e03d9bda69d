package night_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/worlds"
)

// agentHome is a user whose nights replay tasks with an agent, in the files of a commit.
type agentHome struct {
	*home

	memory string // the memory file
	commit string
	shown  map[string]map[string][]uint32 // by session: what the store says that it was shown of files
}

// newAgentHome has the built-in agent and a repository with a commit.
func newAgentHome(t *testing.T, p worlds.Params) *agentHome {
	t.Helper()
	if s := sandbox.Supports(); s.Kind == "" {
		t.Skip("programs cannot be confined here: " + s.Why)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	h := &agentHome{home: newHome(t, p), memory: "CLAUDE.md", shown: map[string]map[string][]uint32{}}
	h.cfg.Agent.Name, h.cfg.Sleep.Memory = "builtin", h.memory
	h.cfg.Models.Target.MaxTokens = 1000
	h.cfg.Train.Epochs = 1
	h.put("house/rules.txt", "Forms are as committed.\n")
	h.put(".mcp.json", `{"mcpServers": {"x": {"command": "touch"}}}`)
	h.put(".env", "TOKEN=1\n")
	h.commit = h.commits()
	h.shape = func(s *bank.Session, w *wish.Task) {
		s.Commit = h.commit
		s.Turns[0].Read = []string{"house/rules.txt"}
		s.Turns[0].Files = []string{"answer.txt"}
		w.Place = wish.Place{From: s.Turns[0].ID, Commit: h.commit, Files: []string{"answer.txt", "house/rules.txt"}}
		w.Task.Checks = checksOf(h.t, "<answer>"+w.Task.Gold[0]+"</answer>")
		h.shown[s.ID] = map[string][]uint32{"house/rules.txt": {transcript.LineDigest("Forms are as committed.")}}
	}
	return h
}

// checksOf wants an answer in a file, the files of the commit, and nothing else.
func checksOf(t *testing.T, answer string) json.RawMessage {
	t.Helper()
	data, err := json.Marshal([]any{
		map[string]any{"type": "file-contains", "path": "answer.txt", "value": answer},
		map[string]any{"type": "file-contains", "path": "house/rules.txt", "value": "as committed", "weight": 0, "required": true},
		map[string]any{"type": "diff", "allow": []any{"answer.txt"}, "weight": 0, "required": true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (h *agentHome) put(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.project, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		h.t.Fatal(err)
	}
}

// commits commits all that there is, and returns the hash.
func (h *agentHome) commits() string {
	h.t.Helper()
	if _, err := os.Stat(filepath.Join(h.project, ".git")); err != nil {
		h.git("init", "-q")
	}
	h.git("add", "-A", "-f")
	h.git("commit", "-q", "--allow-empty", "-m", "c")
	return h.git("rev-parse", "HEAD")
}

func (h *agentHome) git(args ...string) string {
	h.t.Helper()
	c := exec.CommandContext(h.t.Context(), "git", args...)
	c.Dir = h.project
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		h.t.Fatalf("git %v: %v: %s", args, err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// replays has nights read stores again, and git.
func (h *agentHome) replays(o *night.Options) {
	o.Env = os.Getenv
	o.Again = func(_ context.Context, s bank.Session) (transcript.Transcript, bool, error) {
		again := s.Transcript
		again.Turns = slices.Clone(s.Turns)
		again.Turns[0].Lines = h.shown[s.ID]
		return again, true, nil
	}
}

// A night with an agent trains on tasks that are carried out in the files of their commit, and leaves no workspace. With few tasks
// it explores; SKILLOPT_LONG=1 has it train on enough of them.
func TestANightReplaysInTheFilesOfACommit(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	sessions, want := 4, night.Suggested
	if os.Getenv("SKILLOPT_LONG") == "1" {
		sessions, want = 16, night.Supported
	}
	h.day(sessions, "", true)
	r := h.night(h.replays, func(o *night.Options) { o.Explore = want == night.Suggested })
	if len(r.Targets) != 1 {
		t.Fatalf("%+v", r)
	}
	got := r.Targets[0]
	t.Logf("%s: %s; baseline %+v, confirmed %+v, spent %+v", got.Outcome, got.Reason, got.Baseline, got.Confirmed, r.Spent)
	if got.Outcome != want || got.Target != "memory:CLAUDE.md" || len(got.Places) != sessions {
		t.Errorf("%+v", got)
	}
	for _, p := range got.Places {
		if p.Commit != h.commit || p.Unfit != "" || !slices.Equal(p.Files, []string{"answer.txt", "house/rules.txt"}) {
			t.Errorf("%+v", p)
		}
	}
	if left, err := os.ReadDir(h.bank.Temp()); err != nil || len(left) > 0 {
		t.Errorf("%v: left %v", err, left)
	}
}

// A task whose tools the agent does not have is not replayable before a process starts, and nothing is staged.
func TestTrap30ToolsThatTheAgentLacks(t *testing.T) {
	t.Parallel()
	yes := true
	for name, tool := range map[string]func(u *transcript.Turn){
		"the network":         func(u *transcript.Turn) { u.Tools = []transcript.Tool{{Name: "WebFetch", OK: &yes}} },
		"a server of tools":   func(u *transcript.Turn) { u.Tools = []transcript.Tool{{Name: "mcp__jira__get_issue", OK: &yes}} },
		"an agent with keys":  func(u *transcript.Turn) { u.Commands = []transcript.Command{{Text: "ssh host ls"}} },
		"a login":             func(u *transcript.Turn) { u.Commands = []transcript.Command{{Text: "gh pr list"}} },
		"a container engine":  func(u *transcript.Turn) { u.Commands = []transcript.Command{{Text: "docker compose up -d"}} },
		"a server of its own": func(u *transcript.Turn) { u.Commands = []transcript.Command{{Text: "psql shop"}} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newAgentHome(t, small())
			before := h.shape
			h.shape = func(s *bank.Session, w *wish.Task) {
				before(s, w)
				tool(&s.Turns[0])
			}
			h.day(14, "", true)
			started := filepath.Join(t.TempDir(), "started")
			program := filepath.Join(t.TempDir(), "agent")
			if err := os.WriteFile(program, []byte("#!/bin/sh\ntouch "+started+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			h.cfg.Agent.Name, h.cfg.Agent.Command = "pi", program
			r, err := h.try(h.replays)
			if err != nil && strings.Contains(err.Error(), "namespaces") {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			got := r.Targets[0]
			if got.Outcome != night.NotReplayable || got.Groups.Waiting != 14 || !strings.Contains(got.Reason, "needs") || r.Spent.Calls > 0 {
				t.Errorf("%s: %s: %+v", got.Outcome, got.Reason, got.Groups)
			}
			if _, err := os.Stat(started); err == nil {
				t.Error("the agent was started")
			}
			if _, err := night.Open(h.dir, h.project, r.ID); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("staged: %v", err)
			}
		})
	}
}

// Where something cannot be shut off no model is asked: a night is refused before it is begun.
func TestTrap31NoCallIsMade(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	h.day(14, "", true)
	r, err := h.try(h.replays, func(o *night.Options) { o.Config.Agent.Network = true })
	if err == nil || !strings.Contains(err.Error(), "agent.network: true") || r != nil || h.miner.calls > 0 {
		t.Errorf("%v: %+v after %d calls", err, r, h.miner.calls)
	}
}

// A command of the record runs on what the agent left once a person has accepted it, and not before; files that the user
// accepted are compared without that.
func TestOutcomesOfTrustAreReplayed(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	before := h.shape
	h.shape = func(s *bank.Session, w *wish.Task) {
		before(s, w)
		if s.ID == "s000" {
			w.Trust = wish.ByCommand
			w.Task.Checks = json.RawMessage(`[{"type":"command","run":"test -s answer.txt && grep -q committed house/rules.txt && ! test -e .mcp.json","timeout":"1m"}]`)
			return
		}
		w.Trust = wish.ByFiles
		w.Task.Checks = json.RawMessage(`[{"type":"file-equals","path":"house/rules.txt","value":"Forms are as committed.\n"}]`)
	}
	h.day(2, "", true)
	explore := func(o *night.Options) { o.Explore = true }
	r := h.night(h.replays, explore)
	if got := r.Targets[0]; got.Groups.Waiting != 1 || got.Groups.Open != 1 || got.Outcome == night.ModelUnhealthy {
		t.Errorf("before the review: %s: %+v", got.Reason, got.Groups)
	}
	h.reviewed()
	r = h.night(h.replays, explore)
	if got := r.Targets[0]; got.Groups.Waiting != 0 || got.Groups.Open != 2 || got.Baseline == nil || got.Baseline.Hard != 1 {
		t.Errorf("after the review: %s: %+v, %+v", got.Reason, got.Groups, got.Baseline)
	}
}

// The skill that is trained lies in the workspace as it is measured, in the place of what the commit has of it; a session of
// a folder below the project is carried out in the files of that folder.
func TestWorkspacesOfSkillsAndFolders(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	h.put(".claude/skills/house/SKILL.md", "---\nname: house\ndescription: How cards are answered.\n---\n\nAnswer briefly.\n")
	h.put("desk/house/rules.txt", "Forms are as committed.\n")
	h.commit = h.commits()
	before := h.shape
	h.shape = func(s *bank.Session, w *wish.Task) {
		before(s, w)
		if s.ID == "s000" {
			s.Project = filepath.Join(h.project, "desk")
			w.Project = s.Project
		}
		w.Task.Checks = json.RawMessage(`[
			{"type":"file-contains","path":"house/rules.txt","value":"as committed"},
			{"type":"` + map[bool]string{true: "not-", false: ""}[s.ID == "s000"] + `file-exists","path":"desk/house/rules.txt"}]`)
	}
	h.day(2, "house", true)
	r := h.night(h.replays, func(o *night.Options) { o.Explore = true })
	got := r.Targets[0]
	if got.Target != "skill:house" || got.Outcome == night.Refused || got.Baseline == nil || got.Baseline.Hard != 1 || got.Baseline.N == 0 {
		t.Errorf("%s: %s: %+v", got.Outcome, got.Reason, got.Baseline)
	}
	folders := []string{got.Places[0].Folder, got.Places[1].Folder}
	if !slices.Equal(folders, []string{"desk", ""}) || !slices.Equal(got.Places[0].Files, []string{"desk/answer.txt", "desk/house/rules.txt"}) {
		t.Errorf("%+v", got.Places)
	}
}
