package plant

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// goText is a parsed text of Go, and what can be changed in it.
type goText struct {
	text  string
	at    func(token.Pos) int // bytes from the beginning
	loops []*ast.ForStmt      // without a step of their own: they would not end without what counts in them
	name  string              // of the function that is looked at
	types map[string]string   // of its parameters
	out   []edit
}

// readGo returns the functions and the edits of a text.
func readGo(path string, text string) (functions []span, edits []edit, err error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, path, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, nil, err
	}
	g := &goText{text: text, at: fset.File(file.FileStart).Offset}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			g.name, g.types = methodName(f), map[string]string{}
			for _, p := range f.Type.Params.List {
				for _, id := range p.Names {
					g.types[id.Name] = g.source(p.Type)
				}
			}
			functions = append(functions, span{name: g.name, first: g.at(f.Pos()), from: g.at(f.Body.Pos()), to: g.at(f.End()), function: true})
			g.body(f.Body, f.Type)
		}
	}
	return functions, g.out, nil
}

// methodName returns the name of a function after that of its receiver's type.
func methodName(f *ast.FuncDecl) (name string) {
	name = f.Name.Name
	if f.Recv == nil {
		return name
	}
	found := false
	ast.Inspect(f.Recv, func(n ast.Node) bool { // the names of parameter and type; those of type parameters follow
		if field, ok := n.(*ast.Field); ok {
			ast.Inspect(field.Type, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && !found {
					name, found = id.Name+"."+name, true
				}
				return !found
			})
		}
		return !found
	})
	return name
}

// body looks at a function. Those in it return errors of their own.
func (g *goText) body(block *ast.BlockStmt, of *ast.FuncType) {
	ast.Inspect(block, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			g.body(x.Body, x.Type)
			return false
		case *ast.InterfaceType, *ast.StructType, *ast.ArrayType:
			return false
		case *ast.IfStmt:
			g.condition(x.Cond)
		case *ast.BinaryExpr:
			g.binary(x)
		case *ast.IndexExpr:
			g.index(x.Index)
		case *ast.SliceExpr:
			g.index(x.Low)
			g.index(x.High)
		case *ast.CallExpr:
			g.arguments(x)
		case *ast.BlockStmt:
			g.statements(x.List)
		case *ast.CaseClause:
			g.statements(x.Body)
		case *ast.ForStmt:
			if x.Post == nil {
				g.loops = append(g.loops, x)
			}
		case *ast.ReturnStmt:
			g.result(x, of)
		}
		return true
	})
}

func (g *goText) change(kind string, start, end token.Pos, with string) {
	g.out = append(g.out, edit{kind: kind, function: g.name, start: g.at(start), end: g.at(end), with: with})
}

func (g *goText) source(n ast.Node) string { return g.text[g.at(n.Pos()):g.at(n.End())] }

// condition turns a condition round. A comparison is turned as such.
func (g *goText) condition(c ast.Expr) {
	switch x := c.(type) {
	case *ast.UnaryExpr:
		if x.Op == token.NOT {
			g.change(Condition, x.Pos(), x.End(), g.source(x.X))
		}
	case *ast.BinaryExpr:
		if x.Op == token.LAND || x.Op == token.LOR {
			g.change(Condition, x.Pos(), x.End(), g.source(x.X))
		}
	default:
		g.change(Condition, c.Pos(), c.End(), "!("+g.source(c)+")")
	}
}

func (g *goText) binary(x *ast.BinaryExpr) {
	kind, with := other(x.Op.String())
	if kind == "" || x.Op == token.ADD && strings.ContainsAny(g.source(x), "\"`") || g.source(x.Y) == "nil" {
		return // texts are put together, or an error is looked at
	}
	g.change(kind, x.OpPos, x.OpPos+token.Pos(len(x.Op.String())), with)
	if g.source(x.Y) == "1" && kind == Operator {
		g.change(Bound, x.Pos(), x.End(), g.source(x.X))
	}
}

// index makes a fixed index one more.
func (g *goText) index(e ast.Expr) {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.INT {
		if n, err := strconv.Atoi(lit.Value); err == nil {
			g.change(Bound, lit.Pos(), lit.End(), strconv.Itoa(n+1))
		}
	}
}

func (g *goText) arguments(call *ast.CallExpr) {
	for i, a := range call.Args {
		if turned := round(g.source(a)); turned != "" {
			g.change(Argument, a.Pos(), a.End(), turned)
		}
		if i == 0 || call.Ellipsis.IsValid() && i == len(call.Args)-1 {
			continue
		}
		b := call.Args[i-1]
		if one, two := g.source(b), g.source(a); g.shape(a) != "" && g.shape(a) == g.shape(b) && one != two {
			g.change(Argument, b.Pos(), a.End(), two+g.text[g.at(b.End()):g.at(a.Pos())]+one)
		}
	}
}

// shape returns what can be taken for each other: parameters of the same type, literals of the same kind.
func (g *goText) shape(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return g.types[x.Name]
	case *ast.BasicLit:
		return x.Kind.String()
	}
	return ""
}

// statements drops what changes something, or counts the other way.
func (g *goText) statements(list []ast.Stmt) {
	for _, s := range list {
		counts := slices.ContainsFunc(g.loops, func(f *ast.ForStmt) bool { return f.Pos() <= s.Pos() && s.Pos() < f.End() })
		switch x := s.(type) {
		case *ast.ExprStmt:
			if !idle(g.source(x)) {
				g.change(Dropped, s.Pos(), s.End(), "")
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE || counts {
				continue
			}
			g.change(Dropped, s.Pos(), s.End(), "")
			if kind, with := other(x.Tok.String()); kind != "" && !strings.ContainsAny(g.source(x), "\"`") {
				g.change(kind, x.TokPos, x.TokPos+2, with)
			}
		case *ast.IncDecStmt:
			if !counts {
				g.change(Dropped, s.Pos(), s.End(), "")
			}
		}
	}
}

// result returns no error where there was one.
func (g *goText) result(r *ast.ReturnStmt, of *ast.FuncType) {
	if len(r.Results) == 0 || of.Results == nil || len(r.Results) != of.Results.NumFields() {
		return
	}
	last := r.Results[len(r.Results)-1]
	if g.source(of.Results.List[len(of.Results.List)-1].Type) == "error" && g.source(last) != "nil" {
		g.change(Error, last.Pos(), last.End(), "nil")
	}
}
