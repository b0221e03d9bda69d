package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// Texts without secrets, as transcripts and replies have them.
var harmlessTexts = map[string]string{
	"prose": `The token budget was exceeded while the reader went on; nobody had told her that the key of the house lay under the third stone. "Basic manners," he said, and closed the file: there was a password reset flow, and the secret of good writing was elsewhere.
`,
	"code": `func (r *Reader) next(line string) (string, error) {
	if strings.HasPrefix(line, "//") || len(line) == 0 { // nothing to see
		return "", fmt.Errorf("line %d of %s: %w", r.n, r.path, errSkip)
	}
	for i := range r.fields {
		r.fields[i] = parse(line, i, r.opts.width)
	}
	return line, nil
}
`,
	"json": `{"type":"assistant","uuid":"6f1c2a34-8e0b-4a57-9d53-0f6b7f7f0c11","cwd":"/srv/me/src","message":{"role":"assistant","content":[{"type":"text","text":"I read the file \"main.go\" first.\nIt has 3 functions; the second one\tfails because max_tokens is 512."}],"usage":{"input_tokens":1812,"output_tokens":77}}}
`,
}

func BenchmarkText(b *testing.B) {
	known := New("Tq7target+key/credential=1", "oW3optimizer-in-dotenv-42", "jZ9judge-credential-0007", "hV5header-from-a-variable", "pX4password-of-the-proxy")
	for kind, text := range harmlessTexts {
		text = strings.Repeat(text, 1<<20/len(text))
		for name, r := range map[string]*Redactor{"none known": New(), "five known": known} {
			b.Run(kind+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				for b.Loop() {
					if r.Text(text) != text {
						b.Fatal("something was masked")
					}
				}
			})
		}
		b.Run(kind+"/exact", func(b *testing.B) {
			e := NewExact("Tq7target+key/credential=1", "oW3optimizer-in-dotenv-42", "jZ9judge-credential-0007", "hV5header-from-a-variable", "pX4password-of-the-proxy")
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if e.Has(text) {
					b.Fatal("something was found")
				}
			}
		})
	}
	secrets := strings.Repeat(`{"api_key": "sk-abcDEF1234567890", "text": "export TOKEN=abcdef\npassword: 'x y' at postgres://me:pass@host"}`+"\n", 1<<13)
	b.Run("secrets", func(b *testing.B) {
		b.SetBytes(int64(len(secrets)))
		for b.Loop() {
			if clean := New().Text(secrets); !json.Valid([]byte(clean[:strings.IndexByte(clean, '\n')])) {
				b.Fatal("no JSON is left")
			}
		}
	})
}
