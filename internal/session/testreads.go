package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/event"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/internal/testset"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
)

// TestReads reports and notes who reads test sets.
type TestReads struct {
	in   *Inputs
	run  *run.Run
	sets [][]task.Task
	warn func(text string)
}

// TestReads returns nil for a run that notes nothing: a replay, which shows what another run
// has shown, and one without test tasks.
func (s *Session) TestReads(sets ...[]task.Task) *TestReads {
	if s.Replay != nil || len(slices.Concat(sets...)) == 0 {
		return nil
	}
	return &TestReads{in: s.Inputs, run: s.Run, sets: sets, warn: func(text string) { s.Emit(event.Warning{Text: text}) }}
}

// readBefore is the key of what was known of earlier readings.
const readBefore = "test/before"

// ReadTest notes that the test split is read, if it is among splits, with all that is shown next to
// it. It returns who had read it before, nil if it is not read or nothing is noted. The run records
// the result: a command that continues says the same. ReadTest is for commands that show scores of
// splits and train nothing.
func (s *Session) ReadTest(ctx context.Context, splits []task.Split) (*result.TestReads, error) {
	if !slices.Contains(splits, task.Test) {
		return nil, nil
	}
	var sets [][]task.Task
	for i, split := range splits {
		if !slices.Contains(splits[:i], split) {
			sets = append(sets, s.Set.Split(split))
		}
	}
	x := s.TestReads(sets...)
	if _, known := s.Caller.Decided(readBefore); x == nil && !known {
		return nil, nil
	}
	data, err := s.Caller.Decision(ctx, readBefore, func() ([]byte, error) {
		before, err := x.Note(ctx, 1, false)
		if err != nil {
			return nil, err
		}
		return json.Marshal(before)
	})
	if err != nil {
		return nil, err
	}
	var before result.TestReads
	if err := json.Unmarshal(data, &before); err != nil {
		return nil, fmt.Errorf("read the record of %s: %w", readBefore, err)
	}
	return &before, nil
}

// Note notes that the run reads the sets for the nth time and returns who did before. A
// ledger that cannot be used is no reason to lose a run: then it is not known. One that
// cannot be written is such a ledger too, since it does not know who could not write before.
func (x *TestReads) Note(ctx context.Context, n int, taken bool) (result.TestReads, error) {
	m := x.run.Manifest
	folders, err := x.in.ledgers(x.run.Dir)
	if err != nil {
		return result.TestReads{}, err
	}
	mine := testset.Reading{RunID: m.RunID, Number: n, Run: m.Name, Command: string(x.in.Kind), At: x.in.Now()}
	h := readings{self: m.RunID, sets: x.sets}
	for _, dir := range folders {
		found, err := testset.Claim(ctx, dir, mine, x.sets...)
		if err != nil && ctx.Err() == nil {
			x.warn(fmt.Sprintf("that the test set is read could not be noted, later runs will not count it: %v", err))
			if _, gone := os.Stat(dir); gone == nil { // in a folder that cannot be made there is no run either
				h.doubt(err)
			}
			found, err = testset.Look(ctx, dir, slices.Concat(x.sets...))
		}
		if err := h.add(ctx, dir, found, err); err != nil {
			return result.TestReads{}, err
		}
	}
	if parent := m.ForkedOf; taken && parent != "" && !h.knows(parent) {
		h.all = append(h.all, testset.Reading{RunID: parent, Number: 1, Run: "the run that this one is a fork of", At: m.CreatedAt})
	}
	return h.sum(), nil
}

// ledgers returns the folders whose ledgers count for a run in dir: that in which it lies,
// those of WithTestLedger, and run.dir of the configuration file, which a setting does not
// replace here.
func (s *Inputs) ledgers(dir string) ([]string, error) {
	beside := s.Config.Run.Dir
	if dir != "" {
		beside = filepath.Dir(dir)
	}
	var out []string
	folders := append([]string{beside}, s.TestLedgers...)
	if s.Loaded.RunDir != "" && s.Tasks == nil { // who gives tasks has a folder of its own
		folders = append(folders, s.Loaded.RunDir)
	}
	for _, folder := range folders {
		abs, err := filepath.Abs(folder)
		if err != nil {
			return nil, fmt.Errorf("find the ledger of test sets: %w", err)
		}
		if !slices.Contains(out, abs) {
			out = append(out, abs)
		}
	}
	return out, nil
}

// ReadBefore returns who has read the test split so far, and notes nothing.
func (s *Inputs) ReadBefore(ctx context.Context) (result.TestReads, error) {
	folders, err := s.ledgers(s.RunDir)
	if err != nil {
		return result.TestReads{}, err
	}
	h := readings{sets: [][]task.Task{s.Data.Test}}
	for _, dir := range folders {
		found, err := testset.Look(ctx, dir, s.Data.Test)
		if err := h.add(ctx, dir, found, err); err != nil {
			return result.TestReads{}, err
		}
	}
	return h.sum(), nil
}

