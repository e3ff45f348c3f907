package ccbot_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
)

//go:generate go test -count=1 -run ^TestDiskCallsAreInTable$ . -args -write

const callsPath = "internal/disk/disktest/calls.txt"

// untestedRows counts the rows of the running bot without a test that makes their call fail. It may
// only fall.
const untestedRows = 0

// systemCalls are the functions of other modules that reach a file by its path.
var systemCalls = map[string][]string{
	"os": {"Chmod", "Chtimes", "Create", "CreateTemp", "DirFS", "Link", "Lstat", "Mkdir", "MkdirAll", "MkdirTemp", "Open", "OpenFile", "OpenInRoot",
		"OpenRoot", "ReadDir", "ReadFile", "Readlink", "Remove", "RemoveAll", "Rename", "Stat", "Symlink", "Truncate", "WriteFile"},
	"path/filepath":                   {"EvalSymlinks", "Glob", "Walk", "WalkDir"},
	"syscall":                         {"Mkdir", "Open", "Rename", "Unlink"},
	"golang.org/x/sys/unix":           {"Access", "Open", "Openat", "Readlinkat", "Rename", "Unlinkat"},
	"github.com/google/renameio/v2":   {"NewPendingFile", "WriteFile"},
	"github.com/gofrs/flock":          {"New"},
	"net":                             {"ListenUnix"},
	"github.com/joho/godotenv":        {"Load", "Read"},
	"github.com/BurntSushi/toml":      {"DecodeFile"},
	"github.com/pelletier/go-toml/v2": {},
}

// inMemory are the functions of the layers that reach no file.
var inMemory = map[string]bool{"facts.Get": true, "disk.Fail": true, "disk.Guard": true, "ownfile.Owner": true, "spool.MayPass": true}

