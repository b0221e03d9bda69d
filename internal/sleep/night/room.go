package night

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/answers"
	"github.com/seed-f4525e22/skillopt/internal/record"
	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/internal/sleep/target"
	"github.com/seed-f4525e22/skillopt/internal/testset"
)

// Room is what nights keep below sleep.dir: what they have staged, their runs, and the user's key. It goes before the
// room of the bank, which knows whose they are.
type Room struct {
	Bank *bank.Bank // nil where it only resets
	Dir  string
}

// Entries implements bank.Room.
func (Room) Entries() []string { return []string{RunsDir, StagingDir, keyFile} }

// Forget implements bank.Room. Of a project all goes. A session may be in each run since it was read, and in what
// was staged since: of its project all of that goes, and what is known of the nights, but for their names and times.
func (r Room) Forget(ctx context.Context, s bank.Subject, _ bool, _ time.Time) (gone bank.Deleted, err error) {
	projects, err := r.projects(ctx, s)
	if err != nil {
		return gone, err
	}
	for _, project := range projects {
		known, err := r.readNights(ctx, project)
		if err != nil {
			return gone, err
		}
		n, err := r.clear(project)
		gone.Files += n
		if err != nil {
			return gone, err
		}
		// Names of runs hold those of skills. What was read was read.
		if err := testset.Forget(ctx, filepath.Join(r.Dir, RunsDir), func(run string) bool { return strings.HasPrefix(run, record.NightRuns(project)) }); err != nil {
			return gone, err
		}
		if s.Project != nil {
			continue // the bank deletes its nights
		}
		if err := r.blank(ctx, known); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// projects returns the projects of nights that a subject is in.
func (r Room) projects(ctx context.Context, s bank.Subject) ([]string, error) {
	nights, err := r.Bank.Nights(ctx, "")
	if err != nil {
		return nil, err
	}
	var all []string
	for _, n := range nights {
		if !slices.Contains(all, n.Project) {
			all = append(all, n.Project)
		}
	}
	if s.Project != nil {
		// A night of a folder above may have had sessions of it.
		return slices.DeleteFunc(all, func(p string) bool {
			return !s.Project(p) && !slices.ContainsFunc(s.Folders, func(dir string) bool { return isWithin(p, dir) })
		}), nil
	}
	names, err := r.Bank.Names(ctx, s.Session)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(all, func(p string) bool {
		return !slices.ContainsFunc(names, func(n bank.Name) bool {
			return n.Source == s.Source && n.Session == s.Session && isWithin(p, n.Project)
		})
	}), nil
}

// clear deletes what the nights of a project have staged, and their runs.
func (r Room) clear(project string) (n int, err error) {
	digest := target.Digest(project)
	doomed := []string{filepath.Join(r.Dir, StagingDir, digest[:16])}
	runs := filepath.Join(r.Dir, RunsDir)
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("list the runs of nights: %w", err)
	}
	for _, e := range entries {
		// The index of answers holds the names of runs, and is made again from those that are left. The ledger of
		// test sets stays.
		if name := e.Name(); strings.HasPrefix(name, record.NightRuns(project)) || strings.HasPrefix(name, answers.File) {
			doomed = append(doomed, filepath.Join(runs, name))
		}
	}
	for _, path := range doomed {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return n, fmt.Errorf("delete what nights keep: %w", err)
		}
		n++
	}
	return n, nil
}

// readNights returns the nights of a project, with what they have spent: their runs say it as long as they are there.
func (r Room) readNights(ctx context.Context, project string) ([]*Report, error) {
	rows, err := r.Bank.Nights(ctx, project)
	if err != nil {
		return nil, err
	}
	out := make([]*Report, len(rows))
	for i, row := range rows {
		if out[i], err = ReadNight(ctx, r.Dir, row); out[i] == nil {
			return nil, err // of runs that cannot be counted any more it is known what they had spent when it was written down last
		}
	}
	return out, nil
}

// forgotten is the name that represents the runs of a night that were forgotten.
const forgotten = "forgotten"

// blank takes out of nights all that they say but for their names, times and what they have spent.
func (r Room) blank(ctx context.Context, nights []*Report) error {
	for _, old := range nights {
		data, err := json.Marshal(Report{
			Format: Format, ID: old.ID, Project: old.Project, Version: old.Version, Started: old.Started, Ended: old.Ended, Since: old.Since, Spent: old.Spent, ByRun: map[string]Spent{forgotten: old.Spent},
			Targets: []Target{}, Skipped: []Skipped{}, Adopted: []Adopted{}, Mined: Mined{Runs: []string{}}, Notes: []string{"its result was forgotten with a session"},
		})
		if err != nil {
			return fmt.Errorf("write night %s: %w", old.ID, err)
		}
		if err := r.Bank.PutNight(ctx, bank.Night{ID: old.ID, Project: old.Project, Started: old.Started, Ended: old.Ended, Data: data}); err != nil {
			return err
		}
	}
	return nil
}

// Reset implements bank.Room: the key goes too.
func (r Room) Reset(context.Context) error {
	var err error
	for _, name := range r.Entries() {
		err = errors.Join(err, os.RemoveAll(filepath.Join(r.Dir, name)))
	}
	if err != nil {
		return fmt.Errorf("delete what nights keep: %w", err)
	}
	return nil
}
