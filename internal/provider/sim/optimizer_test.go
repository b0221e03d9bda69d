package sim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
)

const duo = `name: duo
kinds:
  - type: sum
    match: 'Add (?P<a>\d+) and (?P<b>\d+)'
    answer: a + b
rules:
  - id: half
    task_types: [sum]
    states: [[half]]
    say: [Halve each number.]
    transform: {kind: scale, factor: 0.5}
  - id: words
    task_types: [sum]
    states: [[number, prefix]]
    say: [Give each number a prefix.]
    transform: {kind: prefix, text: 'no. '}
  - id: stars
    task_types: [sum]
    states: [star]
    say: [End with a star.]
    transform: {kind: suffix, text: '*'}
  - id: shout
    harmful: true
    task_types: [sum]
    states: [exclamation]
    say: [Add an exclamation mark.]
    transform: {kind: suffix, text: '!'}
`

func duoWorld(t testing.TB, more string) *World {
	t.Helper()
	w, err := Parse("duo.yaml", []byte(more+strings.Replace(duo, "[[half]]", "[[halve|half]]", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// failedTask is a trajectory as analysts see it.
func failedTask(question, got, want string) string {
	return fmt.Sprintf("### Trajectory\n\n- id: x\n- score: hard=0 soft=0\n- scored answer: %s\n\nTask:\n%s\n\n"+
		"Reference (hidden from the agent):\nexpected: %s\n\nConversation:\n[assistant] <answer>%s</answer>\n\n", got, question, want, got)
}

func analyst(skill string, trajectories ...string) prompt {
	return prompt{
		stage: model.StageAnalystError,
		user:  "budget=4\n\n" + headSkill + "\n\n" + skill + "\n\n" + headFailed + "\n\n" + strings.Join(trajectories, ""),
	}
}

func edits(t *testing.T, w *World, p prompt) []edit {
	t.Helper()
	var reply analystReply
	if err := json.Unmarshal([]byte(optimized(t, w, p)), &reply); err != nil {
		t.Fatal(err)
	}
	if reply.Patch.Edits == nil {
		t.Fatal("the reply holds no list of edits")
	}
	return *reply.Patch.Edits
}

func optimized(t *testing.T, w *World, p prompt) string {
	t.Helper()
	reply, err := w.optimize(p)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

func TestAnalystFindsTheDifference(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	words := edit{Op: "append", Content: "- Give each number a prefix.", Support: 1}
	half := edit{Op: "append", Content: "- Halve each number.", Support: 1}
	star := edit{Op: "append", Content: "- End with a star.", Support: 1}
	twice := words
	twice.Support = 2
	tests := []struct {
		name  string
		skill string
		tasks []string
		want  []edit
	}{
		{"one rule", "Be exact.", []string{failedTask("Add 1 and 2", "3", "no. 3")}, []edit{words}},
		{"two rules", "", []string{failedTask("Add 1 and 3", "4", "no. 2")}, []edit{half, words}},
		{"three rules", "", []string{failedTask("Add 1 and 3", "4", "no. 2*")}, []edit{half, words, star}},
		{"best supported first", "", []string{
			failedTask("Add 1 and 3", "4", "2"), failedTask("Add 1 and 2", "3", "no. 3"), failedTask("Add 2 and 2", "4", "no. 4"),
		}, []edit{twice, half}},
		{"the rest of the rules", "Numbers have a prefix.", []string{failedTask("Add 1 and 3", "no. 4", "no. 2")}, []edit{half}},
		{"one of several references", "", []string{failedTask("Add 1 and 2", "3", "III | no. 3")}, []edit{words}},
		{"stated already", "Numbers have a prefix.", []string{failedTask("Add 1 and 2", "3", "no. 3")}, []edit{}},
		{"no explanation", "", []string{failedTask("Add 1 and 2", "3", "three")}, []edit{}},
		{"unknown task", "", []string{failedTask("Divide 1 by 2", "3", "no. 3")}, []edit{}},
		{"no answer", "", []string{"### Trajectory\n\nTask:\nAdd 1 and 2\n\n"}, []edit{}},
		{"harm", "Be exact.\n\n- Add an exclamation mark.\n- Be short.", []string{failedTask("Add 1 and 2", "3!", "3")}, []edit{
			{Op: "delete", Target: "- Add an exclamation mark.", Support: 1},
		}},
		{"harm and a rule", "- Add an exclamation mark.", []string{failedTask("Add 1 and 2", "3!", "no. 3")}, []edit{
			{Op: "delete", Target: "- Add an exclamation mark.", Support: 1}, words,
		}},
		{"nothing failed", "", nil, []edit{}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, edits(t, w, analyst(tt.skill, tt.tasks...))); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

func TestAnalystKeepsTheBudget(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	p := analyst("", failedTask("Add 1 and 3", "4", "no. 2*"))
	p.user = strings.Replace(p.user, "budget=4", "budget=2", 1)
	if got := edits(t, w, p); len(got) != 2 {
		t.Errorf("got %v, want two edits", got)
	}
}

func TestARuleCanNeedSeveralFailures(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "optimizer: {need: 2}\n")
	one := failedTask("Add 1 and 2", "3", "3*")
	if got := edits(t, w, analyst("nothing", one)); len(got) != 0 {
		t.Errorf("one failure shows %v, two are needed", got)
	}
	if got := edits(t, w, analyst("nothing", one, failedTask("Add 2 and 2", "4", "4*"))); len(got) != 1 {
		t.Errorf("two failures show %v, want the one rule", got)
	}
}

func TestAnalystDrawsWrongConclusions(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "rates: {harm: 1}\n")
	task := failedTask("Add 1 and 2", "3", "no. 3")
	got := edits(t, w, analyst("", task))
	if len(got) != 2 || got[0].Content != "- Add an exclamation mark." || got[1].Content != "- Give each number a prefix." {
		t.Errorf("got %v, want the harmful rule and the good one", got)
	}
	if got := edits(t, w, analyst("Add an exclamation mark.", task)); len(got) != 1 {
		t.Errorf("got %v: a rule is proposed that the skill states", got)
	}
}

func TestSuccessAnalystAddsNotes(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "notes: [Be quick.]\nrates: {note: 1}\n")
	p := analyst("Be exact.")
	p.stage = model.StageAnalystSuccess
	p.user = strings.Replace(p.user, headFailed, headSuccessful, 1)
	if diff := cmp.Diff([]edit{{Op: "append", Content: "- Be quick.", Support: 1}}, edits(t, w, p)); diff != "" {
		t.Error(diff)
	}
	p.user = strings.Replace(p.user, "Be exact.", "Be *quick*.", 1)
	if got := edits(t, w, p); len(got) != 0 {
		t.Errorf("got %v: the note stands in the skill", got)
	}
}

func TestSkillAwareAnalystTellsLapsesFromDefects(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	p := analyst("Numbers have a prefix.", failedTask("Add 1 and 2", "3", "no. 3"), failedTask("Add 1 and 3", "no. 4", "no. 2"),
		failedTask("Add 1 and 1", "2", "two"))
	p.system = `"appendix_notes": [...]`
	var got analystReply
	if err := json.Unmarshal([]byte(optimized(t, w, p)), &got); err != nil {
		t.Fatal(err)
	}
	want := []failure{
		{"rule_missing", 1, "the skill does not say: Halve each number.", "SKILL_DEFECT"},
		{"rule_not_followed", 1, "the skill says, in vain: Give each number a prefix.", "EXECUTION_LAPSE"},
		{"unexplained", 1, "no rule explains the difference", "EXECUTION_LAPSE"},
	}
	if diff := cmp.Diff(want, got.Failures); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Check before answering: Give each number a prefix."}, got.Notes); diff != "" {
		t.Error(diff)
	}
	if got.BatchSize != 3 {
		t.Errorf("batch size %d, want 3", got.BatchSize)
	}
}

func TestMergeUnitesWordings(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	p := prompt{stage: model.StageMerge, user: headSkill + "\n\n{\"op\": \"not this\"}\n\n" + headMerge + `

### Patch 1
Reasoning: {broken [{"x": 1}
[
  {"op": "append", "content": "- Give each number a prefix."},
  {"op": "append", "content": "Be quick.", "support_count": 2}
]
### Patch 2
[
  {"op": "append", "content": "- A prefix stands before a number.", "support_count": 3},
  {"op": "append", "content": "be QUICK."},
  {"op": "delete", "target": "x", "content": ""}
]`}
	var got struct {
		Reasoning string
		Edits     []edit
	}
	if err := json.Unmarshal([]byte(optimized(t, w, p)), &got); err != nil {
		t.Fatal(err)
	}
	want := []edit{
		{Op: "append", Content: "- Give each number a prefix.", Support: 4},
		{Op: "append", Content: "Be quick.", Support: 3},
		{Op: "delete", Target: "x"},
	}
	if diff := cmp.Diff(want, got.Edits); diff != "" {
		t.Error(diff)
	}
	p = prompt{stage: model.StageMergeFinal, system: "skill_candidates", user: headMergeFinal + "\n\n[]"}
	if got := optimized(t, w, p); !strings.Contains(got, `"skill_candidates": []`) {
		t.Errorf("no candidates became %s", got)
	}
}

func TestRankingPutsRulesFirst(t *testing.T) {
	t.Parallel()
	lines := `budget=3

[0] op=append support=9 content=- Be quick.
[1] op=append support=1 content=- Halve each number.
[2] op=append support=99 content=- Add an exclamation mark.
[3] op=append support=4 content=- Give each number\na prefix.
[4] op=delete target=x
`
	for fooled, want := range map[string]string{"0": "4 3 1", "1": "4 2 3"} {
		w := duoWorld(t, "rates: {fooled: "+fooled+"}\n")
		var got struct {
			Selected []int `json:"selected_indices"`
		}
		if err := json.Unmarshal([]byte(optimized(t, w, prompt{stage: model.StageRanking, user: lines})), &got); err != nil {
			t.Fatal(err)
		}
		if got := strings.Trim(fmt.Sprint(got.Selected), "[]"); got != want {
			t.Errorf("fooled %s: selected %s, want %s", fooled, got, want)
		}
	}
}

func TestSlowUpdateKeepsWhatHolds(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	p := prompt{stage: model.StageSlowUpdate, user: headGuidance + "\n\nBe calm.\n- End with a star.\n\n" + headComparison + "\n\n" +
		"1 task: 0 regressed.\n\n### Failed both times\n\n#### Task x\nAdd 1 and 3\nReference (hidden from the agent): expected: no. 4*\n" +
		"Before: hard=0 soft=0 answer=4\nNow: hard=0 soft=0 answer=4* (wrong-answer: not equal)\n[assistant] 4*\n" +
		"\n#### Task y\nAdd 1 and 3\nReference (hidden from the agent): expected: 4*\nNow: hard=1 soft=1 answer=4*\n\n" + headSkill + "\n\nEnd with a star.\n"}
	var got struct {
		Content string `json:"slow_update_content"`
	}
	if err := json.Unmarshal([]byte(optimized(t, w, p)), &got); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got.Content, "- End with a star.\n- Give each number a prefix.") || strings.Contains(got.Content, "calm") {
		t.Errorf("guidance: %s", got.Content)
	}
}

func TestOtherStages(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	tests := []struct {
		name string
		p    prompt
		want string
	}{
		{"meta skill", prompt{stage: model.StageMetaSkill}, `"meta_skill_content": "State one`},
		{"learning rate", prompt{stage: model.StageLRAutonomous, user: "proposed_update_items=9\n"}, `"learning_rate": 3`},
		{"low learning rate", prompt{stage: model.StageLRAutonomous, user: "proposed_update_items=2\n"}, `"learning_rate": 2`},
		{"no learning rate", prompt{stage: model.StageLRAutonomous}, `"learning_rate": 0`},
		{
			"rewrite",
			prompt{stage: model.StageRewrite, user: headSkill + "\n\n# A\n\n- Old.\nmore\n\n" + headSuggestions +
				"\n\n1. type=add\n   motivation: x\n   instruction: New.\n2. type=remove\n   instruction: Remove this: - Old.\n   more\n"},
			`"new_skill": "# A\n\n\n- New.\n"`,
		},
		{
			"compaction",
			prompt{stage: model.StageRewrite, user: "limit=2\n\n" + headNotes + "\n\n- One.\n- one.\n- Two.\n- Three.\n\nReply with JSON."},
			"\"appendix_notes\": [\n  \"One.\",\n  \"Two.\"\n ]",
		},
		{"no budget", prompt{stage: model.StageRanking, user: "[0] op=append content=x\n[1] y\n[2] y\n[3] y\n[4] y"}, "0,\n  1,\n  2,\n  3\n"},
		{"absurd numbers", prompt{stage: model.StageRanking, user: "budget=99999999999999999999\n[99999999999999999999] x\n[7] x"}, "[\n  7\n ]"},
	}
	for _, tt := range tests {
		if got := optimized(t, w, tt.p); !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %s, want it to hold %s", tt.name, got, tt.want)
		}
	}
}

func TestAppendedGoesBeforeRegions(t *testing.T) {
	t.Parallel()
	tests := []struct{ doc, want string }{
		{"", "- x\n"},
		{"# A\n", "# A\n\n- x\n"},
		{"- a\n\n\n", "- a\n- x\n"},
		{"- a\n\n<!-- SLOW_UPDATE_START -->\n", "- a\n- x\n\n<!-- SLOW_UPDATE_START -->\n"},
		{"# A\n\n" + partStart + partEnd + "\n- z\n", "# A\n\n" + partStart + "- x\n" + partEnd + "\n- z\n"},
		{"# A\n" + partStart + "- a\n" + partEnd, "# A\n" + partStart + "- a\n- x\n" + partEnd},
		{"<!-- APPENDIX_START -->", "- x\n\n<!-- APPENDIX_START -->"},
	}
	for _, tt := range tests {
		if got := appendLine(tt.doc, "- x"); got != tt.want {
			t.Errorf("%q became %q, want %q", tt.doc, got, tt.want)
		}
	}
	if got := removeStatement("a\nb\nc", "b"); got != "a\nc" {
		t.Errorf("got %q", got)
	}
	if got := removeStatement("a", "b"); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestTrajectoriesAreRead(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "")
	section := "### 1\n- scored answer: a\\nb\n\nTask:\nQ one\nmore\n\nReference (hidden from the agent):\nexpected: x | y\nnote\n\n" +
		"### 2\n\nReference: [\"p\", \"q\"]\n\nConversation:\n[user] Q two\n[assistant] first <answer>no</answer> then <answer> yes </answer>\n\n" +
		"### 3\nQ three <answer>z</answer>\nExpected:\n- s\n- t\n\n### 4\nConversation:\nonly talk <answer>u</answer>\n### 5\n<answer>open\n### 6\n"
	want := []example{
		{question: "Q one\nmore", got: "a\nb", want: []string{"x | y\nnote", "x | y", "note", "x", "y"}},
		{question: "Q two", got: "yes", want: []string{"p", "q"}},
		{question: "3\nQ three <answer>z</answer>\nExpected:\n- s\n- t\n", got: "z", want: []string{"- s\n- t", "s", "t", "- s"}},
		{question: "only talk <answer>u</answer>", got: "u"},
	}
	if diff := cmp.Diff(want, w.examples(section, inMinibatch), cmp.AllowUnexported(example{}), cmpopts.IgnoreFields(example{}, "talk")); diff != "" {
		t.Error(diff)
	}
}

func TestAnswerWithoutAnEnd(t *testing.T) {
	t.Parallel()
	w := world(t, "reply: 'So: {{answer}}'\n")
	if got, ok := w.readSlot("So: one\nSo: two\nmore"); !ok || got != "two" {
		t.Errorf("got %q, %v", got, ok)
	}
	if got, ok := w.readSlot("nothing"); ok {
		t.Errorf("got %q", got)
	}
}

func TestSubsets(t *testing.T) {
	t.Parallel()
	var got []string
	for s := range subsets(4, 2) {
		got = append(got, fmt.Sprint(s))
	}
	if diff := cmp.Diff([]string{"[0 1]", "[0 2]", "[0 3]", "[1 2]", "[1 3]", "[2 3]"}, got); diff != "" {
		t.Error(diff)
	}
}

// Whatever the text, an optimizer reply is JSON and keeps the budget.
func TestRepliesAreJSON(t *testing.T) {
	t.Parallel()
	w := duoWorld(t, "notes: [Be quick.]\nrates: {harm: 0.5, note: 0.5}\n")
	stages := []string{
		model.StageAnalystError, model.StageAnalystSuccess, model.StageMerge, model.StageMergeFinal, model.StageRanking,
		model.StageSlowUpdate, model.StageMetaSkill, model.StageLRAutonomous, model.StageRewrite,
	}
	pieces := []string{
		headSkill, headFailed, headSuccessful, headMerge, headComparison, headNotes, "### 1", "- scored answer: 3", "Task:\nAdd 1 and 3",
		"Reference: no. 2", "{\"op\": \"append\", \"content\": 3}", "{{{\"", "budget=1", "[0] op=append", "\u00e9\x00\xff", "- End with a star.",
	}
	rapid.Check(t, func(t *rapid.T) {
		p := prompt{
			stage:  rapid.SampledFrom(stages).Draw(t, "stage"),
			system: rapid.SampledFrom([]string{"", "revise_suggestions", "skill_candidates", "appendix_notes"}).Draw(t, "system"),
			user:   strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "user"), "\n"),
		}
		reply, err := w.optimize(p)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Patch struct{ Edits []edit }
		}
		if err := json.Unmarshal([]byte(reply), &v); err != nil {
			t.Fatalf("%s: %v", reply, err)
		}
		if len(v.Patch.Edits) > p.budget() {
			t.Fatalf("%d edits, the budget is %d", len(v.Patch.Edits), p.budget())
		}
	})
}
