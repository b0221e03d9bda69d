// Command weight prints what each direct dependency of the module skillopt costs a first
// build of the program: processor time, megabytes in the build cache and packages. What
// several dependencies need counts for none of them and has a line of its own.
//
// It knows how Go builds. It knows nothing of what the dependencies are for.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := flag.String("root", "..", "folder of the module skillopt")
	tags := flag.String("tags", "", "build tags")
	flag.Parse()
	if err := run(ctx, *root, *tags, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "weight:", err)
		os.Exit(1)
	}
}

// pkg is a package of the build.
type pkg struct {
	ImportPath string
	Standard   bool
	Export     string // its compiled file
	Imports    []string
	Module     *struct {
		Path     string
		Main     bool
		Indirect bool
	}

	seconds, megabytes float64
}

// action is a step of a build, as go build -debug-actiongraph writes it.
type action struct {
	Mode, Package   string
	CmdUser, CmdSys int64 // nanoseconds
}

// run builds the program with an empty cache and prints the table.
func run(ctx context.Context, root, tags string, to io.Writer) error {
	cache, err := os.MkdirTemp("", "skillopt-weight-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(cache) }() // what stays is in the system's folder for such files
	graph := filepath.Join(cache, "graph.json")
	if _, err := output(ctx, root, cache, "build", "-tags", tags, "-o", os.DevNull, "-debug-actiongraph", graph, "./cmd/skillopt"); err != nil {
		return err
	}
	listed, err := output(ctx, root, cache, "list", "-tags", tags, "-export", "-deps", "-json=ImportPath,Standard,Export,Imports,Module", "./cmd/skillopt")
	if err != nil {
		return err
	}
	all, err := packages(listed)
	if err != nil {
		return err
	}
	if err := weigh(all, graph); err != nil {
		return err
	}
	return write(to, rows(all))
}

// output runs the go command in the module.
func output(ctx context.Context, root, cache string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir = root
	c.Env = append(os.Environ(), "GOCACHE="+cache, "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, errs.Bytes())
	}
	return out, nil
}

// packages reads what go list prints.
func packages(listed []byte) (map[string]*pkg, error) {
	all := map[string]*pkg{}
	for d := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("read go list: %w", err)
		}
		all[p.ImportPath] = &p
	}
}

// weigh gives the packages the time and the size of their compiled files.
func weigh(all map[string]*pkg, graph string) error {
	data, err := os.ReadFile(graph)
	if err != nil {
		return err
	}
	var actions []action
	if err := json.Unmarshal(data, &actions); err != nil {
		return fmt.Errorf("read action graph: %w", err)
	}
	for _, a := range actions {
		if p := all[a.Package]; p != nil && a.Mode == "build" {
			p.seconds += float64(a.CmdUser+a.CmdSys) / 1e9
		}
	}
	for _, p := range all {
		if info, err := os.Stat(p.Export); err == nil {
			p.megabytes = float64(info.Size()) / 1e6
		}
	}
	return nil
}

// row is a line of the table.
type row struct {
	name               string
	seconds, megabytes float64
	packages           int
}

// rows returns what each direct dependency costs by itself, the heaviest first, and after
// that what is shared, the standard library and our own code.
func rows(all map[string]*pkg) []row {
	owners := map[string]map[string]bool{} // direct dependencies that need a package
	for _, p := range all {
		if p.Module == nil || !p.Module.Main {
			continue
		}
		for _, path := range p.Imports {
			if q := all[path]; q != nil && q.Module != nil && !q.Module.Main {
				mark(all, owners, q, q.Module.Path)
			}
		}
	}
	sums := map[string]*row{}
	for path, p := range all {
		name := "(shared by several)"
		switch {
		case p.Standard:
			name = "(standard library)"
		case p.Module != nil && p.Module.Main:
			name = "(our own)"
		case len(owners[path]) == 1:
			for name = range owners[path] {
			}
		}
		if sums[name] == nil {
			sums[name] = &row{name: name}
		}
		sums[name].seconds += p.seconds
		sums[name].megabytes += p.megabytes
		sums[name].packages++
	}
	var out []row
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out = append(out, *sums[name])
	}
	slices.SortStableFunc(out, func(a, b row) int { return cmp.Compare(b.seconds, a.seconds) })
	return out
}

// mark notes that a dependency needs a package and all below it.
func mark(all map[string]*pkg, owners map[string]map[string]bool, p *pkg, owner string) {
	if p.Standard || owners[p.ImportPath][owner] {
		return
	}
	if owners[p.ImportPath] == nil {
		owners[p.ImportPath] = map[string]bool{}
	}
	owners[p.ImportPath][owner] = true
	for _, path := range p.Imports {
		if q := all[path]; q != nil {
			mark(all, owners, q, owner)
		}
	}
}

// write prints the table as Markdown.
func write(to io.Writer, rows []row) error {
	text := "| module | CPU s | MB | packages |\n|---|---|---|---|\n"
	var sum row
	for _, r := range append(rows, row{}) {
		if r.name == "" {
			r = sum
			r.name = "all"
		}
		text += fmt.Sprintf("| %s | %.1f | %.1f | %d |\n", r.name, r.seconds, r.megabytes, r.packages)
		sum.seconds, sum.megabytes, sum.packages = sum.seconds+r.seconds, sum.megabytes+r.megabytes, sum.packages+r.packages
	}
	_, err := io.WriteString(to, text)
	return err
}
