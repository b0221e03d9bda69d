package acceptance_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/seed-f4525e22/skillopt"
	"github.com/seed-f4525e22/skillopt/config"
	"github.com/seed-f4525e22/skillopt/internal/caller"
)

// till is a server of Chat Completions that charges for every request, $10 for a
// million input tokens and $40 for a million output tokens, and says about it
// whatever it likes.
type till struct {
	usage string // in the body; %d stands for the true counts
	nano  atomic.Int64
}

func (s *till) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var req struct {
		Messages []struct {
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&req); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	input, output := 10, 90
	for _, m := range req.Messages {
		input += len(m.Content)/4 + 4
	}
	s.nano.Add(int64(10_000*input + 40_000*output))
	usage := s.usage
	if strings.Contains(usage, "%d") {
		usage = fmt.Sprintf(usage, input, output)
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"model": "world", "choices": [{"message": {"role": "assistant", "content": "<answer>no</answer>"}, "finish_reason": "stop"}]%s}`, usage)
}

// Whatever a server says that its answers took, 64 requests at once do not pass a
// ceiling of a dollar; what was not said is told.
func TestADollarHoldsAgainstAnyServer(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		usage   string
		unknown bool
	}{
		"says what is true":  {`, "usage": {"prompt_tokens": %d, "completion_tokens": %d}`, false},
		"says nothing":       {"", true},
		"says less than 0":   {`, "usage": {"prompt_tokens": -7, "completion_tokens": -9}`, true},
		"says far too much":  {`, "usage": {"prompt_tokens": 9223372036854775807, "completion_tokens": 9223372036854775807}`, true},
		"says what overruns": {`, "usage": {"prompt_tokens": 1e30, "completion_tokens": 1e30}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &till{usage: tt.usage}
			server := httptest.NewServer(s)
			defer server.Close()
			cfg := worldConfig(server.URL + "/v1")
			usd := 1.0
			cfg.Prices = map[string]config.Price{"world": {Input: 10, Output: 40}}
			cfg.Models.Target.MaxTokens, cfg.Models.Optimizer.MaxTokens = 100, 100
			cfg.Limits.USD, cfg.Limits.Concurrency = &usd, 64
			cfg.Train.Epochs = 20
			sum, err := skillopt.Train(t.Context(), cfg, skillopt.WithKeepOpen(), skillopt.WithRunDir(filepath.Join(t.TempDir(), "run")))
			var over *caller.BudgetError
			if !errors.As(err, &over) || over.Limit != "limits.usd" {
				t.Fatalf("%v, want the ceiling", err)
			}
			if spent := float64(s.nano.Load()) / 1e9; spent > usd || spent < usd/10 {
				t.Errorf("$%.4f are spent under a ceiling of $%.2f", spent, usd)
			}
			if told := sum.Unknown != nil && sum.Unknown.Calls == sum.Calls.Total; told != tt.unknown {
				t.Errorf("of %d calls the usage is told as unknown of %+v", sum.Calls.Total, sum.Unknown)
			}
			if sum.CostUSD == nil || *sum.CostUSD > usd || *sum.CostUSD < float64(s.nano.Load())/1e9-1e-9 {
				t.Errorf("the summary says $%v, $%.4f are spent", sum.CostUSD, float64(s.nano.Load())/1e9)
			}
		})
	}
}
