package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/remember"
	"github.com/seed-f4525e22/skillopt/task"
)

// maxProgram is the size of the largest file of a command, in bytes.
const maxProgram = 1 << 30

// Identity returns what the run is: values of keys, and digests of what files hold.
func (s *Inputs) Identity() (map[string]string, error) {
	id := s.Config.Fingerprint(s.Contents, s.Loaded.Redactor())
	for k, v := range s.Names {
		id["library."+k] = v
	}
	maps.Copy(id, FileEntries("skill", s.Skill))
	if !remember.Empty(s.Remembered) {
		sum, err := remember.Digest(s.Remembered)
		if err != nil {
			return nil, err
		}
		id[memoryKey] = strconv.Quote(sum)
	}
	if len(s.Config.Env.Command) > 0 {
		sum, err := digestFiles(s.Loaded.Dir, s.Config.Env.Command)
		if err != nil {
			return nil, fmt.Errorf("read env.command: %w", err)
		}
		id["env.command files"] = sum
	}
	if s.schema != "" { // no part of an outcome's context: a replay asks no server
		id["schema of env.url"] = s.schema
	}
	if sum := s.Contents[toolsEntry]; sum != "" {
		id[toolsEntry] = sum
	}
	if files := s.Commands().Scripts(); len(files) > 0 {
		sum, err := digestFiles(s.Loaded.Dir, files)
		if err != nil {
			return nil, fmt.Errorf("read what tasks.checks run: %w", err)
		}
		id["tasks.checks files"] = sum
	}
	return id, nil
}

// OutcomeContext sums up what an outcome of an environment depends on apart from
// the task, the skill and the model: a record made under another one is no
// answer, also where a fork or a cache might offer it. more are further keys.
func (s *Inputs) OutcomeContext(more ...string) ([]byte, error) {
	id, err := s.Identity()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	parts := append([]string{"agent.", "env.", "extras", "library.", "tasks.checks", "tasks.extract", "tasks.threshold"}, more...)
	for _, key := range []string{TriggersKey, TrainTriggersKey, ContinuesKey} { // what else is asked is no part of an outcome
		delete(id, "library."+key)
	}
	for _, key := range slices.Sorted(maps.Keys(id)) {
		for _, part := range parts {
			if strings.HasPrefix(key, part) {
				fmt.Fprintf(h, "%q=%q\n", key, id[key])
			}
		}
	}
	return h.Sum(nil), nil
}

// digestFiles sums up the files that a command names, so that a changed script
// is another environment, or another check.
func digestFiles(dir string, argv []string) (string, error) {
	h := sha256.New()
	for _, arg := range argv {
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		data, err := disk.Read(context.Background(), path, maxProgram)
		switch {
		case err == nil:
			fmt.Fprintf(h, "%q %d\n", arg, len(data))
			h.Write(data)
		case !isAbsent(err):
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}

// isAbsent reports whether err says that there is no file to read: a word of a
// command need not be one.
func isAbsent(err error) bool {
	pe, ok := err.(*fs.PathError)
	return ok && !os.IsPermission(pe) || errors.Is(err, disk.ErrNotFile)
}

// Digest returns the beginning of the SHA-256 sum of data, in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:16]
}

// RunName names runs of this configuration.
func (s *Inputs) RunName() string {
	name := s.Config.Run.Name
	if name == "" && s.Loaded.File != "" {
		name = strings.TrimSuffix(filepath.Base(s.Loaded.File), filepath.Ext(s.Loaded.File))
		if name == "config" {
			name = filepath.Base(filepath.Dir(s.Loaded.File))
		}
	}
	if name == "" || slices.Contains([]string{".", "/", `\`}, name) {
		return "run"
	}
	return name
}

// unreviewedKey is among the settings of a session in the manifest of a run.
const unreviewedKey = "tasks.unreviewed"

// Settings returns what may change between the sessions of a run: the operational keys, and how
// many tasks are unreviewed drafts.
func (s *Inputs) Settings() map[string]string {
	out := maps.Clone(s.Config.Settings(s.Loaded.Redactor()))
	maps.Copy(out, s.Versions)
	if n := s.UnreviewedInTraining(); n > 0 {
		out[unreviewedKey] = strconv.Itoa(n)
	}
	return out
}

// UnreviewedInTraining counts the drafts among the tasks, and among the trigger tasks that
// guard the description along with them.
func (s *Inputs) UnreviewedInTraining() int {
	n := s.Set.Unreviewed()
	for _, tasks := range s.Data.Triggers {
		for _, t := range tasks {
			if t.Unreviewed {
				n++
			}
		}
	}
	return n
}

// CountDrafts counts the drafts in splits.
func (s *Inputs) CountDrafts(splits []task.Split) int { return Drafts(s.Set, splits) }

// Drafts counts the tasks in splits of a set that no one has accepted.
func Drafts(set task.Set, splits []task.Split) int {
	n := 0
	for _, split := range splits {
		for _, t := range set.Split(split) {
			if t.Unreviewed {
				n++
			}
		}
	}
	return n
}
