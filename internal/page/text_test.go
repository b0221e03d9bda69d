package page_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/page"
)

// told is a network of one page.
type told string

func (body told) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: io.NopCloser(strings.NewReader(string(body))), Request: r}, nil
}

func textOf(t *testing.T, html string) string {
	t.Helper()
	p, err := page.New(page.Options{Transport: told(html)}).Get(t.Context(), "http://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	return p.Text
}

func TestTextOfHTML(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ html, want string }{
		"words stay together":     {"<p>un<b>believ</b><a href=x>able</a></p>", "unbelievable"},
		"blocks are parted":       {"<div>a<div>b</div>c</div><ul><li>d<li>e</ul>", "a\nb\nc\nd\ne"},
		"cells are parted":        {"<table><tr><td>a<td>b<tr><th>c</th><th>d</th></table>", "a b\nc d"},
		"entities":                {"&lt;b&gt; &eacute;&#x20AC;&nbsp;x &amp;lt; &unknown;", "<b> é€ x &lt; &unknown;"},
		"scripts and styles":      {"a<script>if (1<2) '</b>'</script><style>p{}</style><noscript>turn it on</noscript>b", "ab"},
		"scripts closed oddly":    {"a<script src=x/>x</script>b<SCRIPT></sCript >c", "abc"},
		"a script that never was": {"a<script>alert(1)", "a"},
		"ways around the site":    {"<nav>home</nav><main>text</main><aside>more</aside><footer>imprint</footer>", "text"},
		"nested":                  {"<nav>a<nav>b</nav>c</nav>d", "d"},
		"a way that is not ended": {"<nav>home<main>text</main>", "home\ntext"},
		"a control that is not":   {"<select><option>one<p>text", "one\ntext"},
		"comments":                {"a<!-- b --><!c><?d ?>e", "ae"},
		"attributes":              {`<p title="no" data-x='<p>no'>yes`, "yes"},
		"broken tags":             {"a < b <3 <p", "a < b <3"},
		"only tags":               {"<br><hr>", ""},
	} {
		if got := textOf(t, tt.html); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// A page that was made to take time or memory takes little of either.
func TestHostilePages(t *testing.T) {
	t.Parallel()
	const size = page.MaxBody / 4
	for name, html := range map[string]string{
		"nested":         strings.Repeat("<div>", size/5),
		"nested ways":    strings.Repeat("<nav>", size/5),
		"formatting":     strings.Repeat("<b><i>", size/6),
		"attributes":     "<p " + strings.Repeat("a ", size/2-2),
		"open comment":   strings.Repeat("<!--", size/4),
		"entities":       strings.Repeat("&", size),
		"open brackets":  strings.Repeat("<", size),
		"open scripts":   strings.Repeat("<script>", size/8),
		"nested tables":  strings.Repeat("<table><tr><td>", size/15),
		"closing alone":  strings.Repeat("</p>", size/4),
		"null bytes":     strings.Repeat("\x00", size),
		"select options": strings.Repeat("<select><option>", size/16),
	} {
		began := time.Now()
		textOf(t, "start "+html)
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: %s", name, took)
		}
	}
}

func FuzzTextOfHTML(f *testing.F) {
	for _, s := range []string{"<p>a", "<script", "<nav></nav", "&#0;&#xffffff;", "<a b='<'>", "\xff<\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, html string) {
		text := textOf(t, html)
		if strings.TrimSpace(text) != text || strings.Contains(text, "\n\n") || strings.Contains(text, "  ") || strings.ContainsAny(text, "\r\x00\x1b") {
			t.Errorf("%q", text)
		}
	})
}
