package wiring

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A program is told of its model in names of our own and in those of vendors' clients. Of
// a vendor whose key or address the user passes, nothing is mixed.
func TestModelVariables(t *testing.T) {
	t.Parallel()
	ours := []string{"SKILLOPT_BASE_URL=http://g/v1", "SKILLOPT_API_KEY=k", "SKILLOPT_MODEL=m"}
	openai := []string{"OPENAI_BASE_URL=http://g/v1", "OPENAI_API_BASE=http://g/v1", "OPENAI_API_KEY=k"}
	anthropic := []string{"ANTHROPIC_BASE_URL=http://g", "ANTHROPIC_API_KEY=k"}
	gemini := []string{"GOOGLE_GEMINI_BASE_URL=http://g", "GEMINI_API_KEY=k"}
	for name, tt := range map[string]struct {
		passed []string
		want   [][]string
	}{
		"nothing is passed":   {nil, [][]string{ours, openai, anthropic, gemini}},
		"a key":               {[]string{"OPENAI_API_KEY"}, [][]string{ours, anthropic, gemini}},
		"an address":          {[]string{"ANTHROPIC_BASE_URL", "X"}, [][]string{ours, openai, gemini}},
		"keys of other names": {[]string{"ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY"}, [][]string{ours, openai}},
	} {
		var want []string
		for _, list := range tt.want {
			want = append(want, list...)
		}
		if diff := cmp.Diff(want, modelVariables("http://g", "k", "m", tt.passed)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A proxy that a program is handed does not stand between it and this machine.
func TestProxiesAreNotForTheGateway(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ environ, want []string }{
		{[]string{"PATH=/bin", "NO_PROXY=x"}, nil},
		{[]string{"HTTP_PROXY=http://p"}, []string{"NO_PROXY=127.0.0.1,localhost", "no_proxy=127.0.0.1,localhost"}},
		{[]string{"all_proxy=http://p", "no_proxy=corp"}, []string{"NO_PROXY=corp,127.0.0.1,localhost", "no_proxy=corp,127.0.0.1,localhost"}},
	} {
		if diff := cmp.Diff(tt.want, bypassProxy(tt.environ)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", tt.environ, diff)
		}
	}
}
