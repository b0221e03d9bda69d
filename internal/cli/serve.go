package cli

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/server"
	"github.com/seed-f4525e22/skillopt/internal/server/door"
	"github.com/seed-f4525e22/skillopt/internal/wiring"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/result"
)

// serveOptions are the flags of serve.
type serveOptions struct {
	addr               string
	hosts              []string
	trust, models      []string // configs that may say anything, PROVIDER/MODEL that pages may name
	adopt              bool
	profile            string // of sleep
	cert, key          string // of TLS
	readOnly, insecure bool
}

// serveAddr is where runs are served unless a flag says otherwise.
const serveAddr = "127.0.0.1:8675"

func serveCommand(a *app) *cobra.Command {
	var o serveOptions
	c := &cobra.Command{
		Use:   "serve [DIR...]",
		Short: "Train in a browser, and look at runs: live ones, finished ones, and those that a colleague sent",
		Long: `Serve a page that shows all runs in folders, or single run directories: how far they are,
what they score and how sure that is, why the skill says what it says, which tasks fail.
Of a sleep.dir, or a folder of its nights, it shows results and proposals of nights. With the
profile of these nights, yours or --profile, tasks of sessions are reviewed there too.
Runs at work are followed, and can be stopped or given other ceilings. Without DIR it is
the folder runs.

Open the link that is printed: it has a token that is good until the server ends. Only
this machine can reach it. From another one, forward the port:

  ssh -L 8675:127.0.0.1:8675 HOST

then open the link in a browser on your machine. Another address than one of this machine's loopback
interface needs --tls-cert and --tls-key, or --insecure.

Runs are begun from configs in the working directory and the folders in it, or in DIR if there are
some, each as a process of its own: it continues when the server ends (Ctrl-C). What a page writes
into a config may cost money and reach nothing but the models that configs named when the server
began, or --model. A config that says more is started as it is if --trust names it.`,
		Example: `  skillopt serve
  skillopt serve runs experiments/runs
  skillopt serve . --model openai/gpt-5-mini            begin runs from a page
  skillopt serve ~/Downloads/their-run --read-only      a run that somebody sent
  skillopt serve ~/.local/state/skillopt/sleep          nights, and their runs
  skillopt serve --addr 127.0.0.1:0                     any port that is free
  skillopt serve --addr 0.0.0.0:8675 --tls-cert cert.pem --tls-key key.pem --host lab.example.com`,
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, args) },
	}
	c.Flags().StringVar(&o.addr, "addr", serveAddr, "where to listen; port 0 takes a free one")
	c.Flags().BoolVar(&o.readOnly, "read-only", false, "only show: nothing is started or changed")
	c.Flags().BoolVar(&o.insecure, "insecure", false, "serve other machines without TLS: everyone on the way can read and change what is sent")
	c.Flags().StringVar(&o.cert, "tls-cert", "", "a file with the certificate (PEM)")
	c.Flags().StringVar(&o.key, "tls-key", "", "a file with its key (PEM)")
	c.Flags().StringArrayVar(&o.trust, "trust", nil, "a config that pages may start though it says more than they may, or a .env file next to one, as it is now (repeatable)")
	c.Flags().StringArrayVar(&o.models, "model", nil, "PROVIDER/MODEL that pages may name, in addition to those of configs that are there (repeatable)")
	c.Flags().BoolVar(&o.adopt, "allow-adopt", false, "pages may write best skills and proposals into the documents that agents read")
	c.Flags().StringVar(&o.profile, "profile", "", "the profile of sleep whose nights are served; yours is used if its sleep.dir is served")
	c.Flags().StringArrayVar(&o.hosts, "host", nil, "a further name by which browsers reach it (repeatable)")
	return c
}

// run serves until it is interrupted.
func (o *serveOptions) run(ctx context.Context, a *app, args []string) error {
	folders, configs, err := servedFolders(a, args)
	if err != nil {
		return err
	}
	at, err := o.listen(ctx, a, folders, configs)
	if err != nil {
		return err
	}
	if err := at.print(a); err != nil {
		return errors.Join(err, at.listener.Close())
	}
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	debug.SetMemoryLimit(min(servedMemory, before))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- at.server.Serve(ctx, at.listener) }()
	select {
	case <-a.Signals:
	case <-ctx.Done():
	case err := <-ended:
		return err
	}
	cancel()
	return <-ended
}

// servedMemory is how much memory the program uses before it collects garbage more often than else.
const servedMemory = 112 << 20

// servedFolders returns the folders with runs or nights that arguments name, and the folder whose configs can be
// started: the working directory, or the first argument that holds configs. "": there is none.
func servedFolders(a *app, args []string) (folders []string, configs string, err error) {
	if len(args) == 0 {
		return []string{a.absolute("runs")}, a.absolute("."), nil
	}
	for _, arg := range args {
		dir := a.absolute(arg)
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return nil, "", usagef("%s: %v; name a folder with runs or nights, or a run directory", arg, stripPath(err))
		case !info.IsDir():
			return nil, "", usagef("%s is no folder; name a folder with runs or nights, or a run directory", arg)
		}
		if configs == "" && holdsConfigs(dir) {
			configs, dir = dir, filepath.Join(dir, "runs")
		}
		folders = append(folders, dir)
	}
	return folders, configs, nil
}

