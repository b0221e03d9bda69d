package sandboxtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// self is the binary that runs.
const self = "/proc/self/exe"

// patience is how long the probes of one class may take.
const patience = 30 * time.Second

// Main is what a test binary does in its TestMain with the value of Var, the
// arguments of the process and its standard output. When is is set the process is to
// exit with code.
func Main(value string, args []string, out io.Writer) (code int, is bool) {
	if value == "" {
		return 0, false
	}
	t, err := decode(value)
	if err == nil {
		err = t.act(args, out)
	}
	if err != nil {
		_, _ = fmt.Fprintln(out, err) // there is nobody else to tell
		return 1, true
	}
	return 0, true
}

// Value is the value of Var for a target.
func (t *Target) Value() string {
	data, err := json.Marshal(t)
	if err != nil {
		panic(err) // it holds texts and numbers
	}
	return base64.StdEncoding.EncodeToString(data)
}

// decode reads a value of Var: a Target, or @ and the name of a file that holds one.
func decode(value string) (*Target, error) {
	if name, ok := strings.CutPrefix(value, "@"); ok {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		value = strings.TrimSpace(string(data))
	}
	data, err := base64.StdEncoding.DecodeString(value)
	if err != nil {
		return nil, fmt.Errorf("read the target: %w", err)
	}
	var t Target
	return &t, json.Unmarshal(data, &t)
}

// act does what the arguments say: by default all probes.
func (t *Target) act(args []string, out io.Writer) error {
	what := append(slices.Clone(args), "", "", "")[1:4]
	switch what[0] {
	case "class":
		skip, err := strconv.Atoi(what[2])
		if err != nil {
			return err
		}
		return t.tryClass(what[1], skip, out)
	case "linger":
		signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT)
		<-time.After(time.Hour)
	case "fork":
		return t.fork(what[1])
	case "cat":
		reached, detail := t.read(what[1])
		return answer(out, reached, detail)
	case "inside":
		reached, detail := t.inside(what[1])
		return answer(out, reached, detail)
	case "victim":
		return beVictim(what[1], out)
	case "leave":
		t.leave(what[1])
	case "serve":
		t.serve(what[1])
	case "look":
		_, err := fmt.Fprintln(out, cmp.Or(strings.Join(t.lookFor(), ", "), "nothing"))
		return err
	case "overuse":
		t.overuse(what[1], out)
	case "plant":
		return t.plant(out)
	default:
		return t.tryAll(out)
	}
	return nil
}

// answer is what a process of a probe says to the one that started it.
func answer(out io.Writer, reached bool, detail string) error {
	return json.NewEncoder(out).Encode(Finding{Reached: reached, Detail: detail})
}

// Probes lists all attacks.
func Probes() []Probe {
	return slices.Concat(paths(), morePaths(), changes(), links(), procs(), environment(), tracing(), signals(), mounts(), spaces(),
		devices(), sockets(), families(), unixSockets(), ipc(), keyrings(), limits(), daemons(), descriptors(), clocks(), execution(), kernel(), groups())
}

// Probes lists those that are tried.
func (t *Target) Probes() []Probe {
	return slices.DeleteFunc(Probes(), func(p Probe) bool {
		return len(t.Only) > 0 && !slices.Contains(t.Only, p.Class) || t.Harmless && p.Wide
	})
}

func group(class string, all ...Probe) []Probe {
	for i := range all {
		all[i].Class = class
	}
	return all
}

