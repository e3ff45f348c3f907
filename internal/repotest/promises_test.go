package repotest

import (
	"go/ast"
	"regexp"
	"strings"
	"testing"
)

var (
	promiseHeading = regexp.MustCompile(`(?m)^## (P\d+)\b`)
	promiseTest    = regexp.MustCompile(`\.(?:Test|TestReal|Fuzz)(P\d+)_\w+$`)
)

// TestPromisesHaveTests wants P1 to P10 in docs/PROMISES.md, each held by a test at least.
func TestPromisesHaveTests(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		held, promised := make(map[string]bool), make(map[string]bool)
		for name := range t.tests() {
			if m := promiseTest.FindStringSubmatch(name); m != nil {
				held[m[1]] = true
			}
		}
		for _, m := range promiseHeading.FindAllStringSubmatch(t.pages["docs/PROMISES.md"], -1) {
			promised[m[1]] = true
			if !held[m[1]] {
				faults = append(faults, m[1]+" has no test; one that holds it is named Test"+m[1]+"_…")
			}
		}
		for _, p := range []string{"P1", "P2", "P3", "P4", "P5", "P6", "P7", "P8", "P9", "P10"} {
			if !promised[p] {
				faults = append(faults, "docs/PROMISES.md does not have "+p+" any more: a promise is not taken back")
			}
		}
		for p := range held {
			if !promised[p] {
				faults = append(faults, "a test is named after "+p+", which docs/PROMISES.md does not have")
			}
		}
		return faults
	}, wrong{map[string]string{"docs/PROMISES.md": "# Promises\n\n## P1 One\n"}, "P1 has no test"},
		wrong{map[string]string{"docs/PROMISES.md": "# Promises\n\n## P1 One\n"}, "does not have P10 any more"},
		wrong{map[string]string{"loop/x_test.go": "package loop\n\nfunc TestP11_Rain(t *testing.T) {}\n"}, "named after P11"})
}

// TestBugsAreNotSkipped: a test that is skipped because the code is wrong holds nothing.
func TestBugsAreNotSkipped(t *testing.T) {
	holds(t, func(t *tree) (faults []string) {
		for _, s := range t.sources {
			ast.Inspect(s.file, func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && s.test && strings.HasPrefix(l.Value, "\"BUG") {
					faults = append(faults, t.at(l)+": a known bug is skipped: "+l.Value+"; mend it, because a skipped test holds nothing")
				}
				return true
			})
		}
		return faults
	}, wrong{map[string]string{"loop/x_test.go": "package loop\n\nfunc TestX(t *testing.T) { t.Skip(\"BUG" + ": later\") }\n"}, "loop/x_test.go:3:35: a known bug"})
}
