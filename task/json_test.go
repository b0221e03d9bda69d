package task

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// standard reads one value with encoding/json.
func standard(text string) (any, error) {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// pythonic reports whether a value holds a number that JSON has not.
func pythonic(v any) bool {
	switch v := v.(type) {
	case float64:
		return true
	case []any:
		for _, e := range v {
			if pythonic(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if pythonic(e) {
				return true
			}
		}
	}
	return false
}

func readsAsStandard(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string,
) {
	t.Helper()
	p := newReader([]byte(text), 1)
	got, err := p.value()
	if err == nil {
		err = p.end()
	}
	want, wantErr := standard(text)
	switch {
	case err == nil && pythonic(got):
		if wantErr == nil {
			t.Fatalf("%q: got %#v, which encoding/json has not", text, got)
		}
	case (err == nil) != (wantErr == nil):
		t.Fatalf("%q: got error %v, encoding/json has %v", text, err, wantErr)
	case err == nil:
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%q (-encoding/json +got):\n%s", text, diff)
		}
	}
}

// TestReadsAsEncodingJSON: what is read, and whether it is, agrees with encoding/json
// for all but NaN and infinities.
func TestReadsAsEncodingJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0", "-0", "01", "1.", ".5", "1.50", "1e5", "1E+5", "1e", "1e-", "-", "+1", "12345678901234567890.10", "1-1", "--1", "1.2.3", "1e5.5", "0e0", "-01",
		`"\u0041\ud83d\ude00\ud800x"`, `"\q"`, `"\u12"`, "\"a\tb\"", "\"\x7f\"", `{"a":1,"a":{"b":2}}`, `{"":null}`, "[ ]", " {\r\n\t} ", "[1,]", "[,1]", `{"a":1,}`, `{"a"}`, "nul", "nullx", "true false", "", " ", "\v1",
		"NaN", "-Infinity", "[Infinity, 1]", "-NaN", "+Infinity", "Nan",
	} {
		readsAsStandard(t, text)
	}
	pieces := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"a":`, `"\n\u00e9"`, `"`, `\`, "1", "-", "0", ".5", "e3", "E+", "null", "true", "false", "NaN", "Infinity", " ", "\n", "[1,2]", `{"b":[]}`, "é"}
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces") {
			b.WriteString(p)
		}
		readsAsStandard(t, b.String())
	})
}
