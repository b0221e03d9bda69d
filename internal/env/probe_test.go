package env

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// A program is judged as a rollout would: by what it does before its task.
func TestProbe(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, script string
		kind         Kind   // of the fault, "" = none
		say          string // part of the fault or of the parting
	}{
		{"reads lines", "while read -r line; do echo x; done", "", ""},
		{"wants a task", "set -e; read -r line; echo x", "", "exit status 1"},
		{"stays", "read -r line; exec sleep 300", "", ""},
		{"dies", "echo out of cheese >&2; exit 3", Died, "out of cheese"},
		{"ends", "exit 0", Died, "without an answer"},
		{"speaks", "echo hello; cat", Rubbish, `"hello" without being asked`},
		{"closes its output", "exec >&-; exec sleep 300", Died, "closed its output"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e, err := New(Options{Command: []string{"/bin/sh", "-c", tt.script}})
			if err != nil {
				t.Skip("no /bin/sh here")
			}
			defer func() { _ = e.Close() }()
			parting, err := e.Probe(t.Context(), time.Second)
			var fault *Error
			switch {
			case tt.kind == "" && (err != nil || !strings.Contains(parting, tt.say) || tt.say == "" && parting != ""):
				t.Errorf("parting %q, error %v", parting, err)
			case tt.kind != "" && (!errors.As(err, &fault) || fault.Kind != tt.kind || !strings.Contains(err.Error(), tt.say)):
				t.Errorf("error %v, want %s with %q", err, tt.kind, tt.say)
			}
		})
	}
}

func TestProbeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e, err := New(Options{Command: []string{"/bin/cat"}})
	if err != nil {
		t.Skip("no /bin/cat here")
	}
	defer func() { _ = e.Close() }()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	cancel(stopped)
	if _, err := e.Probe(ctx, time.Hour); !errors.Is(err, stopped) {
		t.Errorf("error %v, want that of the context", err)
	}
}
