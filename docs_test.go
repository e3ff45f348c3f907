package ccbot_test

import (
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
)

// pages are all Markdown files of the tree with their text.
func pages(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && name != "." && skipped(name, d.Name()) {
				return filepath.SkipDir
			}
			return err
		}
		if filepath.Ext(name) == ".md" {
			data, err := os.ReadFile(name)
			all[name] = string(data)
			return err
		}
		return nil
	}))
	require.Contains(t, all, "README.md")
	return all
}

var (
	link    = regexp.MustCompile(`\]\(([^):]*?)(?:#([^)]*))?\)`)
	image   = regexp.MustCompile(`<img src="([^":]*)" alt="[^"]+"`)
	figure  = regexp.MustCompile(`(?m)^\| .* \| \d+ \|$`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noSlug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// anchors are the names of a page's headings in links.
func anchors(text string) map[string]bool {
	all := make(map[string]bool)
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

// TestLinksOfDocuments follows each relative link: there is a file, and a heading where the link
// names one.
func TestLinksOfDocuments(t *testing.T) {
	all, linked := pages(t), make(map[string]bool)
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := name
			if m[1] != "" {
				to = filepath.Join(filepath.Dir(name), m[1])
			}
			linked[to] = true
			assert.FileExists(t, to, "a link of %s", name)
			if m[2] != "" {
				assert.True(t, anchors(all[to])[m[2]], "%s: %s has no heading %s", name, to, m[2])
			}
		}
	}
	for name, text := range all {
		shown := image.FindAllStringSubmatch(text, -1)
		assert.Len(t, shown, strings.Count(text, "<img"), "a picture of %s has no words for those who do not see it", name)
		for _, m := range shown {
			assert.FileExists(t, filepath.Join(filepath.Dir(name), m[1]), "a picture of %s", name)
		}
		assert.True(t, linked[name] || name == "README.md", "no page leads to %s", name)
	}
}

// TestSentencesOfDocumentsAreComplete finds a paragraph or an item whose end was lost.
func TestSentencesOfDocumentsAreComplete(t *testing.T) {
	lost := regexp.MustCompile(`(?m)(?:^|[ (])(?:an?|the|and|of|its)(?:\n\n|\n[-|#]| \||\z)`)
	for name, text := range pages(t) {
		assert.Empty(t, lost.FindAllString(text+"\n", -1), name)
	}
}

// wordLimits are the most words of the pages for people and of those for developers. A page that
// grows takes words from others, or the limit is raised with the reason.
var wordLimits = map[string]int{"people": 20_040, "developers": 11_250}

// TestDocumentsStayShort counts words as wc does.
func TestDocumentsStayShort(t *testing.T) {
	developers := []string{"CLAUDE.md", "CONTRIBUTING.md", "docs/claude-code.md", "docs/session-schema.md", "i18n/README.md"}
	words := make(map[string]int)
	for name, text := range pages(t) {
		if strings.HasPrefix(name, "docs/dev/") || slices.Contains(developers, name) {
			words["developers"] += len(strings.Fields(text))
		} else {
			words["people"] += len(strings.Fields(text))
		}
	}
	for readers, limit := range wordLimits {
		assert.LessOrEqual(t, words[readers], limit, "words of the pages for %s", readers)
	}
}

// A browser and a shell's history keep each address.
func TestP9_PagesShowNoTokenInAddress(t *testing.T) {
	for name, text := range pages(t) {
		assert.NotRegexp(t, `(?i)/bot<|/bot\$|/bot[0-9]+:|/bot[A-Z_]*TOKEN`, text, name)
	}
}

// TestFiguresOfTheReadme compares the README's commit and figures of the last chaos run with the
// file that `make chaos` writes.
func TestFiguresOfTheReadme(t *testing.T) {
	readme, report := pages(t)["README.md"], written(t, chaosFigures)
	figures := figure.FindAllString(readme, -1)
	require.Greater(t, len(figures), 5)
	for _, row := range figures {
		assert.Contains(t, report, row+"\n")
	}
	run := regexp.MustCompile(`(?m)^Commit ([0-9a-f]{12} of \d{4}-\d{2}-\d{2}), seed`).FindStringSubmatch(report)
	require.NotNil(t, run, "`make chaos` writes the commit")
	assert.Contains(t, readme, "| The last run, commit "+run[1]+" | |\n")
}

const (
	performancePage  = "docs/dev/performance.md"
	performanceTable = "e2e/testdata/performance.md" // `make bench` writes it
	chaosFigures     = "e2e/testdata/reliability.md" // `make chaos` and `make soak` write it
)

// written returns a file that a test of the whole program has written.
func written(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(data)
}

// TestPerformanceTableMarksMissedTargets compares each figure with its target.
func TestPerformanceTableMarksMissedTargets(t *testing.T) {
	number := func(text string) float64 {
		value, err := strconv.ParseFloat(regexp.MustCompile(`[0-9.]+`).FindString(text), 64)
		require.NoError(t, err, text)
		return value
	}
	rows := performanceRows(t)
	require.Greater(t, len(rows), 20)
	for title, cells := range rows {
		target, figure := cells[0], cells[1]
		if target == "" {
			continue
		}
		missed := number(figure) > number(target)
		if strings.HasPrefix(target, "at least") {
			missed = number(figure) < number(target)
		}
		assert.Equal(t, missed, strings.HasSuffix(figure, ", missed"), "%s: %q with the target %q is marked if it misses it", title, figure, target)
	}
}

// performanceRows returns the cells of the table after the title: target, this run, the run before.
func performanceRows(t *testing.T) map[string][]string {
	t.Helper()
	_, table, _ := strings.Cut(written(t, performanceTable), "<!-- made by make bench -->")
	table, _, found := strings.Cut(table, "<!-- end of what make bench makes -->")
	require.True(t, found)
	rows := make(map[string][]string)
	for line := range strings.Lines(table) {
		if cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), " |"), " | "); len(cells) >= 4 && !strings.Contains(line, "---") {
			rows[strings.TrimPrefix(cells[0], "| ")] = cells[1:]
		}
	}
	delete(rows, "|")
	return rows
}

