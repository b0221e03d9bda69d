package cassette_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/seed-f4525e22/skillopt/internal/caller"
	"github.com/seed-f4525e22/skillopt/internal/journal"
	"github.com/seed-f4525e22/skillopt/internal/provider/cassette"
	"github.com/seed-f4525e22/skillopt/internal/redact"
	"github.com/seed-f4525e22/skillopt/model"
	"github.com/seed-f4525e22/skillopt/model/modeltest"
	"github.com/seed-f4525e22/skillopt/trajectory"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "hunter2-hunter2"

// recorded makes a journal with steps of every kind and returns it open.
func recorded(t *testing.T) *journal.Journal {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "run.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	zero := 0.0
	client := modeltest.New(func(_ context.Context, n int, req model.Request) (model.Response, error) {
		asked := req.Messages[len(req.Messages)-1].Content
		if n == 0 {
			asked = "" // refused, and asked for again
		}
		return model.Response{Text: asked, Finish: model.FinishStop, Usage: trajectory.Usage{Input: 10, Output: 3, Cached: 4}}, nil
	})
	c, err := caller.New(caller.Options{Journal: j, Roles: map[string]caller.Role{
		model.Target: {Client: client, Endpoint: "e", Model: "m", Source: "openai", Sampling: model.Sampling{Temperature: &zero}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(key, text string) {
		t.Helper()
		_, err := c.Do(t.Context(), caller.Call{
			Key: key, Role: model.Target, Stage: model.StageRollout, Messages: []model.Message{{Role: model.User, Content: text}},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ask("e1/item1", "<b>4</b> & \u2028 \"5\"")
	ask("e1/item2", "they say "+secret)
	ask("e1/item3", "they say "+secret) // answered as item2 was
	must(t)(c.Episode(t.Context(), caller.EpisodeCall{Key: "e1/episode", Stage: model.StageRollout, Role: model.Target, Own: []byte("task")},
		func(context.Context, model.Client) (caller.EpisodeResult, error) {
			return caller.EpisodeResult{Data: []byte("not JSON: \xff " + secret), Usage: trajectory.Usage{Input: 7}}, nil
		}))
	must(t)(c.Check(t.Context(), caller.CheckCall{Key: "e1/item1/check1", Own: []byte("{}")},
		func(context.Context) ([]byte, error) { return []byte("{ \"spaced\":  true }\n"), nil }))
	must(t)(c.Decision(t.Context(), "e1/decision", func() ([]byte, error) { return []byte("null"), nil }))
	if err := c.Unmeasured(t.Context(), "e1/unmeasured", []byte("[\"b\",\"a\"]"), []string{"e1/b", "e1/a"}); err != nil {
		t.Fatal(err)
	}
	return j
}

func must(t *testing.T) func([]byte, error) {
	return func(_ []byte, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestExportAndLoad(t *testing.T) {
	t.Parallel()
	j := recorded(t)
	path := filepath.Join(t.TempDir(), "run.cassette.jsonl")
	sum, err := cassette.Export(j.Results(t.Context(), 0), path, redact.New())
	if err != nil {
		t.Fatal(err)
	}
	var results []journal.Record
	for r, err := range j.Results(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, r)
	}
	if sum.Steps != len(results) || len(sum.Redacted) > 0 || len(results) < 9 {
		t.Errorf("summary %+v of %d results", sum, len(results))
	}
	c, err := cassette.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range results {
		got, err := c.Find(want.Key, want.Digest, want.Role, false)
		if err != nil {
			t.Errorf("%s: %v", want.Key, err)
			continue
		}
		if !bytes.Equal(got.Result, want.Result) || got.Kind != want.Kind || got.Usage != want.Usage || got.Stage != want.Stage || got.Model != want.Model {
			t.Errorf("%s: got %+v %q, want %+v %q", want.Key, got, got.Result, want, want.Result)
		}
	}
	if diff := cmp.Diff([]string{"e1/a", "e1/b"}, c.GivenUp()); diff != "" {
		t.Errorf("given up (-want +got):\n%s", diff)
	}
	if left := c.UnusedKeys(); len(left) > 0 || c.Len() != len(results) {
		t.Errorf("unused %v", left)
	}
	again := filepath.Join(t.TempDir(), "again")
	if _, err := cassette.Export(j.Results(t.Context(), 0), again, redact.New()); err != nil || read(t, again) != read(t, path) {
		t.Errorf("two exports differ, %v", err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func export(t *testing.T, secrets ...string) (string, cassette.Summary) {
	t.Helper()
	var buf bytes.Buffer
	sum, err := cassette.Write(&buf, recorded(t).Results(t.Context(), 0), redact.New(secrets...))
	if err != nil {
		t.Fatal(err)
	}
	return buf.String(), sum
}

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	text, sum := export(t, secret)
	if strings.Contains(text, secret) || !strings.Contains(text, redact.Mask) {
		t.Errorf("the cassette tells the secret:\n%s", text)
	}
	if diff := cmp.Diff([]string{"e1/item2/attempt0/turn0", "e1/episode"}, sum.Redacted); diff != "" {
		t.Errorf("redacted (-want +got):\n%s", diff)
	}
	c, err := cassette.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	j := recorded(t)
	want, _ := lookup(t, j, "e1/item1/attempt1/turn0")
	got, err := c.Find(want.Key, want.Digest, want.Role, false)
	if err != nil || !bytes.Equal(got.Result, want.Result) {
		t.Errorf("a result without a secret is changed: %q, %v, want %q", got.Result, err, want.Result)
	}
}

// A secret that ends where a string of JSON ends must not take the quote along.
func TestRedactedJSONStaysJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`(secret=|password: |api_key=")?[a-z\\"\n]{0,12}(sk-[a-zA-Z0-9]{12,20})?[\\"]{0,3}`).Draw(t, "text")
		result := fmt.Appendf(nil, `{"text":%q,"n":12345678901234567890,"api_key":"x"}`, text)
		r := journal.Record{Key: "k", Kind: journal.Call, Result: result}
		var buf bytes.Buffer
		if _, err := cassette.Write(&buf, one(r), redact.New()); err != nil {
			t.Fatal(err)
		}
		c, err := cassette.Parse(&buf)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Find("k", journal.Digest{}, "", false)
		if err != nil || !bytes.Contains(got.Result, []byte("12345678901234567890")) || !bytes.HasPrefix(got.Result, []byte("{")) {
			t.Fatalf("%q, %v", got.Result, err)
		}
	})
}

func TestNamesThatHoldSecrets(t *testing.T) {
	t.Parallel()
	r := journal.Record{Key: "e1/" + secret, Kind: journal.Decision}
	_, err := cassette.Write(&bytes.Buffer{}, one(r), redact.New(secret))
	if err == nil || strings.Contains(err.Error(), secret) {
		t.Errorf("error %v", err)
	}
}

func TestMissing(t *testing.T) {
	t.Parallel()
	text, _ := export(t)
	c, err := cassette.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	j := recorded(t)
	item2, _ := lookup(t, j, "e1/item2/attempt0/turn0")
	reask, _ := lookup(t, j, "e1/item1/attempt1/turn0")
	tests := []struct {
		name       string
		key        string
		digest     journal.Digest
		role       string
		allowEqual bool
		want       string // part of the error, "" = found
	}{
		{"as recorded", item2.Key, item2.Digest, model.Target, false, ""},
		{"another input", item2.Key, reask.Digest, model.Target, false, "with another input"},
		{"no such step", "e9/item1/attempt0/turn0", item2.Digest, model.Target, false, "no answer for the step e9/item1"},
		{"an equal step", "e1/item3/attempt0/turn0", item2.Digest, model.Target, true, ""},
		{"an equal step that must not answer", "e1/item3/attempt0/turn0", item2.Digest, model.Target, false, "no answer"},
		{"an equal step of another role", "e1/item3/attempt0/turn0", item2.Digest, model.Judge, true, "no answer"},
		{"a decision", "e1/decision", journal.Digest{}, "", false, ""},
		{"a decision that is none", "e2/decision", journal.Digest{}, "", true, "no answer for the step e2/decision"},
	}
	for _, tt := range tests {
		_, err := c.Find(tt.key, tt.digest, tt.role, tt.allowEqual)
		var missing *cassette.MissingError
		if errors.As(err, &missing) != (tt.want != "") || err != nil && (!strings.Contains(err.Error(), tt.want) || missing.Key != tt.key) {
			t.Errorf("%s: error %v, want %q in it", tt.name, err, tt.want)
		}
	}
	if left := c.UnusedKeys(); !slices.Contains(left, "e1/episode") || slices.Contains(left, "e1/decision") || slices.Contains(left, "e1/a") {
		t.Errorf("unused %v", left)
	}
}

func TestNothingReachesTheClient(t *testing.T) {
	t.Parallel()
	text, _ := export(t)
	c, err := cassette.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Client().Generate(t.Context(), model.Request{})
	var missing *cassette.MissingError
	if code := model.CodeOf(err); code == "" || code.Transient() || !errors.As(err, &missing) {
		t.Errorf("error %v, want one that no retry mends", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Client().Generate(ctx, model.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestDamage: a file that was cut anywhere, or changed, is refused.
func TestDamage(t *testing.T) {
	t.Parallel()
	text, _ := export(t)
	for cut := range len(text) {
		if _, err := cassette.Parse(strings.NewReader(text[:cut])); err == nil {
			t.Fatalf("cut after %d of %d bytes it is read", cut, len(text))
		}
	}
	all := strings.SplitAfter(text, "\n")
	all = all[:len(all)-1]
	without := func(i int) string { return strings.Join(slices.Delete(slices.Clone(all), i, i+1), "") }
	for name, tt := range map[string]struct{ text, want string }{
		"a line is missing": {without(2), "do not add up"},
		"a line is twice":   {strings.Join(slices.Insert(slices.Clone(all), 2, all[2]), ""), "twice"},
		"a word is changed": {strings.Replace(text, "rollout", "rolland", 1), "do not add up"},
		"more after it":     {text + "{}\n", "after the end"},
		"newer":             {strings.Replace(text, "cassette/1", "cassette/2", 1), "cassette/2"},
		"no cassette":       {"hello\n", "not a cassette"},
		"unknown kind":      {all[0] + `{"key":"k","kind":"fault"}` + "\n", "line 2"},
		"unknown field":     {all[0] + `{"key":"k","kind":"call","extra":1}` + "\n", "extra"},
		"no digest":         {all[0] + `{"key":"k","kind":"call","digest":"12"}` + "\n", "digest"},
		"two results":       {all[0] + `{"key":"k","kind":"call","text":"a","json":1}` + "\n", "several results"},
	} {
		if _, err := cassette.Parse(strings.NewReader(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %q in it", name, err, tt.want)
		}
	}
	if _, err := cassette.Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// TestBytesAreKept: whatever a result is, it comes back byte by byte.
func TestBytesAreKept(t *testing.T) {
	t.Parallel()
	// The redactor has its own tests; here nothing looks like a secret.
	rapid.Check(t, func(t *rapid.T) {
		result := rapid.OneOf(
			rapid.SliceOfN(rapid.ByteRange(0, 255), 0, 20),
			rapid.Map(rapid.SampledFrom([]string{"null", "{}", " {}", "{\"a\" : 1}", "\"\u2028\"", "1e400", "\"<&>\"", "[1,2]", "\"\xff\""}), func(s string) []byte { return []byte(s) }),
		).Draw(t, "result")
		var buf bytes.Buffer
		r := journal.Record{Key: "k", Kind: journal.Episode, Result: result}
		if _, err := cassette.Write(&buf, one(r), redact.New()); err != nil {
			t.Fatal(err)
		}
		c, err := cassette.Parse(&buf)
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Find("k", journal.Digest{}, "", false)
		if err != nil || !bytes.Equal(got.Result, result) {
			t.Fatalf("%q becomes %q, %v", result, got.Result, err)
		}
	})
}

// FuzzParse: no file makes Parse panic, and what it reads can be asked.
func FuzzParse(f *testing.F) {
	head := `{"format":"` + cassette.Format + `"}` + "\n"
	f.Add([]byte(head + `{"end":{"steps":0,"sha256":"x"}}` + "\n"))
	f.Add([]byte(head + `{"key":"a/attempt0/turn0","kind":"call","role":"target","json":{"text":"4"}}` + "\n"))
	f.Add([]byte(head + `{"key":"k","kind":"unmeasured","bytes":"AA=="}` + "\n" + `{"end":null}` + "\n"))
	f.Add([]byte(strings.Repeat("x", 5000)))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := cassette.Parse(bytes.NewReader(data))
		if err != nil {
			return
		}
		if _, err := c.Find("k", journal.Digest{}, "", true); err == nil && c.Len() == 0 {
			t.Fatal("an empty cassette answers")
		}
		_, _ = c.GivenUp(), c.UnusedKeys()
	})
}

// lookup returns the result under key.
func lookup(t testing.TB, j *journal.Journal, key string) (journal.Record, bool) {
	t.Helper()
	r, ok, err := j.Lookup(key)
	if err != nil {
		t.Fatal(err)
	}
	return r, ok
}

// one is a record with a single result.
func one(r journal.Record) iter.Seq2[journal.Record, error] {
	return func(yield func(journal.Record, error) bool) { yield(r, nil) }
}
