package main

import "testing"

func TestGrowth(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		inUse uint64
		want  int
	}{
		{0, mostGrowth},
		{10 << 20, mostGrowth},
		{32 << 20, 100},
		{64 << 20, 50},
		{1 << 30, leastGrowth},
	} {
		if got := growth(tt.inUse); got != tt.want {
			t.Errorf("growth(%d) = %d, want %d", tt.inUse, got, tt.want)
		}
	}
}
