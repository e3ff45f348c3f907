package ccbot_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"mvdan.cc/sh/v3/syntax"

	"ccbot/internal/programtest"
)

// TestProgramListMatchesTests compares internal/programtest/programs.txt with the programs that
// tests run. A folder whose tests run a program of the list looks it up with programtest.Require.
// Benchmarks are not compared: .ci/run runs none.
func TestProgramListMatchesTests(t *testing.T) {
	run, required := make(map[string][]string), make(map[string][]string) // folders by program
	note := func(to map[string][]string, program, folder string) {
		if !slices.Contains(to[program], folder) {
			to[program] = append(to[program], folder)
		}
	}
	for _, s := range sources(t) {
		if !s.test && !isSupport(s.pkg) && !strings.HasPrefix(s.pkg, "e2e/") || strings.HasPrefix(path.Base(s.path), "bench_") {
			continue
		}
		for _, call := range programCalls(s.file) {
			note(run, call.program, s.pkg)
			if call.by == "programtest.Require" {
				note(required, call.program, s.pkg)
			}
			assert.NotEqual(t, "exec.LookPath", call.by, "%s: use programtest.Require", s.fset.Position(call.pos))
		}
	}
	scripts, err := filepath.Glob("*/*/testdata/script/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, scripts)
	for _, script := range scripts {
		data, err := os.ReadFile(script)
		require.NoError(t, err)
		for line := range strings.Lines(string(data)) {
			if !strings.HasPrefix(line, "exec ") {
				continue
			}
			for _, program := range programsOf(line) {
				note(run, program, path.Dir(path.Dir(path.Dir(script))))
			}
		}
	}
	for _, row := range programtest.Programs() {
		name := row.Names[0]
		var folders []string
		for _, user := range row.Users {
			if info, err := os.Stat(user); assert.NoError(t, err, name) && info.IsDir() {
				folders = append(folders, user)
			}
		}
		if len(row.Users) == 0 {
			assert.NotEmpty(t, run[name], "no test runs %s", name)
		} else {
			assert.ElementsMatch(t, run[name], folders, "the folders whose tests run %s", name)
			assert.ElementsMatch(t, required[name], folders, "the folders whose tests require %s", name)
		}
		delete(run, name)
	}
	for name, folders := range run {
		t.Errorf("%s has no row in internal/programtest/programs.txt: %s", name, strings.Join(folders, " "))
	}
}

// TestRootTestsRequireRoot checks that a test whose name ends in _AsRoot begins with
// programtest.RequireRoot, and no other.
func TestRootTestsRequireRoot(t *testing.T) {
	found := 0
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !s.test || f.Body == nil || len(f.Body.List) == 0 {
				continue
			}
			first := false
			if expr, ok := f.Body.List[0].(*ast.ExprStmt); ok {
				first = types.ExprString(expr.X) == "programtest.RequireRoot(t)"
			}
			asRoot := strings.HasPrefix(f.Name.Name, "Test") && strings.HasSuffix(f.Name.Name, "_AsRoot")
			assert.Equal(t, asRoot, first, "%s: %s", s.path, f.Name.Name)
			if asRoot {
				found++
			}
		}
	}
	assert.NotZero(t, found)
}

// ours reports whether a program is built from this tree, or looked up because it does not exist.
func ours(name string) bool { return strings.HasPrefix(path.Base(name), "ccbot") }

// programCall is a place in a test that names a program. by is the function that gets the name, or
// "sh" for a script.
type programCall struct {
	program, by string
	pos         token.Pos
}

// programCalls returns the programs that a file names: in os/exec, in programtest.Require, and in
// shell scripts that begin with "#!" or follow "-c". The test does not see other programs, such as
// the command of a tmux window.
func programCalls(f *ast.File) (all []programCall) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			by, argument := functionOf(n), 0
			switch by {
			case "exec.CommandContext", "programtest.Require":
				argument = 1
			case "exec.Command", "exec.LookPath":
			default:
				return true
			}
			if program := textOf(n.Args[argument]); program != "" && !ours(program) {
				all = append(all, programCall{path.Base(program), by, n.Pos()})
			}
			for i, flag := range n.Args[:len(n.Args)-1] {
				if textOf(flag) == "-c" {
					all = append(all, scriptCalls(n.Args[i+1])...)
				}
			}
		case *ast.BasicLit:
			if strings.HasPrefix(textOf(n), "#!/") {
				all = append(all, scriptCalls(n)...)
			}
		}
		return true
	})
	return all
}

func scriptCalls(script ast.Expr) (all []programCall) {
	for _, program := range programsOf(textOf(script)) {
		all = append(all, programCall{program, "sh", script.Pos()})
	}
	return all
}

// functionOf returns the function of a call as in "exec.Command", or "".
func functionOf(call *ast.CallExpr) string {
	if fun, ok := call.Fun.(*ast.SelectorExpr); ok {
		if pkg, ok := fun.X.(*ast.Ident); ok {
			return pkg.Name + "." + fun.Sel.Name
		}
	}
	return ""
}

// textOf returns the value of a string literal, "" for any other expression.
func textOf(e ast.Expr) string {
	if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
		if text, err := strconv.Unquote(lit.Value); err == nil {
			return text
		}
	}
	return ""
}

// programsOf returns the programs that a shell script names, without the shell's own commands.
func programsOf(script string) (all []string) {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil // a part of a script, whose rest the test adds
	}
	functions := make(map[string]bool)
	syntax.Walk(file, func(n syntax.Node) bool {
		if f, ok := n.(*syntax.FuncDecl); ok {
			functions[f.Name.Value] = true
		}
		return true
	})
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok {
			return true
		}
		words := call.Args
		for len(words) > 1 && (words[0].Lit() == "exec" || words[0].Lit() == "command") {
			words = words[1:]
		}
		if len(words) > 0 {
			if name := words[0].Lit(); name != "" && !ours(name) && !functions[name] && !slices.Contains(shellCommands, name) {
				all = append(all, path.Base(name))
			}
		}
		return true
	})
	return all
}

// shellCommands are commands of the shell itself.
var shellCommands = []string{":", ".", "[", "cd", "command", "echo", "eval", "exec", "exit", "export", "kill", "printf", "pwd", "read",
	"return", "set", "shift", "test", "times", "trap", "true", "type", "ulimit", "umask", "unset", "wait"}

// TestOnlySkipReadsRequire holds the decision between a skip and a failure in one function.
func TestOnlySkipReadsRequire(t *testing.T) {
	var readers []string
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if slices.Contains(literals(d), "CCBOT_REQUIRE") && s.pkg != "." {
				readers = append(readers, s.pkg+" "+nameOf(d))
			}
		}
	}
	assert.Equal(t, []string{"internal/programtest Skip", "internal/programtest TestMissingProgramNamesItsPackage"}, readers)
}

func TestProgramCalls(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+`func f() {
	exec.Command("ps", "-o"); exec.CommandContext(ctx, "/usr/bin/kill"); exec.LookPath("curl"); programtest.Require(t, "git"); exec.Command("ccbot"); exec.Command(name)
	exec.Command("sh", "-c", "cd /; x=$(exec pgrep -f y) || { kill $$; jq . | wc; }", "two")
	write("#!/bin/sh\nhelp() { df; }\nhelp >out\n", "ls -l")
}`, 0)
	require.NoError(t, err)
	var all []string
	for _, call := range programCalls(f) {
		all = append(all, call.program)
	}
	assert.Equal(t, []string{"ps", "kill", "curl", "git", "sh", "pgrep", "jq", "wc", "df"}, all)
}
