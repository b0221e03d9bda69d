// Package agenttest keeps what the tests of real coding agents found, so that a page
// can say how each of them fares, and finds processes that an agent has left.
//
// It knows nothing about agents or about what is tested.
package agenttest

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// FileVar is the variable that names the file to which tests append what they found;
// without it they keep nothing. DirVar names the folder into which real agents were
// installed by npm.
const (
	FileVar = "SKILLOPT_AGENTS_RESULTS"
	DirVar  = "SKILLOPT_AGENTS_DIR"
)

// Result is how one agent fared in one thing.
type Result struct {
	Agent     string `json:"agent"`
	Version   string `json:"version"`
	Behaviour string `json:"behaviour"`
	OK        bool   `json:"ok"`
	Note      string `json:"note,omitempty"` // why not, or how
}

// The behaviours, in the order in which pages show them.
const (
	Tool     = "tool round trip"
	Parallel = "parallel calls, thinking"
	Auth     = "401"
	Retries  = "429, then 500"
	CutShort = "cut stream"
	Hang     = "hang"
	Overflow = "overflow"
	Skill    = "skill loaded natively"
	Folder   = "reference read, script run"
	Usage    = "usage equal"
	Trained  = "training goes up"
	Killed   = "kill and resume"
)

// Behaviours returns all of them.
func Behaviours() []string {
	return []string{Tool, Parallel, Auth, Retries, CutShort, Hang, Overflow, Skill, Folder, Usage, Trained, Killed}
}

// Append adds a result to a file; "" keeps nothing.
func Append(file string, r Result) error {
	if file == "" {
		return nil
	}
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("keep a result: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// Read returns the results of a file, of each agent and behaviour the last one, sorted.
// A file that is not there has none.
func Read(file string) ([]Result, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	last := map[[2]string]Result{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		var r Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("read results: %s: %w", filepath.Base(file), err)
		}
		last[[2]string{r.Agent, r.Behaviour}] = r
	}
	var all []Result
	for _, r := range last {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Result) int {
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), slices.Index(Behaviours(), a.Behaviour)-slices.Index(Behaviours(), b.Behaviour))
	})
	return all, lines.Err()
}

// Leftovers are the command lines of processes whose environment names a folder: where processes
// cannot be listed, none.
func Leftovers(home string) ([]string, error) {
	if runtime.GOOS != "linux" {
		return nil, nil
	}
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, err
	}
	var left []string
	for _, file := range files {
		env, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(env, []byte("="+home)) {
			continue // it is gone, or somebody else's
		}
		line, err := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
		if err == nil && len(line) > 0 {
			left = append(left, string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return left, nil
}
