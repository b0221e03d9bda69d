package mine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/outbound"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/taskgroup"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
)

// Bounds.
const (
	MaxSessions = 500 // that one call of Run looks at; what is more is counted, the last first
	MaxTasks    = 3   // that are taken of one session
)

// Options say what is mined.
type Options struct {
	Sessions []transcript.Transcript // in the order in which they are looked at
	Clean    transcript.Cleaner      // takes secrets out of what is sent, and of what a model returns
	Ask      draft.Ask               // asks the optimizer; draft.ErrLost: this session is passed over

	// Files, if set, knows what files held that a user accepted.
	Files Files

	// Progress, if set, learns how many of the calls are done. It may be called concurrently.
	Progress func(done, total int)
}

// Files knows what files held that a user accepted, such as those of a later commit.
type Files interface {
	// Accepted returns the texts of files that a turn wrote, by their names in Turn.Files, as
	// the user has kept them; nil: it is not known. It may be called concurrently.
	Accepted(ctx context.Context, t transcript.Transcript, turn int) (map[string]string, error)
}

// Mined is the result of mining sessions.
type Mined struct {
	Tasks  []wish.Task // in the order of the sessions; each has not been reviewed
	Funnel result.MineFunnel
}

// Plan returns how many calls Run makes at most.
func Plan(sessions []transcript.Transcript) int {
	n := 0
	for i := range sessions[:min(len(sessions), MaxSessions)] {
		if _, why := look(&sessions[i]); why == "" {
			n++
		}
	}
	return n
}

// Run makes tasks of sessions. The error is that of Ask, of Files, or says what is missing in
// the options. A reply that is of no use ends nothing.
func Run(ctx context.Context, o Options) (Mined, error) {
	if o.Clean == nil || o.Ask == nil {
		return Mined{}, errors.New("mine: no cleaner, or no one to ask")
	}
	m := &miner{Options: o}
	var err error
	if m.prompts, err = loadPrompts(); err != nil {
		return Mined{}, err
	}
	found := m.look()
	replies, err := m.ask(ctx, found)
	if err != nil {
		return Mined{}, err
	}
	for i, e := range found {
		if err := m.session(ctx, e, replies[i]); err != nil {
			return Mined{}, err
		}
	}
	m.funnel.close(m.tasks)
	return Mined{Tasks: m.tasks, Funnel: m.funnel.MineFunnel}, nil
}

// miner is mining under way.
type miner struct {
	Options

	prompts prompts
	funnel  funnel
	tasks   []wish.Task
}

// look returns the sessions that have something to show.
func (m *miner) look() []*evidence {
	var found []*evidence
	m.funnel.Sessions = len(m.Sessions)
	for i := range m.Sessions {
		t := &m.Sessions[i]
		if i >= MaxSessions {
			m.funnel.leave(TooMany, t, "")
			continue
		}
		e, why := look(t)
		if why != "" {
			m.funnel.leave(why, t, m.Clean.Text(e.detail))
			continue
		}
		e.clean(m.Clean)
		found = append(found, e)
	}
	m.funnel.Candidates = len(found)
	return found
}

// ask asks about sessions and returns the replies in their order; "" for one that is lost.
func (m *miner) ask(ctx context.Context, found []*evidence) ([]string, error) {
	replies := make([]string, len(found))
	done := make(chan struct{}, len(found))
	group, ctx := taskgroup.WithContext(ctx)
	for i, e := range found {
		group.Go(func() (err error) {
			replies[i], err = m.askAbout(ctx, e)
			done <- struct{}{}
			if m.Progress != nil {
				m.Progress(len(done), len(found))
			}
			return err
		})
	}
	return replies, group.Wait()
}

func (m *miner) askAbout(ctx context.Context, e *evidence) (string, error) {
	out, err := outbound.Render(*e.t, m.Clean)
	if err != nil {
		return "", fmt.Errorf("mine: %w", err)
	}
	system, user, err := m.prompts.about(out, e)
	if err != nil {
		return "", err
	}
	text, err := m.Ask(ctx, draft.Request{
		Key: callKey(e.t), Stage: model.StageMine, System: system, User: user, Schema: replySchema(),
		Accept: func(text string) error {
			_, err := readReply(text, m.Clean)
			return err
		},
	})
	if errors.Is(err, draft.ErrLost) {
		return "", nil
	}
	return text, err
}

// callKey returns the key of the call about a session, which does not depend on where it is among others.
func callKey(t *transcript.Transcript) string { return "mine/" + digest(t.Source, t.ID) }

func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d %s ", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// session makes tasks of what a model proposed about a session.
func (m *miner) session(ctx context.Context, e *evidence, reply string) error {
	m.funnel.Asked++
	if reply == "" {
		m.funnel.leave(Lost, e.t, "")
		return nil
	}
	list, err := readReply(reply, m.Clean)
	if err != nil {
		m.funnel.leave(Lost, e.t, err.Error())
		return nil
	}
	if len(list) == 0 {
		m.funnel.leave(NothingProposed, e.t, "")
		return nil
	}
	// What needs a workspace or a judge is read here, and refused later by callers that have none.
	rules, err := draft.NewRules(check.Options{Workspace: true, Judge: true})
	if err != nil {
		return fmt.Errorf("mine: %w", err)
	}
	w := &weighing{evidence: e, rules: rules, own: NewUserWords(*e.t), clean: m.Clean}
	if m.Files != nil {
		w.files = m.Files.Accepted
	}
	m.funnel.Proposed += len(list)
	for n, p := range list {
		if n >= MaxTasks {
			m.funnel.fall(draft.Surplus, e.t, "", p.prompt)
			continue
		}
		task, why, detail, err := w.weigh(ctx, p)
		if err != nil {
			return err
		}
		if why != "" {
			m.funnel.fall(why, e.t, detail, p.prompt)
			continue
		}
		m.add(task)
	}
	return nil
}

// add takes a task, or what is new of one that was shown before in almost the same words.
func (m *miner) add(t wish.Task) {
	for i := range m.tasks {
		old := &m.tasks[i]
		if old.Project != t.Project || old.Trust != t.Trust || !almostEqual(old, &t) {
			continue
		}
		m.funnel.Merged++
		merge(old, t)
		return
	}
	m.tasks = append(m.tasks, t)
}
