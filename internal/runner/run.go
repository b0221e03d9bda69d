package runner

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/sandbox"
)

const (
	testLimit = time.Minute // of a single test, where the runner has such a bound
	report    = "report"    // the name of a report, in a folder with a drawn name
)

// plan is how the tests of a job are run.
type plan struct {
	argv, env []string
	scripts   map[string]string              // written next to the report before
	each      func(line []byte)              // of standard output
	printed   *tail                          // what was printed, if that is not standard output itself
	read      func(report []byte, r *Report) // reads the report
}

func (p *plan) script(name, text string) { p.scripts = map[string]string{name: text} }

// Run runs tests, confined and without network. An error is one of infrastructure: how the tests ended is in the report.
func (s Suite) Run(ctx context.Context, j Job) (r Report, err error) {
	j.Timeout = cmp.Or(j.Timeout, defaultTimeout)
	if j.Base != "" {
		if err := s.Lay(ctx, j.Base, j.Dir, j.Home); err != nil {
			return r, fmt.Errorf("lay what tests need: %w", err)
		}
	}
	c, err := newCell(s, j.Dir, j.Home)
	if err != nil {
		return r, fmt.Errorf("run tests: %w", err)
	}
	defer func() { _ = disk.RemoveAll(c.reports) }() // else it goes with the home folder
	if j.Warm {
		err = c.warm(ctx, j)
	} else {
		r, err = c.tests(ctx, s.plan(j, c), j.Timeout)
	}
	if err != nil {
		return Report{}, fmt.Errorf("run tests: %w", err)
	}
	return r, nil
}

func (s Suite) plan(j Job, c *cell) plan {
	switch s.Kind {
	case Go:
		return goPlan(j)
	case Pytest:
		return pytestPlan(j, c)
	case Node:
		return nodePlan(j, c)
	case Vitest:
		return vitestPlan(j, c)
	case Jest:
		return jestPlan(j, c)
	case Mocha:
		return mochaPlan(j, c)
	case Cargo:
		return s.cargoPlan(j)
	}
	p := c.junit(func(u unit) string { return joinParts(u.Class, u.Name) })
	p.argv = s.Command
	return p
}

// cell is where a program runs confined: a workspace, a home folder, and in that a folder for reports with a drawn name.
type cell struct {
	suite              Suite
	dir, home, reports string
	show               sandbox.Places
}

func newCell(s Suite, dir, home string) (*cell, error) {
	c := &cell{suite: s, dir: dir, home: home, reports: filepath.Join(home, "."+rand.Text())}
	at, own := sandbox.Vacant("/workspace", "/project", "/checkout"), sandbox.Vacant("/agent", "/user", "/account")
	if at != "" && own != "" && sandbox.Probe().Isolated {
		c.show = sandbox.Places{{Dir: dir, As: at}, {Dir: home, As: own}}
	}
	return c, errors.Join(os.MkdirAll(filepath.Join(home, "tmp"), 0o700), os.MkdirAll(c.reports, 0o700))
}

// reportPath returns the path of a report or a script, as the program sees it.
func (c *cell) reportPath(name string) string { return c.show.Seen(filepath.Join(c.reports, name)) }

// run runs a program in the cell.
func (c *cell) run(ctx context.Context, argv, env []string, out *lines, timeout time.Duration) (sandbox.Result, error) {
	home := c.show.Seen(c.home)
	base := c.suite.Environ([]string{
		"HOME=" + home, "TMPDIR=" + filepath.Join(home, "tmp"), "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
		"LANG=C.UTF-8", "TZ=UTC", "CI=1", "NO_COLOR=1",
	})
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: argv, Dir: filepath.Join(c.dir, filepath.FromSlash(c.suite.Folder)), Env: append(base, env...), Stdout: out, MaxOutput: mostReport, Timeout: timeout,
		Confine: &sandbox.Confine{Write: []string{c.dir, c.home}, Read: c.suite.Read, Show: c.show, Loopback: true},
	})
	out.flush()
	if err == nil && (r.Reason == sandbox.Cancelled || r.Reason == sandbox.Starved) {
		err = cmp.Or(ctx.Err(), errors.New("the machine has too little: "+r.Detail))
	}
	return r, err
}

