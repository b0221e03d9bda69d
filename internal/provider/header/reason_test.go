package header

import (
	"encoding/json"
	"testing"
)

func TestReason(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]struct{ object, text string }{
		``:                                      {"", ""},
		`<html>`:                                {"", "<html>"},
		`"down"`:                                {"", "down"},
		`null`:                                  {"", ""},
		`7`:                                     {"", "7"},
		`{}`:                                    {"{}", ""},
		`{"message":"m"}`:                       {`{"message":"m"}`, ""},
		`{"error":"e"}`:                         {"", "e"},
		`{"error":null,"detail":"d"}`:           {"", "d"},
		`{"error":{"message":"m"}}`:             {`{"message":"m"}`, ""},
		`[{"error":{"message":"m"}},{}]`:        {`{"message":"m"}`, ""},
		`[]`:                                    {"", "[]"},
		`{"detail":[{"msg":"m"}]}`:              {"", `[{"msg":"m"}]`},
		`{"error":{"error":{"error":{"a":1}}}}`: {"", `{"a":1}`},
	} {
		if object, text := Reason([]byte(body)); string(object) != want.object || text != want.text || (object == nil) != (want.object == "") {
			t.Errorf("%s: %q and %q, want %q and %q", body, object, text, want.object, want.text)
		}
	}
}

func TestPresent(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{"": false, "null": false, "0": true, `""`: true} {
		if Present(json.RawMessage(raw)) != want {
			t.Errorf("Present(%q) = %v", raw, !want)
		}
	}
}
