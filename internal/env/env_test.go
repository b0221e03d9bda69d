package env

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/seed-f4525e22/skillopt/score"
	"github.com/seed-f4525e22/skillopt/skill"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// TestMain plays the environment's program when it is started as one.
func TestMain(m *testing.M) {
	if mode := os.Getenv("SKILLOPT_TEST_PROGRAM"); mode != "" {
		play(mode)
		return
	}
	goleak.VerifyTestMain(m)
}

// play answers lines as the prompt of each task says, so that one program does
// for all tests. mode "once" ends after the first line.
func play(mode string) {
	if traits, ok := strings.CutPrefix(mode, "episodes "); ok {
		playEpisodes(traits)
		return
	}
	in := bufio.NewReader(os.Stdin)
	for served := 0; ; served++ {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		var r request
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		act(r, served)
		if mode == "once" {
			return
		}
	}
}

func act(r request, served int) {
	verb, argument, _ := strings.Cut(r.Prompt, " ")
	switch verb {
	case "say":
		fmt.Println(argument)
	case "echo":
		text, _ := json.Marshal(r)
		fmt.Printf("{\"id\":%q,\"answer\":%q}\n", r.ID, text)
	case "pid":
		fmt.Printf("{\"answer\":\"%d\"}\n", os.Getpid())
	case "served":
		fmt.Printf("{\"answer\":%d}\n", served)
	case "environ":
		text, _ := json.Marshal(os.Environ())
		fmt.Printf("{\"answer\":%q}\n", text)
	case "die":
		fmt.Fprintln(os.Stderr, "out of cheese")
		code, _ := strconv.Atoi(argument)
		os.Exit(code)
	case "hang":
		hang()
	case "child": // a grandchild that outlives a plain kill, and holds the pipes
		cmd := exec.Command("/bin/sleep", "300")
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		if err := os.WriteFile(argument, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
			panic(err)
		}
		hang()
	case "close":
		os.Stdout.Close()
		hang()
	case "flood":
		chunk := strings.Repeat("x", 1<<20)
		for range 20 {
			fmt.Print(chunk)
		}
	case "later":
		fmt.Println(argument)
		os.Stdout.Sync()
		fmt.Println(argument)
	}
}

// hang waits for far longer than any test. An empty select would be a deadlock
// that the runtime ends.
func hang() { <-time.NewTimer(time.Hour).C }

func testOptions(t *testing.T, change func(*Options)) Options {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	o := Options{
		Command: []string{program}, Environ: []string{"SKILLOPT_TEST_PROGRAM=serve"}, Timeout: time.Minute,
	}
	if change != nil {
		change(&o)
	}
	return o
}

