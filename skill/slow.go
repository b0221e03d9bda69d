package skill

// The slow-update region holds the guidance that is distilled at the end of an
// epoch. The functions on text behave as SkillOpt's; Skill.WithSlow is what
// training uses.

// HasSlow reports whether both markers of the slow-update region are in text.
func HasSlow(text string) bool { return slow.present(text) }

// SlowText returns the trimmed content of the first slow-update region, "" if
// there is none.
func SlowText(text string) string { return trim(slow.inner(text)) }

// InjectSlow returns text with an empty slow-update region at its end, or as it
// is when it has one.
func InjectSlow(text string) string {
	if HasSlow(text) {
		return text
	}
	return paragraphs(text, len(text), lf) + SlowStart + lf + SlowEnd + lf
}

// StripSlow returns text without slow-update regions, lone markers of theirs,
// and white space at its end.
func StripSlow(text string) string { return slow.strip(text) }

// ReplaceSlow returns text with one slow-update region that holds content, at
// the end of the document wherever it was before. Content goes in as it is,
// markers included: for content of a model use Skill.WithSlow.
func ReplaceSlow(text, content string) string {
	return atEnd(StripSlow(text), slowBlock(trim(content), lf), lf)
}

// WithSlow returns a copy whose slow-update region holds content, trimmed and
// freed of what Plain leaves out and of region markers. A region that is there stays in its place and
// nothing around it changes; several, or broken ones, become one at the end.
func (s Skill) WithSlow(content string) Skill {
	end := LineEnd(s.main)
	block := slowBlock(WithLineEnd(trim(StripMarkers(Plain(content))), end), end)
	return s.WithText(setRegion(s.main, slow, block))
}

func slowBlock(content, end string) string {
	return SlowStart + end + content + end + SlowEnd
}

// setRegion replaces the one region of kind k with block, or puts block at the end
// of text when there is not exactly one.
func setRegion(text string, k kind, block string) string {
	if at, ok := k.only(text); ok {
		return text[:at.from] + block + text[at.to:]
	}
	return atEnd(k.strip(text), block, LineEnd(text))
}

func atEnd(text, block, end string) string {
	return paragraphs(text, len(text), end) + block + end
}
