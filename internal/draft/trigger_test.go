package draft_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/task"
)

const deskSkill = "---\nname: harbour-desk\ndescription: Answers what is asked at the counter of the ferry harbour. Use for fares and sailings.\n---\n" + skillText

// prompter plays the optimizer: it writes prompts in made-up words, and sorts them by those.
type prompter struct {
	mu     sync.Mutex
	asked  []draft.Request
	write  func(key string, n int, kind string) string // overrides the nth prompt of a call, "" = its own
	reply  func(key string) (string, bool)             // overrides a reply
	judges func(key string, n int, should bool) bool   // overrides what is said of a prompt
	err    func(q draft.Request) error
}

var (
	asksForPrompts = regexp.MustCompile(`(?m)^- (\d+) prompts? of the kind (should|should_not): about lines \d+-\d+ of (\S+)`)
	requestLine    = regexp.MustCompile(`(?m)^\{"n":(\d+),"prompt":"(.*)"\}$`)
)

func (p *prompter) Ask(_ context.Context, q draft.Request) (string, error) {
	p.mu.Lock()
	p.asked = append(p.asked, q)
	p.mu.Unlock()
	if p.err != nil {
		if err := p.err(q); err != nil {
			return "", err
		}
	}
	text := p.prompts(q)
	if q.Stage == model.StageDraftCheck {
		text = p.opinions(q)
	}
	if p.reply != nil {
		if own, ok := p.reply(q.Key); ok {
			text = own
		}
	}
	if q.Accept(text) != nil {
		return "", draft.ErrLost
	}
	return text, nil
}

func (p *prompter) prompts(q draft.Request) string {
	var list []string
	for _, m := range asksForPrompts.FindAllStringSubmatch(q.User, -1) {
		n, _ := strconv.Atoi(m[1])
		for range n {
			i := len(list)
			own := ""
			if p.write != nil {
				own = p.write(q.Key, i, m[2])
			}
			if own == "" {
				own = promptJSON(m[2], fmt.Sprintf("%s%d", strings.ReplaceAll(q.Key, "/", ""), i))
			}
			list = append(list, own)
		}
	}
	return `{"prompts":[` + strings.Join(list, ",") + `]}`
}

// promptJSON is a prompt of words that no other has.
func promptJSON(kind, word string) string {
	text := fmt.Sprintf("%[1]s one%[1]s two%[1]s wanted%[2]s", word, kind)
	data, err := json.Marshal(map[string]string{"trigger": kind, "prompt": text, "why": "as " + kind})
	if err != nil {
		panic(err)
	}
	return string(data)
}

func (p *prompter) opinions(q draft.Request) string {
	var list []string
	for _, m := range requestLine.FindAllStringSubmatch(q.User, -1) {
		n, _ := strconv.Atoi(m[1])
		should := !strings.Contains(m[2], "wantedshould_not")
		if p.judges != nil {
			should = p.judges(q.Key, n, should)
		}
		list = append(list, fmt.Sprintf(`{"n":%d,"load":%v}`, n, should))
	}
	return `{"opinions":[` + strings.Join(list, ",") + `]}`
}

