package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Mode is how an agent gets to know the skill.
type Mode string

// The modes.
const (
	Native Mode = "native" // it discovers the skill by itself, or does not
	Read   Mode = "read"   // the prompt asks it to read the skill first
	File   Mode = "file"   // it is a file of the workspace that agents read by themselves
)

// DefaultTimeout is how long an agent may take unless a job says otherwise.
const DefaultTimeout = 10 * time.Minute

// Job is one task for an agent.
type Job struct {
	Prompt string
	Images []model.Image

	// Workspace is the folder that the agent works in, absolute and there
	// already. The skill, and images that the agent cannot be given otherwise,
	// are written into it; what else it holds is the caller's.
	Workspace string
	// Home is an empty folder for the agent's own files, absolute, there already
	// and not inside Workspace.
	Home string

	Skill     skill.Skill // the empty skill writes no files
	SkillName string      // of its folder: small letters, digits and -; "" = as the skill names itself, or DefaultSkillName
	Mode      Mode        // "" = Native
	File      string      // of the mode File: the path of the document in the workspace; see CheckFile
	Documents []Document  // what lies next to it, in this order

	Model    string
	Context  int       // tokens that the model takes, for agents that accept this number; 0 = as they think
	Endpoint *Endpoint // where the model is; nil = the agent's own login
	// Tools is a server of tools that the agent is to use, which Abilities.Tools says whether it can; nil: none.
	Tools *Endpoint
	// LoginHome is the home folder of the user whose login the agent uses, when
	// Endpoint is nil. What the user set up there for the agent counts as well,
	// as far as the agent cannot be made to leave it out.
	LoginHome string

	Timeout   time.Duration // the task's own deadline; 0 = DefaultTimeout
	MaxOutput int64         // bytes that the agent may print; 0 = the adapter's
	MaxTurns  int           // answers of the model, for builtin; 0 = DefaultTurns

	// WorkspaceTools lets servers of tools and hooks start that the workspace declares.
	WorkspaceTools bool
	Env            []string // further variables, "NAME=value"; they win
	Confine        bool     // only workspace and home can be written, only the endpoint be reached
	Network        bool     // with Confine: everything can be reached

	// With Confine: where the agent sees its workspace and its home, and what it may
	// use. Without places it sees them where they are.
	Show   sandbox.Places
	Limits sandbox.Limits

	// Hide takes what the agent was given in secret out of what it prints, before that
	// is read and cut; nil if it was given nothing.
	Hide *redact.Exact

	Client model.Client // for builtin, which calls the model itself
	Chat   *Chat        // not nil: no agent at work, but a model that answers
}

// Chat turns an agent into a plain model: it gets no tools, and no instructions
// but these. Not every agent can (Abilities.Chat).
type Chat struct {
	System string
	Schema json.RawMessage // the answer is to be a value of this JSON Schema; nil = text
	Effort string          // of reasoning, in the agent's own words; "" = its default
}

// Endpoint is where an agent finds its model.
type Endpoint struct {
	URL string // root of a server, without /v1: http://127.0.0.1:4000
	Key string // sent to that server; never empty, since agents ask for one
}

// Report is the result of a job.
type Report struct {
	Status score.Status // OK, AgentError or Unmeasured
	Reason string       // "class: detail" of what is not OK
	// Failure is why nothing was measured: set exactly if Status is Unmeasured.
	Failure *model.Error
	// Silent says that the deadline passed before the agent gave a sign that a model
	// had answered it. One that prints nothing but its answer gives none: a caller who
	// knows that it was answered can conclude that it failed by itself.
	Silent bool
	// Starved says that the deadline passed, and that for more than a fifth of it the agent
	// waited for a processor.
	Starved bool

	Answer string            // the last message of the agent
	Turns  []trajectory.Turn // what it said and did, long texts shortened with a note; without the prompt
	Usage  trajectory.Usage
	// UsageKnown reports that Usage is complete. If it is not, Usage is what was
	// seen and a lower bound.
	UsageKnown bool
	Calls      int    // answers of a model that can be seen in the events; 0 = none, or not reported
	Model      string // that answered, as the agent names it

	// Written are the files that were put into the workspace before the agent
	// began, slash-separated and relative: checks should not count them.
	Written []string
	// Notes are things that a reader of the result should know, such as
	// instructions that the workspace itself brought along.
	Notes  []string
	Result sandbox.Result // how the program ended; zero for builtin
	Raw    string         // the end of what it printed
}

