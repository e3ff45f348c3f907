package ccbot_test

import (
	"flag"
	"go/ast"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

//go:generate go test -count=1 -run ^TestPromisesNameTheirTests$ . -args -write

var write = flag.Bool("write", false, "write the list of the promises' tests anew")

const listPath = "docs/promises-tests.txt"

var (
	promiseHeading = regexp.MustCompile(`(?m)^## (P\d+)\b`)
	promiseTest    = regexp.MustCompile(`^(?:Test|TestReal|Fuzz)P\d+_`)
)

// listed is docs/promises-tests.txt: on each line a test and the folder of its package.
func listed(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(listPath)
	require.NoError(t, err)
	return string(data)
}

// wanted returns the required content of the file: a line for each test named after a promise.
func wanted(t *testing.T) string {
	t.Helper()
	var lines []string
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test && f.Recv == nil && promiseTest.MatchString(f.Name.Name) {
				lines = append(lines, f.Name.Name+" "+s.pkg)
			}
		}
	}
	slices.Sort(lines)
	lines = slices.Compact(lines) // a test with two bodies for two systems is one
	return strings.Join(lines, "\n") + "\n"
}

// TestPromisesNameTheirTests compares docs/promises-tests.txt with the tree, so that no test of a
// promise disappears unnoticed. With -write, as in go generate, it rewrites the file.
func TestPromisesNameTheirTests(t *testing.T) {
	want := wanted(t)
	if *write {
		require.NoError(t, os.WriteFile(listPath, []byte(want), 0o644)) //nolint:gosec // for everybody to read
	}
	if got := listed(t); got != want {
		t.Error(listPath + " is not as the tree is. `go generate .` writes it anew; the commit gives the reason where a test goes.")
		for line := range strings.Lines(got) {
			if !strings.Contains("\n"+want, "\n"+line) {
				t.Logf("only in the list: %s", line)
			}
		}
		for line := range strings.Lines(want) {
			if !strings.Contains("\n"+got, "\n"+line) {
				t.Logf("only in the tree: %s", line)
			}
		}
	}
}

// TestPromisesHaveTests wants P1 to P10 in docs/PROMISES.md, each held by a test at least.
func TestPromisesHaveTests(t *testing.T) {
	text, err := os.ReadFile("docs/PROMISES.md")
	require.NoError(t, err)
	var promises []string
	for _, m := range promiseHeading.FindAllStringSubmatch(string(text), -1) {
		promises = append(promises, m[1])
		assert.Contains(t, listed(t), "Test"+m[1]+"_", "no test holds it")
	}
	assert.Equal(t, []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10"}, promises)
}

// TestBugsAreNotSkipped rejects a test that is skipped because the code is wrong:
// it would hold nothing.
func TestBugsAreNotSkipped(t *testing.T) {
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && s.test && strings.HasPrefix(l.Value, "\"BUG") {
				t.Errorf("%s skips a known bug: %s", s.path, l.Value)
			}
			return true
		})
	}
}
