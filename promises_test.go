package ccbot_test

import (
	"fmt"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	promiseHeading = regexp.MustCompile(`(?m)^## (P\d+)\b`)
	testName       = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	promiseTest    = regexp.MustCompile(`^Test(P\d+)_`)
)

// namedTests are the tests that docs/PROMISES.md names under each promise.
func namedTests(t *testing.T) map[string][]string {
	t.Helper()
	data, err := os.ReadFile("docs/PROMISES.md")
	require.NoError(t, err)
	text := string(data)
	named := make(map[string][]string)
	headings := promiseHeading.FindAllStringSubmatchIndex(text, -1)
	for i, h := range headings {
		end := len(text)
		if i+1 < len(headings) {
			end = headings[i+1][0]
		}
		promise := text[h[2]:h[3]]
		for _, m := range testName.FindAllStringSubmatch(text[h[1]:end], -1) {
			named[promise] = append(named[promise], m[1])
		}
	}
	return named
}

// testsOfTree are all tests of the module with their folders.
func testsOfTree(t *testing.T) map[string]string {
	t.Helper()
	tests := make(map[string]string)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && s.test && f.Recv == nil && (strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz")) {
				tests[f.Name.Name] = s.pkg
			}
		}
	}
	return tests
}

// TestPromisesNameTheirTests compares docs/PROMISES.md with the tree: every
// test it names exists, and every test named after a promise is named there.
func TestPromisesNameTheirTests(t *testing.T) {
	named, tests := namedTests(t), testsOfTree(t)
	var wrong []string
	for promise, names := range named {
		for _, name := range names {
			if _, ok := tests[name]; !ok {
				wrong = append(wrong, fmt.Sprintf("%s: there is no test `%s`", promise, name))
			}
		}
	}
	for name, pkg := range tests {
		if m := promiseTest.FindStringSubmatch(name); m != nil && !slices.Contains(named[m[1]], name) {
			wrong = append(wrong, fmt.Sprintf("%s: name `%s` of %s", m[1], name, pkg))
		}
	}
	slices.Sort(wrong)
	for _, line := range wrong {
		t.Errorf("docs/PROMISES.md, %s", line)
	}
}

// TestEveryPromiseHasATest wants P1 to P10, each held by a test at least.
func TestEveryPromiseHasATest(t *testing.T) {
	named := namedTests(t)
	for _, p := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10"} {
		assert.NotEmpty(t, named[p], "docs/PROMISES.md names no test for %s", p)
	}
}

// TestNoBugIsSkipped refuses a test that is skipped because the code is wrong:
// it would hold nothing.
func TestNoBugIsSkipped(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && s.test && strings.HasPrefix(l.Value, "\"BUG") {
				t.Errorf("%s skips a known bug: %s", s.path, l.Value)
			}
			return true
		})
	}
}
