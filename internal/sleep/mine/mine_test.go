package mine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/check"
	"github.com/seed-f4525e22/skillopt/internal/draft"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// session is one of a person with an agent: what was said in turns.
func session(id string, said ...string) transcript.Transcript {
	t := transcript.Transcript{Source: "claude", ID: id, Project: "/projects/books", Origin: transcript.Interactive, Started: noon}
	for i := 0; i+1 < len(said); i += 2 {
		at := noon.Add(time.Duration(i) * time.Minute)
		t.Turns = append(t.Turns, transcript.Turn{ID: fmt.Sprintf("%s-%d", id, i/2), Started: at, Ended: at.Add(time.Minute), User: said[i], Agent: said[i+1]})
		t.Ended = at.Add(time.Minute)
	}
	return t
}

// dueDate is a session in which a date was corrected.
func dueDate(id string) transcript.Transcript {
	return session(id,
		"Invoice 311 was issued on 5 March 2026 and is payable within 30 days. When is it due?", "Invoice 311 is due on April 4th, 2026.",
		"No, dates like 2026-01-31 please.", "Invoice 311 is due on 2026-04-04.",
		"Thanks. That's all.", "You are welcome.")
}

// dueTask is the proposal that fits it, with changes.
func dueTask(changes ...map[string]any) map[string]any {
	m := map[string]any{
		"asked": []any{0}, "corrected": 0, "accepted": 1, "prompt": "Invoice 311 was issued on 5 March 2026 and is payable within 30 days. When is it due?",
		"input": "", "gold": []any{"2026-04-04"}, "checks": []any{map[string]any{"type": "contains", "values": []any{"2026-04-04"}}}, "rubric": "", "quote": "dates like 2026-01-31",
	}
	for _, c := range changes {
		for k, v := range c {
			m[k] = v
		}
	}
	return m
}

func replyOf(t testing.TB, tasks ...map[string]any) string {
	t.Helper()
	list := make([]any, len(tasks))
	for i, task := range tasks {
		list[i] = task
	}
	text, err := json.Marshal(map[string]any{"tasks": list})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// saying answers every request with one text.
func saying(text string) draft.Ask {
	return func(context.Context, draft.Request) (string, error) { return text, nil }
}

func mined(t testing.TB, reply string, sessions ...transcript.Transcript) Mined {
	t.Helper()
	m, err := Run(t.Context(), Options{Sessions: sessions, Clean: redact.New(), Ask: saying(reply)})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestCorrectedAnswer(t *testing.T) {
	t.Parallel()
	m := mined(t, replyOf(t, dueTask()), dueDate("s1"))
	if len(m.Tasks) != 1 {
		t.Fatalf("%+v", m.Funnel)
	}
	if e := m.Funnel.KeptExamples; len(e) != 1 || e[0].Session != "s1" || e[0].Detail != "correction" || m.Funnel.HeldExamples != nil {
		t.Errorf("%+v", m.Funnel)
	}
	got := m.Tasks[0]
	if got.Trust != wish.ByCorrection || got.Held != "" || got.Unfit != "" || !got.Task.Unreviewed || !got.Place.Chat() || got.Project != "/projects/books" {
		t.Errorf("%+v", got)
	}
	if got.Task.Gold[0] != "2026-04-04" || got.Task.Hidden != "No, dates like 2026-01-31 please." || got.Seen[0].Turn != "s1-1" || !got.At.Equal(noon.Add(3*time.Minute)) {
		t.Errorf("%+v", got)
	}
	if got.Input == "" || got.Outcome == "" || strings.Contains(got.Input+got.Outcome, "311") {
		t.Errorf("input %q, outcome %q", got.Input, got.Outcome)
	}
}

// TestNothingIsBelieved has a model say what is not so.
func TestNothingIsBelieved(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change map[string]any
		want   draft.Reason
	}{
		"a turn that is not there":           {map[string]any{"accepted": 7}, NotSo},
		"asked after it was accepted":        {map[string]any{"asked": []any{2}}, NotSo},
		"corrected before it was asked":      {map[string]any{"asked": []any{0, 1}}, NotSo},
		"a turn that was not corrected":      {map[string]any{"corrected": 1, "accepted": 2}, NotSo},
		"another answer than the one taken":  {map[string]any{"accepted": 2}, NotSo},
		"no correction and no command":       {map[string]any{"corrected": nil}, NotSo},
		"a negative turn":                    {map[string]any{"asked": []any{-1}}, draft.NotWhole},
		"no prompt":                          {map[string]any{"prompt": ""}, draft.NotWhole},
		"a prompt that nobody said":          {map[string]any{"prompt": "Draft an essay about whales in arctic waters and their songs"}, NobodyAsked},
		"a figure that nobody said":          {map[string]any{"prompt": "Invoice 312 was issued on 5 March 2026 and is payable within 30 days. When is it due?"}, NobodyAsked},
		"an input that nobody gave":          {map[string]any{"input": "Invoice 311, issued today"}, NobodySaid},
		"a gold that nobody said":            {map[string]any{"gold": []any{"2026-04-05"}}, NobodySaid},
		"a prompt that quotes the rule":      {map[string]any{"prompt": "Invoice 311 was issued on 5 March 2026 and is payable within 30 days. When is it due? No, dates like 2026-01-31 please"}, draft.Quotes},
		"neither checks nor rubric":          {map[string]any{"checks": []any{}}, NoOutcome},
		"checks that both answers pass":      {map[string]any{"checks": []any{map[string]any{"type": "contains", "values": []any{"311"}}}, "gold": nil}, draft.Echo},
		"checks that the corrected passes":   {map[string]any{"checks": []any{map[string]any{"type": "contains", "values": []any{"is due on"}}}, "gold": nil}, NotApart},
		"checks that the accepted fails":     {map[string]any{"checks": []any{map[string]any{"type": "equals", "values": []any{}}}}, NotApart},
		"checks that an empty answer passes": {map[string]any{"checks": []any{map[string]any{"type": "not-contains", "values": []any{"April"}}}}, draft.BadChecks},
		"a command that a model wrote":       {map[string]any{"checks": []any{map[string]any{"type": "command", "values": []any{"true"}}}}, draft.BadChecks},
		"a file that a model wants":          {map[string]any{"checks": []any{map[string]any{"type": "file-exists", "values": []any{"x"}}}}, draft.BadChecks},
		"a rubric without words":             {map[string]any{"rubric": "The date is right.", "quote": "please be exact"}, NoWords},
		"a rubric about something else":      {map[string]any{"rubric": "Nobody gets paid.", "quote": "dates like 2026-01-31"}, NoWords},
		"no object":                          {map[string]any{"asked": "first"}, draft.NotWhole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mined(t, replyOf(t, dueTask(c.change)), dueDate("s1"))
			if len(m.Tasks) != 0 || len(m.Funnel.Fell) != 1 || m.Funnel.Fell[0].Reason != string(c.want) {
				t.Errorf("%+v\n%+v", m.Tasks, m.Funnel.Fell)
			}
		})
	}
}

