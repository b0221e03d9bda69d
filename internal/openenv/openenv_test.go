package openenv

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const textSchema = `{"action":{"type":"object","required":["text"],"additionalProperties":false,"properties":{"text":{"type":"string","minLength":2},"metadata":{"type":"object"}}}}`

// script is a server: it answers each message with what the list has for it, in order. Further messages have no answer.
type script struct {
	schema  string
	early   []string // sent before anything is asked
	answers []string // "": none; "close": it hangs up; a list of messages, one a line
	got     chan string
}

const stateAnswer = `{"type":"state","data":{"step_count":0}}`

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/ws" {
		_, _ = io.WriteString(w, s.schema)
		return
	}
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer func() { _ = c.CloseNow() }()
	ctx := context.WithoutCancel(r.Context())
	for _, m := range s.early {
		_ = c.Write(ctx, websocket.MessageText, []byte(m))
	}
	for _, answer := range s.answers {
		_, data, err := c.Read(ctx)
		if err != nil {
			return
		}
		if s.got != nil {
			s.got <- string(data)
		}
		switch answer {
		case "":
			continue
		case "close":
			_ = c.Close(websocket.StatusInternalError, "it fell")
			return
		case "binary":
			_ = c.Write(ctx, websocket.MessageBinary, []byte("x"))
			continue
		}
		for m := range strings.Lines(answer) {
			_ = c.Write(ctx, websocket.MessageText, []byte(m))
		}
	}
	_, _, _ = c.Read(ctx) // the message close
	if s.got != nil {
		close(s.got)
	}
}

// open begins an episode on a server.
func open(t *testing.T, h http.Handler, data map[string]any) (world.Episode, error) {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	s, err := Connect(t.Context(), Options{URL: strings.Replace(server.URL, "http", "ws", 1) + "/ws", Reward: [2]float64{0, 1}})
	if err != nil {
		return nil, err
	}
	at := world.Setting{Task: task.Task{ID: "t1", Data: data}, Seed: 7}
	if err := s.Check([]task.Task{at.Task}); err != nil {
		return nil, err
	}
	e, err := s.Open(t.Context(), at)
	if err == nil {
		t.Cleanup(func() { _ = e.Close() })
	}
	return e, err
}

func observation(fields, reward, done string) string {
	return `{"type":"observation","data":{"observation":` + fields + `,"reward":` + reward + `,"done":` + done + `,"metadata":{"gold":"secret"}}}`
}

