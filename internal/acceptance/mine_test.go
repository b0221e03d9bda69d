package acceptance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/sleep/wish"
	"github.com/seed-f4525e22/skillopt/internal/testing/minetest"
	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/result"
)

// mining is planted sessions, and a scripted miner behind a fake that counts what it is asked.
type mining struct {
	plants []minetest.Plant
	run    string
	miner  *modeltest.Fake
	fail   func(n int) error // of the nth call
}

func newMining(t *testing.T, plants []minetest.Plant) *mining {
	t.Helper()
	m := &mining{plants: plants, run: filepath.Join(t.TempDir(), "mine")}
	m.miner = modeltest.New(func(_ context.Context, n int, req model.Request) (model.Response, error) {
		if m.fail != nil {
			if err := m.fail(n); err != nil {
				return model.Response{}, err
			}
		}
		return model.Response{Text: m.reply(req), Finish: model.FinishStop}, nil
	})
	return m
}

func (m *mining) reply(req model.Request) string {
	return minetest.Reply(m.plants, req.Messages[len(req.Messages)-1].Text())
}

func (m *mining) sessions(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, p := range m.plants {
		if err := enc.Encode(p.Session); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func (m *mining) mine(ctx context.Context, t *testing.T, opts ...skillopt.Option) (*result.Mine, error) {
	t.Helper()
	opts = append(opts, skillopt.WithClient(model.Optimizer, "miner", m.miner), skillopt.WithRunDir(m.run))
	cfg := config.Default()
	cfg.Limits.Concurrency = 1 // an answer of the fake that comes when the run is over is nobody's
	return skillopt.Mine(ctx, cfg, skillopt.MineRequest{Sessions: m.sessions(t)}, opts...)
}

func TestMine(t *testing.T) {
	t.Parallel()
	m := newMining(t, minetest.Plants(100)[:80])
	var plan result.Plan
	got, err := m.mine(t.Context(), t, skillopt.WithConfirm(func(p result.Plan) error {
		plan = p
		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	if calls := m.miner.Count(); plan.Total == 0 || got.Funnel.Asked != plan.Total || int64(calls) != got.Calls.Total || got.Calls.ByStage[model.StageMine] != got.Calls.Total {
		t.Errorf("%d calls, counted %+v, planned %d", calls, got.Calls, plan.Total)
	}
	lines := bytes.Split(bytes.TrimSpace(got.Tasks), []byte("\n"))
	if got.Funnel.Kept != len(lines) || got.Funnel.Kept < 10 || got.Funnel.Sessions != 80 {
		t.Errorf("%+v", got.Funnel)
	}
	for _, line := range lines {
		var task wish.Task
		if err := json.Unmarshal(line, &task); err != nil || task.Task.ID == "" || task.Input+task.Outcome == "" || len(task.Seen) == 0 {
			t.Errorf("%v: %s", err, line)
		}
	}
	for name, want := range map[string]string{"tasks.jsonl": string(got.Tasks), "funnel.json": ""} {
		text, err := os.ReadFile(filepath.Join(got.RunDir, name))
		if err != nil || want != "" && string(text) != want {
			t.Errorf("%s: %v", name, err)
		}
	}

	before := m.miner.Count()
	again, err := m.mine(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	if m.miner.Count() != before || !bytes.Equal(again.Tasks, got.Tasks) || again.Recorded == 0 {
		t.Errorf("the same again makes %d calls", m.miner.Count()-before)
	}
	m.plants = m.plants[:79]
	_, err = m.mine(t.Context(), t)
	var bad *skillopt.Error
	if !errors.As(err, &bad) || bad.Kind != skillopt.BadInput || !strings.Contains(err.Error(), "other sessions or settings") {
		t.Errorf("other sessions over the same record: %v", err)
	}
}

// TestMineIsPaidOnce stops mining on its way and goes on.
func TestMineIsPaidOnce(t *testing.T) {
	t.Parallel()
	plants := minetest.Plants(101)[:60]
	whole := newMining(t, plants)
	want, err := whole.mine(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	calls := whole.miner.Count()
	for _, at := range []int{1, calls / 2, calls - 1} {
		m := newMining(t, plants)
		ctx, cancel := context.WithCancel(t.Context())
		m.fail = func(n int) error {
			if n == at {
				cancel()
				return context.Canceled
			}
			return nil
		}
		_, err := m.mine(ctx, t)
		var stopped *skillopt.Error
		if !errors.As(err, &stopped) || stopped.Kind != skillopt.Stopped {
			t.Fatalf("stopped at call %d: %v", at, err)
		}
		paid := map[string]bool{}
		for _, c := range m.miner.Calls() {
			if c.Err == nil && strings.Contains(m.reply(c.Request), `"tasks"`) { // what is of no use is asked again in the same words
				paid[requestText(t, c.Request)] = true
			}
		}
		first := m.miner.Count()
		m.fail = nil
		got, err := m.mine(t.Context(), t)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range m.miner.Calls()[first:] {
			if paid[requestText(t, c.Request)] {
				t.Fatalf("stopped at call %d: a call is paid for twice", at)
			}
		}
		if diff := cmp.Diff(string(want.Tasks), string(got.Tasks)); diff != "" {
			t.Errorf("stopped at call %d:\n%s", at, diff)
		}
	}
}

func TestMineRefusals(t *testing.T) {
	t.Parallel()
	m := newMining(t, minetest.Plants(102)[:20])
	refuse := errors.New("too much")
	if _, err := m.mine(t.Context(), t, skillopt.WithConfirm(func(result.Plan) error { return refuse })); !errors.Is(err, refuse) || m.miner.Count() != 0 {
		t.Errorf("refused: %v, %d calls", err, m.miner.Count())
	}
	for name, sessions := range map[string]string{
		"line 2":               "{\"source\":\"pi\",\"session\":\"a\"}\nno JSON\n",
		"needs a source":       "{\"session\":\"a\"}\n",
		"is on line 1 already": "{\"source\":\"pi\",\"session\":\"a\"}\n\n{\"source\":\"pi\",\"session\":\"a\"}\n",
	} {
		_, err := skillopt.Mine(t.Context(), config.Default(), skillopt.MineRequest{Sessions: []byte(sessions)}, skillopt.WithRunDir(filepath.Join(t.TempDir(), "r")), skillopt.WithClient(model.Optimizer, "miner", m.miner))
		var bad *skillopt.Error
		if !errors.As(err, &bad) || bad.Kind != skillopt.BadInput || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	none, err := skillopt.Mine(t.Context(), config.Default(), skillopt.MineRequest{}, skillopt.WithRunDir(filepath.Join(t.TempDir(), "r")), skillopt.WithClient(model.Optimizer, "miner", m.miner))
	if err != nil || none.Funnel.Sessions != 0 || len(none.Tasks) != 0 || m.miner.Count() != 0 {
		t.Errorf("no sessions: %+v, %v", none, err)
	}
}

// TestMineKeepsNoSecrets plants keys in sessions: none is sent, and none is in the run's files.
func TestMineKeepsNoSecrets(t *testing.T) {
	t.Parallel()
	m := newMining(t, minetest.Plants(103)[:90])
	var secrets []string
	i := 0
	for _, marked := range redacttest.Planted() {
		text, hidden := redacttest.Plain(marked)
		for _, h := range hidden {
			if len(h) >= 12 {
				secrets = append(secrets, h)
			}
		}
		turns := m.plants[i%len(m.plants)].Session.Turns
		for n := range turns {
			turns[n].User += "\n```\n" + text + "\n```"
			turns[n].Agent += "\n" + text
		}
		i++
	}
	if len(secrets) < 40 {
		t.Fatalf("%d secrets", len(secrets))
	}
	got, err := m.mine(t.Context(), t)
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	for _, c := range m.miner.Calls() {
		all.WriteString(requestText(t, c.Request))
	}
	err = filepath.WalkDir(got.RunDir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil || m.miner.Count() < 20 {
		t.Fatal(err, m.miner.Count())
	}
	for _, secret := range secrets {
		quoted, err := json.Marshal(secret)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(all.Bytes(), []byte(secret)) || bytes.Contains(all.Bytes(), quoted[1:len(quoted)-1]) {
			t.Errorf("%q came through", secret)
		}
	}
}
