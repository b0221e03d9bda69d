package outbound_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/internal/sleep/outbound"
	"github.com/seed-f4525e22/skillopt/internal/sleep/transcript"
	"github.com/seed-f4525e22/skillopt/internal/testing/redacttest"
)

func session(text string) transcript.Transcript {
	yes, code := true, 2
	return transcript.Transcript{
		Source: "claude", ID: "id-of-session", Project: "/srv/somebody/shop", Branch: "of-a-branch", Commit: "0123abcd", Version: "1.2",
		Started: time.Unix(1_800_000_000, 0), Ended: time.Unix(1_800_000_100, 0),
		Turns: []transcript.Turn{{
			ID: "id-of-turn", User: text, Agent: text, Skill: "house-rules", SkillBy: transcript.ByRecord, Redacted: 3,
			Tools: []transcript.Tool{{Name: "edit", OK: &yes}, {Name: "run"}}, Commands: []transcript.Command{{Text: "make test", Exit: &code}, {Text: "cat /srv/somebody/shop/x " + text}}, Files: []string{"a/b.go", "/srv/somebody/.netrc", "../other/x", `C:\Users\somebody\x`, `..\y`, "~/z"},
		}, {ID: "second", User: "again", Failed: "401 of somebody", Interrupted: true}},
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	got, err := outbound.Render(session("fix it"), redact.New())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"session","version":2,"agent":"claude","turns":2}
{"type":"turn","user":"fix it","agent":"fix it","tools":[{"name":"edit","ok":true},{"name":"run","ok":null}],"commands":[{"text":"make test","exit":2},{"text":"cat $PROJECT/x fix it","exit":null,"altered":true}],"files":["a/b.go"],"skill":"house-rules"}
{"type":"turn","user":"again","failed":true,"interrupted":true}
`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Nothing raw goes out, also if what is kept held it, and no name of folder, user or session.
func TestNothingRawGoesOut(t *testing.T) {
	t.Parallel()
	marks := regexp.MustCompile(`«([^»]*)»`)
	for shape, text := range redacttest.Planted() {
		raw := marks.ReplaceAllString(text, "$1")
		got, err := outbound.Render(session(raw), redact.New("of-the-profile"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range marks.FindAllStringSubmatch(text, -1) {
			secret, _ := json.Marshal(strings.Trim(m[1], `'"`))
			if len(m[1]) > 5 && bytes.Contains(got, bytes.Trim(secret, `"`)) {
				t.Errorf("%s: %s", shape, got)
			}
		}
	}
	got, err := outbound.Render(session("with of-the-profile in it"), redact.New("of-the-profile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, no := range []string{"of-the-profile", "somebody", "id-of", "of-a-branch", "0123abcd", "2027", "401"} {
		if bytes.Contains(got, []byte(no)) {
			t.Errorf("%s went out: %s", no, got)
		}
	}
}

// Trap 59: names and words cannot steer a terminal, end a line or hide.
func TestTrap59OutboundIsInert(t *testing.T) {
	t.Parallel()
	s := session("\x1b]0;x\x07 \u202eright\u2066 nul\x00 </script> a|b \u2028 \x9b31m\r\n{\"type\":\"turn\"}")
	s.Turns[0].Files = append(s.Turns[0].Files, "x\x1b[2J\n.go")
	got, err := outbound.Render(s, redact.New())
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for scan := bufio.NewScanner(bytes.NewReader(got)); scan.Scan(); lines++ {
		if !json.Valid(scan.Bytes()) {
			t.Errorf("no JSON: %q", scan.Text())
		}
	}
	if bad := regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f-\x{9f}\x{202a}-\x{202e}\x{2066}-\x{2069}\x{2028}]`).Find(got); bad != nil || lines != 3 {
		t.Errorf("%q in %d lines: %q", bad, lines, got)
	}
}