// must runs a program that has to succeed, and returns the end of what it prints.
func (c *cell) must(ctx context.Context, timeout time.Duration, argv ...string) (string, error) {
	out := &lines{}
	r, err := c.run(ctx, argv, nil, out, timeout)
	if err == nil && (r.Reason != sandbox.Exited || r.Code != 0) {
		err = fmt.Errorf("it ended with %s, code %d: %s", r.Reason, r.Code, strings.TrimSpace(r.Stderr))
	}
	if err != nil {
		return "", fmt.Errorf("run %s: %w", argv[0], err)
	}
	return out.tail.String(), nil
}

func (c *cell) tests(ctx context.Context, p plan, timeout time.Duration) (r Report, err error) {
	for name, text := range p.scripts {
		if err := os.WriteFile(filepath.Join(c.reports, name), []byte(text), 0o600); err != nil {
			return r, err
		}
	}
	out := &lines{each: p.each}
	ended, err := c.run(ctx, p.argv, p.env, out, timeout)
	if err != nil {
		return r, err
	}
	printed := cmp.Or(p.printed, &out.tail)
	r = Report{Output: strings.TrimSpace(printed.String() + "\n" + ended.Stderr), CPU: ended.CPU, Peak: ended.Peak, Ended: ended.Reason}
	said, err := disk.Read(ctx, filepath.Join(c.reports, report), mostReport)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Output += "\n" + err.Error() // it is of the tests, and bad for them
	}
	p.read(said, &r)
	if r.Unbuilt == "" && len(r.Tests) == 0 && (ended.Code != 0 || ended.Reason != sandbox.Exited) {
		r.Unbuilt = r.Output
	}
	r.Lacking = lacks.MatchString(r.Unbuilt)
	return r, nil
}

// Messages of programs that wanted what is not there.
var (
	wantsNetwork = pattern.New(`(?i)ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|network is unreachable|no such host|name resolution|name or service not known|` +
		`ECONNREFUSED|connection refused|ConnectionRefusedError|EAFNOSUPPORT|address family not supported`)
	wantsPort = pattern.New(`(?i)listen (EACCES|EPERM)|listen (tcp|udp|unix)[^\n]*(denied|not permitted|not supported)|bind: permission denied|bind[^\n]*PermissionError`)
	lacks     = pattern.New(`no required module provides package|module lookup disabled by GOPROXY=off|cannot find module providing|missing go\.sum entry|cannot find package "|` +
		`requires go >= |ModuleNotFoundError: No module named|ERR_MODULE_NOT_FOUND|Cannot find (module|package) '[^.'/]|Failed to resolve import "[^."/]|` +
		`no matching package named|failed to (download|get) |can't find crate for|attempting to make an HTTP request, but --offline`)
)

// NeedsNetwork reports whether a message is one of a program that wanted to connect elsewhere.
func NeedsNetwork(message string) bool { return wantsNetwork.MatchString(message) }

// NeedsPort reports whether a message is one of a program that wanted to listen on a port and could not.
func NeedsPort(message string) bool { return wantsPort.MatchString(message) }

// collection is how a name begins under which a report has a file that could not be read.
const collection = "collection of "

// junit returns a plan that reads a report in JUnit XML. The plan takes what the report says of files that could not be read as what was not built.
func (c *cell) junit(name func(unit) string) plan {
	return plan{env: []string{"REPORT=" + c.reportPath(report)}, read: func(said []byte, r *Report) {
		tests, err := parseJUnit(bytes.NewReader(said), name)
		for _, name := range slices.Sorted(maps.Keys(tests)) {
			if strings.HasPrefix(name, collection) {
				r.Unbuilt += tests[name].Message + "\n"
				delete(tests, name)
			}
		}
		if r.Tests = tests; err != nil && len(said) > 0 {
			r.Output += "\n" + err.Error()
		}
	}}
}

// joinParts joins the parts that are not empty.
func joinParts(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), " > ")
}
