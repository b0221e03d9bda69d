package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// buildFile compiles the checks of a single file.
func buildFile(s *spec, n *node, timeout time.Duration) {
	n.needs.Workspace = true
	n.subject = "the workspace"
	path := s.localPath("path")
	switch s.kind {
	case "file-exists":
		buildFileExists(s, n, path)
	case "file-equals":
		buildFileEquals(s, n, path)
	default:
		buildFileContains(s, n, path, timeout)
	}
}

func buildFileExists(s *spec, n *node, path string) {
	kind := s.choice("kind", "any", "file", "folder")
	n.holds = "has " + path
	n.look = func(_ context.Context, w *subject, _ string) (verdict, error) {
		info, err := w.stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return verdict{reason: reason(w.fault(path, err))}, nil
		case ours(err):
			return verdict{}, w.fault(path, err)
		case err != nil:
			return verdict{broken: true, reason: reason(w.fault(path, err))}, nil
		case kind == "file" && !info.Mode().IsRegular():
			return verdict{reason: path + " is no file"}, nil
		case kind == "folder" && !info.IsDir():
			return verdict{reason: path + " is no folder"}, nil
		}
		return verdict{score: 1, pass: true}, nil
	}
}

// ofFile decides a check by the content of a file. A file that is not there
// fails it; one that cannot be read fails it whichever way it is asked.
func ofFile(path string, judge judge) look {
	return func(_ context.Context, w *subject, _ string) (verdict, error) {
		text, err := w.read(path)
		if ours(err) {
			return verdict{}, err
		}
		if err != nil {
			return verdict{reason: reason(err), broken: !errors.Is(err, fs.ErrNotExist)}, nil
		}
		v := judge(text, w.task.Gold)
		if v.saw == "" {
			v.saw = excerpt(text, maxSaw)
		}
		v.saw = path + ": " + v.saw
		if v.reason != "" {
			v.reason = path + ": " + v.reason
		}
		return v, nil
	}
}

func buildFileEquals(s *spec, n *node, path string) {
	normalize := s.choice("normalize", append([]string{"trim", "none", "casefold", "text", "squad"}, formNames()...)...)
	fixed := s.operands(true)
	n.gold = fixed == nil
	set := newOperandSet(fixed, findNormalizer(normalize))
	n.holds = "has a " + path + " that equals " + set.describe()
	n.look = ofFile(path, func(text string, gold []string) verdict {
		texts, forms := set.of(gold)
		form := set.form(text)
		for _, f := range forms {
			if f == form {
				return verdict{score: 1, pass: true}
			}
		}
		return unequal(text, texts)
	})
}

// buildFileContains compiles file-contains: a text or a pattern, a number of
// times.
func buildFileContains(s *spec, n *node, path string, timeout time.Duration) {
	lo, hi := s.times()
	pattern := s.text("regex", "")
	flags := s.text("flags", "")
	normalize := s.choice("normalize", append([]string{"none", "casefold"}, formNames()...)...)
	if pattern != "" {
		for _, key := range []string{"value", "values", "normalize"} {
			if _, ok := s.m[key]; ok {
				s.fail(key, "is given together with regex; keep one")
				s.asked = append(s.asked, key)
			}
		}
		re := s.regex("regex", pattern, flags, timeout)
		n.holds = fmt.Sprintf("has a %s that matches /%s/", path, pattern)
		n.look = ofFile(path, func(text string, _ []string) verdict {
			count, err := countMatches(re, text, lo, hi)
			if err != nil {
				return undecidedVerdict(pattern, timeout)
			}
			return timesVerdict(fmt.Sprintf("/%s/", excerpt(pattern, 200)), count, lo, hi)
		})
		return
	}
	if flags != "" {
		s.fail("flags", "belong to regex, which is not given")
	}
	set := newOperandSet(s.operands(true), containsForm(normalize))
	s.noneEmpty(set.forms)
	n.gold = set.fixed == nil
	if form := benchmarkForm(normalize); form != nil && n.gold {
		n.fit = func(gold string) error {
			if form(gold) == "" {
				return fmt.Errorf("%s is empty in the form %s, so that every file would hold it", quote(gold), normalize)
			}
			return nil
		}
	}
	n.holds = "has a " + path + " that contains " + set.describe()
	n.look = ofFile(path, func(text string, gold []string) verdict {
		return containsTimes(set, text, gold, lo, hi)
	})
}

func containsForm(normalize string) normalizer {
	if normalize == "casefold" {
		return casefold
	}
	if form := benchmarkForm(normalize); form != nil {
		return form
	}
	return func(t string) string { return t }
}

// containsTimes wants each of the texts as often as it is asked for; the score
// is the share of those that are.
func containsTimes(set operandSet, text string, gold []string, lo, hi int) verdict {
	texts, forms := set.of(gold)
	body := set.form(text)
	var wrong []string
	for i, f := range forms {
		if v := timesVerdict(quote(texts[i]), strings.Count(body, f), lo, hi); !v.pass {
			wrong = append(wrong, v.reason)
		}
	}
	if len(wrong) == 0 && len(forms) > 0 {
		return verdict{score: 1, pass: true}
	}
	share := float64(len(forms)-len(wrong)) / float64(max(1, len(forms)))
	return verdict{score: share, reason: firstFew(wrong)}
}

// times reads min and max, a number of times: at least once unless they say
// otherwise, -1 for no upper bound.
func (s *spec) times() (lo, hi int) {
	lo, hi = s.count("min"), s.count("max")
	if lo < 0 {
		lo = 1
		if hi >= 0 {
			lo = 0
		}
	}
	if hi >= 0 && lo > hi {
		s.fail("min", "%d is above max %d", lo, hi)
	}
	if lo == 0 && hi < 0 {
		s.fail("min", "0 or more is always so; give max as well, or 1 or more")
	}
	return lo, hi
}

func timesVerdict(what string, count, lo, hi int) verdict {
	switch {
	case count >= lo && (hi < 0 || count <= hi):
		return verdict{score: 1, pass: true}
	case count == 0:
		return verdict{reason: what + " is not there"}
	}
	return verdict{reason: fmt.Sprintf("%s is there %d times, %s are allowed", what, count, bounds(lo, hi))}
}
