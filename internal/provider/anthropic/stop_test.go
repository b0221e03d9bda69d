package anthropic

import (
	"net/http"
	"testing"

	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
)

// The sequence that ended an answer is told, of a document and of a stream.
func TestStopSequence(t *testing.T) {
	t.Parallel()
	stream := event("message_start", map[string]any{"type": "message_start", "message": map[string]any{"type": "message", "content": []any{}}}) +
		event("message_delta", map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": "stop_sequence", "stop_sequence": "END"}}) +
		event("message_stop", map[string]any{"type": "message_stop"})
	for name, tc := range map[string]struct {
		body   string
		stream bool
		want   string
	}{
		"document": {`{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"stop_sequence","stop_sequence":"END"}`, false, "END"},
		"none":     {hi, false, ""},
		"stream":   {stream, true, "END"},
	} {
		c := newClient(t, Options{Stream: tc.stream, Transport: modeltest.Canned(http.StatusOK, tc.body)})
		got, err := c.Generate(t.Context(), hello())
		if err != nil || got.StopSequence != tc.want || got.Finish != model.FinishStop {
			t.Errorf("%s: %+v, %v, want the sequence %q", name, got, err, tc.want)
		}
	}
}
