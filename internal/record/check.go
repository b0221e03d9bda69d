package record

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

// State is how a file of a run is.
type State string

// How files are.
const (
	Intact  State = "ok"
	Missing State = "missing"
	Damaged State = "damaged" // it cannot be read, or its checksums differ
	Differs State = "differs" // it says something else than what it was made from
)

// Finding is what a check says of a file of a run.
type Finding struct {
	File  string `json:"file"`
	State State  `json:"state"`
	Note  string `json:"note,omitempty"` // what was looked at, or what is wrong
	Help  string `json:"help,omitempty"`
}

// Checked is what a check of a run has found.
type Checked struct {
	RunDir   string    `json:"run_dir"`
	RunID    string    `json:"run_id,omitempty"`
	Live     bool      `json:"live,omitempty"` // a process works on it: files may be behind the record
	Entries  int64     `json:"entries"`
	Findings []Finding `json:"findings"`
}

// Bad counts the files that are not whole.
func (c Checked) Bad() int {
	n := 0
	for _, f := range c.Findings {
		if f.State != Intact {
			n++
		}
	}
	return n
}

// What helps.
const (
	helpRestore = "put back a copy of the whole run directory, or start a new run"
	helpAnew    = "the same command, on the run, writes it again from run.db, and asks nothing that is recorded"
)

// checker checks a run.
type checker struct {
	dir   string
	out   Checked
	run   *Run
	files *Training

	failed error // of a record that cannot be read for a reason that is not its own
}

// Check looks at all of the run in dir: every checksum of its record, its mark and
// manifest, and the files that are derived from the record. Without a manifest, where
// there is no record either, the error is a *run.MissingError. A record that another program
// has locked, or whose disk fails, is an error and no finding.
func Check(ctx context.Context, dir string) (Checked, error) {
	c := &checker{dir: dir, out: Checked{RunDir: dir, Findings: []Finding{}}}
	m, found, err := run.ReadManifest(dir)
	if _, none := os.Stat(filepath.Join(dir, run.DBFile)); err == nil && !found && none != nil {
		return c.out, &run.MissingError{Dir: dir}
	}
	switch {
	case err != nil:
		c.add(run.ManifestFile, Damaged, err.Error(), helpRestore)
	case !found:
		c.add(run.ManifestFile, Missing, "", helpRestore)
	default:
		c.out.RunID = m.RunID
		c.out.Live, _ = run.InUse(dir) // what cannot be known is taken as not
		c.add(run.ManifestFile, Intact, string(m.Status), "")
	}
	whole := c.record(ctx, m)
	if ctx.Err() != nil {
		return c.out, fmt.Errorf("check run %s: %w", dir, context.Cause(ctx))
	}
	if c.failed != nil {
		return c.out, fmt.Errorf("check run %s: %w", dir, c.failed)
	}
	if c.Bad(run.ManifestFile) {
		return c.out, nil // files cannot be judged without it
	}
	c.checkFiles(ctx, whole)
	return c.out, nil
}

// Bad reports whether a file is known not to be whole.
func (c *checker) Bad(file string) bool {
	return slices.ContainsFunc(c.out.Findings, func(f Finding) bool { return f.File == file && f.State != Intact })
}

func (c *checker) add(file string, state State, note, help string) {
	c.out.Findings = append(c.out.Findings, Finding{file, state, note, help})
}

// record checks run.db and its mark.
func (c *checker) record(ctx context.Context, m run.Manifest) (whole bool) {
	e, err := journal.Examine(ctx, filepath.Join(c.dir, run.DBFile))
	var other *journal.VersionError
	var corrupt *journal.CorruptError
	switch {
	case errors.Is(err, journal.ErrMissing):
		c.add(run.DBFile, Missing, "", helpRestore)
		return false
	case errors.As(err, &other):
		c.add(run.DBFile, Damaged, err.Error(), "use the program that wrote it")
		return false
	case errors.As(err, &corrupt):
		c.add(run.DBFile, Damaged, err.Error(), helpRestore)
		return false
	case err != nil: // it cannot be read now, which says nothing of it
		c.failed = err
		return false
	}
	c.out.Entries = e.Entries
	switch {
	case m.RunID != "" && e.RunID != m.RunID:
		c.add(run.DBFile, Differs, fmt.Sprintf("it belongs to run %s, and %s to run %s", e.RunID, run.ManifestFile, m.RunID), helpRestore)
		return false
	case e.Entries < m.HighWater:
		c.add(run.DBFile, Damaged, fmt.Sprintf("it ends at entry %d, and %s knows of %d", e.Entries, run.ManifestFile, m.HighWater), helpRestore)
		return false
	}
	c.add(run.DBFile, Intact, fmt.Sprintf("every checksum of %d entries", e.Entries), "")
	switch {
	case e.Lost != nil && !c.out.Live:
		c.add(run.DBFile+"-mark", Differs, e.Lost.String(), helpRestore+"; or continue: what is gone is asked for again")
	case e.Marked:
		c.add(run.DBFile+"-mark", Intact, "nothing is lost after the last entry", "")
	}
	return true
}

