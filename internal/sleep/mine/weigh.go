package mine

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/task"
)

// commandTimeout is that of a command that is a check: those of sessions are whole test suites.
const commandTimeout = "10m"

// Bounds on a check that is made from accepted files.
const (
	maxFiles    = 4
	maxFileText = 64 << 10
)

// Doubts about a task that is kept.
const (
	doubtLast    = "the session ended with the accepted answer: no one said that it was right"
	doubtTold    = "the user said the answer when correcting: could anybody know it from the request?"
	doubtRubric  = "it is judged by words alone"
	doubtCommand = "the command is one that the session ran: see whether it may run here"
)

// weighing decides which proposals about one session become tasks.
type weighing struct {
	*evidence

	rules *draft.Rules
	own   UserWords
	clean transcript.Cleaner
	files func(ctx context.Context, t transcript.Transcript, turn int) (map[string]string, error)
	taken []string // ids so far
}

// draftedTask is a task on its way.
type draftedTask struct {
	proposal

	trust   wish.Trust
	judged  []map[string]any // checks: those of the proposal, or others in their place
	place   wish.Place
	written []string // files
	command string
	texts   map[string]string // of the files that were accepted
	doubts  []string
}

// weigh returns a proposal as a task, or why it is none. The cheap reasons come first.
func (w *weighing) weigh(ctx context.Context, p proposal) (wish.Task, draft.Reason, string, error) {
	var none wish.Task
	if p.err != nil {
		return none, p.why, p.err.Error(), nil
	}
	if why, detail := w.checkTurns(p); why != "" {
		return none, why, detail, nil
	}
	d := draftedTask{proposal: p, written: collectFiles(w.t.Turns[p.asked[0] : p.accepted+1])}
	if why, detail := w.asks(&d); why != "" {
		return none, why, detail, nil
	}
	if why, detail, err := w.outcome(ctx, &d); why != "" || err != nil {
		return none, why, detail, err
	}
	if w.rules.Similar(d.prompt + "\n" + d.input) {
		return none, draft.AlmostEqual, "", nil
	}
	t, err := w.task(&d)
	if err != nil {
		return none, "", "", err
	}
	if slices.Contains(w.taken, t.Task.ID) {
		return none, draft.AlmostEqual, "another task comes from the same answer", nil
	}
	w.taken = append(w.taken, t.Task.ID)
	return t, "", "", nil
}

// checkTurns reports why the turns are not what a proposal says of them, "" if they are.
func (w *weighing) checkTurns(p proposal) (draft.Reason, string) {
	n := len(w.t.Turns)
	switch {
	case p.asked[len(p.asked)-1] >= n || p.accepted >= n || p.corrected >= n:
		return NotSo, fmt.Sprintf("the session has %d turns", n)
	case p.asked[len(p.asked)-1] > p.accepted:
		return NotSo, "it was accepted before it was asked for"
	}
	if p.corrected < 0 {
		if _, found := w.findFlip(p.asked[0], p.corrected, p.accepted); !found {
			return NotSo, "nothing was corrected, and no command failed and later passed"
		}
		return w.took(p)
	}
	switch _, marked := w.corrected[p.corrected]; {
	case !marked:
		return NotSo, fmt.Sprintf("turn %d was not corrected", p.corrected)
	case p.asked[len(p.asked)-1] > p.corrected:
		return NotSo, "it was corrected before it was asked for"
	case w.acceptedAfter(p.corrected) != p.accepted:
		return NotSo, fmt.Sprintf("turn %d is not the one that was taken after turn %d", p.accepted, p.corrected)
	}
	return w.took(p)
}

// took reports whether the answer of the accepted turn was taken.
func (w *weighing) took(p proposal) (draft.Reason, string) {
	t := w.t.Turns[p.accepted]
	if _, again := w.corrected[p.accepted]; again || !hasAnswer(t) || refuses(t.Agent) {
		return NotSo, fmt.Sprintf("turn %d was corrected, or has no answer", p.accepted)
	}
	return "", ""
}

// groundedShare is how many of the words of a prompt have to be the user's.
const groundedShare = 0.6

