package night_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/night"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

// mined mines what is new, and returns the tasks of the bank by id.
func (h *home) mined(change ...func(*night.Options)) map[string]wish.Task {
	h.t.Helper()
	o := h.options(change...)
	if _, err := night.Mine(h.t.Context(), o); err != nil {
		h.t.Fatal(err)
	}
	return h.tasks()
}

func (h *home) tasks() map[string]wish.Task {
	h.t.Helper()
	clusters, err := h.bank.Clusters(h.t.Context(), h.project, "")
	if err != nil {
		h.t.Fatal(err)
	}
	out := map[string]wish.Task{}
	for _, c := range clusters {
		for _, t := range c.Tasks {
			out[t.Seen[0].Session] = t.Task
		}
	}
	return out
}

// Where tasks are carried out by an agent, and why they are not.
func TestWhereTasksAreCarriedOut(t *testing.T) {
	t.Parallel()
	yes := true
	digest := transcript.LineDigest
	for name, c := range map[string]struct {
		session func(h *agentHome, s *bank.Session)
		task    func(w *wish.Task)
		unfit   string
		chat    bool
	}{
		"the files of its commit": {},
		"no files": {session: func(h *agentHome, s *bank.Session) {
			s.Turns[0].Files, s.Turns[0].Read = nil, nil
		}, task: func(w *wish.Task) { w.Task.Checks = nil }, chat: true},
		"no files and no commit": {session: func(_ *agentHome, s *bank.Session) {
			s.Turns[0].Files, s.Turns[0].Read, s.Commit = nil, nil, ""
		}, task: func(w *wish.Task) { w.Task.Checks = nil }, chat: true},
		"a check of files alone": {session: func(_ *agentHome, s *bank.Session) { s.Turns[0].Files, s.Turns[0].Read = nil, nil }},
		"another line": {session: func(h *agentHome, s *bank.Session) {
			h.shown[s.ID]["house/rules.txt"] = []uint32{digest("Forms are as I like.")}
		}, unfit: "dirty tree: house/rules.txt"},
		"an untracked file": {session: func(_ *agentHome, s *bank.Session) { s.Turns[0].Read = []string{"notes.txt"} }, unfit: "dirty tree: notes.txt: the commit does not have it"},
		"a memory file": {session: func(h *agentHome, s *bank.Session) {
			s.Turns[0].Read = []string{"CLAUDE.md", ".claude/skills/x/SKILL.md"}
		}},
		"changed before": {session: func(_ *agentHome, s *bank.Session) {
			before := s.Turns[0]
			before.ID, before.Files = s.ID+"-0", []string{"house/rules.txt"}
			s.Turns = []transcript.Turn{before, s.Turns[0]}
		}, unfit: "dirty tree: house/rules.txt: the session had changed it before"},
		"no commit":        {session: func(_ *agentHome, s *bank.Session) { s.Commit = "" }, unfit: "it needs files, and no commit of the project is known"},
		"another history":  {session: func(_ *agentHome, s *bank.Session) { s.Commit = strings.Repeat("ab", 20) }, unfit: "objects of the commit are not in the repository: it is a partial or damaged clone"},
		"a part of a hash": {session: func(_ *agentHome, s *bank.Session) { s.Commit = s.Commit[:10] }, unfit: "no commit is known by its whole hash"},
		"the network":      {session: func(_ *agentHome, s *bank.Session) { s.Turns[0].Commands = []transcript.Command{{Text: "curl x"}} }, unfit: "the command curl needs the network"},
		"a server of tools": {session: func(_ *agentHome, s *bank.Session) {
			s.Turns[0].Tools = []transcript.Tool{{Name: "mcp__jira__get", OK: &yes}}
		}, unfit: "the tool mcp__jira__get needs another program's tools"},
		"a first turn that is not known": {task: func(w *wish.Task) { w.Place.From = "" }, unfit: "it is not known with which turn of its session it begins"},
		"a turn that is gone": {
			task:  func(w *wish.Task) { w.Seen[0].Turn = "gone" },
			unfit: "its session does not have the turn any more in which it was done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newAgentHome(t, small())
			before := h.shape
			h.shape = func(s *bank.Session, w *wish.Task) {
				before(s, w)
				if c.session != nil {
					c.session(h, s)
				}
				if c.task != nil {
					c.task(w)
				}
			}
			h.day(1, "", true)
			got := h.mined(h.replays)["s000"]
			commit := h.commit
			if c.chat || c.unfit != "" {
				commit = ""
			}
			if strings.HasPrefix(c.unfit, "dirty tree") {
				commit = h.commit // it is told of which one
			}
			if got.Unfit != c.unfit || got.Place.Commit != commit {
				t.Errorf("%q in %q, want %q in %q", got.Unfit, got.Place.Commit, c.unfit, commit)
			}
		})
	}
}

