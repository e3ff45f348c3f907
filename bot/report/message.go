package report

import (
	"path"
	"slices"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/views"
	"ccbot/i18n"
)

// look is the report of a conversation with what can be done. A single line needs no heading.
func (p *Reports) look(one *report) (card.Look, offered) {
	lines := slices.Concat(p.closedLines(one), p.otherLines(one))
	if len(lines) > 1 {
		for i, line := range lines {
			lines[i] = "• " + line
		}
		lines = slices.Insert(lines, 0, p.words.Say(i18n.RecoveredHead))
	}
	if foot := p.foot(one); foot != "" {
		lines = append(lines, foot)
	}
	text := chat.Marked(strings.Join(lines, "\n"), p.folder(newerFolder), p.folder(unreadableFolder))
	windows := p.Windows.List(one.windows)
	options, lost := p.lostOptions(one)
	return card.Look{To: one.to, Text: chat.Paragraphs(text, windows.Text), Options: append(options, windows.Options...)},
		offered{Lost: lost, Windows: windows.Windows}
}

// foot says what can be done about what is closed and does not come back by itself.
func (p *Reports) foot(one *report) string {
	stays := one.staying()
	switch len(stays) {
	case 0:
		return ""
	case 1:
		return p.words.Say(i18n.RecoveredFootOne, i18n.Args{"Name": chat.ShownName(stays[0].Name)})
	}
	return p.words.Say(i18n.RecoveredFoot)
}

// causes are how a recovery closes sessions, in the order in which it is told.
var causes = []i18n.Key{i18n.RecoveredReboot, i18n.RecoveredTmux, i18n.RecoveredLost,
	i18n.RecoveredAbandoned, i18n.RecoveredFailed}

// causeOf says how a session was closed.
func causeOf(r views.Session) i18n.Key {
	switch {
	case r.State == views.Abandoned:
		return i18n.RecoveredAbandoned
	case r.Closed == views.ClosedReboot:
		return i18n.RecoveredReboot
	case r.Closed == views.ClosedTmux:
		return i18n.RecoveredTmux
	case r.State == views.Failed:
		return i18n.RecoveredFailed
	}
	return i18n.RecoveredLost
}

// closedLines say which sessions were closed and why, a line for each cause.
func (p *Reports) closedLines(one *report) (lines []string) {
	for _, cause := range causes {
		var names []string
		for _, r := range one.closed {
			if causeOf(r) == cause {
				names = append(names, r.Name)
			}
		}
		line := p.namesLine(cause, names)
		if line == "" {
			continue
		}
		if n := len(one.returning); n > 0 && cause == i18n.RecoveredReboot {
			line += " " + p.words.Say(i18n.RecoveredComing, i18n.Args{"Count": n})
		}
		lines = append(lines, line)
	}
	return lines
}

// otherLines say the rest, what is bad before what is good.
func (p *Reports) otherLines(one *report) []string {
	lines := []string{
		p.namesLine(i18n.RecoveredTrouble, one.trouble),
		p.namesLine(i18n.RecoveredUnclear, one.unclear),
		p.folderLine(i18n.RecoveredNewer, one.newer, newerFolder),
		p.folderLine(i18n.RecoveredUnreadable, one.unreadable, unreadableFolder),
		p.namesLine(i18n.RecoveredWaiting, one.waiting),
		p.namesLine(i18n.RecoveredRestored, one.restored),
	}
	return slices.DeleteFunc(lines, func(line string) bool { return line == "" })
}

// folderLine says where records are that could not be loaded; empty without any.
func (p *Reports) folderLine(word i18n.Key, count int, folder string) string {
	if count == 0 {
		return ""
	}
	return p.words.Say(word, i18n.Args{"Count": count, "Dir": p.folder(folder)})
}

// Where records are that could not be loaded.
const (
	newerFolder      = "sessions"
	unreadableFolder = "quarantine"
)

// folder is such a folder, as people copy it.
func (p *Reports) folder(name string) string { return p.Chat.Short(path.Join(p.StateDir, name)) }

// namesLine says something of sessions, by name as far as there is room; empty without any.
func (p *Reports) namesLine(word i18n.Key, names []string) string {
	if len(names) == 0 {
		return ""
	}
	shown := make([]string, 0, len(names))
	for _, name := range names {
		shown = append(shown, chat.ShownName(name))
	}
	return p.words.Say(word, i18n.Args{"Count": len(names), "Names": p.Chat.Some(shown, ", ")})
}
