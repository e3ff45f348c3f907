package ccbot_test

import (
	"go/ast"
	"strings"
	"testing"
)

// TestStartCompilesNoExpression finds package variables that hold compiled expressions: every verb
// would compile them, and a bot would keep all of them in memory.
func TestStartCompilesNoExpression(t *testing.T) {
	for _, s := range sources(t) {
		if s.test || isSupport(s.pkg) || strings.HasPrefix(s.pkg, "e2e") || strings.HasPrefix(s.pkg, "try/") || strings.HasPrefix(s.pkg, "tools") {
			continue
		}
		for _, d := range s.file.Decls {
			if _, ok := d.(*ast.GenDecl); !ok {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncLit:
					return false // it runs when it is called
				case *ast.SelectorExpr:
					if pkg, ok := n.X.(*ast.Ident); ok && pkg.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile") {
						t.Errorf("%s: a package variable has a lazyregexp.New", s.fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
}
