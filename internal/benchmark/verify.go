package benchmark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/dataset"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/task"
)

// Verification says what to compare.
type Verification struct {
	Config  config.Tasks // with extraction and checks of the benchmark
	Dir     string       // a prepared folder
	Against string       // recorded replies with grades
}

// Verified is how our grades compare with those of a file.
type Verified struct {
	Replies     int          `json:"replies"`
	Compared    int          `json:"compared"` // those with a grade that are decided without a judge
	Same        int          `json:"same"`
	Differ      int          `json:"differ"`
	Judged      int          `json:"judged"` // those that a judge decides
	Hard        *float64     `json:"hard"`   // mean of ours; null: nothing was scored
	Soft        *float64     `json:"soft"`
	Differences []Difference `json:"differences"` // the first 100
}

// Difference is a reply that is graded otherwise.
type Difference struct {
	ID     string  `json:"id"`
	Answer string  `json:"answer"`
	Hard   float64 `json:"hard"`
	Soft   float64 `json:"soft"`
	Why    string  `json:"why"`
	Theirs Grade   `json:"theirs"`
}

// Grade is one of the file; null: there is none.
type Grade struct {
	Hard *float64 `json:"hard"`
	Soft *float64 `json:"soft"`
}

// maxDifferences is how many are listed.
const maxDifferences = 100

// sameSoft is how far soft scores may lie apart: files round them to four decimals.
const sameSoft = 6e-5

// Verify scores the replies of a file and compares.
func Verify(ctx context.Context, v Verification) (out Verified, err error) {
	set, err := task.LoadContext(ctx, filepath.Join(v.Dir, DirTasks), task.Rules{Prompt: v.Config.Prompt, System: v.Config.System, OwnScore: true, Published: true, Values: map[string]any{"skill": ""}})
	if err != nil {
		return out, err
	}
	grader, err := newGrader(v.Config, set.Tasks())
	if err != nil {
		return out, err
	}
	root, err := os.OpenRoot(filepath.Dir(v.Against))
	if err != nil {
		return out, fmt.Errorf("open %s: %w", filepath.Dir(v.Against), err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	out.Differences = []Difference{}
	var sum score.Score
	scored := 0
	for row, err := range dataset.Rows(ctx, root, filepath.Base(v.Against), dataset.Bounds{}) {
		if err != nil {
			return out, err
		}
		out.Replies++
		got, judged, err := grader.grade(row)
		switch {
		case err != nil:
			return out, &rowError{file: row.File, row: row.Number, msg: err.Error()}
		case judged:
			out.Judged++
			continue
		}
		scored++
		sum.Hard += got.Hard
		sum.Soft += got.Soft
		out.compare(got)
	}
	if scored > 0 {
		hard, soft := sum.Hard/float64(scored), sum.Soft/float64(scored)
		out.Hard, out.Soft = &hard, &soft
	}
	return out, nil
}

// compare counts a reply that carries a grade.
func (v *Verified) compare(d Difference) {
	if d.Theirs.Hard == nil && d.Theirs.Soft == nil {
		return
	}
	v.Compared++
	hard := d.Theirs.Hard == nil || *d.Theirs.Hard == d.Hard
	soft := d.Theirs.Soft == nil || math.Abs(*d.Theirs.Soft-d.Soft) <= sameSoft
	if hard && soft {
		v.Same++
		return
	}
	v.Differ++
	if len(v.Differences) < maxDifferences {
		v.Differences = append(v.Differences, d)
	}
}

// grader scores replies by the tasks that they answer.
type grader struct {
	suite   *check.Suite
	extract *check.Extractor
	tasks   map[string]task.Task
}

func newGrader(t config.Tasks, tasks []task.Task) (*grader, error) {
	extract, err := check.ParseExtract(t.Extract)
	if err != nil {
		return nil, fmt.Errorf("tasks.extract: %w", err)
	}
	var specs any
	if len(t.Checks) > 0 {
		specs = t.Checks
	}
	suite, err := check.Compile(specs, check.Options{Threshold: t.Threshold, Judge: true, Extract: extract})
	if err != nil {
		return nil, fmt.Errorf("tasks.checks: %w", err)
	}
	g := &grader{suite: suite, extract: extract, tasks: make(map[string]task.Task, len(tasks))}
	for _, t := range tasks {
		g.tasks[t.ID] = t
	}
	return g, nil
}

// errJudge ends the scoring of an answer that a judge decides.
var errJudge = errors.New("a judge is needed")

// grade scores one reply.
func (g *grader) grade(row dataset.Row) (d Difference, judged bool, err error) {
	d.ID = fmt.Sprint(row.Fields["id"])
	t, ok := g.tasks[d.ID]
	if !ok {
		return d, false, fmt.Errorf("the benchmark has no task with the id %q", d.ID)
	}
	reply, ok := row.Fields["response"].(string)
	if !ok {
		return d, false, errors.New(`it has no text "response"`)
	}
	if d.Answer, err = g.extract.Answer(reply); err != nil {
		return d, false, err
	}
	for key, at := range map[string]**float64{"hard": &d.Theirs.Hard, "soft": &d.Theirs.Soft} {
		if v, given := row.Fields[key]; given && v != nil {
			f, err := score.Value(v)
			if err != nil {
				return d, false, fmt.Errorf("%s: %w", key, err)
			}
			*at = &f
		}
	}
	got, err := g.suite.Assess(context.Background(), check.Evidence{Answer: d.Answer}, t, check.Means{
		Judge: func(context.Context, string, check.JudgeRequest) (string, error) { return "", errJudge },
	})
	if errors.Is(err, errJudge) {
		return d, true, nil
	}
	d.Hard, d.Soft, d.Why = got.Hard, got.Soft, strings.TrimSpace(got.Reason)
	return d, false, err
}
