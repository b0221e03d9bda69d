package cassette

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// Summary says what an export wrote.
type Summary struct {
	Steps int
	// Redacted are the keys of results that secrets were taken out of. What the
	// run asked with such a result in its input is not found in a replay.
	Redacted []string
}

// header is the first line.
type header struct {
	Format string `json:"format"`
}

// wireLine is a step, or the end.
type wireLine struct {
	Key    string       `json:"key,omitempty"`
	Kind   journal.Kind `json:"kind,omitempty"`
	Digest string       `json:"digest,omitempty"` // of the input, in hexadecimal
	Stage  string       `json:"stage,omitempty"`
	Role   string       `json:"role,omitempty"`
	Model  string       `json:"model,omitempty"`
	// The result, in the first form that keeps its bytes.
	JSON  json.RawMessage `json:"json,omitempty"`
	Text  *string         `json:"text,omitempty"`
	Bytes []byte          `json:"bytes,omitempty"`
	Usage *wireUsage      `json:"usage,omitempty"`

	End *wireEnd `json:"end,omitempty"`
}

type wireUsage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	Cached     int64 `json:"cached,omitempty"`
	Reasoning  int64 `json:"reasoning,omitempty"`
	CacheWrite int64 `json:"cache_write,omitempty"`
}

// wireEnd is the last line: without it a file is cut.
type wireEnd struct {
	Steps  int    `json:"steps"`
	SHA256 string `json:"sha256"` // of all lines before
}

// Export writes the results of a journal, in their order, to the file at path, as a whole or
// not at all.
func Export(results iter.Seq2[journal.Record, error], path string, secrets *redact.Redactor) (Summary, error) {
	var buf bytes.Buffer
	sum, err := Write(&buf, results, secrets)
	if err != nil {
		return Summary{}, err
	}
	if err := disk.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		return Summary{}, fmt.Errorf("export cassette: %w", err)
	}
	return sum, nil
}

// Write writes results, in their order, without secrets. Equal results give
// equal bytes. A key that holds a secret is an error, since it cannot be changed.
func Write(w io.Writer, results iter.Seq2[journal.Record, error], secrets *redact.Redactor) (Summary, error) {
	hash := sha256.New()
	out := json.NewEncoder(io.MultiWriter(w, hash))
	out.SetEscapeHTML(false)
	var sum Summary
	err := out.Encode(header{Format: Format})
	if err == nil {
		err = sum.lines(out, results, secrets)
	}
	if err == nil {
		err = out.Encode(wireLine{End: &wireEnd{Steps: sum.Steps, SHA256: hex.EncodeToString(hash.Sum(nil))}})
	}
	if err != nil {
		return Summary{}, fmt.Errorf("export cassette: %w", err)
	}
	return sum, nil
}

// lines writes a line for each result.
func (s *Summary) lines(out *json.Encoder, results iter.Seq2[journal.Record, error], secrets *redact.Redactor) error {
	for r, err := range results {
		if err != nil {
			return err
		}
		line, changed, err := newWireLine(r, secrets)
		if changed {
			s.Redacted = append(s.Redacted, r.Key)
		}
		if err != nil {
			return err
		}
		if err := out.Encode(line); err != nil {
			return err
		}
		s.Steps++
	}
	return nil
}

// newWireLine returns the line of a result.
func newWireLine(r journal.Record, secrets *redact.Redactor) (wireLine, bool, error) {
	w := wireLine{Key: r.Key, Kind: r.Kind, Stage: r.Stage, Role: r.Role, Model: r.Model}
	if name := strings.Join([]string{r.Key, r.Stage, r.Role, r.Model}, " "); secrets.Text(name) != name {
		return w, false, fmt.Errorf("the name of a step, %s, looks like it holds a secret: rename the task or model", secrets.Text(name))
	}
	if !r.Digest.IsZero() {
		w.Digest = hex.EncodeToString(r.Digest[:])
	}
	if r.Usage != (journal.Usage{}) && !r.Estimate {
		usage := wireUsage(r.Usage)
		w.Usage = &usage
	}
	result, changed, err := clean(r.Result, secrets)
	if err != nil {
		return w, false, fmt.Errorf("the result of %s: %w", r.Key, err)
	}
	w.setResult(result)
	return w, changed, nil
}

// clean takes secrets out of a result. JSON is taken apart for it: a secret may
// end at the quote of a string, and what remains must be JSON.
func clean(result []byte, secrets *redact.Redactor) ([]byte, bool, error) {
	if !json.Valid(result) {
		text := secrets.Text(string(result))
		return []byte(text), text != string(result), nil
	}
	var doc any
	dec := json.NewDecoder(bytes.NewReader(result))
	dec.UseNumber()
	if err := dec.Decode(&doc); err != nil {
		return nil, false, err
	}
	cleaned := secrets.Value(doc)
	if reflect.DeepEqual(doc, cleaned) {
		return result, false, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(cleaned); err != nil {
		return nil, false, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), true, nil
}

// setResult puts a result into the form that keeps its bytes.
func (w *wireLine) setResult(result []byte) {
	var plain bytes.Buffer
	switch {
	case len(result) == 0:
	case json.Compact(&plain, result) == nil && bytes.Equal(plain.Bytes(), result) && !lossy(result):
		w.JSON = result
	case utf8.Valid(result):
		text := string(result)
		w.Text = &text
	default:
		w.Bytes = result
	}
}

// lossy reports whether an encoder or decoder would change bytes of compact
// JSON: it writes line separators in another way, null means absent, and what is
// no UTF-8 is replaced.
func lossy(result []byte) bool {
	return !utf8.Valid(result) || bytes.Contains(result, []byte("\u2028")) || bytes.Contains(result, []byte("\u2029")) || string(result) == "null"
}

// record returns the result of a line: it is the inverse of newWireLine.
func (w wireLine) record() (journal.Record, error) {
	r := journal.Record{Key: w.Key, Kind: w.Kind, Spend: journal.Spend{Stage: w.Stage, Role: w.Role, Model: w.Model}}
	kinds := []journal.Kind{journal.Call, journal.Episode, journal.Decision, journal.Unmeasured, journal.Check}
	if r.Key == "" || !slices.Contains(kinds, r.Kind) {
		return r, fmt.Errorf("a step with the key %q and the kind %q: %v are known", r.Key, r.Kind, kinds)
	}
	if w.Digest != "" {
		digest, err := hex.DecodeString(w.Digest)
		if err != nil || len(digest) != len(r.Digest) {
			return r, fmt.Errorf("the digest %q is none", w.Digest)
		}
		r.Digest = journal.Digest(digest)
	}
	forms := 0
	for _, there := range []bool{w.JSON != nil, w.Text != nil, w.Bytes != nil} {
		if there {
			forms++
		}
	}
	switch {
	case forms > 1:
		return r, errors.New("a step with several results")
	case w.Text != nil:
		r.Result = []byte(*w.Text)
	case w.Bytes != nil:
		r.Result = w.Bytes
	default:
		r.Result = w.JSON
	}
	if w.Usage != nil {
		r.Usage = journal.Usage(*w.Usage)
	}
	return r, nil
}