// asks reports whether a task asks for what the user asked for, and completes its input.
func (w *weighing) asks(d *draftedTask) (draft.Reason, string) {
	var asked, all strings.Builder
	for i := range w.t.Turns[:d.accepted+1] {
		t := &w.t.Turns[i]
		all.WriteString(t.User + "\n")
		if slices.Contains(d.asked, i) {
			if t.Cut && len(t.User) > transcript.MaxUser*9/10 { // redaction makes a text shorter
				return CutAnswer, "the request was not kept whole"
			}
			asked.WriteString(w.t.Turns[i].User + "\n")
		}
	}
	if share, foreign := checkPromptWords(d.prompt, asked.String(), all.String()); share < groundedShare || foreign != "" {
		if foreign != "" {
			return NobodyAsked, "no one said " + foreign
		}
		return NobodyAsked, fmt.Sprintf("of its words %.0f %% are the user's", 100*share)
	}
	if d.input != "" && !strings.Contains(collapseSpaces(all.String()), collapseSpaces(d.input)) {
		return NobodySaid, d.input
	}
	if d.input == "" {
		d.input = w.material(d.asked, d.prompt)
	}
	if strings.Contains(collapseSpaces(d.prompt), collapseSpaces(d.input)) {
		d.input = ""
	}
	if d.corrected >= 0 {
		for _, turn := range w.correctionTurns(d) {
			if words := ownText(w.t.Turns[turn].User); draft.Repeats(d.prompt, words) && !draft.Repeats(asked.String(), words) {
				return draft.Quotes, words
			}
		}
	}
	return "", ""
}

// correctionTurns returns the turns in which the user said what was wrong.
func (w *weighing) correctionTurns(d *draftedTask) []int {
	var out []int
	for i := d.corrected + 1; i <= d.accepted; i++ {
		if !slices.Contains(d.asked, i) {
			out = append(out, i)
		}
	}
	return out
}

func collapseSpaces(text string) string { return strings.Join(strings.Fields(text), " ") }

// material returns what the user gave with a request and the prompt leaves out.
func (w *weighing) material(asked []int, prompt string) string {
	var out []string
	for _, turn := range asked {
		if _, others := splitMessage(w.t.Turns[turn].User); others != "" && !strings.Contains(collapseSpaces(prompt), collapseSpaces(others)) {
			out = append(out, others)
		}
	}
	text := strings.Join(out, "\n\n")
	if len(text) > maxInput {
		return ""
	}
	return text
}

// outcome decides how a task is judged; it tries the strongest evidence first.
func (w *weighing) outcome(ctx context.Context, d *draftedTask) (draft.Reason, string, error) {
	found := w.byCommand(d)
	if !found {
		var err error
		if found, err = w.byFiles(ctx, d); err != nil {
			return "", "", err
		}
	}
	if found {
		why, detail := w.usable(d)
		return why, detail, nil
	}
	if d.corrected < 0 {
		return NotSo, "no command failed and later passed in these turns", nil
	}
	if d.rubric == "" && len(d.checks) == 0 {
		return NoOutcome, "", nil
	}
	if d.rubric != "" {
		why, detail := w.byRubric(d)
		return why, detail, nil
	}
	why, detail := w.byCorrection(d)
	return why, detail, nil
}

func (w *weighing) byCommand(d *draftedTask) bool {
	f, found := w.findFlip(d.asked[0], d.corrected, d.accepted)
	if !found {
		return false
	}
	d.trust, d.command, d.gold = wish.ByCommand, f.text, nil
	d.judged = []map[string]any{{"type": "command", "run": f.text, "timeout": commandTimeout}}
	d.doubts = append(d.doubts, doubtCommand)
	w.workspace(d)
	return true
}

