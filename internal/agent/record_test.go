package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/model"
)

func TestLines(t *testing.T) {
	t.Parallel()
	type line struct {
		text  string
		whole bool
	}
	long := strings.Repeat("y", 40)
	tests := []struct {
		name, in string
		want     []line
	}{
		{"ordinary", "a\nb\r\n\n  \nc", []line{{"a", true}, {"b", true}, {"c", true}}},
		{"too long", "a\n" + long + "\nb\n", []line{{"a", true}, {long[:32], false}, {"b", true}}},
		{"too long at the end", long, []line{{long[:32], false}}},
		{"nothing", "", nil},
	}
	for _, tt := range tests {
		for size := 1; size <= len(tt.in)+1; size++ {
			var got []line
			l := &lines{max: 32, line: func(text []byte, whole bool) {
				got = append(got, line{string(text[:min(32, len(text))]), whole})
			}}
			for part := range chunks(tt.in, size) {
				if _, err := l.Write([]byte(part)); err != nil {
					t.Fatal(err)
				}
			}
			l.end()
			if diff := cmp.Diff(tt.want, got, cmp.AllowUnexported(line{})); diff != "" {
				t.Errorf("%s in pieces of %d (-want +got):\n%s", tt.name, size, diff)
			}
		}
	}
}

func chunks(s string, size int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for len(s) > 0 {
			n := min(size, len(s))
			if !yield(s[:n]) {
				return
			}
			s = s[n:]
		}
	}
}

func TestLongLinesTakeNoRoom(t *testing.T) {
	t.Parallel()
	l := newLines(func([]byte, bool) {})
	block := bytes.Repeat([]byte("x"), 1<<20)
	for range 64 {
		if _, err := l.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if cap(l.rest) > 2*maxLine {
		t.Errorf("%d bytes are held", cap(l.rest))
	}
}

func TestShorten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 300, -1).Draw(t, "s")
		room := rapid.IntRange(8, 200).Draw(t, "room")
		got := shorten(s, room)
		if len(s) <= room && got != s {
			t.Fatalf("%q became %q", s, got)
		}
		if !utf8.ValidString(got) || len(got) > room+40 {
			t.Fatalf("%d bytes: %q", len(got), got)
		}
	})
}

func TestLongTrace(t *testing.T) {
	t.Parallel()
	r := &record{}
	const n = 5*maxTurns + 7
	for i := range n {
		id := fmt.Sprint(i)
		r.call(id, "tool", json.RawMessage(id))
		if i != 3 {
			r.result(id, "result "+id, false)
		}
	}
	r.result("3", "late", false) // its call is at the start, which is kept
	turns := r.trace()
	if len(turns) != maxTurns+1 {
		t.Fatalf("%d turns", len(turns))
	}
	for i, turn := range turns {
		want := i
		switch {
		case i == maxTurns/2:
			if turn.Content != fmt.Sprintf("[%d turns left out here]", n-maxTurns) {
				t.Errorf("note %q", turn.Content)
			}
			continue
		case i > maxTurns/2:
			want = n - maxTurns + i - 1
		}
		obs := fmt.Sprintf("result %d", want)
		if want == 3 {
			obs = "late"
		}
		if turn.Action != fmt.Sprintf("tool %d", want) || turn.Observation != obs {
			t.Errorf("turn %d is %+v", i, turn)
		}
	}
}

func TestClassify(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct {
		code   model.Code
		status int
	}{
		"unexpected status 401 Unauthorized: bad key":                    {model.Auth, 401},
		"API Error: 529 Overloaded":                                      {model.Overloaded, 529},
		`[API Error: {"error":{"code":429,"message":"slow"}}]`:           {model.RateLimit, 429},
		"Request rejected (429) · rate limited":                          {model.RateLimit, 429},
		"404 model not found":                                            {model.NotFound, 404},
		"500 boom":                                                       {model.Server, 500},
		"connect ECONNREFUSED 127.0.0.1:8443":                            {model.Network, 0},
		"stream disconnected before completion":                          {model.Network, 0},
		"Not logged in · Please run /login":                              {model.Auth, 0},
		"Request timed out.":                                             {model.Timeout, 0},
		"You have exhausted your daily quota on this model.":             {model.Credit, 0},
		"You've hit your usage limit":                                    {model.RateLimit, 0},
		"something odd at line 404 of main.js":                           {model.Server, 0},
		"API Error: 400 prompt is too long: 210000 tokens":               {model.ContextLength, 400},
		"status 400: this model's maximum context length is 8192 tokens": {model.ContextLength, 400},
		"status 422":         {model.BadRequest, 422},
		"HTTP 409 try again": {model.Server, 409},
		"HTTP 407":           {model.Auth, 407},
		"HTTP 425":           {model.Overloaded, 425},
	} {
		f := newFault(0, text)
		if f.code != want.code || f.status != want.status {
			t.Errorf("%q is %s %d, want %s %d", text, f.code, f.status, want.code, want.status)
		}
	}
}
