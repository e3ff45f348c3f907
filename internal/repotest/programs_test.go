package repotest

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const programs = "internal/programtest/programs.txt"

// TestProgramsOfTestsAreListed: .ci/run installs what the list has. A folder whose tests run a
// program of the list that not each Debian system has looks it up with programtest.Require. What
// only a shell script runs is not seen here: there, .ci/run on a bare system fails.
func TestProgramsOfTestsAreListed(t *testing.T) {
	test := func(text, rows string) map[string]string {
		return map[string]string{"loop/x_test.go": "package loop\n\nfunc f(t *testing.T) { " + text + " }\n", programs: "# comment\n" + rows + "\n"}
	}
	holds(t, programsAreListed,
		wrong{test(`exec.Command("jq", "-r")`, ""), "loop/x_test.go:3:24: jq has no row"},
		wrong{test(`exec.CommandContext(ctx, "/usr/bin/jq")`, "jq jq bot"), "loop runs jq without programtest.Require"},
		wrong{test(`programtest.Require(t, "jq")`, "jq jq bot"), "loop is not in the row of jq"},
		wrong{test(``, "jq jq loop"), "loop is in the row of jq, and does not require it"},
		wrong{test(`exec.LookPath("jq")`, "jq jq"), "use programtest.Require"})
}

func programsAreListed(t *tree) (faults []string) {
	users := make(map[string][]string) // by program, its folders; none: each system has it
	for line := range strings.Lines(t.text(programs)) {
		if words := strings.Fields(line); len(words) > 1 && !strings.HasPrefix(line, "#") {
			name, _, _ := strings.Cut(words[0], ",")
			users[name] = words[2:]
		}
	}
	required := make(map[[2]string]bool) // program, folder
	var run []programCall
	for _, s := range t.sources {
		if !s.test && !isSupport(s.pkg) && !strings.HasPrefix(s.pkg, "e2e/") || strings.HasPrefix(path.Base(s.path), "bench_") {
			continue
		}
		for _, call := range programCalls(s) {
			all, listed := users[call.program]
			switch {
			case call.by == "exec.LookPath":
				faults = append(faults, t.at(call.at)+": use programtest.Require, which skips or fails by one rule")
			case !listed:
				faults = append(faults, t.at(call.at)+": "+call.program+" has no row in "+programs+"; add one with its Debian package")
			case call.by == "programtest.Require":
				required[[2]string{call.program, s.pkg}] = true
				if len(all) > 0 && !slices.Contains(all, s.pkg) {
					faults = append(faults, s.pkg+" is not in the row of "+call.program+" in "+programs+"; add it")
				}
			case slices.ContainsFunc(all, func(of string) bool { return !isFile(t, of) }):
				run = append(run, call)
			}
		}
	}
	for _, call := range run {
		if !required[[2]string{call.program, call.folder}] {
			faults = append(faults, call.folder+" runs "+call.program+" without programtest.Require, so its tests fail where it is missing")
		}
	}
	for program, folders := range users {
		for _, folder := range folders {
			if !isFile(t, folder) && !required[[2]string{program, folder}] {
				faults = append(faults, folder+" is in the row of "+program+", and does not require it; take it out of "+programs)
			}
		}
	}
	return faults
}

// isFile reports whether a user in the list is a file, such as .ci/run.
func isFile(t *tree, user string) bool {
	return t.text(user) != ""
}

// programCall is a place in a test that names a program. by is the function that gets the name.
type programCall struct {
	program, by, folder string
	at                  ast.Node
}

// programCalls returns the programs of other packages that a file names.
func programCalls(s source) (all []programCall) {
	arguments := map[string]int{"exec.Command": 0, "exec.LookPath": 0, "exec.CommandContext": 1, "programtest.Require": 1}
	ast.Inspect(s.file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		by := types.ExprString(call.Fun)
		if i, ok := arguments[by]; ok && i < len(call.Args) {
			if program := path.Base(textOf(call.Args[i])); program != "." && !strings.HasPrefix(program, "ccbot") {
				all = append(all, programCall{program, by, s.pkg, call})
			}
		}
		return true
	})
	return all
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

// TestRootTestsRequireRoot: .ci/run finds the tests for root by their names, which end in _AsRoot;
// they begin with programtest.RequireRoot.
func TestRootTestsRequireRoot(t *testing.T) {
	test := func(name, first string) map[string]string {
		return map[string]string{"loop/x_test.go": "package loop\n\nfunc " + name + "(t *testing.T) {\n\t" + first + "\n}\n"}
	}
	holds(t, func(t *tree) (faults []string) {
		for name, f := range t.tests() {
			first := false
			if f.Body != nil && len(f.Body.List) > 0 {
				if expr, ok := f.Body.List[0].(*ast.ExprStmt); ok {
					first = types.ExprString(expr.X) == "programtest.RequireRoot(t)"
				}
			}
			_, short, _ := strings.Cut(path.Base(name), ".")
			switch asRoot := strings.HasPrefix(short, "Test") && strings.HasSuffix(short, "_AsRoot"); {
			case asRoot && !first:
				faults = append(faults, name+" begins without programtest.RequireRoot(t), so it fails for ordinary users")
			case first && !asRoot:
				faults = append(faults, name+" requires root, so its name ends in _AsRoot; without that, nobody runs it")
			}
		}
		return faults
	}, wrong{test("TestX_AsRoot", "f()"), "loop.TestX_AsRoot begins without"}, wrong{test("TestX", "programtest.RequireRoot(t)"), "loop.TestX requires root"})
}

// TestOnlySkipReadsRequire holds the decision between a skip and a failure in one function.
func TestOnlySkipReadsRequire(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		for _, s := range t.sources {
			for _, d := range s.file.Decls {
				if slices.Contains(literals(d), "CCBOT_REQUIRE") && s.pkg != "internal/repotest" && s.pkg != "internal/programtest" {
					faults = append(faults, s.path+" "+declared(d)+" reads CCBOT_REQUIRE: use programtest.Skip, which decides between a skip and a failure")
				}
			}
		}
		return faults
	}, wrong{map[string]string{"loop/x_test.go": "package loop\n\nfunc f() { os.Getenv(\"CCBOT_REQUIRE\") }\n"}, "loop/x_test.go f reads CCBOT_REQUIRE"})
}
