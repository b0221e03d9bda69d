package task

import (
	"bytes"
	"strings"
)

// yamlPart is a part of a YAML file that can be read by itself.
type yamlPart struct {
	text   []byte
	before int // lines before it
}

// partSize is the size in bytes from which a part ends with its entry.
const partSize = 32 << 10

// listParts cuts the list of a file where entries begin, nil if the file is not
// plainly a list in block style: comments, perhaps --- and the key tasks, then
// entries whose dashes stand in one column, with all other lines to the right of it.
func listParts(data []byte) []yamlPart {
	var parts []yamlPart
	dash, from, line, at := -1, 0, 0, 0
	head := ""
	for row := range bytes.Lines(data) {
		indent, text := indentOf(row)
		switch {
		case text == "" || text[0] == '#' && indent <= max(dash, 0):
			// Nothing, wherever it stands.
		case isDash(text) && (dash < 0 || indent == dash):
			if dash < 0 {
				dash, from = indent, at
				parts = append(parts, yamlPart{before: line})
			} else if at-from >= partSize {
				parts[len(parts)-1].text = data[from:at]
				parts = append(parts, yamlPart{before: line})
				from = at
			}
		case dash < 0 && text == "---" && head == "", dash < 0 && text == "tasks:" && head != text:
			head = text // each once, and in this order
		case dash < 0 || indent <= dash:
			return nil
		}
		line++
		at += len(row)
	}
	if len(parts) > 0 {
		parts[len(parts)-1].text = data[from:]
	}
	return parts
}

// indentOf returns the spaces before a line's text, and the text.
func indentOf(row []byte) (int, string) {
	text := strings.TrimRight(string(row), "\r\n")
	rest := strings.TrimLeft(text, " ")
	return len(text) - len(rest), strings.TrimRight(rest, " \t")
}

func isDash(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }
