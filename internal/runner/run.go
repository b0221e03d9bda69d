package runner

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

// testLimit bounds a single test, where the runner has such a bound.
const testLimit = time.Minute

// plan is how the tests of a job are run.
type plan struct {
	argv   []string
	env    []string
	files  map[string]string              // written to the folder of the report before
	each   func(line []byte)              // of standard output; nil: nothing is read from it
	output *tail                          // what was printed, if that is not standard output itself
	read   func(report []byte, r *Report) // reads what is in the report's file, nil if there is none
	to     string                         // the report's file, as the program sees it
}

// Run runs tests, confined and without network. An error is one of infrastructure: how the tests ended is in the report.
func (s Suite) Run(ctx context.Context, j Job) (Report, error) {
	j.Timeout = cmp.Or(j.Timeout, DefaultTimeout)
	if j.Base != "" {
		if err := s.Lay(ctx, j.Base, j.Dir, j.Home); err != nil {
			return Report{}, fmt.Errorf("lay what tests need: %w", err)
		}
	}
	if j.Warm {
		return Report{}, s.warm(ctx, j)
	}
	c, err := newCell(s, j.Dir, j.Home)
	if err != nil {
		return Report{}, fmt.Errorf("run tests: %w", err)
	}
	defer c.close()
	p, err := s.plan(j, c)
	if err != nil {
		return Report{}, err
	}
	r, err := c.tests(ctx, p, j.Timeout)
	if err != nil {
		return Report{}, fmt.Errorf("run tests: %w", err)
	}
	return r, nil
}

func (s Suite) plan(j Job, c *cell) (plan, error) {
	switch s.Kind {
	case Go:
		return goPlan(j), nil
	case Pytest:
		return pytestPlan(j, c), nil
	case Node:
		return nodePlan(j, c), nil
	case Vitest:
		return vitestPlan(j, c), nil
	case Jest:
		return jestPlan(j, c), nil
	case Mocha:
		return mochaPlan(j, c), nil
	case Cargo:
		return s.cargoPlan(j), nil
	case Command:
		return s.commandPlan(c), nil
	}
	return plan{}, fmt.Errorf("run tests: the runner %q is not known", s.Kind)
}

// cell is where a program runs confined: a workspace, a home folder, and in that a folder for reports with a drawn name.
type cell struct {
	suite   Suite
	dir     string // the workspace
	home    string
	reports string
	show    sandbox.Places
	network bool
	read    []string // besides those of the suite
}

func newCell(s Suite, dir, home string) (*cell, error) {
	c := &cell{suite: s, dir: dir, home: home, reports: filepath.Join(home, "."+rand.Text())}
	if sandbox.Probe().Isolated {
		at, own := sandbox.Vacant("/workspace", "/project", "/checkout"), sandbox.Vacant("/agent", "/user", "/account")
		if at != "" && own != "" {
			c.show = sandbox.Places{{Dir: dir, As: at}, {Dir: home, As: own}}
		}
	}
	for _, dir := range []string{filepath.Join(home, "tmp"), c.reports} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// close removes the reports. What cannot be removed goes with the home folder.
func (c *cell) close() { _ = disk.RemoveAll(c.reports) }

// report returns a new path of a report, as the program sees it.
func (c *cell) report(ext string) string {
	return c.show.Seen(filepath.Join(c.reports, rand.Text()+ext))
}

// real returns where a path in the home folder is that the program sees.
func (c *cell) real(seen string) string { return filepath.Join(c.reports, filepath.Base(seen)) }

func (c *cell) environ() []string {
	home := c.show.Seen(c.home)
	return c.suite.Environ([]string{
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8", "TZ=UTC", "CI=1", "NO_COLOR=1",
	})
}

// run runs a program in the cell.
func (c *cell) run(ctx context.Context, argv, env []string, out *lines, timeout time.Duration) (sandbox.Result, error) {
	return sandbox.Run(ctx, sandbox.Spec{
		Argv: argv, Dir: filepath.Join(c.dir, filepath.FromSlash(c.suite.Folder)), Env: append(c.environ(), env...),
		Stdout: out, MaxOutput: mostReport, Timeout: timeout,
		Confine: &sandbox.Confine{
			Write: []string{c.dir, c.home}, Read: append(c.read, c.suite.Read...), Show: c.show, Network: c.network, Loopback: !c.network,
		},
	})
}

func (c *cell) tests(ctx context.Context, p plan, timeout time.Duration) (Report, error) {
	for name, text := range p.files {
		if err := os.WriteFile(filepath.Join(c.reports, name), []byte(text), 0o600); err != nil {
			return Report{}, err
		}
	}
	out := &lines{each: func([]byte) {}}
	if p.each != nil {
		out.each = p.each
	}
	ended, err := c.run(ctx, p.argv, p.env, out, timeout)
	if err != nil {
		return Report{}, err
	}
	if ended.Reason == sandbox.Cancelled || ended.Reason == sandbox.Starved {
		return Report{}, cmp.Or(ctx.Err(), errors.New("the machine has too little: "+ended.Detail))
	}
	out.flush()
	printed := cmp.Or(p.output, &out.tail)
	r := Report{Tests: map[string]Test{}, Output: strings.TrimSpace(printed.String() + "\n" + ended.Stderr), CPU: ended.CPU, Peak: ended.Peak, Ended: ended.Reason}
	var report []byte
	if p.to != "" {
		if report, err = disk.Read(ctx, c.real(p.to), mostReport); err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.Output += "\n" + err.Error() // it is of the tests, and bad for them
		}
	}
	p.read(report, &r)
	if r.Unbuilt == "" && len(r.Tests) == 0 && (ended.Code != 0 || ended.Reason != sandbox.Exited) {
		r.Unbuilt = r.Output
	}
	r.judge()
	return r, nil
}

// Messages of programs that wanted what is not there.
var (
	wantsNetwork = pattern.New(`(?i)ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|network is unreachable|no such host|name resolution|name or service not known|` +
		`dial (tcp|udp)[^\n]*(refused|denied|not permitted|lookup)|ECONNREFUSED|connection refused|ConnectionRefusedError|proxy\.golang\.org|socket: address family not supported|EAFNOSUPPORT|Address family not supported`)
	wantsPort = pattern.New(`(?i)listen (EACCES|EPERM)|listen (tcp|udp|unix)[^\n]*(denied|not permitted|not supported)|bind: permission denied|bind[^\n]*PermissionError|PermissionError[^\n]*bind`)
	lacks     = pattern.New(`no required module provides package|module lookup disabled by GOPROXY=off|cannot find module providing|missing go\.sum entry|cannot find package "|` +
		`requires go >= |ModuleNotFoundError: No module named|ERR_MODULE_NOT_FOUND|Cannot find (module|package) '[^.'/]|Failed to resolve import "[^."/]|Failed to load url [^./ ]|` +
		`no matching package named|failed to (download|get) |unable to update registry|can't find crate for|unresolved import|attempting to make an HTTP request, but --offline`)
)

// NeedsNetwork reports whether a message is one of a program that wanted to connect elsewhere.
func NeedsNetwork(message string) bool { return wantsNetwork.MatchString(message) }

// NeedsPort reports whether a message is one of a program that wanted to listen on a port and could not.
func NeedsPort(message string) bool { return wantsPort.MatchString(message) }

// judge reads the messages for what was not there.
func (r *Report) judge() {
	texts := []string{r.Output, r.Unbuilt}
	for _, t := range r.Tests {
		if t.Status == Failed {
			texts = append(texts, t.Message)
		}
	}
	all := strings.Join(texts, "\n")
	r.Network, r.Listens = NeedsNetwork(all), NeedsPort(all)
	r.Lacking = lacks.MatchString(r.Unbuilt)
}

// junitPlan reads a report in JUnit XML.
func junitPlan(argv []string, to string, name func(unit) string) plan {
	return plan{argv: argv, to: to, read: func(report []byte, r *Report) {
		tests, err := parseJUnit(bytes.NewReader(report), name)
		r.Tests = tests
		if err != nil {
			r.Output += "\n" + err.Error()
		}
	}}
}

// commandPlan runs the command of the suite.
func (s Suite) commandPlan(c *cell) plan {
	p := junitPlan(s.Command, c.report(".xml"), func(u unit) string { return joined(u.Class, u.Name) })
	p.env = []string{"REPORT=" + p.to}
	return p
}

// joined joins what is not empty.
func joined(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, " > ")
}
