package e2e

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"ccbot/internal/sourcetest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// crash is one row of the matrix: kill -9 at a step, a fresh start, and the asserted promises. The
// texts are for the document; the functions next to them assert them.
type crash struct {
	step  string // the work in progress
	point string // the failpoint; empty for a moment that has none
	when  string // the moment in words; together with step and point it names the row
	disk  string // the state on disk
	fresh string // the work of the fresh start
	also  string // assertions in addition to the common promises

	prepare func(*stage) // while no bot runs, before the one that dies
	args    []string     // of the program that dies at its start; nil: the bot
	do      func(*stage) // leads to the point; nil: the start itself does
	until   func(*stage) bool
	posts   int          // messages that are under way at the point
	dead    func(*stage) // looks at the disk, and does what happens while no bot runs
	locks   bool         // dead runs a program that needs the lock
	after   func(*stage) // the person's actions and the replies afterwards
}

func (c crash) name() string {
	return strings.Join(strings.Fields(c.step+" "+cmp.Or(c.point, "moment")+" "+c.when), "_")
}

// life is a world in which the bot dies again and again, a row at a time.
type life struct {
	name  string
	env   []string
	setup func(*stage)
	rows  []crash
}

// matrix are all lives. They run side by side; the rows of one come in turn.
func matrix() []life {
	return slices.Concat([]life{birthAndEnd(), prompting(), overtaking(), answering(), bashMode(), switchingModes(), naming(), besides(), moving(), opening(), beginningWithText(), sharingCard(), stoppingTexts(), callingVerbs(), looping(), loopingInWorktree(), purgingLoops(), scheduling()}, asking(),
		[]life{secondWriters(), cliResume(), stubbornTools(), transferring(), recovering(), rebooting(), goingOn()})
}

// TestP8_CrashMatrix kills the bot with -9 at every persisted step and asserts
// the promises after a fresh start, and that a second one changes nothing. With
// CCBOT_CRASH_MATRIX it writes the document of that name.
func TestP8_CrashMatrix(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	results := make(map[string]bool)
	t.Cleanup(func() {
		if path := os.Getenv("CCBOT_CRASH_MATRIX"); path != "" {
			assert.NoError(t, os.WriteFile(path, []byte(matrixDocument(results)), 0o644)) //nolint:gosec // for everybody to read
		}
	})
	note := func(c crash, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		results[c.name()] = ok
	}
	longestFirst := func(a, b life) int { return len(b.rows) - len(a.rows) }
	for _, l := range slices.SortedStableFunc(slices.Values(matrix()), longestFirst) {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, l)
			for _, c := range l.rows {
				ok := t.Run(c.name(), func(t *testing.T) { s.as(t, func() { s.crash(c) }) })
				note(c, ok)
				if !ok {
					t.Fatalf("%s: the rows after it were not tried", c.name())
				}
			}
			s.curtain()
		})
	}
}

// TestCrashMatrixKnowsEveryFailpoint compares the rows with the program: each
// failpoint has a row, and each row's point is there.
func TestCrashMatrixKnowsEveryFailpoint(t *testing.T) {
	t.Parallel()
	points, rows := failpoints(t), make(map[string]bool)
	names := make(map[string]bool)
	for _, l := range matrix() {
		for _, c := range l.rows {
			assert.False(t, names[c.name()], "two rows are named %s", c.name())
			names[c.name()] = true
			if c.point != "" {
				rows[c.point] = true
				assert.Contains(t, points, c.point, "no failpoint has the name of the row %s", c.name())
			}
		}
	}
	for point, where := range points {
		assert.True(t, rows[point] || elsewhere[point] != "", "%s: the failpoint %q has no row in the crash matrix", where, point)
	}
}

// elsewhere are the failpoints that a test without a bot's process tries, because the stand-in of
// the Bot API adds no bot to a group, and one person writes in this matrix.
var elsewhere = map[string]string{"group-allowed": "TestP8_KillAfterGroupIsAllowed", "text-kept-aside": "TestP4_KillAfterTextIsKeptAside",
	"prompt-stored": "TestP4_HandoverProperty", "prompt-renamed": "TestP4_HandoverProperty", "prompts-settled": "TestP4_HandoverProperty"}

