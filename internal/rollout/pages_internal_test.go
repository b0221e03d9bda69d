package rollout

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/page"
	"github.com/seed-f4525e22/skillopt/internal/template"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	const long = "https://a.example/"
	for name, tt := range map[string]struct {
		value any
		want  []string
	}{
		"none":                 {nil, nil},
		"a number":             {7, nil},
		"a list":               {[]any{"https://a.example/x", "http://b.example"}, []string{"https://a.example/x", "http://b.example"}},
		"a list of texts":      {[]string{"https://a.example/x"}, []string{"https://a.example/x"}},
		"lists in lists":       {[]any{[]any{"https://a.example/x"}, 7, nil}, []string{"https://a.example/x"}},
		"a text":               {"See https://a.example/x, and (http://b.example/y).", []string{"https://a.example/x", "http://b.example/y"}},
		"lines":                {"https://a.example\nhttps://b.example\r\n", []string{"https://a.example", "https://b.example"}},
		"a list in Python":     {"['https://a.example/x', 'https://b.example']", []string{"https://a.example/x", "https://b.example"}},
		"with nothing between": {"https://a.example/x,https://b.example;http://c.example", []string{"https://a.example/x", "https://b.example", "http://c.example"}},
		"one within another":   {"https://keep.example/2020/https://a.example/", []string{"https://keep.example/2020/https://a.example/"}},
		"brackets in it":       {"https://a.example/River_(Alps)", []string{"https://a.example/River_(Alps)"}},
		"Markdown":             {"[here](https://a.example/x_(y)) and **https://b.example**", []string{"https://a.example/x_(y)", "https://b.example"}},
		"letters":              {"HTTPS://A.example/X", []string{"HTTPS://A.example/X"}},
		"each once":            {"https://a.example https://a.example", []string{"https://a.example"}},
		"at most so many":      {"https://a.example https://b.example https://c.example https://d.example", []string{"https://a.example", "https://b.example", "https://c.example"}},
		"other schemes":        {"ftp://a.example file:///etc/passwd javascript:alert(1) //a.example a.example", nil},
		"too long":             {long + strings.Repeat("x", maxAddress) + " " + long, []string{long}},
		"with a fence":         {"https://a.example/```x", []string{"https://a.example/"}},
		"steers":               {"https://a.example/\u202ex \u200b", []string{"https://a.example/"}},
	} {
		p := &Pages{Field: "urls", Most: 3}
		if diff := cmp.Diff(tt.want, p.Addresses(task.Task{Data: map[string]any{"urls": tt.value}}), cmp.Transformer("empty", func(s []string) string { return strings.Join(s, "\n") })); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if got := (*Pages)(nil).Addresses(task.Task{}); got != nil {
		t.Error(got)
	}
}

// Whatever a page holds stays between its fences, and what is ours stays outside.
func TestPagesStayWithinTheirFences(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching("(a|`|~|\n|## Page 1: x|\n```\n|'){0,12}"), 1, 4).Draw(t, "texts")
		var pages []page.Page
		whole := 0
		for _, text := range texts {
			p := page.Page{Address: "https://a.example/", Text: text, Failure: "it holds no text"}
			if text != "" {
				p.Failure = ""
				whole++
			}
			pages = append(pages, p)
		}
		inside, fences, heads := false, 0, 0
		said := strings.Split(pagesText(pages), "\n")
		for _, line := range said {
			switch {
			case line == fence:
				inside = !inside
				fences++
			case strings.Contains(line, fence):
				t.Fatalf("a fence within a line: %q", line)
			case !inside && strings.HasPrefix(line, "## Page "):
				heads++
			}
		}
		if fences != 2*whole || heads != len(pages) || inside || said[len(said)-1] != pagesAfter {
			t.Fatalf("%d fences of %d pages, %d heads of %d: %s", fences, whole, heads, len(pages), strings.Join(said, "\n"))
		}
	})
}

// scripted answers the turns of a conversation, one after the other.
type scripted struct {
	calls   []caller.Call
	replies []model.Response
	errs    []error
}

func (s *scripted) Do(_ context.Context, c caller.Call) (model.Response, error) {
	s.calls = append(s.calls, c)
	n := len(s.calls) - 1
	if n < len(s.errs) && s.errs[n] != nil {
		return model.Response{}, s.errs[n]
	}
	return s.replies[n], nil
}