// TestTextsThatWereCut: of what was not kept whole nothing can be told.
func TestTextsThatWereCut(t *testing.T) {
	t.Parallel()
	answer, request, long := dueDate("s1"), dueDate("s1"), dueDate("s1")
	answer.Turns[1].Cut = true
	request.Turns[0].User += "\n```\n" + strings.Repeat("row\n", transcript.MaxUser/4)
	request.Turns[0].Cut = true
	long.Turns[2].Cut = true
	for name, c := range map[string]struct {
		s    transcript.Transcript
		kept int
	}{"the answer": {answer, 0}, "the request": {request, 0}, "what came later": {long, 1}} {
		m := mined(t, replyOf(t, dueTask()), c.s)
		if len(m.Tasks) != c.kept || c.kept == 0 && m.Funnel.Fell[0].Reason != string(CutAnswer) {
			t.Errorf("%s: %+v", name, m.Funnel)
		}
	}
}

func TestTrap22PatternThatDoesNotCompile(t *testing.T) {
	t.Parallel()
	m := mined(t, replyOf(t, dueTask(map[string]any{"checks": []any{map[string]any{"type": "regex", "values": []any{"(unclosed"}}}})), dueDate("s1"))
	if len(m.Tasks) != 0 || m.Funnel.Fell[0].Reason != string(draft.BadChecks) || !strings.Contains(m.Funnel.Fell[0].Examples[0].Detail, "(unclosed") {
		t.Errorf("%+v", m.Funnel)
	}
}

