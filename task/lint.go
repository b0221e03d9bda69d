package task

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/internal/wording"
)

// MinTasks is the number of tasks below which a set gets a warning: the
// differences between two skills are then mostly chance.
const MinTasks = 24

// Checker knows the checks that score a task. Package check implements it.
type Checker interface {
	// Check reports what is wrong with the checks that score t: they cannot be
	// read, they need a gold answer that t has not, or an empty answer passes
	// them. Several faults are joined. It makes no model calls.
	Check(t Task) error
}

// Doubter is a Checker that also knows what can be scored and yet measures nothing.
type Doubter interface {
	// Doubts reports what of that t is about, such as an accepted answer that its own
	// checks do not pass. Several are joined. It makes no model calls.
	Doubts(t Task) error
}

// Rules say what a sound set of tasks is.
type Rules struct {
	// Prompt and System are the texts of the set's templates, "" when there are
	// none. A task without a prompt of its own needs the first.
	Prompt, System string
	// Values are what the templates may use in addition to the fields of a task.
	Values map[string]any
	// Checker checks the checks. Without one, a task needs gold or checks of
	// its own.
	Checker Checker
	// NoTriggers is why trigger tasks cannot be measured, and what would allow them; "":
	// they can.
	NoTriggers string
	// Columns names, by field, the columns of a table that fields of its tasks are read from;
	// other columns are fields of their own names.
	Columns map[string]string
	// Reads are fields that something reads apart from the templates, such as gate.group.
	Reads []string
	// OwnScore says that the environment makes and scores its own tasks: they
	// need neither prompt nor gold, and equal texts do not make equal tasks.
	OwnScore bool
	// Published says that the splits are those of a published benchmark, and kept as they are:
	// tasks that ask the same in two of them are counted and warned of, and no error.
	Published bool
	// Guard holds files to what an untrusted caller may name. Nil: the caller is trusted.
	Guard Guard
}

// Guard says what files of tasks may hold that an untrusted caller has named. Its methods may be
// called concurrently.
type Guard interface {
	// Inside fails for a path that leads out of the folders of the caller.
	Inside(path string) error
	// Trust returns nil for the SHA-256, in hex, of a file that may say anything. The error says how
	// such a file is trusted.
	Trust(sum string) error
	// Refuse returns why a file that may not say anything may not hold t: what in it would run, open
	// or fetch something.
	Refuse(t Task) []error
}

// NewSet returns a set of tasks from a source of your own after the same
// scrutiny as Load's. It fails with an *Error that names every problem.
func NewSet(tasks []Task, rules Rules) (Set, error) {
	l, err := newLinter(rules, nil)
	for _, t := range tasks {
		l.add(t)
	}
	return l.set(&problems{}, err)
}

// set returns the tasks as a set, unless something is wrong: what ps has already, the
// templates, or what was found since.
func (l *linter) set(ps *problems, templateErr error) (Set, error) {
	all := l.tasks.join()
	s := Set{tasks: all, tables: l.tables}
	s.separateTriggers()
	if len(all) == 0 && len(ps.list) == 0 {
		ps.add(ps.path, "", "no tasks")
	}
	if templateErr != nil {
		ps.add("", "", "%v", templateErr)
		return Set{}, ps.err()
	}
	l.ids = nil
	ps.list = append(ps.list, l.found.list...)
	s.doubts = l.doubts.err()
	s.warnings = append(s.warnings, l.usual.report(ps)...)
	s.divide(ps)
	l.overlap(all, &s, ps)
	if err := ps.err(); err != nil {
		return Set{}, err
	}
	s.warnings = append(s.warnings, l.slips.warnings()...)
	for _, t := range l.tables {
		s.warnings = append(s.warnings, t.unread()...)
	}
	if len(s.tasks) < MinTasks && (len(s.tasks) > 0 || len(s.triggers) == 0) {
		s.warnings = append(s.warnings, fmt.Sprintf("only %s: with fewer than %d, differences between skills are mostly chance", wording.Plural(len(s.tasks), "task", "tasks"), MinTasks))
	}
	return s, nil
}