// holdsConfigs reports whether runs are begun in a folder: it is empty, or there is a config in it or one of its folders.
func holdsConfigs(dir string) bool {
	if f := record.InspectFolder(dir); f.Run != "" || f.Night != "" || f.Sleep {
		return false
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) == 0 {
		return err == nil && filepath.Base(dir) != "runs" // in which runs are awaited
	}
	own, _ := filepath.Glob(filepath.Join(dir, "config.yaml"))
	below, _ := filepath.Glob(filepath.Join(dir, "*", "config.yaml"))
	runs, _ := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
	return len(own)+len(below) > 0 && len(runs) == 0
}

// serving is a server that listens.
type serving struct {
	server   *server.Server
	listener net.Listener
	token    string
	origin   string // http://127.0.0.1:8675
	folders  []string
	readOnly bool
}

// link returns the address that is opened in a browser.
func (s *serving) link() string { return s.origin + "/#token=" + s.token }

// listen prepares a server and opens its port.
func (o *serveOptions) listen(ctx context.Context, a *app, folders []string, configs string) (_ *serving, err error) {
	certificate, err := o.certificate(a)
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", o.addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE) || err != nil && strings.Contains(err.Error(), "Only one usage of each socket address"):
		return nil, usagef("%s is in use, perhaps by another skillopt serve; --addr 127.0.0.1:0 takes any free port", o.addr)
	case err != nil:
		return nil, usagef("--addr %s: %v; want HOST:PORT, such as %s", o.addr, err, serveAddr)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	local := isLoopback(l.Addr())
	if !local && certificate == nil && !o.insecure {
		return nil, usagef("--addr %s is reached from other machines, and without TLS everyone on the way can read the token; leave the address at %s and use ssh -L, or give --tls-cert and --tls-key, or --insecure", o.addr, serveAddr)
	}
	host, _, _ := net.SplitHostPort(o.addr)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	hosts := o.hosts
	if name, err := os.Hostname(); err == nil && !local {
		hosts = append(hosts, name)
		if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
			host = name
		}
	}
	out := &serving{listener: l, token: door.NewSecret(), origin: "http://" + net.JoinHostPort(host, port), folders: folders, readOnly: o.readOnly}
	if certificate != nil {
		out.origin = "https://" + net.JoinHostPort(host, port)
		out.listener = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*certificate}, MinVersion: tls.VersionTLS12})
	}
	program, err := o.program(a, configs)
	if err != nil {
		return nil, err
	}
	nights, dir, err := o.nights(a, folders)
	if err != nil {
		return nil, err
	}
	out.server, err = server.New(server.Options{
		Sleep: nights, SleepDir: dir,
		Folders: folders, ReadOnly: o.readOnly, Build: build(a), Addr: net.JoinHostPort(host, port), Hosts: hosts, Secure: certificate != nil,
		Token: out.token, Key: sessionKey(a), Now: time.Now, Configs: configs, Program: program, Editor: program, Launch: program.launch, Benches: benchExamples(ctx, program.keys), Trusted: program.guard.Trusted, Models: o.models, Adopt: o.adopt,
	})
	return out, err
}

// servedProgram carries out commands for pages.
type servedProgram struct {
	app   *app
	guard config.Guard
	keys  []config.Key // all that there are
}

// program returns what carries out commands for pages. Configs are trusted as they are now.
func (o *serveOptions) program(a *app, configs string) (*servedProgram, error) {
	p := &servedProgram{app: a, keys: config.Default().Keys()}
	for _, name := range o.trust {
		path := a.absolute(name)
		if isFolder(path) {
			path = filepath.Join(path, "config.yaml")
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, usagef("--trust %s: %v; name a config, or its folder", name, stripPath(err))
		}
		p.guard.Trusted = append(p.guard.Trusted, fmt.Sprintf("%x", sha256.Sum256(text)))
	}
	if configs != "" {
		real, err := filepath.EvalSymlinks(configs)
		if err != nil {
			return nil, fmt.Errorf("find the folder with configs: %w", err)
		}
		p.guard.Roots = []string{real}
	}
	return p, nil
}

// Do implements server.Program.
func (p *servedProgram) Do(ctx context.Context, words ...string) ([]byte, error) {
	signals, end := softStop(ctx)
	defer end()
	out, err := p.app.carryOut(context.WithoutCancel(ctx), sub{guard: &p.guard, signals: signals}, append([]string{"--json"}, words...)...)
	if key := (*wiring.MissingKeyError)(nil); errors.As(err, &key) {
		err = usagef("models.%s: the variable %s, which should hold the key, is not set where skillopt serve was started; end it, export %s and start it again, or name a .env file next to the config that has it: skillopt serve --trust NAME/.env", key.Role, key.Var, key.Var)
	}
	if exitCode(err) == exitInput {
		page := &pageError{usageError{err.Error()}, toProblems(err)}
		for i := range page.problems {
			page.problems[i].File = relativeTo(p.guard.Roots[0], page.problems[i].File)
		}
		err = page
	}
	return out, err
}

