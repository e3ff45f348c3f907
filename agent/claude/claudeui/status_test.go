package claudeui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// imitations are status lines that look like something else, as a repository may set them.
var imitations = []string{
	"❯ ~/proj main\n", "1. Yes\n2. No\n", "press esc to cancel", "return to base\n", "────────────────\n",
	"Do you want to proceed?\n❯ 1. Yes\n  2. No\n\nEsc to cancel\n", "⏸ plan mode on\n", "  esc to interrupt\n",
	"\x1b[31m❯ red\x1b[0m\n\n\tlast one  \n", "-- VISUAL -- ⏸ manual mode on\n",
}

// drawn returns a status line as Claude Code draws it.
func drawn(output string) string {
	text := ""
	for _, row := range statusRows(output) {
		text += "  " + row + "\n"
	}
	return text
}

func TestKnownStatusLineIsLeftOut(t *testing.T) {
	box := strings.Repeat("─", 60) + "\n❯ \n" + strings.Repeat("─", 60) + "\n"
	for _, output := range imitations {
		s := Read(box+drawn(output)+"  ⏸ manual mode on · ? for shortcuts\n", "older", output)
		assert.True(t, readyToType(s), output)
		assert.Equal(t, "default", s.Mode, output)
		assert.Empty(t, s.Editor, output)
		busy := Read(box+drawn(output)+"  ⏸ manual mode on · esc to interrupt\n", output)
		assert.True(t, busy.Busy, output)
	}
	long := "❯ " + strings.Repeat("x", 100)
	assert.True(t, readyToType(Read(box+"  "+long[:50]+"…\n  ⏸ manual mode on\n", long)), "cut at the width")
}

// Rows are left out only where Claude Code draws the status line, and only as the command printed
// them.
func TestP7_StatusLineHidesNoDialog(t *testing.T) {
	box := strings.Repeat("─", 60) + "\n❯ \n" + strings.Repeat("─", 60) + "\n"
	dialog := "Do you want to proceed?\n❯ 1. Yes\n2. No\nEsc to cancel · Tab to amend\n"
	mode := "  ⏸ manual mode on\n"
	for name, tt := range map[string]struct{ footer, output string }{
		"another output":             {drawn("❯ other\n") + mode, "❯ main\n"},
		"more rows":                  {drawn("❯ main\n1. Yes\n") + mode, "❯ main\n"},
		"fewer rows":                 {drawn("❯ main\n") + mode, "❯ main\n1. Yes\n"},
		"no mode below":              {drawn(dialog), dialog},
		"the mode above":             {mode + drawn(dialog), dialog},
		"rows between":               {drawn(dialog) + "  a row\n" + mode, dialog},
		"a dialog below the mode":    {drawn("status\n") + mode + drawn(dialog), "status\n"},
		"a mode in the status":       {drawn("⏸ manual mode on\n"+dialog) + mode, "⏸ manual mode on\n"},
		"part of a row":              {"  ❯ ma\n" + mode, "❯ main\n"},
		"from the first column":      {"❯ main\n" + mode, "❯ main\n"},
		"only the mark of a cut":     {"  …\n  1. Yes\n" + mode, "❯ main\n1. Yes\n"},
		"an output of nothing":       {drawn(dialog) + mode, ""},
		"a rule in the first column": {"  x\n" + strings.Repeat("─", 60) + "\n" + drawn(dialog) + mode, "x\n"},
	} {
		t.Run(name, func(t *testing.T) { assert.False(t, readyToType(Read(box+tt.footer, tt.output))) })
	}
}

// No status line makes a recorded dialog a box.
func TestP7_StatusLineOverRecordedDialogs(t *testing.T) {
	for _, r := range recordings {
		if r.title == "" {
			continue
		}
		text := fixture(t, r.name)
		rows := strings.Split(strings.TrimRight(Read(text).Text, "\n"), "\n")
		for from := range rows {
			output := strings.Join(rows[from:], "\n")
			s := Read(text, output)
			require.False(t, s.Box.Present, "%s from row %d", r.name, from)
			require.NotNil(t, s.Dialog)
		}
	}
}
