package skillopt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/env"
	"github.com/seed-f4525e22/skillopt/internal/price"
	"github.com/seed-f4525e22/skillopt/internal/prompt"
	"github.com/seed-f4525e22/skillopt/internal/provider/sim"
	"github.com/seed-f4525e22/skillopt/internal/rollout"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/internal/train"
	"github.com/seed-f4525e22/skillopt/internal/userfile"
	"github.com/seed-f4525e22/skillopt/internal/wire"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/schedule"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
)

// setup is everything that a configuration names, loaded and checked, before
// anything is opened or spent.
type setup struct {
	options
	cfg      Config
	command  string // what runs, "" = train
	loaded   *config.Loaded
	skill    skill.Skill
	set      task.Set
	images   *rollout.Images
	data     train.Data
	parts    map[task.Split]int // number of tasks, if they are only counted
	assigned bool               // the tasks came with their splits
	warnings []string
	suite    *check.Suite
	extract  *check.Extractor
	prompts  *prompt.Set

	// Of each view: a run goes on with those that it began with. nil: this command asks nobody.
	agentPrompts, firstPrompts *prompt.Set

	system   *template.Template // nil: the built-in one
	user     *template.Template
	models   map[string]wire.Built
	contents map[string]string // key -> digest of the file it names
	prices   price.Table
	known    *knownAnswers     // what another run has recorded; nil: nothing
	versions map[string]string // of programs that the run uses, as settings of its manifest

	batch      int         // tasks of a batch that the run found by itself; 0: not yet
	start      *start      // what the run decided at its beginning; nil: not yet
	older      bool        // what is measured has been measured before
	namespaces func() bool // whether programs can have some of their own; tries once
}

// prepare loads and checks what cfg names. needs lists the roles that must have
// a model.
func prepare(ctx context.Context, cfg Config, opts []Option, needs ...string) (*setup, error) {
	s := &setup{
		cfg: cfg, contents: map[string]string{}, models: map[string]wire.Built{},
		namespaces: sync.OnceValue(func() bool { return sandbox.Probe().Isolated }),
	}
	for _, o := range opts {
		o(&s.options)
	}
	if s.now == nil {
		s.now = time.Now
	}
	if s.loaded = s.options.loaded; s.loaded == nil {
		dir, err := os.Getwd()
		if err != nil {
			return nil, fmt.Errorf("find working directory: %w", err)
		}
		s.loaded = config.Detached(cfg, dir)
	}
	s.options.events = s.masked(s.options.events)
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	ctx, release := untilStopped(ctx, s.stop)
	defer release()
	for _, part := range []func(context.Context) error{s.loadPrices, s.loadSkill, s.loadPrompts, s.loadChecks, s.loadTasks, s.loadImages, s.divide, s.deal, s.workspaceDigests} {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	for _, role := range needs {
		if err := s.loadModel(role); err != nil {
			return nil, err
		}
	}
	s.stalePrices()
	s.undeclaredClusters()
	if len(needs) > 0 {
		return s, s.requireMeans()
	}
	return s, nil
}

// errStopped is a stop before anything was begun that could be finished first.
var errStopped = fmt.Errorf("stopped while the inputs were read, nothing was begun: %w", context.Canceled)

// untilStopped ends a context when stop is closed. release must be called.
func untilStopped(ctx context.Context, stop <-chan struct{}) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-stop:
			cancel(errStopped)
		case <-ctx.Done():
		}
	})
	return ctx, func() { cancel(nil); waiting.Wait() }
}

func (s *setup) loadSkill(ctx context.Context) error {
	switch {
	case s.options.skill != nil:
		s.skill = *s.options.skill
	case s.cfg.Skill != "":
		dir, name := filepath.Split(filepath.Clean(s.cfg.Skill))
		loaded, err := skill.Read(userfile.Dir(ctx, filepath.Clean(dir), math.MaxInt64), name)
		if err != nil {
			return s.fileError("skill", s.cfg.Skill, "a SKILL.md or a directory with one", err)
		}
		s.skill = loaded
	}
	s.contents["skill"] = digest([]byte(s.skill.Text()))
	return nil
}

// maxPrompt is the size of the largest prompt file, in bytes.
const maxPrompt = 1 << 20

// loadPrompts reads the texts of both views: a run that began with the first ones goes on
// with them.
func (s *setup) loadPrompts(ctx context.Context) (err error) {
	if s.agentPrompts, err = s.promptsOver(ctx, prompt.Whole()); err != nil {
		return err
	}
	if s.firstPrompts, err = s.promptsOver(ctx, prompt.Default()); err != nil {
		return err
	}
	if err := s.choosePrompts(); err != nil {
		return err
	}
	return s.loadTemplates()
}

