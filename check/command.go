package check

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/yamlx"
)

// Bounds of a command check.
const (
	defaultCommandTimeout = time.Minute
	maxCommandTimeout     = time.Hour
	maxReward             = 1 << 10 // bytes of a reward file
	maxTail               = 2 << 10 // bytes of output that analysts get
)

// Command is what a command check runs. It has no variables of its own: the
// environment is that of Means. What is recorded of it is its JSON.
type Command struct {
	Argv    []string      `json:"argv"`              // program and arguments; run in the workspace
	Timeout time.Duration `json:"timeout"`           // above 0
	Network bool          `json:"network,omitempty"` // it may connect to other machines
	Reward  string        `json:"reward,omitempty"`  // file in the workspace, see Carry; "" = the exit code decides

	// LateFails says that the agent is to blame when the command takes too long or
	// writes too much. Otherwise that measures nothing.
	LateFails bool `json:"late_fails,omitempty"`

	// MissingFails says that the agent is to blame when a program that the command
	// calls is missing or cannot be run (exit codes 126 and 127). Otherwise that
	// measures nothing. With Execute it is about that alone.
	MissingFails bool `json:"missing_fails,omitempty"`

	// Tests says that it is no program, but the tests of a task of a repository on what the
	// agent left, by which it is graded. Argv and Timeout are zero.
	Tests bool `json:"tests,omitempty"`

	// Execute runs before the command, see Carry. Nil: nothing does.
	Execute *Execution `json:"execute,omitempty"`

	// What run learns from Carry about the step that it gets: Untrusted of an Execute,
	// which must learn nothing of what is expected, whatever it names; Executed, how that ended, of the
	// command after it.
	Untrusted bool           `json:"-"`
	Executed  *CommandResult `json:"-"`
}

// Measured returns why a result measures nothing, nil if it gives a score. One
// that measures nothing is not to be kept: another try may give a score.
func (c Command) Measured(r CommandResult) error {
	_, err := c.verdict(r, 1)
	return err
}

// End says why a command ended.
type End string

// The ends. A command that could not be started, or was cancelled with its
// context, is an error of Means.Command.
const (
	EndExit     End = "exit"     // by itself, or by a signal that was not ours
	EndDeadline End = "deadline" // it took longer than its timeout
	EndFlood    End = "flood"    // it wrote more than it may
	EndLimit    End = "limit"    // it used more memory, disk, processors or processes than it may; see Detail
	EndBlocked  End = "blocked"  // Carry did not run it: what the agent left at the path of the reward file cannot be removed
)

// CommandResult is how a command ended. It can be recorded as JSON: with it, the
// check gives the same score again without the workspace.
type CommandResult struct {
	End    End    `json:"end"`
	Code   int    `json:"code"`             // exit code; -1 when a signal ended it
	Signal string `json:"signal,omitempty"` // that signal, such as "SIGKILL"
	Stdout string `json:"stdout,omitempty"` // the end of it; a few KB are enough
	Stderr string `json:"stderr,omitempty"`

	// With EndLimit: what was used and what is allowed, and whether that is the agent's
	// doing, whose programs the command could run.
	Detail string `json:"detail,omitempty"`
	Agents bool   `json:"agents,omitempty"`

	// What the reward file holds, and why it cannot be read; both "" without one.
	Reward      string `json:"reward,omitempty"`
	RewardFault string `json:"reward_fault,omitempty"`

	// Execute is how the Execute of the command ended. When it was not to be
	// followed by the command itself there is nothing else in the result.
	Execute *CommandResult `json:"execute,omitempty"`

	// Head is the beginning of what an Execute printed, for the command that comes
	// after it: at most MaxHead bytes. Cut says that there was more. Neither is recorded.
	Head []byte `json:"-"`
	Cut  bool   `json:"-"`
}

// Carry runs a command in a workspace and reads its reward file, which must not
// be one that the agent left: it is removed first. run gets the command to run
// and gives its result but for the reward. A program of a sandbox is run like
// this, with dir as the only folder that it may write:
//
//	func(ctx context.Context, c check.Command) (check.CommandResult, error) {
//		r, err := sandbox.Run(ctx, sandbox.Spec{
//			Argv: c.Argv, Dir: dir, Env: env, Stdout: &tail, Timeout: c.Timeout,
//			Confine: &sandbox.Confine{Write: []string{dir, temp}, Network: c.Network},
//		})
//		...
//	}
//
// An Execute is passed to run first, as a command that is Untrusted. What it left
// at the path of the reward file is removed as well.
//
// An error means that there is no result.
func Carry(ctx context.Context, dir string, c Command, run Runner) (CommandResult, error) {
	if c.Execute == nil {
		return carry(ctx, dir, c, run)
	}
	first, err := carry(ctx, dir, c.Execute.command(c.MissingFails), run)
	if err != nil {
		return CommandResult{}, fmt.Errorf("execute: %w", err)
	}
	kept := first
	kept.Head, kept.Cut = nil, false
	if _, decided, err := c.executeVerdict(&first); decided || err != nil {
		return CommandResult{Execute: &kept}, nil
	}
	c.MissingFails, c.Executed = false, &first
	r, err := carry(ctx, dir, c, run)
	r.Execute = &kept
	return r, err
}

