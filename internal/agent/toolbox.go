package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/reach"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/model"
)

// Bounds of the builtin agent's tools.
const (
	maxRead    = 64 << 10 // bytes of a file or of output that the model sees
	maxFile    = 8 << 20  // bytes of a file that is read or edited at all
	bashTime   = 2 * time.Minute
	maxBash    = 10 * time.Minute
	maxBashOut = 8 << 20 // bytes that a command may print
)

// toolbox carries out what the model of the builtin agent calls. Files are
// reached through a root, so that no path leads out of the workspace.
type toolbox struct {
	job  Job
	path string // folders with programs
	plan reach.Plan
	root *os.Root
}

func newToolbox(j Job, a *Agent) (t *toolbox, err error) {
	t = &toolbox{job: j, path: a.opts.Path}
	if t.plan, err = a.Reach(); err != nil && j.Confine {
		return nil, err
	}
	if t.root, err = os.OpenRoot(j.Workspace); err != nil {
		return nil, fmt.Errorf("open the workspace: %w", err)
	}
	return t, nil
}

func (t *toolbox) close() error { return t.root.Close() }

type toolArgs struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
	Old     string  `json:"old"`
	New     string  `json:"new"`
	Command string  `json:"command"`
	Offset  int     `json:"offset"`
	Limit   int     `json:"limit"`
	Timeout int     `json:"timeout"`
}

// call carries out one call. The error is for the model to read.
func (t *toolbox) call(ctx context.Context, c model.ToolCall) (string, error) {
	var args toolArgs
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return "", fmt.Errorf("the arguments are not as described: %w", err)
	}
	switch c.Name {
	case "read":
		return t.read(args)
	case "write":
		return t.write(args)
	case "edit":
		return t.edit(args)
	case "bash":
		return t.bash(ctx, args)
	}
	return "", fmt.Errorf("there is no tool %s: use read, write, edit or bash", c.Name)
}

// local turns a path of the model into one below the workspace. An absolute
// path into the workspace is as good.
func (t *toolbox) local(name string) (string, error) {
	if name == "" {
		return "", errors.New("path is missing")
	}
	name = filepath.FromSlash(name)
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(t.job.Show.Seen(t.job.Workspace), name)
		if err != nil || !filepath.IsLocal(rel) {
			return "", fmt.Errorf("%s is outside the folder", name)
		}
		name = rel
	}
	return filepath.ToSlash(filepath.Clean(name)), nil
}

func (t *toolbox) load(name string) (clean, text string, err error) {
	clean, err = t.local(name)
	if err != nil {
		return "", "", err
	}
	// Looked at before it is opened: opening a pipe waits for its other end.
	if info, err := t.root.Stat(clean); err != nil {
		return "", "", plainPath(err)
	} else if !info.Mode().IsRegular() {
		return "", "", fmt.Errorf("%s is no file", clean)
	}
	f, err := t.root.Open(clean)
	if err != nil {
		return "", "", plainPath(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return "", "", plainPath(err)
	}
	if len(data) > maxFile {
		return "", "", fmt.Errorf("%s is larger than %d MB: use bash to look at a part of it", clean, maxFile>>20)
	}
	return clean, string(data), nil
}

func (t *toolbox) read(a toolArgs) (string, error) {
	_, text, err := t.load(a.Path)
	if err != nil {
		return "", err
	}
	if a.Offset > 0 || a.Limit > 0 {
		lines := strings.SplitAfter(text, "\n")
		from := min(max(a.Offset, 1)-1, len(lines))
		to := len(lines)
		if a.Limit > 0 {
			to = min(from+a.Limit, to)
		}
		text = strings.Join(lines[from:to], "")
	}
	return t.shorten(text, maxRead), nil
}

func (t *toolbox) write(a toolArgs) (string, error) {
	name, err := t.local(a.Path)
	if err != nil {
		return "", err
	}
	if a.Content == nil {
		return "", errors.New("content is missing")
	}
	if err := t.save(name, *a.Content); err != nil {
		return "", err
	}
	return fmt.Sprintf("wrote %d bytes to %s", len(*a.Content), name), nil
}

func (t *toolbox) save(name, text string) error {
	if info, err := t.root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", name)
	}
	if err := t.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return plainPath(err)
	}
	return plainPath(t.root.WriteFile(name, []byte(text), 0o644))
}

