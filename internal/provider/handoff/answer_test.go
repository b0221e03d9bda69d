package handoff

import (
	"errors"
	"strings"
	"testing"
)

// FuzzParseAnswer: a file is an answer or has a reason, and what comes out can
// be written and read again.
func FuzzParseAnswer(f *testing.F) {
	const id = "00112233445566778899aabbccddeeff"
	f.Add([]byte(head(id) + "\n4\n" + tail(id)))
	f.Add([]byte("\uFEFF" + head(id) + "\r\n" + head(id) + "\r\n" + tail(id) + "\r\n" + tail(id) + "\r\n"))
	f.Add([]byte(head(id) + tail(id)))
	f.Add([]byte(head("") + "\n" + tail("")))
	f.Add([]byte("\n\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := parseAnswer(id, data)
		if err != nil {
			var bad *badAnswer
			if !errors.As(err, &bad) || bad.reason == "" || text != "" {
				t.Fatalf("%q, %v", text, err)
			}
			return
		}
		if text == "" || strings.TrimSpace(text) != text {
			t.Fatalf("text %q", text)
		}
		again, err := parseAnswer(id, []byte(head(id)+"\n"+text+"\n"+tail(id)))
		if err != nil || again != text {
			t.Fatalf("%q becomes %q, %v", text, again, err)
		}
		// No part of the file but the whole of it is an answer.
		for _, cut := range []int{1, 2, len(tail(id)) - 1, len(tail(id))} {
			whole := head(id) + "\n" + text + "\n" + tail(id)
			if _, err := parseAnswer(id, []byte(whole[:len(whole)-cut])); err == nil && !strings.HasSuffix(text, tail(id)) {
				t.Fatalf("cut by %d bytes it is an answer: %q", cut, whole)
			}
		}
	})
}