func TestEpisode(t *testing.T) {
	t.Parallel()
	one := 1.0
	half := 0.5
	h := &script{
		schema: textSchema, got: make(chan string, 10), answers: []string{
			stateAnswer,
			observation(`{"text":"Go.","choices":["on","off"],"metadata":{"gold":"secret"}}`, "null", "false"),
			observation(`{"text":"Hm.","choices":[],"metadata":{}}`, "0.5", "false"),
			`{"type":"error","data":{"message":"Invalid message","code":"VALIDATION_ERROR","errors":[{"loc":["text",0],"msg":"too odd","input":"secret"},{"loc":[],"msg":"no"}]}}`,
			observation(`{"text":"Won","map":[{"a":1,"metadata":"secret"},12345678901234567890]}`, "true", "true"),
			stateAnswer,
		},
	}
	e, err := open(t, h, map[string]any{"reset": map[string]any{"split": "train", "index": json.Number("3"), "seed": 1}, "gold": "secret"})
	if err != nil {
		t.Fatal(err)
	}
	scene, err := e.Start(t.Context())
	if diff := cmp.Diff(world.Scene{Text: "Go.\n\nA command is a text of this schema: {\"type\":\"string\",\"minLength\":2}", Acts: true, Scores: true, Choices: []string{"on", "off"}}, scene); diff != "" || err != nil {
		t.Error(err, diff)
	}
	for _, c := range []struct {
		command string
		want    world.Observation
	}{
		{"go", world.Observation{Text: "Hm.", Score: &half}},
		{"x", world.Observation{Failed: true, Score: &half, Text: `The action does not fit its schema: validating root: validating /properties/text: minLength: "x" contains 1 Unicode code points, fewer than 2`}},
		{"odd", world.Observation{Failed: true, Score: &half, Text: "The action was refused: Invalid message; text.0: too odd; no"}},
		{"on", world.Observation{Text: `{"map":[{"a":1},12345678901234567890],"text":"Won"}`, Done: true, Score: &one}},
	} {
		seen, err := e.Act(t.Context(), world.Action{Text: c.command})
		if diff := cmp.Diff(c.want, seen); diff != "" || err != nil {
			t.Error(c.command, err, diff)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	var got []string
	for m := range h.got {
		got = append(got, m)
	}
	if diff := cmp.Diff([]string{
		`{"type":"state"}`,
		`{"data":{"episode_id":"t1","index":3,"seed":1,"split":"train"},"type":"reset"}`,
		`{"data":{"text":"go"},"type":"step"}`, `{"data":{"text":"odd"},"type":"step"}`, `{"data":{"text":"on"},"type":"step"}`,
		`{"type":"state"}`,
	}, got); diff != "" {
		t.Error(diff)
	}
}

// TestServerIsOther checks what is no server of OpenEnv, or has moved.
func TestServerIsOther(t *testing.T) {
	t.Parallel()
	type handler = http.HandlerFunc
	elsewhere := httptest.NewServer(handler(func(http.ResponseWriter, *http.Request) { t.Error("a redirect was followed") }))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		h    http.Handler
		want string
	}{
		"no schema":   {http.NotFoundHandler(), "GET /schema answered 404 Not Found; want a server of the Python package openenv"},
		"text":        {handler(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }), "GET /schema does not say what an action is"},
		"no action":   {handler(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }), "GET /schema does not say what an action is"},
		"bad schema":  {&script{schema: `{"action":7}`}, "GET /schema: action: not a JSON Schema"},
		"reference":   {&script{schema: `{"action":{"$ref":"` + elsewhere.URL + `"}}`}, "it refers to another document"},
		"large":       {handler(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, maxSchema+1)) }), "more than 1 MiB"},
		"redirect":    {http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect), "GET /schema answered 307"},
		"redirect ws": {redirected(elsewhere.URL), "GET /ws answered 307 Temporary Redirect instead of opening a websocket"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, c.h, nil)
			var fault *ServerError
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "env.url http://127.0.0.1:") {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	if _, err := Connect(t.Context(), Options{URL: server.URL + "?key=secret"}); err == nil || !strings.Contains(err.Error(), "refused; start the server, or correct the address") || strings.Contains(err.Error(), "secret") {
		t.Error(err)
	}
}

// redirected has a schema, and its websocket elsewhere.
func redirected(to string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/schema", &script{schema: textSchema})
	mux.Handle("/ws", http.RedirectHandler(to, http.StatusTemporaryRedirect))
	return mux
}