func deskMaterial(t *testing.T) draft.Material {
	t.Helper()
	m, err := draft.Read(put(t, map[string]string{"SKILL.md": deskSkill, "references/codes.md": "# Codes\nA code has four letters.\n"}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func triggers(t *testing.T, p *prompter, n int, known ...string) draft.TriggerResult {
	t.Helper()
	r, err := draft.Triggers(t.Context(), draft.Options{Material: deskMaterial(t), Tasks: n, Seed: 1, Ask: p.Ask, Known: known})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func why(r draft.TriggerResult) map[draft.Reason]int { return reasons(draft.Result{Fell: r.Fell}) }

func TestTriggersAreOfBothKinds(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 3, 12, 25} {
		p := &prompter{}
		r := triggers(t, p, n)
		if should, not := r.Count(task.TriggerShould), r.Count(task.TriggerShouldNot); should != (n+1)/2 || not != n/2 || len(r.Fell) > 0 {
			t.Errorf("%d: %d should, %d should not, fell %v", n, should, not, r.Fell)
		}
		write, check := draft.PlanTriggers(deskMaterial(t), n, 1)
		used := map[string]int{}
		for _, q := range p.asked {
			used[q.Stage]++
			if q.Stage == model.StageDraft && strings.Contains(q.User, "of references/codes.md (Codes)") != strings.Contains(q.User, "## File references/codes.md") {
				t.Errorf("%s: a reference is shown to those who are asked about it, and to no others", q.Key)
			}
			if q.Stage == model.StageDraftCheck && strings.Contains(q.User+q.System, "as should") {
				t.Errorf("%s: the kind is given away", q.Key)
			}
		}
		if used[model.StageDraft] > write || used[model.StageDraftCheck] > check {
			t.Errorf("%d: %v calls, planned at most %d and %d", n, used, write, check)
		}
	}
}

// TestTriggersCanBeMeasured loads what is written as evaluation does.
func TestTriggersCanBeMeasured(t *testing.T) {
	t.Parallel()
	lines, err := draft.EncodeTriggers(triggers(t, &prompter{}, 40).Tasks)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "triggers.jsonl")
	if err := os.WriteFile(path, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := task.Load(path, task.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	if tr := set.Triggers(); tr.Len() != 40 || tr.Unreviewed() != 40 || set.Len() != 0 || len(set.Warnings()) > 0 {
		t.Errorf("%d trigger tasks, %d unreviewed, %d others, warnings %q", tr.Len(), tr.Unreviewed(), set.Len(), set.Warnings())
	}
}

func TestTriggersThatFall(t *testing.T) {
	t.Parallel()
	say := func(prompt string) func(string, int, string) string {
		return func(_ string, n int, kind string) string {
			if n > 0 {
				return ""
			}
			text, err := json.Marshal(map[string]string{"trigger": kind, "prompt": prompt})
			if err != nil {
				t.Error(err)
			}
			return string(text)
		}
	}
	raw := func(text string) func(string, int, string) string {
		return func(_ string, n int, _ string) string {
			if n > 0 {
				return ""
			}
			return text
		}
	}
	for name, tt := range map[string]struct {
		write func(string, int, string) string
		want  draft.Reason
	}{
		"the name":                   {say("Let harbour-desk answer this"), draft.NamesSkill},
		"the name in other spelling": {say("Ask the Harbour Desk, please"), draft.NamesSkill},
		"the file":                   {say("Read skill.md and go on"), draft.NamesSkill},
		"the name behind controls":   {say("Let harbour\u200b-desk\u0007 answer"), draft.NamesSkill},
		"the description":            {say("Somebody answers what is asked at the counter of the harbour?"), draft.QuotesDescription},
		"a sentence of it":           {say("A table: use for fares and sailings"), draft.QuotesDescription},
		"what is there already":      {say("When does the boat leave, today?"), draft.AlmostEqual},
		"no prompt":                  {raw(`{"trigger":"should","prompt":" \u200b "}`), draft.NotWhole},
		"no words":                   {raw(`{"trigger":"should","prompt":"?!"}`), draft.NotWhole},
		"no kind":                    {raw(`{"prompt":"p"}`), draft.NotWhole},
		"another kind":               {raw(`{"trigger":"often","prompt":"p"}`), draft.NotWhole},
		"no object":                  {raw(`"p"`), draft.NotWhole},
		"a zero byte":                {raw(`{"trigger":"should","prompt":"a\u0000b"}`), draft.NotWhole},
		"a long prompt":              {say(strings.Repeat("word ", 4000)), draft.NotWhole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := triggers(t, &prompter{write: tt.write}, 6, "when does the boat leave today")
			if why(r)[tt.want] == 0 {
				t.Errorf("fell: %v", r.Fell)
			}
			for _, one := range r.Tasks {
				if strings.ContainsAny(one.Prompt, "\u200b\u0007\x00") || !strings.Contains(one.Prompt, "wanted") {
					t.Errorf("kept %q", one.Prompt)
				}
			}
		})
	}
}

func TestTriggersOfOddReplies(t *testing.T) {
	t.Parallel()
	many := make([]string, 10_000)
	for i := range many {
		many[i] = promptJSON("should", fmt.Sprintf("m%d", i))
	}
	for name, tt := range map[string]struct {
		text        string
		should, not int
		want        draft.Reason
	}{
		"no JSON":            {"I would rather not.", 0, 0, draft.NotWritten},
		"another object":     {`{"tasks":[]}`, 0, 0, draft.NotWritten},
		"an empty list":      {`{"prompts":[]}`, 0, 0, draft.NotWritten},
		"10,000 prompts":     {`{"prompts":[` + strings.Join(many, ",") + `]}`, 0, 0, draft.NotWritten},
		"one kind alone":     {`{"prompts":[` + strings.Join(many[:3], ",") + `]}`, 3, 0, draft.NotWritten},
		"more than asked":    {`{"prompts":[` + strings.Join(many[:20], ",") + `]}`, 3, 0, draft.Surplus},
		"the same and again": {`{"prompts":[` + strings.Repeat(many[0]+",", 9) + many[0] + `]}`, 1, 0, draft.AlmostEqual},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &prompter{reply: func(key string) (string, bool) {
				return tt.text, !strings.Contains(key, "/first/") && !strings.Contains(key, "/again/")
			}}
			m, err := draft.Read(put(t, map[string]string{"SKILL.md": deskSkill}))
			if err != nil {
				t.Fatal(err)
			}
			r, err := draft.Triggers(t.Context(), draft.Options{Material: m, Tasks: 6, Seed: 1, Ask: p.Ask})
			if err != nil {
				t.Fatal(err)
			}
			if r.Count(task.TriggerShould) != tt.should || r.Count(task.TriggerShouldNot) != tt.not || why(r)[tt.want] == 0 || len(r.Fell) > 60 {
				t.Errorf("%d should, %d should not, fell %v", r.Count(task.TriggerShould), r.Count(task.TriggerShouldNot), why(r))
			}
		})
	}
}

func TestTriggersThatFellAreReplaced(t *testing.T) {
	t.Parallel()
	p := &prompter{write: func(key string, _ int, kind string) string {
		if strings.HasPrefix(key, "t1/") && kind == "should_not" {
			return promptJSON("should", "x"+key) // one kind alone at first
		}
		return ""
	}}
	r := triggers(t, p, 12)
	if r.Count(task.TriggerShould) != 6 || r.Count(task.TriggerShouldNot) != 6 {
		t.Errorf("%d should, %d should not: %v", r.Count(task.TriggerShould), r.Count(task.TriggerShouldNot), why(r))
	}
	for _, q := range p.asked {
		if strings.HasPrefix(q.Key, "t2/c") && (strings.Contains(q.User, "of the kind should:") || strings.Contains(q.User, "(none)")) {
			t.Errorf("the second round asks for what is there, or is not told of it:\n%s", q.User)
		}
	}
}

// TestTriggersAreSortedAgain: what the author takes for the other kind falls; what it takes
// for that once, or says nothing of, has a doubt.
func TestTriggersAreSortedAgain(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		p      *prompter
		kept   int
		doubts string
	}{
		"never":      {&prompter{judges: func(_ string, _ int, should bool) bool { return !should }}, 0, ""},
		"at once":    {&prompter{}, 12, ""},
		"the second": {&prompter{judges: func(key string, _ int, should bool) bool { return should != strings.Contains(key, "/first/") }}, 12, "at first"},
		"no reply":   {&prompter{reply: func(key string) (string, bool) { return "no", strings.Contains(key, "/first/") }}, 12, "did not say"},
	} {
		r := triggers(t, tt.p, 12)
		if len(r.Tasks) != tt.kept || (tt.kept == 0) != (why(r)[draft.Misjudged] > 0) {
			t.Errorf("%s: kept %d, fell %v", name, len(r.Tasks), why(r))
		}
		for _, one := range r.Tasks {
			if got := strings.Join(one.Doubts, ""); (got == "") != (tt.doubts == "") || !strings.Contains(got, tt.doubts) {
				t.Errorf("%s: doubts %q", name, got)
			}
		}
	}
}

