package claudeui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

// In a question with several answers the cursor can be on [Submit], which is not an option: the
// whole question is read, not only the part below the rule in its list.
func TestQuestionWithCursorOnSubmit(t *testing.T) {
	text := Read(fixture(t, "ask-multi-2")).Text
	moved := strings.NewReplacer("❯ 1. [✔] Logs", "  1. [✔] Logs", "     Submit", "❯    Submit").Replace(text)
	require.NotEqual(t, text, moved)
	d := Read(moved).Dialog
	require.NotNil(t, d)
	assert.Equal(t, "Which features?", d.Title)
	assert.Contains(t, d.Lines, "  1. [✔] Logs")
	assert.Contains(t, d.Lines, "❯    Submit")
	assert.Empty(t, d.Options)
	assert.NotContains(t, strings.Join(d.Lines, "\n"), "Brewed", "history is no part of it")
}

// In each recording the rows above the first option are the head of its question.
func TestHeadEndsAtFirstOption(t *testing.T) {
	for _, one := range recordings {
		d := Read(fixture(t, one.name)).Dialog
		if d == nil {
			continue
		}
		if len(d.Options) == 0 {
			assert.Equal(t, d.Lines, d.Head, one.name)
			continue
		}
		require.Less(t, len(d.Head), len(d.Lines), one.name)
		assert.Contains(t, d.Lines[len(d.Head)], strings.Fields(d.Options[0])[0], "%s: the first option stands below its head", one.name)
	}
}

// A dialog that no rule divides from a running turn.
func TestDialogExcludesSpinner(t *testing.T) {
	text := "● Running.\n✶ Zesting… (5s · ↓ 119 tokens)\n Pick one\n ❯ 1. Yes\n   2. No\n\n Esc to cancel"
	d := Read(text).Dialog
	require.NotNil(t, d)
	assert.Equal(t, "Pick one", d.Title)
	assert.NotContains(t, strings.Join(d.Lines, "\n"), "Zesting")
	assert.Equal(t, d, Read(strings.Replace(text, "✶ Zesting… (5s", "✻ Baking… (6s", 1)).Dialog)
}

func TestSteadyLeavesOutWhatMoves(t *testing.T) {
	for row, want := range map[string]string{
		"● Running Bash.": "  Running Bash.", "⏺ Running Bash.": "  Running Bash.", "  Running Bash.": "  Running Bash.",
		"✶ Zesting… (5s · ↓ 119 tokens)": "", "✻ Baking… (6s)": "", "What? ●": "What? ●", "": "",
	} {
		assert.Equal(t, want, Reader{}.Steady(row))
	}
}

// TestP9_RowKeepsLastBlank reads a command that ends with a blank other than U+0020.
func TestP9_RowKeepsLastBlank(t *testing.T) {
	text := Read(fixture(t, "perm-bash")).Text
	d := Read(strings.Replace(text, "\n echo hi > ", "\n ./deploy\u00a0   \n > ", 1)).Dialog
	require.NotNil(t, d)
	assert.Contains(t, d.Lines, " ./deploy\u00a0")
}

// TestStopIsOffered reads the page of a command in the background (2.1.328).
func TestStopIsOffered(t *testing.T) {
	page := func(foot string) string {
		return "● tool done\n\n" + strings.Repeat("▔", 60) + "\n  serve\n  shell\n\n  Status:   running\n  Runtime:  4s\n  Command:  sleep 300\n\n  Output\n  No output yet\n\n" + foot + "\n"
	}
	for foot, want := range map[string]bool{
		"  ← to go back · x to stop · Enter/Space to close · Esc to close":                   true,
		"  ← to go back · f to foreground · x to stop · Enter/Space to close · Esc to close": true,
		"  ← to go back · Enter/Space to close · Esc to close":                               false,
	} {
		d := Read(page(foot)).Dialog
		require.NotNil(t, d, foot)
		assert.Equal(t, want, d.Stops, foot)
	}
}

// TestP7_PageNamesItsTask: what names a command or an agent in the background has its digits, and nothing that moves.
func TestP7_PageNamesItsTask(t *testing.T) {
	const foot = "\n  ← to go back · x to stop · Enter/Space to close · Esc to close\n"
	for name, tt := range map[string]struct {
		rows string
		want []string
	}{
		"a command": {"  serve\n  shell\n\n  Status:   running\n  Runtime:  4s\n  Command:  vite --port 3001\n\n  Output\n  ready: 1 s\n\n  at: 2\n",
			[]string{"  serve", "  shell", "", "  Status:   running", "  Command:  vite --port 3001", ""}},
		"an agent": {"  count 2 files\n  general-purpose · 34s · 7.8k tokens · Opus 5.5\n\n  Progress\n  Read a\n\n  Prompt\n  slow 600\n",
			[]string{"  count 2 files", "  general-purpose", "", "  Prompt", "  slow 600", ""}},
	} {
		d := Read("● tool done\n\n" + strings.Repeat("▔", 60) + "\n" + tt.rows + foot).Dialog
		require.NotNil(t, d, name)
		assert.Equal(t, tt.want, d.Head, name)
	}
}

