package sim

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
)

// The simulated optimizer blames an edit by what it is told of the types that its text names,
// and by all of them where it names none.
func TestBlame(t *testing.T) {
	t.Parallel()
	fared := "- sum: won 1, lost 3, same 2\n- order list: won 4, lost 0, same 9\n- and 3 more types\n"
	for text, want := range map[string]bool{
		"halve each number of a sum":             true,
		"say it of an order list":                false,
		"of a sum and an order list alike":       false,
		"end every answer with a full stop":      false, // all together won more than they lost
		"op=append content=- of a Sum, politely": true,
	} {
		if got := toBlame(fared, fold(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if !toBlame("- tasks without a type: won 1, lost 2, same 0", "anything") || toBlame("", "anything") {
		t.Error("without types all together count, and nothing told blames nothing")
	}
}

func TestSecondTryLeavesOutWhatIsToBlame(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	for name, tt := range map[string]struct {
		fared string
		want  []int
	}{
		"all lost":  {"- tasks without a type: won 0, lost 4, same 1", []int{1, 2}},
		"all won":   {"- tasks without a type: won 4, lost 0, same 1", []int{}},
		"of a type": {"- exclamation: won 0, lost 1, same 0\n- star: won 9, lost 0, same 0", []int{0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			p := prompt{
				stage: model.StageRanking,
				user: "budget=3\n\n## What The Change Won And Lost\n\n" + tt.fared + "\n\n## Candidates\n\n" +
					"[0] op=append content=- End with a star.\n[1] op=delete target=- Add an exclamation mark.\n[2] op=append content=- Read it twice.\n[3] op=append content=- Add an exclamation mark.\n\nReply with the JSON object.",
			}
			text, err := w.optimize(p)
			var got struct {
				Keep []int `json:"selected_indices"`
			}
			if err == nil {
				err = json.Unmarshal([]byte(text), &got)
			}
			if diff := cmp.Diff(tt.want, got.Keep); err != nil || diff != "" {
				t.Errorf("%v, kept (-want +got):\n%s", err, diff)
			}
		})
	}
}

// What it is told was tried and lost it does not propose again; what was accepted, or not to
// blame, says nothing against it.
func TestTriedInVain(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	shout := w.rules[3]
	for name, tt := range map[string]struct {
		memory string
		want   bool
	}{
		"rejected": {"### Step 1: reject, 1 of 2 tasks failed\nTried and rejected (score 1 before, 0 after):\n- append content=- Add an exclamation mark.\nOn the tasks that judge, by type:\n- sum: won 0, lost 3, same 1", true},
		"won":      {"### Step 1: reject, 1 of 2 tasks failed\nTried and rejected (score 1 before, 0 after):\n- append content=- Add an exclamation mark.\nOn the tasks that judge, by type:\n- sum: won 3, lost 1, same 1", false},
		"accepted": {"### Step 1: accept, 1 of 2 tasks failed\nTried and accepted (score 1 before, 1 after):\n- append content=- Add an exclamation mark.", false},
		"another":  {"### Step 1: reject, 1 of 2 tasks failed\nTried and rejected (score 1 before, 0 after):\n- append content=- End with a star.\nOn the tasks that judge, by type:\n- sum: won 0, lost 3, same 1", false},
		"nothing":  {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := prompt{user: "## Earlier Steps Of This Run\n\n" + tt.memory + "\n\n## Current Skill\n\n# Skill\n"}
			if got := p.triedInVain(shout); got != tt.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// What another run did worse with it does not propose again; what made no difference, or was
// not measured, says nothing against it.
func TestOthersTriedInVain(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	shout := w.rules[3]
	for name, tt := range map[string]struct {
		entry string
		want  bool
	}{
		"worse":       {"### 1 change, difference -0.200 of the hard score, interval not known\n- append content=- Add an exclamation mark.", true},
		"of several":  {"### 2 changes, difference -0.200 of the hard score, on 9 tasks\n- append content=- x\n- append content=- Add an exclamation mark.", true},
		"no worse":    {"### 1 change, difference +0.000 of the hard score\n- append content=- Add an exclamation mark.", false},
		"another one": {"### 1 change, difference -0.200 of the hard score\n- append content=- End with a star.", false},
		"unmeasured":  {"### 1 change, difference not measured\n- append content=- Add an exclamation mark.", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := prompt{user: "## Current Skill\n\n# Skill\n\n## What Other Runs Tried In Vain\n\n```\n" + tt.entry + "\n```\n\n## Failed Trajectories\n\n### Trajectory 1\n"}
			if got := p.triedInVain(shout); got != tt.want {
				t.Errorf("got %v", got)
			}
			if got := p.section(headSkill); got != "# Skill" {
				t.Errorf("the skill is read as %q", got)
			}
		})
	}
}