// What was decided stays; a profile with or without an agent decides anew. A store that cannot be read is looked at again.
func TestWhatWasDecidedStays(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	h.day(1, "", true)
	reads, broken := 0, errors.New("the disk is gone")
	again := func(o *night.Options) {
		h.replays(o)
		read := o.Again
		o.Again = func(ctx context.Context, s bank.Session) (transcript.Transcript, bool, error) {
			reads++
			if broken != nil {
				return transcript.Transcript{}, false, broken
			}
			return read(ctx, s)
		}
	}
	if got := h.mined(again)["s000"]; got.Unfit != "what its files held is not known: the disk is gone" || got.Place.Way != "" {
		t.Errorf("%+v", got)
	}
	broken = nil
	// Nights look at tasks that are not decided on; the document is skipped, so that nothing is trained.
	skips := func(o *night.Options) { o.Config.Sleep.Targets = []string{"skills"} }
	h.night(again, skips)
	if got := h.tasks()["s000"]; got.Unfit != "" || got.Place.Commit != h.commit || reads != 2 {
		t.Errorf("%+v after %d readings", got, reads)
	}
	h.night(again, skips)
	if reads != 2 {
		t.Errorf("%d readings", reads)
	}
	chat := func(o *night.Options) { o.Config.Agent.Name = "" }
	h.night(again, skips, chat)
	if got := h.tasks()["s000"]; got.Unfit != "its check looks at files, and the profile names no agent (agent.name)" || reads != 2 {
		t.Errorf("%+v after %d readings", got, reads)
	}
	h.night(again, skips)
	if got := h.tasks()["s000"]; got.Unfit != "" || reads != 3 {
		t.Errorf("%+v after %d readings", got, reads)
	}
}

// Without an agent a task by a command or by files is not carried out, and one by answers is.
func TestTasksWithFilesNeedAnAgent(t *testing.T) {
	t.Parallel()
	for checks, want := range map[string]string{
		"":                                  "",
		`[{"type":"contains","value":"x"}]`: "",
		`[{"type":"command","run":"go test ./...","timeout":"10m"}]`: "its check runs a command in files, go test ./..., and the profile names no agent (agent.name)",
		`[{"type":"file-equals","path":"a.txt","value":"x"}]`:        "its check looks at files, and the profile names no agent (agent.name)",
		`[{"type":"tool-called","tool":"bash"}]`:                     "its check looks at calls of tools, and the profile names no agent (agent.name)",
	} {
		h := newHome(t, small())
		h.shape = func(_ *bank.Session, w *wish.Task) {
			if checks != "" {
				w.Task.Checks = json.RawMessage(checks)
			}
		}
		h.day(1, "", true)
		if got := h.mined()["s000"]; got.Unfit != want {
			t.Errorf("%s: %q, want %q", checks, got.Unfit, want)
		}
	}
}

// A commit that is gone when a night begins makes its tasks not replayable, and the night goes on without them.
func TestACommitThatIsGone(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	h.day(2, "", true)
	h.mined(h.replays)
	if err := os.RemoveAll(filepath.Join(h.project, ".git")); err != nil {
		t.Fatal(err)
	}
	r := h.night(h.replays)
	if got := r.Targets[0]; got.Outcome != night.NotReplayable || got.Groups.Waiting != 2 || got.Groups.Open != 0 || r.Spent.Calls > 0 || !strings.Contains(got.Reason, "the project is in no git repository") {
		t.Errorf("%+v", got)
	}
}

// What a killed night has left is gone, and a night leaves nothing itself.
func TestWorkspacesThatAreLeftGo(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	left := filepath.Join(h.bank.Temp(), "work", "old", "file")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o755), os.WriteFile(left, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	h.day(1, "", true)
	stop := make(chan struct{})
	close(stop)
	r, err := h.try(h.replays, func(o *night.Options) { o.Stop = stop })
	if err != nil || r.Targets[0].Outcome != night.Stopped {
		t.Fatalf("%v: %+v", err, r)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Dir(left))); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// Without git nights with files are refused.
func TestReplaysNeedGit(t *testing.T) {
	t.Parallel()
	h := newAgentHome(t, small())
	h.day(1, "", true)
	r, err := h.try(h.replays, func(o *night.Options) { o.Env = func(string) string { return "" } })
	if err != nil || len(r.Targets) != 1 || r.Targets[0].Outcome != night.Refused || !strings.HasSuffix(r.Targets[0].Reason, "install git") {
		t.Errorf("%v: %+v", err, r)
	}
}