func TestTrap24RubricAndChecks(t *testing.T) {
	t.Parallel()
	checks := []any{map[string]any{"type": "contains", "values": []any{"2026-04-04"}}}
	rubric := "It writes dates as year, month and day."
	m := mined(t, replyOf(t, dueTask(map[string]any{"checks": checks, "rubric": rubric})), dueDate("s1"))
	if len(m.Tasks) != 1 || m.Tasks[0].Trust != wish.ByRubric ||
		string(m.Tasks[0].Task.Checks) != `[{"criteria":"It writes dates as year, month and day.","type":"llm-rubric"},{"required":false,"type":"contains","value":"2026-04-04","weight":0}]` {
		t.Fatalf("rubric and checks: %+v %+v", m.Tasks, m.Funnel)
	}
	// The rubric judges: what the checks say changes no score.
	var spec any
	if err := json.Unmarshal(m.Tasks[0].Task.Checks, &spec); err != nil {
		t.Fatal(err)
	}
	suite, err := check.Compile(spec, check.Options{Judge: true})
	if err != nil {
		t.Fatal(err)
	}
	for answer, says := range map[string]string{"on 2026-04-04": `{"reason": "", "score": 0}`, "on the 4th": `{"reason": "", "score": 1}`} {
		got, err := suite.Assess(t.Context(), check.Evidence{Answer: answer}, m.Tasks[0].Task, check.Means{Judge: func(context.Context, string, check.JudgeRequest) (string, error) { return says, nil }})
		if want := float64(strings.Count(says, "1")); err != nil || got.Hard != want || got.Soft != want {
			t.Errorf("%q, of which the judge says %s: %+v, %v", answer, says, got, err)
		}
	}
	for _, none := range []any{nil, 7, "  "} {
		m := mined(t, replyOf(t, dueTask(map[string]any{"rubric": none})), dueDate("s1"))
		if len(m.Tasks) != 1 || m.Tasks[0].Trust != wish.ByCorrection || strings.Contains(string(m.Tasks[0].Task.Checks), "rubric") {
			t.Errorf("rubric %v: %+v %+v", none, m.Tasks, m.Funnel)
		}
	}
	m = mined(t, replyOf(t, dueTask(map[string]any{"rubric": "", "checks": []any{}})), dueDate("s1"))
	if len(m.Tasks) != 0 || m.Funnel.Fell[0].Reason != string(NoOutcome) || m.Funnel.Fell[0].N != 1 {
		t.Errorf("both empty: %+v %+v", m.Tasks, m.Funnel)
	}
}

func TestTrap25SpacesAroundValues(t *testing.T) {
	t.Parallel()
	m := mined(t, replyOf(t, dueTask(map[string]any{"checks": []any{
		map[string]any{"type": "regex", "values": []any{` \d{4}-\d\d-\d\d`}}, map[string]any{"type": "contains", "values": []any{"  2026-04-04 "}},
	}, "gold": nil})), dueDate("s1"))
	if len(m.Tasks) != 1 || string(m.Tasks[0].Task.Checks) != `[{"type":"regex","value":" \\d{4}-\\d\\d-\\d\\d"},{"type":"contains","value":"2026-04-04"}]` {
		t.Errorf("%+v %+v", m.Tasks, m.Funnel)
	}
}

func TestTrap67ProseWithBracketsBeforeTheReply(t *testing.T) {
	t.Parallel()
	good := replyOf(t, dueTask())
	for name, reply := range map[string]string{
		"brackets":      "I looked at turns [0, 1] {see above} and at {\"turn\": 1}. Here it is:\n" + good + "\nThat {is} all.",
		"fenced":        "Tasks [one]:\n```json\n" + good + "\n```\nDone.",
		"open brace":    "The set {a, b is open.\n" + good,
		"another first": `{"thoughts": "turn 0 was corrected"}` + "\n" + good,
	} {
		if m := mined(t, reply, dueDate("s1")); len(m.Tasks) != 1 {
			t.Errorf("%s: %+v", name, m.Funnel)
		}
	}
	for name, reply := range map[string]string{
		"two to choose from": good + "\n" + good, "nothing": "No tasks.", "a key twice": strings.Replace(good, `{"tasks":`, `{"tasks":[],"tasks":`, 1), "cut": good[:len(good)-4],
	} {
		if _, err := readReply(reply, redact.New()); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestSessionsThatAreNotSent(t *testing.T) {
	t.Parallel()
	headless, failed, thanks, mind, open := dueDate("headless"), dueDate("failed"), session("thanks", "When is it due, 5 March?", "On March 5th.", "No, that's all, thanks!", "You are welcome."),
		session("mind", "When is it due, 5 March?", "On March 5th.", "Actually, never mind. What is the capital of France?", "Paris."), session("open", "When is it due, 5 March?", "On March 5th.", "No, that is wrong.", "On March 6th.", "No, still wrong.", "")
	headless.Origin = transcript.Headless
	for i := range failed.Turns {
		failed.Turns[i].Failed, failed.Turns[i].Agent = "overloaded", ""
	}
	m, err := Run(t.Context(), Options{Sessions: []transcript.Transcript{headless, failed, thanks, mind, open}, Clean: redact.New(), Ask: func(context.Context, draft.Request) (string, error) {
		t.Error("a session was sent that shows nothing")
		return "", draft.ErrLost
	}})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, c := range m.Funnel.LeftOut {
		got[c.Reason] = c.N
	}
	if got[string(NotInteractive)] != 1 || got[string(NoAnswer)] != 1 || got[string(NothingShown)] != 2 || got[string(NeverAccepted)] != 1 || m.Funnel.Sessions != 5 || m.Funnel.Candidates != 0 {
		t.Errorf("%+v", m.Funnel)
	}
}
