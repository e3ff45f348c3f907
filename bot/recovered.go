package bot

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// Recovered tells each conversation what a recovery found and did, in one message
// and only if it matters to people. What was told is noted after it is on disk, so
// that a crash in between repeats a message and loses none. Where ResumeOnStart
// says so, sessions that went down with the machine come back before it returns.
func (b *Bot) Recovered(ctx context.Context, rep recovery.Report) error {
	s, err := b.accountsOf(ctx, rep)
	if err != nil {
		return err
	}
	var errs []error
	homes, told := 0, 0
	for _, a := range s.all {
		err := b.tellRecovered(ctx, a)
		if a.home {
			homes++
		}
		if a.home && err == nil {
			told++
		}
		if err == nil {
			err = b.reported(ctx, slices.DeleteFunc(a.closed, b.isHomeless))
		}
		errs = append(errs, err)
	}
	errs = append(errs, b.reported(ctx, s.quiet))
	if homes > 0 && told == homes {
		errs = append(errs, b.reported(ctx, s.homeless), b.windowsTold(ctx, s.windows))
	} else if homes == 0 && len(s.homeless)+len(s.windows) > 0 {
		b.Log.Warn("recovery_untold", "sessions", len(s.homeless), "windows", len(s.windows), "why", "no allowed person has a chat yet")
	}
	return errors.Join(errs...)
}

// tellRecovered gives one conversation its account, and brings back what comes
// back by itself.
func (b *Bot) tellRecovered(ctx context.Context, a *account) error {
	if !a.matters() {
		return nil
	}
	a.waiting = b.waitingIn(ctx, a.to)
	text, buttons := b.accountMessage(a)
	if err := b.Post(ctx, a.to, text, buttons); err != nil {
		return err
	}
	b.At("report-posted")
	return b.bringAllBack(ctx, a.to, 0, a.brings)
}

// reported notes that the chat was told of sessions.
func (b *Bot) reported(ctx context.Context, all []session.Record) error {
	var errs []error
	for _, r := range all {
		if err := b.Sessions.Reported(ctx, r.ID); err != nil && !errors.Is(err, session.ErrNotFound) {
			errs = append(errs, fmt.Errorf("note that %s was told: %w", r.ID, err))
		}
	}
	return errors.Join(errs...)
}

func (b *Bot) windowsTold(ctx context.Context, all []lifecycle.Window) error {
	if len(all) == 0 {
		return nil
	}
	return b.Windows.Told(ctx, all)
}

// isHomeless says whether a session has no conversation that may still see it:
// none at all, or that of people who are not allowed any more.
func (b *Bot) isHomeless(r session.Record) bool { return !b.MayShow(r.Conversation) }

// accountMessage is the account with the buttons for what can be done. A single
// line needs no heading.
func (b *Bot) accountMessage(a *account) (render.Text, [][]outbox.Button) {
	lines := slices.Concat(b.closedLines(a), b.otherLines(a))
	if len(lines) > 1 {
		for i, line := range lines {
			lines[i] = "• " + line
		}
		lines = slices.Insert(lines, 0, b.words.Say(i18n.RecoveredHead))
	}
	if foot := b.foot(a); foot != "" {
		lines = append(lines, foot)
	}
	text := chat.Marked(strings.Join(lines, "\n"), b.asideDir(newerFolder), b.asideDir(unreadableFolder))
	return chat.Paragraphs(text, b.windowsText(a.windows)), append(b.lostButtons(a), b.windowButtons(a.windows, inReport)...)
}

// foot says what can be done about what is closed and does not come back by itself.
func (b *Bot) foot(a *account) string {
	stays := a.staying()
	switch len(stays) {
	case 0:
		return ""
	case 1:
		return b.words.Say(i18n.RecoveredFootOne, i18n.Args{"Name": shownName(stays[0].Name)})
	}
	return b.words.Say(i18n.RecoveredFoot)
}

// causes are how a recovery closes sessions, in the order in which it is told.
var causes = []i18n.Key{i18n.RecoveredReboot, i18n.RecoveredTmux, i18n.RecoveredLost, i18n.RecoveredAbandoned, i18n.RecoveredFailed}

// causeOf says how a session was closed.
func causeOf(r session.Record) i18n.Key {
	switch {
	case r.State == session.Abandoned:
		return i18n.RecoveredAbandoned
	case r.Closed == session.ClosedReboot:
		return i18n.RecoveredReboot
	case r.Closed == session.ClosedTmux:
		return i18n.RecoveredTmux
	case r.State == session.Failed:
		return i18n.RecoveredFailed
	}
	return i18n.RecoveredLost
}

// closedLines say which sessions were closed and why, a line for each cause.
func (b *Bot) closedLines(a *account) (lines []string) {
	for _, cause := range causes {
		var names []string
		for _, r := range a.closed {
			if causeOf(r) == cause {
				names = append(names, r.Name)
			}
		}
		line := b.namesLine(cause, names)
		if line == "" {
			continue
		}
		if n := len(a.returning); n > 0 && cause == i18n.RecoveredReboot {
			line += " " + b.words.Say(i18n.RecoveredComing, i18n.Args{"Count": n})
		}
		lines = append(lines, line)
	}
	return lines
}

// otherLines say the rest, what is bad before what is good.
func (b *Bot) otherLines(a *account) []string {
	lines := []string{b.namesLine(i18n.RecoveredTrouble, a.trouble), b.namesLine(i18n.RecoveredUnclear, a.unclear),
		b.asideLine(i18n.RecoveredNewer, a.newer, newerFolder), b.asideLine(i18n.RecoveredUnreadable, a.unreadable, unreadableFolder),
		b.namesLine(i18n.RecoveredWaiting, a.waiting), b.namesLine(i18n.RecoveredRestored, a.restored)}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// asideLine says where records are that could not be loaded; empty without any.
func (b *Bot) asideLine(word i18n.Key, count int, folder string) string {
	if count == 0 {
		return ""
	}
	return b.words.Say(word, i18n.Args{"Count": count, "Dir": b.asideDir(folder)})
}

// Where records are that could not be loaded.
const (
	newerFolder      = "sessions"
	unreadableFolder = "quarantine"
)

// asideDir is such a folder, as people copy it.
func (b *Bot) asideDir(folder string) string { return b.Short(filepath.Join(b.StateDir, folder)) }

// namesLine says something of sessions, by name as far as there is room; empty
// without any.
func (b *Bot) namesLine(word i18n.Key, names []string) string {
	if len(names) == 0 {
		return ""
	}
	shown := make([]string, 0, len(names))
	for _, name := range names {
		shown = append(shown, shownName(name))
	}
	return b.words.Say(word, i18n.Args{"Count": len(names), "Names": b.Some(shown, ", ")})
}

// shownName is a session's name in a sentence that is not about it alone.
func shownName(name string) string { return chat.Head(glyph.Name(name), maxName) }
