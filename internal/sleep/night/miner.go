package night

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/similar"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/mine"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/tree"
	"github.com/seed-f4525e22/skillopt/result"
)

// Asked is the miner that asks the optimizer, by [skillopt.Mine].
type Asked struct {
	// Env reads the environment for git, by which it is known what files held that a user accepted, where an agent carries
	// tasks out. Nil: it is not known.
	Env tree.Env

	all []bank.Session // of the project
}

// among has the miner know all sessions of a project.
func (a Asked) among(seen map[string]bank.Session) Asked {
	for _, key := range slices.Sorted(maps.Keys(seen)) {
		a.all = append(a.all, seen[key])
	}
	return a
}

// Way implements Miner.
func (Asked) Way() string {
	digest, err := mine.Digest()
	if err != nil {
		return "mine" // the built-in texts can always be read
	}
	return "mine " + digest
}

// Mine implements Miner.
func (a Asked) Mine(ctx context.Context, cfg config.Config, sessions []bank.Session, _ []wish.Task, opts ...skillopt.Option) ([]wish.Task, *result.Mine, error) {
	var lines bytes.Buffer
	enc := json.NewEncoder(&lines)
	for i := range sessions {
		if err := enc.Encode(sessions[i].Transcript); err != nil {
			return nil, nil, fmt.Errorf("pass on a session: %w", err)
		}
	}
	req := skillopt.MineRequest{Sessions: lines.Bytes()}
	if a.Env != nil && cfg.Agent.Name != "" {
		req.Accepted = (&committed{env: a.Env, sessions: a.all}).readAccepted
	}
	mined, err := skillopt.Mine(ctx, cfg, req, opts...)
	if mined == nil || err != nil {
		return nil, mined, err
	}
	var tasks []wish.Task
	dec := json.NewDecoder(bytes.NewReader(mined.Tasks))
	for dec.More() {
		var t wish.Task
		if err := dec.Decode(&t); err != nil {
			return nil, mined, fmt.Errorf("read what was mined: %w", err)
		}
		tasks = append(tasks, t)
	}
	return tasks, mined, nil
}

// Same implements Miner. What a person has written is the same as another task only in almost the same words: no session
// says what it was about.
func (Asked) Same(known []wish.Task, t *wish.Task) int {
	var list []mine.Known
	words := similar.Words(t.Task.Prompt)
	for i := range known {
		switch k := &known[i]; {
		case k.Trust != wish.ByPerson && t.Trust != wish.ByPerson:
			list = append(list, mine.Known{Task: *k, Cluster: strconv.Itoa(i)})
		case similar.Near(similar.Words(k.Task.Prompt), words) && strings.EqualFold(strings.Join(k.Task.Gold, "\n"), strings.Join(t.Task.Gold, "\n")):
			return i
		}
	}
	for _, name := range mine.Clusters([]wish.Task{*t}, list...) {
		if i, err := strconv.Atoi(name); err == nil && i < len(known) {
			return i
		}
	}
	return -1
}

// Suspicious implements Miner.
func (Asked) Suspicious(text string, sessions []bank.Session) string {
	own := make([]transcript.Transcript, len(sessions))
	for i := range sessions {
		own[i] = sessions[i].Transcript
	}
	words := mine.NewUserWords(own...)
	if reason := mine.Suspicious(text, words); reason != "" {
		return reason
	}
	return mine.FindMark(text, words)
}
