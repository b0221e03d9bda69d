package wiretest

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// post sends one request and returns the status and the text of the answer.
func post(t *testing.T, s *Server, stage, question string) (status int, text string, err error) {
	t.Helper()
	body := `{"model":"m","seed":7,"messages":[{"role":"user","content":"` + question + `"}]}`
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/chat/completions", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(StageHeader, stage)
	req.Close = true
	res, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, "", err
	}
	var reply struct {
		Choices []struct{ Message model.Message }
	}
	if json.Unmarshal(data, &reply) == nil && len(reply.Choices) == 1 {
		text = reply.Choices[0].Message.Content
	}
	return res.StatusCode, text, nil
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	if o.Client == nil {
		o.Client = modeltest.Always(`{"a": 1, "b": 2}`)
	}
	s := Start(o)
	t.Cleanup(s.Close)
	return s
}

func TestServerAnswersAndCounts(t *testing.T) {
	t.Parallel()
	fake := modeltest.Always("yes")
	var numbers []int
	s := start(t, Options{Client: fake, OnRequest: func(n int) { numbers = append(numbers, n) }})
	for _, q := range []string{"one", "two", "one"} {
		if status, text, err := post(t, s, model.StageRollout, q); status != 200 || text != "yes" || err != nil {
			t.Fatalf("got %d %q, %v", status, text, err)
		}
	}
	if err := s.Idle(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := Stats{Calls: 3, Distinct: 2, Answered: 3, Peak: 1, ByStage: map[string]int{"rollout": 3}, ByFault: map[string]int{}}
	if diff := cmp.Diff(want, s.Stats()); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	if !cmp.Equal(numbers, []int{1, 2, 3}) {
		t.Errorf("requests were announced as %v", numbers)
	}
	if req := fake.Calls()[0].Request; req.Tags.Role != model.Target || *req.Seed != 7 || req.Messages[0].Content != "one" {
		t.Errorf("the client was asked %+v", req)
	}
}

func TestServerInjectsFaults(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		faults Faults
		status int
		text   string
		broken bool
	}{
		{Faults{RateLimit: 1, RetryAfter: "3"}, 429, "", false},
		{Faults{Server: 1}, 500, "", false},
		{Faults{Status: 404}, 404, "", false},
		{Faults{Empty: 1}, 200, "", false},
		{Faults{Malformed: 1}, 200, `{"a" is  1, "`, false},
		{Faults{Cut: 1}, 200, "", true},
		{Faults{Server: 1, After: 1}, 200, `{"a": 1, "b": 2}`, false},
	} {
		s := start(t, Options{Faults: tt.faults})
		status, text, err := post(t, s, model.StageRanking, "q")
		if status != tt.status || text != tt.text || errors.Is(err, io.ErrUnexpectedEOF) != tt.broken {
			t.Errorf("%+v: got %d %q, %v", tt.faults, status, text, err)
		}
	}
	s := start(t, Options{Faults: Faults{Malformed: 1}})
	if _, text, _ := post(t, s, model.StageRollout, "q"); text != `{"a": 1, "b": 2}` {
		t.Errorf("an answer of the target was spoilt: %q", text)
	}
}

// A fault passes when the same is asked often enough, and hits as often as it
// says.
func TestFaultsAreShares(t *testing.T) {
	t.Parallel()
	f := Faults{Server: 0.2, Empty: 0.1}
	counts := map[Fault]int{}
	const n = 20_000
	for i := range uint64(n) {
		counts[f.pick(draw{seed: 1, id: i / 4, nth: i % 4}, model.StageRollout, 1)]++
	}
	for fault, share := range map[Fault]float64{ServerError: 0.2, Empty: 0.1, None: 0.7} {
		if got := float64(counts[fault]) / n; got < share-0.02 || got > share+0.02 {
			t.Errorf("%q: %.3f of the requests, want %.2f", fault, got, share)
		}
	}
}

func TestHangsEndWithTheServer(t *testing.T) {
	t.Parallel()
	s := Start(Options{Client: modeltest.Always("x"), Faults: Faults{Hang: 1}})
	done := make(chan error, 1)
	go func() {
		res, err := http.Post(s.URL()+"/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
		if err == nil {
			err = res.Body.Close()
		}
		done <- err
	}()
	for s.Stats().ByFault[string(Hang)] == 0 {
		select {
		case err := <-done:
			t.Fatalf("it did not hang: %v", err)
		default:
		}
	}
	s.Close()
	<-done
}

func TestServerRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	for path, want := range map[string]int{"/models": 404, "/chat/completions": 400} {
		res, err := http.Post(s.URL()+path, "application/json", strings.NewReader("{"))
		if err != nil {
			t.Fatal(err)
		}
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, res.StatusCode, want)
		}
		if err := res.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}
