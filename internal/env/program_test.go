package env

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/skillenv"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

// playEpisodes is a program of skill-env/1 that does what commands say. traits are those of its handshake.
func playEpisodes(traits string) {
	in := bufio.NewReader(os.Stdin)
	held := "" // an answer that is written later
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var m skillenv.Message
		_ = json.Unmarshal([]byte(line), &m)
		answer := func(result string) {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
		switch m.Method {
		case skillenv.Initialize:
			answer(fmt.Sprintf(`{"name":"test","version":"1"%s}`, traits))
		case skillenv.Tasks:
			answer(`{"tasks":[{"id":"a","prompt":"p"},{"id":"b","prompt":"q"}]}`)
		case skillenv.Start:
			var o skillenv.Opening
			_ = json.Unmarshal(m.Params, &o)
			verb, argument, _ := strings.Cut(o.Task.Prompt, " ")
			if verb == "ask" {
				fmt.Printf(`{"jsonrpc":"2.0","id":"g1","method":"generate","params":{"episode":%q,%s}}`+"\n", o.Episode, argument)
				reply, _ := in.ReadString('\n')
				text, _ := json.Marshal(strings.TrimSpace(reply))
				answer(fmt.Sprintf(`{"text":%s,"done":true,"score":0.5}`, text))
				break
			}
			if !do(verb, argument, answer, m) {
				answer(fmt.Sprintf(`{"text":%q,"choices":["go"]}`, o.Episode+" "+o.Skill))
			}
		case skillenv.Act:
			var a skillenv.Action
			_ = json.Unmarshal(m.Params, &a)
			verb, argument, _ := strings.Cut(a.Command, " ")
			switch verb {
			case "hold":
				held = string(m.ID)
			case "release":
				if held == "" {
					answer(`{"text":"not yet"}`)
					break
				}
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"text":"held"}}`+"\n", held)
				answer(`{"text":"released"}`)
			default:
				if !do(verb, argument, answer, m) {
					answer(fmt.Sprintf(`{"text":%q}`, a.Episode+": "+a.Command))
				}
			}
		case skillenv.Close, skillenv.Shutdown:
			answer(`{}`)
		}
	}
}

// do does what a verb says; it reports whether it knows it.
func do(verb, argument string, answer func(string), m skillenv.Message) bool {
	switch verb {
	case "say":
		fmt.Println(argument)
	case "result":
		answer(argument)
	case "error":
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":%s}`+"\n", m.ID, argument)
	case "twice":
		answer(`{"text":"1"}`)
		answer(`{"text":"2"}`)
	case "die":
		fmt.Fprintln(os.Stderr, "out of cheese")
		os.Exit(3)
	case "hang":
		hang()
	case "long":
		fmt.Println(strings.Repeat("x", 17<<20))
	case "flood":
		for i := range 5000 {
			fmt.Printf(`{"jsonrpc":"2.0","id":%d,"method":"generate","params":{"episode":"e1"}}`+"\n", i)
		}
	default:
		return false
	}
	return true
}

func openTest(t *testing.T, traits string) *Program {
	t.Helper()
	o := testOptions(t, func(o *Options) { o.Environ, o.Asks = []string{"SKILLOPT_TEST_PROGRAM=episodes " + traits}, 2 })
	p, err := OpenProgram(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

func setting(prompt string) world.Setting {
	return world.Setting{Task: task.Task{ID: "t", Prompt: prompt}, Seed: 7}
}

// begin starts an episode.
func begin(t *testing.T, p *Program, prompt string) world.Episode {
	t.Helper()
	e, err := p.Open(t.Context(), setting(prompt))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return e
}

func TestEpisodesOfAProgram(t *testing.T) {
	t.Parallel()
	p := openTest(t, `,"concurrent":8,"pure":true`)
	if p.Name() != "test 1" || p.Concurrent() != 8 || !p.Pure() || p.Plays() {
		t.Errorf("%+v", p.info)
	}
	e, err := p.Open(t.Context(), setting("x"))
	if err != nil {
		t.Fatal(err)
	}
	scene, err := e.Start(t.Context())
	if diff := cmp.Diff(world.Scene{Text: "e1 ", Acts: true, Choices: []string{"go"}, Scores: true}, scene); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	half := 0.5
	for command, want := range map[string]world.Observation{
		"look ünder":                                                        {Text: "e1: look ünder"},
		`result {"text":"","score":0.5}`:                                    {Score: &half},
		`result {"text":"over","done":true,"score":null}`:                   {Text: "over", Done: true},
		`result {"text":"","failure":"lost: the way"}`:                      {Failure: "lost: the way", Done: true},
		`error {"code":-32000,"message":"no fuel","data":{"kind":"agent"}}`: {Failure: "program: no fuel", Done: true},
		`result {"text":"","choices":["a","b"]}`:                            {Choices: []string{"a", "b"}},
		"big " + strings.Repeat("x", 1<<20):                                 {Text: "e1: big " + strings.Repeat("x", 1<<20)},
	} {
		got, err := e.Act(t.Context(), world.Action{Text: command})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%.60s: %v (-want +got):\n%s", command, err, diff)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

// Ids say which request an answer is for: an episode that waits delays no other.
func TestEpisodesArePipelined(t *testing.T) {
	t.Parallel()
	p := openTest(t, `,"concurrent":2`)
	first, second := begin(t, p, "x"), begin(t, p, "y")
	var wait sync.WaitGroup
	wait.Go(func() {
		if got, err := first.Act(t.Context(), world.Action{Text: "hold"}); err != nil || got.Text != "held" {
			t.Errorf("%+v, %v", got, err)
		}
	})
	for {
		got, err := second.Act(t.Context(), world.Action{Text: "release"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Text == "released" {
			break
		}
	}
	wait.Wait()
}

// What does not fit the protocol measures nothing, and the program is started again.
func TestFaultsOfAProgram(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		command string
		kind    Kind
		says    string
		lives   bool // the process stays
	}{
		"twice":              {"twice", "", "", false},
		"not JSON":           {"say hello", Rubbish, `"hello", which is no message`, false},
		"NaN":                {`result {"text":"","score":NaN}`, Rubbish, "no message of JSON-RPC 2.0", false},
		"a score of 2":       {`result {"text":"","score":2}`, Rubbish, "its score is 2, allowed: 0 to 1", true},
		"a negative score":   {`result {"text":"","score":-0.1}`, Rubbish, "its score is -0.1", true},
		"a score as text":    {`result {"text":"","score":"1"}`, Rubbish, "does not fit", true},
		"a misspelt key":     {`result {"text":"","scores":1}`, Rubbish, `unknown field "scores"`, true},
		"two scores":         {`result {"text":"","score":1,"score":0}`, Rubbish, "twice", false},
		"an unknown id":      {`say {"jsonrpc":"2.0","id":99,"result":{}}`, Rubbish, "it answered request 99, which is not under way", false},
		"an id of its own":   {`say {"jsonrpc":"2.0","id":"x","result":{}}`, Rubbish, "no answer", false},
		"no id":              {`say {"jsonrpc":"2.0","method":"log","params":{}}`, Rubbish, "without an id", false},
		"an old version":     {`say {"id":1,"result":{}}`, Rubbish, "JSON-RPC 2.0", false},
		"neither":            {`say {"jsonrpc":"2.0","id":1}`, Rubbish, "either result or error", false},
		"17 MB":              {"long", TooLong, "longer than 16 MB", false},
		"death":              {"die", Died, "out of cheese", false},
		"a flood":            {"flood", Rubbish, "256", false},
		"a failure of infra": {`error {"code":-1,"message":"disk full","data":{"kind":"infra"}}`, Refused, "act: it could not measure: disk full", true},
		"an odd kind":        {`error {"code":-1,"message":"m","data":{"kind":"task"}}`, Rubbish, `"task", allowed: infra, agent`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openTest(t, `,"concurrent":2`)
			e := begin(t, p, "x")
			_, err := e.Act(t.Context(), world.Action{Text: tt.command})
			if name == "twice" { // the first of both is an answer
				<-e.(*episode).peer.gone
				err, tt.kind, tt.says = e.(*episode).peer.err, Rubbish, "it answered request 3, which is not under way"
			}
			var fault *Error
			if !errors.As(err, &fault) || fault.Kind != tt.kind || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %s: %s", err, tt.kind, tt.says)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			if got := !e.(*episode).peer.isGone(); got != tt.lives {
				t.Errorf("the process lives: %v", got)
			}
			if again := begin(t, p, "x"); tt.lives != (again.(*episode).peer == e.(*episode).peer) {
				t.Error("another process than expected")
			}
		})
	}
}

// A program that ends again before it has finished an episode is not started a third time. One that has finished one is.
func TestAProgramIsStartedOnceMore(t *testing.T) {
	t.Parallel()
	p := openTest(t, "")
	die := func() {
		t.Helper()
		if _, err := begin(t, p, "x").Act(t.Context(), world.Action{Text: "die"}); err == nil {
			t.Fatal("it lives")
		}
	}
	die()
	if err := begin(t, p, "x").Close(); err != nil { // an episode that ends well
		t.Fatal(err)
	}
	die()
	die()
	_, err := p.Open(t.Context(), setting("x"))
	var broken *BrokenError
	if !errors.As(err, &broken) || !strings.Contains(err.Error(), "out of cheese") {
		t.Errorf("got %v", err)
	}
}

// An answer that comes after no one waits for it any more is none to another request. A program that hangs is ended.
func TestLateAnswers(t *testing.T) {
	t.Parallel()
	p := openTest(t, `,"concurrent":2`)
	late, other := begin(t, p, "x"), begin(t, p, "y")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errDeadline)
	defer cancel()
	if _, err := late.Act(ctx, world.Action{Text: "hold"}); !errors.Is(err, errDeadline) {
		t.Errorf("got %v", err)
	}
	if got, err := other.Act(t.Context(), world.Action{Text: "release"}); err != nil || got.Text != "released" {
		t.Errorf("%+v, %v", got, err)
	}
	for _, e := range []world.Episode{late, other} {
		if err := e.Close(); err != nil || e.(*episode).peer.isGone() {
			t.Error("closed badly", err)
		}
	}
}

func TestGenerate(t *testing.T) {
	t.Parallel()
	client := modeltest.New(func(_ context.Context, _ int, req model.Request) (model.Response, error) {
		switch req.Messages[0].Content {
		case "long":
			return model.Response{}, &model.Error{Code: model.ContextLength, Err: errors.New("too long")}
		case "down":
			return model.Response{}, &model.Error{Code: model.Server, Err: errors.New("down")}
		}
		return model.Response{Text: req.Tags.Role + " " + fmt.Sprint(req.MaxTokens), Finish: model.FinishStop}, nil
	})
	p := openTest(t, `,"plays":true`)
	for name, tt := range map[string]struct{ prompt, want, failure, err string }{
		"the target":      {`ask "messages":[{"role":"user","content":"q"}],"max_tokens":5`, `{"text":"target 5","finish":"stop"}`, "", ""},
		"a judge":         {`ask "role":"judge","messages":[{"role":"user","content":"q"}]`, `{"text":"judge 0","finish":"stop"}`, "", ""},
		"another role":    {`ask "role":"optimizer","messages":[{"role":"user","content":"q"}]`, `the role \"optimizer\" is unknown`, "", ""},
		"no messages":     {`ask "messages":[]`, `there are no messages`, "", ""},
		"an odd message":  {`ask "messages":[{"role":"tool","content":"q"}]`, `a message of \"tool\"`, "", ""},
		"an unknown key":  {`ask "message":[]`, `unknown field \"message\"`, "", ""},
		"too long":        {`ask "messages":[{"role":"user","content":"long"}]`, `"data":{"kind":"agent"}`, "", ""},
		"infrastructure":  {`ask "messages":[{"role":"user","content":"down"}]`, `"data":{"kind":"infra"}`, "", ""},
		"no score":        {`result {"text":"x","done":true}`, "", "", "has no score"},
		"a failure":       {`result {"text":"x","failure":"lost: all"}`, "x", "lost: all", ""},
		"an agent's end":  {`error {"code":1,"message":"gave up","data":{"kind":"agent"}}`, "", "program: gave up", ""},
		"a broken server": {`error {"code":1,"message":"no net"}`, "", "", "could not measure: no net"},
	} {
		s := setting(tt.prompt)
		s.Client = client
		seen, _, err := p.Play(t.Context(), s, skill.New("the skill"))
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || !strings.Contains(seen.Text, tt.want) || seen.Failure != tt.failure {
			t.Errorf("%s: %+v, %v", name, seen, err)
		}
	}
	seen, said, err := p.Play(t.Context(), world.Setting{Task: task.Task{Prompt: `ask "messages":[{"role":"user","content":"q"}]`}, Client: client}, skill.New(""))
	want := []model.Message{{Role: model.User, Content: "q"}, {Role: model.Assistant, Content: "target 0"}}
	if diff := cmp.Diff(want, said); diff != "" || err != nil || *seen.Score != 0.5 {
		t.Errorf("%+v, %v (-want +got):\n%s", seen, err, diff)
	}
}

// A program that does not say what it is cannot be used.
func TestHandshake(t *testing.T) {
	t.Parallel()
	for traits, says := range map[string]string{
		`,"name":""`:       "twice",
		`,"speed":1`:       `unknown field "speed"`,
		`,"concurrent":-1`: "concurrent -1",
	} {
		_, err := OpenProgram(t.Context(), testOptions(t, func(o *Options) { o.Environ = []string{"SKILLOPT_TEST_PROGRAM=episodes " + traits} }))
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", traits, err)
		}
	}
	_, err := OpenProgram(t.Context(), testOptions(t, func(o *Options) {
		o.Environ, o.Timeout = []string{"SKILLOPT_TEST_PROGRAM=serve"}, 50*time.Millisecond // one of the other protocol, which waits for a task
	}))
	var fault *Error
	if !errors.As(err, &fault) {
		t.Errorf("got %v", err)
	}
}

func TestTasksOfAProgram(t *testing.T) {
	t.Parallel()
	lines, err := openTest(t, `,"tasks":true`).Tasks(t.Context())
	if diff := cmp.Diff("{\"id\":\"a\",\"prompt\":\"p\"}\n{\"id\":\"b\",\"prompt\":\"q\"}\n", string(lines)); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if lines, err := openTest(t, "").Tasks(t.Context()); lines != nil || err != nil {
		t.Errorf("%s, %v", lines, err)
	}
}
