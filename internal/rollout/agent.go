package rollout

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unique"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// CodingAgent carries out one job in a folder. It may be called concurrently.
type CodingAgent interface {
	// Work returns what the agent did. An error means that infrastructure, and
	// not the agent, kept it from its work.
	Work(ctx context.Context, job AgentJob) (AgentReport, error)
}

// AgentJob is what an agent is given.
type AgentJob struct {
	Task   task.Task
	Seed   int64
	Prompt string
	Images []model.Image // that belong to the prompt
	Dir    string        // its workspace, absolute
	Home   string        // a folder for its own files, outside of the workspace
	Skill  skill.Skill
	Marks  Marks        // of a trigger task: what shows that the body of the skill was loaded
	Client model.Client // what it spends is metered and recorded through it
	Tools  *ToolAccess  // a server of tools that it is to use; nil: none

	// Given gets each key that the agent is given for this job alone.
	Given func(key string)
}

// ToolAccess is where an agent finds a server that speaks MCP.
type ToolAccess struct {
	URL string // of its streamable HTTP
	Key string // which it sends as a bearer token
}

// AgentReport is what an agent did.
type AgentReport struct {
	Question string // what its model was asked, if that is more than the prompt
	Served   string // the model that answered last, if its calls went past the client
	Answer   string
	Written  []string        // files that were put next to the task's before the agent began, such as the skill
	Load     trajectory.Load // with marks: whether the body was loaded
	Turns    []trajectory.Turn
	Usage    trajectory.Usage // of calls that went past the client
	Failure  string           // why it failed at the task, "class: detail"; "" if it finished
	Score    *float64         // of a world that scores its episodes
	Hidden   string           // how the task can be done, for analysts
	Notes    []string         // what a reader of the outcome should know
	LeftOut  []trajectory.LeftOut
	Starved  bool            // it failed at its deadline, and waited long for a processor: its machine is to blame
	Told     trajectory.Told // what it gave its model apart from the task, uncut, a tool a line, if that is known
}

// takeScore fills in a score for which no check is asked: that of the world, or 0 where the target has failed. It reports
// whether there is one.
func (r *AgentReport) takeScore(out *trajectory.Outcome) bool {
	switch {
	case r.Score != nil:
		out.Status, out.Hard, out.Soft = score.OK, *r.Score, *r.Score
		if out.FailReason = r.Failure; out.FailReason == "" && *r.Score < 1 {
			out.FailReason = fmt.Sprintf("score: the world gave %.3g of 1", *r.Score)
		}
	case r.Failure != "":
		out.Status, out.FailReason = score.AgentError, r.Failure
	default:
		return false
	}
	out.Answer = r.Answer
	return true
}

// Recorder makes durable steps; *caller.Caller is one.
type Recorder interface {
	EpisodeRecorder
	Check(ctx context.Context, c caller.CheckCall, run func(context.Context) ([]byte, error)) ([]byte, error)
	Recorded(key string) bool // whether a step has a result
}

// Agent has a coding agent carry out tasks. What it did is one durable step, how
// that is scored another: a score that could not be had is asked for again
// without the agent.
type Agent struct {
	Agent      CodingAgent
	Record     Recorder
	Workspaces *Workspaces
	Prompt     *template.Template                                     // over the fields of the task
	Brief      func(ctx context.Context, t task.Task) (string, error) // what follows the prompt of a task; nil: nothing does
	Images     *Images
	Extras     map[string]any
	Snapshot   func(dir string) (json.RawMessage, error)   // remembers a workspace as it is; nil = no one needs it
	Finish     func(ctx context.Context, dir string) error // changes what was left before checks look at it; nil: nothing does
	Assess     Assess
	Looks      func(t task.Task) bool // whether the checks of a task look at the workspace; nil = none does
	RunSeed    int64
	Context    []byte // what an outcome depends on apart from task and skill
	Slots      *Slots
	Keep       Keep
	Warn       func(error) // a workspace that cannot be deleted costs room, not the run; notes of agents, each once

	omissions
	noted  sync.Map    // the notes that were reported
	worked atomic.Bool // it has finished a task

	// Tell has it recorded what an agent gives its model, for analysts. Runs that began
	// without it remain without it.
	Tell bool

	// Hide removes secrets that the agent was given from what it says, and from
	// workspaces that are kept; nil if it was given none.
	Hide *redact.Exact
}

// Keep says which workspaces are kept when their rollouts are scored.
type Keep string

// The choices.
const (
	KeepNone   Keep = "none"
	KeepFailed Keep = "failed"
	KeepAll    Keep = "all"
)

