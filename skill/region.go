package skill

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Markers of the protected regions that SkillOpt writes, too. A region is
// a start marker, the next end marker of its kind, and what is between them.
const (
	SlowStart     = "<!-- SLOW_UPDATE_START -->"
	SlowEnd       = "<!-- SLOW_UPDATE_END -->"
	AppendixStart = "<!-- APPENDIX_START -->"
	AppendixEnd   = "<!-- APPENDIX_END -->"
)

// kind is a sort of region, named by its two markers.
type kind struct {
	start, end string
	last       bool // of several start markers before an end the last one is its partner when regions are taken out
}

var (
	slow     = kind{start: SlowStart, end: SlowEnd}
	appendix = kind{start: AppendixStart, end: AppendixEnd, last: true}
	kinds    = [...]kind{slow, appendix, examples}
)

// span is a half-open range of bytes of a text.
type span struct{ from, to int }

func (s span) overlaps(o span) bool { return s.from < o.to && o.from < s.to }

// next returns the first region or lone marker of kind k in text at or after
// from. Text between two start markers is no part of a region that begins at the
// last of them.
func (k kind) next(text string, from int) (at span, ok bool) {
	start := indexFrom(text, k.start, from)
	end := indexFrom(text, k.end, from)
	switch {
	case start < 0 && end < 0:
		return span{}, false
	case start < 0 || end >= 0 && end < start:
		return span{end, end + len(k.end)}, true
	}
	if end < 0 {
		return span{start, start + len(k.start)}, true
	}
	if k.last {
		start += strings.LastIndex(text[start:end], k.start)
	}
	return span{start, end + len(k.end)}, true
}

// regions returns the closed regions of kind k at or after from, in order. Markers that
// have no partner protect nothing.
func (k kind) regions(text string, from int) []span {
	var found []span
	for at := from; ; {
		start := indexFrom(text, k.start, at)
		if start < 0 {
			return found
		}
		end := indexFrom(text, k.end, start)
		if end < 0 {
			return found
		}
		at = end + len(k.end)
		found = append(found, span{start, at})
	}
}

// present reports whether both markers are in text, in whatever order.
func (k kind) present(text string) bool {
	return strings.Contains(text, k.start) && strings.Contains(text, k.end)
}

// inner returns what is between the first start marker and the first end
// marker, "" when they are missing or reversed.
func (k kind) inner(text string) string {
	start := strings.Index(text, k.start)
	end := strings.Index(text, k.end)
	if start < 0 || end < start {
		return ""
	}
	return text[start+len(k.start) : end]
}

// strip returns text without the regions and lone markers of kind k and without
// white space at its end. Where something was cut out and where the body starts, at
// most one blank line stays; all other lines keep their blank lines. It repeats itself because a
// cut can put a marker together.
func (k kind) strip(text string) string {
	for {
		kept := k.cutOut(text)
		if kept == text {
			front := frontMatterEnd(kept)
			return kept[:front] + trimEnd(kept[front:])
		}
		text = kept
	}
}

// cutOut returns text without what a single pass finds of kind k. Where the last of
// several start markers counts, the pass ends at one that stays behind: it may be the
// partner of the next end.
func (k kind) cutOut(text string) string {
	at := frontMatterEnd(text)
	kept := text[:at]
	for {
		s, ok := k.next(text, at)
		if !ok || k.last && strings.Contains(kept, k.start) {
			return joinLines(kept, text[at:])
		}
		kept = joinLines(kept, text[at:s.from])
		at = s.to
	}
}

// only returns the single region of kind k, if there is exactly one and no
// lone marker elsewhere.
func (k kind) only(text string) (span, bool) {
	found := k.regions(text, frontMatterEnd(text))
	if len(found) != 1 || strings.Count(text, k.start) != 1 || strings.Count(text, k.end) != 1 {
		return span{}, false
	}
	return found[0], true
}

// protectedSpans returns what edits may not touch: the front matter and the regions
// of all kinds, in order.
func protectedSpans(text string) []span {
	return protectedFrom(text, frontMatterEnd(text))
}

// protectedFrom does what protectedSpans does for a text whose front matter ends at front.
func protectedFrom(text string, front int) []span {
	var all []span
	if front > 0 {
		all = append(all, span{0, front})
	}
	for _, k := range kinds {
		all = append(all, k.regions(text, front)...)
	}
	slices.SortFunc(all, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	return all
}

// firstMarker returns where the first start marker of any kind is at or after from,
// or -1. An unclosed one counts: text that is appended belongs before it.
func firstMarker(text string, from int) int {
	first := -1
	for _, k := range kinds {
		at := indexFrom(text, k.start, from)
		if at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// RegionsEqual reports whether a and b have the same front matter and the same
// regions in the same order, byte for byte. Text around them may differ. It is
// the test that a rewritten skill has to pass.
func RegionsEqual(a, b string) bool {
	pa, pb := protectedSpans(a), protectedSpans(b)
	return slices.EqualFunc(pa, pb, func(x, y span) bool {
		if x.from == 0 && y.from == 0 {
			// The line break after front matter may be missing at the end of a file.
			return strings.TrimRight(a[:x.to], crlf) == strings.TrimRight(b[:y.to], crlf)
		}
		return a[x.from:x.to] == b[y.from:y.to]
	})
}

// WithoutRegions returns the part of text that step edits may change: without
// front matter, regions, lone markers, and white space at the end.
func WithoutRegions(text string) string {
	text = text[frontMatterEnd(text):]
	for _, k := range kinds {
		text = k.strip(text)
	}
	return text
}

// StripMarkers returns text without any region marker, those of the learned region
// included, also without those that come about when an inner one is taken out.
func StripMarkers(text string) string {
	kept := make([]byte, 0, len(text))
	for _, piece := range strings.SplitAfter(text, ">") { // every marker ends so
		kept = dropMarker(append(kept, piece...))
	}
	return string(kept)
}

// dropMarker returns text without the marker that it ends in, if it does.
func dropMarker(text []byte) []byte {
	for _, k := range [...]kind{slow, appendix, examples, learned} {
		for _, marker := range []string{k.start, k.end} {
			if kept, ok := bytes.CutSuffix(text, []byte(marker)); ok {
				return kept
			}
		}
	}
	return text
}
