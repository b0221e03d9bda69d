package skillenv

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	half := 0.5
	for text, want := range map[string]Observation{
		`{"text":"a","score":0.5}`:                      {Text: "a", Score: &half},
		`{"text":"a","score":null,"choices":["ü"]} `:    {Text: "a", Choices: []string{"ü"}},
		`{"text":"\u2028<&>","done":true}` + "\n":       {Text: "\u2028<&>", Done: true},
		`{"tools":[{"name":"n","parameters":{"a":1}}]}`: {Tools: nil},
	} {
		var got Observation
		err := Read([]byte(text), &got)
		got.Tools = nil
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	for text, says := range map[string]string{
		"": "EOF", "{}{}": "after the object", `{"a":1}`: `unknown field "a"`, `{"text":"a","text":"b"}`: "twice", `{"Text":"a","text":"b"}`: "mean the same",
		`{"score":NaN}`: "invalid character 'N'", `{"score":1e999}`: "cannot unmarshal", "[]": "cannot unmarshal",
	} {
		var got Observation
		if err := Read([]byte(text), &got); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %s", text, err, says)
		}
	}
}

func TestLineIsBounded(t *testing.T) {
	t.Parallel()
	text, err := Value(strings.Repeat("x", MaxLine))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Line(Message{Result: text}); err == nil || !strings.Contains(err.Error(), "at most 16 MB") {
		t.Errorf("got %v", err)
	}
}

// FuzzRead checks that what is read as a message is the same once it was written and read again, on one line.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"start","params":{"episode":"e"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m","data":{"kind":"infra"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var m, again Message
		if Read(data, &m) != nil {
			return
		}
		line, err := Line(m)
		if err != nil || bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("%q: %v", line, err)
		}
		if err := Read(line, &again); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		m.Version = "2.0"
		one, _ := json.Marshal(m)
		two, _ := json.Marshal(again)
		if !bytes.Equal(one, two) {
			t.Errorf("%s became %s", one, two)
		}
	})
}
