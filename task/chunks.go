package task

import (
	"bytes"
	"strings"
)

// yamlChunk is a stretch of a YAML file that can be read by itself.
type yamlChunk struct {
	text   []byte
	before int // lines before it
}

// chunkSize is the size in bytes from which a chunk ends with its entry.
const chunkSize = 32 << 10

// listChunks cuts the list of a file where entries begin, nil if the file is not
// plainly a list in block style: comments, perhaps --- and the key tasks, then
// entries whose dashes are in one column, with all other lines to the right of it.
func listChunks(data []byte) []yamlChunk {
	var chunks []yamlChunk
	dash, from, line, at := -1, 0, 0, 0
	head := ""
	for row := range bytes.Lines(data) {
		indent, text := splitIndent(row)
		switch {
		case text == "" || text[0] == '#' && indent <= max(dash, 0):
			// Nothing, wherever it is.
		case isDash(text) && (dash < 0 || indent == dash):
			if dash < 0 {
				dash, from = indent, at
				chunks = append(chunks, yamlChunk{before: line})
			} else if at-from >= chunkSize {
				chunks[len(chunks)-1].text = data[from:at]
				chunks = append(chunks, yamlChunk{before: line})
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
	if len(chunks) > 0 {
		chunks[len(chunks)-1].text = data[from:]
	}
	return chunks
}

// splitIndent returns the spaces before a line's text, and the text.
func splitIndent(row []byte) (int, string) {
	text := strings.TrimRight(string(row), "\r\n")
	rest := strings.TrimLeft(text, " ")
	return len(text) - len(rest), strings.TrimRight(rest, " \t")
}

func isDash(text string) bool { return text == "-" || strings.HasPrefix(text, "- ") }
