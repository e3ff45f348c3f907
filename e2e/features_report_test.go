//go:build linux

package e2e

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const featuresFile = "../docs/dev/agents-features.md"

const featuresPreface = `# What the agents can do, walked through

` + "`make features`" + ` writes this page: a real agent, with a scripted API in place of its model, is taken through each row, and then through
five checks. A text arrives, or is told why it waits and arrives after that. ` + "`/list`" + ` names the state, and no card shows a turn that is
over. The chat has what the agent said, once, and nothing else. Buttons do what they say. ` + "`/kill`" + ` ends all processes, and
` + "`/resume`" + ` goes on with the same conversation. [versions.md](versions.md) says how to try another version.

"✓" is a row that passed. "seen" is what the chat said in a row of which nothing is expected but the five checks. A row that "fails" has
its reason. Bold rows are also walked by ` + "`.ci/run`" + `: one of each group, and those that no other test holds.
`

// columnsOf are the columns of an agent's table.
func columnsOf(agent string) []string {
	if agent == "Codex" {
		return []string{"in code mode", "classic"}
	}
	return []string{"newest", "oldest"}
}

// featureCells are the cells that the document has: by agent, column and row, and under the row "" what was walked and when.
type featureCells map[[3]string]string

func readFeatures(path string) featureCells {
	cells, agent := featureCells{}, ""
	data, _ := os.ReadFile(path) // the first walk makes it
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if title, is := strings.CutPrefix(line, "## "); is {
			agent = title
		}
		columns, parts := columnsOf(agent), strings.Split(strings.Trim(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") || len(parts) != 2+len(columns) {
			continue
		}
		row := strings.ReplaceAll(parts[0]+": "+parts[1], "**", "")
		if parts[0] == "Group" {
			row = ""
		}
		for i, column := range columns {
			cells[[3]string{agent, column, row}] = strings.TrimPrefix(parts[2+i], column+": ")
		}
	}
	return cells
}

// writeFeatures writes a column of the document, and keeps the others. A walk through some rows keeps the heading of one through all.
func writeFeatures(t *testing.T, path, agent, column, walked string, whole bool, outcomes map[string]string) {
	t.Helper()
	cells := readFeatures(path)
	heading := [3]string{agent, column, ""}
	if old := cells[heading]; whole {
		cells[heading] = walked
	} else if old == "" || old == "never" || strings.HasSuffix(old, inPart) {
		cells[heading] = walked + inPart
	}
	for title, outcome := range outcomes {
		cells[[3]string{agent, column, title}] = strings.ReplaceAll(outcome, "|", "/")
	}
	require.NoError(t, os.WriteFile(path, []byte(featuresDocument(cells)), 0o644)) // readable by all
}

// inPart ends the heading of a column whose rows were never walked all.
const inPart = ", in part"

func featuresDocument(cells featureCells) string {
	var b strings.Builder
	b.WriteString(featuresPreface)
	for _, all := range allFeatures() {
		if all.column == "classic" {
			continue // it has the rows of the other column
		}
		b.WriteString("\n## " + all.agent + "\n\n")
		columns := columnsOf(all.agent)
		for _, column := range columns {
			counts := map[string]int{}
			for _, row := range all.rows {
				kind, _, _ := strings.Cut(cmp.Or(cells[[3]string{all.agent, column, row.title()}], "not walked"), ":")
				counts[strings.Trim(kind, "*")]++
			}
			fmt.Fprintf(&b, "- %s: %d rows, of which %d pass, %d fail, %d only record what was seen", column, len(all.rows), counts[passes],
				counts["fails"], counts["seen"])
			if n := counts["not walked"]; n > 0 {
				fmt.Fprintf(&b, ", and %d were not walked", n)
			}
			b.WriteString(".\n")
		}
		b.WriteString("\n| Group | Feature")
		for _, column := range columns {
			b.WriteString(" | " + column + ": " + cmp.Or(cells[[3]string{all.agent, column, ""}], "never"))
		}
		b.WriteString(" |\n|---|---" + strings.Repeat("|---", len(columns)) + "|\n")
		for _, row := range all.rows {
			name := row.name
			if row.always {
				name = "**" + name + "**"
			}
			b.WriteString("| " + row.group + " | " + name)
			for _, column := range columns {
				b.WriteString(" | " + cmp.Or(cells[[3]string{all.agent, column, row.title()}], "not walked"))
			}
			b.WriteString(" |\n")
		}
		b.WriteString("\nOther tests walk through these:\n\n| Feature | Test |\n|---|---|\n")
		for _, other := range walkedByOthers[all.agent] {
			fmt.Fprintf(&b, "| %s | `%s` |\n", other[0], strings.ReplaceAll(other[1], " ", "`, `"))
		}
		b.WriteString("\nNothing walks through these yet:\n\n| Feature | Reason |\n|---|---|\n")
		for _, other := range notWalked[all.agent] {
			fmt.Fprintf(&b, "| %s | %s |\n", other[0], other[1])
		}
	}
	return b.String()
}

// TestFeaturesDocument fails if the document has other rows than the walk, and if .ci/run walks through no row of a group.
func TestFeaturesDocument(t *testing.T) {
	data, err := os.ReadFile(featuresFile)
	require.NoError(t, err)
	assert.Equal(t, featuresDocument(readFeatures(featuresFile)), string(data), "`make features` writes it again")
	for _, all := range allFeatures() {
		for _, row := range all.rows {
			assert.True(t, slices.ContainsFunc(all.rows, func(r feature) bool { return r.group == row.group && r.always && r.fails == "" }),
				"%s: .ci/run walks through no row of %q", all.agent, row.group)
		}
	}
}