// Runner runs one command of a check, see Carry.
type Runner = func(context.Context, Command) (CommandResult, error)

// carry runs one step.
func carry(ctx context.Context, dir string, c Command, run Runner) (CommandResult, error) {
	if c.Reward == "" && !c.MissingFails {
		return run(ctx, c)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return CommandResult{}, fmt.Errorf("open workspace: %w", err)
	}
	defer func() { _ = root.Close() }() // what was written to it is not ours
	if r, missing := c.missingResult(root); missing {
		return r, nil
	}
	if c.Reward == "" {
		return run(ctx, c)
	}
	err = root.RemoveAll(c.Reward)
	if ours(err) {
		return CommandResult{}, fmt.Errorf("remove what was left instead of the reward file: %w", err)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return CommandResult{End: EndBlocked, Code: -1, RewardFault: (&subject{root: root}).fault(c.Reward, err).Error()}, nil
	}
	r, err := run(ctx, c)
	if err != nil {
		return CommandResult{}, err
	}
	r.Reward, err = readReward(root, c.Reward)
	if ours(err) {
		return CommandResult{}, fmt.Errorf("read the reward: %w", err)
	}
	if err != nil {
		r.RewardFault = reason(err)
	}
	return r, nil
}

// missingResult returns the result when the program itself is one that the agent should have left,
// and has not: what a shell would say of it. run reports any other program that is not there.
func (c *Command) missingResult(root *os.Root) (r CommandResult, missing bool) {
	program := ""
	if len(c.Argv) > 0 {
		program = c.Argv[0]
	}
	if !c.MissingFails || filepath.IsAbs(program) || !strings.Contains(program, "/") {
		return r, false
	}
	info, err := root.Stat(path.Clean(program))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return CommandResult{End: EndExit, Code: 127, Stderr: program + " is not there"}, true
	case err == nil && (info.IsDir() || info.Mode()&0o111 == 0 && runtime.GOOS != "windows"):
		return CommandResult{End: EndExit, Code: 126, Stderr: program + " is not executable"}, true
	}
	return r, false
}

func readReward(root *os.Root, name string) (string, error) {
	w := &subject{root: root}
	info, err := w.stat(name)
	if err == nil && info.Mode().IsRegular() && info.Size() > maxReward {
		return "", fmt.Errorf("%s has %d bytes, a number has at most %d", name, info.Size(), maxReward)
	}
	text, err := w.read(name)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("%s is empty", name)
	}
	return text, nil
}

// buildCommand compiles command. own says that the check comes with a task.
func buildCommand(s *spec, n *node, own bool) {
	n.needs = Needs{Workspace: true, Command: true}
	n.subject = "the command"
	c := Command{Argv: s.argv(), Timeout: s.duration("timeout", defaultCommandTimeout, maxCommandTimeout), Network: s.flag("network", false)}
	if c.Network && own {
		s.fail("network", "only the checks of the config may use the network, not those that come with a task")
	}
	threshold := 1.0
	if _, ok := s.m["reward"]; ok {
		c.Reward = s.localPath("reward")
		threshold = s.number("threshold", 1, 0, 1)
	} else {
		s.get("reward")
	}
	c.LateFails = s.choice("on_timeout", "unmeasured", "fail") == "fail"
	c.MissingFails = s.choice("on_missing", "unmeasured", "fail") == "fail"
	c.Execute = s.execution()
	n.holds = "succeeds"
	n.runs(c, threshold)
}

// buildTests compiles tests. How they run is said by the repository of the task.
func buildTests(n *node) {
	n.needs = Needs{Workspace: true, Command: true}
	n.subject, n.holds = "the tests of the task", "pass"
	n.runs(Command{Tests: true}, 1)
}

