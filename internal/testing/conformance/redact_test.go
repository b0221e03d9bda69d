package conformance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/redact"
)

// masks are those of the reference and ours, and the quotes around them: which name
// a mask has and whether quotes are part of it is wording.
var masks = regexp.MustCompile(`["']?\[(?:REDACTED[A-Z_]*|redacted)\]["']?`)

// masked returns which bytes of in stand behind a mask in out. It fails if out has
// anything else that differs from in.
func masked(in, out string) ([]bool, error) {
	kept := masks.Split(out, -1)
	covered := make([]bool, len(in))
	at := 0
	for i, text := range kept {
		begin := at + strings.Index(in[at:], text)
		if i == len(kept)-1 {
			begin = max(at, len(in)-len(text))
		}
		if begin < at || !strings.HasPrefix(in[begin:], text) || i == 0 && begin > 0 {
			return nil, fmt.Errorf("%q is not in its place in %q", text, in)
		}
		for ; at < begin; at++ {
			covered[at] = true
		}
		at = begin + len(text)
	}
	if at != len(in) {
		return nil, fmt.Errorf("the end of %q is gone", in)
	}
	return covered, nil
}

// redactLess are inputs of which we mask less than the reference, by the part that
// stays.
var redactLess = []struct {
	reason string
	part   *regexp.Regexp
}{
	{"a value on the next line: a name at the end of a line is the key of a block more often than that of a secret", regexp.MustCompile(`(?i)token:\n (next)`)},
	{"a reference: it says where a secret is, and holds none", regexp.MustCompile(`my_token: (\$\{X\})`)},
	{"PWD behind a semicolon on the line before: that is the working directory in the output of a shell", regexp.MustCompile(`;\nPWD=([^\s;&,"]*)`)},
}

// redactMore is what may stand before something that only we mask: the name of a
// secret.
var redactMore = regexp.MustCompile(`(?i)(?:token|password|pwd|secret|key|sig|cookie|authorization)["']?\]?\s*[:=]\s*["'{]?(?:\S*)$`)

type redactCount struct{ equal, more, less int }

// text holds our redaction of a text against the recorded one.
func (n *redactCount) text(in, want string) string {
	got := redact.New().Text(in)
	if masks.ReplaceAllString(got, "*") == masks.ReplaceAllString(want, "*") {
		n.equal++
		return ""
	}
	theirs, err := masked(in, want)
	if err != nil {
		return "the vector: " + err.Error()
	}
	ours, err := masked(in, got)
	if err != nil {
		return err.Error()
	}
	fewer := 0
	for _, less := range redactLess {
		for _, part := range less.part.FindAllStringSubmatchIndex(in, -1) {
			for i := part[2]; i < part[3]; i++ {
				if theirs[i] && !ours[i] {
					ours[i], fewer = true, 1
				}
			}
		}
	}
	n.less += fewer
	return n.compare(in, got, want, theirs, ours)
}

func (n *redactCount) compare(in, got, want string, theirs, ours []bool) string {
	more := false
	for i := range theirs {
		switch {
		case theirs[i] && !ours[i] && strings.IndexByte(`"'`, in[i]) < 0:
			return fmt.Sprintf("%q stays from byte %d on:\nours   %q\ntheirs %q", in[i:], i, got, want)
		case ours[i] && !theirs[i] && strings.IndexByte(`"'`, in[i]) < 0:
			begins := i == 0 || !ours[i-1]
			if begins && !redactMore.MatchString(in[:i]) || in[i] <= ' ' {
				return fmt.Sprintf("%q is no secret, from byte %d on:\nours   %q\ntheirs %q", in[i:], i, got, want)
			}
			more = true
		}
	}
	if more {
		n.more++ // a text may be among those of which less is masked as well
	}
	return ""
}

