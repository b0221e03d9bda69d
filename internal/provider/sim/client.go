package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Client is a model in a simulated world. It may be used concurrently; it keeps
// what it has understood of recent skills and tasks, which changes no answer.
type Client struct {
	world    *World
	label    string
	print    string
	readings memo[*reading]
	problems memo[*problem]

	mu   sync.Mutex
	seen map[uint64]int // how often a request came; kept only when faults are injected
}

var _ model.Client = (*Client)(nil)

// Sizes of the memory of a Client. A skill is some KB, a task below one.
const (
	keptReadings = 256
	keptProblems = 8192
)

// New returns a client that plays every role in the world: the target for stage
// rollout, the optimizer for the other stages.
func New(w *World) *Client {
	return &Client{
		world:    w,
		label:    "sim:" + w.name,
		print:    fmt.Sprintf("sim-%016x", w.print),
		readings: memo[*reading]{limit: keptReadings},
		problems: memo[*problem]{limit: keptProblems},
		seen:     map[uint64]int{},
	}
}

// Generate answers as the role that req.Tags names. Failures are those of the
// world's rates.errors, a stage that the world cannot play (bad_request), and
// the end of ctx.
func (c *Client) Generate(ctx context.Context, req model.Request) (model.Response, error) {
	if err := ctx.Err(); err != nil {
		return model.Response{}, c.contextError(err)
	}
	system, user := texts(req.Messages)
	var f fault
	if c.world.rates.faulty() {
		var err error
		if f, err = c.disturb(ctx, req); err != nil {
			return model.Response{}, err
		}
	}
	parts, text, agent, err := c.work(req)
	if err == nil && !agent {
		text, err = c.reply(req, system, user)
	}
	if err != nil {
		return model.Response{}, &model.Error{Code: model.BadRequest, Endpoint: c.label, Err: err}
	}
	text = f.damage(text)
	resp := model.Response{
		Text:        text,
		Parts:       parts,
		Finish:      model.FinishStop,
		Model:       c.label,
		Fingerprint: c.print,
	}
	if len(parts) > 0 {
		resp.Finish = model.FinishTools
	}
	if limit := req.MaxTokens * 4; limit > 0 && len(text) > limit {
		resp.Text = strings.ToValidUTF8(text[:limit], "")
		resp.Finish = model.FinishLength
	}
	resp.Usage = trajectory.Usage{Input: tokens(req.Messages), Output: int64(len(resp.Text)+callBytes(parts)+3) / 4}
	return resp, nil
}

func (c *Client) reply(req model.Request, system, user string) (string, error) {
	switch req.Tags.Stage {
	case "doctor": // asks whether anybody answers at all
		return "ready", nil
	case model.StageDraftCheck:
		if isOpinion(user) {
			return c.world.opinions(prompt{stage: req.Tags.Stage, system: system, user: user})
		}
		return c.rollout(system, user, requestSeed(req))
	case model.StageRollout:
		return c.rollout(system, user, requestSeed(req))
	case model.StageDraft:
		p := prompt{stage: req.Tags.Stage, system: system, user: user}
		if asked := triggerAssignment.FindAllStringSubmatch(user, -1); len(asked) > 0 {
			return c.world.draftTriggers(p, asked)
		}
		return c.world.draft(p)
	case model.StageMine:
		return mine(prompt{stage: req.Tags.Stage, system: system, user: user})
	case model.StageJudge:
		return c.world.judge(prompt{stage: req.Tags.Stage, system: system, user: user})
	case "":
		if req.Tags.Role != model.Optimizer {
			return c.rollout(system, user, requestSeed(req))
		}
	}
	return c.world.optimize(prompt{stage: req.Tags.Stage, system: system, user: user})
}

func (c *Client) rollout(system, user string, seed uint64) (string, error) {
	return c.rolloutSeen(system, user, "", seed)
}

// rolloutSeen answers a task as a target that has seen what its actions gave.
func (c *Client) rolloutSeen(system, user, seen string, seed uint64) (string, error) {
	r, err := c.readings.get(system, func(s string) (*reading, error) { return c.world.read(s), nil })
	if err != nil {
		return "", err
	}
	p, err := c.problem(user, seen)
	if err != nil {
		return "", err
	}
	return c.world.answer(p, r, seed), nil
}

// problem returns a task as the target understands it; nil: it does not.
func (c *Client) problem(text, seen string) (*problem, error) {
	if seen == "" {
		return c.problems.get(text, c.world.solve)
	}
	return c.problems.get(text+"\x00"+seen, func(string) (*problem, error) { return c.world.solveSeen(text, seen) })
}

func requestSeed(req model.Request) uint64 {
	if req.Seed == nil {
		return 0
	}
	return mix(uint64(*req.Seed))
}

// texts returns what the system and the user say. With one message of each, as
// usual, nothing is copied.
func texts(messages []model.Message) (system, user string) {
	for _, m := range messages {
		switch m.Role {
		case model.System:
			system = joinTexts(system, m.Text())
		case model.User:
			user = joinTexts(user, m.Text())
		}
	}
	return system, user
}

func joinTexts(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n\n" + b
}

// tokens approximates the length of a prompt: a quarter of its bytes.
func tokens(messages []model.Message) int64 {
	n := 0
	for _, m := range messages {
		n += len(m.Text()) + callBytes(m.Parts)
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Result != nil {
				n += len(p.Result.Content)
			}
		}
	}
	return int64(n+3) / 4
}

func callBytes(parts []model.Part) int {
	n := 0
	for _, p := range parts {
		if p.Call != nil {
			n += len(p.Call.Name) + len(p.Call.Arguments)
		}
	}
	return n
}

// contextError returns the end of a context as a Client reports it.
func (c *Client) contextError(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &model.Error{Code: model.Timeout, Endpoint: c.label, Err: err}
	}
	return err
}

func (c *Client) wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return c.contextError(ctx.Err())
	}
}

// memo remembers what was made of a text. When it is full it is emptied.
type memo[V any] struct {
	limit int

	mu   sync.RWMutex
	kept map[string]V
}

func (m *memo[V]) get(text string, make func(string) (V, error)) (V, error) {
	m.mu.RLock()
	v, ok := m.kept[text]
	m.mu.RUnlock()
	if ok {
		return v, nil
	}
	v, err := make(text)
	if err != nil {
		return v, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil || len(m.kept) >= m.limit {
		m.kept = map[string]V{}
	}
	m.kept[text] = v
	return v, nil
}
