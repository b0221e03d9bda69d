package modeltest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

// responseCase is a reply and what the adapter must return for it.
type responseCase struct {
	name  string
	reply Reply
	want  model.Response
	skip  bool // the protocol lacks it
}

func testResponses(t *testing.T, h Harness) { testAnswers(t, h, Settings{Key: testKey}) }

func testAnswers(t *testing.T, h Harness, s Settings) {
	for _, tt := range responseCases(h.Lacks) {
		t.Run(tt.name, func(t *testing.T) {
			if tt.skip {
				t.Skip("the protocol lacks it")
			}
			t.Parallel()
			srv := reply(t, h, tt.reply)
			s := s
			s.URL = srv.URL
			got, err := h.New(t, s).Generate(t.Context(), question("q"))
			if err != nil {
				t.Fatalf("Generate: %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			srv.only(t)
		})
	}
}

func responseCases(lacks Lacks) []responseCase {
	long := strings.Repeat("水 is water. ", 40_000)
	text := "Füße \"quoted\" \\ <answer>\r\n\t4 & 5</answer> 🙂 "
	return []responseCase{
		{
			name:  "text",
			reply: Reply{Text: text, Finish: model.FinishStop, Input: 7, Output: 3},
			want:  model.Response{Text: text, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 7, Output: 3}},
		},
		{
			name:  "long text",
			reply: Reply{Text: long, Finish: model.FinishStop},
			want:  model.Response{Text: long, Finish: model.FinishStop},
		},
		{
			name:  "empty text is an answer",
			reply: Reply{Finish: model.FinishStop, Input: 7},
			want:  model.Response{Finish: model.FinishStop, Usage: trajectory.Usage{Input: 7}},
		},
		{
			name:  "cut by the token limit",
			reply: Reply{Text: "half an ans", Finish: model.FinishLength},
			want:  model.Response{Text: "half an ans", Finish: model.FinishLength},
		},
		{
			name:  "stopped by a filter",
			reply: Reply{Text: "some", Finish: model.FinishFilter},
			want:  model.Response{Text: "some", Finish: model.FinishFilter},
		},
		{
			name:  "refusal",
			reply: Reply{Refusal: "I will not do that.", Finish: model.FinishRefusal},
			want:  model.Response{Text: "I will not do that.", Finish: model.FinishRefusal},
			skip:  lacks.Refusal,
		},
		{
			name:  "cached tokens are part of the input",
			reply: Reply{Text: "t", Finish: model.FinishStop, Input: 1000, Output: 5, Cached: 900},
			want:  model.Response{Text: "t", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 1000, Output: 5, Cached: 900}},
			skip:  lacks.Cached,
		},
		{
			name:  "reasoning tokens are part of the output",
			reply: Reply{Text: "t", Finish: model.FinishStop, Input: 10, Output: 500, Reasoning: 480},
			want:  model.Response{Text: "t", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 500, Reasoning: 480}},
			skip:  lacks.Reasoning,
		},
		{
			name:  "tokens written to the cache are part of the input",
			reply: Reply{Text: "t", Finish: model.FinishStop, Input: 1000, Output: 5, CacheWrite: 700},
			want:  model.Response{Text: "t", Finish: model.FinishStop, Usage: trajectory.Usage{Input: 1000, Output: 5, CacheWrite: 700}},
			skip:  lacks.CacheWrite,
		},
		{
			name:  "no usage",
			reply: Reply{Text: "t", Finish: model.FinishStop, NoUsage: true},
			want:  model.Response{Text: "t", Finish: model.FinishStop},
		},
		{
			name:  "model as the server names it",
			reply: Reply{Text: "t", Finish: model.FinishStop, Model: "m-1-2026-01-01"},
			want:  model.Response{Text: "t", Finish: model.FinishStop, Model: "m-1-2026-01-01"},
		},
		{
			name:  "fingerprint",
			reply: Reply{Text: "t", Finish: model.FinishStop, Fingerprint: "fp_1"},
			want:  model.Response{Text: "t", Finish: model.FinishStop, Fingerprint: "fp_1"},
			skip:  lacks.Fingerprint,
		},
	}
}
