package corpus_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-f4525e22/skillopt/internal/corpus"
	"github.com/seed-f4525e22/skillopt/task"
	"github.com/seed-f4525e22/skillopt/world"
)

func withDocs(files, docs any) task.Task {
	return task.Task{ID: "t1", Data: map[string]any{corpus.FieldFiles: files, corpus.FieldDocs: docs}}
}

// element is one of a file of pages.
func element(page any, content string) string {
	return fmt.Sprintf(`{"type":"x","content":%q,"bbox":[{"page_id":%v,"coord":[1,2]}]}`, content, page)
}

func pagesFile(elements ...string) string {
	return `{"metadata":{"deep":[[{"a":1}],"b"]},"document":{"pages":[{"id":1}],"elements":[` + strings.Join(elements, ",") + `],"last":null}}`
}

const cutMark = "\n[cut: the page has more than 24000 characters]"

// TestPages checks which pages a scene shows, and how.
func TestPages(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 30_000)
	files := map[string]string{
		"set/transformed/a.txt": "a", "set/transformed/b.txt": "b", "set/transformed/c.txt": "c",
		"set/jsons/a.json": pagesFile(element(1, "Title"), element(2, " Tom &amp; Jo\r\n\n\n\nend "), element(`"2"`, "<p>Sum</p><table><tr><td>0</td></tr><table><tr><th>A|B<th> x\n y </tr><tr><td>1</td></tr><tr><td></td></tr></table>Notes"), element(`"none"`, "no page"), `{"content":7,"bbox":[{"page_id":2}]}`, `{"content":"x","bbox":"all"}`),
		"set/jsons/b.json": pagesFile(element(1, long), element(2, long), element(3, long), element(4, long)),
	}
	const page2 = "Tom & Jo\n\nend\n\nSum\n\n| 0 |\n| --- |\n\n| A\\|B | x y |\n| --- | --- |\n| 1 |  |\n\nNotes"
	const intro = "## Pages\nThese pages of the sources hold what the question needs.\n\n"
	c := open(t, corpus.Options{Dir: lay(t, files), Mode: corpus.ModePages})
	tests := []struct {
		name        string
		files, docs any
		want        string
	}{
		{"one page", []any{"a.txt"}, []any{"http://x/y?page=2"}, intro + "### a.txt, page 2\nhttp://x/y?page=2\n\n" + page2 + "\n\n## Sources\n- http://x/y?page=2"},
		{"by other names, once", "a.txt", "http://x/?pagenum=2\nhttp://x/?page=x&page_id=2", intro + "### a.txt, page 2\nhttp://x/?pagenum=2\n\n" + page2 + "\n\n## Sources\n- http://x/?pagenum=2\n- http://x/?page=x&page_id=2"},
		{"pairs", []any{"c.txt", "a.txt"}, []any{"http://x/?page=1", "http://x/?page=1"}, intro + "### a.txt, page 1\nhttp://x/?page=1\n\nTitle\n\n## Sources\n- http://x/?page=1\n- http://x/?page=1"},
		{"no page", []any{"a.txt"}, []any{"http://x/", "::", "http://x/?page=9"}, "## Sources\n- http://x/\n- ::\n- http://x/?page=9"},
		{"no documents", []any{}, []any{}, ""},
		{"a long page", []any{"b.txt"}, []any{"u?page=1"}, intro + "### b.txt, page 1\nu?page=1\n\n" + strings.Repeat("ä", 24_000) + cutMark + "\n\n## Sources\n- u?page=1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, scene := start(t, c, withDocs(tt.files, tt.docs))
			if diff := cmp.Diff(tt.want, scene.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
	_, scene := start(t, c, withDocs([]any{"b.txt"}, []any{"u?page=1", "u?page=2", "u?page=3", "u?page=4", "u?page=1"}))
	if n := utf8.RuneCountInString(scene.Text); n < 80_000 || n > 80_400 || !strings.Contains(scene.Text, "[cut: the pages have more than 80000 characters]\n\n## Sources") {
		t.Errorf("%d characters", n)
	}
	e, scene := start(t, open(t, corpus.Options{Dir: lay(t, files)}), withDocs([]any{"a.txt"}, []any{"u?page=1"}))
	if want := intro + "### a.txt, page 1\nu?page=1\n\nTitle\n\n## Documents\n- a.txt\n\n## Sources\n- u?page=1"; scene.Text != want {
		t.Errorf("tools: %q", scene.Text)
	}
	if seen := act(t, e, call("glob", `{"pattern":"*.json"}`)); seen.Text != "[no matches]" {
		t.Errorf("pages are documents: %s", seen.Text)
	}
}

// TestBrokenPages checks that pages which cannot be read measure nothing.
func TestBrokenPages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[]", "{", `{"document":[]}`, `{"document":{"elements":{}}}`, `{"document":{"elements":[{"content":`, `{"document":{"elements":[1]}}`, `{"a":]}`} {
		c := open(t, corpus.Options{Dir: lay(t, map[string]string{"a.txt": "a", "jsons/a.json": text})})
		e, err := c.Open(t.Context(), world.Setting{Task: withDocs([]any{"a.txt"}, []any{"u?page=1"})})
		if err != nil {
			t.Fatal(err)
		}
		if scene, err := e.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "jsons/a.json") {
			t.Errorf("%q: %q, %v", text, scene.Text, err)
		}
	}
}

// FuzzPages checks that no table and no file of pages breaks the program, or a bound.
func FuzzPages(f *testing.F) {
	f.Add("<table><tr><td>1</td><td>2</td></tr><tr><td>3</td></tr></table>")
	f.Add("<table><table><tr><th>a<td>b</table>c</table><td>d")
	f.Add("<table><tr>" + strings.Repeat("<td>x", 300))
	f.Add("a\n\n\n\n&lt;table&gt;<TABLE")
	f.Add(strings.Repeat("<table><tr><td>", 50))
	f.Fuzz(func(t *testing.T, content string) {
		if !utf8.ValidString(content) {
			t.Skip("JSON is UTF-8")
		}
		c := open(t, corpus.Options{Dir: lay(t, map[string]string{"a.txt": "a", "jsons/a.json": pagesFile(fmt.Sprintf(`{"content":%s,"bbox":[{"page_id":1}]}`, quoteJSON(t, content)))})})
		_, scene := start(t, c, withDocs([]any{"a.txt"}, []any{"u?page=1"}))
		if n := utf8.RuneCountInString(scene.Text); n > 24_300 {
			t.Errorf("%d characters", n)
		}
	})
}

func quoteJSON(t *testing.T, s string) string {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