// withDefaults fills in what a job leaves open and checks the rest.
func (j Job) withDefaults(a adapter) (Job, error) {
	if j.SkillName == "" {
		j.SkillName = skillName(j.Skill)
	}
	if j.Mode == "" {
		j.Mode = Native
	}
	if j.Timeout == 0 {
		j.Timeout = DefaultTimeout
	}
	if j.MaxOutput == 0 {
		j.MaxOutput = a.output
	}
	return j, errors.Join(j.checkFolders(), j.checkModel(a), j.checkText(), j.checkFile())
}

func (j Job) checkFolders() error {
	var faults []error
	for _, d := range []struct{ name, path string }{{"workspace", j.Workspace}, {"home", j.Home}} {
		if !filepath.IsAbs(d.path) {
			faults = append(faults, fmt.Errorf("%s %q: want an absolute path", d.name, d.path))
		}
	}
	if j.LoginHome != "" && !filepath.IsAbs(j.LoginHome) {
		faults = append(faults, fmt.Errorf("login home %q: want an absolute path", j.LoginHome))
	}
	if rel, err := filepath.Rel(j.Workspace, j.Home); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		faults = append(faults, errors.New("home is inside the workspace: what the agent keeps there would look like its work"))
	}
	return errors.Join(faults...)
}

func (j Job) checkModel(a adapter) error {
	var faults []error
	switch {
	case a.name == BuiltinName && j.Client == nil:
		faults = append(faults, errors.New("builtin calls a model itself: client is missing"))
	case j.Tools != nil && !a.abilities.Tools:
		faults = append(faults, fmt.Errorf("%s cannot be given a server of tools (MCP)", a.name))
	case j.Chat != nil && !a.abilities.Chat:
		faults = append(faults, fmt.Errorf("%s cannot be used as a plain model: its tools cannot be taken away", a.name))
	case j.Endpoint == nil:
	default:
		if u, err := url.Parse(j.Endpoint.URL); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			faults = append(faults, errors.New("endpoint: want the URL of a server, such as http://127.0.0.1:4000"))
		}
		if j.Endpoint.Key == "" {
			faults = append(faults, errors.New("endpoint: the key is empty, and agents do not start without one"))
		}
	}
	return errors.Join(faults...)
}

func (j Job) checkText() error {
	var faults []error
	if !goodSkillName(j.SkillName) {
		faults = append(faults, fmt.Errorf("skill name %q: want up to 64 small letters, digits and -", j.SkillName))
	}
	if j.Mode != Native && j.Mode != Read && j.Mode != File {
		faults = append(faults, fmt.Errorf("mode %q: allowed are %s, %s and %s", j.Mode, Native, Read, File))
	}
	for _, e := range j.Env {
		if name, _, ok := strings.Cut(e, "="); !ok || name == "" {
			faults = append(faults, errors.New("env: want NAME=value"))
		}
	}
	return errors.Join(faults...)
}

// base returns the endpoint's URL without a slash at its end.
func (e *Endpoint) base() string { return strings.TrimRight(e.URL, "/") }

// port returns the TCP port of the endpoint.
func (e *Endpoint) port() int {
	u, err := url.Parse(e.URL)
	if err != nil {
		return 0
	}
	n := 0
	if _, err := fmt.Sscanf(u.Port(), "%d", &n); err != nil {
		n = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	return n
}
