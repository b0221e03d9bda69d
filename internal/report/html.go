package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
)

// The templates of pages, and the style that they share.
var (
	//go:embed report.html.tmpl
	htmlText string
	//go:embed style.html.tmpl
	styleText string
)

// HTML returns report.html: one file that loads nothing and runs nothing. The
// same run gives the same bytes.
func HTML(r *Run) ([]byte, error) {
	t, err := template.New("report").Funcs(template.FuncMap{"num": number}).Parse(htmlText)
	if err == nil {
		t, err = t.Parse(styleText)
	}
	if err != nil {
		return nil, fmt.Errorf("report template: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, newPage(r)); err != nil {
		return nil, fmt.Errorf("write report: %w", err)
	}
	return out.Bytes(), nil
}
