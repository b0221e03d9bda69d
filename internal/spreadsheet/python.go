package spreadsheet

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/sandbox"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// Interpreter is a Python that has what programs need.
type Interpreter struct {
	Path string // absolute
	// The versions of Python, openpyxl and pandas.
	Python, Openpyxl, Pandas string
	// Read are the folders and files that it needs to read, absolute.
	Read []string
}

// Version returns what results depend on.
func (i Interpreter) Version() string {
	return fmt.Sprintf("python %s, openpyxl %s, pandas %s", i.Python, i.Openpyxl, i.Pandas)
}

// A PythonError says that no interpreter has openpyxl and pandas, which were tried, and what helps.
type PythonError struct {
	Tried []string // each with what is wrong with it
}

func (e *PythonError) Error() string {
	return fmt.Sprintf("world spreadsheet runs programs in Python, with openpyxl and pandas; tried %s\n  python3 -m pip install openpyxl pandas    then run again\nor name an interpreter that has them: env.python", strings.Join(e.Tried, "; "))
}

// FindPython returns the interpreter that is configured, else the first python3 in PATH, else that of the
// system, that imports openpyxl and pandas; else a *PythonError. lookup reads a variable of the environment.
func FindPython(ctx context.Context, configured string, lookup func(string) (string, bool)) (Interpreter, error) {
	search, _ := lookup("PATH")
	names := []string{"python3", "/usr/bin/python3"}
	if configured != "" {
		names = []string{configured}
	}
	var failed PythonError
	tried := map[string]bool{}
	for _, name := range names {
		path, err := findProgram(name, search)
		if err == nil && tried[path] {
			continue
		}
		var found Interpreter
		if err == nil {
			tried[path] = true
			if found, err = examine(ctx, path); err == nil {
				return found, nil
			}
		}
		if ctx.Err() != nil {
			return Interpreter{}, fmt.Errorf("look for Python: %w", context.Cause(ctx))
		}
		failed.Tried = append(failed.Tried, fmt.Sprintf("%s (%v)", name, err))
	}
	return Interpreter{}, &failed
}

// findProgram returns the absolute path of a program: a bare name is looked up in the folders of search.
func findProgram(name, search string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) {
		path, err := filepath.Abs(name)
		if err == nil {
			path, err = exec.LookPath(path)
		}
		return path, err
	}
	for _, dir := range filepath.SplitList(search) {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(path) {
			return path, nil
		}
	}
	return "", errors.New("not in the folders of PATH")
}

// about prints what there is to know of an interpreter.
//
//go:embed about.py
var about string

// examine asks an interpreter what it has. It runs isolated: nothing of the folder that it starts in is
// loaded.
func examine(ctx context.Context, path string) (Interpreter, error) {
	var out bytes.Buffer
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: []string{path, "-I", "-c", about}, Dir: os.TempDir(), Env: []string{"PATH=/usr/bin:/bin", "LANG=C.UTF-8"}, Stdout: &out, MaxOutput: maxPrinted, Timeout: time.Minute,
	})
	switch {
	case err != nil:
		return Interpreter{}, err
	case r.Reason != sandbox.Exited:
		return Interpreter{}, fmt.Errorf("it was ended: %s", r.Reason)
	case r.Code != 0:
		return Interpreter{}, errors.New(lastLine(r.Stderr))
	}
	found := Interpreter{Path: path}
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		return Interpreter{}, fmt.Errorf("it says %q", wording.Cut(out.String(), 200))
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		found.Read = append(found.Read, target)
	}
	found.Read = slices.DeleteFunc(found.Read, func(p string) bool { return !filepath.IsAbs(p) })
	slices.Sort(found.Read)
	found.Read = slices.Compact(found.Read)
	return found, nil
}