// checkFiles checks the files that are written from the record.
func (c *checker) checkFiles(ctx context.Context, whole bool) {
	r, err := Open(ctx, c.dir)
	if err == nil {
		c.run = r
		defer func() { _ = r.Close() }() // it was only read
	} else if whole {
		c.add(run.HistoryFile, Damaged, err.Error(), helpAnew)
	}
	d, err := ReadDocuments(c.dir, c.dir)
	if err != nil {
		var file *FileError
		if errors.As(err, &file) && !c.Bad(filepath.Base(file.Path)) {
			c.add(filepath.Base(file.Path), Damaged, file.Err.Error(), helpAnew)
		}
	}
	c.config()
	if d.Manifest.Kind == result.Train {
		c.checkTraining()
		c.report(d)
		c.summary(ctx, d, whole)
	}
	if c.run != nil && whole {
		c.outcomes(ctx)
	}
}

// config checks that the configuration is there.
func (c *checker) config() {
	if c.run == nil || c.run.has(run.ConfigFile) {
		return
	}
	if c.run.Manifest.Kind.HasTasks() { // others are read without it
		c.add(run.ConfigFile, Missing, "", helpAnew)
	}
}

// checkTraining checks history, skills and what the steps left.
func (c *checker) checkTraining() {
	t, err := ReadTraining(c.dir, c.dir)
	if err != nil {
		return // history.json is named already
	}
	c.files = t
	for _, p := range t.Problems {
		file, note, _ := strings.Cut(strings.TrimPrefix(p, "read "), " is damaged: ")
		c.add(strings.Fields(file + " ?")[0], Damaged, note, helpAnew)
	}
	if len(t.History.Steps) == 0 {
		return
	}
	c.add(run.HistoryFile, Intact, fmt.Sprintf("%d steps", len(t.History.Steps)-1), "")
	_, problems := t.changes()
	for _, p := range problems {
		file := "steps"
		if strings.HasPrefix(p, "steps/") {
			file, _, _ = strings.Cut(p, " ")
		}
		c.add(file, Differs, p, helpAnew)
	}
	c.skills(t)
	c.candidates()
	if !t.HasBest {
		c.add(run.BestFile, Missing, "", helpAnew)
	}
}

// candidates checks that the list of candidates can be read.
func (c *checker) candidates() {
	if c.run == nil {
		return
	}
	data, found, err := c.run.file(candidatesFile)
	if found && err == nil {
		err = run.Decode(candidatesFile, data, &result.Candidates{})
	}
	if err != nil {
		c.add(candidatesFile, Damaged, strings.TrimPrefix(err.Error(), "read run: "), helpAnew)
	}
}

// report checks that a run that has ended has its reports. What is in them depends on
// the build that wrote them.
func (c *checker) report(d Documents) {
	for _, name := range []string{run.ReportFile, run.PullFile} {
		if c.run != nil && d.Summary != nil && d.Manifest.Status != result.Running && !c.run.has(name) {
			c.add(name, Missing, "", helpAnew)
		}
	}
}

// skills compares the versions of the skill with the hashes in the history: those after
// each step, and the best one with the last that was best.
func (c *checker) skills(t *Training) {
	// What a step left, the end of its epoch may have changed afterwards.
	after := map[int]string{}
	for _, s := range t.History.Steps {
		after[s.Step] = s.SkillHash
	}
	t.Walk(func(result.StepRecord, Step) {}, func(e result.EpochRecord, last int) {
		if SlowAccepted(e) {
			after[last] = e.SkillHash
		}
	})
	n, known := 0, map[string]bool{t.Seed.Digest(): true}
	for _, s := range t.History.Steps {
		name := fmt.Sprintf("skills/skill_v%04d.md", s.Step)
		v, err := Version(c.dir, strconv.Itoa(s.Step))
		var none *VersionError
		switch {
		case errors.As(err, &none):
			c.add(name, Missing, "", helpAnew)
		case err != nil:
			c.add(name, Damaged, err.Error(), helpAnew)
		case v.Digest() != s.SkillHash && v.Digest() != after[s.Step]:
			c.add(name, Differs, "it is not the skill that history.json names", helpAnew)
		default:
			n++
		}
		known[s.SkillHash], known[after[s.Step]] = true, true
	}
	c.add("skills", Intact, fmt.Sprintf("%d versions are those of history.json", n), "")
	if t.HasBest && !known[t.Best.Digest()] && !known[skill.New(t.Best.Text()).Digest()] {
		c.add(run.BestFile, Differs, "it is none of the skills that were accepted: somebody has changed it", "copy it away if it is yours; "+helpAnew)
	}
}

