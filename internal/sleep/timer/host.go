package timer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/fault"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// Host is the machine and the user whose schedulers get the entries.
type Host struct {
	OS      string // as runtime.GOOS
	User    int    // id, -1 where there is none
	Folders Folders
	Lookup  func(name string) (string, bool) // the environment, of which programs see a short list
	Temp    string                           // a private folder for a moment; "": the system's
}

// Scheduler is one of them on a host.
type Scheduler interface {
	// Install writes an entry, or writes it again, has the scheduler take it up, and looks whether it
	// has. After an error all is as before, as far as the scheduler allows.
	Install(ctx context.Context, e Entry) error
	// Remove takes the entry of an ID out, with all that was left of it; false: there was nothing.
	Remove(ctx context.Context, id string) (bool, error)
	// List finds the entries that there are.
	List(ctx context.Context) ([]Found, error)
}

// Open returns a scheduler of a host.
func Open(kind Kind, h Host) (Scheduler, error) {
	switch kind {
	case Systemd:
		return systemd{h}, nil
	case Cron:
		return cron{h}, nil
	case Launchd:
		return launchd{h}, nil
	case Tasks:
		return tasks{h}, nil
	}
	_, err := Text(kind, Entry{ID: "0000000000000000", Program: "/x", Profile: "/x", Log: "/x"}, Folders{})
	return nil, err
}

// On returns the schedulers that a system can have, the best one first.
func On(system string) []Kind {
	switch system {
	case "windows":
		return []Kind{Tasks}
	case "darwin":
		return []Kind{Launchd, Cron}
	}
	return []Kind{Systemd, Cron}
}

// Choose finds the first scheduler of a host that is at work.
func Choose(ctx context.Context, h Host) (Kind, error) {
	var why []string
	for _, kind := range On(h.OS) {
		err := works(ctx, kind, h)
		if err == nil {
			return kind, nil
		}
		why = append(why, fmt.Sprintf("%s: %v", kind, err))
	}
	return "", &InputError{What: "no scheduler is at work here", Why: strings.Join(why, "; ") + "; --print shows what to give to one by hand"}
}

// works reports why a scheduler cannot be given entries.
func works(ctx context.Context, kind Kind, h Host) error {
	switch kind {
	case Systemd:
		_, err := h.run(ctx, nil, "systemctl", "--user", "show-environment")
		return err
	case Cron:
		_, err := cron{h}.read(ctx)
		return err
	case Launchd:
		return h.has("launchctl")
	}
	return h.has("schtasks")
}

// programTime is how long a program of a scheduler may take.
const programTime = 30 * time.Second

// maxPrinted bounds what is read of one, a crontab for example.
const maxPrinted = 4 << 20

// visible returns the variables that programs of schedulers see.
func visible() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "SystemRoot", "windir", "USERPROFILE", "USERNAME", "USERDOMAIN", "TEMP", "TMP", "TMPDIR"}
}

func (h Host) env() []string {
	out := []string{"LC_ALL=C"}
	for _, name := range visible() {
		value, ok := h.Lookup(name)
		switch {
		case name == "PATH" && h.OS != "windows":
			value, ok = value+":/usr/local/bin:/usr/bin:/bin", true
		case name == "XDG_RUNTIME_DIR" && !ok && h.User >= 0:
			value = fmt.Sprintf("/run/user/%d", h.User)
			_, err := os.Stat(value)
			ok = err == nil
		}
		if ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}

// ProgramError is a program of a scheduler that could not do what it was to do.
type ProgramError struct {
	Program string
	Why     string
	Said    string // standard error, its end, one line
	Missing bool   // it is not installed
}

func (e *ProgramError) Error() string {
	if e.Said == "" {
		return e.Program + ": " + e.Why
	}
	return e.Program + ": " + e.Why + ": " + end(e.Said, 300)
}

// ErrorKind says whose business the error is.
func (*ProgramError) ErrorKind() string { return string(fault.Environment) }

// run carries a program out: found in an absolute folder of PATH, with a short list of
// variables, ended after a time.
func (h Host) run(ctx context.Context, in []byte, argv ...string) ([]byte, error) {
	var out bytes.Buffer
	dir := h.Folders.Home
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		dir = os.TempDir()
	}
	res, err := sandbox.Run(ctx, sandbox.Spec{Argv: argv, Dir: dir, Env: h.env(), Stdin: bytes.NewReader(in), Stdout: &out, MaxOutput: maxPrinted, Timeout: programTime})
	name := strings.Join(argv, " ")
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return nil, &ProgramError{Program: argv[0], Why: "it is not installed, or in no folder of PATH", Missing: true}
	case err != nil:
		return nil, fmt.Errorf("run %s: %w", name, err)
	case ctx.Err() != nil:
		return nil, fmt.Errorf("run %s: %w", name, context.Cause(ctx))
	case res.Reason == sandbox.Deadline:
		return nil, &ProgramError{Program: name, Why: fmt.Sprintf("it took more than %s and was ended", programTime)}
	case res.Reason != sandbox.Exited || res.Code != 0:
		return out.Bytes(), &ProgramError{Program: name, Why: fmt.Sprintf("%s, exit code %d", res.Reason, res.Code), Said: end(res.Stderr, 10000)}
	}
	return out.Bytes(), nil
}

