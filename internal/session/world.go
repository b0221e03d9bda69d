package session

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/corpus"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/openenv"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/spreadsheet"
	"github.com/seed-f4525e22/skillopt/internal/textgame"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

// The worlds of env.world.
const (
	corpusWorld      = "corpus"
	spreadsheetWorld = "spreadsheet"
	GameWorld        = "textgame" // of which bench verify plays the games
)

// InWorld reports whether the configuration names a world, in which a target acts over several turns.
func (s *Inputs) InWorld() bool {
	return s.World != nil || s.Config.Env.World != "" || s.Config.Env.URL != "" || s.inProgram() || len(s.Config.Env.MCP) > 0
}

// inProgram reports whether the program of env.command plays episodes.
func (s *Inputs) inProgram() bool {
	return s.Env == nil && len(s.Config.Env.Command) > 0 && s.Config.Env.Protocol == config.ProtocolEpisode
}

// WorldScores reports whether a world scores its episodes, or may: tasks need no gold and no checks then.
func (s *Inputs) WorldScores() bool {
	return s.World != nil || s.Config.Env.World == GameWorld || s.Config.Env.URL != "" || s.inProgram()
}

// EpisodeCalls returns how often models are asked in one episode at most: the target, and the judge by a program that plays.
func (s *Inputs) EpisodeCalls() int {
	if s.inProgram() && s.namesJudge() {
		return 2 * s.Config.Env.Turns
	}
	return s.Config.Env.Turns
}

// worksInFolders reports whether tasks are carried out in folders of their own, which checks look at.
func (s *Inputs) worksInFolders() bool {
	return s.Config.Agent.Name != "" || s.World != nil && !s.World.Pure() || s.Config.Env.World == spreadsheetWorld || len(s.Config.Env.MCP) > 0
}

// inWorld has the target act in the world of the session.
func (s *episodes) inWorld(ctx context.Context) (rollout.Episode, error) {
	e, w := s.Config.Env, s.acts
	if err := s.recordTools(ctx); err != nil {
		return nil, err
	}
	if w == nil { // a replay, which runs no programs
		return s.inFolders(replayAgent{}, s.Config.Limits.Concurrency)
	}
	slots := s.Config.Limits.Concurrency
	if s.concurrent > 0 {
		slots = min(slots, s.concurrent)
	}
	if s.program != nil && s.program.Plays() {
		return s.inFolders(rollout.Solo{Program: s.program, Timeout: e.Timeout.Std()}, slots)
	}
	talk := rollout.Talk{World: w, Prompt: s.ChatPrompt(s.Images), Turns: e.Turns, Tokens: e.Tokens, Timeout: e.Timeout.Std(), Form: rollout.Form(e.Action), History: e.HistoryTurns()}
	if w.Pure() {
		return &rollout.Dialogue{
			Talk: talk, Model: s.Caller, Assess: s.scorer.assess, RunSeed: s.Config.Train.Seed, Slots: rollout.NewSlots(slots),
			Warn: func(err error) { s.Emit(event.Warning{Text: s.hide.Text(err.Error())}) },
		}, nil
	}
	return s.inFolders(rollout.Player{Talk: talk}, slots)
}

// readyWorld sums up what a world reads that is not in the configuration: its documents, and the version of what
// computes formulas.
func (s *loader) readyWorld(ctx context.Context) error {
	e := s.Config.Env
	if e.World == corpusWorld && e.Docs != "" {
		sum, err := sumDocs(ctx, e.Docs)
		if err != nil {
			return fault.Input(fmt.Errorf("%s: %w", where(s.Loaded, "env.docs"), err))
		}
		s.Contents["env.docs"] = sum
	}
	if err := s.listTools(ctx); err != nil {
		return err
	}
	if e.World == GameWorld && !s.Counting { // a survey keeps less of tasks than which game they name
		return s.sumGames(ctx, e)
	}
	if e.World != spreadsheetWorld || e.Recalc == string(spreadsheet.RecalcNone) || s.Replay != nil || s.Plan != nil {
		return nil
	}
	office, err := spreadsheet.FindOffice(ctx, spreadsheet.Recalc(e.Recalc), s.Loaded.Lookup)
	if err != nil {
		return fault.Input(err)
	}
	s.office, s.Contents["env.recalc"] = office, Digest([]byte(office.Version()))
	s.uses("env.recalc", office.Version())
	return nil
}

