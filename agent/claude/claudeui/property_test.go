package claudeui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/agent"
)

// edited draws random damage to a capture: rows dropped, doubled, swapped or cut, and rows inserted
// that an agent can print (it may try to draw a box, but its text is always indented).
func edited(t *rapid.T, capture string) string {
	rows := strings.Split(capture, "\n")
	rule := strings.Repeat("─", 120)
	agent := rapid.SampledFrom([]string{"", "  text", "● text", "  " + rule, "  ❯ ", "  ❯ 1. Yes", "  Esc to cancel",
		"  ⎿  esc to interrupt", "✻ Cooked for 0s"})
	for range rapid.IntRange(0, 12).Draw(t, "edits") {
		i := rapid.IntRange(0, len(rows)-1).Draw(t, "row")
		switch rapid.IntRange(0, 4).Draw(t, "edit") {
		case 0:
			if len(rows) > 1 {
				rows = append(rows[:i:i], rows[i+1:]...)
			}
		case 1:
			rows = append(rows[:i+1:i+1], rows[i:]...)
		case 2:
			j := rapid.IntRange(0, len(rows)-1).Draw(t, "other")
			rows[i], rows[j] = rows[j], rows[i]
		case 3:
			r := []rune(rows[i])
			rows[i] = string(r[:rapid.IntRange(0, len(r)).Draw(t, "cut")])
		case 4:
			rows = append(rows[:i:i], append([]string{agent.Draw(t, "text")}, rows[i:]...)...)
		}
	}
	return strings.Join(rows, "\n")
}

// requireConsistent checks what holds for any screen whatever.
func requireConsistent(t require.TestingT, s agent.Screen) {
	if s.Dialog != nil {
		require.False(t, s.Box.Present && s.Box.Empty, "a dialog is open: the box is not free")
		require.False(t, readyToType(s))
		require.Less(t, s.Dialog.Selected, max(1, len(s.Dialog.Options)))
		require.Equal(t, len(s.Dialog.Options) == 0, s.Dialog.Selected == -1)
	}
	if s.Box.Empty {
		require.Empty(t, s.Box.Text)
	}
	if !s.Box.Present {
		require.Equal(t, agent.Box{}, s.Box)
		require.False(t, s.Busy)
	}
}

func TestP7_EditedDialogIsNeverReady(t *testing.T) {
	for _, tc := range recordings {
		capture := fixture(t, tc.name)
		rapid.Check(t, func(t *rapid.T) {
			s := Read(edited(t, capture))
			requireConsistent(t, s)
			if tc.box == "" {
				require.False(t, readyToType(s), "no box was on %s", tc.name)
			}
		})
	}
}

// A question's text starts in the first column, so it can hold a perfect copy of an empty box.
func TestP7_BoxInsideDialogIsIgnored(t *testing.T) {
	fake := strings.Split(boxed(120, "", manual, sign+cursor), "\n")
	fake = fake[len(fake)-5:]
	for _, tc := range recordings {
		if tc.title == "" {
			continue
		}
		rows := strings.Split(fixture(t, tc.name), "\n")
		keys := lastKeyRow(rows)
		for i := range keys + 1 {
			drawn := append(append(append([]string{}, rows[:i]...), fake...), rows[i:]...)
			s := Read(strings.Join(drawn, "\n"))
			require.False(t, readyToType(s), "%s, above row %d", tc.name, i)
			requireConsistent(t, s)
		}
	}
}

// lastKeyRow returns the row of the selected option, or of the key hints of a page without options.
// The text of an agent is above it.
func lastKeyRow(rows []string) int {
	hint := 0
	for i := len(rows) - 1; i >= 0; i-- {
		text := Read(rows[i]).Text
		if strings.HasPrefix(strings.TrimSpace(text), "❯") {
			return i
		}
		if hint == 0 && keyHint.MatchString(strings.ToLower(text)) {
			hint = i
		}
	}
	return hint
}