func newTestEnv(t *testing.T, change func(*Options)) *Env {
	t.Helper()
	e, err := New(testOptions(t, change))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func roll(t *testing.T, e *Env, prompt string) (trajectory.Outcome, error) {
	t.Helper()
	out, _, err := e.Answer(t.Context(), task.Task{ID: "t1", Type: "kind", Prompt: prompt}, skill.New("be kind"), nil)
	return out, err
}

func TestReplies(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	base := func(o trajectory.Outcome) trajectory.Outcome {
		o.ID, o.Type, o.Status = "t1", "kind", score.OK
		return o
	}
	tests := []struct {
		reply string
		want  trajectory.Outcome
	}{
		{`{"answer":"right"}`, base(trajectory.Outcome{Answer: "right"})},
		{`{"answer":"wrong","fail_reason":"late","feedback":"hurry"}`, base(trajectory.Outcome{Answer: "wrong", FailReason: "late", Feedback: "hurry"})},
		{`{"answer":12.50}`, base(trajectory.Outcome{Answer: "12.50"})},
		{`{"hard":1}`, base(trajectory.Outcome{Hard: 1, Soft: 1})},
		{`{"hard":true,"soft":0.25,"answer":"x"}`, base(trajectory.Outcome{Hard: 1, Soft: 0.25, Answer: "x"})},
		{`{"hard":false}`, base(trajectory.Outcome{})},
		{`{"hard":0.5,"usage":{"input":3,"output":4}}`, base(trajectory.Outcome{Hard: 0.5, Soft: 0.5, Usage: trajectory.Usage{Input: 3, Output: 4}})},
		{`{"hard":0,"trajectory":[{"role":"user","content":"hi"}]}`, base(trajectory.Outcome{Trajectory: []trajectory.Turn{{Role: "user", Content: "hi"}}})},
		{`{"id":"t1","hard":0,"status":"ok"}`, base(trajectory.Outcome{})},
		{`{"status":"agent_error","fail_reason":"turns: 50 used"}`, trajectory.Outcome{ID: "t1", Type: "kind", Status: score.AgentError, FailReason: "turns: 50 used"}},
		{`{"status":"agent_error"}`, trajectory.Outcome{ID: "t1", Type: "kind", Status: score.AgentError, FailReason: "agent_error: the environment gave no reason"}},
	}
	for _, tt := range tests {
		got, err := roll(t, e, "say "+tt.reply)
		if err != nil {
			t.Errorf("%s: %v", tt.reply, err)
			continue
		}
		tt.want.Question = "say " + tt.reply
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s:\n%s", tt.reply, diff)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		prompt string
		kind   Kind
		says   string
	}{
		{"say hello", Rubbish, "not a JSON object"},
		{"say []", Rubbish, "not a JSON object"},
		{"say null", Rubbish, "not a JSON object"},
		{"say {}", Rubbish, "neither answer nor hard"},
		{`say {"soft":1}`, Rubbish, "soft but not hard"},
		{`say {"hard":1.5}`, Rubbish, "from 0 to 1"},
		{`say {"hard":NaN}`, Rubbish, "not a JSON object"},
		{`say {"hard":1,"sotf":1}`, Rubbish, `unknown key "sotf"`},
		{`say {"hard":1,"hard":0}`, Rubbish, `the key "hard" is there twice`},
		{`say {"hard":1,"h\u0061rd":1}`, Rubbish, `the key "hard" is there twice`},
		{`say {"hard":1,"soft":1,"soft":0}`, Rubbish, `the key "soft" is there twice`},
		{`say {"hard":1,"Hard":0}`, Rubbish, `"hard" and "Hard"`},
		{`say {"answer":"a","answer":"b"}`, Rubbish, `the key "answer" is there twice`},
		{`say {"hard":1,"status":"ok","\u017ftatus":"agent_error"}`, Rubbish, `"status" and "ſtatus"`},
		{`say {"hard":1,"usage":{"input":1,"Input":2}}`, Rubbish, `"input" and "Input" in usage`},
		{`say {"hard":1,"trajectory":[{"role":"user","role":"tool"}]}`, Rubbish, `the key "role" is there twice in trajectory[0]`},
		{`say {"answer":["a"]}`, Rubbish, "must be text"},
		{`say {"hard":1,"trajectory":"x"}`, Rubbish, "does not fit"},
		{`say {"hard":1,"usage":{"input":-1}}`, Rubbish, "negative"},
		{`say {"hard":1,"status":"fine"}`, Rubbish, `status "fine"`},
		{`say {"hard":1,"id":"other"}`, Rubbish, `answered task "other"`},
		{`say {"error":"database is down"}`, Refused, "database is down"},
		{`say {"status":"unmeasured","fail_reason":"no network"}`, Refused, "no network"},
		{"say {\"hard\":1}\n{\"hard\":1}", Rubbish, ""},
		{"die 3", Died, "exit status 3"},
		{"die 0", Died, "exit status 0"},
		{"close", Died, "closed its output"},
		{"flood", TooLong, "16 MB"},
	}
	for _, tt := range tests {
		t.Run(tt.prompt, func(t *testing.T) {
			t.Parallel()
			e := newTestEnv(t, nil)
			out, err := roll(t, e, tt.prompt)
			var fault *Error
			if tt.says == "" && err == nil {
				out, err = roll(t, e, tt.prompt) // the second line came too late to be seen the first time
			}
			if !errors.As(err, &fault) {
				t.Fatalf("got %v, %+v; want a fault", err, out)
			}
			if fault.Kind != tt.kind || fault.Task != "t1" || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %s: %v; want %s with %q", fault.Kind, err, tt.kind, tt.says)
			}
			if strings.HasPrefix(tt.prompt, "die") && !strings.Contains(err.Error(), "out of cheese") {
				t.Errorf("%v does not carry the standard error", err)
			}
			if got, err := roll(t, e, `say {"hard":1}`); err != nil || got.Hard != 1 {
				t.Errorf("after the fault: %v, %v", got, err)
			}
		})
	}
}

