package transcript

import (
	"io"
	"strings"
	"testing"
)

func TestBounded(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]string{5: "12345", 4: "", 9: "12345"} {
		got, err := io.ReadAll(&bounded{in: strings.NewReader("12345"), left: limit})
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%d: %q, %v", limit, got, err)
		}
	}
}