// sumGames opens the folder of games, and sums up those of the tasks.
func (s *loader) sumGames(ctx context.Context, e config.Env) error {
	if e.Docs == "" {
		return fault.Input(fmt.Errorf("%s: nothing, want the folder with the games of world textgame", where(s.Loaded, "env.docs")))
	}
	games, err := textgame.New(e.Docs)
	if err != nil {
		return fault.Input(fmt.Errorf("%s: %w", where(s.Loaded, "env.docs"), err))
	}
	if s.Contents["env.docs"], err = games.Sum(ctx, s.Set.Tasks()); err != nil {
		return fault.Input(errors.Join(err, games.Close()))
	}
	s.games = games
	return nil
}

// sumDocs sums up the files of a folder by their names and what they hold.
func sumDocs(ctx context.Context, dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // it was only read
	h := sha256.New()
	err = disk.Walk(root, func(_ *os.Root, name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil || ctx.Err() != nil:
			return cmp.Or(err, context.Cause(ctx))
		case !e.Type().IsRegular():
			return nil
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // it was only read
		fmt.Fprintf(h, "%q ", name)
		n, err := io.Copy(h, f)
		fmt.Fprintf(h, " %d\n", n)
		return err
	})
	return hex.EncodeToString(h.Sum(nil))[:16], err
}

// RequireWorld opens the world of the config, and fails when it cannot work here, before anything is begun.
func (s *Session) RequireWorld(ctx context.Context) error {
	e := s.Config.Env
	switch {
	case s.World != nil:
		s.acts = s.World
	case s.games != nil:
		s.acts, s.closers = s.games, append(s.closers, s.games.Close)
	case e.URL != "" && s.Replay == nil:
		return s.openServer(ctx, e)
	case s.inProgram() && s.Replay == nil:
		return s.openProgram(ctx)
	case len(e.MCP) > 0 && s.Replay == nil:
		return s.openTools()
	case e.World == corpusWorld && !(s.Replay != nil && e.Mode == corpus.ModeSearch): // of which a replay has the results
		return s.openCorpus(e)
	case e.World == spreadsheetWorld && s.Config.Agent.Name == "" && s.Replay == nil:
		if support := sandbox.Supports(); support.Kind == "" {
			return fault.Input(fmt.Errorf("env.world spreadsheet runs programs that a model writes, which cannot be confined here: %s", support.Why))
		}
		python, err := spreadsheet.FindPython(ctx, e.Python, s.Loaded.Lookup)
		if err != nil {
			return fault.Input(err)
		}
		if err := s.keepsTasks(python); err != nil {
			return err
		}
		s.uses("env.python", python.Version())
		s.acts, err = spreadsheet.New(spreadsheet.Options{Mode: spreadsheet.Mode(e.Mode), Python: python})
		return err
	}
	return nil
}

// openProgram starts the program that plays episodes. One that the dialogue plays needs a target.
func (s *Session) openProgram(ctx context.Context) error {
	p, err := s.startProgram(ctx)
	if err != nil {
		return err
	}
	s.acts, s.program, s.concurrent, s.closers = p, p, p.Concurrent(), append(s.closers, p.Close)
	if p.Plays() && s.Config.Agent.Name != "" {
		return fault.Input(fmt.Errorf("%s: %s with a program that plays by itself (plays: true), allowed: nothing, or a program that is a world", where(s.Loaded, "agent.name"), s.Config.Agent.Name))
	}
	if !p.Plays() && s.Config.Agent.Name == "" && s.Models.Of(model.Target).Kind == wiring.None {
		return fault.Input(fmt.Errorf("%s: nothing, want the model that acts in the world of %s: a program that asks it by itself says plays: true", where(s.Loaded, "models.target"), p.Name()))
	}
	return nil
}

// startProgram starts the program that plays episodes.
func (s *Inputs) startProgram(ctx context.Context) (*env.Program, error) {
	o, err := s.Environment()
	if err != nil {
		return nil, err
	}
	o.Asks = s.Config.Env.Turns
	p, err := env.OpenProgram(ctx, o)
	if err != nil {
		return nil, commandError(err)
	}
	return p, nil
}

