package env

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/wording"

	"github.com/seed-f4525e22/skillopt/internal/jsonx"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// filesRoom is how many bytes of texts next to SKILL.md a request holds.
const filesRoom = 1 << 20

// request is the line that a process gets for a task. All of the task is in it:
// the program is the user's own and may score by gold and hidden text.
type request struct {
	ID     string          `json:"id"`
	Type   string          `json:"type"`
	Prompt string          `json:"prompt"`
	Gold   json.RawMessage `json:"gold"` // as it is in the task
	Hidden string          `json:"hidden"`
	Data   map[string]any  `json:"data"`
	Skill  string          `json:"skill"`
	Files  []skill.Content `json:"skill_files,omitempty"` // those next to SKILL.md
	Seed   int64           `json:"seed"`
	Extras map[string]any  `json:"extras,omitempty"`
	Model  *Model          `json:"model,omitempty"` // that the program may use for the task
}

// Seen returns a task whose JSON says how its gold is in the file too. It is for what depends on
// all that a program sees of a task.
func Seen(t task.Task) any {
	return struct {
		task.Task
		RawGold json.RawMessage `json:"raw_gold"`
	}{t, t.GoldJSON()}
}

// rolloutSeed returns the seed of the rollout; without one it derives it from the task's id.
func rolloutSeed(ctx context.Context, id string) int64 {
	if seed, ok := task.Seed(ctx); ok {
		return seed
	}
	h := fnv.New32a()
	io.WriteString(h, id) // a hash never fails to write
	return int64(h.Sum32() >> 1)
}

func encodeRequest(ctx context.Context, t task.Task, s skill.Skill, o Options, m *Model) ([]byte, error) {
	r := request{
		ID: t.ID, Type: t.Type, Prompt: t.Prompt, Gold: t.GoldJSON(), Hidden: t.Hidden,
		Data: t.Data, Skill: s.Text(), Files: s.Contents(filesRoom), Seed: rolloutSeed(ctx, t.ID), Extras: o.Extras, Model: m,
	}
	if r.Data == nil {
		r.Data = map[string]any{}
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, fmt.Errorf("write it as JSON: %w", err)
	}
	return buf.Bytes(), nil
}

// reply is the line that a process answers. Either it leaves the scoring to us
// (answer), or it scores itself (hard, and soft), or it says that it could not
// measure (error).
type reply struct {
	ID         *string          `json:"id"`
	Answer     *text            `json:"answer"`
	Hard       *fraction        `json:"hard"`
	Soft       *fraction        `json:"soft"`
	Feedback   string           `json:"feedback"`
	Trajectory []any            `json:"trajectory"`
	Usage      trajectory.Usage `json:"usage"`
	Status     score.Status     `json:"status"`
	FailReason string           `json:"fail_reason"`
	Error      string           `json:"error"`
}

func replyKeys() []string {
	return []string{"id", "answer", "hard", "soft", "feedback", "trajectory", "usage", "status", "fail_reason", "error"}
}

// text accepts numbers and booleans too, as they are written.
type text string

func (t *text) UnmarshalJSON(b []byte) error {
	if b[0] == '{' || b[0] == '[' {
		return errors.New("answer must be text, a number, true or false")
	}
	if b[0] != '"' {
		*t = text(b)
		return nil
	}
	return json.Unmarshal(b, (*string)(t))
}

// fraction is a number within 0..1; true and false represent 1 and 0.
type fraction float64

func (f *fraction) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "true":
		*f = 1
		return nil
	case "false":
		*f = 0
		return nil
	}
	var v float64
	if err := json.Unmarshal(b, &v); err != nil || v < 0 || v > 1 {
		return fmt.Errorf("hard and soft must be numbers from 0 to 1, found %s", excerpt(b))
	}
	*f = fraction(v)
	return nil
}

func rubbish(format string, args ...any) error {
	return &Error{Kind: Rubbish, Detail: fmt.Sprintf(format, args...)}
}

// decodeReply reads a process's answer to t. scored says that it is not for us to
// score.
func decodeReply(line []byte, t task.Task) (o trajectory.Outcome, scored bool, err error) {
	r, err := parseReply(line, t.ID)
	if err != nil {
		return trajectory.Outcome{}, false, err
	}
	o = trajectory.Outcome{
		ID: t.ID, Type: t.Type, Status: score.OK,
		FailReason: r.FailReason, Feedback: wording.Cut(r.Feedback, score.MaxFeedback),
		Question: t.Prompt, Usage: r.Usage,
	}
	if len(r.Trajectory) > 0 {
		o.Trajectory = trajectory.ParseTurns(r.Trajectory)
	}
	if r.Answer != nil {
		o.Answer = string(*r.Answer)
	}
	switch {
	case r.Status == score.AgentError:
		o.Status = score.AgentError
		if o.FailReason == "" {
			o.FailReason = string(score.AgentError) + ": the environment gave no reason"
		}
		return o, true, nil
	case r.Hard != nil:
		o.Hard, o.Soft = float64(*r.Hard), float64(*r.Hard)
		if r.Soft != nil {
			o.Soft = float64(*r.Soft)
		}
		return o, true, nil
	}
	return o, false, nil
}

// replyDepth is how deep a reply has keys that are ours, read whatever their case:
// its own and those of usage.
const replyDepth = 2

// parseReply reads and validates a line. Unknown keys are refused: a misspelt
// one would be a lost score. So are keys that occur twice: of two scores none is
// known.
func parseReply(line []byte, id string) (reply, error) {
	var r reply
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(line, &keys); err != nil || keys == nil {
		return r, rubbish("it wrote %s, which is not a JSON object; logs belong on the standard error", excerpt(line))
	}
	if twice := jsonx.FindRepeat(line, replyDepth); twice != nil {
		return r, rubbish("in its answer %s %s, so it is not known which value is meant", excerpt(line), twice)
	}
	for key := range keys {
		if !slices.Contains(replyKeys(), key) {
			return r, rubbish("its answer has the unknown key %q; allowed are %s", key, strings.Join(replyKeys(), ", "))
		}
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, rubbish("its answer %s does not fit: %v", excerpt(line), err)
	}
	return r, r.validate(id)
}

func (r *reply) validate(id string) error {
	switch {
	case r.ID != nil && *r.ID != id:
		return rubbish("it answered task %q when asked task %q", *r.ID, id)
	case r.Error != "":
		return &Error{Kind: Refused, Detail: "it could not measure: " + r.Error}
	case r.Status == score.Unmeasured:
		return &Error{Kind: Refused, Detail: "it could not measure: " + r.FailReason}
	case r.Status != "" && r.Status != score.OK && r.Status != score.AgentError:
		return rubbish("its status %q is unknown; ok, agent_error and unmeasured are allowed", r.Status)
	case r.Usage.Input < 0 || r.Usage.Output < 0 || r.Usage.Cached < 0 || r.Usage.Reasoning < 0 || r.Usage.CacheWrite < 0:
		return rubbish("its usage is negative")
	case r.Status == score.AgentError:
		return nil
	case r.Hard == nil && r.Soft != nil:
		return rubbish("its answer has soft but not hard")
	case r.Hard == nil && r.Answer == nil:
		return rubbish("its answer has neither answer nor hard")
	}
	return nil
}