// diskCalls returns the calls of the product that reach files: function, space, what it calls.
// Calls of the layers themselves, which make calls for others, are left out.
func diskCalls(t *testing.T) []string {
	t.Helper()
	all := make(map[string]bool)
	for pkg, parsed := range measuredTree(t) {
		if disktest.IsLayer(pkg) {
			continue
		}
		for _, s := range parsed.files {
			imported := importsOf(s.file)
			for _, d := range s.file.Decls {
				caller := pkg + "." + declared(d)
				ast.Inspect(d, func(n ast.Node) bool {
					if callee := reached(parsed, imported, n); callee != "" {
						all[caller+" "+callee] = true
					}
					return true
				})
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// reached returns the function that a name is, if it reaches files: a layer's, or one of
// systemCalls.
func reached(parsed *checked, imported map[string]string, n ast.Node) string {
	use, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if f, ok := parsed.info.Uses[use.Sel].(*types.Func); ok && f.Pkg() != nil {
		pkg := strings.TrimPrefix(f.Pkg().Path(), module)
		if !disktest.IsLayer(pkg) || !f.Exported() || inMemory[path.Base(pkg)+"."+f.Name()] {
			return ""
		}
		recv := ""
		if r := f.Origin().Signature().Recv(); r != nil {
			recv = typeName(r.Type()) + "."
		}
		return path.Base(pkg) + "." + recv + f.Name()
	}
	if parsed.info.Uses[use.Sel] == nil && use.Sel.Name == "Change" && parsed.imports("internal/facts") {
		return "facts.File.Change" // its type has an argument of another module, which is not known here
	}
	of, ok := use.X.(*ast.Ident)
	if ok && slices.Contains(systemCalls[imported[of.Name]], use.Sel.Name) {
		return of.Name + "." + use.Sel.Name
	}
	return ""
}

// imports reports whether a file of the package imports another package of the tree.
func (c *checked) imports(pkg string) bool {
	return slices.ContainsFunc(c.files, func(s source) bool {
		return slices.Contains(slices.Collect(maps.Values(importsOf(s.file))), module+pkg)
	})
}

func typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.(*types.Named).Obj().Name()
}

// importsOf returns the packages that a file imports by the names that it uses for them.
func importsOf(f *ast.File) map[string]string {
	all := make(map[string]string)
	for _, i := range f.Imports {
		full, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(strings.TrimSuffix(full, "/v2"))
		if i.Name != nil {
			name = i.Name.Name
		}
		all[name] = full
	}
	return all
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

// TestDiskCallsAreInTable compares the calls of the product with the table: a new call needs a row,
// and a row needs a call. With -write, as go generate calls it, it adds and removes rows; a new row
// has no class, and fails.
func TestDiskCallsAreInTable(t *testing.T) {
	calls, rows := diskCalls(t), disktest.Rows()
	if *write {
		require.NoError(t, os.WriteFile(callsPath, []byte(disktest.Table(rows, calls)), 0o644)) //nolint:gosec // for everybody to read
		rows = disktest.Parse(disktest.Table(rows, calls))
	}
	for _, call := range calls {
		i := slices.IndexFunc(rows, func(r disktest.Row) bool { return r.Has(call) })
		if assert.GreaterOrEqual(t, i, 0, "%s: no row of %s has it; `go generate .` adds it", call, callsPath) {
			rows[i].Used = true
		}
	}
	tests, untested := testNames(t), 0
	for _, r := range rows {
		assert.True(t, r.Used, "%s: the tree has no such call; `go generate .` removes it", r)
		assert.NoError(t, judged(r, tests), r)
		if r.Class.Runs() && strings.HasPrefix(r.Why, disktest.Untested) {
			untested++
		}
	}
	assertOnlyVerbs(t, rows)
	assert.Equal(t, untestedRows, untested, "a new call needs a test; a row that has one now lowers the bound")
}

// judged returns why a row is wrong.
func judged(r disktest.Row, tests map[string]bool) error {
	switch {
	case !slices.Contains(disktest.Classes, r.Class):
		return fmt.Errorf("the class %q is none of %s", r.Class, disktest.Classes)
	case r.Class.Runs() && r.IsDirect():
		return fmt.Errorf("no test can make this call fail: it has to go through internal/disk")
	case r.Class.Runs() && strings.HasPrefix(r.Why, disktest.Untested):
		return nil
	case r.Class.Runs() && !tests[r.Why]:
		return fmt.Errorf("there is no test %s that makes it fail", r.Why)
	case r.Why == "":
		return fmt.Errorf("the reason is missing")
	}
	return nil
}

// testNames are the tests of the tree, with their package.
func testNames(t *testing.T) map[string]bool {
	all := make(map[string]bool)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil {
				all[s.pkg+"."+f.Name.Name] = true
			}
		}
	}
	return all
}

// assertOnlyVerbs requires that what the rows of class Verb name is called by verbs only: the
// running bot does not reach it.
func assertOnlyVerbs(t *testing.T, rows []disktest.Row) {
	verbs := map[string]bool{"cmd/ccbot": true}
	for _, r := range rows {
		if pkg, all := strings.CutSuffix(r.Caller, ".*"); all && r.Class == disktest.Verb {
			verbs[pkg] = true
		}
	}
	callers := callersIn(t)
	for _, r := range rows {
		if r.Class != disktest.Verb || strings.HasSuffix(r.Caller, "*") || r.Caller == "cmd/ccbot/engine.Failpoint" { // not in a release
			continue
		}
		for at, seen := []string{r.Caller}, map[string]bool{}; len(at) > 0; at = at[1:] {
			pkg := path.Join(path.Dir(at[0]), strings.SplitN(path.Base(at[0]), ".", 2)[0])
			if verbs[pkg] || seen[at[0]] {
				continue
			}
			seen[at[0]] = true
			assert.NotEmpty(t, callers[at[0]], "%s: %s is called by no verb that this test sees", r, at[0])
			at = append(at, callers[at[0]]...)
		}
	}
}

// callersIn returns the functions of the product that name each function of the product.
func callersIn(t *testing.T) map[string][]string {
	all := make(map[string][]string)
	for _, parsed := range measuredTree(t) {
		for _, s := range parsed.files {
			for _, d := range s.file.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || parsed.info.Defs[f.Name] == nil { // another system has a function of that name
					continue
				}
				caller := parsed.info.Defs[f.Name].(*types.Func)
				ast.Inspect(d, func(n ast.Node) bool {
					id, ok := n.(*ast.Ident)
					if !ok {
						return true
					}
					if callee, ok := parsed.info.Uses[id].(*types.Func); ok && callee.Pkg() != nil {
						all[fullName(callee)] = append(all[fullName(callee)], fullName(caller))
					}
					return true
				})
			}
		}
	}
	return all
}

// fullName is the name of a function in the form of the table of calls.
func fullName(f *types.Func) string {
	name := strings.TrimPrefix(f.Pkg().Path(), module) + "."
	if r := f.Origin().Signature().Recv(); r != nil && !types.IsInterface(r.Type()) {
		name += typeName(r.Type()) + "."
	}
	return name + f.Name()
}