func (t *toolbox) edit(a toolArgs) (string, error) {
	name, text, err := t.load(a.Path)
	if err != nil {
		return "", err
	}
	switch n := strings.Count(text, a.Old); {
	case a.Old == "":
		return "", errors.New("old is missing")
	case n == 0:
		return "", fmt.Errorf("%s does not hold that text", name)
	case n > 1:
		return "", fmt.Errorf("%s holds that text %d times: give more of what is around it", name, n)
	}
	if err := t.save(name, strings.Replace(text, a.Old, a.New, 1)); err != nil {
		return "", err
	}
	return "edited " + name, nil
}

// bash runs a command. It sees no key, and when the job is confined it reaches
// nothing over the network.
func (t *toolbox) bash(ctx context.Context, a toolArgs) (string, error) {
	if strings.TrimSpace(a.Command) == "" {
		return "", errors.New("command is missing")
	}
	limit := bashTime
	if a.Timeout > 0 {
		limit = min(time.Duration(a.Timeout)*time.Second, maxBash)
	}
	out := &bothEnds{max: maxRead}
	spec := sandbox.Spec{
		Argv: []string{"bash", "-c", a.Command + "\n"}, Dir: t.job.Workspace, Env: mergeEnv(t.plan.Env, baseEnv(t.path, t.job.Show.Seen(t.job.Home), ""), t.job.Env),
		Stdout: out, MaxOutput: maxBashOut, Timeout: limit,
	}
	if t.job.Confine {
		spec.Confine = &sandbox.Confine{Write: []string{t.job.Workspace, t.job.Home}, Read: t.plan.Read, Network: t.job.Network, Show: t.job.Show, Limits: t.job.Limits}
	}
	res, err := sandbox.Run(ctx, spec)
	if err != nil {
		return "", fmt.Errorf("the command could not be started: %w", err)
	}
	if res.Reason == sandbox.Starved {
		return "", &starvedError{res.Detail}
	}
	text := strings.TrimRight(out.text(t.job.Hide), "\n")
	if res.Stderr != "" {
		text += "\n" + t.shorten(strings.TrimRight(res.Stderr, "\n"), maxRead/4)
	}
	if res.Reason != sandbox.Exited || res.Code != 0 {
		return text, errors.New(describeEnding(res))
	}
	if strings.TrimSpace(text) == "" {
		return "(no output)", nil
	}
	return text, nil
}

// starvedError says that the machine lacks what commands need. That is no failure of
// the agent: its work ends unmeasured.
type starvedError struct{ detail string }

func (e *starvedError) Error() string { return "a command could not work: " + e.detail }

// plainPath leaves the operation out of an error of the file system: the model
// knows what it asked for.
func plainPath(err error) error {
	var p *os.PathError
	if errors.As(err, &p) {
		return fmt.Errorf("%s: %w", p.Path, p.Err)
	}
	return err
}

// bothEnds keeps the start and the end of what is written to it.
type bothEnds struct {
	max   int
	start capped
	end   lastBytes
	n     int
}

// Write never fails.
func (b *bothEnds) Write(p []byte) (int, error) {
	b.start.max, b.end.max = b.max*3/4, b.max/4
	b.n += len(p)
	kept := len(b.start.data)
	if _, err := b.start.Write(p); err != nil {
		return 0, err
	}
	return len(p), b.rest(p[len(b.start.data)-kept:])
}

func (b *bothEnds) rest(p []byte) error {
	_, err := b.end.Write(p)
	return err
}

// text returns what was kept. Where something is left out in between, no part of what hide knows is
// left next to it.
func (b *bothEnds) text(hide *redact.Exact) string {
	start := b.start.String()
	left := b.n - len(b.start.data) - min(len(b.end.data), b.end.max)
	if left <= 0 {
		return start + b.end.text(nil)
	}
	return hide.Text(start[:hide.Ready(start)]) + fmt.Sprintf("\n[%d bytes left out]\n", left) + b.end.text(hide)
}

// shorten returns a text as the function shorten cuts it, with no part of a secret left where it is cut.
func (t *toolbox) shorten(text string, room int) string {
	if len(text) > room {
		text = t.job.Hide.Text(text)
	}
	return shorten(text, room)
}
