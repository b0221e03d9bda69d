package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed-f4525e22/skillopt/internal/record/recordtest"
	"github.com/seed-f4525e22/skillopt/internal/run"
	"github.com/seed-f4525e22/skillopt/result"
)

type bomb struct {
	place string
	head  string
	unit  func(i int) string
	tail  string
}

// bombs are documents of a type with one list or map that is long.
func bombs(place string, t reflect.Type) (out []bomb) {
	walk(t, "", "", place, 5, func(b bomb) { out = append(out, b) })
	return out
}

func walk(t reflect.Type, head, tail, place string, deep int, add func(bomb)) {
	if deep == 0 {
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		walk(t.Elem(), head, tail, place, deep, add)
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() && !f.Anonymous {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" {
				continue
			}
			if f.Anonymous && name == "" {
				walk(f.Type, head, tail, place, deep, add)
				continue
			}
			if name == "" {
				name = f.Name
			}
			walk(f.Type, head+`{"`+name+`":`, "}"+tail, place+"."+name, deep-1, add)
		}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return
		}
		z := zero(t.Elem())
		add(bomb{place + "[]", head + "[" + z, func(int) string { return "," + z }, "]" + tail})
		walk(t.Elem(), head+"[", "]"+tail, place+"[]", deep-1, add)
	case reflect.Map:
		z := zero(t.Elem())
		add(bomb{place + "{}", head + `{"":` + z, func(i int) string { return fmt.Sprintf(`,"%x":%s`, i, z) }, "}" + tail})
		walk(t.Elem(), head+`{"a":`, "}"+tail, place+"{}", deep-1, add)
	}
}

func zero(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "{}"
	case reflect.Pointer:
		return zero(t.Elem())
	case reflect.Slice, reflect.Array:
		return "[]"
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "true"
	}
	return "0"
}

// fill is as much of a bomb as is read.
func (b bomb) fill(t *testing.T, name string, of reflect.Type) string {
	n := 1 << 24
	most := int(run.Most(name))
	for range 12 {
		var s strings.Builder
		s.WriteString(b.head)
		i := 0
		for ; i < n && s.Len() < most-len(b.tail)-64; i++ {
			s.WriteString(b.unit(i))
		}
		s.WriteString(b.tail)
		err := run.Decode(name, []byte(s.String()), reflect.New(of).Interface())
		size, ok := err.(*run.SizeError)
		if !ok {
			if err != nil {
				return ""
			}
			return s.String()
		}
		n = int(float64(i) * 0.995 * float64(size.Limit) / float64(size.Room))
	}
	return ""
}

type serverUnder struct {
	t     *testing.T
	c     *child
	url   string
	token string
}

func serveUnder(t *testing.T, dir string) *serverUnder {
	c := start(t, t.TempDir(), "serve", dir, "--addr", "127.0.0.1:0", "--json")
	line, err := c.out.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	var s struct{ URL, Token string }
	if err := json.Unmarshal([]byte(line), &s); err != nil {
		t.Fatal(err, line)
	}
	go io.Copy(io.Discard, c.stderr)
	return &serverUnder{t, c, s.URL, s.Token}
}

func (s *serverUnder) get(path string) (int, int, string) {
	r, err := http.NewRequestWithContext(s.t.Context(), "GET", s.url+"/api/v1"+path, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Log(err)
		return 0, 0, ""
	}
	defer res.Body.Close()
	head := make([]byte, 300)
	k, _ := io.ReadFull(res.Body, head)
	n, _ := io.Copy(io.Discard, res.Body)
	return res.StatusCode, k + int(n), string(head[:k])
}

func (s *serverUnder) reset() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", s.c.Process.Pid), []byte("5"), 0)
}

func (s *serverUnder) peak() int {
	f, err := os.Open(fmt.Sprintf("/proc/%d/status", s.c.Process.Pid))
	if err != nil {
		return -1
	}
	defer f.Close()
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if rest, ok := strings.CutPrefix(sc.Text(), "VmHWM:"); ok {
			var kb int
			fmt.Sscan(rest, &kb)
			return kb >> 10
		}
	}
	return -1
}

func TestExplore(t *testing.T) {
	only := os.Getenv("ONLY")
	kinds := map[string]struct {
		of   reflect.Type
		kind result.Kind
	}{
		"history.json":    {reflect.TypeFor[result.History](), result.Train},
		"manifest.json":   {reflect.TypeFor[run.Manifest](), result.Train},
		"summary.json":    {reflect.TypeFor[result.Summary](), result.Train},
		"candidates.json": {reflect.TypeFor[result.Candidates](), result.Train},
		"evaluation.json": {reflect.TypeFor[result.Evaluation](), result.Evaluate},
		"comparison.json": {reflect.TypeFor[result.Comparison](), result.Compare},
		"ablation.json":   {reflect.TypeFor[result.Ablation](), result.Ablate},
		"pruning.json":    {reflect.TypeFor[result.Pruned](), result.Prune},
		"gateway.json":    {reflect.TypeFor[result.GatewaySummary](), result.ServeModel},
		"study.json":      {reflect.TypeFor[result.Study](), result.RunStudy},
	}
	for name, k := range kinds {
		for _, b := range bombs(name, k.of) {
			if only != "" && !strings.Contains(b.place, only) {
				continue
			}
			text := b.fill(t, name, k.of)
			if text == "" {
				continue
			}
			parent := t.TempDir()
			dir := filepath.Join(parent, "r")
			if err := recordtest.Write(t.Context(), dir, recordtest.Size{Steps: 2, Candidates: 4, Batch: 4, Selection: 4, Train: 8, Test: 4, Record: true}); err != nil {
				t.Fatal(err)
			}
			m, _, _ := run.ReadManifest(dir)
			m.Kind = k.kind
			data, _ := json.Marshal(m)
			if name == "manifest.json" {
				data = []byte(strings.TrimSuffix(string(data), "}") + "," + text[1:])
			} else if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			os.WriteFile(filepath.Join(dir, "manifest.json"), data, 0o600)
			s := serveUnder(t, parent)
			base := filepath.Base(parent) + ":r"
			worst, at := 0, ""
			var all []string
			for _, path := range []string{"/runs", "/runs/" + base, "/runs/" + base + "/progress", "/runs/" + base + "/candidates", "/runs/" + base + "/steps/0", "/runs/" + base + "/grid", "/compare?run=" + base + "&run=" + base} {
				s.reset()
				code, n, head := s.get(path)
				p := s.peak()
				if p > worst {
					worst, at = p, path
				}
				if code != 200 {
					n = -code
					_ = head
				}
				all = append(all, fmt.Sprintf("%s %d MB (%d)", strings.TrimPrefix(path, "/runs/"+base), p, n))
			}
			s.c.Process.Kill()
			s.c.Wait()
			fmt.Printf("%4d MB %s: %d bytes, at %s; %v\n", worst, b.place, len(text), at, all)
			os.RemoveAll(parent)
		}
	}
}
