package transcript

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is read out of a record as it stands is what is read out of the text.
func FuzzDigests(f *testing.F) {
	for _, text := range []string{"     1→one\n     2→\n\n<system-reminder>\n1. no\n", " 00→ \n<\n0.00", "a\tb\r\n\"q\"\\n\\", "\u2028é🙂\x00", "1: x\n<y\n2: z", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		raw, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var same string
		if err := json.Unmarshal(raw, &same); err != nil {
			t.Fatal(err)
		}
		for _, form := range []form{asPrinted, withNumbers} {
			var d digests
			got, is := d.of(raw[1:len(raw)-1], form)
			want := shownSums(same, form)
			if is && got.all && want.all && len(got.list)+len(want.list) > 0 {
				if diff := cmp.Diff(want.list, got.list); diff != "" {
					t.Errorf("%q (-text +record):\n%s", text, diff)
				}
			}
			if is && got.all != want.all && len(text) <= maxShown {
				t.Errorf("%q: all %v of the record, %v of the text", text, got.all, want.all)
			}
		}
	})
}