// What a program does not score itself is left to be scored.
func TestScored(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	for reply, want := range map[string]bool{
		`{"answer":"x"}`: false, `{"answer":"x","hard":0}`: true, `{"hard":1}`: true, `{"answer":"x","status":"agent_error"}`: true,
	} {
		_, scored, err := e.Answer(t.Context(), task.Task{ID: "t1", Prompt: "say " + reply}, skill.Skill{}, nil)
		if err != nil || scored != want {
			t.Errorf("%s: %v, %v", reply, scored, err)
		}
	}
}

func TestDeadline(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, func(o *Options) { o.Timeout = 200 * time.Millisecond })
	_, err := roll(t, e, "hang")
	var fault *Error
	if !errors.As(err, &fault) || fault.Kind != Deadline || !strings.Contains(err.Error(), "200ms") {
		t.Fatalf("got %v", err)
	}
}

func TestDeadlineWhileWriting(t *testing.T) {
	t.Parallel()
	// sleep reads nothing, so that the pipe fills up.
	e := newTestEnv(t, func(o *Options) {
		o.Command, o.Environ, o.Timeout = []string{"sleep", "300"}, nil, 200*time.Millisecond
	})
	_, _, err := e.Answer(t.Context(), task.Task{ID: "big", Prompt: strings.Repeat("x", 1<<20)}, skill.Skill{}, nil)
	var fault *Error
	if !errors.As(err, &fault) || fault.Kind != Deadline {
		t.Fatalf("got %v", err)
	}
}

func TestKillsGrandchildren(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	e := newTestEnv(t, func(o *Options) { o.Timeout = 3 * time.Second })
	if _, err := roll(t, e, "child "+file); err == nil {
		t.Fatal("no error")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(string(text))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if !running(pid) {
			return
		}
		wait(t, 50*time.Millisecond)
	}
	t.Errorf("grandchild %d still runs", pid)
}

// running reports whether a process runs; a zombie does not.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

func wait(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	why := errors.New("the user had enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	timer := time.AfterFunc(100*time.Millisecond, func() { cancel(why) })
	defer timer.Stop()
	_, _, err := e.Answer(ctx, task.Task{ID: "t1", Prompt: "hang"}, skill.Skill{}, nil)
	if !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if _, _, err := e.Answer(ctx, task.Task{ID: "t1", Prompt: "hang"}, skill.Skill{}, nil); !errors.Is(err, why) {
		t.Errorf("with a dead context: %v", err)
	}
}

func TestProcessIsKept(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, nil)
	for want := range 3 {
		got, err := roll(t, e, "served")
		if err != nil || got.Answer != strconv.Itoa(want) {
			t.Errorf("got %q, %v; want %d", got.Answer, err, want)
		}
	}
}

func TestOneShotProgram(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, func(o *Options) { o.Environ = []string{"SKILLOPT_TEST_PROGRAM=once"} })
	for range 5 {
		got, err := roll(t, e, "served")
		if err != nil || got.Answer != "0" {
			t.Fatalf("got %q, %v", got.Answer, err)
		}
	}
}

