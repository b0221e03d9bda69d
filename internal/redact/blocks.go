package redact

import (
	"strconv"
	"strings"
)

// maxPiece bounds how many bytes of lines are looked at as one; a line that is longer is one.
const maxPiece = 16 << 10

// pieces returns the parts of text that are looked at as one: whole lines.
func pieces(text string) (out []string) {
	begin, end := 0, 0
	for line := range strings.SplitAfterSeq(text, "\n") {
		if end > begin && end-begin+len(line) > maxPiece {
			out = append(out, text[begin:end])
			begin = end
		}
		end += len(line)
	}
	return append(out, text[begin:])
}

// blockBegin is before a private key in PEM.
const blockBegin = "-----BEGIN "

// blocks returns where private keys of several lines are in a text.
func blocks(text string, looked *int) (spans []span) {
	*looked += 2 * len(text)
	for _, m := range block.Regexp().FindAllStringSubmatchIndex(text, -1) {
		end := m[0] + len(strings.TrimRight(text[m[0]:m[1]], "\\\""))
		spans = append(spans, span{begin: m[0], end: end, with: Mask, body: m[3] - m[2]})
	}
	for _, m := range keyCount.Regexp().FindAllStringSubmatchIndex(text, -1) {
		left, _ := strconv.Atoi(text[m[2]:m[3]])
		for i := m[1]; left > 0; left-- {
			l := keyLine.FindStringSubmatchIndex(text[i:min(len(text), i+160)])
			if l == nil {
				break
			}
			if maskAt(text[i+l[2]:]) == 0 {
				spans = append(spans, span{begin: i + l[2], end: i + l[3], with: Mask})
			}
			i += l[1]
		}
	}
	return mergeSpans(spans)
}