// quotedFigures are the figures of the table that a sentence of the page repeats: the sentence and
// the row.
var quotedFigures = map[string]string{
	`The whole program leaves ([0-9.]+ KB) a turn`: "a turn: memory that stays in the tmux server",
}

// TestPerformanceTextHasFiguresOfTable finds a figure of an earlier run in the text that explains
// the table: each number of three digits, or with a decimal point, is in the table.
func TestPerformanceTextHasFiguresOfTable(t *testing.T) {
	page, rows := pages(t)[performancePage], performanceRows(t)
	_, section, found := strings.Cut(page, "\n## Figures\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var figures strings.Builder
	for title, cells := range rows {
		figures.WriteString(title + " " + cells[1] + "\n")
	}
	for _, m := range regexp.MustCompile(`\d[\d,]*\.\d+|\d[\d,]{2,}`).FindAllString(section, -1) {
		assert.Regexp(t, `\b`+regexp.QuoteMeta(strings.ReplaceAll(m, ",", ""))+`\b`, figures.String(), "%s repeats a figure that is not in its table", performancePage)
	}
	for sentence, title := range quotedFigures {
		m := regexp.MustCompile(sentence).FindStringSubmatch(page)
		require.NotNil(t, m, sentence)
		require.Contains(t, rows, title)
		assert.Equal(t, rows[title][1], m[1], "%s: %s", performancePage, sentence)
	}
}

// TestOperatorPageHasFiguresOfSoak compares the growth of the disk with the table that `make soak`
// writes.
func TestOperatorPageHasFiguresOfSoak(t *testing.T) {
	_, soak, found := strings.Cut(written(t, chaosFigures), "\n## Soak\n")
	require.True(t, found)
	_, disk, found := strings.Cut(pages(t)["docs/operator.md"], "\n| 1,000 turns | KB |")
	require.True(t, found)
	disk, _, _ = strings.Cut(disk, "\n\n")
	rows := regexp.MustCompile(`(?m)^\| ([^|]+) \| (\d+) \|`).FindAllStringSubmatch(disk, -1)
	require.Len(t, rows, 4)
	for _, row := range rows {
		assert.Regexp(t, `(?m)^\| `+regexp.QuoteMeta(row[1])+` \| [0-9.]+ \| [0-9.]+ \| `+row[2]+` \|$`, soak, row[1])
	}
}

// TestGuideHasLimitsOfTests compares the limits in CLAUDE.md with those that the tests check.
func TestGuideHasLimitsOfTests(t *testing.T) {
	guide := strings.Join(strings.Fields(pages(t)["CLAUDE.md"]), " ")
	assert.Contains(t, guide, fmt.Sprintf("Functions up to %d lines, files up to %d, except tests and generated files (`TestSize`)", maxFunctionLines, maxFileLines))
}

// TestDocumentsHaveEachExitCode compares the exit codes in docs/cli.md with the program's.
func TestDocumentsHaveEachExitCode(t *testing.T) {
	all := pages(t)
	for _, code := range exit.Meanings {
		assert.Regexp(t, `(?s)Exit codes.*?\b`+code[0]+`\b`, all["docs/cli.md"])
	}
}

// TestDocumentsNameTestsThatAreThere looks for each test that a page has in code type.
func TestDocumentsNameTestsThatAreThere(t *testing.T) {
	tests := make(map[string]bool)
	for _, s := range sources(t) {
		for _, d := range s.file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && s.test {
				tests[f.Name.Name] = true
			}
		}
	}
	for name, text := range pages(t) {
		for _, m := range regexp.MustCompile("`((?:Test|Fuzz)\\w+)`").FindAllStringSubmatch(text, -1) {
			assert.True(t, tests[m[1]], "%s names %s", name, m[1])
		}
	}
}