// TestP7_SuspendedIsNoBox: only what Claude Code writes after ctrl+z counts, and nothing of a shell follows it.
func TestP7_SuspendedIsNoBox(t *testing.T) {
	screen := fixture(t, "suspended")
	for name, tt := range map[string]struct {
		screen string
		is     bool
	}{
		"as it is":               {screen, true},
		"keys were pressed":      {strings.Trim(screen, "\n") + "\n^Z^[[A", true},
		"it was suspended again": {strings.Trim(screen, "\n") + "\n^Z\n" + strings.Trim(screen, "\n"), true},
		"a shell follows":        {strings.Trim(screen, "\n") + "\n[1]+  Stopped   claude\nu@host:~$ ", false},
		"an agent says it":       {"● Claude Code is suspended. Run `fg` to bring it back.", false},
		"and in a second row":    {"● It said:\n  Claude Code is suspended. Run `fg` to bring it back.", false},
		"in 2.1.128": {"────\n❯\nClaude Code has been suspended. Run `fg` to bring Claude Code back.────────\n" +
			"Note: ctrl + z now suspends Claude Code, ctrl + _ undoes input.tall Anthropic marketplace", true},
		"above a box": {strings.Trim(screen, "\n") + "\n" + boxed(60, "", "  ⏸ manual mode on\n", "❯\u00a0"), false},
	} {
		t.Run(name, func(t *testing.T) {
			s := Read(tt.screen)
			assert.Equal(t, tt.is, s.Dialog != nil && s.Dialog.Suspends)
		})
	}
}

// TestP7_OpenedListIsKnownByItsFoot: what asks whether the agent may do more, or whether something may cost, is no list that a person
// has opened.
func TestP7_OpenedListIsKnownByItsFoot(t *testing.T) {
	for _, name := range []string{"dlg-1", "dlg-2", "flat-trust", "perm-bash", "http-hook-down", "old-perm", "flat-permission", "two-dialogs",
		"ask-1", "ask-2", "ask-multi", "plan", "plan-full", "flat-page", "subagent-perm", "suspended"} {
		d := Read(fixture(t, name)).Dialog
		require.NotNil(t, d, name)
		assert.False(t, d.Opened, name)
	}
	for _, name := range []string{"memory", "models", "start-pick"} {
		d := Read(fixture(t, name)).Dialog
		require.NotNil(t, d, name)
		assert.True(t, d.Opened, name)
	}
	screen := func(title, rows, foot string) *agent.Dialog {
		d := Read("● done\n\n" + strings.Repeat("▔", 60) + "\n  " + title + "\n\n" + rows + "\n\n  " + foot + "\n").Dialog
		require.NotNil(t, d, title)
		return d
	}
	const cut = "    ↑ 3 more\n  ❯ one\n    two"
	for name, is := range map[string]bool{
		"Rewind": true, "Resume session": true,
		"Managed settings need your review before they apply": false, "You are out of usage credits": false, "Allow external CLAUDE.md file imports?": false,
		"Make auto mode the default permission mode": false, "Turn on computer use": false, "Your Remote Control": false, "Enable billing": false,
	} {
		assert.Equal(t, is, screen(name, cut, "Enter to continue · Esc to cancel").Opened, name)
	}
	for foot, is := range map[string]bool{
		"↑/↓ to navigate · Enter to select · Esc to close": true, "Enter to resume · Esc to exit": true,
		"Enter to confirm · Esc to cancel": false, "Enter continues in auto mode · Esc to cancel": false, "Enter to stay · Esc to cancel": false,
		"Enter to select": false, "Esc to cancel": false,
	} {
		assert.Equal(t, is, screen("Rewind", strings.Replace(cut, "❯ one", "❯ 2. one", 1), foot).Opened, foot)
	}
	for _, row := range []string{"Yes, I accept", "2. No, exit", "Allow once", "Accept all", "Switch to it", "Stay here", "Continue anyway", "Confirm"} {
		assert.False(t, screen("WARNING: Claude Code running in a mode", "    ↑ 3 more\n  ❯ one\n    "+row, "Enter to select · Esc to cancel").Opened, row)
	}
	assert.False(t, screen("WARNING: Claude Code running in Bypass Permissions mode", "    ↑ 3 more\n  ❯ one", "Enter to select · Esc to cancel").Opened)
}

// TestP7_SearchOfPromptsTakesKeys: below the box of 2.1.128 is a row in which earlier prompts are searched.
func TestP7_SearchOfPromptsTakesKeys(t *testing.T) {
	for _, row := range []string{"  search prompts:", "  search prompts: go", "  no matching prompt: gone"} {
		s := Read(boxed(60, "", row+"\n", "❯\u00a0"))
		assert.False(t, s.Box.Present, row)
		require.NotNil(t, s.Dialog, row)
	}
	assert.True(t, Read(boxed(60, "", "  ? for shortcuts\n", "❯\u00a0")).Box.Present)
}
