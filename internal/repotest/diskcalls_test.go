package repotest

import (
	"flag"
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
	"ccbot/internal/sourcetest"
)

//go:generate go test -count=1 -run ^TestDiskCallsAreInTable$ . -args -write

var write = flag.Bool("write", false, "write the table of calls anew")

const callsPath = "internal/disk/disktest/calls.txt"

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
func diskCalls(t *tree) []string {
	all := make(map[string]bool)
	for pkg, parsed := range t.checked() {
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

func typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	return t.(*types.Named).Obj().Name()
}

// TestDiskCallsAreInTable compares the calls of the product with the table: a new call needs a row,
// and a row needs a call. With -write, as go generate calls it, it adds and removes rows; a new row
// has no class, and fails.
func TestDiskCallsAreInTable(t *testing.T) {
	if *write {
		here, err := workingTree()
		require.NoError(t, err)
		table := disktest.Table(disktest.Parse(here.text(callsPath)), diskCalls(here))
		require.NoError(t, os.WriteFile(filepath.Join(sourcetest.Root(), callsPath), []byte(table), 0o644)) //nolint:gosec // for everybody to read
	}
	call := func(row string) map[string]string {
		return map[string]string{"host/x.go": "package host\n\nimport \"os\"\n\nfunc Keep() { os.Remove(\"x\") }\n", callsPath: row + "\n"}
	}
	spool := call("host.Keep os.Remove | other | not in the state folder\nhost.Take | spool.Folder.Take | retried | host.TestTake")
	spool["host/y.go"] = "package host\n\nimport \"ccbot/internal/spool\"\n\nfunc Take(f spool.Folder) { f.Take() }\n"
	spool["internal/spool/x.go"] = "package spool\n\ntype Folder struct{}\n\nfunc (Folder) Take() {}\n"
	holds(t, diskCallsAreInTable,
		wrong{call(""), "host.Keep os.Remove: no row"},
		wrong{call("host.Gone | os.Remove | other | x"), "host.Gone os.Remove: the tree has no such call"},
		wrong{call("host.Keep | os.Remove | ? | ?"), "the class \"?\" is none of"},
		wrong{call("host.Keep | os.Remove | other"), "the reason is missing"},
		wrong{call("host.Keep | os.Remove | retried | host.TestKeep"), "has to go through internal/disk"},
		wrong{call("host.Keep | os.Remove | verb | only verbs"), "is called by no verb"},
		wrong{spool, "there is no test host.TestTake that makes it fail"})
}

func diskCallsAreInTable(t *tree) (faults []string) {
	calls, rows := diskCalls(t), disktest.Parse(t.text(callsPath))
	for _, call := range calls {
		if i := slices.IndexFunc(rows, func(r disktest.Row) bool { return r.Has(call) }); i >= 0 {
			rows[i].Used = true
		} else {
			faults = append(faults, call+": no row of "+callsPath+" has it; `go generate ./internal/repotest` adds it")
		}
	}
	tests := t.tests()
	for _, r := range rows {
		if !r.Used {
			faults = append(faults, r.String()+": the tree has no such call; `go generate ./internal/repotest` removes it")
		}
		if err := judged(r, tests); err != nil {
			faults = append(faults, r.String()+": "+err.Error())
		}
	}
	return append(faults, onlyVerbs(t, rows)...)
}

// judged returns why a row is wrong.
func judged(r disktest.Row, tests map[string]*ast.FuncDecl) error {
	switch {
	case !slices.Contains(disktest.Classes, r.Class):
		return fmt.Errorf("the class %q is none of %s", r.Class, disktest.Classes)
	case r.Class.Runs() && r.IsDirect():
		return fmt.Errorf("no test can make this call fail: it has to go through internal/disk")
	case r.Class.Runs() && tests[r.Why] == nil:
		return fmt.Errorf("there is no test %s that makes it fail; write one with disktest.Run", r.Why)
	case r.Why == "":
		return fmt.Errorf("the reason is missing")
	}
	return nil
}

// onlyVerbs returns the rows of class Verb whose callers are not only verbs, so that the running
// bot reaches them.
func onlyVerbs(t *tree, rows []disktest.Row) (faults []string) {
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
			if len(callers[at[0]]) == 0 {
				faults = append(faults, fmt.Sprintf("%s: %s is called by no verb that this rule sees; give the row another class", r, at[0]))
			}
			at = append(at, callers[at[0]]...)
		}
	}
	return faults
}

// callersIn returns the functions of the product that name each function of the product.
func callersIn(t *tree) map[string][]string {
	all := make(map[string][]string)
	for _, parsed := range t.checked() {
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
