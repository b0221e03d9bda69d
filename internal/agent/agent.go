package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// The agents that are no program of their own.
const (
	CustomName  = "custom"
	BuiltinName = "builtin"
)

// Options say where an agent is found. The zero value finds nothing but
// builtin: the search path is passed in, not taken from the environment.
type Options struct {
	Path    string   // folders with programs, as in the variable PATH
	Program string   // the agent's program, a name or an absolute path; "" = the adapter's
	Args    []string // further arguments, after the adapter's own
	Read    []string // folders that a confined agent may read in addition to its own package, absolute
	Files   []string // files that its variables name; it may read those that are not kept from it
	Custom  *Custom  // for CustomName
	Login   bool     // it works with a login of its own, and with the network: what it lacks it may fetch

	// LoginHome is the home folder of the user whose login the agent uses, "" = none,
	// or not known.
	LoginHome string
	// Guard says what a confined agent must not read, whatever lies where. See Reach.
	Guard reach.Guard
}

// Agent is one coding agent. It holds no state and is safe for concurrent use.
type Agent struct {
	adapter adapter
	opts    Options
}

// Abilities say what an agent can be asked for.
type Abilities struct {
	Wire   string // protocol that it speaks with a model: a Wire constant, "" if that cannot be chosen
	Skills bool   // it discovers skills in the workspace by itself
	Images bool   // images reach the model as such; otherwise as files next to the task
	Usage  bool   // it reports how many tokens it used
	Chat   bool   // it can be used as a plain model, with no tools
	Tools  bool   // it can be given a server of tools (MCP)
}

// The protocols between agents and models.
const (
	WireResponses = "responses"
	WireChat      = "chat"
	WireMessages  = "messages"
	WireGemini    = "gemini"
)

// Info is what is known of an installed agent.
type Info struct {
	Name      string
	Version   string // as the program reports it, "" if it does not
	Tested    string // the version that the adapter was measured with
	Path      string // where the program is
	Abilities Abilities
	Problem   string // why it cannot be used, "" if it can
	Help      string // how to install it, or what it lacks: a command
}

// WithTools returns the names of the agents that can be given a server of tools.
func WithTools() (names []string) {
	for _, a := range adapters() {
		if a.abilities.Tools {
			names = append(names, a.name)
		}
	}
	return names
}

// adapter is what differs between agents.
type adapter struct {
	name      string
	program   string
	version   []string // arguments that print the version
	tested    string
	help      string // how to install it
	abilities Abilities
	output    int64               // bytes that it may print by default; 0 = the sandbox's default
	state     []string            // what it keeps of a login below the user's home
	needs     []need              // programs that it calls and does not bring along
	reads     []string            // documents of a workspace that it reads by itself when it begins
	hidden    map[string][]string // by document: other files whose presence keeps it from reading that one
	shows     []string            // documents and folders of skills, below the user's home, that it shows its model with a login
	starts    []string            // files of a workspace by which it starts programs, which no setting prevents
	clients   []string            // what it calls itself to servers of tools, or begins with
	vendor    []string            // hosts of its vendor's models
	exitZero  bool                // its events do not say that it ended well, its exit code does
	shell     shell               // how it runs commands
	plugins   Plugins
	launch    func(l *launch) error
	reader    func() reader
}

// shell is the tool by which an agent runs commands, and what it gives when it cannot start any
// here: texts that were seen with the real program.
type shell struct {
	tool      string
	unstarted []string
}

// need is a program without which an agent fails at its tools, or at finding skills.
type need struct {
	program string
	why     string
	help    string // how to install it
}

// Vendor returns the agent that calls itself so to servers of tools, and the hosts that its vendor's models have; "" for
// one that is not known. An agent whose user has set another address for models, or another provider, sends there what a
// tool answers, and says nothing of it.
func Vendor(client string) (name string, hosts []string) {
	for _, a := range adapters() {
		if slices.ContainsFunc(a.clients, func(c string) bool { return strings.HasPrefix(client, c) }) {
			return a.name, slices.Clone(a.vendor)
		}
	}
	return "", nil
}

// Names returns the names of all agents, sorted.
func Names() []string {
	names := []string{CustomName, BuiltinName}
	for _, a := range adapters() {
		names = append(names, a.name)
	}
	slices.Sort(names)
	return names
}

func adapters() []adapter {
	return []adapter{claude(), codex(), copilot(), cursor(), gemini(), opencode(), pi(), qwen()}
}