// tryAll has each class tried by a process of its own. One that a probe ends, or that
// takes too long, is followed by another, which goes on behind that probe.
func (t *Target) tryAll(out io.Writer) error {
	var classes []string
	number := map[string]int{}
	for _, p := range t.Probes() {
		if number[p.Class]++; !slices.Contains(classes, p.Class) {
			classes = append(classes, p.Class)
		}
	}
	for _, class := range classes {
		for done := 0; done < number[class]; {
			said, err := t.start("class", class, strconv.Itoa(done))
			found, _ := Findings(string(said)) // the last line may be cut
			for _, f := range found {
				if err := json.NewEncoder(out).Encode(f); err != nil {
					return err
				}
			}
			if done += len(found); done < number[class] {
				p := slices.DeleteFunc(t.Probes(), func(p Probe) bool { return p.Class != class })[done]
				f := Finding{Class: class, Name: p.Name, Detail: fmt.Sprintf("its process ended: %v", err)}
				if err := json.NewEncoder(out).Encode(f); err != nil {
					return err
				}
				done++
			}
		}
	}
	return nil
}

func (t *Target) tryClass(class string, skip int, out io.Writer) error {
	for _, p := range t.Probes() {
		if p.Class != class {
			continue
		}
		if skip--; skip >= 0 {
			continue
		}
		f := Finding{Class: class, Name: p.Name}
		began := time.Now()
		f.Reached, f.Detail = p.Try(t)
		f.Took = time.Since(began).Milliseconds()
		if err := json.NewEncoder(out).Encode(f); err != nil {
			return err
		}
	}
	return nil
}

// start runs this binary with other arguments, and returns what it prints.
func (t *Target) start(args ...string) ([]byte, error) {
	return t.startWith(nil, args...)
}

func (t *Target) startWith(attr *syscall.SysProcAttr, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := t.command(ctx, self, args...)
	cmd.SysProcAttr = attr
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	return out.Bytes(), err
}

func (t *Target) command(ctx context.Context, path string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = []string{Var + "=" + t.Value()}
	cmd.WaitDelay = time.Second // somebody else may hold the output
	return cmd
}

// heard reads the answer of a process of a probe.
func heard(said []byte, err error) (bool, string) {
	if found, bad := Findings(string(said)); bad == nil && len(found) == 1 {
		return found[0].Reached, found[0].Detail
	}
	return false, fmt.Sprintf("%v, it says %q", err, said)
}

// judge looks for canaries in what was read.
func (t *Target) judge(data []byte, err error) (bool, string) {
	if names := t.Holds(data); len(names) > 0 {
		return true, "it read the canary of " + strings.Join(names, ", ")
	}
	if err != nil {
		return false, err.Error()
	}
	return false, fmt.Sprintf("%d bytes without a canary", len(data))
}

// most is how much of a file is read.
const most = 8 << 20

func (t *Target) read(path string) (bool, string) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err.Error()
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeCharDevice) != 0 {
		return false, "it is no file" // to read it could take forever
	}
	return t.judge(io.ReadAll(io.LimitReader(f, most)))
}

// did tells of an attack that has succeeded if its call did.
func did(err error) (bool, string) {
	if err != nil {
		return false, err.Error()
	}
	return true, "it worked"
}

// any of several attacks.
func first(all ...func() (bool, string)) (bool, string) {
	var details []string
	for _, try := range all {
		reached, detail := try()
		if reached {
			return true, detail
		}
		if !slices.Contains(details, detail) {
			details = append(details, detail)
		}
	}
	return false, strings.Join(details, "; ")
}

// there reports whether a process here is that one outside, and not another that has
// its number here.
func (p Process) there() bool { return startOf(p.PID) == p.Start }

// on says whether a call about the process has reached it: that it has not failed
// tells nothing where the number is that of another.
func (p Process) on(err error) (bool, string) {
	if err == nil && !p.there() && startOf(p.PID) != "" {
		return false, "another process has its number here"
	}
	return did(err)
}

// startOf is when a process started, "" if it cannot be seen.
func startOf(pid int) string {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(f) < 20 {
		return ""
	}
	return f[19]
}

func (p Process) proc(name string) string {
	return filepath.Join("/proc", strconv.Itoa(p.PID), name)
}

// own is a path in the folder that the program may write.
func own(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	return filepath.Join(dir, name)
}