// linter checks tasks as they come, and keeps what a set needs of them.
type linter struct {
	rules          Rules
	keep           func(Task) Task // nil: all of a task is kept
	prompt, system *template.Template
	broken         bool // the templates cannot be used: nothing is checked

	tasks blocks[Task]              // whatever keep leaves out, each has its id, split and origin
	ids   map[string]int            // position of the first task of an id
	shown blocks[[sha256.Size]byte] // what the target would see, by position
	found problems

	doubts problems
	slips  slips
	used   []string // fields that the templates name
	tables []Table
	usual  *usual
}

func (l *linter) saw(t Table) { l.tables = append(l.tables, t) }

// newLinter fails if the templates are of no use. The linter can still count tasks.
func newLinter(r Rules, keep func(Task) Task) (*linter, error) {
	l := &linter{rules: r, keep: keep, ids: map[string]int{}}
	err := l.parseTemplates()
	l.usual = newUsual(r, l.used)
	l.broken = err != nil
	return l, err
}

func (l *linter) parseTemplates() (err error) {
	if l.prompt, err = parseTemplate("tasks.prompt", l.rules.Prompt); err != nil {
		return err
	}
	if l.system, err = parseTemplate("tasks.system", l.rules.System); err == nil {
		l.used = append(l.prompt.Names(), l.system.Names()...)
	}
	return err
}

// add checks a task and keeps it.
func (l *linter) add(t Task) {
	if !l.broken {
		l.lint(t)
	}
	if l.keep != nil {
		t = l.keep(t)
	}
	if _, known := l.ids[t.ID]; !known && t.ID != "" {
		l.ids[t.ID] = l.tasks.n
	}
	l.tasks.add(t)
}

// mark is how far a linter has come.
type mark struct{ tasks, found, doubts int }

func (l *linter) mark() mark {
	return mark{tasks: l.tasks.n, found: len(l.found.list), doubts: len(l.doubts.list)}
}

// forget undoes all that was added since m.
func (l *linter) forget(m mark) {
	l.tasks.cut(m.tasks)
	l.shown.cut(m.tasks)
	if m.tasks == 0 {
		l.slips = slips{}
	}
	l.found.list = l.found.list[:m.found]
	l.doubts.list = l.doubts.list[:m.doubts]
	maps.DeleteFunc(l.ids, func(_ string, place int) bool { return place >= m.tasks })
}

func parseTemplate(name, text string) (*template.Template, error) {
	t, err := template.Parse(name, text)
	if err != nil {
		return nil, err
	}
	for _, secret := range []string{"gold", "answer", "answers", "hidden", "checks"} {
		if slices.Contains(t.Names(), secret) {
			return nil, fmt.Errorf("%s: {{%s}} would show the target what it is scored against; name other fields only", name, secret)
		}
	}
	return t, nil
}

func (l *linter) lint(t Task) {
	ps := &l.found
	l.lintID(t, ps)
	l.lintPrompt(t, ps)
	if !l.rules.OwnScore { // an environment reads what it likes
		l.slips.look(t, l.used)
	}
	if slices.Contains(t.Gold, "") {
		ps.about(t, "gold holds an empty answer: an empty answer must not pass")
	}
	if len(t.Checks) > 0 && !json.Valid(t.Checks) {
		ps.about(t, "checks are not JSON")
		return
	}
	if t.Trigger != "" {
		l.lintTrigger(t, ps)
		return
	}
	l.lintChecks(t, ps)
}

func (l *linter) lintID(t Task, ps *problems) {
	if t.ID == "" {
		ps.about(t, "no id")
		return
	}
	place, twice := l.ids[t.ID]
	if !twice {
		return
	}
	switch first := l.tasks.at(place); {
	case first.Split != t.Split:
		ps.about(t, "overlapping splits: the id is in %s and in %s%s; remove one, or rename it if it is another task", t.Split, first.Split, at(first.Origin))
	default:
		ps.about(t, "duplicate id: it is already taken%s", at(first.Origin))
	}
}