// runs has a command decide.
func (n *node) runs(c Command, threshold float64) {
	n.commands = []Command{c}
	n.look = func(ctx context.Context, w *subject, id string) (verdict, error) {
		if w.dry {
			return verdict{broken: true, reason: "was not run"}, nil
		}
		if w.isDeleted() {
			return verdict{broken: true, reason: "the workspace was deleted"}, nil
		}
		r, err := w.by.Command(ctx, id, c)
		if err != nil {
			return verdict{}, err
		}
		v, err := c.verdict(r, threshold)
		if err != nil {
			return verdict{}, err
		}
		v.detail, v.saw = r.tail(), r.brief()
		return v, nil
	}
}

// verdict reads the result of a command. The command is the user's: when it was
// not run to its end, or does not do what it is there for, nothing was measured.
func (c *Command) verdict(r CommandResult, threshold float64) (verdict, error) {
	if v, decided, err := c.executeVerdict(r.Execute); decided || err != nil {
		return v, err
	}
	switch {
	case r.End == EndDeadline || r.End == EndFlood || r.End == EndLimit:
		return c.stopVerdict(r)
	case r.End == EndBlocked:
		return verdict{broken: true, reason: "what was left instead of the reward file is in the way: " + r.RewardFault}, nil
	case r.End != EndExit:
		return verdict{}, fmt.Errorf("the command ended by %q, which means nothing", r.End)
	case r.killer() != "":
		return verdict{}, fmt.Errorf("the command was ended by %s, which measures nothing: that comes from outside, for want of memory perhaps, or from timeout -s; let the command end with an exit code of its own if it is the agent's doing", r.killer())
	case c.Reward != "" && r.Reward != "" && r.RewardFault == "":
		return c.parseReward(r, threshold)
	case r.missingReason() != "":
		return r.missingVerdict(c.MissingFails && c.Execute == nil, c.Execute == nil)
	case c.Tests && r.Code != 0:
		first, _, _ := strings.Cut(r.Stdout, "\n")
		return verdict{reason: first}, nil
	case r.Code != 0 || r.Signal != "":
		return verdict{reason: c.failure(r)}, nil
	case c.Reward != "":
		return verdict{}, fmt.Errorf("the command ended well but left no reward: %s", c.rewardFault(r))
	}
	return verdict{score: 1, pass: true}, nil
}

// stopVerdict returns the verdict about a command that was ended for taking too much.
func (c *Command) stopVerdict(r CommandResult) (verdict, error) {
	what, help := fmt.Sprintf("it was ended after %v", c.Timeout), "give it more time"
	switch r.End {
	case EndFlood:
		what = "it was ended for writing too much"
	case EndLimit:
		what, help = "it was ended for using too much: "+r.Detail, "raise agent.limits"
	}
	if c.LateFails || r.Agents {
		return verdict{broken: true, reason: what}, nil
	}
	return verdict{}, fmt.Errorf("%s, which measures nothing; %s, or write on_timeout: fail if it is the agent's doing", what, help)
}

// killer returns the signal from outside that ended the command, or the last program of its script;
// "" if none did. A shell adds 128 to the signal of such a program. A crash is no such signal. 129
// is none either: programs end with it for wrong arguments.
func (r *CommandResult) killer() string {
	if slices.Contains([]string{"SIGHUP", "SIGINT", "SIGKILL", "SIGTERM"}, r.Signal) {
		return r.Signal
	}
	return map[int]string{130: "SIGINT", 137: "SIGKILL", 143: "SIGTERM"}[r.Code]
}

// missingReason returns why a shell, or a program that starts another, could not: 126 and 127 are
// its exit codes for that (POSIX, Shell Command Language, 2.8.2). It returns "" for any other end.
func (r *CommandResult) missingReason() string {
	switch {
	case r.Signal != "":
	case r.Code == 126:
		return "a program cannot be run"
	case r.Code == 127:
		return "a program was not found"
	}
	return ""
}

// missingVerdict returns the verdict on a program that is missing: 0 if that is the agent's fault.
// canBe says that it may be one that the agent should have left.
func (r *CommandResult) missingVerdict(fails, canBe bool) (verdict, error) {
	if fails {
		return verdict{broken: true, reason: r.describeEnd() + ": " + r.missingReason()}, nil
	}
	remedy := "install it"
	if r.Code == 126 {
		remedy = "make it executable"
	}
	if canBe {
		remedy += ", or write on_missing: fail if the agent should have left it"
	}
	return verdict{}, fmt.Errorf("%s: %s, which measures nothing%s; %s", r.describeEnd(), r.missingReason(), r.lastWords(), remedy)
}

// lastWords returns the end of what the command complained of, on one line.
func (r *CommandResult) lastWords() string {
	text := oneLine(r.Stderr)
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" (%q)", lastBytes(text, 200))
}

