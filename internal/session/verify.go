package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/commands"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/skill"
)

// Verify runs edits.verify.command in a copy of a skill and returns why the skill is not to
// be used, "" if the command ends with exit code 0. It is confined as the command of a
// check is, recorded under key, and made again where it could not be carried out.
func (s *Session) Verify(ctx context.Context, key string, sk skill.Skill) (refused string, err error) {
	own := s.Config.Edits.Verify
	c := check.Command{Argv: own.Command, Timeout: own.Timeout.Std(), LateFails: true, MissingFails: true, Untrusted: true}
	about, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode edits.verify: %w", err)
	}
	raw, err := s.Caller.Check(ctx, caller.CheckCall{Key: key, Shared: [][]byte{[]byte(sk.Digest())}, Own: about}, func(ctx context.Context) ([]byte, error) {
		result, err := s.tryOut(ctx, c, sk)
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(result)
		return s.hide.JSON(data), err
	})
	if err != nil {
		return "", fmt.Errorf("edits.verify: %w", err)
	}
	var result check.CommandResult
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", fmt.Errorf("read the record of %s: %w", key, err)
	}
	return refusal(c, result), nil
}

// tryOut runs the command in a copy of the skill.
func (s *Session) tryOut(ctx context.Context, c check.Command, sk skill.Skill) (result check.CommandResult, err error) {
	dir, err := os.MkdirTemp("", "verify-")
	if err != nil {
		return result, fmt.Errorf("make a copy of the skill: %w", err)
	}
	defer func() { err = errors.Join(err, disk.RemoveAll(dir)) }()
	if err := run.ExportFolder(dir, sk); err != nil {
		return result, err
	}
	return s.Commands().Run(ctx, commands.Step{Dir: dir, RunDir: s.Run.Dir, Command: c, Hide: s.hide})
}

// refusal says how the command failed, "" if it did not.
func refusal(c check.Command, r check.CommandResult) string {
	what := ""
	switch {
	case r.End == check.EndDeadline:
		what = "was not done after " + c.Timeout.String()
	case r.End == check.EndFlood:
		what = "wrote more than it may"
	case r.End == check.EndLimit:
		what = "used more than it may: " + r.Detail
	case r.Signal != "":
		what = "was ended by " + r.Signal
	case r.Code != 0:
		what = fmt.Sprintf("ended with exit code %d", r.Code)
	default:
		return ""
	}
	if said := strings.TrimSpace(r.Stderr + "\n" + r.Stdout); said != "" {
		what += ": " + said
	}
	return "edits.verify: the command " + what
}