func TestChatWithPages(t *testing.T) {
	t.Parallel()
	said := func(text string, finish model.Finish) model.Response {
		return model.Response{Text: text, Finish: finish, Usage: trajectory.Usage{Input: 1, Output: 2}}
	}
	first, second := said("no", model.FinishStop), said("<yes>", model.FinishStop)
	limit := &caller.TaskLimitError{Key: "k", Code: model.ContextLength, Err: errors.New("too long")}
	readable := func(context.Context, string) (page.Page, error) {
		return page.Page{Address: "https://a.example", Text: "x"}, nil
	}
	broken := errors.New("disk full")
	for name, tt := range map[string]struct {
		target *scripted
		get    func(context.Context, string) (page.Page, error)
		calls  int
		want   trajectory.Outcome
		err    error
	}{
		"asked again":        {&scripted{replies: []model.Response{first, second}}, readable, 2, trajectory.Outcome{Status: score.OK, Answer: "<yes>", Usage: trajectory.Usage{Input: 2, Output: 4}}, nil},
		"answers at once":    {&scripted{replies: []model.Response{second}}, readable, 1, trajectory.Outcome{Status: score.OK, Answer: "<yes>", Usage: trajectory.Usage{Input: 1, Output: 2}}, nil},
		"again no answer":    {&scripted{replies: []model.Response{first, first}}, readable, 2, trajectory.Outcome{Status: score.OK, Answer: "no", Usage: trajectory.Usage{Input: 2, Output: 4}}, nil},
		"nothing readable":   {&scripted{replies: []model.Response{first}}, func(context.Context, string) (page.Page, error) { return page.Page{Failure: "gone"}, nil }, 1, trajectory.Outcome{Status: score.OK, Answer: "no", Usage: trajectory.Usage{Input: 1, Output: 2}}, nil},
		"cut at first":       {&scripted{replies: []model.Response{said("no", model.FinishLength)}}, readable, 1, trajectory.Outcome{Status: score.AgentError, Usage: trajectory.Usage{Input: 1, Output: 2}}, nil},
		"cut at last":        {&scripted{replies: []model.Response{first, said("<ye", model.FinishLength)}}, readable, 2, trajectory.Outcome{Status: score.AgentError, Usage: trajectory.Usage{Input: 2, Output: 4}}, nil},
		"pages are too long": {&scripted{replies: []model.Response{first, {}}, errs: []error{nil, limit}}, readable, 2, trajectory.Outcome{Status: score.AgentError, Usage: trajectory.Usage{Input: 1, Output: 2}}, nil},
		"no second reply":    {&scripted{replies: []model.Response{first, {}}, errs: []error{nil, errInfrastructure}}, readable, 2, trajectory.Outcome{}, errInfrastructure},
		"record is broken":   {&scripted{replies: []model.Response{first}}, func(context.Context, string) (page.Page, error) { return page.Page{}, broken }, 1, trajectory.Outcome{}, broken},
	} {
		user, err := template.Parse("tasks.prompt", "{{prompt}}")
		if err != nil {
			t.Fatal(err)
		}
		c := &Chat{
			Model: tt.target, Prompt: &ChatPrompt{User: user, Bare: true},
			Pages: &Pages{Field: "urls", Most: 2, Finds: func(reply string) bool { return strings.Contains(reply, "<") }, Get: tt.get},
			Assess: func(_ context.Context, _ string, _ task.Task, ev Evidence) (Assessment, error) {
				if last := ev.Turns[len(ev.Turns)-1]; last.Content != ev.Reply {
					t.Errorf("%s: %q is scored of %+v", name, ev.Reply, ev.Turns)
				}
				return Assessment{Answer: ev.Reply}, nil
			},
		}
		out, err := c.Run(t.Context(), Place{Prefix: "p"}, task.Task{ID: "a", Prompt: "q", Data: map[string]any{"urls": "https://a.example"}}, skill.Skill{})
		got := trajectory.Outcome{Status: out.Status, Answer: out.Answer, Usage: out.Usage}
		if diff := cmp.Diff(tt.want, got); diff != "" || !errors.Is(err, tt.err) || len(tt.target.calls) != tt.calls {
			t.Errorf("%s: %d calls, %v, %s", name, len(tt.target.calls), err, diff)
		}
		for i, call := range tt.target.calls {
			if call.Turn != i+1 || call.Key != "p/a/sample0" || len(call.Messages) != 1+2*i || call.Messages[0].Content != "q" {
				t.Errorf("%s: call %d: %+v", name, i+1, call)
			}
		}
	}
}