// episodeRecord is what is recorded of an episode.
type episodeRecord struct {
	Question string            `json:"question"`
	Answer   string            `json:"answer,omitempty"`
	Turns    []trajectory.Turn `json:"turns,omitempty"`
	Usage    trajectory.Usage  `json:"usage"`
	Failure  string            `json:"failure,omitempty"`
	Score    *float64          `json:"score,omitempty"`
	Hidden   string            `json:"hidden,omitempty"`
	Notes    []string          `json:"notes,omitempty"`
	Before   json.RawMessage   `json:"before,omitempty"`
	Written  []string          `json:"written,omitempty"`
	Served   string            `json:"served,omitempty"`
	Refused  string            `json:"refused,omitempty"`
	Load     trajectory.Load   `json:"load,omitempty"` // of a trigger task
	Seconds  float64           `json:"seconds,omitempty"`

	LeftOut []trajectory.LeftOut `json:"left_out,omitempty"`
	Told    *trajectory.Told     `json:"told,omitempty"`

	digest string // of all this, of the task and of what both depend on
}

// Run carries out one task. See Episode.
func (a *Agent) Run(ctx context.Context, p Place, t task.Task, s skill.Skill) (trajectory.Outcome, error) {
	key := p.Key(t)
	did, err := a.episode(ctx, key, caller.Seed(a.RunSeed, t.ID, p.Sample), t, s)
	if err != nil {
		return trajectory.Outcome{}, err
	}
	a.omit(did.LeftOut)
	if len(did.LeftOut) > 0 {
		did.Notes = append(did.Notes, "its model did not get all of its requests: "+formatLeftOut(did.LeftOut)+" left out")
	}
	for _, note := range did.Notes {
		if _, told := a.noted.LoadOrStore(note, true); !told {
			a.Warn(errors.New("agent: " + note))
		}
	}
	out := trajectory.Outcome{
		ID: t.ID, Type: t.Type, Question: did.Question, Reference: joinLines(Reference(t), did.Hidden), Trajectory: did.Turns, Usage: did.Usage, Served: did.Served, Refused: did.Refused, LeftOut: did.LeftOut, Seconds: did.Seconds,
	}
	if did.Told != nil { // mostly the same text each time: kept once
		out.Told = unique.Make(*did.Told).Value()
	}
	if t.Trigger != "" {
		if err := scoreTrigger(t, did, &out); err != nil {
			return trajectory.Outcome{}, err
		}
	} else if r := (&AgentReport{Answer: did.Answer, Failure: did.Failure, Score: did.Score}); r.takeScore(&out) {
	} else if err := a.score(ctx, key, t, did, &out); err != nil {
		return out, err
	}
	a.tidy(key, out)
	return out, nil
}

// episode has the agent work, or takes what it did from the record. Its slot is
// free when what it did is recorded: a kill costs at most one episode a slot.
func (a *Agent) episode(ctx context.Context, key string, seed int64, t task.Task, s skill.Skill) (episodeRecord, error) {
	var did episodeRecord
	own, err := json.Marshal(t)
	if err != nil {
		return did, fmt.Errorf("encode task %s: %w", t.ID, err)
	}
	call := caller.EpisodeCall{
		Key: key, Stage: model.StageRollout, Role: model.Target, Seed: seed,
		Shared: [][]byte{skillBytes(s), a.Context}, Own: own,
		Usable: func(raw []byte) bool { return a.scorable(key, t, raw) },
	}
	if sum := a.Images.Digest(t); sum != "" {
		call.Shared = append(call.Shared, []byte(sum))
	}
	raw, err := a.runEpisode(ctx, call, func(ctx context.Context, client model.Client, last bool) (caller.EpisodeResult, error) {
		did, err := a.work(ctx, call, t, s, client, last)
		if err != nil {
			return caller.EpisodeResult{}, err
		}
		did.Served, did.Refused = servedBy(client), refusedBy(client)
		data, err := json.Marshal(did)
		return caller.EpisodeResult{Data: a.Hide.JSON(data), Usage: did.Usage}, err
	})
	if err != nil {
		return did, err
	}
	if err := json.Unmarshal(raw, &did); err != nil {
		return did, fmt.Errorf("read the recorded episode of %s: %w", key, err)
	}
	h := sha256.New()
	for _, part := range [][]byte{a.Context, own, raw} {
		fmt.Fprintf(h, "%d\n", len(part))
		h.Write(part)
	}
	did.digest = hex.EncodeToString(h.Sum(nil))
	return did, nil
}

// maxStarved is how often an episode is tried again whose machine had no processor for it.
const maxStarved = 2

// starvedError says that an agent was not done in time because it waited for a processor.
type starvedError struct{ task string }

