package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// ErrNoReply says that the record has no reply at a place of the run.
var ErrNoReply = errors.New("the record has no reply there")

// Replies finds what was replied to tasks by the place in the run. It holds the places of
// all rollouts, about 100 bytes each, and none of the replies; those are read when they are
// asked for. It may be used concurrently.
type Replies struct {
	run    *Run
	at     map[string]int64   // the entry of a rollout, by the key of its place
	places map[string][]Place // of the rollouts, by task, in the order of the record
	judged map[string][]int64 // calls of judges, by the rollout that they judge
	lost   map[string]bool    // rollouts that the run continued without

	episodes bool // rollouts are episodes
}

// Replies reads where the replies of a run are. What is recorded later is not among them.
func (r *Run) Replies(ctx context.Context) (*Replies, error) {
	out := &Replies{run: r, at: map[string]int64{}, places: map[string][]Place{}, judged: map[string][]int64{}, lost: map[string]bool{}}
	for rec, err := range r.view.Entries(ctx, journal.Query{}) {
		if err != nil {
			return nil, r.wrapDamage(err)
		}
		switch rec.Kind {
		case journal.Call, journal.Episode:
			out.take(rec)
		case journal.Unmeasured:
			out.lost[base(rec.Key)] = true
		}
	}
	return out, nil
}

func (p *Replies) take(rec journal.Record) {
	if rec.Role == model.Judge {
		if base, _, ok := cutLast(rec.Key, "/check"); ok {
			p.judged[base] = append(p.judged[base], rec.Seq)
		}
		return
	}
	place := ParsePlace(rec.Key)
	if place.Task == "" {
		return
	}
	key := base(rec.Key)
	p.episodes = p.episodes || rec.Kind == journal.Episode
	if _, known := p.at[key]; !known {
		place.Attempt, place.Turn = 0, 0
		p.places[place.Task] = append(p.places[place.Task], place)
	}
	p.at[key] = rec.Seq // the last attempt, which is the one that was used
}

// base returns the key of a rollout, without attempt and turn.
func base(key string) string {
	for _, part := range []string{"/turn", "/attempt"} {
		if i := strings.LastIndex(key, part); i >= 0 && !strings.Contains(key[i+1:], "/") {
			key = key[:i]
		}
	}
	return key
}