// promptsOver returns built-in prompts with what the config has instead.
func (s *setup) promptsOver(ctx context.Context, builtIn *prompt.Set) (*prompt.Set, error) {
	if s.cfg.Prompts == "" {
		return builtIn, nil
	}
	set, err := prompt.Load(builtIn, userfile.Dir(ctx, s.cfg.Prompts, maxPrompt))
	if err != nil {
		return nil, s.fileError("prompts", s.cfg.Prompts, "a directory with prompts ("+strings.Join(prompt.Files(), ", ")+")", err)
	}
	return set, nil
}

// goOn takes what follows from the defaults that a run was begun with.
func (s *setup) goOn() error {
	return errors.Join(s.deal(context.Background()), s.choosePrompts())
}

// choosePrompts takes the texts of the view. The built-in texts are part of the identity
// too: a newer program asks in other words, and must not mix them into an old run.
func (s *setup) choosePrompts() (err error) {
	s.prompts = s.agentPrompts
	if s.cfg.Reflect.View == config.ViewTask {
		s.prompts = s.firstPrompts
	}
	s.contents["prompts"], err = promptsDigest(s.prompts, s.cfg.Train.SecondTry || s.cfg.Reflect.Memory == config.MemoryRun)
	return err
}

// promptsDigest sums up the texts of a set, with or without what is asked only where a
// setting wants it.
func promptsDigest(set *prompt.Set, later bool) (string, error) {
	texts, err := json.Marshal(set.Digests(later))
	if err != nil {
		return "", fmt.Errorf("digest prompts: %w", err)
	}
	return digest(texts), nil
}

// withPrompts gives an identity the texts that its view goes with.
func (s *setup) withPrompts(id map[string]string) (map[string]string, error) {
	if s.firstPrompts == nil {
		return id, nil
	}
	set, second, memory := s.firstPrompts, id["train.second_try"], id["reflect.memory"]
	if _, agent := id["reflect.view"]; agent {
		set = s.agentPrompts
	}
	sum, err := promptsDigest(set, second == "true" || memory == strconv.Quote(config.MemoryRun))
	id["prompts"] = strconv.Quote(sum)
	return id, err
}

// asBegun is an identity as it was for a run that began with another one, where only
// defaults have changed since.
func (s *setup) asBegun(id, begun map[string]string) (map[string]string, error) {
	return s.withPrompts(s.loaded.AsBegunIdentity(id, begun))
}

func (s *setup) loadTemplates() error {
	system, user := s.prompts.Rollout()
	s.user = user
	s.system = system
	for _, t := range []struct {
		key, text string
		dst       **template.Template
	}{{"tasks.prompt", s.cfg.Tasks.Prompt, &s.user}, {"tasks.system", s.cfg.Tasks.System, &s.system}} {
		if t.text == "" {
			continue
		}
		parsed, err := template.Parse(t.key, t.text)
		if err != nil {
			return &inputError{err}
		}
		*t.dst = parsed
	}
	return nil
}

func (s *setup) loadChecks(context.Context) (err error) {
	if s.extract, err = check.ParseExtract(s.cfg.Tasks.Extract); err != nil {
		return &inputError{fmt.Errorf("tasks.extract: %w", err)}
	}
	var specs any
	if len(s.cfg.Tasks.Checks) > 0 {
		specs = s.cfg.Tasks.Checks
	}
	if s.suite, err = check.Compile(specs, check.Options{
		Threshold: s.cfg.Tasks.Threshold, Workspace: s.cfg.Agent.Name != "", Judge: s.cfg.Models.Judge.Provider != "" || s.clients[model.Judge] != nil, Extract: s.extract,
	}); err != nil {
		return &inputError{fmt.Errorf("tasks.checks: %w", err)}
	}
	return nil
}

func (s *setup) loadTasks(ctx context.Context) (err error) {
	rules := task.Rules{Prompt: s.cfg.Tasks.Prompt, System: s.cfg.Tasks.System, Checker: s.suite, Values: s.templateValues(), OwnScore: s.ownEnv()}
	if s.scorer != nil {
		rules.Checker = nil
	}
	switch {
	case s.tasks != nil:
		s.set, err = task.NewSet(s.tasks, rules)
	case s.cfg.Tasks.Path == "":
		return &inputError{fmt.Errorf("tasks.path: found nothing, allowed: %s", taskFiles)}
	case s.counting:
		s.set, err = task.Survey(ctx, s.cfg.Tasks.Path, rules, task.FieldImages, rollout.FieldWorkspace)
	default:
		s.set, err = task.LoadContext(ctx, s.cfg.Tasks.Path, rules)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("load tasks: %w", context.Cause(ctx))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return s.fileError("tasks.path", s.cfg.Tasks.Path, taskFiles, err)
	}
	if err != nil {
		return &inputError{err}
	}
	s.warnings = append(append(s.warnings, s.set.Warnings()...), s.lintCommands()...)
	if s.counting && s.tasks == nil {
		return nil // a survey keeps less than the identity of a run is made of
	}
	s.contents["tasks.path"], err = digestTasks(s.set.Tasks(), s.rawGold())
	return err
}