func (e *starvedError) Error() string {
	return fmt.Sprintf("agent, task %s: it was not done in time, for more than a fifth of which it waited for a processor", e.task)
}

// FaultClass returns the class of the error's entry in the ledger.
func (*starvedError) FaultClass() string { return "starved" }

// runEpisode has an episode carried out in a slot. One that lacked a processor is tried again, with
// fewer others at once; the last time its deadline counts whatever it waited for.
func (a *Agent) runEpisode(ctx context.Context, call caller.EpisodeCall, run func(ctx context.Context, client model.Client, last bool) (caller.EpisodeResult, error)) ([]byte, error) {
	for n := 0; ; n++ {
		leave, err := a.Slots.take(ctx, n)
		if err != nil {
			return nil, err
		}
		raw, err := a.Record.Episode(ctx, call, func(ctx context.Context, client model.Client) (caller.EpisodeResult, error) {
			return run(ctx, client, n == maxStarved)
		})
		leave()
		var starved *starvedError
		if !errors.As(err, &starved) || ctx.Err() != nil {
			return raw, err
		}
		a.Warn(fmt.Errorf("%w; it is tried again, with fewer at once (agent.slots)", err))
	}
}

// scorable reports whether an episode that a fork took over has a score, or can
// get one. Workspaces stay with the run that was forked: where one is yet to be
// looked at, only another episode can measure the task.
func (a *Agent) scorable(key string, t task.Task, raw []byte) bool {
	var did episodeRecord
	if json.Unmarshal(raw, &did) != nil || did.Failure != "" || t.Trigger != "" || a.Looks == nil || !a.Looks(t) {
		return true
	}
	if a.Record.Recorded(scoreKey(key)) {
		return true
	}
	_, err := os.Lstat(a.Workspaces.at(key).Dir)
	return err == nil
}

// scoreKey returns the key under which the score of an episode is recorded.
func scoreKey(key string) string { return key + "/score" }

func (a *Agent) work(ctx context.Context, call caller.EpisodeCall, t task.Task, s skill.Skill, client model.Client, last bool) (episodeRecord, error) {
	key, seed := call.Key, call.Seed
	question, err := a.question(ctx, t, s)
	if err != nil {
		return episodeRecord{}, err
	}
	images, err := a.Images.of(t)
	if err != nil {
		return episodeRecord{}, err
	}
	ws, err := a.Workspaces.prepare(ctx, key, t)
	if err != nil {
		return episodeRecord{}, err
	}
	var marks Marks
	if t.Trigger != "" {
		if marks, err = a.marks(t, s, ws.Dir); err != nil {
			return episodeRecord{}, errors.Join(err, a.Workspaces.remove(key))
		}
	}
	var before json.RawMessage
	if a.Snapshot != nil && t.Trigger == "" {
		if before, err = a.Snapshot(ws.Dir); err != nil {
			return episodeRecord{}, fmt.Errorf("look at the workspace of task %s (%s): %w", t.ID, t.Origin, err)
		}
	}
	var keys []string
	began := time.Now()
	r, err := a.Agent.Work(ctx, AgentJob{
		Task: t, Seed: seed, Prompt: question, Images: images, Dir: ws.Dir, Home: ws.Home, Skill: s, Marks: marks, Client: client, Given: func(key string) { keys = append(keys, key) },
	})
	took := time.Since(began)
	if err == nil && t.Trigger != "" && r.Load == "" {
		err = errors.New("it is unknown whether it loaded the skill: it was not answered by its model through the gateway, and does not report which files it reads")
	}
	if err == nil && r.Starved && !last {
		err = &starvedError{t.ID}
	}
	tools := missingTools(r.LeftOut)
	if episodeRecord := a.leave(key, ws, redact.NewExact(keys...), err != nil || tools != nil); episodeRecord != nil && err == nil {
		err = episodeRecord
	}
	if tools != nil {
		return episodeRecord{}, &ToolError{Task: t.ID, Tools: tools}
	}
	if err != nil {
		if text := err.Error(); a.Hide.Has(text) {
			err = errors.New(a.Hide.Text(text))
		}
		return episodeRecord{}, a.wrapFailure(t, err)
	}
	a.worked.Store(true)
	did := episodeRecord{Question: addImageNames(cmp.Or(r.Question, question), t), Answer: r.Answer, Turns: r.Turns, Usage: r.Usage, Failure: r.Failure, Score: r.Score, Hidden: r.Hidden, Notes: r.Notes, Load: r.Load, Before: before, Written: r.Written, LeftOut: r.LeftOut, Seconds: took.Seconds()}
	if a.Tell && r.Told != (trajectory.Told{}) {
		did.Told = shortenTold(r.Told, a.Hide)
	}
	return did, nil
}