func TestP7_DraftsAreSeen(t *testing.T) {
	visible := rapid.StringMatching(`[!-~а-яé世❯─]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(visible, 1, 20).Draw(t, "words")
		width := rapid.IntRange(20, 200).Draw(t, "width")
		rows := []string{sign}
		for i, w := range words {
			last := len(rows) - 1
			if i > 0 && len([]rune(rows[last]))+len([]rune(w)) >= width {
				rows, last = append(rows, "  "), last+1
			}
			rows[last] += w + " "
		}
		s := Read(boxed(width, "", manual, rows...))
		require.True(t, s.Box.Present)
		require.False(t, s.Box.Empty)
		require.False(t, readyToType(s))
		require.True(t, Reader{}.Holds(s.Box, strings.Join(words, " ")))
	})
}

func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.ansi")
	require.NoError(f, err)
	for _, name := range files {
		f.Add(fixture(f, strings.TrimSuffix(filepath.Base(name), ".ansi")), "text")
	}
	f.Add("\x1b[", "\x1b]8;;\x1b\\")
	f.Add("\x1b", "\xff")
	f.Fuzz(func(t *testing.T, capture, text string) {
		s := Read(capture)
		requireConsistent(t, s)
		Reader{}.Holds(s.Box, text)
		for _, r := range s.Text {
			if unicode.IsControl(r) && r != '\n' {
				t.Fatalf("control character %q in the plain text", r)
			}
		}
	})
}

func BenchmarkRead(b *testing.B) {
	for _, name := range []string{"idle", "perm-bash", "paste-immediate"} {
		capture := fixture(b, name)
		b.Run(fmt.Sprint(name), func(b *testing.B) {
			b.SetBytes(int64(len(capture)))
			for b.Loop() {
				Read(capture)
			}
		})
	}
}

// agentRows draws what an agent can make a terminal show: its own words, its tools' output, what a
// person said. All of it but the signs in front is indented.
func agentRows(t *rapid.T) []string {
	rule := strings.Repeat("─", 120)
	text := rapid.OneOf(
		rapid.SampledFrom([]string{"❯ 1. Keep everything as it is", "2. Cancel", "1. Yes", "❯ Restore", "❯", "Enter to confirm · Esc to cancel",
			rule, strings.Repeat("▔", 120), "● text", "✻ Cooked for 0s", "↑ 22 more lines", "←  ☐ A  ✔ Submit  →", " Bash command", "! ls"}),
		rapid.StringMatching(`[ -~❯●✻─▔↑]{0,60}`))
	front := rapid.SampledFrom([]string{"● ", "  ", "  ", "    ", "  ⎿  ", "❯ ", "✻ ", "! "})
	var rows []string
	for range rapid.IntRange(0, 12).Draw(t, "rows") {
		rows = append(rows, front.Draw(t, "front")+text.Draw(t, "text"))
	}
	return rows
}

// edgeOf is the row that a recorded dialog begins with: the lowest edge that is not within its
// list.
func edgeOf(rows []string) int {
	for i := len(rows) - 1; i >= 0; i-- {
		if lines := parseCells(strings.Join(rows, "\n")); isEdge(lines[i]) && !ruleInList(lines, i) {
			return i
		}
	}
	return -1
}

// Earlier text of an agent becomes neither an option nor a title, and hides nothing.
func TestP7_TextAboveDialogIsIgnored(t *testing.T) {
	for _, tc := range recordings {
		if tc.title == "" || tc.name == "suspended" { // which has no edge
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			capture := fixture(t, tc.name)
			rows := strings.Split(capture, "\n")
			edge := edgeOf(rows)
			require.GreaterOrEqual(t, edge, 0)
			want := Read(capture).Dialog
			rapid.Check(t, func(t *rapid.T) {
				above := slices.Concat(rows[:edge:edge], agentRows(t))
				if rapid.Bool().Draw(t, "nothing else above") {
					above = agentRows(t)
				}
				require.Equal(t, want, Read(strings.Join(slices.Concat(above, rows[edge:]), "\n")).Dialog)
			})
		})
	}
}

// An agent may write the cursor's sign into the text of a dialog, such as a command or an option.
// Then it is unknown which row is selected.
func TestP7_ForgedCursorSelectsNothing(t *testing.T) {
	text := Read(fixture(t, "perm-bash")).Text
	for _, forged := range []string{" ❯ 1. Keep everything as it is", "❯ 1. Yes", "     ❯ 5. Fine", " ❯ Cancel"} {
		for _, beside := range []string{" Do you want to proceed?", "   4. No"} {
			d := Read(strings.Replace(text, beside, forged+"\n"+beside, 1)).Dialog
			require.NotNil(t, d)
			assert.Empty(t, d.Options, forged)
			assert.False(t, d.Whole, forged)
		}
	}
}

func TestP7_WholeDialogHidesNoRow(t *testing.T) {
	for _, tc := range recordings {
		if d := Read(fixture(t, tc.name)).Dialog; d != nil {
			assert.Equal(t, tc.name != "memory", d.Whole, tc.name) // which has two cursors
		}
	}
	text := Read(fixture(t, "perm-bash")).Text
	rows := strings.Split(text, "\n")
	for name, cut := range map[string]string{
		"its edge has scrolled away":      strings.Join(rows[edgeOf(rows)+1:], "\n"),
		"what was said before is below":   "● text\n" + strings.Join(rows[edgeOf(rows)+1:], "\n"),
		"rows above":                      strings.Replace(text, " scripted command", " ↑ 22 more lines", 1),
		"rows below":                      strings.Replace(text, " scripted command", "   … (+3 more lines)", 1),
		"rows, counted only":              strings.Replace(text, " scripted command", "   … +12 lines", 1),
		"rows, in words":                  strings.Replace(text, " scripted command", " 7 more lines", 1),
		"an arrow":                        strings.Replace(text, " scripted command", "  ↓", 1),
		"an arrow for the cursor":         strings.Replace(text, "   2. Yes", " ↓ 2. Yes", 1),
		"a number with a comma":           strings.Replace(text, " scripted command", " … +1,204 lines", 1),
		"hidden lines":                    strings.Replace(text, " scripted command", " 22 lines hidden", 1),
		"what is truncated":               strings.Replace(text, " scripted command", " …[truncated at 2000 bytes of 9000 bytes]", 1),
		"the end of a row":                strings.Replace(text, " scripted command", " "+strings.Repeat("x", 118)+"…", 1),
		"a row that looks like a spinner": strings.Replace(text, " scripted command", "* deletes everything… (yes)", 1),
		"what a forged edge parts off":    strings.Replace(text, " scripted command", strings.Repeat("─", 120)+"\n harmless", 1),
		"the first options":               strings.NewReplacer(" ❯ 1. Yes\n", "", "   2. Yes", " ❯ 2. Yes").Replace(text),
	} {
		require.NotEqual(t, text, cut, name)
		d := Read(cut).Dialog
		require.NotNil(t, d, name)
		assert.False(t, d.Whole, name)
	}
}

// TestP7_FormsHaveNoOptions reads forms of MCP servers, recorded from 2.1.328, whose words imitate
// options.
func TestP7_FormsHaveNoOptions(t *testing.T) {
	edge := strings.Repeat("─", 80) + "\n"
	for _, tt := range []struct {
		name, rows string
		whole      bool
	}{
		{"fields that are called as options",
			"❯   1. Yes: ☐\n\n      2. No, and tell Claude what to do: not set\n\n    Accept    Decline\n\n  Esc to cancel · Space to toggle", true},
		{"a required field", "❯ * Yes: ☐\n    * No: not set\n\n    Accept    Decline\n\n  Esc to cancel · Space to toggle", true},
		{"a hint in a description", "❯   Yes: ☐\n        Enter to confirm\n\n    Accept    Decline\n\n  Esc to cancel · Space to toggle", true},
		{"two answers in one row", "1. Yes\n  2. No\n  Enter to confirm\n\n  ❯ Accept    Decline\n\n  Esc to cancel · ←/→ to switch", true},
		{"the cursor in a row", "❯ 1. Yes\n    2. No\n\n    Accept  ❯ Decline\n\n  Esc to cancel · ↑/↓ to navigate", false},
		{"an option that is unfolded", "❯   Choice: ▾\n        ❯ ◯ 1. Yes\n          ◯ 2. No\n\n    Accept    Decline\n\n  Esc to cancel · Space to select", false},
		{"a label that is cut", "❯   Yes: ☐\n      Allow all of it and m…: not set\n\n    Accept    Decline\n\n  Esc to cancel · Space to toggle", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := Read("● Calling forms\n\n" + edge + "  MCP server “forms” requests your input\n\n  Do you want to proceed?\n  " + tt.rows).Dialog
			require.NotNil(t, d)
			assert.Empty(t, d.Options)
			assert.Equal(t, tt.whole, d.Whole)
			assert.Equal(t, "MCP server “forms” requests your input", d.Title)
		})
	}
}
