// Package programtest finds the programs that tests run. A test whose program is missing is
// skipped, and the reason names the Debian package.
//
// programs.txt lists each program once; .ci/run installs the packages, and a test compares the list
// with the tests. Skip is the only reader of CCBOT_REQUIRE: if it is "all", a test that would be
// skipped fails.
package programtest

import (
	_ "embed"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

//go:embed programs.txt
var list string

// Program is a row of programs.txt.
type Program struct {
	Names   []string // the usual name first; each of them will do
	Package string   // of Debian; "-" for a program that Debian does not have, or not new enough
	// the folders whose tests look it up, and files; empty for a program of each Debian system
	Users []string
}

// Programs returns the rows of programs.txt.
func Programs() (all []Program) {
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 1 && !strings.HasPrefix(line, "#") {
			all = append(all, Program{Names: strings.Split(words[0], ","), Package: words[1], Users: words[2:]})
		}
	}
	return all
}

// Require returns the path of a program. name is the first name in its row. If the program is
// missing, Require skips the test as Skip does.
func Require(t testing.TB, name string) (path string) {
	t.Helper()
	all := Programs()
	i := slices.IndexFunc(all, func(p Program) bool { return p.Names[0] == name })
	if i < 0 {
		t.Fatalf("internal/programtest/programs.txt has no row for %s", name)
	}
	for _, one := range all[i].Names {
		if path, err := exec.LookPath(one); err == nil {
			return path
		}
	}
	Skip(t, name+" is not installed (Debian package "+all[i].Package+")")
	return ""
}

// RequireRoot skips a test that only root can pass, also if CCBOT_REQUIRE is "all". The test's name
// ends in _AsRoot: .ci/run runs these tests as root.
func RequireRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can run it")
	}
}

// Skip skips a test that cannot run on this machine. If CCBOT_REQUIRE is "all", the test fails.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CCBOT_REQUIRE") == "all" {
		t.Fatal(why + ", and CCBOT_REQUIRE is all")
	}
	t.Skip("SKIPPED: " + why)
}
