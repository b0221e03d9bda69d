package night

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/repo"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/tree"
)

// maxAccepted bounds a file that a replay is compared with, in bytes.
const maxAccepted = 64 << 10

// committed knows what files held that a user accepted: what the first commit after the turn has of them. Nothing is known
// where the repository was changed otherwise before that commit, where another turn of a session that is kept wrote one of
// them before it, or where the commit has of all of them what there was before the session.
type committed struct {
	env      tree.Env
	sessions []bank.Session
}

// readAccepted returns the files that a turn wrote, by their names in its session; nil: what they held is not known.
func (c *committed) readAccepted(ctx context.Context, source, id, turn string) (map[string]string, error) {
	at := slices.IndexFunc(c.sessions, func(s bank.Session) bool { return s.Source == source && s.ID == id })
	if at < 0 {
		return nil, nil
	}
	s := &c.sessions[at]
	i := slices.IndexFunc(s.Turns, func(u transcript.Turn) bool { return u.ID == turn })
	if i < 0 || len(s.Turns[i].Files) == 0 || s.Commit == "" {
		return nil, nil
	}
	files := s.Turns[i].Files
	next, found, err := repo.FindCommit(ctx, s.Project, s.Turns[i].Ended)
	if err != nil || !found || c.writtenAgain(s, &s.Turns[i], next) {
		return nil, err
	}
	before, err := c.texts(ctx, s.Project, s.Commit, files)
	if err != nil || before == nil {
		return nil, err
	}
	after, err := c.texts(ctx, s.Project, next.Hash, files)
	if err != nil || after == nil {
		return nil, err
	}
	changed := false
	for _, name := range files {
		text, there := after[name]
		if !there || !utf8.ValidString(text) {
			return nil, nil // it is deleted, left out of workspaces, too large, or no text
		}
		if old, was := before[name]; !was || old != text {
			changed = true
		}
	}
	if !changed {
		return nil, nil // who does nothing would pass
	}
	return after, nil
}

// texts returns the texts of files of a commit, nil if the commit is not there.
func (c *committed) texts(ctx context.Context, folder, commit string, files []string) (map[string]string, error) {
	opened, err := tree.Open(ctx, c.env, folder, commit, tree.Bounds{})
	var texts map[string]string
	if err == nil {
		texts, err = opened.Texts(ctx, files, maxAccepted)
	}
	var not *tree.Unfit
	if errors.As(err, &not) || errors.Is(err, tree.ErrNoGit) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("files that were accepted: %w", err)
	}
	return texts, nil
}

// writtenAgain reports whether another turn wrote one of a turn's files after it and before a commit.
func (c *committed) writtenAgain(s *bank.Session, turn *transcript.Turn, next repo.Commit) bool {
	for i := range c.sessions {
		other := &c.sessions[i]
		for k := range other.Turns {
			u := &other.Turns[k]
			if u.ID == turn.ID && other.ID == s.ID || other.Project != s.Project || u.Ended.Before(turn.Ended) || u.Started.After(next.At) {
				continue
			}
			if slices.ContainsFunc(u.Files, func(f string) bool { return slices.Contains(turn.Files, f) }) {
				return true
			}
		}
	}
	return false
}
