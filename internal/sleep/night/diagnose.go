package night

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// The arms of a comparison.
const (
	armLive     = "live"
	armProposed = "proposed"
)

// diagnose writes the result of each answer that the night has judged for its decisions.
func (n *night) diagnose(jobs []job) error {
	out := Diagnostics{Format: Format, Night: n.report.ID, Tasks: []DiagnosedTask{}, Errors: map[string]string{}, Raw: map[string]*string{}}
	for i := range jobs {
		j := &jobs[i]
		id := j.doc.ID()
		out.Raw[id] = j.out.Consolidation.ReflectRaw
		if e := j.out.Consolidation.CallError; e != nil {
			out.Errors[id] = *e
		}
		kinds := map[string]string{}
		for _, list := range [][]bank.Cluster{j.picked.train(), j.picked.fresh} {
			for _, c := range list {
				kinds[c.Tasks[0].Task.Task.ID] = string(c.Tasks[0].Trust)
			}
		}
		for _, run := range j.out.Runs {
			tasks, err := readRunAnswers(filepath.Join(n.Dir, filepath.FromSlash(run)))
			if err != nil {
				return err
			}
			for _, t := range tasks {
				t.Target, t.Run, t.Kind = id, run, kinds[t.ID]
				out.Tasks = append(out.Tasks, t)
			}
		}
		j.out.Consolidation.HoldoutDetail = result.NightDiagnosticsFile
		n.setTarget(j.out)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	return writeFile(n.folder(), result.NightDiagnosticsFile, append(data, '\n'))
}

// readRunAnswers reads the answers that a run has judged: those of a comparison, of an evaluation, or of the selection of a training.
func readRunAnswers(dir string) ([]DiagnosedTask, error) {
	var arms map[string]json.RawMessage
	switch found, err := readRun(dir, "outcomes.json", &arms); {
	case err != nil:
		return nil, err
	case !found:
		return readTrainAnswers(dir)
	case arms[string(task.Selection)] != nil:
		return evaluatedArms(dir, arms[string(task.Selection)])
	}
	var out []DiagnosedTask
	for _, arm := range []struct{ key, name string }{{"a", armLive}, {"b", armProposed}} {
		var passes [][]trajectory.Outcome
		if err := json.Unmarshal(arms[arm.key], &passes); err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, "outcomes.json"), err)
		}
		for _, pass := range passes {
			for i := range pass {
				out = append(out, diagnosis(arm.name, &pass[i]))
			}
		}
	}
	return out, nil
}

// readRun reads a document of a run; false: the run has none.
func readRun(dir, name string, to any) (bool, error) {
	data, err := readFile(dir, name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", filepath.Join(dir, name), err)
	}
	return true, nil
}

// evaluatedArms returns the answers of an evaluation: of the live document, of a staged one in the last confirmation, or those
// that sessions hold.
func evaluatedArms(dir string, data []byte) ([]DiagnosedTask, error) {
	var list []trajectory.Outcome
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, "outcomes.json"), err)
	}
	arm := armLive
	if _, what, ok := strings.Cut(filepath.Base(dir), bundleRun); ok && strings.HasPrefix(what, "staged") {
		arm = armProposed
	}
	var out []DiagnosedTask
	for i := range list {
		t := diagnosis(arm, &list[i])
		if strings.HasSuffix(dir, judgeRun) {
			for _, arm := range []string{armCorrected, armAccepted} {
				if id, ok := strings.CutSuffix(t.ID, "-"+arm); ok {
					t.ID, t.Arm = id, arm
				}
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// readTrainAnswers returns the answers to selection tasks of a training: of the live document, and of the last candidate.
func readTrainAnswers(dir string) ([]DiagnosedTask, error) {
	steps, err := filepath.Glob(filepath.Join(dir, "steps", "step_*"))
	if err != nil {
		return nil, err
	}
	var live, proposed []DiagnosedTask
	for n, step := range steps { // in their order, by name
		var list []trajectory.Outcome
		found, err := readRun(step, "selection.json", &list)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		arm, into := armProposed, &proposed
		if n == 0 {
			arm, into = armLive, &live
		}
		*into = nil
		for i := range list {
			if o := &list[i]; o.Status.Measured() || o.FailReason != "" { // others were not asked
				*into = append(*into, diagnosis(arm, o))
			}
		}
	}
	return append(live, proposed...), nil
}

func diagnosis(arm string, o *trajectory.Outcome) DiagnosedTask {
	t := DiagnosedTask{Arm: arm, ID: o.ID, Status: string(o.Status), Length: len(o.Answer), Head: head(o.Answer, 200), Why: head(o.FailReason, 200)}
	if o.Status.Measured() {
		hard, soft := o.Hard, o.Soft
		t.Hard, t.Soft = &hard, &soft
	}
	return t
}

// head returns the beginning of a text, in characters.
func head(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
