package remember

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/result"
	"github.com/seed-f4525e22/skillopt/skill"
)

func TestDecodeIsStrict(t *testing.T) {
	t.Parallel()
	edit := `{"op":"append","content":"- a"}`
	entry := func(more string) string {
		return `{"version":1,"rejected":[{"edits":[` + edit + `],"from":{}` + more + `}]}`
	}
	for name, tt := range map[string]struct{ text, want string }{
		"good":          {entry(""), ""},
		"empty":         {`{"version":1,"rejected":[]}`, ""},
		"no version":    {`{"rejected":[]}`, "version: missing, allowed is 1"},
		"newer":         {`{"version":2,"rejected":[],"more":1}`, "version: found 2, allowed is 1"},
		"unknown field": {`{"version":1,"rejected":[],"more":1}`, "more"},
		"more after":    {entry("") + "{}", "more after"},
		"no JSON":       {"version: 1", "no memory that"},
		"a list":        {"[]", "no memory that"},
		"nothing in it": {`{"version":1,"rejected":[{"from":{}}]}`, "rejected[0]: 0 edits and changes"},
		"no such op":    {strings.Replace(entry(""), "append", "run", 1), `rejected[0].edits[0].op: found "run", allowed are append insert_after`},
		"difference":    {entry(`,"difference":{"metric":"hard","mean":1.5,"low":null,"high":null,"n":3}`), "rejected[0].difference.mean: found 1.5"},
		"half interval": {entry(`,"difference":{"metric":"hard","mean":0,"low":0,"high":null,"n":3}`), "low and high"},
		"ends":          {entry(`,"difference":{"metric":"hard","mean":0,"low":1,"high":0,"n":3}`), "low and high"},
		"metric":        {entry(`,"difference":{"metric":"best","mean":0,"low":null,"high":null,"n":3}`), `found "best"`},
		"long text":     {strings.Replace(entry(""), "- a", strings.Repeat("x", MaxText+1), 1), "rejected[0].edits[0].content: 16385 bytes, at most 16384"},
		"many":          {`{"version":1,"rejected":[` + strings.TrimSuffix(strings.Repeat(`{"from":{}},`, MaxRejected+1), ",") + "]}", "201 entries, at most 200"},
		"long meta":     {`{"version":1,"rejected":[],"meta_skill":"` + strings.Repeat("x", MaxMeta+1) + `"}`, "meta_skill: 32769 bytes"},
		"large":         {strings.Repeat(" ", MaxFile+1), "the file: 1048577 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Decode([]byte(tt.text), redact.Text)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// What comes out has no secrets and steers nothing, and stays as it is when it is read again.
func TestCleanTakesOutWhatIsNotPassedOn(t *testing.T) {
	t.Parallel()
	const token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
	dirty := "use " + token + " and hunter2hunter2\x1b[31m\u202e"
	m := result.Memory{MetaSkill: dirty, Rejected: []result.Rejected{{
		Edits:   []result.RejectedEdit{{Op: skill.Replace, File: dirty, Heading: dirty, Target: dirty, Content: dirty}},
		Changes: []string{dirty},
		From:    result.RejectedFrom{Run: dirty, RunID: dirty, Skill: dirty},
	}}}
	got, err := Clean(m, redact.New("hunter2hunter2").Text)
	if err != nil {
		t.Fatal(err)
	}
	text, err := Encode(got)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{token, "hunter2hunter2", "\x1b", `\u001b`, "\u202e"} {
		if strings.Contains(string(text), bad) {
			t.Errorf("%q is left in\n%s", bad, text)
		}
	}
	again, err := Decode(text, redact.New("hunter2hunter2").Text)
	if diff := cmp.Diff(got, again); err != nil || diff != "" {
		t.Errorf("%v, read again (-was +is):\n%s", err, diff)
	}
	if m.Rejected[0].Edits[0].Content != dirty {
		t.Error("the memory that was given was changed")
	}
}

func TestJoined(t *testing.T) {
	t.Parallel()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	entry := func(begun time.Time, step int, contents ...string) result.Rejected {
		e := result.Rejected{From: result.RejectedFrom{RunID: begun.Format("02"), Step: step, Begun: begun}}
		for _, c := range contents {
			e.Edits = append(e.Edits, result.RejectedEdit{Op: skill.Append, Content: c})
		}
		return e
	}
	in := []result.Rejected{entry(day(1), 1, "a"), entry(day(2), 1, "b", "c"), entry(day(1), 2, "c", " b "), entry(day(2), 3, "a"), entry(day(1), 3, "d")}
	got, left := MergeEntries(in, "meta")
	want := result.Memory{Version: 1, MetaSkill: "meta", Rejected: []result.Rejected{in[3], in[1], in[4]}}
	if diff := cmp.Diff(want, got); diff != "" || left != 0 {
		t.Errorf("%d left out (-want +got):\n%s", left, diff)
	}

	// The oldest go first, and the document keeps its bounds whatever the texts are.
	for name, text := range map[string]string{"many": "x", "large": strings.Repeat("\x01", MaxText-20)} {
		var all []result.Rejected
		for i := range MaxRejected + 10 {
			all = append(all, entry(day(1).Add(time.Duration(i)*time.Hour), 1, text+strings.Repeat("y", i%16)+string(rune('A'+i/16))))
		}
		m, left := MergeEntries(all, strings.Repeat("\x01", MaxMeta))
		data, err := Encode(m)
		if err != nil || len(data) > MaxFile || left != len(all)-len(m.Rejected) || left < 10 || len(m.Rejected) == 0 {
			t.Errorf("%s: %v, %d bytes, %d entries, %d left out", name, err, len(data), len(m.Rejected), left)
		}
		if len(m.Rejected) > 0 && m.Rejected[0].From.Begun.Before(m.Rejected[len(m.Rejected)-1].From.Begun) {
			t.Errorf("%s: the oldest stand first", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":1,"rejected":[{"edits":[{"op":"append","content":"a"}],"from":{}}],"meta_skill":"m"}`))
	f.Add([]byte(`{"version":1,"rejected":[{"changes":["a"],"difference":{"metric":"soft","mean":-0.1,"low":-0.2,"high":0,"n":9},"from":{"begun":"2026-01-01T00:00:00Z"}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := Decode(data, redact.Text)
		if err != nil {
			return
		}
		text, err := Encode(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > MaxFile { // escapes and indents of a file near the bound
			return
		}
		again, err := Decode(text, redact.Text)
		if diff := cmp.Diff(m, again); err != nil || diff != "" || !json.Valid(text) {
			t.Errorf("%v, read again:\n%s", err, diff)
		}
	})
}