// data does so with decoded data.
func (n *redactCount) data(in, got, want any) string {
	switch in := in.(type) {
	case string:
		if got == redact.Mask && masks.MatchString(fmt.Sprint(want)) { // the whole of it
			n.equal++
			return ""
		}
		return n.text(in, want.(string))
	case []any:
		g, ok := got.([]any)
		w, also := want.([]any)
		for i := range in {
			if !ok || !also {
				break
			}
			if diff := n.data(in[i], g[i], w[i]); diff != "" {
				return diff
			}
		}
		if ok && also {
			return ""
		}
	case map[string]any:
		g, ok := got.(map[string]any)
		w, also := want.(map[string]any)
		for key := range in {
			if !ok || !also {
				break
			}
			if diff := n.data(in[key], g[key], w[key]); diff != "" {
				return key + ": " + diff
			}
		}
		if ok && also {
			return ""
		}
	}
	if s, ok := want.(string); ok && masks.MatchString(s) && got == redact.Mask {
		n.equal++
		return ""
	}
	return cmp.Diff(want, got)
}

func TestRedaction(t *testing.T) {
	t.Parallel()
	run(t, "redaction", func(in, out map[string]any) string {
		if text, ok := in["value"].(string); ok {
			return new(redactCount).text(text, out["ok"].(string))
		}
		return new(redactCount).data(in["value"], redacted(in["value"]), out["ok"])
	})
	var texts, trees redactCount
	compared := map[bool]int{}
	for _, v := range load(t, "redaction") {
		_, isText := v.in["value"].(string)
		compared[isText]++
		if isText {
			texts.text(v.in["value"].(string), v.out["ok"].(string))
			continue
		}
		trees.data(v.in["value"], redacted(v.in["value"]), v.out["ok"])
	}
	t.Logf("redaction, texts: %d compared, %d equal, %d mask more, %d mask less on purpose", compared[true], texts.equal, texts.more, texts.less)
	t.Logf("redaction, data: %d compared, of their leaves %d equal, %d mask more, %d mask less on purpose", compared[false], trees.equal, trees.more, trees.less)
	for _, less := range redactLess {
		t.Logf("redaction masks less on purpose: %s", less.reason)
	}
}

// redacted is what a Redactor that knows no secret makes of data.
func redacted(v any) any { return redact.New().Value(v) }

// The comparison sees what is left, what is too much, and what is broken.
func TestRedactionCanFail(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ in, got, want string }{
		{"a token=x b", "a token=x b", "a token=[REDACTED] b"},
		{"a token=xyz b", "a token=[redacted]z b", "a token=[REDACTED] b"},
		{"a token=x b", "[redacted] token=[redacted] b", "a token=[REDACTED] b"},
		{"a token=x b", "a token=[redacted]", "a token=[REDACTED] b"},
		{"a token=x b", "A token=[redacted] b", "a token=[REDACTED] b"},
	} {
		var n redactCount
		theirs, err := masked(tt.in, tt.want)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := masked(tt.in, tt.got)
		if err == nil && n.compare(tt.in, tt.got, tt.want, theirs, ours) == "" {
			t.Errorf("%q passes for %q", tt.got, tt.want)
		}
	}
}

// shownEnds is the reference's rule: a long value keeps four characters at either end,
// a short one none.
func shownEnds(value string) string {
	all := []rune(value)
	if len(all) <= 8 {
		return strings.Repeat("*", len(all))
	}
	return string(all[:4]) + "..." + string(all[len(all)-4:])
}

// The reference shows the ends of a value for recognition; we show nothing of it, which
// hides all that it hides.
func TestRedactValue(t *testing.T) {
	t.Parallel()
	run(t, "redact_value", func(in, out map[string]any) string {
		value := in["value"].(string)
		if want := shownEnds(value); want != out["ok"] {
			return "the rule of the reference is another: " + cmp.Diff(out["ok"], want)
		}
		want := redact.Mask
		if value == "" {
			want = ""
		}
		return cmp.Diff(want, redact.New().Entry("api_key", value))
	})
}
