// Command site writes the pages of docs as one folder of HTML that needs no server: README.md is
// its first page, each page has the list of all pages, and a search over their sections.
package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"flag"
	"fmt"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

//go:embed page.html
var layout string

//go:embed search.js
var search []byte

func main() {
	root := flag.String("root", "..", "folder of the module skillopt")
	to := flag.String("to", "", "folder to write; it must not be there yet")
	flag.Parse()
	if err := build(*root, *to); err != nil {
		fmt.Fprintln(os.Stderr, "site:", err)
		os.Exit(1)
	}
}

// page is a page of the site.
type page struct {
	file, name, title string // of the source, of the HTML, its first heading
	html              []byte
	sections          []section
}

// section is what the search finds.
type section struct {
	Page  string `json:"page"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// build writes the site.
func build(root, to string) error {
	if to == "" {
		return fmt.Errorf("--to: name a folder that is not there yet")
	}
	if err := os.Mkdir(to, 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	pages, err := readPages(root)
	if err != nil {
		return err
	}
	if err := writePages(to, pages); err != nil {
		return err
	}
	return copyPictures(filepath.Join(root, "docs"), to)
}

// readPages renders README.md, CHANGELOG.md, CONTRIBUTING.md and the pages of docs, in the order of their index.
func readPages(root string) ([]page, error) {
	index, err := os.ReadFile(filepath.Join(root, "docs", "README.md"))
	if err != nil {
		return nil, fmt.Errorf("read the index: %w", err)
	}
	files := []string{"README.md"}
	for _, m := range regexp.MustCompile(`(?m)^- \[[\w-]+\.md\]\(([\w-]+\.md)\)`).FindAllSubmatch(index, -1) {
		files = append(files, "docs/"+string(m[1]))
	}
	files = append(files, "CONTRIBUTING.md", "CHANGELOG.md")
	var pages []page
	for _, file := range files {
		source, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			return nil, fmt.Errorf("read a page: %w", err)
		}
		p, err := render(file, source)
		if err != nil {
			return nil, err
		}
		pages = append(pages, p)
	}
	return pages, nil
}

// pageName returns the name of a page's HTML.
func pageName(file string) string {
	if file == "README.md" || file == "docs/README.md" {
		return "index.html"
	}
	return strings.TrimSuffix(filepath.Base(file), ".md") + ".html"
}

// render makes HTML of a page. Links to other pages lead to their HTML.
func render(file string, source []byte) (page, error) {
	p := page{file: file, name: pageName(file)}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
	doc := md.Parser().Parse(text.NewReader(source))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			p.see(n, source)
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	var out bytes.Buffer
	if err := md.Renderer().Render(&out, source, doc); err != nil {
		return p, fmt.Errorf("%s: %w", file, err)
	}
	p.html = out.Bytes()
	return p, nil
}

// see takes a node in: headings begin a section, texts are in the last one, links are turned.
func (p *page) see(n ast.Node, source []byte) {
	switch n := n.(type) {
	case *ast.Heading:
		title := plain(n, source)
		if p.title == "" {
			p.title = title
		}
		id, _ := n.AttributeString("id")
		anchor, _ := id.([]byte)
		p.sections = append(p.sections, section{Page: p.name + "#" + string(anchor), Title: title})
	case *ast.Link:
		n.Destination = []byte(p.target(string(n.Destination)))
	case *ast.Image:
		n.Destination = []byte(strings.TrimPrefix(string(n.Destination), "docs/"))
	case *ast.Text:
		p.add(string(n.Segment.Value(source)))
	case *ast.FencedCodeBlock:
		p.add(string(n.Lines().Value(source)))
	}
}

func (p *page) add(words string) {
	if n := len(p.sections); n > 0 {
		p.sections[n-1].Text += " " + words
	}
}

// repository is where links lead that the site does not have.
const repository = "https://github.com/seed-f4525e22/skillopt/blob/main/"

// target returns where a link leads: to a page or a picture of the site, else to the repository.
func (p *page) target(to string) string {
	file, anchor, _ := strings.Cut(to, "#")
	if file == "" || strings.Contains(file, "://") {
		return to
	}
	whole := path.Join(path.Dir(p.file), file)
	switch dir := path.Dir(whole); {
	case dir == "docs/serve", dir == "docs" && path.Ext(whole) != ".md":
		return strings.TrimPrefix(whole, "docs/")
	case dir != "." && dir != "docs" || path.Ext(whole) != ".md":
		return repository + whole
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	return pageName(whole) + anchor
}

// plain returns the text of a node.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// writePages writes the pages, and what their search reads.
func writePages(to string, pages []page) error {
	t, err := template.New("page").Parse(layout)
	if err != nil {
		return fmt.Errorf("read the layout: %w", err)
	}
	type entry struct{ Name, Title string }
	var menu []entry
	var sections []section
	for _, p := range pages {
		menu, sections = append(menu, entry{p.name, p.title}), append(sections, p.sections...)
	}
	data, err := json.Marshal(sections)
	if err != nil {
		return fmt.Errorf("encode the sections: %w", err)
	}
	files := map[string][]byte{"search.js": slices.Concat([]byte("const sections = "), data, []byte("\n"), search)}
	for _, p := range pages {
		var out bytes.Buffer
		err := t.Execute(&out, map[string]any{"Title": p.title, "Name": p.name, "Menu": menu, "Body": template.HTML(p.html)}) // rendered from our own pages
		if err != nil {
			return fmt.Errorf("%s: %w", p.file, err)
		}
		files[p.name] = out.Bytes()
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(to, name), data, 0o644); err != nil {
			return fmt.Errorf("write the site: %w", err)
		}
	}
	return nil
}

// copyPictures copies the pictures of docs, and the documents for programs.
func copyPictures(docs, to string) error {
	if err := os.CopyFS(filepath.Join(to, "serve"), os.DirFS(filepath.Join(docs, "serve"))); err != nil {
		return fmt.Errorf("copy the pictures: %w", err)
	}
	for _, name := range []string{"step.svg", "openapi.json", "config.schema.json", "error.schema.json"} {
		data, err := os.ReadFile(filepath.Join(docs, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, name), data, 0o644)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	return nil
}