func (l *linter) lintChecks(t Task, ps *problems) {
	if l.rules.OwnScore && len(t.Checks) == 0 && len(t.Gold) == 0 {
		return
	}
	if l.rules.Checker == nil {
		if len(t.Gold) == 0 && len(t.Checks) == 0 {
			ps.about(t, "neither gold nor checks: without them no answer can be scored")
		}
		return
	}
	err := l.rules.Checker.Check(t)
	tell(ps, t, err)
	if d, ok := l.rules.Checker.(Doubter); ok && err == nil {
		told := len(l.doubts.list)
		tell(&l.doubts, t, d.Doubts(t))
		for i := range l.doubts.list[told:] {
			p := &l.doubts.list[told+i]
			p.sameKind = quoted.ReplaceAllString(p.Msg, "")
		}
	}
}

// quoted are the parts of a message that differ from task to task.
var quoted = pattern.New(`"(?:[^"\\]|\\.)*"|\d+`)

// tell adds the parts of a joined error.
func tell(ps *problems, t Task, err error) {
	for _, err := range unjoin(err) {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			ps.about(t, "%s", line)
		}
	}
}

// unjoin returns the parts of a joined error.
func unjoin(err error) []error {
	if err == nil {
		return nil
	}
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		return many.Unwrap()
	}
	return []error{err}
}

// lintPrompt makes sure that the task has something to ask, and that the
// templates find in it all that they name. It keeps a hash of what the target
// would see.
func (l *linter) lintPrompt(t Task, ps *problems) {
	if t.Trigger != "" {
		l.lintTriggerPrompt(t, ps)
		return
	}
	if t.Prompt == "" && l.rules.Prompt == "" && !l.rules.OwnScore {
		ps.about(t, "no prompt: give the task one, or the set a template of its fields (tasks.prompt)%s", likelyPrompts(t))
	}
	values := t.Fields()
	for name, v := range l.rules.Values {
		if _, own := values[name]; !own {
			values[name] = v
		}
	}
	faults := len(ps.list)
	shown := t.Prompt
	if l.rules.Prompt != "" {
		shown = fill(l.prompt, values, t, ps)
	}
	system := fill(l.system, values, t, ps)
	if shown == "" || len(ps.list) > faults {
		l.shown.add(nothing)
		return
	}
	if images := t.Data[FieldImages]; images != nil { // the same question about another picture
		shown += fmt.Sprintf("\x00%q", images)
	}
	l.shown.add(sha256.Sum256([]byte(shown + "\x00" + system)))
}

// nothing represents a task that shows nothing: it is like no other task, and
// what is wrong with it has been said.
var nothing [sha256.Size]byte

func fill(tm *template.Template, values map[string]any, t Task, ps *problems) string {
	text, err := tm.Render(values)
	if err != nil {
		ps.about(t, "%v", err)
	}
	return text
}

// overlap finds tasks that look the same to the target. Across splits that is
// an error: what is trained on would be tested on. So it is in a set that is
// yet to be divided, where the seed would decide whether it leaks.
func (l *linter) overlap(tasks []Task, s *Set, ps *problems) {
	if l.rules.OwnScore {
		return
	}
	first := make(map[[sha256.Size]byte]int, len(tasks))
	same, shared := 0, []Pair(nil)
	for i, t := range tasks {
		shown := *l.shown.at(i)
		j, twice := first[shown]
		if !twice || shown == nothing {
			first[shown] = i
			continue
		}
		other := tasks[j]
		switch {
		case t.Split == "":
			ps.about(t, "asks the same as task %q%s; whichever way the set is split, one could be trained on and the other tested: remove one", other.ID, at(other.Origin))
		case t.Split != other.Split && l.rules.Published:
			shared = append(shared, Pair{t.ID, other.ID})
		case t.Split != other.Split:
			ps.about(t, "overlapping splits: it is in %s and asks the same as task %q in %s%s; remove one", t.Split, other.ID, other.Split, at(other.Origin))
		default:
			same++
		}
	}
	if len(shared) > 0 {
		s.warnings = append(s.warnings, PairWords(shared, "the same as a task of another published split")+": they count for no certificate")
	}
	if same > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("%s the same as another task of %s split", wording.Plural(same, "task asks", "tasks ask"), wording.PluralWord(same, "its", "their")))
	}
}

func at(origin string) string {
	if origin == "" {
		return ""
	}
	return " (" + origin + ")"
}