// rawGold reports whether gold is handed over as it stands in a task, which is then a
// part of what is measured.
func (s *setup) rawGold() bool {
	return s.env == nil && len(s.cfg.Env.Command) > 0 && s.cfg.Env.Protocol >= env.AsItStands
}

// digestTasks sums up the JSON of a list of tasks, of which only one at a time is in
// memory. raw adds how their gold stands in the file.
func digestTasks(tasks []task.Task, raw bool) (string, error) {
	if len(tasks) == 0 {
		return digest([]byte("null")), nil // as the JSON of no tasks was
	}
	h := sha256.New()
	between := []byte("[")
	for _, t := range tasks {
		var what any = t
		if raw {
			what = env.Seen(t)
		}
		text, err := json.Marshal(what)
		if err != nil {
			return "", fmt.Errorf("digest tasks: %w", err)
		}
		h.Write(between)
		h.Write(text)
		between = []byte(",")
	}
	h.Write([]byte("]"))
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

const taskFiles = "a .jsonl, .json, .yaml or .csv file, or a directory with train/, val/ and test/"

// fileError says which key names a file that cannot be used, and where the key
// stands.
func (s *setup) fileError(key, path, allowed string, err error) error {
	where := key
	if o := s.loaded.Origins[key]; o != "" {
		where = o + ": " + key
	}
	if errors.Is(err, fs.ErrNotExist) {
		return &inputError{fmt.Errorf("%s: found nothing at %s, allowed: %s", where, path, allowed)}
	}
	return &inputError{fmt.Errorf("%s: %s: %w", where, path, err)}
}

func (s *setup) templateValues() map[string]any {
	values := map[string]any{"skill": s.skill.Text()}
	if len(s.cfg.Extras) > 0 {
		values["extras"] = s.cfg.Extras
	}
	return values
}

// divide gives every task a split.
func (s *setup) divide(context.Context) (err error) {
	if s.assigned = s.set.Assigned(); !s.assigned {
		parts, err := s.cut(s.set.Len())
		if err != nil {
			return err
		}
		if s.counting { // to deal them out would copy them all
			s.parts = map[task.Split]int{task.Train: len(parts.Train), task.Selection: len(parts.Selection), task.Test: len(parts.Test)}
			return nil
		}
		if s.set, err = s.set.Assign(map[task.Split][]int{task.Train: parts.Train, task.Selection: parts.Selection, task.Test: parts.Test}); err != nil {
			return err
		}
	}
	return nil
}

// deal makes the splits into lists of tasks, which many tasks take room for. Who only
// counts them needs none.
func (s *setup) deal(context.Context) error {
	if s.counting {
		return nil
	}
	s.data = train.Data{Train: s.set.Split(task.Train), Selection: s.set.Split(task.Selection), Test: s.set.Split(task.Test)}
	if s.cfg.Eval.Selection == "train" {
		s.data.Selection = s.data.Train
	}
	auto := 0
	if !s.assigned && s.cfg.Split.Ratio == "" {
		auto = schedule.DefaultFolds(s.set.Len())
	}
	if folds := s.cfg.Folds(len(s.data.Train)+len(s.data.Selection), auto); folds > 0 {
		s.data = s.data.Crossed(folds, s.cfg.Split.Seed)
	}
	return nil
}

// cut divides n tasks by the ratio of the config, or by their number.
func (s *setup) cut(n int) (schedule.Split, error) {
	if s.cfg.Split.Ratio == "" {
		return schedule.Cut(schedule.DefaultCounts(n), s.cfg.Split.Seed), nil
	}
	ratio, err := schedule.ParseRatio(s.cfg.Split.Ratio)
	if err != nil {
		return schedule.Split{}, &inputError{fmt.Errorf("split.ratio: %w", err)}
	}
	return schedule.RatioSplit(n, schedule.SplitConfig{Ratio: ratio, Seed: s.cfg.Split.Seed, KeepOne: true}), nil
}

// requireSplits fails when a split that the run needs is empty.
func (s *setup) requireSplits() error {
	needs := []task.Split{task.Train}
	if s.cfg.Gate.Mode != "off" && s.cfg.Eval.Selection != "train" {
		needs = append(needs, task.Selection)
	}
	if s.cfg.Eval.Test {
		needs = append(needs, task.Test)
	}
	return s.set.Require(needs...)
}

func (s *setup) loadModel(role string) error {
	m := s.model(role)
	if c := s.clients[role]; c != nil {
		s.models[role] = wire.Built{Client: c, Endpoint: "client:" + role, Source: "client:" + s.extraIDs["client."+role]}
		return nil
	}
	if role == model.Target && m.Provider == "" && (s.ownEnv() || s.cfg.Agent.Name != "" && !s.cfg.Agent.Gateway) {
		s.models[role] = wire.Built{Client: noModel{}, Endpoint: "none"}
		return nil
	}
	built, err := s.build(role, m)
	if errors.Is(err, fs.ErrNotExist) {
		return s.fileError("models."+role+".world", m.World, "the world file of provider sim", err)
	}
	if err != nil {
		return &inputError{err}
	}
	s.models[role] = built
	s.warnings = append(s.warnings, built.Warnings...)
	if m.World != "" {
		data, err := userfile.Read(context.Background(), m.World, sim.MaxBytes) // small, and never waited for
		if err != nil {
			return fmt.Errorf("read world: %w", err)
		}
		s.contents["models."+role+".world"] = digest(data)
	}
	return nil
}

// ownEnv reports whether something else than a chat turn carries out tasks.
func (s *setup) ownEnv() bool { return s.env != nil || len(s.cfg.Env.Command) > 0 }

// noModel stands for the target of an environment that calls models by itself.
type noModel struct{}

func (noModel) Generate(context.Context, model.Request) (model.Response, error) {
	return model.Response{}, &model.Error{Code: model.BadRequest, Endpoint: "no model", Err: errors.New("models.target is not set: the environment was said to call models by itself")}
}

func (s *setup) model(role string) config.Model {
	switch role {
	case model.Optimizer:
		return s.cfg.Models.Optimizer
	case model.Judge:
		return s.cfg.Models.Judge
	}
	return s.cfg.Models.Target
}

func (s *setup) simulated() bool {
	for _, b := range s.models {
		if b.Simulated {
			return true
		}
	}
	return false
}

// identity is what the run is: values of keys, and digests of what files hold.
func (s *setup) identity() (map[string]string, error) {
	id := s.cfg.Fingerprint(s.contents, s.loaded.Redactor())
	for k, v := range s.extraIDs {
		id["library."+k] = v
	}
	if len(s.cfg.Env.Command) > 0 {
		sum, err := digestFiles(s.loaded.Dir, s.cfg.Env.Command)
		if err != nil {
			return nil, fmt.Errorf("read env.command: %w", err)
		}
		id["env.command files"] = sum
	}
	if files := s.scripts(); len(files) > 0 {
		sum, err := digestFiles(s.loaded.Dir, files)
		if err != nil {
			return nil, fmt.Errorf("read what tasks.checks run: %w", err)
		}
		id["tasks.checks files"] = sum
	}
	return id, nil
}

// outcomeContext sums up what an outcome of an environment depends on besides
// the task, the skill and the model: a record made under another one is no
// answer, also where a fork or a cache might offer it. more are further keys.
func (s *setup) outcomeContext(more ...string) ([]byte, error) {
	id, err := s.identity()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	parts := append([]string{"agent.", "env.", "extras", "library.", "tasks.checks", "tasks.extract", "tasks.threshold"}, more...)
	for _, key := range slices.Sorted(maps.Keys(id)) {
		for _, part := range parts {
			if strings.HasPrefix(key, part) {
				fmt.Fprintf(h, "%q=%q\n", key, id[key])
			}
		}
	}
	return h.Sum(nil), nil
}

// maxProgram is the size of the largest file of a command, in bytes.
const maxProgram = 1 << 30

// digestFiles sums up the files that a command names, so that a changed script
// is another environment, or another check.
func digestFiles(dir string, argv []string) (string, error) {
	h := sha256.New()
	for _, arg := range argv {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		data, err := userfile.Read(context.Background(), path, maxProgram)
		if path == os.DevNull { // it holds nothing, which older runs have in their sums
			err = nil
		}
		switch {
		case err == nil:
			fmt.Fprintf(h, "%q %d\n", arg, len(data))
			h.Write(data)
		case !isAbsent(err):
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// isAbsent reports whether err says that there is no file to read: a word of a
// command need not be one.
func isAbsent(err error) bool {
	pe, ok := err.(*fs.PathError)
	return ok && !os.IsPermission(pe) || errors.Is(err, userfile.ErrNotFile)
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16]
}

// runName names runs of this configuration.
func (s *setup) runName() string {
	name := s.cfg.Run.Name
	if name == "" && s.loaded.File != "" {
		name = strings.TrimSuffix(filepath.Base(s.loaded.File), filepath.Ext(s.loaded.File))
		if name == "config" {
			name = filepath.Base(filepath.Dir(s.loaded.File))
		}
	}
	if name == "" || slices.Contains([]string{".", "/", `\`}, name) {
		return "run"
	}
	return name
}
