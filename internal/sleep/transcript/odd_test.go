package transcript_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Times that cannot be are not known, and a turn without a time stands where it was said.
func TestTimesThatCannotBe(t *testing.T) {
	t.Parallel()
	line := func(n int, at string) string {
		return strings.Replace(claudeLine("user", n, `"`+at+`"`, ""), `"2026-11-22T08:00:0`+string(rune('0'+n))+`Z"`, `"`+at+`"`, 1)
	}
	got, _ := readClaude(t, claudeHome(t, map[string]string{
		"a.jsonl": line(1, "9999-12-31T00:00:00Z") + line(2, "2026-11-22T09:00:00Z") + line(3, "0001-01-01T00:00:00Z") + line(4, "soon") + line(5, "2026-11-22T10:00:00Z"),
		"b.jsonl": line(6, "never"),
	}))
	var times []string
	for _, turn := range got[0].Turns {
		times = append(times, turn.Started.Format("15:04"))
	}
	if diff := cmp.Diff([]string{"09:00", "09:00", "09:00", "09:00", "10:00"}, times); diff != "" {
		t.Error(diff)
	}
	if first := got[0].Started.Format("15:04"); first != "09:00" || !got[1].Ended.IsZero() {
		t.Errorf("%s %v", first, got[1].Ended)
	}
}