// TestDocumentsNamePathsThatAreThere looks for each file of the sources that a page has in code
// type, such as `lifecycle/typing/decide.go`.
func TestDocumentsNamePathsThatAreThere(t *testing.T) {
	seen := 0
	for name, text := range pages(t) {
		for _, m := range regexp.MustCompile("`(?:\\./)?([a-z0-9]+)(/[A-Za-z0-9_./*-]*[A-Za-z0-9])[` ]").FindAllStringSubmatch(text, -1) {
			if info, err := os.Stat(m[1]); err != nil || !info.IsDir() || m[1] == "bin" {
				continue // a folder of CCBOT_DIR, or of another program
			}
			seen++
			found, err := filepath.Glob(m[1] + m[2])
			require.NoError(t, err)
			assert.NotEmpty(t, found, "%s names %s", name, m[1]+m[2])
		}
	}
	assert.Greater(t, seen, 50)
}

// TestArchitecturePageNamesWhatIsThere looks for each folder and file that the page has in code
// type, such as `bot/outbox`, and for each name of a package, such as `process.Table.End`.
func TestArchitecturePageNamesWhatIsThere(t *testing.T) {
	declared := make(map[string]bool)
	for _, s := range sources(t) {
		ast.Inspect(s.file, func(n ast.Node) bool {
			var names []*ast.Ident
			switch n := n.(type) {
			case *ast.FuncDecl:
				names = []*ast.Ident{n.Name}
			case *ast.TypeSpec:
				names = []*ast.Ident{n.Name}
			case *ast.ValueSpec:
				names = n.Names
			}
			for _, name := range names {
				declared[s.file.Name.Name+"."+name.Name] = true
			}
			return true
		})
	}
	code := func(of string) [][]string {
		return regexp.MustCompile("`("+of+")`").FindAllStringSubmatch(pages(t)["docs/dev/architecture.md"], -1)
	}
	require.Greater(t, len(code("[a-z0-9_./]+")), 20)
	for _, m := range code(`[a-z0-9]+(?:/[a-z0-9_]+)*(?:\.go)?`) {
		_, err := os.Stat(m[1])
		assert.NoError(t, err, "docs/dev/architecture.md names it")
	}
	for _, m := range code(`([a-z0-9]+\.)(?:[A-Z]\w*\.)?([A-Z]\w*)`) {
		assert.True(t, declared[m[2]+m[3]], "docs/dev/architecture.md names %s", m[1])
	}
}

// TestArchitecturePageHasLayers compares the order of the layers on the page with the one that
// TestArchitecture checks.
func TestArchitecturePageHasLayers(t *testing.T) {
	_, section, found := strings.Cut(pages(t)["docs/dev/architecture.md"], "\n## The layers\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "Features do not import each other")
	last, before := -1, ""
	for _, m := range regexp.MustCompile("`([a-z0-9/]+)`").FindAllStringSubmatch(section, -1) {
		layer := layerOf(m[1])
		assert.GreaterOrEqual(t, layer, last, "docs/dev/architecture.md has %s below %s", m[1], before)
		last, before = layer, m[1]
	}
	assert.Greater(t, last, 20)
}