// TestFaults checks that whatever a server does wrong is an error with a reason, never a score.
func TestFaults(t *testing.T) {
	t.Parallel()
	good := observation(`{"text":"Go."}`, "null", "false")
	failed := func(code string) string { return `{"type":"error","data":{"message":"oh","code":"` + code + `"}}` }
	for name, c := range map[string]struct {
		early   []string
		answers []string
		want    string
	}{
		"early observation":    {early: []string{good}, answers: []string{stateAnswer, good, good}, want: " message "},
		"session error":        {answers: []string{failed("SESSION_ERROR")}, want: "it answered SESSION_ERROR: oh"},
		"bad reset":            {answers: []string{stateAnswer, failed("VALIDATION_ERROR")}, want: "it answered VALIDATION_ERROR: oh; correct the field reset of the task"},
		"raised at reset":      {answers: []string{failed("EXECUTION_ERROR"), failed("EXECUTION_ERROR")}, want: "it answered EXECUTION_ERROR: oh"},
		"raised":               {answers: []string{stateAnswer, good, failed("EXECUTION_ERROR")}, want: `it answered EXECUTION_ERROR: oh; the environment failed at the action {"text":"go"}`},
		"closes":               {answers: []string{stateAnswer, good, "close"}, want: "it closed the session in the middle of the episode: 1011 it fell"},
		"closes first":         {answers: []string{"close"}, want: "it closed the session in the middle of the episode: 1011 it fell"},
		"binary":               {answers: []string{stateAnswer, "binary"}, want: "it sent a binary message"},
		"floods":               {answers: []string{stateAnswer, strings.Repeat(good+"\n", 3), good, good, stateAnswer}, want: " message"},
		"large":                {answers: []string{stateAnswer, observation(`{"text":"`+strings.Repeat("x", 17<<20)+`"}`, "null", "false")}, want: "it sent a message of more than 16 MiB"},
		"no JSON":              {answers: []string{stateAnswer, "Go."}, want: "its answer to reset is not JSON of OpenEnv"},
		"other type":           {answers: []string{stateAnswer, stateAnswer}, want: `it answered reset with a message of type "state", want observation`},
		"error without a code": {answers: []string{stateAnswer, `{"type":"error","data":7}`}, want: "its error cannot be read"},
		"no observation":       {answers: []string{stateAnswer, `{"type":"observation","data":{"reward":1,"done":true}}`}, want: "observation is missing"},
		"observation is text":  {answers: []string{stateAnswer, observation(`"x"`, "1", "true")}, want: "its observation cannot be read"},
		"over at once":         {answers: []string{stateAnswer, observation(`{"text":"x"}`, "1", "true")}, want: "the episode was over after its reset"},
		"reward NaN":           {answers: []string{stateAnswer, good, observation(`{"text":"x"}`, "NaN", "true")}, want: "its answer to step is not JSON of OpenEnv"},
		"reward Infinity":      {answers: []string{stateAnswer, good, observation(`{"text":"x"}`, "1e999", "true")}, want: "reward: found 1e999, want a number or null"},
		"reward text":          {answers: []string{stateAnswer, good, observation(`{"text":"x"}`, `"1"`, "true")}, want: `reward: found "1", want a number or null`},
		"reward list":          {answers: []string{stateAnswer, good, observation(`{"text":"x"}`, `[1]`, "true")}, want: "reward: found [1], want a number or null"},
		"done is text":         {answers: []string{stateAnswer, good, observation(`{"text":"x"}`, "1", `"yes"`)}, want: "its observation cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, err := open(t, &script{schema: textSchema, early: c.early, answers: c.answers}, nil)
			if err == nil {
				_, err = e.Start(t.Context())
			}
			for i := 0; err == nil && i < 2; i++ {
				_, err = e.Act(t.Context(), world.Action{Text: "go", Last: i == 1})
			}
			var fault *ServerError
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// TestActionWithOptions checks the actions of servers that have tools: a text is required, and may not be all.
func TestActionWithOptions(t *testing.T) {
	t.Parallel()
	a, err := parseAction(json.RawMessage(`{"type":"object","required":["tool_name"],"additionalProperties":false,"properties":{"type":{"const":"call_tool","type":"string"},"tool_name":{"type":"string","description":"the tool"},"arguments":{"type":"object"},"metadata":{"type":"object"}}}`))
	if err != nil || !strings.HasPrefix(a.rule, "A command is the text tool_name, or a JSON object of this schema: {") {
		t.Fatal(a.rule, err)
	}
	for command, want := range map[string]string{
		"look": `{"tool_name":"look"}`,
		`{"tool_name": "say", "arguments": {"n": 1}}`: `{"arguments":{"n":1},"tool_name":"say"}`,
		`{"tool": "say"}`:  "",
		`{"tool_name": 7}`: "",
		`{broken`:          "",
	} {
		got, refusal := a.encode(command)
		if string(got) != want || (refusal == "") != (want != "") {
			t.Errorf("%s: %s, %s", command, got, refusal)
		}
	}
}

// TestTargetsThatGiveNoActionFail checks that the last refusal is a failure of the target where no action was taken, and
// that one after a step leaves the score as it is.
func TestTargetsThatGiveNoActionFail(t *testing.T) {
	t.Parallel()
	for _, stepped := range []bool{false, true} {
		e, err := open(t, &script{schema: textSchema, answers: []string{stateAnswer, observation(`{"text":"Go."}`, "null", "false"), observation(`{"text":"Hm."}`, "0.5", "false")}}, nil)
		if err == nil {
			_, err = e.Start(t.Context())
		}
		if err == nil && stepped {
			_, err = e.Act(t.Context(), world.Action{Text: "go"})
		}
		if err != nil {
			t.Fatal(err)
		}
		seen, err := e.Act(t.Context(), world.Action{Text: "x", Last: true})
		if failed := strings.HasPrefix(seen.Failure, "action: no command was an action of the server; the last one: The action does not fit"); err != nil || failed == stepped || stepped != (seen.Score != nil) {
			t.Errorf("stepped %v: %+v, %v", stepped, seen, err)
		}
	}
}

// TestSilence checks that a server that says nothing is given up with the context.
func TestSilence(t *testing.T) {
	t.Parallel()
	e, err := open(t, &script{schema: textSchema, answers: []string{stateAnswer, ""}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	late := errors.New("too late")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, late)
	defer cancel()
	if _, err := e.Start(ctx); !errors.Is(err, late) {
		t.Error(err)
	}
}

// TestFullServers checks that a server without a free session is asked again, and what the user reads where none gets free.
func TestFullServers(t *testing.T) {
	t.Parallel()
	const full = `{"type":"error","data":{"message":"Server at capacity","code":"CAPACITY_REACHED","active_sessions":2,"max_sessions":2}}`
	for _, c := range []struct {
		full int32 // connections
		want string
	}{
		{2, ""},
		{100, "it has no free session (CAPACITY_REACHED): it allows 2 at a time, after 5 tries; set limits.concurrency to what the server allows, or start it with more max_concurrent_envs"},
	} {
		var asked atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := script{schema: textSchema, answers: []string{stateAnswer}}
			if r.URL.Path == "/ws" && asked.Add(1) <= c.full {
				h.early, h.answers = []string{full}, []string{"close"}
			}
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		s, err := Connect(t.Context(), Options{URL: server.URL})
		if err != nil {
			t.Fatal(err)
		}
		s.pause = time.Millisecond
		e, err := s.Open(t.Context(), world.Setting{})
		if err == nil {
			_ = e.Close()
		}
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || asked.Load() != min(c.full+1, maxTries) {
			t.Errorf("%v after %d, want %s", err, asked.Load(), c.want)
		}
	}
}

// TestPingsAreAnswered checks that a server finds the client alive while a model thinks.
func TestPingsAreAnswered(t *testing.T) {
	t.Parallel()
	pinged := make(chan error, 1)
	e, err := open(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ws" {
			_, _ = io.WriteString(w, textSchema)
			return
		}
		c, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = c.CloseNow() }()
		_, _, _ = c.Read(r.Context())
		_ = c.Write(r.Context(), websocket.MessageText, []byte(stateAnswer))
		ctx, cancel := context.WithTimeout(c.CloseRead(context.Background()), 10*time.Second)
		defer cancel()
		pinged <- c.Ping(ctx)
	}), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := <-pinged; err != nil {
		t.Error(err)
	}
	_ = e.Close()
}

func TestNewBase(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ws://h:1":            "http://h:1",
		"ws://h:1/ws":         "http://h:1",
		"wss://h/base/ws/":    "https://h/base",
		"https://h/base/?k=v": "https://h/base?k=v",
		"http://h/":           "http://h",
	} {
		u, err := newBase(address)
		if diff := cmp.Diff(want, u.String()); diff != "" || err != nil {
			t.Error(address, err, diff)
		}
	}
	if u, err := newBase("://secret"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Error(u, err)
	}
}

