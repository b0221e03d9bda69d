// Package proof shows that a coding agent can be measured: a model that is scripted
// here has it load the skill, run a command and write a file, and that result
// is compared with what was asked for. No model is called and nothing is paid.
//
// It knows the tools of no agent by name: what a tool is good for is read from the
// parameters that it is offered with. It starts nothing and knows nothing of
// gateways; who has an agent at work hands it the Script as its model.
package proof

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// What a proof asks for. The texts occur nowhere else, so that a request which holds
// one can have it from the skill alone.
const (
	Prompt = "This is a test of the setup, in which no task is solved. Do what your model says."

	skillName       = "setup-proof"
	descriptionMark = "MARK-7C41E0-DESCRIPTION"
	description     = descriptionMark + " how the setup of this machine is proven. Read it before anything else."
	bodyMark        = "MARK-93B5D2-BODY"
	answer          = "MARK-E80A16-DONE"

	referenceName = "references/proof.md"
	referenceMark = "MARK-5B19A7-REFERENCE"
	scriptName    = "scripts/proof.sh"
	scriptMark    = "MARK-C60F38-SCRIPT"
	scriptFile    = "proof-script.txt"

	commandFile = "proof-command.txt"
	writtenFile = "proof-written.txt"
	writtenText = "MARK-4D2F77-WRITTEN\n"
)

// Skill returns the skill that the agent is given. Its body can be distinguished from its description, which
// agents show to their models unasked, and from its other files.
func Skill() skill.Skill {
	return skill.New("---\nname: "+skillName+"\ndescription: "+description+"\n---\n\nSay the mark "+bodyMark+".\n").
		WithFile(referenceName, "The mark of the reference is "+referenceMark+".\n").
		WithFile(scriptName, "#!/bin/sh\nprintf '%s\\n' "+scriptMark+" > "+scriptFile+"\n").WithExecutable(scriptName)
}

// Document returns the document that the agent is given where the trained document is a file of its
// workspace. No one asks for it: it is there when the agent begins, or is not read.
func Document() skill.Skill { return skill.New("# Setup\n\nSay the mark " + bodyMark + ".\n") }

// Expect says how the agent of a proof works.
type Expect struct {
	Folder string // its workspace as it sees it; "" = it takes relative paths
	Path   string // the folders with programs that its commands are to find
	Skills bool   // it finds the skill by itself; otherwise the prompt names it
	File   string // path of the Document in the workspace; "": it is given the Skill
	Usage  bool   // it reports how many tokens it used
	Own    bool   // nothing is known of it: one without tools is no fault
}

// Seen is what an agent left.
type Seen struct {
	Files   func(name string) (text string, ok bool) // of its workspace
	Answer  string
	Failure string            // why it did not finish, "" if it did
	Usage   *trajectory.Usage // as the agent counted; nil = it reported none, or a part
	LeftOut []string          // of its requests, on the way to the model
}

// Result is what a proof has shown.
type Result struct {
	OK    bool     `json:"ok"`
	Shown []string `json:"shown,omitempty"` // what worked
	Wrong []string `json:"wrong,omitempty"` // what did not, in the order in which it was tried
	Notes []string `json:"notes,omitempty"` // what is to be known of it, though it works
	// Unprovable is why nothing can be said either way, "" otherwise.
	Unprovable string `json:"unprovable,omitempty"`
}

// Judge compares what the agent left with what the script asked for. It is called
// when the agent has ended.
func (s *Script) Judge(seen Seen) Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	var r Result
	if why := s.unprovable(seen); why != "" {
		r.Unprovable = why
		return r
	}
	switch {
	case s.asked == 0:
		r.fault("it asked its model nothing")
	case len(s.plan) == 0:
		r.fault(s.toolless(seen))
	default:
		s.judgeSkill(&r)
		s.judgeFolder(&r, seen)
		s.judgeFiles(&r, seen)
	}
	switch {
	case seen.Failure != "":
		r.fault("it did not end: " + seen.Failure)
	case s.asked > 0 && !strings.Contains(seen.Answer, answer):
		r.fault(fmt.Sprintf("its answer is %q and not that of its model", shorten(seen.Answer)))
	}
	s.judgeUsage(&r, seen)
	r.OK = len(r.Wrong) == 0
	return r
}

func (r *Result) fault(text string) { r.Wrong = append(r.Wrong, text) }

// unprovable returns why an agent that is described in a config shows nothing: it may have no
// tools, or another model than ours.
func (s *Script) unprovable(seen Seen) string {
	switch {
	case !s.expect.Own || seen.Failure != "":
		return ""
	case s.asked == 0:
		return "it asked no model through the gateway"
	case len(s.plan) == 0:
		return "it offers its model no tool that runs commands or writes files"
	}
	return ""
}