// parseReward returns the verdict on the number that the command wrote.
func (c *Command) parseReward(r CommandResult, threshold float64) (verdict, error) {
	f, err := strconv.ParseFloat(strings.TrimSpace(r.Reward), 64)
	if err != nil || math.IsNaN(f) || f < 0 || f > 1 {
		return verdict{}, fmt.Errorf("the command left the reward %s in %s; a number from 0 to 1 is one", quote(r.Reward), c.Reward)
	}
	v := verdict{score: f, pass: f >= threshold}
	if !v.pass {
		v.reason = fmt.Sprintf("the reward is %.3g, %.3g is needed", f, threshold)
	}
	return v, nil
}

func (c *Command) failure(r CommandResult) string {
	if c.Reward == "" {
		return r.describeEnd()
	}
	return r.describeEnd() + ", and left no reward: " + c.rewardFault(r)
}

func (c *Command) rewardFault(r CommandResult) string {
	return cmp.Or(r.RewardFault, c.Reward+" is empty")
}

// brief returns how the command ended, and the reward that it left.
func (r *CommandResult) brief() string {
	var parts []string
	if r.Execute != nil {
		parts = append(parts, "execute: "+r.Execute.brief())
	}
	switch {
	case r.End == EndExit && r.Signal != "":
		parts = append(parts, r.Signal)
	case r.End == EndExit:
		parts = append(parts, fmt.Sprintf("exit code %d", r.Code))
	case r.End != "":
		parts = append(parts, string(r.End))
	}
	if r.Reward != "" {
		parts = append(parts, "reward "+excerpt(oneLine(r.Reward), maxSaw))
	}
	return strings.Join(parts, ", ")
}

func (r *CommandResult) describeEnd() string {
	switch {
	case r.Signal != "":
		return "the command was ended by " + r.Signal
	}
	return fmt.Sprintf("the command ended with exit code %d", r.Code)
}

// tail returns the end of what the command printed, for analysts.
func (r *CommandResult) tail() string {
	var parts []string
	if r.Execute != nil {
		if text := r.Execute.tail(); text != "" {
			parts = append(parts, "execute: "+text)
		}
	}
	for _, out := range []struct{ name, text string }{{"output", r.Stdout}, {"errors", r.Stderr}} {
		if text := lastBytes(strings.TrimSpace(out.text), maxTail/2); text != "" {
			parts = append(parts, out.name+": "+text)
		}
	}
	return strings.Join(parts, "\n")
}

// lastBytes returns at most limit bytes from the end of s, in whole characters.
func lastBytes(s string, limit int) string {
	if len(s) <= limit {
		return strings.ToValidUTF8(s, "\uFFFD")
	}
	return "..." + strings.ToValidUTF8(s[len(s)-limit:], "")
}

// argv reads what to run: argv, a list, or run, a script for the shell.
func (s *spec) argv() []string {
	list, hasArgv := s.get("argv")
	script, hasScript := s.get("run")
	if hasArgv == hasScript {
		s.fail("argv", "exactly one of argv, a program and its arguments, and run, a script for sh, is needed")
		return nil
	}
	if hasScript {
		text, ok := script.(string)
		if !ok || strings.TrimSpace(text) == "" {
			s.fail("run", "a script expected, found %s", describe(script))
		}
		return []string{"sh", "-c", text}
	}
	items, ok := list.([]any)
	if !ok || len(items) == 0 {
		s.fail("argv", "a list of a program and its arguments expected, found %s", describe(list))
		return nil
	}
	argv := s.operandList("argv", items)
	if len(argv) > 0 && argv[0] == "" {
		s.fail("argv", "the program is empty")
	}
	return argv
}

// duration reads a time such as 90s or 5m, or a number of seconds, above 0.
func (s *spec) duration(key string, fallback, most time.Duration) time.Duration {
	v, ok := s.get(key)
	if !ok {
		return fallback
	}
	var d time.Duration
	if f, ok := yamlx.Number(v); ok {
		d = time.Duration(min(f, most.Seconds()+1) * float64(time.Second))
	} else if text, ok := v.(string); ok {
		var err error
		if d, err = time.ParseDuration(text); err != nil {
			s.fail(key, "%q is no time; write it like 90s or 5m", text)
			return fallback
		}
	} else {
		s.fail(key, "a time expected, found %s", describe(v))
		return fallback
	}
	if d <= 0 || d > most {
		s.fail(key, "%v is out of range; above 0 and at most %v is allowed", d, most)
	}
	return d
}
