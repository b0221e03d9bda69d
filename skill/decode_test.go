package skill

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func decodeJSON(t testing.TB, text string, useNumber bool) any {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	if useNumber {
		dec.UseNumber()
	}
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDecodeEdit(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, json string
		want       Edit
		strict     bool // DecodeEditStrict takes it as well
	}{
		{
			"all fields", `{"op":"append","file":"SKILL.md","target":"t","content":"c","support_count":3,"source_type":"failure","merge_level":1,"x":1}`,
			Edit{Append, Main, "t", "c", 3, FromFailure, 1},
			true,
		},
		{"nothing", `{}`, Edit{}, true},
		{"null", `{"op":"append","target":null,"content":null}`, Edit{Op: Append}, false},
		{"scalars", `{"op":"replace","target":5,"content":true}`, Edit{Op: Replace, Target: "5", Content: "true"}, false},
		{"fraction", `{"op":"delete","target":1.5}`, Edit{Op: Delete, Target: "1.5"}, false},
		{"counts of other types", `{"op":"append","support_count":"4","merge_level":2.9}`, Edit{Op: Append, SupportCount: 4, MergeLevel: 2}, true},
		{"useless counts", `{"op":"append","support_count":-1,"merge_level":"many"}`, Edit{Op: Append}, true},
		{"endless counts", `{"op":"append","support_count":1e300,"merge_level":[1]}`, Edit{Op: Append}, true},
		{"not a number", `{"op":"append","support_count":"nan"}`, Edit{Op: Append}, true},
		{"other source", `{"op":"append","source_type":"both"}`, Edit{Op: Append}, true},
		{"success", `{"op":"append","source_type":"success"}`, Edit{Op: Append, Source: FromSuccess}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, useNumber := range []bool{true, false} {
				got, err := DecodeEdit(decodeJSON(t, tt.json, useNumber))
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("edit (-want +got):\n%s", diff)
				}
			}
			got, err := DecodeEditStrict(decodeJSON(t, tt.json, true))
			if tt.strict != (err == nil) {
				t.Errorf("strict: error %v", err)
			}
			if tt.strict && got != tt.want {
				t.Errorf("strict: %+v", got)
			}
		})
	}
}

func TestDecodeEditErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ json, want string }{
		{`null`, "found null"},
		{`"text"`, "found text"},
		{`5`, "found a number"},
		{`true`, "found a boolean"},
		{`[]`, "found a list"},
		{`{"op":"append","content":["a"]}`, "content is a list, want text"},
		{`{"op":{"a":1}}`, "op is an object, want text"},
		{`{"op":"append","file":[]}`, "file is a list, want text"},
		{`{"op":"append","target":{}}`, "target is an object, want text"},
	}
	for _, tt := range tests {
		_, err := DecodeEdit(decodeJSON(t, tt.json, false))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("DecodeEdit(%s): error %v, want one with %q", tt.json, err, tt.want)
		}
	}
	if _, err := DecodeEdit(map[string]any(nil)); err == nil {
		t.Error("DecodeEdit of a nil map gave no error")
	}
	if _, err := DecodeEdit(struct{}{}); err == nil || !strings.Contains(err.Error(), "struct {}") {
		t.Errorf("DecodeEdit of a struct: error %v", err)
	}
}

func TestDecodeEditOfInt(t *testing.T) {
	t.Parallel()
	got, err := DecodeEdit(map[string]any{"op": "delete", "target": 7, "support_count": 2})
	if want := (Edit{Op: Delete, Target: "7", SupportCount: 2}); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
}

func FuzzDecodeEdit(f *testing.F) {
	f.Add(`{"op":"append","content":"x","support_count":3}`, "a\n")
	f.Add(`{"op":"insert_after","target":null,"content":5}`, withRegions)
	f.Add(`{"op":"delete","target":"a","merge_level":1e999}`, "a")
	f.Add(`[{"op":1}]`, "")
	f.Add(`{"op":"replace","target":"`+SlowStart+`","content":["x"]}`, withRegions)
	f.Fuzz(func(t *testing.T, text, doc string) {
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var v any
		if dec.Decode(&v) != nil {
			return
		}
		e, err := DecodeEdit(v)
		if strict, strictErr := DecodeEditStrict(v); strictErr == nil && (err != nil || strict != e) {
			t.Fatalf("strict %+v, else %+v (error %v)", strict, e, err)
		}
		if e.SupportCount < 0 || e.MergeLevel < 0 {
			t.Fatalf("negative count: %+v", e)
		}
		checkApplyLaws(t, doc, []Edit{e}, ApplyOptions{})
	})
}

func FuzzApply(f *testing.F) {
	f.Add(withRegions, "append", "", "new", "delete", "- a")
	f.Add("# T\r\n- a\r\n", "replace", "- a", "x\ny", "insert_after", "x\ny")
	f.Add("---\nname: x\n---", "insert_after", "---", "---", "append", "---")
	f.Add("<!-- SLOW_xUPDATE_START -->\n"+SlowEnd, "delete", "x", "", "delete", SlowEnd)
	f.Add("\xff"+SlowStart, "replace", "\xff", "\u2028", "append", "")
	f.Fuzz(func(t *testing.T, text, op1, target1, content, op2, target2 string) {
		edits := []Edit{
			{Op: Op(op1), Target: target1, Content: content},
			{Op: Op(op2), Target: target2, Content: content},
			{Op: Append, Content: target1 + content + target2},
			{Op: Replace, Target: content, Content: target2},
		}
		checkApplyLaws(t, text, edits, ApplyOptions{})
		checkApplyLaws(t, text, edits, ApplyOptions{Budget: 1, MaxBytes: 64})
		s := New(text).WithSlow(content).WithNotes([]string{target1, target2})
		if n := len(slow.regions(s.Text(), frontMatterEnd(s.Text()))); n != 1 {
			t.Fatalf("%d slow-update regions in %q", n, s.Text())
		}
	})
}