func (s *Script) toolless(seen Seen) string {
	text := "its model is offered no tool that runs commands or writes files"
	if len(s.offered) > 0 {
		text += ", but " + strings.Join(s.offered, ", ")
	}
	if len(seen.LeftOut) > 0 {
		text += "; left out of its requests on the way: " + strings.Join(seen.LeftOut, ", ")
	}
	return text
}

func (s *Script) judgeSkill(r *Result) {
	load, planned := s.step(loads)
	switch {
	case s.expect.File != "" && !s.read:
		r.fault(fmt.Sprintf("%s is not in what its model reads: it does not read it", s.expect.File))
	case s.expect.File != "":
		r.Shown = append(r.Shown, s.expect.File+" was read")
	case s.expect.Skills && !s.described:
		r.fault("the skill is not in what its model reads: it did not find it in the workspace")
	case s.read:
		r.Shown = append(r.Shown, "the skill was loaded")
	case planned:
		r.fault(fmt.Sprintf("the skill was not loaded: its tool %s gave %s", load.tool, s.gave(loads)))
	default:
		r.fault("the skill was not loaded: its model is offered no tool that does")
	}
}

// judgeFolder looks whether the files next to SKILL.md could be used.
func (s *Script) judgeFolder(r *Result, seen Seen) {
	if c, ok := s.step(refers); ok {
		if strings.Contains(s.results[refers], referenceMark) {
			r.Shown = append(r.Shown, "a reference of the skill was read")
		} else {
			r.fault(fmt.Sprintf("a reference of the skill was not read: its tool %s gave %s", c.tool, s.gave(refers)))
		}
	}
	if c, ok := s.step(executes); ok {
		if text, _ := seen.Files(scriptFile); strings.TrimSpace(text) == scriptMark {
			r.Shown = append(r.Shown, "a script of the skill ran")
		} else {
			r.fault(fmt.Sprintf("a script of the skill did not run: its tool %s gave %s", c.tool, s.gave(executes)))
		}
	}
}

func (s *Script) judgeFiles(r *Result, seen Seen) {
	if c, ok := s.step(runs); ok {
		text, there := seen.Files(commandFile)
		if !there {
			r.fault(fmt.Sprintf("a command was not run: its tool %s gave %s", c.tool, s.gave(runs)))
		} else {
			r.Shown = append(r.Shown, "a command ran")
			r.comparePath(strings.TrimSpace(text), s.expect.Path)
		}
	}
	if c, ok := s.step(writes); ok {
		if text, there := seen.Files(writtenFile); !there || strings.TrimSpace(text) != strings.TrimSpace(writtenText) {
			r.fault(fmt.Sprintf("a file was not written: its tool %s gave %s", c.tool, s.gave(writes)))
		} else {
			r.Shown = append(r.Shown, "a file was written")
		}
	}
}

// comparePath compares the search path of the agent's commands with what it was given.
func (r *Result) comparePath(got, given string) {
	have := strings.Split(got, ":")
	var lost []string
	for dir := range strings.SplitSeq(given, ":") {
		if path.IsAbs(dir) && !slices.Contains(have, dir) {
			lost = append(lost, dir)
		}
	}
	if len(lost) > 0 {
		r.Notes = append(r.Notes, "its commands do not look for programs in "+strings.Join(lost, ", "))
	}
}

func (s *Script) judgeUsage(r *Result, seen Seen) {
	given := s.granted
	switch {
	case len(r.Wrong) > 0: // of a run that broke off it need not be whole
	case seen.Usage == nil && s.expect.Usage:
		r.fault("it does not report the tokens that it used")
	case seen.Usage == nil:
		r.Shown = append(r.Shown, "it reports no tokens")
	case seen.Usage.Input != given.Input || seen.Usage.Output != given.Output || seen.Usage.Cached != given.Cached:
		r.fault(fmt.Sprintf("it counts %s where the server gave %s", tokens(*seen.Usage), tokens(given)))
	default:
		r.Shown = append(r.Shown, "tokens were counted as the server gave them")
	}
}

func tokens(u trajectory.Usage) string {
	return fmt.Sprintf("%d tokens in (%d cached) and %d out", u.Input, u.Cached, u.Output)
}

// gave returns what the call of a step came back with.
func (s *Script) gave(d deed) string {
	if text, ok := s.results[d]; ok {
		return fmt.Sprintf("%q", shorten(cmp.Or(strings.TrimSpace(text), "nothing")))
	}
	return "no result"
}

// maxExcerpt bounds what is quoted of an agent, in bytes.
const maxExcerpt = 300

func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxExcerpt {
		return text
	}
	return strings.ToValidUTF8(text[:maxExcerpt], "") + "…"
}
