package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/seed-f4525e22/skillopt/internal/disk"
	"github.com/seed-f4525e22/skillopt/internal/pattern"
	"github.com/seed-f4525e22/skillopt/internal/wording"
	"github.com/seed-f4525e22/skillopt/task"
)

// Bounds of the pages of a scene, in characters.
const (
	maxPage     = 24_000
	maxEvidence = 80_000
)

// pageRef is a page that a task names.
type pageRef struct {
	file    string
	number  int
	address string
}

// pageRefs pairs the files of a task with the pages of its addresses; the only file goes with all of them.
func pageRefs(t task.Task) (refs []pageRef) {
	files := texts(t.Data[FieldFiles])
	for i, address := range texts(t.Data[FieldDocs]) {
		number, ok := pageNumber(address)
		switch {
		case !ok:
		case i < len(files):
			refs = append(refs, pageRef{files[i], number, address})
		case len(files) == 1:
			refs = append(refs, pageRef{files[0], number, address})
		}
	}
	return refs
}

// pageNumber reads the page of an address.
func pageNumber(address string) (int, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, false
	}
	query := u.Query()
	for _, key := range []string{"page", "pagenum", "page_id"} {
		for _, value := range query[key] {
			if n, err := strconv.Atoi(strings.TrimSpace(value)); err == nil {
				return n, true
			}
		}
	}
	return 0, false
}

// pagesFile returns the path of the file with the pages of a document, below the root.
func (c *Corpus) pagesFile(r pageRef) string {
	name := path.Base(r.file)
	return path.Join(c.pages, strings.TrimSuffix(name, path.Ext(name))+".json")
}

func (c *Corpus) hasPages(r pageRef) bool {
	info, err := c.root.Stat(c.pagesFile(r))
	return err == nil && info.Mode().IsRegular()
}

// evidence renders the pages that a task names, as far as the folder has them.
func (c *Corpus) evidence(ctx context.Context, t task.Task) (string, error) {
	if c.root == nil {
		return "", nil
	}
	var b strings.Builder
	room := maxEvidence
	seen := map[string]bool{}
	for _, r := range pageRefs(t) {
		key := fmt.Sprint(c.pagesFile(r), r.number)
		if seen[key] || room == 0 {
			continue
		}
		seen[key] = true
		block, err := c.pageBlock(ctx, r, room)
		if err != nil {
			return "", err
		}
		room -= min(room, len([]rune(block)))
		b.WriteString(block)
	}
	if b.Len() == 0 {
		return "", nil
	}
	return "## Pages\nThese pages of the sources hold what the question needs." + b.String(), nil
}

// pageBlock renders one page under a heading, in at most room characters; "": there is none.
func (c *Corpus) pageBlock(ctx context.Context, r pageRef, room int) (string, error) {
	text, err := c.page(ctx, r)
	if err != nil || text == "" {
		return "", err
	}
	if part, whole := firstRunes(text, maxPage); !whole {
		text = part + fmt.Sprintf("\n[cut: the page has more than %d characters]", maxPage)
	}
	block := fmt.Sprintf("\n\n### %s, page %d\n%s\n\n%s", r.file, r.number, r.address, text)
	if part, whole := firstRunes(block, room); !whole {
		block = part + fmt.Sprintf("\n[cut: the pages have more than %d characters]", maxEvidence)
	}
	return wording.Plain(block), nil
}

// page renders the elements of a page. The file is read as a stream: it may be large.
func (c *Corpus) page(ctx context.Context, r pageRef) (text string, err error) {
	name := c.pagesFile(r)
	f, err := disk.OpenIn(ctx, c.root, name, maxPages)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var b strings.Builder
	err = eachElement(f, func(e element) {
		if part := e.text(); e.on(r.number) && part != "" && b.Len() < 4*maxPage {
			b.WriteString("\n\n" + part)
		}
	})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	return strings.TrimSpace(b.String()), nil
}

// element is a part of a page, such as a paragraph or a table.
type element struct {
	Content any `json:"content"`
	BBox    any `json:"bbox"`
}

// on reports whether a part of the element is on a page.
func (e element) on(page int) bool {
	boxes, _ := e.BBox.([]any)
	for _, box := range boxes {
		fields, _ := box.(map[string]any)
		if n, err := strconv.Atoi(fmt.Sprint(fields["page_id"])); err == nil && n == page {
			return true
		}
	}
	return false
}

// emptyLines are more of them than part two paragraphs.
var emptyLines = pattern.New(`\n{3,}`)

func (e element) text() string {
	content, _ := e.Content.(string)
	if strings.Contains(strings.ToLower(content), "<table") {
		return tablesAsMarkdown(content)
	}
	content = strings.ReplaceAll(html.UnescapeString(strings.TrimSpace(content)), "\r\n", "\n")
	return emptyLines.ReplaceAllString(content, "\n\n")
}

// eachElement visits document.elements of a file of pages.
func eachElement(r io.Reader, visit func(element)) error {
	d := json.NewDecoder(r)
	d.UseNumber()
	return member(d, "document", func() error {
		return member(d, "elements", func() error { return listItems(d, visit) })
	})
}

// member looks a name up in the object that follows, and passes over all others.
func member(d *json.Decoder, name string, read func() error) error {
	if err := expect(d, json.Delim('{'), "an object with "+name); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		if key != name {
			err = passOver(d)
		} else {
			err = read()
		}
		if err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// listItems reads the elements of a list.
func listItems(d *json.Decoder, visit func(element)) error {
	if err := expect(d, json.Delim('['), "a list of elements"); err != nil {
		return err
	}
	for d.More() {
		var e element
		if err := d.Decode(&e); err != nil {
			return err
		}
		visit(e)
	}
	_, err := d.Token()
	return err
}

// expect reads a sign.
func expect(d *json.Decoder, sign json.Delim, what string) error {
	t, err := d.Token()
	if err == nil && t != sign {
		err = fmt.Errorf("%s expected, found %v", what, t)
	}
	return err
}

// passOver reads a value and keeps nothing of it.
func passOver(d *json.Decoder) error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
