package night

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
)

// What a user accepted in files is what the first commit after it has of them, if nothing else came in between.
func TestFilesThatWereAccepted(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	at := func(minutes int) time.Time {
		return time.Unix(1_700_000_000, 0).Add(time.Duration(minutes) * time.Minute).UTC()
	}
	type step struct {
		minutes int
		files   map[string]string // "": deleted
		git     []string          // nil: commit all
	}
	ours := func() bank.Session {
		return bank.Session{Transcript: transcript.Transcript{Source: "claude", ID: "s", Turns: []transcript.Turn{
			{ID: "t1", Started: at(10), Ended: at(20), Files: []string{"a.txt", "b/c.txt"}},
		}}}
	}
	for name, c := range map[string]struct {
		steps  []step
		change func(s *bank.Session)
		other  *transcript.Turn // of another session
		want   map[string]string
	}{
		"kept":             {steps: []step{{minutes: 30, files: map[string]string{"a.txt": "new\n", "b/c.txt": "old\n"}}}, want: map[string]string{"a.txt": "new\n", "b/c.txt": "old\n"}},
		"not committed":    {},
		"nothing changed":  {steps: []step{{minutes: 30, files: map[string]string{"d.txt": "x"}}}},
		"deleted":          {steps: []step{{minutes: 30, files: map[string]string{"a.txt": "new\n", "b/c.txt": ""}}}},
		"no text":          {steps: []step{{minutes: 30, files: map[string]string{"a.txt": "\xff\xfe"}}}},
		"too large":        {steps: []step{{minutes: 30, files: map[string]string{"a.txt": strings.Repeat("x", maxAccepted+1)}}}},
		"a checkout first": {steps: []step{{minutes: 25, git: []string{"checkout", "-q", "-b", "x"}}, {minutes: 30, files: map[string]string{"a.txt": "new\n"}}}},
		"a second commit": {
			steps: []step{{minutes: 30, files: map[string]string{"a.txt": "new\n"}}, {minutes: 40, files: map[string]string{"a.txt": "newer\n"}}},
			want:  map[string]string{"a.txt": "new\n", "b/c.txt": "old\n"},
		},
		"written again by the session": {steps: []step{{minutes: 30, files: map[string]string{"a.txt": "new\n"}}}, change: func(s *bank.Session) {
			s.Turns = append(s.Turns, transcript.Turn{ID: "t2", Started: at(21), Ended: at(22), Files: []string{"a.txt"}})
		}},
		"written again by another": {
			steps: []step{{minutes: 30, files: map[string]string{"a.txt": "new\n"}}},
			other: &transcript.Turn{ID: "o", Started: at(21), Ended: at(22), Files: []string{"a.txt"}},
		},
		"written after the commit": {
			steps: []step{{minutes: 30, files: map[string]string{"a.txt": "new\n"}}},
			other: &transcript.Turn{ID: "o", Started: at(31), Ended: at(32), Files: []string{"a.txt"}}, want: map[string]string{"a.txt": "new\n", "b/c.txt": "old\n"},
		},
		"its commit is not known": {steps: []step{{minutes: 30, files: map[string]string{"a.txt": "new\n"}}}, change: func(s *bank.Session) { s.Commit = "" }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			r := timedRepo{t, dir}
			r.git(at(0), "init", "-q")
			first := r.commit(at(0), map[string]string{"a.txt": "old\n", "b/c.txt": "old\n"})
			for _, s := range c.steps {
				if s.git != nil {
					r.git(at(s.minutes), s.git...)
					continue
				}
				r.commit(at(s.minutes), s.files)
			}
			s := ours()
			s.Project, s.Commit = dir, first
			if c.change != nil {
				c.change(&s)
			}
			all := []bank.Session{s}
			if c.other != nil {
				all = append(all, bank.Session{Transcript: transcript.Transcript{Source: "codex", ID: "o", Project: dir, Turns: []transcript.Turn{*c.other}}})
			}
			got, err := (&committed{env: os.Getenv, sessions: all}).readAccepted(t.Context(), "claude", "s", "t1")
			if err != nil || !cmp.Equal(got, c.want) {
				t.Errorf("%v: %s", err, cmp.Diff(c.want, got))
			}
		})
	}
}

// timedRepo is a repository whose commits have times.
type timedRepo struct {
	t   *testing.T
	dir string
}

func (r timedRepo) git(at time.Time, args ...string) string {
	r.t.Helper()
	c := exec.CommandContext(r.t.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.test"}, args...)...)
	stamp := fmt.Sprintf("%d +0000", at.Unix())
	c.Dir, c.Env = r.dir, append(os.Environ(), "GIT_COMMITTER_DATE="+stamp, "GIT_AUTHOR_DATE="+stamp, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := c.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r timedRepo) commit(at time.Time, files map[string]string) string {
	r.t.Helper()
	for name, text := range files {
		path := filepath.Join(r.dir, filepath.FromSlash(name))
		err := os.Remove(path)
		if text != "" {
			err = errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	r.git(at, "add", "-A")
	r.git(at, "commit", "-q", "-m", "c")
	return r.git(at, "rev-parse", "HEAD")
}
