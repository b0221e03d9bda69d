package policy

import (
	"go/ast"
	"strings"
	"testing"
)

// TestOneDoorToYAML: the YAML library is known to internal/yamlx alone. Whoever reads
// YAML past it reads without its bounds, and panics where the library does.
func TestOneDoorToYAML(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		for _, imp := range s.file.Imports {
			if path := strings.Trim(imp.Path.Value, `"`); s.room != "internal/yamlx" && strings.Contains(path, "yaml") && !strings.HasPrefix(path, module+"/") {
				t.Errorf("%s imports %s: read and write YAML with internal/yamlx", s.path, path)
			}
		}
	}
}

// TestOneDoorToSQLite: internal/sqlstore alone opens SQLite files.
func TestOneDoorToSQLite(t *testing.T) {
	t.Parallel()
	for _, s := range sources(t, false) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if x, ok := n.(*ast.SelectorExpr); ok && s.room != "internal/sqlstore" && x.Sel.Name == "Open" {
				if id, ok := x.X.(*ast.Ident); ok && id.Name == "sql" {
					t.Errorf("%s opens a database: do so with internal/sqlstore", s.path)
				}
			}
			return true
		})
	}
}
