package night

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/sleep/bank"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// Diagnostics are what each judged task of a night came to, in both arms. It is diagnostics.json.
type Diagnostics struct {
	Format int                `json:"format"`
	Night  string             `json:"night"`
	Tasks  []DiagnosedTask    `json:"tasks"`
	Errors map[string]string  `json:"last_call_error"` // by target; absent: none
	Raw    map[string]*string `json:"reflect_raw"`     // by target; null: the optimizer was not asked, or its reply is not known
}

// DiagnosedTask is one answer.
type DiagnosedTask struct {
	Target string   `json:"target"`
	Run    string   `json:"run"`
	Arm    string   `json:"arm"` // live, proposed
	ID     string   `json:"id"`
	Kind   string   `json:"kind"` // by what its outcome is known: command, files, correction, rubric
	Status string   `json:"status"`
	Hard   *float64 `json:"hard"` // null: not measured
	Soft   *float64 `json:"soft"`
	Length int      `json:"length"` // bytes
	Head   string   `json:"head"`   // the first 200 characters
	Why    string   `json:"why"`
}

// diagnose writes what each answer of the night's comparisons came to.
func (n *night) diagnose(jobs []job) error {
	out := Diagnostics{Format: 1, Night: n.report.ID, Tasks: []DiagnosedTask{}, Errors: map[string]string{}, Raw: map[string]*string{}}
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
			tasks, err := diagnosed(filepath.Join(n.Dir, filepath.FromSlash(run)))
			if err != nil {
				return err
			}
			for _, t := range tasks {
				t.Target, t.Run, t.Kind = id, run, kinds[t.ID]
				out.Tasks = append(out.Tasks, t)
			}
		}
		j.out.Consolidation.HoldoutDetail = "diagnostics.json"
		n.setTarget(j.out)
	}
	data, err := json.MarshalIndent(out, "", "  ")
	if err != nil {
		return fmt.Errorf("write diagnostics: %w", err)
	}
	return writeFile(n.folder(), "diagnostics.json", append(data, '\n'))
}

// diagnosed reads the answers of a comparison, or those that a training was judged by; another run has none here.
func diagnosed(dir string) ([]DiagnosedTask, error) {
	if _, what, ok := strings.Cut(filepath.Base(dir), "-bundle-"); ok {
		return diagnosedArm(dir, strings.HasPrefix(what, "staged"))
	}
	data, err := readFile(dir, "outcomes.json")
	if errors.Is(err, fs.ErrNotExist) {
		return diagnosedSteps(dir)
	}
	if err != nil {
		return nil, err
	}
	var arms map[string][][]trajectory.Outcome
	if err := json.Unmarshal(data, &arms); err != nil {
		return nil, nil // of another kind of run
	}
	var out []DiagnosedTask
	for _, arm := range []struct{ key, name string }{{"a", "live"}, {"b", "proposed"}} {
		for _, pass := range arms[arm.key] {
			for i := range pass {
				out = append(out, diagnosis(arm.name, &pass[i]))
			}
		}
	}
	return out, nil
}

// diagnosedArm are the answers of one arm of the last confirmation.
func diagnosedArm(dir string, staged bool) ([]DiagnosedTask, error) {
	list, err := evaluated(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	arm := "live"
	if staged {
		arm = "proposed"
	}
	var out []DiagnosedTask
	for i := range list {
		out = append(out, diagnosis(arm, &list[i]))
	}
	return out, err
}

func diagnosis(arm string, o *trajectory.Outcome) DiagnosedTask {
	t := DiagnosedTask{Arm: arm, ID: o.ID, Status: string(o.Status), Length: len(o.Answer), Head: head(o.Answer, 200), Why: head(o.FailReason, 200)}
	if o.Status.Measured() {
		hard, soft := o.Hard, o.Soft
		t.Hard, t.Soft = &hard, &soft
	}
	return t
}

// head is the beginning of a text, in characters.
func head(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