// workspace says where a task that produced files is carried out.
func (w *weighing) workspace(d *draftedTask) {
	d.place = wish.Place{Commit: w.t.Commit}
	for i := range w.t.Turns[:d.accepted+1] {
		for _, list := range [][]string{w.t.Turns[i].Files, w.t.Turns[i].Read} {
			for _, f := range list {
				if f = strings.ReplaceAll(f, `\`, "/"); filepath.IsLocal(f) && !strings.HasPrefix(f, "~") && !slices.Contains(d.place.Files, f) {
					d.place.Files = append(d.place.Files, f)
				}
			}
		}
	}
}

// byFiles makes a task of the files of the accepted turn, if all that it wrote is known.
func (w *weighing) byFiles(ctx context.Context, d *draftedTask) (bool, error) {
	files := w.t.Turns[d.accepted].Files
	if w.files == nil || len(files) == 0 || len(files) > maxFiles {
		return false, nil
	}
	texts, err := w.files(ctx, *w.t, d.accepted)
	if err != nil {
		return false, fmt.Errorf("mine: accepted files: %w", err)
	}
	var checks []map[string]any
	for _, name := range slices.Sorted(slices.Values(files)) {
		text, known := texts[name]
		if !known || text == "" || len(text) > maxFileText {
			return false, nil
		}
		checks = append(checks, map[string]any{"type": "file-equals", "path": name, "value": w.clean.Text(text)})
	}
	d.trust, d.judged, d.gold, d.texts = wish.ByFiles, checks, nil, texts
	w.workspace(d)
	return true, nil
}

// byRubric makes a task that a judge decides, by words that the user said when they corrected.
// Checks that came along are reported, and count for nothing: who can choose their words passes them.
func (w *weighing) byRubric(d *draftedTask) (draft.Reason, string) {
	var said strings.Builder
	for _, turn := range w.correctionTurns(d) {
		said.WriteString(ownText(w.t.Turns[turn].User) + "\n")
	}
	if d.quote == "" || !draft.Holds(said.String(), d.quote) {
		return NoWords, "quote: " + d.quote
	}
	if !areRelated(d.rubric, said.String()) {
		return NoWords, d.rubric
	}
	if !w.about(d) {
		return Unrelated, ""
	}
	d.trust, d.gold = wish.ByRubric, nil
	rubric := map[string]any{"type": "llm-rubric", "criteria": d.rubric}
	if files := w.t.Turns[d.accepted].Files; len(files) > 0 {
		rubric["files"] = slices.Sorted(slices.Values(files[:min(len(files), maxFiles)]))
		w.workspace(d)
	}
	d.judged = []map[string]any{rubric}
	for _, c := range d.checks {
		c = maps.Clone(c)
		c["weight"], c["required"] = 0, false
		d.judged = append(d.judged, c)
	}
	d.doubts = append(d.doubts, doubtRubric)
	return w.usable(d)
}

// byCorrection makes a task whose checks distinguish the answers that the session holds.
func (w *weighing) byCorrection(d *draftedTask) (draft.Reason, string) {
	wrong, right := w.t.Turns[d.corrected], w.t.Turns[d.accepted]
	switch {
	case len(right.Files) > 0:
		return OnlyFiles, strings.Join(right.Files, ", ")
	case wrong.Cut || right.Cut:
		return CutAnswer, ""
	case strings.TrimSpace(wrong.Agent) == "":
		return NotApart, "the corrected turn has no answer"
	case !w.about(d):
		return Unrelated, ""
	}
	d.trust, d.judged = wish.ByCorrection, d.checks
	said := right.Agent
	for _, turn := range w.correctionTurns(d) {
		said += "\n" + w.t.Turns[turn].User
	}
	proposed := d.gold
	d.gold = slices.DeleteFunc(slices.Clone(d.gold), func(g string) bool { return !draft.Holds(said, g) })
	if len(proposed) > 0 && len(d.gold) == 0 {
		return NobodySaid, proposed[0]
	}
	if why, detail := w.usable(d); why != "" {
		return why, detail
	}
	t, err := w.newScoringTask(d)
	if err != nil {
		return draft.BadChecks, err.Error()
	}
	if s := w.rules.Score(w.clean.Text(right.Agent), t); s.Hard < 1 {
		return NotApart, "the accepted answer does not pass: " + s.Reason
	}
	if w.rules.Score(w.clean.Text(wrong.Agent), t).Hard > 0 {
		return NotApart, "the corrected answer passes"
	}
	return "", ""
}

// about reports whether the accepted answer is about what was asked: it has words, figures or
// files in common with the request or the corrected answer.
func (w *weighing) about(d *draftedTask) bool {
	right := w.t.Turns[d.accepted]
	before := w.t.Turns[d.corrected].Agent
	for _, turn := range d.asked {
		before += "\n" + w.t.Turns[turn].User
	}
	if len(collectFiles([]transcript.Turn{right})) > 0 && len(d.written) > 0 {
		return true
	}
	after := right.Agent
	for _, turn := range w.correctionTurns(d) {
		after += "\n" + w.t.Turns[turn].User
	}
	return areRelated(after, before)
}

// usable holds a task to the rules of drafts.
func (w *weighing) usable(d *draftedTask) (draft.Reason, string) {
	t, err := w.newScoringTask(d)
	if err != nil {
		return draft.BadChecks, err.Error()
	}
	return w.rules.Unusable(t)
}

// newScoringTask returns a task as far as it is needed to score answers.
func (w *weighing) newScoringTask(d *draftedTask) (task.Task, error) {
	checks, err := encode(d.judged)
	return task.Task{ID: "task", Prompt: d.fullPrompt(), Gold: d.gold, Checks: checks, Unreviewed: true}, err
}

func (d *draftedTask) fullPrompt() string {
	if d.input == "" {
		return d.prompt
	}
	return d.prompt + "\n\n" + d.input
}

// maxHidden is how much of the correction analysts are shown, in bytes.
const maxHidden = 1000

// task completes what is kept.
func (w *weighing) task(d *draftedTask) (wish.Task, error) {
	t, err := w.newScoringTask(d)
	if err != nil {
		return wish.Task{}, err
	}
	right := w.t.Turns[d.accepted]
	t.ID = "mined-" + digest(w.t.Source, right.ID, string(d.trust))
	if d.corrected >= 0 {
		t.Hidden = w.clean.Text(truncateText(w.correctionText(d), maxHidden))
		if slices.ContainsFunc(d.gold, func(g string) bool { return draft.Holds(t.Hidden, g) }) {
			d.doubts = append(d.doubts, doubtTold)
		}
		if d.accepted == len(w.t.Turns)-1 {
			d.doubts = append(d.doubts, doubtLast)
		}
	}
	out := wish.Task{
		Task: t, Trust: d.trust, Project: w.t.Project, Skill: w.findSkill(d.asked[0], d.accepted), Place: d.place,
		Seen: []wish.Ref{{Source: w.t.Source, Session: w.t.ID, Turn: right.ID}}, At: right.Ended.UTC(),
		Input: w.inputSignature(d), Outcome: w.outcomeSignature(d), Held: w.holdReason(d),
	}
	out.Place.From = w.t.Turns[d.asked[0]].ID
	if d.trust == wish.ByCommand || len(d.place.Files) > 0 {
		if d.place.Commit == "" {
			out.Unfit = "it needs files, and no commit of the project is known"
		}
	}
	if mark, dangerous := w.own.mark(strings.Join(append(d.literals(), d.prompt, d.rubric, t.Hidden), "\n")); mark != "" {
		d.doubts = append(d.doubts, mark)
		if dangerous && out.Held == "" {
			out.Held = mark
		}
	}
	if len(d.doubts) > 0 {
		doubts := make([]any, len(d.doubts))
		for i, text := range d.doubts {
			doubts[i] = text
		}
		out.Task.Data = map[string]any{"doubts": doubts}
	}
	return out, nil
}

// correctionText returns what the user said of the corrected answer, in their own words.
func (w *weighing) correctionText(d *draftedTask) string {
	var said []string
	for _, turn := range w.correctionTurns(d) {
		if text := ownText(w.t.Turns[turn].User); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n")
}

// holdReason returns why a task waits for a person. The command of a session's record, and paths of
// files that it wrote, are not words of a model.
func (w *weighing) holdReason(d *draftedTask) string {
	texts := append([]string{d.prompt, d.input, d.rubric}, d.gold...)
	literals := d.literals()
	for _, name := range slices.Sorted(maps.Keys(d.texts)) { // compared with, and shown to analysts where it differs
		for _, f := range findings(d.texts[name]) {
			if f.kind != kindURL && f.kind != kindPath && f.kind != kindCommand && !w.own.have(f) {
				return fmt.Sprintf("%s %s: %s", name, strings.TrimPrefix(string(f.kind), "it "), excerpt(f.what, 100))
			}
		}
	}
	for _, text := range slices.Concat(texts, literals) {
		if why := Suspicious(text, w.own); why != "" {
			return why
		}
	}
	for _, text := range slices.Concat([]string{d.prompt, d.rubric}, d.gold, literals) {
		if word, found := w.own.takes(text); found {
			return "it takes a word from an instruction in what was pasted or answered: " + word
		}
	}
	for _, text := range slices.Concat(d.gold, literals) {
		if said, found := w.own.echoes(text); found {
			return "it wants an answer that an instruction in what was pasted or answered asks for: " + excerpt(said, 100)
		}
	}
	return ""
}

// literals returns the texts of checks that a model wrote.
func (d *draftedTask) literals() []string {
	var out []string
	if d.trust == wish.ByCorrection || d.trust == wish.ByRubric {
		for _, c := range d.checks {
			for _, key := range slices.Sorted(maps.Keys(c)) {
				out = append(out, collectLiterals(c[key])...)
			}
		}
	}
	return out
}

func collectLiterals(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, one := range v {
			out = append(out, collectLiterals(one)...)
		}
		return out
	}
	return nil
}