// programTasks returns the tasks that a program brings.
func (s *Inputs) programTasks(ctx context.Context, rules task.Rules) (set task.Set, err error) {
	p, err := s.startProgram(ctx)
	if err != nil {
		return set, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	lines, err := p.Tasks(ctx)
	if err != nil {
		return set, commandError(err)
	}
	if lines == nil {
		return set, fmt.Errorf("tasks.path: found nothing, allowed: %s; %s has no tasks of its own", taskFiles, p.Name())
	}
	return task.Parse("tasks of "+p.Name(), lines, rules)
}

// keepsTasks fails when a program could read the tasks, and with them what is expected, because its interpreter may.
func (s *Session) keepsTasks(python spreadsheet.Interpreter) error {
	if s.Config.Tasks.Path == "" { // they are in the memory of a program
		return nil
	}
	tasks, err := filepath.EvalSymlinks(s.Config.Tasks.Path)
	if err != nil {
		return fault.Input(fmt.Errorf("%s: %w", where(s.Loaded, "tasks.path"), err))
	}
	for _, dir := range python.Read {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			continue // what is not there is not read
		}
		if rel, err := filepath.Rel(real, tasks); err == nil && filepath.IsLocal(rel) {
			return fault.Input(fmt.Errorf("the interpreter %s reads %s, which holds the tasks (%s): name another one in env.python, or put the tasks elsewhere", python.Path, dir, s.Config.Tasks.Path))
		}
	}
	return nil
}

// openCorpus opens the documents, and looks for those that the tasks name.
func (s *Session) openCorpus(e config.Env) error {
	if e.Docs == "" && e.Mode != corpus.ModeSearch {
		return fault.Input(fmt.Errorf("%s: nothing, want the folder with the documents of world corpus", where(s.Loaded, "env.docs")))
	}
	o := corpus.Options{Dir: e.Docs, Mode: e.Mode, Turns: e.Turns, Search: corpus.Search{URL: e.Search.URL}}
	if name := e.Search.APIKeyEnv; name != "" {
		key, ok := s.Loaded.Lookup(name)
		if !ok {
			return fault.Input(fmt.Errorf("%s: the variable %s is not set", where(s.Loaded, "env.search.api_key_env"), name))
		}
		o.Search.Authorization = key
	}
	c, err := corpus.New(o)
	if err != nil {
		return fault.Input(err)
	}
	s.acts, s.docs, s.closers = c, c, append(s.closers, c.Close)
	return fault.Input(c.Check(s.Set.Tasks()))
}

// openServer connects to a server of OpenEnv.
func (s *Session) openServer(ctx context.Context, e config.Env) error {
	server, err := openenv.Connect(ctx, openenv.Options{URL: e.URL, Reward: [2]float64(e.Reward)})
	if err != nil {
		return fault.Input(err)
	}
	s.acts, s.schema = server, Digest(server.Schema())
	if s.concurrent, err = server.Sessions(ctx); err != nil {
		return fault.Input(err)
	}
	return fault.Input(server.Check(s.Set.Tasks()))
}

// DescribeWorld returns what a world that was opened works with.
func (s *Session) DescribeWorld() string {
	var parts []string
	for _, what := range []string{"env.python", "env.recalc"} {
		if v, err := strconv.Unquote(s.Versions[what+".version"]); err == nil {
			parts = append(parts, v)
		}
	}
	if s.schema != "" {
		parts = append(parts, "a server of OpenEnv, schema "+s.schema)
	}
	if p := s.program; p != nil {
		what := "a world"
		if p.Plays() {
			what = "it asks the target by itself"
		}
		parts = append(parts, fmt.Sprintf("%s: %s, at most %s at a time", p.Name(), what, wording.Plural(p.Concurrent(), "episode", "episodes")))
	}
	if len(s.tools) > 0 {
		parts = append(parts, describeTools(s.tools))
	}
	if s.docs != nil {
		parts = append(parts, "documents in "+s.Config.Env.Docs)
	}
	return strings.Join(parts, ", ")
}
