package main

import (
	"runtime/debug"
	"testing"
)

func TestBuiltVersion(t *testing.T) {
	t.Parallel()
	for has, want := range map[string]string{"": "dev", "(devel)": "dev", "v1.2.3": "v1.2.3", "v0.0.0-20261124225305-e4c3784aaaaa+dirty": "v0.0.0-20261124225305-e4c3784aaaaa+dirty"} {
		read := func() (*debug.BuildInfo, bool) { return &debug.BuildInfo{Main: debug.Module{Version: has}}, true }
		if got := builtVersion(read); got != want {
			t.Errorf("%q: got %q, want %q", has, got, want)
		}
	}
	if got := builtVersion(func() (*debug.BuildInfo, bool) { return nil, false }); got != "dev" {
		t.Errorf("without build information: %q", got)
	}
}
