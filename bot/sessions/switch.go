package sessions

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
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

// Switcher has buttons that lead to sessions. They are links: Sessions.Follow does what they say.
type Switcher struct {
	chat *chat.Chat
	all  chat.Choice // where there are too many for a button each
}

func newSwitcher(c *chat.Chat,
	open func(context.Context, chat.Tap, views.Session, func(context.Context) error) (chat.Answer, error)) *Switcher {
	nothing := func(context.Context) error { return nil }
	return &Switcher{chat: c, all: c.NewChoice(switchKind, i18n.SwitchPick, nil,
		func(ctx context.Context, t chat.Tap, r views.Session, _ chat.Among) (bool, error) {
			opened, err := open(ctx, t, r, nothing)
			if err != nil {
				return false, err
			}
			return true, opened.Then(ctx)
		})}
}

// Switch are the buttons under a list, which make a session the current one of a plain chat: those of the
// open sessions, the newest eight in the order of their creation and, if there are more, one that shows all.
// looks has a look at each of them that runs.
func (s *Switcher) Switch(to address.Conversation, open []views.Session, looks map[uuid.UUID]desk.Look) [][]card.Option {
	now := s.chat.Book.CurrentID(to)
	var options []card.Option
	for _, r := range shownOf(open, now) {
		options = append(options, s.option(to, r, r.ID == now, looks[r.ID].Now))
	}
	if len(open) > len(options) {
		options = append(options, s.allOption(to, len(open)))
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
		row = append(row, s.Switcher.option(to, r, false, r.Now))
	}
	if len(shown) < len(open) {
		row = append(row, s.Switcher.allOption(to, len(open)+1))
	}
	return row
}

func (s *Switcher) allOption(to address.Conversation, count int) card.Option {
	return card.Option{Text: s.chat.In(to).Say(i18n.ButtonAll, i18n.Args{"Count": count}), Value: allLink}
}

// shownOf are the sessions that have a button: the newest, and the current one whatever its age.
func shownOf(open []views.Session, now uuid.UUID) []views.Session {
	first := max(0, len(open)-maxSwitch)
	newest := slices.Clone(open[first:])
	if i := slices.IndexFunc(open[:first], func(r views.Session) bool { return r.ID == now }); i >= 0 {
		newest[0] = open[i]
	}
	return newest
}

// option opens a session; of a session that is not cleaned up, it tries that again.
func (s *Switcher) option(to address.Conversation, r views.Session, current bool, now phase.Now) card.Option {
	name, words := glyph.Name(r.Name), s.chat.In(to)
	if isNotClean(r) {
		args := i18n.Args{"What": words.Say(i18n.ButtonRetry), "Said": name}
		return card.Option{Text: words.Say(i18n.Named, args), Value: chat.OfLaunch(chat.RetryLink, r)}
	}
	mark, known := s.chat.Book.ReadMarkOf(r.Conversation, r.ID)
	unread := known && mark.Since != nil
	return card.Option{Text: switchLabel(name, current, unread, now), Value: chat.OpenLink + ":" + r.ID.String()}
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

// chooseAll asks which of all open sessions is meant.
func (s *Switcher) chooseAll(ctx context.Context, t chat.Tap) error {
	open := slices.DeleteFunc(s.chat.Book.Records.List(), func(r views.Session) bool { return !isLive(r) })
	if len(open) == 0 {
		return s.chat.Say(ctx, t.To, s.chat.NoSessionText(t.To))
	}
	return s.all.Post(ctx, t.To, open, chat.Among{})
}
