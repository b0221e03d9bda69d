package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/ask"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/remember"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// earlier returns what the run takes from earlier ones, as the flags have it: the one that it
// continues from, and those whose edits the optimizer is shown.
func (o *trainOptions) earlier(a *app) ([]skillopt.Option, error) {
	goesOn, err := o.parseContinue(a)
	if err != nil || len(o.memory) == 0 {
		return goesOn, err
	}
	var runs []ask.RunName
	for _, path := range o.memory {
		runs = append(runs, ask.RunName{Dir: a.absolute(path), Path: path})
	}
	m, err := ask.Memory(runs)
	if err != nil {
		return nil, fmt.Errorf("--memory: %w", err)
	}
	for _, text := range m.Unread {
		fmt.Fprintf(a.Err, "warning: %s\n", oneLine(text))
	}
	if m.Left > 0 {
		fmt.Fprintf(a.Err, "the oldest %s left out: a memory has at most %d of them, and 1 MB\n", wording.Plural(m.Left, "entry is", "entries are"), remember.MaxRejected)
	}
	if remember.Empty(m.Memory) {
		fmt.Fprintln(a.Err, "--memory: nothing was rejected there, and no meta skill was written")
	}
	return append(goesOn, skillopt.WithMemory(m.Memory)), nil
}

// parseContinue returns how a run continues from a finished one.
func (o *trainOptions) parseContinue(a *app) ([]skillopt.Option, error) {
	switch {
	case o.from == "" && o.epochs == "":
		return nil, nil
	case o.from == "":
		return nil, usagef("--epochs goes with --continue RUN; how long a new run trains says --set train.epochs=N")
	case o.epochs == "":
		return nil, usagef("--continue %s needs --epochs: +3 trains three more epochs, 8 up to eight in all", o.from)
	case o.fork != "":
		return nil, usagef("--continue begins a new run already: give --run NEW to name its directory, and no --fork")
	case o.replay != "", o.finish:
		return nil, usagef("--continue asks models: give neither --replay nor --finish with it")
	}
	n, err := strconv.Atoi(strings.TrimPrefix(o.epochs, "+"))
	if err != nil || n < 1 {
		return nil, usagef("--epochs: found %q, allowed are +N and N, with N from 1 up", o.epochs)
	}
	return []skillopt.Option{skillopt.WithContinue(a.absolute(o.from), n, strings.HasPrefix(o.epochs, "+"))}, nil
}

// runNumber is what the directory of a run ends with.
var runNumber = pattern.New(`-\d+$`)

// configOfRun names the configuration of the run that is continued, and has the new run
// kept next to it, under its name.
func (o *trainOptions) configOfRun(a *app) ([]string, error) {
	path := filepath.Join(o.from, run.ConfigFile)
	if _, err := os.Stat(a.absolute(path)); err != nil {
		return nil, usagef("--continue %s: no run is there, it has no %s (%v); `skillopt runs list` shows runs", o.from, run.ConfigFile, stripPath(err))
	}
	full := a.absolute(o.from)
	o.beside = []config.Setting{{Key: "run.dir", Value: filepath.Dir(full), Origin: "--continue"}}
	if name := runNumber.ReplaceAllString(filepath.Base(full), ""); name != "" {
		o.beside = append(o.beside, config.Setting{Key: "run.name", Value: name, Origin: "--continue"})
	}
	return []string{path}, nil
}