func cutLast(text, sep string) (before, after string, found bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// Key returns the key of the rollout at a place.
func (p Place) Key() string {
	prefix := p.At
	switch {
	case p.Step > 0:
		prefix = fmt.Sprintf("e%d/s%d/%s", p.Epoch, p.Step, p.At)
	case p.Epoch > 0:
		prefix = fmt.Sprintf("e%d/%s", p.Epoch, p.At)
	}
	return fmt.Sprintf("%s/%s/sample%d", prefix, escapeID(p.Task), p.Sample)
}

// Of returns the key of the rollout of a task that a sheet has as its given sample, ""
// where it was answered elsewhere.
func (p *Replies) Of(s Sheet, id string, sample int) string {
	key, best := "", 1
	for _, place := range p.places[id] {
		if rank := s.rank(place); rank >= best && place.Sample == sample {
			key, best = place.Key(), rank
		}
	}
	return key
}

// Has reports whether a rollout was answered there, and Lost whether the run continued
// without it.
func (p *Replies) Has(key string) bool { _, ok := p.at[key]; return ok }

// Episodes reports whether the run's rollouts are episodes, of agents or environments.
func (p *Replies) Episodes() bool { return p.episodes }

// Lost reports whether the run continued without a rollout.
func (p *Replies) Lost(key string) bool { return p.lost[key] }

// Begins calls f with the key, task and sample of each rollout whose place begins with a
// prefix, in no order.
func (p *Replies) Begins(prefix string, f func(key, id string, sample int)) {
	for key := range p.at {
		if strings.HasPrefix(key, prefix) {
			place := ParsePlace(key)
			f(key, place.Task, place.Sample)
		}
	}
}

// Reply is what was replied to a task.
type Reply struct {
	Question string // as the target saw it; of an episode as it says
	Text     string
	Turns    []trajectory.Turn
	Failure  string // of the task's own limits: it is no answer, and scores 0
	Episode  bool   // by an agent or environment
	Answer   bool   // Text is the answer already
	Scored   bool   // an environment has scored it by itself
	Task     *task.Task
}

// Read reads the reply under the key of a rollout; ErrNoReply if there is none.
func (p *Replies) Read(ctx context.Context, key string) (Reply, error) {
	seq, ok := p.at[key]
	if !ok {
		return Reply{}, fmt.Errorf("%s: %w", key, ErrNoReply)
	}
	rec, in, err := p.entry(ctx, seq)
	if err != nil {
		return Reply{}, err
	}
	if rec.Kind == journal.Episode {
		return episodeReply(in, rec)
	}
	c, err := caller.ReadConversation(in, rec.Result)
	if err != nil {
		return Reply{}, fmt.Errorf("%s: %w", key, err)
	}
	out := Reply{Text: c.Reply.Text, Failure: rollout.ReplyLimit(&c.Reply)}
	if c.Limit != "" {
		out.Failure = string(c.Limit) + ": " + c.Message
	}
	if out.Failure == "" && len(c.Reply.Calls()) > 0 { // of a dialogue without an answer
		out.Failure = "turns: its last reply calls tools"
	}
	out.Question, out.Turns = conversation(c.Messages)
	if out.Text != "" {
		out.Turns = append(out.Turns, trajectory.Turn{Role: model.Assistant, Content: out.Text})
	}
	return out, nil
}

// conversation takes the messages before a reply apart: the question, which is the first
// message of the user, and what was said since.
func conversation(messages []caller.RecordedMessage) (question string, turns []trajectory.Turn) {
	asked := false
	for _, m := range messages {
		switch {
		case asked:
			turns = append(turns, trajectory.Turn{Role: m.Role, Content: m.Text})
		case m.Role == model.User:
			question, asked = textOnly(m.Text), true
		}
	}
	return question, turns
}

// textOnly returns the text of a message: of one with pictures, what is next to them.
func textOnly(text string) string {
	var parts []model.Part
	if !strings.HasPrefix(text, "[{") || json.Unmarshal([]byte(text), &parts) != nil {
		return text
	}
	for _, p := range parts {
		if p.Text != "" {
			return p.Text
		}
	}
	return text
}

// entry reads an entry and what it depends on.
func (p *Replies) entry(ctx context.Context, seq int64) (rec journal.Record, in journal.Input, err error) {
	for rec, err = range p.run.view.Entries(ctx, journal.Query{Seq: seq}) {
		if err != nil {
			return rec, in, p.run.wrapDamage(err)
		}
	}
	if in, err = p.run.view.Input(ctx, seq); err != nil {
		return rec, in, p.run.wrapDamage(err)
	}
	return rec, in, nil
}

// episodeReply returns what an agent or an environment replied.
func episodeReply(in journal.Input, rec journal.Record) (Reply, error) {
	var own struct {
		Episode *task.Task `json:"episode"`
	}
	if err := json.Unmarshal(in.Own, &own); err != nil {
		return Reply{}, fmt.Errorf("read the input of %s: %w", rec.Key, err)
	}
	did, err := rollout.ReadEpisode(rec.Result)
	if err != nil {
		return Reply{}, fmt.Errorf("read the episode %s: %w", rec.Key, err)
	}
	return Reply{
		Question: did.Question, Text: did.Reply, Turns: did.Turns, Failure: did.Failure, Episode: true, Answer: did.Answered, Scored: did.Scored, Task: own.Episode,
	}, nil
}

// Judgement returns what a judge replied to a request about a rollout, however the check
// that asked was called; ErrNoReply if no one asked it. user and system are its messages.
func (p *Replies) Judgement(ctx context.Context, key, system, user string, vote int) (string, error) {
	n := 0
	for _, seq := range p.judged[key] {
		rec, in, err := p.entry(ctx, seq)
		if err != nil {
			return "", err
		}
		c, err := caller.ReadConversation(in, rec.Result)
		if err != nil {
			return "", fmt.Errorf("%s: %w", rec.Key, err)
		}
		if len(c.Messages) != 2 || c.Messages[0].Text != system || c.Messages[1].Text != user {
			continue
		}
		if n++; n == vote {
			return c.Reply.Text, nil
		}
	}
	return "", fmt.Errorf("a judge of %s: %w", key, ErrNoReply)
}
