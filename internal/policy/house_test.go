package policy

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestTheFrontDoorIsSmall: what a newcomer meets first is a handful of files, and no tests
// but examples.
func TestTheFrontDoorIsSmall(t *testing.T) {
	t.Parallel()
	var files []string
	for _, s := range sources(t, true) {
		if s.room != "." {
			continue
		}
		switch test := strings.HasSuffix(s.path, "_test.go"); {
		case !test:
			files = append(files, s.path)
		case !strings.HasPrefix(s.path, "example_"):
			t.Errorf("%s: tests of the whole product belong to internal/acceptance, others beside what they test", s.path)
		}
	}
	if len(files) > 8 {
		t.Errorf("%d source files in the root, at most 8: %s", len(files), strings.Join(files, ", "))
	}
}

// documents are the rooms whose structs are documents: their fields are what files and
// configurations hold.
var documents = []string{"result", "config"}

// TestNoTypeGathersEverything: at most 40 methods of a type, and 25 fields of a struct.
func TestNoTypeGathersEverything(t *testing.T) {
	t.Parallel()
	methods := map[string]int{}
	for _, s := range sources(t, false) {
		for _, d := range s.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name := receiver(d); name != "" {
					methods[s.room+"."+name]++
				}
			case *ast.GenDecl:
				fieldsAreFew(t, s, d)
			}
		}
	}
	for name, n := range methods {
		if n > 40 {
			t.Errorf("%s has %d methods, at most 40: it does more than one thing", name, n)
		}
	}
}

// fieldsAreFew looks at the structs that are declared at the top.
func fieldsAreFew(t *testing.T, s source, d *ast.GenDecl) {
	t.Helper()
	for _, spec := range d.Specs {
		ts, ok := spec.(*ast.TypeSpec)
		if !ok || slices.Contains(documents, s.room) {
			continue
		}
		if st, ok := ts.Type.(*ast.StructType); ok && numFields(st) > 25 {
			t.Errorf("%s: struct %s has %d fields, at most 25: group what belongs together", s.path, ts.Name.Name, numFields(st))
		}
	}
}

func numFields(st *ast.StructType) int {
	n := 0
	for _, f := range st.Fields.List {
		n += max(1, len(f.Names))
	}
	return n
}

// receiver is the type of a method, "" of a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}