// TestOrderOfArrivalDoesNotMatterToTriggers has calls answered one at a time.
func TestOrderOfArrivalDoesNotMatterToTriggers(t *testing.T) {
	t.Parallel()
	broken := func(key string, n int, kind string) string {
		if hash(key)%3 == n%3 {
			return promptJSON(kind, "same")
		}
		return ""
	}
	want := triggers(t, &prompter{write: broken}, 30)
	ids := map[string]bool{}
	for _, one := range want.Tasks {
		if ids[one.ID] {
			t.Errorf("two tasks have the id %s", one.ID)
		}
		ids[one.ID] = true
	}
	for range 3 {
		p, gate := &prompter{write: broken}, make(chan struct{}, 1)
		r, err := draft.Triggers(t.Context(), draft.Options{Material: deskMaterial(t), Tasks: 30, Seed: 1, Ask: func(ctx context.Context, q draft.Request) (string, error) {
			gate <- struct{}{}
			defer func() { <-gate }()
			return p.Ask(ctx, q)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r); diff != "" {
			t.Fatal(diff)
		}
	}
}

func TestTriggerRefusals(t *testing.T) {
	t.Parallel()
	down := errors.New("the server is down")
	for _, stage := range []string{model.StageDraft, model.StageDraftCheck} {
		p := &prompter{err: func(q draft.Request) error {
			if q.Stage == stage {
				return down
			}
			return nil
		}}
		if _, err := draft.Triggers(t.Context(), draft.Options{Material: deskMaterial(t), Tasks: 5, Ask: p.Ask}); !errors.Is(err, down) {
			t.Errorf("%s: %v", stage, err)
		}
	}
	for _, n := range []int{-1, 0, 1, draft.MaxTasks + 1} {
		if _, err := draft.Triggers(t.Context(), draft.Options{Material: deskMaterial(t), Tasks: n, Ask: (&prompter{}).Ask}); err == nil {
			t.Errorf("%d trigger tasks can be asked for", n)
		}
	}
	if err := draft.CheckTriggers(desk(t)); err == nil || !strings.Contains(err.Error(), "front matter") {
		t.Errorf("a skill without front matter: %v", err)
	}
}
