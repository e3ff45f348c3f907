package main

import (
	"fmt"
	"slices"
	"testing"
)

func TestChangeNamesItsPackages(t *testing.T) {
	packages := []pkg{{ImportPath: "ccbot/port"}, {ImportPath: "ccbot/internal/repotest"},
		{ImportPath: "ccbot/bot/ask", Imports: []string{"ccbot/port"}},
		{ImportPath: "ccbot/bot", Imports: []string{"ccbot/bot/ask", "fmt"}},
		{ImportPath: "ccbot/host", XTestImports: []string{"ccbot/bot/ask"}},
		{ImportPath: "ccbot/e2e", TestImports: []string{"ccbot/bot/ask"}}}
	for i := range many {
		packages = append(packages, pkg{ImportPath: fmt.Sprint("ccbot/p", i), Imports: []string{"ccbot/port"}})
	}
	for _, tt := range []struct {
		name      string
		files     []string
		run, left []string
	}{
		{"a package, its importers and the rules", []string{"bot/ask/view.go"}, []string{"bot/ask", "internal/repotest", "port", "bot", "host"},
			[]string{"./e2e imports bot/ask, and its tests take too long"}},
		{"test data is its package's", []string{"host/testdata/a/b.txt"}, []string{"host", "internal/repotest", "port"}, nil},
		{"a touched slow one runs", []string{"e2e/x_test.go", "bot/ask/x.go"}, []string{"e2e", "bot/ask", "internal/repotest", "port", "bot", "host"}, nil},
		{"a document", []string{"docs/manual.md", "README.md"}, []string{"internal/repotest", "port"}, nil},
		{"a file of no package", []string{"Makefile", ".ci/run"}, []string{"internal/repotest", "port"},
			[]string{"Makefile belongs to no package of the module", ".ci/run belongs to no package of the module"}},
		{"one that all import", []string{"port/a.go"}, []string{"port", "internal/repotest", "bot"},
			[]string{fmt.Sprintf("%d packages import port: of their tests only those of ./bot run", many+1)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := choose(tt.files, packages)
			if !slices.Equal(c.run, tt.run) || !slices.Equal(c.left, tt.left) {
				t.Errorf("%v runs %v and leaves %v out, not %v and %v", tt.files, c.run, c.left, tt.run, tt.left)
			}
		})
	}
}