// failpoints are the names of the program's failpoints and where they stand.
func failpoints(t *testing.T) map[string]string {
	t.Helper()
	points, fset := make(map[string]string), token.NewFileSet()
	for path, source := range sourcetest.OfProgram(t) {
		if strings.HasPrefix(path, "e2e/") {
			continue
		}
		file, err := parser.ParseFile(fset, path, source, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if point, ok := failpointOf(n); ok {
				points[point] = fset.Position(n.Pos()).String()
			}
			return true
		})
	}
	require.NotEmpty(t, points)
	return points
}

// failpointOf reads the name from a call of at("…"), At("…") or Failpoint("…").
func failpointOf(n ast.Node) (name string, ok bool) {
	call, ok := n.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return "", false
	}
	called := ""
	switch f := call.Fun.(type) {
	case *ast.SelectorExpr:
		called = f.Sel.Name
	case *ast.Ident:
		called = f.Name
	}
	text, ok := call.Args[0].(*ast.BasicLit)
	if !ok || text.Kind != token.STRING || called != "at" && called != "At" && called != "Failpoint" && called != "failpoint" {
		return "", false
	}
	name, err := strconv.Unquote(text.Value)
	return name, err == nil
}

// The rows of the matrix, and the page that explains them.
const (
	matrixFile = "testdata/crash-matrix.md"
	matrixPage = "../docs/dev/reliability.md"
)

// TestCrashMatrixDocument compares the list with the rows of the matrix, each of them as held, and
// the drawing of a prompt's life with the failpoints of its rows.
func TestCrashMatrixDocument(t *testing.T) {
	all, drawn := make(map[string]bool), make(map[string]bool)
	for _, l := range matrix() {
		for _, c := range l.rows {
			all[c.name()] = true
			if c.step == "prompt" {
				drawn[c.point] = true
			}
		}
	}
	data, err := os.ReadFile(matrixFile)
	require.NoError(t, err)
	assert.Equal(t, matrixDocument(all), string(data), "`make crash` writes it again")
	page, err := os.ReadFile(matrixPage)
	require.NoError(t, err)
	for _, m := range regexp.MustCompile(`● (\S+)`).FindAllStringSubmatch(string(page), -1) {
		assert.True(t, drawn[m[1]], "%s draws %s, and no prompt's row has it", matrixPage, m[1])
		delete(drawn, m[1])
	}
	assert.Empty(t, drawn, "%s does not draw them", matrixPage)
}

// matrixDocument returns the matrix in Markdown, by the work in progress. The first cell of a
// failed row reports the failure.
func matrixDocument(results map[string]bool) string {
	var steps []string
	tables := make(map[string]*strings.Builder)
	for _, l := range matrix() {
		for _, c := range l.rows {
			table, ok := tables[c.step]
			if !ok {
				table = &strings.Builder{}
				steps, tables[c.step] = append(steps, c.step), table
			}
			table.WriteString(c.line(results[c.name()]))
		}
	}
	var b strings.Builder
	b.WriteString("# Crash matrix\n\n`make crash` writes this list; docs/dev/reliability.md explains it.\n")
	for _, step := range steps {
		fmt.Fprintf(&b, "\n## %s\n\n| Killed at | On disk | The next start |\n|---|---|---|\n%s",
			strings.ToUpper(step[:1])+step[1:], tables[step])
	}
	return b.String()
}

// line is a row of the document.
func (c crash) line(holds bool) string {
	where, fresh := c.when, c.fresh
	if c.point != "" {
		where = "`" + c.point + "`: " + where
	}
	if !holds {
		where = "**does not hold** " + where
	}
	if c.also != "" {
		fresh += " (" + c.also + ")"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", where, c.disk, fresh)
}
