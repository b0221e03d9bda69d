package main

import (
	"runtime/debug"
	"testing"
)

func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		inUse uint64
		want  int
	}{
		{0, mostGrowth},
		{10 << 20, mostGrowth},
		{32 << 20, mostGrowth},
		{40 << 20, 160},
		{64 << 20, leastGrowth},
		{1 << 30, leastGrowth},
	} {
		if got := growth(tt.inUse); got != tt.want {
			t.Errorf("growth(%d) = %d, want %d", tt.inUse, got, tt.want)
		}
	}
}

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
