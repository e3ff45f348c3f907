package sessions

import (
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/phase"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/glyph"
)

const (
	maxSwitch = 8 // sessions that have a button of their own under a list
	maxRow    = 3 // buttons in the row of a card
)

// allLink shows all sessions to choose one from.
const allLink = "all"

// switches are the buttons under a list, which make a session the current one of a plain chat: those of the
// open sessions, the newest eight in the order of their creation and, if there are more, one that shows all.
// looks has a look at each of them that runs.
func (s *Sessions) switches(to address.Conversation, open []views.Session, looks map[uuid.UUID]desk.Look) [][]card.Option {
	now, first := s.chat.Book.CurrentID(to), max(0, len(open)-maxSwitch)
	shown := slices.Clone(open[first:])
	if i := slices.IndexFunc(open[:first], func(r views.Session) bool { return r.ID == now }); i >= 0 {
		shown[0] = open[i] // whatever its age
	}
	var options []card.Option
	for _, r := range shown {
		options = append(options, s.option(to, r, r.ID == now, looks[r.ID].Now))
	}
	if len(open) > len(options) {
		options = append(options, allOption(s.chat.In(to), len(open)))
	}
	return chat.Rows(2, options...)
}

// Row are the buttons under the card of a session: those of the newest open sessions but the current one, as
// they were noted last. Where nothing can be switched to, and in topics, there are none.
func (s *Sessions) Row(to address.Conversation) (row []card.Option) {
	now := s.chat.Book.CurrentID(to)
	open := slices.DeleteFunc(s.chat.Book.Records.List(), func(r views.Session) bool { return !isLive(r) || r.ID == now })
	if to.ThreadID != 0 {
		return nil
	}
	shown := open
	if len(open) > maxRow {
		shown = open[len(open)-maxRow+1:]
	}
	for _, r := range shown {
		row = append(row, s.option(to, r, false, r.Now))
	}
	if len(shown) < len(open) {
		row = append(row, allOption(s.chat.In(to), len(open)+1))
	}
	return row
}

func allOption(p chat.Phrases, count int) card.Option {
	return card.Option{Text: p.Say(i18n.ButtonAll, i18n.Args{"Count": count}), Value: allLink}
}

// option opens a session; of a session that is not cleaned up, it tries that again.
func (s *Sessions) option(to address.Conversation, r views.Session, current bool, now phase.Now) card.Option {
	name, words := glyph.Name(r.Name), s.chat.In(to)
	if isNotClean(r) {
		args := i18n.Args{"What": words.Say(i18n.ButtonRetry), "Said": name}
		return card.Option{Text: words.Say(i18n.Named, args), Value: chat.OfLaunch(chat.RetryLink, r)}
	}
	return card.Option{Text: switchLabel(name, current, unread(s.chat.Book, r), now), Value: chat.OpenLink + ":" + r.ID.String()}
}

// unread reports whether a session has said what was not opened yet.
func unread(book *conversation.Book, r views.Session) bool {
	mark, known := book.ReadMarkOf(r.Conversation, r.ID)
	return known && mark.Since != nil
}

// switchLabel is the name of a session between two signs: that it is the current one, or has said what was
// not opened yet; and that it works, waits for a person, or cannot go on.
func switchLabel(name string, current, unread bool, now phase.Now) string {
	switch {
	case current:
		name = "✓ " + name
	case unread:
		name = "● " + name
	}
	switch {
	case now.Phase.Waiting():
		return name + " ❓"
	case now.Works():
		return name + " ⏳"
	case now.Phase == phase.LoggedOut, now.Phase == phase.Limited, now.Phase == phase.APIError, now.Phase == phase.Blocked:
		return name + " ⚠"
	}
	return name
}