// New returns the agent of that name. It starts nothing and does not look
// whether the program is there: that is Detect.
func New(name string, o Options) (*Agent, error) {
	switch {
	case name == CustomName && o.Custom == nil:
		return nil, errors.New("agent custom: it needs a description")
	case name == CustomName:
		a, err := o.Custom.adapter()
		if err != nil {
			return nil, fmt.Errorf("agent custom: %w", err)
		}
		return &Agent{adapter: a, opts: o}, nil
	case name == BuiltinName:
		return &Agent{adapter: adapter{name: name, abilities: Abilities{Skills: true, Images: true, Usage: true}}, opts: o}, nil
	}
	for _, a := range adapters() {
		if a.name == name {
			return &Agent{adapter: a, opts: o}, nil
		}
	}
	hint := ""
	if near, ok := wording.Suggest(name, Names()); ok {
		hint = fmt.Sprintf(": did you mean %s?", near)
	}
	return nil, fmt.Errorf("agent %q is not known, allowed are %s%s", name, strings.Join(Names(), ", "), hint)
}

// Name returns the name that the agent was made with.
func (a *Agent) Name() string { return a.adapter.name }

// Abilities returns what the agent can be asked for.
func (a *Agent) Abilities() Abilities { return a.adapter.abilities }

// detectTime bounds how long a program may take to report its version. Some unpack
// themselves when they are first called.
const detectTime = 60 * time.Second

var versionForm = pattern.New(`\d+\.\d+(?:\.\d+)?(?:[.+-]?[0-9A-Za-z]+)*`)

// Detect looks for the agent's program and asks for its version. That it is
// missing or broken is no error but Info.Problem; the error is that of ctx, or
// of the file system.
func (a *Agent) Detect(ctx context.Context) (Info, error) {
	info := Info{Name: a.adapter.name, Tested: a.adapter.tested, Abilities: a.adapter.abilities, Help: a.adapter.help}
	if a.adapter.name == BuiltinName {
		return info, nil
	}
	path, err := a.find()
	if err != nil {
		info.Problem = err.Error()
		return info, nil
	}
	info.Path = path
	if len(a.adapter.version) == 0 {
		return info, nil
	}
	text, err := a.askVersion(ctx, path)
	if ctx.Err() != nil {
		return info, context.Cause(ctx)
	}
	if err != nil {
		info.Problem = err.Error()
		return info, nil
	}
	info.Version = versionForm.FindString(text)
	if lack := a.lacks(); lack != nil {
		info.Problem, info.Help = fmt.Sprintf("there is no program %s in the search path: %s", lack.program, lack.why), lack.help
	}
	return info, nil
}

// lacks returns the first program that the agent needs and would not find.
func (a *Agent) lacks() *need {
	if a.opts.Login {
		return nil
	}
	for i, n := range a.adapter.needs {
		if _, ok := lookPath(a.opts.Path, n.program); !ok {
			return &a.adapter.needs[i]
		}
	}
	return nil
}

func (a *Agent) askVersion(ctx context.Context, path string) (text string, err error) {
	home, err := os.MkdirTemp("", disk.Agent)
	if err != nil {
		return "", fmt.Errorf("make a home folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	out := &capped{max: 64 << 10}
	plan, _ := a.Reach() // that it cannot be confined is said when it is to work
	res, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: append([]string{path}, a.adapter.version...), Dir: home, Env: mergeEnv(plan.Env, baseEnv(a.opts.Path, home, "")),
		Stdout: out, Timeout: detectTime,
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("start %s: %w", path, err)
	case res.Reason != sandbox.Exited || res.Code != 0:
		return "", fmt.Errorf("%s %s ended with %s: %s", path, strings.Join(a.adapter.version, " "), describeEnding(res), excerpt(cmp.Or(res.Stderr, out.String())))
	}
	return out.String() + "\n" + res.Stderr, nil
}

// find looks the program up in the search path.
func (a *Agent) find() (string, error) {
	name := cmp.Or(a.opts.Program, a.adapter.program)
	if filepath.IsAbs(name) {
		if !isProgram(name) {
			return "", fmt.Errorf("%s is no program", name)
		}
		return name, nil
	}
	if path, ok := lookPath(a.opts.Path, name); ok {
		return path, nil
	}
	return "", fmt.Errorf("there is no program %s in the search path", name)
}

// lookPath looks a program up in the folders of a search path. Relative ones are left
// out.
func lookPath(search, name string) (path string, ok bool) {
	for _, dir := range filepath.SplitList(search) {
		for _, ending := range endings() {
			path := filepath.Join(dir, name+ending)
			if filepath.IsAbs(path) && isProgram(path) {
				return path, true
			}
		}
	}
	return "", false
}

func endings() []string {
	if runtime.GOOS == "windows" {
		return []string{".exe", ".cmd", ".bat"}
	}
	return []string{""}
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
