package config

import (
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Size{
		"4GiB": 4 << 30, "4 GiB": 4 << 30, "512MiB": 512 << 20, "1.5GB": 1_500_000_000, "2g": 2_000_000_000, "1048576": 1 << 20, "0": 0,
	} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
		var again Size
		if err := again.UnmarshalText([]byte(want.String())); err != nil || again != want {
			t.Errorf("%d is written %q, which reads %d, %v", want, want, again, err)
		}
	}
	for _, text := range []string{"", "much", "-1", "4 apples", "99999999999GiB", "NaN"} {
		var got Size
		if err := got.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), "512MiB") {
			t.Errorf("%q is %d, %v", text, got, err)
		}
	}
}
