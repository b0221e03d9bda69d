// Command release builds the archives of a release: for each system and processor the
// program with the SDKs of clouds, with licence, readme and changelog, and their checksums.
// The same sources, version and Go give the same bytes, wherever and whenever it runs.
//
// It knows how the program is built and packed. It knows nothing of how it is published.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// systems are what a release is built for.
const systems = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

// version is a tag of a release; it becomes part of file names.
var version = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)

// run builds what the arguments say.
func run(ctx context.Context, args []string) error {
	fs := flag.NewFlagSet("release", flag.ContinueOnError)
	v := fs.String("version", "", "version of the release, such as v1.2.3")
	root := fs.String("root", "..", "folder of the module skillopt")
	to := fs.String("to", "", "folder that the archives are written to; it is made")
	on := fs.String("on", systems, "systems and processors, with commas")
	twice := fs.Bool("twice", false, "build everything twice and fail unless the archives are equal byte by byte")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if !version.MatchString(*v) || *to == "" || fs.NArg() > 0 {
		return fmt.Errorf("usage: release -version v1.2.3 -to FOLDER [-on %s] [-twice]", systems)
	}
	all, err := targets(*v, *on)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(*to, 0o755); err != nil {
		return err
	}
	var sums []sum
	for _, t := range all {
		s, err := t.release(ctx, *root, *to, *twice)
		if err != nil {
			return fmt.Errorf("%s: %w", t.archive(), err)
		}
		fmt.Printf("%s  %d bytes, %d packed\n", t.archive(), s.unpacked, s.packed)
		sums = append(sums, s)
	}
	return os.WriteFile(filepath.Join(*to, "checksums.txt"), checksums(sums), 0o644)
}

// target is one archive of a release.
type target struct {
	version, os, arch string
}

// targets lists the archives, in the order of the arguments.
func targets(version, on string) ([]target, error) {
	var all []target
	for _, system := range strings.Split(on, ",") {
		if !strings.Contains(","+systems+",", ","+system+",") {
			return nil, fmt.Errorf("system %q: allowed: %s", system, systems)
		}
		goos, arch, _ := strings.Cut(system, "/")
		all = append(all, target{version, goos, arch})
	}
	return all, nil
}

// folder is what everything in the archive is below.
func (t target) folder() string {
	return strings.Join([]string{"skillopt", t.version, t.os, t.arch}, "_")
}

func (t target) archive() string {
	if t.os == "windows" {
		return t.folder() + ".zip"
	}
	return t.folder() + ".tar.gz"
}

func (t target) binary() string {
	if t.os == "windows" {
		return "skillopt.exe"
	}
	return "skillopt"
}

// release builds and packs a target, and returns its checksum.
func (t target) release(ctx context.Context, root, to string, twice bool) (sum, error) {
	packed, size, err := t.make(ctx, root)
	if err != nil {
		return sum{}, err
	}
	if twice {
		again, _, err := t.make(ctx, root)
		if err != nil {
			return sum{}, err
		}
		if !bytes.Equal(packed, again) {
			return sum{}, fmt.Errorf("built twice it is not the same: %d and %d bytes", len(packed), len(again))
		}
	}
	path := filepath.Join(to, t.archive())
	return newSum(t.archive(), packed, size), os.WriteFile(path, packed, 0o644)
}

// make builds a target in a folder of its own and returns it packed, with the size of
// the program.
func (t target) make(ctx context.Context, root string) (packed []byte, size int, err error) {
	dir, err := os.MkdirTemp("", "skillopt-release-")
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // what is left of it is in the folder for temporary files
	program, err := t.build(ctx, root, filepath.Join(dir, t.binary()))
	if err != nil {
		return nil, 0, err
	}
	files := []file{{name: t.binary(), data: program, program: true}}
	for _, name := range []string{"CHANGELOG.md", "LICENSE", "README.md"} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, 0, err
		}
		files = append(files, file{name: name, data: data})
	}
	packed, err = t.pack(files)
	return packed, len(program), err
}