// summary compares what the summary counts with the record.
func (c *checker) summary(ctx context.Context, d Documents, whole bool) {
	if d.Summary == nil {
		if d.Manifest.Status == result.Completed && !c.Bad(run.SummaryFile) {
			c.add(run.SummaryFile, Missing, "", helpAnew)
		}
		return
	}
	if !whole || c.run == nil || c.out.Live {
		return
	}
	tally := journal.NewTally()
	for seq := int64(0); ; {
		list, err := c.run.view.Follow(ctx, seq, entriesAtOnce)
		if err != nil || len(list) == 0 {
			break
		}
		for _, r := range list {
			tally.Add(r)
			seq = r.Seq
		}
	}
	sum := journal.Sum(tally.Totals())
	input, output := sum.Usage.Input+sum.Bounded.Usage.Input, sum.Usage.Output+sum.Bounded.Usage.Output
	if s := d.Summary; s.Calls.Total != sum.Calls || s.Tokens.Input != input || s.Tokens.Output != output {
		c.add(run.SummaryFile, Differs, fmt.Sprintf("it counts %d calls, %d input and %d output tokens, the record %d, %d and %d", s.Calls.Total, s.Tokens.Input, s.Tokens.Output, sum.Calls, input, output), helpAnew)
		return
	}
	c.add(run.SummaryFile, Intact, fmt.Sprintf("%d calls and their tokens are those of the record", sum.Calls), "")
}

// outcomes compares what the files say was answered with the replies in the record.
func (c *checker) outcomes(ctx context.Context) {
	sheets, err := c.run.Sheets()
	if err != nil {
		return // the file is named already
	}
	replies, err := c.run.replies(ctx)
	if err != nil {
		return // so is the record
	}
	looked := map[string]int{}
	for _, s := range sheets {
		outcomes, err := c.run.Outcomes(s)
		if err != nil {
			if !c.Bad(s.file) {
				c.add(s.file, Damaged, err.Error(), helpAnew)
			}
			continue
		}
		seen := map[string]int{}
		for _, o := range outcomes {
			said, ok := replies[newAnswerKey(s, o.ID, seen[o.ID])]
			seen[o.ID]++
			if !ok || len(o.Trajectory) != 1 {
				continue // an episode, or answered elsewhere in the run
			}
			same := slices.Contains(said, digestText(o.Trajectory[0].Content))
			if !same && c.severalAt(s.Step) {
				continue // recorded of another candidate, and answered elsewhere in the run of this one
			}
			looked[s.file]++
			if !same && !c.Bad(s.file) {
				c.add(s.file, Differs, fmt.Sprintf("its answer to task %s is not the one that is recorded", o.ID), helpAnew)
			}
		}
	}
	n := 0
	for file, count := range looked {
		if !c.Bad(file) {
			n += count
		}
	}
	if n > 0 {
		c.add("outcomes", Intact, fmt.Sprintf("%d answers are those of the record", n), "")
	}
}

// severalAt reports whether a step made several candidates.
func (c *checker) severalAt(step int) bool {
	return slices.ContainsFunc(c.run.History.Steps, func(s result.StepRecord) bool { return s.Step == step && len(s.Candidates) > 0 })
}

// answerKey is where a task was asked.
type answerKey struct {
	epoch, step int
	at, task    string
	sample      int
}

func newAnswerKey(s Sheet, task string, sample int) answerKey {
	return answerKey{s.Epoch, s.Step, s.stage, task, sample}
}

func digestText(text string) [sha256.Size]byte { return sha256.Sum256([]byte(strings.TrimSpace(text))) }

// replies returns digests of the replies of the target, by where they were asked for, as sheets
// call it: of a step with several candidates, those of all of them.
func (r *Run) replies(ctx context.Context) (map[answerKey][][sha256.Size]byte, error) {
	out := map[answerKey][][sha256.Size]byte{}
	for rec, err := range r.view.Entries(ctx, journal.Query{Stage: "rollout"}) {
		if err != nil {
			return nil, r.wrapDamage(err)
		}
		if rec.Kind != journal.Call {
			continue
		}
		p := ParsePlace(rec.Key)
		at := p.At
		for _, stage := range []string{"rollout", "gate/cand"} { // of several batches and candidates
			if p.Step > 0 && strings.HasSuffix(at, "/"+stage) {
				at = stage
			}
		}
		var said model.Response
		if json.Unmarshal(rec.Result, &said) != nil {
			continue // its checksum is right: a build that keeps replies otherwise has written it
		}
		key := answerKey{0, p.Step, at, p.Task, p.Sample}
		if p.Step == 0 {
			key.epoch = p.Epoch
		}
		out[key] = append(out[key], digestText(said.Text))
	}
	return out, nil
}
