package corpus

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTag bounds one tag or comment, in bytes.
const maxTag = 1 << 20

// tablesAsMarkdown returns a text of HTML with its tables as those of Markdown: the first row is the head.
// It goes through the tags one after the other and builds no tree, however they nest.
func tablesAsMarkdown(text string) string {
	z := html.NewTokenizer(strings.NewReader(text))
	z.SetMaxBuf(maxTag)
	var t tables
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			t.endTable()
			return strings.TrimSpace(emptyLines.ReplaceAllString(t.out.String(), "\n\n"))
		case html.TextToken:
			t.write(html.UnescapeString(string(z.Raw())))
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			t.begin(atom.Lookup(name))
		case html.EndTagToken:
			name, _ := z.TagName()
			t.end(atom.Lookup(name))
		}
	}
}

// tables is what was read of a text: rows of a table that is open, and all before it.
type tables struct {
	out  strings.Builder
	rows [][]string
	row  []string
	cell *strings.Builder // nil: the text is in no cell
	in   bool             // a table is open
}

func (t *tables) write(text string) {
	switch {
	case t.cell != nil:
		t.cell.WriteString(text)
	case !t.in:
		t.out.WriteString(text)
	}
}

func (t *tables) begin(tag atom.Atom) {
	switch tag {
	case atom.Table:
		t.endTable()
		t.in = true
	case atom.Tr:
		t.endRow()
	case atom.Td, atom.Th:
		t.endCell()
		t.cell = &strings.Builder{}
	default:
		t.write(" ") // it parts words
	}
}

func (t *tables) end(tag atom.Atom) {
	switch tag {
	case atom.Table:
		t.endTable()
	case atom.Tr:
		t.endRow()
	case atom.Td, atom.Th:
		t.endCell()
	}
}

func (t *tables) endCell() {
	if t.cell != nil {
		text := strings.Join(strings.Fields(t.cell.String()), " ")
		t.row = append(t.row, strings.ReplaceAll(text, "|", `\|`))
		t.cell = nil
	}
}

// endRow keeps a row that says something.
func (t *tables) endRow() {
	t.endCell()
	if strings.Join(t.row, "") != "" {
		t.rows = append(t.rows, t.row)
	}
	t.row = nil
}

// endTable writes the rows, short ones filled up, as far as a page shows them.
func (t *tables) endTable() {
	t.endRow()
	width := 0
	for _, row := range t.rows {
		width = max(width, len(row))
	}
	t.out.WriteString("\n\n")
	for i, row := range t.rows {
		if t.out.Len() > 4*maxPage {
			break
		}
		t.writeRow(row, width)
		if i == 0 {
			t.out.WriteString(strings.Repeat("| --- ", width) + "|\n")
		}
	}
	t.out.WriteString("\n")
	t.rows, t.in = nil, false
}

func (t *tables) writeRow(row []string, width int) {
	for _, cell := range row {
		t.out.WriteString("| " + cell + " ")
	}
	t.out.WriteString(strings.Repeat("|  ", width-len(row)) + "|\n")
}