func TestScoreReward(t *testing.T) {
	t.Parallel()
	for reward, want := range map[string]float64{"0": 0.5, "-1": 0, "1": 1, "7": 1, "-7": 0, "0.5": 0.75, "true": 1, "false": 0.5, "1e-3": 0.5005} {
		got, err := (&Server{reward: [2]float64{-1, 1}}).scoreReward(reward)
		if err != nil || got == nil || *got != want {
			t.Error(reward, got, err)
		}
	}
	if got, err := (&Server{}).scoreReward("null"); got != nil || err != nil {
		t.Error(got, err)
	}
}

func TestActionAsJSON(t *testing.T) {
	t.Parallel()
	a, err := parseAction(json.RawMessage(`{"type":"object","required":["move","by"],"additionalProperties":false,"title":"Move","properties":{"move":{"type":"string"},"by":{"type":"integer","maximum":9},"metadata":{"type":"object"}}}`))
	if err != nil || a.property != "" || strings.Contains(a.rule, "metadata") || !strings.Contains(a.rule, `"by":{"type":"integer","maximum":9}`) {
		t.Fatal(a.rule, err)
	}
	for command, want := range map[string]string{
		`{"move": "up", "by": 3}`:                           `{"by":3,"move":"up"}`,
		"```json\n{\"by\": 9, \"move\": \"<\"}\n```":        `{"by":9,"move":"\u003c"}`,
		`{"move": "up", "by": 10}`:                          "",
		`{"move": "up"}`:                                    "",
		`{"move": "up", "by": 1, "by": 2}`:                  "",
		`{"move": "up", "by": 1, "extra": true}`:            "",
		`{"move": "up", "by": NaN}`:                         "",
		`up`:                                                "",
		`{"move": "up", "by": ` + strings.Repeat("[", 5000): "",
	} {
		got, refusal := a.encode(command)
		if string(got) != want || (refusal == "") != (want != "") {
			t.Errorf("%.40s: %s, %s", command, got, refusal)
		}
	}
	text, choices := a.observe(map[string]any{"choices": []any{"a"}, "text": "x"})
	if diff := cmp.Diff(`{"choices":["a"],"text":"x"}`, text); diff != "" || choices != nil {
		t.Error(diff, choices)
	}
}