// readings is what the ledgers and the runs of some folders say of readings of sets.
type readings struct {
	self    string // the run that asks
	sets    [][]task.Task
	all     []testset.Reading
	unknown []string // why there may be more
}

// add takes in what the ledger of a folder said, and the runs there that it does not
// know.
func (h *readings) add(ctx context.Context, dir string, found []testset.Reading, err error) error {
	h.doubt(err)
	unnoted, err := h.findReadings(ctx, dir)
	for _, o := range slices.Concat(found, unnoted) {
		if !slices.ContainsFunc(h.all, func(other testset.Reading) bool { return o.RunID == other.RunID && o.Number == other.Number }) {
			h.all = append(h.all, o)
		}
	}
	return err
}

func (h *readings) doubt(err error) {
	if err != nil && !slices.Contains(h.unknown, err.Error()) {
		h.unknown = append(h.unknown, err.Error())
	}
}

func (h *readings) knows(id string) bool {
	return slices.ContainsFunc(h.all, func(o testset.Reading) bool { return o.RunID == id })
}

func (h *readings) sum() result.TestReads {
	slices.SortStableFunc(h.all, func(a, b testset.Reading) int { return a.At.Compare(b.At) })
	out := testset.Sum(h.all)
	out.Unknown = strings.Join(h.unknown, "; ")
	return out
}

// findReadings finds runs in a folder that have read tasks of the sets, and that its ledger
// does not know: those that came from elsewhere, and those that could not note it. The error
// is that of ctx.
func (h *readings) findReadings(ctx context.Context, dir string) ([]testset.Reading, error) {
	known, err := testset.Runs(ctx, dir)
	if err != nil {
		known = map[string]bool{} // the code that asked the ledger for the sets has said why
	}
	entries, err := run.List(dir)
	h.doubt(err)
	removed, err := run.List(filepath.Join(dir, run.TrashFolder)) // who was removed has read them all the same
	h.doubt(err)
	entries = append(entries, removed...)
	var out []testset.Reading
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("look for runs that have read the test set: %w", context.Cause(ctx))
		}
		m, name := e.Manifest, filepath.Base(e.Dir)
		if e.Err != nil {
			h.doubt(fmt.Errorf("%s cannot be read: %w", name, e.Err))
			continue
		}
		command, file := testOutcomes(m)
		if file == "" || known[m.RunID] || m.RunID == h.self {
			continue
		}
		shown, err := testset.Shows(ctx, filepath.Join(e.Dir, file), slices.Concat(h.sets...))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			h.doubt(fmt.Errorf("%s cannot be read: %w", name, err))
		}
		if shown {
			out = append(out, testset.Reading{RunID: m.RunID, Number: 1, Run: name, Command: command, At: m.CreatedAt})
		}
	}
	return out, nil
}

// testOutcomes names the command of a run and the file that holds what it showed of a
// test set, "" if it shows nothing of one.
func testOutcomes(m run.Manifest) (command, file string) {
	if m.Replays() != "" {
		return "", ""
	}
	reads := func(key string) bool { return slices.Contains([]string{string(task.Test), "all"}, m.About(key)) }
	switch kind := m.Kind; {
	case kind == result.Train:
		return string(kind), "test_outcomes.json"
	case kind == result.Evaluate && reads("evaluate"), kind == result.Compare && reads("compare"):
		return string(kind), "outcomes.json"
	}
	return "", ""
}

// scoredBy are the keys of an identity, or their beginnings, that decide how an answer
// to a task comes about and what it scores, apart from the skill and the tasks.
var scoredBy = [...]string{"agent.", "env.", "extras", "gate.metric", "gate.mixed_weight", "models.judge.", "models.target.", "tasks.checks", "tasks.extract", "tasks.prompt", "tasks.system", "tasks.threshold"}

// Measure names all that the scores of the test split depend on apart from the skill, as
// the manifest has it, so that a later program names it alike. Keys of agents and environments
// that carry out nothing are left out: a later program may have more of them.
func (s *Inputs) Measure(r *run.Run) (string, error) {
	tasks, err := DigestTasks(s.Data.Test, s.RawGold())
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, tasks)
	for _, key := range slices.Sorted(maps.Keys(r.Manifest.Identity)) {
		idle := strings.HasPrefix(key, "agent.") && s.Config.Agent.Name == "" || strings.HasPrefix(key, "env.") && !s.OwnEnv() && !s.InWorld()
		if !idle && slices.ContainsFunc(scoredBy[:], func(part string) bool { return strings.HasPrefix(key, part) }) {
			fmt.Fprintf(h, "%q=%q\n", key, r.Manifest.Identity[key])
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:16], nil
}