func TestSlots(t *testing.T) {
	t.Parallel()
	const slots = 3
	e := newTestEnv(t, func(o *Options) { o.Slots = slots })
	var mu sync.Mutex
	pids := map[string]bool{}
	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			got, err := roll(t, e, "pid")
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			pids[got.Answer] = true
		})
	}
	wg.Wait()
	if len(pids) > slots {
		t.Errorf("%d processes for %d slots", len(pids), slots)
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, func(o *Options) { o.Extras = map[string]any{"level": "hard"} })
	in := task.Task{
		ID: "a<1>", Type: "k", Prompt: "echo", Gold: []string{"g"}, Hidden: "h\nh",
		Data: map[string]any{"n": json.Number("1.50"), "list": []any{"x"}},
	}
	out, _, err := e.Answer(task.WithSeed(t.Context(), 77), in, skill.New("S & T"), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"a<1>","type":"k","prompt":"echo","gold":"g","hidden":"h\nh","data":{"list":["x"],"n":1.5},"skill":"S & T","seed":77,"extras":{"level":"hard"}}`
	if got := compactJSON(t, out.Answer); got != compactJSON(t, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	line, err := encodeRequest(t.Context(), task.Task{ID: "x"}, skill.Skill{}, Options{}, nil)
	if err != nil || !strings.HasPrefix(string(line), `{"id":"x","type":"","prompt":"","gold":null,"hidden":"","data":{},"skill":"","seed":`) {
		t.Errorf("got %s, %v", line, err)
	}
	if strings.Count(string(line), "\n") != 1 {
		t.Errorf("%q is not one line", line)
	}
	if rolloutSeed(t.Context(), "x") == rolloutSeed(t.Context(), "y") {
		t.Error("tasks share a seed")
	}
	if _, _, err := e.Answer(t.Context(), task.Task{ID: "x", Data: map[string]any{"f": func() {}}}, skill.Skill{}, nil); err == nil {
		t.Error("no error for data that is not JSON")
	}
}

// Gold is what stands in the task.
func TestGoldAsItStands(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		task task.Task
		want string
	}{
		"none":    {task.Task{}, `null`},
		"text":    {task.Task{Gold: []string{"<x>"}}, `"<x>"`},
		"number":  {task.Task{Gold: []string{"42"}, RawGold: json.RawMessage("42")}, `42`},
		"one":     {task.Task{Gold: []string{"x"}, RawGold: json.RawMessage(`["x"]`)}, `["x"]`},
		"several": {task.Task{Gold: []string{"x", "y"}}, `["x","y"]`},
		"object":  {task.Task{Gold: []string{`{"a":1}`}, RawGold: json.RawMessage(`{"a":1}`)}, `{"a":1}`},
	} {
		tt.task.ID, tt.task.Prompt = "i", "p"
		line, err := encodeRequest(task.WithSeed(t.Context(), 5), tt.task, skill.Skill{}, Options{}, nil)
		want := `{"id":"i","type":"","prompt":"p","gold":` + tt.want + `,"hidden":"","data":{},"skill":"","seed":5}`
		if diff := cmp.Diff(want+"\n", string(line)); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func compactJSON(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestEnvironmentIsClosed(t *testing.T) {
	t.Setenv("SKILLOPT_TEST_SECRET", "s3cret")
	e := newTestEnv(t, func(o *Options) { o.Environ = append(o.Environ, "GIVEN=yes") })
	out, err := roll(t, e, "environ")
	if err != nil {
		t.Fatal(err)
	}
	if want := `["SKILLOPT_TEST_PROGRAM=serve","GIVEN=yes"]`; out.Answer != want {
		t.Errorf("the program sees %s, want %s", out.Answer, want)
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()
	vars := map[string]string{"PATH": "/bin", "OPENAI_API_KEY": "sk-1", "LC_ALL": "C", "HOME": ""}
	got := AllowedVariables(func(name string) (string, bool) { v, ok := vars[name]; return v, ok })
	if diff := cmp.Diff([]string{"PATH=/bin", "HOME=", "LC_ALL=C"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"no command":       {},
		"empty program":    {Command: []string{""}},
		"unknown program":  {Command: []string{"no-such-program-at-all"}},
		"missing file":     {Command: []string{"./missing"}, Dir: dir},
		"not executable":   {Command: []string{"./plain"}, Dir: dir},
		"a directory":      {Command: []string{dir}},
		"negative timeout": {Command: []string{"sleep"}, Timeout: -1},
	} {
		if _, err := New(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(Options{Command: []string{"plain"}, Dir: dir}); err == nil || !strings.Contains(err.Error(), "write ./plain") {
		t.Errorf("a file next to the config: %v", err)
	}
	if _, err := New(Options{Command: []string{"sleep"}}); err != nil {
		t.Error(err)
	}
}

func TestStartFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "prog")
	if err := os.WriteFile(file, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	e := newTestEnv(t, func(o *Options) { o.Command = []string{file} })
	_, err := roll(t, e, "served")
	var fault *Error
	if !errors.As(err, &fault) || fault.Kind != Start {
		t.Errorf("got %v", err)
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	e := newTestEnv(t, func(o *Options) { o.Slots = 2 })
	if _, err := roll(t, e, "served"); err != nil {
		t.Fatal(err)
	}
	hung := make(chan error)
	go func() {
		_, _, err := e.Answer(context.Background(), task.Task{ID: "t1", Prompt: "hang"}, skill.Skill{}, nil)
		hung <- err
	}()
	wait(t, 200*time.Millisecond)
	done := make(chan error)
	go func() { done <- e.Close() }()
	if err := <-hung; err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("the rollout under way: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := roll(t, e, "served"); !errors.Is(err, errClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCloseEndsStubbornProcess(t *testing.T) {
	t.Parallel()
	// It answers one line, and then ignores that its input ends.
	e := newTestEnv(t, func(o *Options) {
		o.Command, o.Environ = []string{"sh", "-c", `read line; echo '{"hard":1}'; exec sleep 300`}, []string{"PATH=" + os.Getenv("PATH")}
	})
	if _, err := roll(t, e, ""); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	w := &tail{}
	for i := range 3000 {
		fmt.Fprintf(w, "line %d\n", i)
	}
	got := w.text()
	if len(got) > tailSize+3 || !strings.HasPrefix(got, "...") || !strings.HasSuffix(got, "line 2999") {
		t.Errorf("got %d bytes: %.40q ... %q", len(got), got, got[len(got)-20:])
	}
	if n, err := w.Write(make([]byte, 3*tailSize)); n != 3*tailSize || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
}

func FuzzParseReply(f *testing.F) {
	for _, s := range []string{`{"answer":"x"}`, `{"hard":1,"soft":0.5}`, `{"status":"agent_error"}`, `{"error":"e"}`, `{"usage":{"input":1}}`, `{"hard":true,"trajectory":[1,{"a":null}]}`, `[]`, ``, `{"answer":null}`, `{"hard":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		o, _, err := decodeReply(line, task.Task{ID: "t"})
		if err != nil {
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if !o.Status.Measured() || !(o.Hard >= 0 && o.Hard <= 1) || !(o.Soft >= 0 && o.Soft <= 1) || len(o.Feedback) > score.MaxFeedback {
			t.Fatalf("accepted %+v", o)
		}
	})
}

func TestAProgramMayLeaveSomethingBehind(t *testing.T) {
	t.Parallel()
	// A child that holds the output is no fault of a program that answered.
	e := newTestEnv(t, func(o *Options) {
		o.Command, o.Environ = []string{"sh", "-c", `read line; sleep 300 & echo '{"hard":1}'`}, []string{"PATH=" + os.Getenv("PATH")}
	})
	for range 2 {
		if out, err := roll(t, e, ""); err != nil || out.Hard != 1 {
			t.Fatalf("got %+v, %v", out, err)
		}
	}
}