// nightsProgram carries out sleep commands of a profile for pages.
type nightsProgram struct {
	servedProgram
	profile string
}

// nights returns what carries out sleep commands for pages, and the sleep.dir: of --profile, or of the user's own profile
// if a folder of its sleep.dir is served. nil: there is none.
func (o *serveOptions) nights(a *app, folders []string) (server.Program, string, error) {
	setup, err := a.sleepSetup(sleepFlags{profile: o.profile})
	if o.profile != "" && err != nil {
		return nil, "", err
	}
	served := slices.ContainsFunc(folders, func(dir string) bool {
		rel, err := filepath.Rel(setup.dir, dir)
		return err == nil && filepath.IsLocal(rel)
	})
	if err != nil || o.profile == "" && !(setup.found && served) {
		return nil, "", nil // runs are served without nights too
	}
	return &nightsProgram{servedProgram{app: a, guard: config.Guard{Roots: []string{setup.dir}}}, setup.profile}, setup.dir, nil
}

// Do implements server.Program for words that begin with sleep.
func (p *nightsProgram) Do(ctx context.Context, words ...string) ([]byte, error) {
	return p.servedProgram.Do(ctx, slices.Insert(slices.Clone(words), 1, "--profile="+p.profile)...)
}

// pageError is what a command refuses, taken apart.
type pageError struct {
	usageError

	problems []result.Problem
}

// Problems returns each thing that is wrong.
func (e *pageError) Problems() []result.Problem { return e.problems }

// certificate returns the certificate of TLS, nil if there is none.
func (o *serveOptions) certificate(a *app) (*tls.Certificate, error) {
	if (o.cert == "") != (o.key == "") {
		return nil, usagef("--tls-cert and --tls-key go together: give both")
	}
	if o.cert == "" {
		return nil, nil
	}
	c, err := tls.LoadX509KeyPair(a.absolute(o.cert), a.absolute(o.key))
	if err != nil {
		return nil, usagef("--tls-cert %s, --tls-key %s: %v", o.cert, o.key, err)
	}
	return &c, nil
}

func isLoopback(at net.Addr) bool {
	tcp, ok := at.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// sessionKey returns the key that signs sessions. A key that cannot be kept is as good, until the
// server ends.
func sessionKey(a *app) []byte {
	folders, err := config.UserFolders()
	if err == nil {
		var key []byte
		if key, err = door.Key(folders.ServeKey()); err == nil {
			return key
		}
	}
	fmt.Fprintln(a.Err, "warning: "+printable(err.Error())+"; pages that are open have to be opened again when the server is started again")
	return []byte(door.NewSecret())
}

// serveStart is the line of --json.
type serveStart struct {
	Event    string   `json:"event"`
	URL      string   `json:"url"`
	Link     string   `json:"link"` // with the token
	Token    string   `json:"token"`
	Folders  []string `json:"folders"`
	ReadOnly bool     `json:"read_only"`
}

// print says where the page is.
func (s *serving) print(a *app) error {
	if a.json {
		return printLine(a.Out, serveStart{Event: "listening", URL: s.origin, Link: s.link(), Token: s.token, Folders: s.folders, ReadOnly: s.readOnly})
	}
	out := a.printer(a.Out)
	for _, dir := range s.folders {
		out.line(foldersText(out, dir))
	}
	fmt.Fprintf(out, "\n  %s\n\n", s.link())
	_, err := fmt.Fprintln(out, "open the link in a browser; Ctrl-C ends the server, and runs continue")
	return err
}

// foldersText says what a folder holds.
func foldersText(out printer, dir string) string {
	shown, f := oneLine(out.path(dir)), record.InspectFolder(dir)
	switch {
	case f.Run != "":
		return "showing the run " + shown
	case f.Night != "":
		return "showing the night " + shown
	}
	list, err := record.List(f.Runs)
	nights, problem := f.Nights()
	switch {
	case cmp.Or(err, problem) != nil:
		return fmt.Sprintf("%s cannot be read: %v", shown, cmp.Or(err, problem))
	case len(list) == 0 && len(nights) == 0:
		return "no runs in " + shown + " yet; they are shown as they begin"
	}
	var parts []string
	if len(list) > 0 {
		parts = append(parts, wording.Plural(len(list), "run", "runs"))
	}
	if len(nights) > 0 {
		parts = append(parts, wording.Plural(len(nights), "night", "nights"))
	}
	return fmt.Sprintf("showing %s in %s", strings.Join(parts, " and "), shown)
}
