package skill

// Protected returns the half-open byte ranges of text that edits may not touch,
// in order: the front matter and the protected regions with their markers.
func Protected(text string) [][2]int {
	spans := protectedSpans(text)
	out := make([][2]int, len(spans))
	for i, s := range spans {
		out[i] = [2]int{s.from, s.to}
	}
	return out
}
