package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/queue"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
)

// maxOrder is how much standard input of queued may hold, in bytes.
const maxOrder = 1 << 20

// launch has a process of its own carry out an entry of a queue. It implements server.Launch.
func (p *servedProgram) launch(ctx context.Context, dir string, e queue.Entry) error {
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	environ, err := p.environ(ctx, e.Config)
	if err != nil {
		return err
	}
	bounds, err := json.Marshal(p.guard)
	if err != nil {
		return fmt.Errorf("write the bounds: %w", err)
	}
	log := queue.New(dir, time.Now).Log(e.ID)
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log: %w", err)
	}
	defer out.Close()                                 //nolint:errcheck // the process has its own
	cmd := exec.Command(program, "queued", dir, e.ID) //nolint:noctx // it outlives this one
	cmd.Dir, cmd.Env, cmd.Stdin = p.guard.Roots[0], environ, bytes.NewReader(bounds)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = out, out, detach()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // which ends with the process, or with this one
	select {
	case <-ctx.Done():
		return nil
	case err := <-ended:
		if err != nil {
			return fmt.Errorf("its process: %w; what it printed is in %s", err, log)
		}
		return nil
	}
}

// environ returns the variables of a process that carries out a command with a config: those that it reads for its
// models and programs, and what every program needs.
func (p *servedProgram) environ(ctx context.Context, file string) ([]string, error) {
	names := plainVariables()
	note := func(name string) (string, bool) {
		names = append(names, name)
		return config.Environment(name)
	}
	l, err := config.LoadContext(ctx, config.Options{Path: file, Dir: p.guard.Roots[0], Lookup: note, Guard: &p.guard})
	if err != nil {
		return nil, err
	}
	wiring.Variables(l.Config, l.Lookup)
	slices.Sort(names)
	var out []string
	for _, name := range slices.Compact(names) {
		if value, ok := config.Environment(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return out, nil
}

// plainVariables returns the variables that every process gets: where programs and folders are, proxies, and certificates.
func plainVariables() []string {
	return []string{
		"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "TZ", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME",
		"PATHEXT", "SystemRoot", "USERPROFILE", "LOCALAPPDATA", "APPDATA", "TEMP", "TMP",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	}
}

// queuedCommand returns the command that a server starts for an entry of its queue. No person types it.
func queuedCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "queued DIR ID", Hidden: true, Short: "Carry out an entry of the queue of skillopt serve, within the bounds on standard input",
		Args: exactArgs(2, "the folder of a queue and the id of an entry"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.beginEntry(cmd.Context(), args[0], args[1]) },
	}
}

// beginEntry begins an entry and carries it out. That another process has begun it is no failure.
func (a *app) beginEntry(ctx context.Context, dir, id string) error {
	bounds, err := io.ReadAll(io.LimitReader(a.In, maxOrder))
	if err != nil {
		return fmt.Errorf("read the bounds: %w", err)
	}
	var g config.Guard
	if err := json.Unmarshal(bounds, &g); err != nil || len(g.Roots) == 0 {
		return usagef("queued is started by skillopt serve, which writes what it may do to its standard input (%v)", err)
	}
	w, err := queue.New(dir, time.Now).Begin(ctx, id)
	var other *queue.StateError
	if errors.Is(err, queue.ErrAtWork) || errors.As(err, &other) {
		return nil
	}
	if err != nil {
		return err
	}
	message := ""
	if err = a.carryEntry(ctx, &g, w.Entry); err != nil {
		message = redact.Text(err.Error())
	}
	return errors.Join(err, w.End(exitCode(err), message))
}

// carryEntry runs the command of an entry as it was when it was added.
func (a *app) carryEntry(ctx context.Context, g *config.Guard, e queue.Entry) error {
	if len(e.Words) < 2 || !slices.Contains([]string{"train", "eval", "compare"}, e.Words[0]) {
		return usagef("the queue carries out train, eval and compare, not %q", strings.Join(e.Words, " "))
	}
	text, err := disk.Read(ctx, e.Config, config.MaxFile)
	if err != nil {
		return usagef("%s: %v", e.Config, err)
	}
	if hashText(text) != e.SHA256 {
		return usagef("%s has changed since the command was put into the queue: start it again", e.Config)
	}
	b := &app{Streams: a.Streams, version: a.version, lookup: a.lookup, guard: g}
	b.In, b.Dir = strings.NewReader(""), g.Roots[0]
	return execute(ctx, rootCommand(b), b.Streams, e.Words)
}

func hashText(text []byte) string { return fmt.Sprintf("%x", sha256.Sum256(text)) }
