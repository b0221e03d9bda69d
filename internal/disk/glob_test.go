package disk

import (
	"errors"
	"testing"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"a/*.json", "a/b.json", true},
		{"a/*.json", "a/b/c.json", false},
		{"a/**", "a", true},
		{"a/**/c", "a/c", true},
		{"a/**/c", "a/b/b/c", true},
		{"**", "a/b", true},
		{"**/*.json", "x.json", true},
		{"a?[x-z]", "aby", true},
		{"a", "a/b", false},
		{"a/b", "a", false},
		{"a**", "a/b", false},
		{"**/a/**/b/**", "x/a/y/b", true},
	} {
		if got := Match(c.pattern, c.path); got != c.want {
			t.Errorf("%s covers %s: %v", c.pattern, c.path, got)
		}
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "/a", "a/", "a//b", "../a", "a/./b"} {
		if err := ValidPattern(bad); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, bad := range []string{`a\b`, "[a"} {
		if err := ValidPattern(bad); err == nil || errors.Is(err, ErrName) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if err := ValidPattern("a/**/[b-c]?*"); err != nil {
		t.Error(err)
	}
}

func TestFixed(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]struct {
		dir   string
		plain bool
	}{
		"a/b/*.json": {"a/b", false}, "*": {"", false}, "a*/b": {"", false}, "a/b": {"a", true}, "b": {"", true}, "a/b[c]/d": {"a", false}, "a/**": {"a", false},
	} {
		if dir, plain := FixedPart(pattern); dir != want.dir || plain != want.plain {
			t.Errorf("%s: %q, %v", pattern, dir, plain)
		}
	}
}