// wrapFailure returns the failure of an agent as an error of its task; of the run, if the agent says that its login is no good
// and has not worked yet: the next task would be given the same.
func (a *Agent) wrapFailure(t task.Task, err error) error {
	if model.CodeOf(err) == model.Auth && !a.worked.Load() {
		return &caller.StoppedError{Endpoint: "the agent", Useless: "has no login that its model takes", Err: err}
	}
	var starved *starvedError
	if errors.As(err, &starved) {
		return err
	}
	return caller.Unmeasurable(fmt.Errorf("agent, task %s: %w", t.ID, err))
}

// question returns what the agent is asked. A trigger task is asked by its prompt alone: a template
// may show or name the skill.
func (a *Agent) question(ctx context.Context, t task.Task, s skill.Skill) (string, error) {
	if t.Trigger != "" {
		return t.Prompt, nil
	}
	text, err := prompt(a.Prompt, t, promptFields(t, s, a.Extras))
	if err != nil || a.Brief == nil {
		return text, err
	}
	more, err := a.Brief(ctx, t)
	return text + "\n\n" + more, err
}

// leave moves what the agent left into the run after the agent has ended. Its error says that this
// could not be done. The agent's own files are deleted: they hold the key of its session, and no
// one needs them. What a try left that measured nothing goes too, unless somebody wants to look at
// it. Folders that the agent locked are opened: that is no reason for a check to fail, or not to be
// carried out. No check can depend on a key that was made for this job.
func (a *Agent) leave(key string, ws workspace, given *redact.Exact, failed bool) error {
	err := removeAll(ws.Home)
	var moved error
	if failed && (a.Keep == KeepNone || a.Keep == "") {
		err = errors.Join(err, a.Workspaces.remove(key))
	} else {
		unlock(ws.Dir)
		err = errors.Join(err, prune(ws.Dir), hideIn(ws.Dir, given))
		if failed {
			err = errors.Join(err, hideIn(ws.Dir, a.Hide))
		}
		if moved = a.Workspaces.settle(key, ws); moved != nil {
			moved = fmt.Errorf("move the workspace into the run: %w", moved)
		}
	}
	if err != nil {
		a.Warn(fmt.Errorf("clean up after the agent of %s: %w", key, err))
	}
	return moved
}

// score fills in how what the agent left is scored. That is recorded, since the
// workspace is deleted afterwards. It is the score of this very episode: where a
// fork has another one, it has another score too.
func (a *Agent) score(ctx context.Context, key string, t task.Task, did episodeRecord, out *trajectory.Outcome) error {
	call := caller.CheckCall{Key: scoreKey(key), Own: []byte(did.digest)}
	raw, err := a.Record.Check(ctx, call, func(ctx context.Context) ([]byte, error) {
		ev := Evidence{Reply: did.Answer, Turns: did.Turns, Dir: a.Workspaces.at(key).Dir, Seen: a.Workspaces.linkPlace(key), Before: did.Before, Written: did.Written, Digest: did.digest}
		if a.Finish != nil {
			if err := a.Finish(ctx, ev.Dir); err != nil {
				return nil, caller.Unmeasurable(fmt.Errorf("task %s: %w", t.ID, err))
			}
		}
		var scored trajectory.Outcome
		if err := settle(ctx, a.Assess, key, t, ev, &scored); err != nil {
			out.Checks = scored.Checks
			return nil, err
		}
		return json.Marshal(scored)
	})
	if err != nil {
		return err
	}
	var scored trajectory.Outcome
	if err := json.Unmarshal(raw, &scored); err != nil {
		return fmt.Errorf("read the recorded score of %s: %w", key, err)
	}
	out.Status, out.Hard, out.Soft = scored.Status, scored.Hard, scored.Soft
	out.Answer, out.FailReason, out.Feedback = scored.Answer, scored.FailReason, scored.Feedback
	out.Extracted, out.Checks = scored.Extracted, scored.Checks
	return nil
}

// tidy deletes a workspace that is scored, unless it is to be kept; then what the
// agent wrote down of the secrets that it was handed goes.
func (a *Agent) tidy(key string, out trajectory.Outcome) {
	if a.Keep == KeepAll || a.Keep == KeepFailed && out.Hard < 1 {
		if err := hideIn(a.Workspaces.at(key).Dir, a.Hide); err != nil {
			a.Warn(fmt.Errorf("take secrets out of the workspace of %s: %w", key, err))
		}
		return
	}
	if err := a.Workspaces.remove(key); err != nil {
		a.Warn(fmt.Errorf("delete the workspace of %s: %w", key, err))
	}
}