// Output returns what a program of the user prints, such as one that asks the system's key store.
// Errors have nothing of it.
func (h Host) Output(ctx context.Context, argv []string) (string, error) {
	out, err := h.run(ctx, nil, argv...)
	if err != nil {
		return "", err
	}
	return string(out), nil
}

// end returns the end of what a program has said, as one line.
func end(text string, most int) string {
	words := []rune(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " "))
	return string(words[max(0, len(words)-most):])
}

// has reports whether a program is there.
func (h Host) has(name string) error {
	for _, entry := range h.env() {
		folders, ok := strings.CutPrefix(entry, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(folders) {
			if !filepath.IsAbs(dir) {
				continue
			}
			if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return nil
			}
		}
	}
	return &ProgramError{Program: name, Why: "it is not installed, or in no folder of PATH", Missing: true}
}

// maxText bounds what is read of a file of an entry.
const maxText = 64 << 10

// own reads a file of an entry. A file that was not written here is a *ForeignError; nil: there
// is none.
func own(name, id string) ([]byte, error) {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("look at %s: %w", name, err)
	case !info.Mode().IsRegular() || info.Size() > maxText:
		return nil, foreign(name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if found, _, ok := readTag(string(data)); !ok || found != id {
		return nil, foreign(name)
	}
	return data, nil
}

func foreign(name string) error {
	return &ForeignError{Where: name, What: "it has the name of an entry of skillopt and was not written by it", Help: "move it away"}
}

// write writes the files of an entry and returns what puts back what was there. Nothing is
// written unless all that is there was written here.
func write(files []File, id string) (undo func() error, err error) {
	before := make([][]byte, len(files))
	for i, f := range files {
		if before[i], err = own(f.Path, id); err != nil {
			return nil, err
		}
	}
	undo = func() error {
		var all error
		for i, f := range files {
			if before[i] == nil {
				all = errors.Join(all, remove(f.Path))
				continue
			}
			all = errors.Join(all, disk.WriteFile(f.Path, before[i], 0o644))
		}
		return all
	}
	for i, f := range files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
			return nil, fmt.Errorf("make the folder of an entry: %w", err)
		}
		if bytes.Equal(before[i], []byte(f.Text)) {
			continue
		}
		if err := disk.WriteFile(f.Path, []byte(f.Text), 0o644); err != nil {
			return nil, errors.Join(err, undo())
		}
	}
	return undo, nil
}

func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove an entry: %w", err)
	}
	return nil
}

// findEntries lists the entries whose files match a pattern, each once.
func findEntries(kind Kind, pattern string) ([]Found, error) {
	names, err := filepath.Glob(pattern)
	if err != nil {
		return nil, fmt.Errorf("list entries: %w", err)
	}
	slices.Sort(names)
	var out []Found
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue // a link to nowhere, or not for us
		}
		if id, profile, ok := readTag(string(data[:min(len(data), maxText)])); ok && !slices.ContainsFunc(out, func(f Found) bool { return f.ID == id }) {
			out = append(out, Found{Kind: kind, ID: id, Profile: profile})
		}
	}
	return out, nil
}

// escapeGlob escapes a folder for filepath.Glob.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
