package wording

// Texts returns texts that have at most room bytes together, each valid UTF-8. Those
// that are no longer than a common limit are whole, all others are cut to it by Middle,
// so that none is cut while a longer one is whole. The limit is as high as it can be. A
// room below 0 is none.
func Texts(texts []string, room int) []string {
	out := make([]string, len(texts))
	lengths := make([]int, len(texts))
	for i, t := range texts {
		out[i] = valid(t)
		lengths[i] = len(out[i])
	}
	limit := FitLimit(lengths, room)
	for i := range out {
		out[i] = Middle(out[i], limit)
	}
	return out
}
