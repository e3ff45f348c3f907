package bot

import (
	"context"
	"fmt"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/process"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// shownWindows bounds the windows that are shown; the rest is counted.
const shownWindows = 5

// place is the message that a window's buttons are under, which decides how it
// is drawn again.
type place string

const (
	inList     place = "l"
	inReport   place = "r"
	inQuestion place = "q"
)

// orphans are the windows that belong to no session. Where they cannot be seen
// none is shown.
func (b *Bot) orphans(ctx context.Context) []lifecycle.Window {
	all, err := b.Windows.Orphans(ctx)
	if err != nil {
		b.Log.Warn("windows_unknown", "error", err.Error())
		return nil
	}
	return all
}

// windowsText lists windows that belong to no session.
func (b *Bot) windowsText(all []lifecycle.Window) render.Text {
	if len(all) == 0 {
		return render.Text{}
	}
	lines := []string{b.words.Say(i18n.ListUnbound, i18n.Args{"Count": len(all)})}
	var copied []string // what people copy
	for _, w := range all[:min(len(all), shownWindows)] {
		lines, copied = append(lines, b.windowLine(w)), append(copied, b.ShortTail(windowDir(w)))
		if !canAdopt(w) { // only the desk can tell what it is
			command := b.attachTo(w.Pane)
			lines = append(lines, "   "+b.words.Say(i18n.AttachHint, i18n.Args{"Command": command}))
			copied = append(copied, command)
		}
	}
	if more := len(all) - shownWindows; more > 0 {
		lines = append(lines, "• "+b.words.Say(i18n.AndMore, i18n.Args{"Count": more}))
	}
	return chat.Marked(strings.Join(lines, "\n"), copied...)
}

// windowLine is one window in one line: its id and name, what runs in it and
// where, and of a proven agent which conversation it writes.
func (b *Bot) windowLine(w lifecycle.Window) string {
	parts := []string{chat.Tail(glyph.Name(w.Pane.Command), 24)}
	switch {
	case w.Agent != nil:
		parts[0] = b.processText(w.Agent.Process, w.Agent.Age)
	case w.Pane.Dead:
		parts[0] = b.words.Say(i18n.WindowDead)
	}
	if dir := b.ShortTail(windowDir(w)); dir != "" {
		parts = append(parts, dir)
	}
	if w.Agent != nil {
		parts = append(parts, b.words.Say(i18n.WindowConversation, i18n.Args{"ID": w.Agent.ClaudeSessionID.String()[:8]}))
	}
	return fmt.Sprintf("• %s %s: %s", w.Pane.Window, chat.Tail(glyph.Name(w.Pane.WindowName), 40), strings.Join(parts, ", "))
}

// windowDir is where the work in a window is done.
func windowDir(w lifecycle.Window) string {
	if w.Agent != nil && w.Agent.Cwd != "" {
		return w.Agent.Cwd
	}
	return w.Pane.Path
}

// canAdopt says whether a window's agent can be made a session's, and so be
// archived: proven, protected by nothing, and in a terminal of ours.
func canAdopt(w lifecycle.Window) bool { return w.Agent != nil && w.Agent.Adoptable() }

// windowMark names a window in a button as it was shown: another process in it,
// or another conversation, has another mark.
func windowMark(w lifecycle.Window) string {
	text := fmt.Sprintf("%s %d", w.Pane.Window, w.Pane.PID)
	if a := w.Agent; a != nil {
		text += fmt.Sprintf(" %d %d %s %s", a.PID, a.Start, a.Boot, a.ClaudeSessionID)
	}
	return digest(text, 8)
}

// windowButtons are a row for each window that is shown. Of several each button
// names its window.
func (b *Bot) windowButtons(all []lifecycle.Window, at place) (rows [][]outbox.Button) {
	for _, w := range all[:min(len(all), shownWindows)] {
		var row []outbox.Button
		add := func(word i18n.Key, verb string, style outbox.Style) {
			one := b.Button(word, fmt.Sprintf("%s:%s:%s:%s", verb, w.Pane.Window, windowMark(w), at), style)
			if len(all) > 1 {
				one.Text += " " + w.Pane.Window.String()
			}
			row = append(row, one)
		}
		if canAdopt(w) {
			add(i18n.ButtonAdopt, "wad", outbox.Primary)
			add(i18n.ButtonArchive, "war", outbox.Danger)
		}
		add(i18n.ButtonIgnore, "wig", "")
		rows = append(rows, row)
	}
	return rows
}

// archiveQuestion says what an archive of a window's agent ends, and what stays.
func (b *Bot) archiveQuestion(w lifecycle.Window) string {
	text := []string{b.words.Say(i18n.WindowArchive, i18n.Args{"Window": windowName(w.Pane),
		"Process": b.processText(w.Agent.Process, w.Agent.Age)})}
	if len(w.Others) > 0 {
		text = append(text, b.words.Say(i18n.WindowStays, i18n.Args{"Details": b.Some(b.processNames(w.Others), "; ")}))
	}
	end := i18n.WindowKept
	if closesPane(w) {
		end = i18n.WindowCloses
	}
	return strings.Join(append(text, b.words.Say(end)), "\n")
}

// closesPane says whether the agent's pane goes with it: only one that carries
// this instance's mark and was made for that agent.
func closesPane(w lifecycle.Window) bool { return w.Ours && w.Agent.Pane.PID == w.Agent.PID }

func (b *Bot) processNames(all []process.Process) []string {
	var names []string
	for _, p := range all {
		names = append(names, b.processText(p, 0))
	}
	return names
}

// windowName is what people know a window by.
func windowName(p tmux.Pane) string {
	return strings.TrimSpace(p.Window.String() + " " + chat.Tail(glyph.Name(p.WindowName), 40))
}
