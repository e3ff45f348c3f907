package repotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"ccbot/internal/sourcetest"

	"github.com/stretchr/testify/require"
)

const module = "ccbot/"

// tree is the source of the module with its pages, or a small one that a rule must refuse.
type tree struct {
	fs.FS
	fset    *token.FileSet
	sources []source          // all Go files, whatever their build tags
	pages   map[string]string // the Markdown files by path

	checkOnce sync.Once
	packages  map[string]*checked // use checked()
}

// source is one Go file of the tree.
type source struct {
	path    string // from the module's folder
	pkg     string // folder of its package
	test    bool   // *_test.go
	imports []string
	file    *ast.File
	lines   string // its text
}

// rule returns the faults of a tree, each with its place and its remedy.
type rule func(*tree) []string

// wrong is a small tree that a rule must refuse, with a part of the fault that it must find.
type wrong struct {
	files map[string]string
	fault string
}

// holds fails for each fault that a rule finds in the working tree, and for each small wrong tree
// whose fault the rule does not find.
func holds(t *testing.T, find rule, wrongs ...wrong) {
	t.Helper()
	here, err := workingTree()
	require.NoError(t, err)
	for _, fault := range find(here) {
		t.Error(fault)
	}
	for _, w := range wrongs {
		small := make(fstest.MapFS)
		for name, text := range w.files {
			small[name] = &fstest.MapFile{Data: []byte(text)}
		}
		from, err := read(small)
		require.NoError(t, err)
		faults := find(from)
		if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, w.fault) }) {
			t.Errorf("the rule does not refuse a wrong tree: it should say %q, and says %q", w.fault, faults)
		}
	}
}

// workingTree is the tree that this package is in. It is read once.
var workingTree = sync.OnceValues(func() (*tree, error) {
	return read(os.DirFS(sourcetest.Root()))
})

func read(from fs.FS) (*tree, error) {
	t := &tree{FS: from, fset: token.NewFileSet(), pages: make(map[string]string)}
	err := fs.WalkDir(from, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && sourcetest.Skipped(name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" && path.Ext(name) != ".md":
			return nil
		}
		data, err := fs.ReadFile(from, name)
		if err != nil {
			return err
		}
		if path.Ext(name) == ".md" {
			t.pages[name] = string(data)
			return nil
		}
		s, err := t.parse(name, data)
		t.sources = append(t.sources, s)
		return err
	})
	return t, err
}

// pathOnly are the parts at the end of an import path that are not in the name of the package.
var pathOnly = regexp.MustCompile(`/v\d+$|\.go$`)

func (t *tree) parse(name string, data []byte) (source, error) {
	s := source{path: name, pkg: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), lines: string(data)}
	var err error
	s.file, err = parser.ParseFile(t.fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	for _, spec := range s.file.Imports {
		full, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return source{}, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		if ours, ok := strings.CutPrefix(full, module); ok {
			s.imports = append(s.imports, ours)
		} else if spec.Name == nil && pathOnly.MatchString(full) {
			spec.Name = ast.NewIdent(path.Base(pathOnly.ReplaceAllString(full, "")))
		}
	}
	return s, nil
}

// text returns a file of the tree, "" if there is none.
func (t *tree) text(name string) string {
	data, err := fs.ReadFile(t, name)
	if err != nil {
		return ""
	}
	return string(data)
}

// has reports whether there is a file or a folder.
func (t *tree) has(name string) bool {
	_, err := fs.Stat(t, path.Clean(name))
	return err == nil
}

// at is a position in the tree.
func (t *tree) at(n ast.Node) string { return t.fset.Position(n.Pos()).String() }

// section returns a part of a page: what follows a line, up to the next heading of that level.
func (t *tree) section(page, heading string) string {
	_, section, _ := strings.Cut(t.pages[page], "\n"+heading+"\n")
	level, _, _ := strings.Cut(heading, " ")
	section, _, _ = strings.Cut(section, "\n"+level+" ")
	return section
}

// product returns the sources of the program: without tests, their support and stand-ins.
func (t *tree) product() (all []source) {
	for _, s := range t.sources {
		if !s.test && !isSupport(s.pkg) && !isStandIn(s.pkg) {
			all = append(all, s)
		}
	}
	return all
}

// tests returns the declared functions of the test files, by package and name.
func (t *tree) tests() map[string]*ast.FuncDecl {
	all := make(map[string]*ast.FuncDecl)
	for _, s := range t.sources {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil {
				all[s.pkg+"."+f.Name.Name] = f
			}
		}
	}
	return all
}

// isSupport reports whether a package is made for tests of the package above it, such as
// tmux/tmuxtest.
func isSupport(pkg string) bool {
	return strings.HasSuffix(pkg, "test") && strings.Contains(pkg, "/")
}

// isStandIn reports whether a package plays a part of the world in tests and trials.
func isStandIn(pkg string) bool {
	return isIn(pkg, "e2e") || pkg == "agent/toy" || isIn(pkg, "try") && pkg != "try" || pkg == "cmd/ccbot-try"
}

// isPort reports whether a package is a port. Ports use each other's types.
func isPort(pkg string) bool { return isIn(pkg, "port") }

// isChat reports whether a package belongs to the chat.
func isChat(pkg string) bool { return isIn(pkg, "bot") }

// isIn reports whether a package is in a folder.
func isIn(pkg, folder string) bool { return pkg == folder || strings.HasPrefix(pkg, folder+"/") }

// importsOf returns the packages that a file imports by the names that it uses for them.
func importsOf(f *ast.File) map[string]string {
	all := make(map[string]string)
	for _, i := range f.Imports {
		full, _ := strconv.Unquote(i.Path.Value) // parse has checked it
		name := path.Base(full)
		if i.Name != nil {
			name = i.Name.Name
		}
		all[name] = full
	}
	return all
}

// literals are the texts written out in a declaration.
func literals(d ast.Decl) []string {
	var texts []string
	ast.Inspect(d, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if text, err := strconv.Unquote(lit.Value); err == nil {
				texts = append(texts, text)
			}
		}
		return true
	})
	return texts
}

// declared is the name of a declaration: a function, a type with its method, or "init" of
// variables.
func declared(d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	switch {
	case !ok:
		return "init"
	case f.Recv == nil:
		return f.Name.Name
	}
	return receiver(f.Recv.List[0].Type) + "." + f.Name.Name
}

func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return fmt.Sprintf("%T", e)
}

// differences returns a fault for each entry that only one of two lists has.
func differences(want, got []string, onlyWanted, onlyGot string) (faults []string) {
	for _, one := range want {
		if !slices.Contains(got, one) {
			faults = append(faults, one+": "+onlyWanted)
		}
	}
	for _, one := range got {
		if !slices.Contains(want, one) {
			faults = append(faults, one+": "+onlyGot)
		}
	}
	return faults
}
