package check

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/seed-f4525e22/skillopt/trajectory"
)

// countMatches counts the matches of a pattern, as far as it takes to know
// whether they are lo to hi (-1: any number). The time limit of the pattern is
// one for all of them.
func countMatches(re *regexp2.Regexp, text string, lo, hi int) (int, error) {
	enough := hi + 1
	if hi < 0 {
		enough = lo
	}
	count := 0
	end := time.Now().Add(re.MatchTimeout)
	m, err := re.FindStringMatch(text)
	for m != nil && err == nil {
		if time.Now().After(end) {
			return 0, errLate
		}
		if count++; count >= enough {
			return count, nil
		}
		m, err = re.FindNextMatch(m)
	}
	return count, err
}

// buildToolCalled compiles tool-called: how often an agent called a tool.
func buildToolCalled(s *spec, n *node, timeout time.Duration) {
	n.needs.Turns = true
	n.subject = "the agent"
	lo, hi := s.times()
	tool, args := s.text("tool", ""), s.text("args", "")
	flags := s.text("flags", "")
	if tool == "" && args == "" {
		s.fail("tool", "is missing; tool-called needs tool, a pattern for the whole name, or args, one for the arguments, or both")
		return
	}
	if tool != "" && s.regex("tool", tool, flags, timeout) == nil { // by itself: parentheses that do not pair could leave the anchors
		return
	}
	called := toolPattern{
		tool: s.regex("tool", `\A(?:`+tool+`)\z`, flags, timeout),
		args: s.regex("args", args, flags, timeout),
		any:  tool == "",
	}
	what := strings.TrimSpace("calls of " + tool)
	if tool == "" {
		what = "calls of any tool"
	}
	if args != "" {
		what += fmt.Sprintf(" with /%s/", excerpt(args, 120))
	}
	n.holds = fmt.Sprintf("made %s %s", bounds(lo, hi), what)
	n.look = func(_ context.Context, w *subject, _ string) (verdict, error) {
		count, total, err := called.count(w.Turns)
		if err != nil {
			return undecidedVerdict(strings.TrimSpace(tool+" "+args), timeout), nil
		}
		if count >= lo && (hi < 0 || count <= hi) {
			return verdict{score: 1, pass: true, saw: fmt.Sprintf("%d of %d calls", count, total)}, nil
		}
		return verdict{saw: fmt.Sprintf("%d of %d calls", count, total), reason: fmt.Sprintf("%d %s, %s are allowed; %d calls in all", count, what, bounds(lo, hi), total)}, nil
	}
}

type toolPattern struct {
	tool, args *regexp2.Regexp
	any        bool
}

func (p toolPattern) count(turns []trajectory.Turn) (count, total int, err error) {
	end := time.Now().Add(p.args.MatchTimeout)
	for _, t := range turns {
		if t.Kind != trajectory.ToolCall {
			continue
		}
		if time.Now().After(end) {
			return 0, 0, errLate
		}
		total++
		name, args, _ := strings.Cut(t.Action, " ")
		ok := p.any
		if !ok {
			if ok, err = p.tool.MatchString(name); err != nil {
				return 0, 0, err
			}
		}
		if ok {
			if ok, err = p.args.MatchString(args); err != nil {
				return 0, 0, err
			}
		}
		if ok {
			count++
		}
	}
	return count, total, nil
}
