package report

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// report is what one conversation is told of a start.
type report struct {
	to        address.Conversation
	names     map[i18n.Key][]string // of sessions, by the sentence that tells of them
	closed    []views.Session       // by the start, and not told yet
	returning []uuid.UUID           // the closed sessions that come back by themselves
	windows   []desk.Window         // of which nobody was told yet
}

// sentences are what is told, in this order. After them comes what went well, which is not worth a
// message of its own.
var sentences = []i18n.Key{i18n.RecoveredReboot, i18n.RecoveredTmux, i18n.RecoveredLost,
	i18n.RecoveredAbandoned, i18n.RecoveredFailed, i18n.RecoveredTrouble, i18n.RecoveredUnclear,
	i18n.RecoveredNewer, i18n.RecoveredUnreadable}

// collector sorts what a start found and did by who is told of it.
type collector struct {
	of      *Reports
	private []address.Conversation
	all     []*report
}

// at is the report of a conversation.
func (c *collector) at(to address.Conversation) *report {
	i := slices.IndexFunc(c.all, func(one *report) bool { return one.to == to })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &report{to: to, names: make(map[i18n.Key][]string)})
	}
	return c.all[i]
}

// add tells of a session in its conversation; where no allowed person sees that, in every private
// chat.
func (c *collector) add(r views.Session, word i18n.Key) (in []*report) {
	places := c.private
	if c.of.Chat.Book.MayShow(r.Conversation) {
		places = []address.Conversation{r.Conversation}
	}
	for _, to := range places {
		one := c.at(to)
		if !slices.Contains(one.names[word], r.Name) {
			one.names[word] = append(one.names[word], r.Name)
		}
		in = append(in, one)
	}
	return in
}

// addClosed adds the sessions that the start closed. A session that is open again, or goes on as
// another, needs no word any more.
func (c *collector) addClosed(ctx context.Context) error {
	var errs []error
	for _, r := range c.of.Chat.Book.Records.List() {
		if r.Unreported && !r.Resumable {
			errs = append(errs, c.of.Reported(ctx, r.ID))
		}
		if !r.Unreported || !r.Resumable {
			continue
		}
		for _, one := range c.add(r, causeOf(r)) {
			one.closed = append(one.closed, r)
			if c.of.ResumeOnStart == ResumeAll && r.Closed == views.ClosedReboot && wentDown(r) {
				one.returning = append(one.returning, r.ID)
			}
		}
	}
	return errors.Join(errs...)
}

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

// wentDown reports whether a session was lost with the machine or with tmux, and is not back.
func wentDown(r views.Session) bool {
	down := r.Closed == views.ClosedReboot || r.Closed == views.ClosedTmux
	return down && (r.State == views.Lost || r.State == views.Failed)
}

// addRepairs adds what was done about sessions, and what nothing could be done about.
func (c *collector) addRepairs(rep news.Start) {
	book := c.of.Chat.Book
	for _, done := range rep.Repaired {
		r, known := book.Records.Get(done.Session)
		if r = book.Successor(r); !known {
			r = views.Session{Name: done.Session.String()[:8]}
		}
		switch {
		case done.Failed:
			c.add(r, i18n.RecoveredTrouble)
		case r.Live && r.State != views.Stopping:
			c.add(r, i18n.RecoveredRestored)
		}
	}
	for _, id := range rep.Unclear {
		if r, ok := book.Records.Get(id); ok {
			c.add(r, i18n.RecoveredUnclear)
		}
	}
}

// look is the report of a conversation with what can be done; blank where nothing matters.
func (p *Reports) look(one *report) (card.Look, offered) {
	words := p.Chat.Words
	newer := p.Chat.Short(path.Join(p.StateDir, "sessions"))
	unreadable := p.Chat.Short(path.Join(p.StateDir, "quarantine"))
	dirs := map[i18n.Key]string{i18n.RecoveredNewer: newer, i18n.RecoveredUnreadable: unreadable}
	var lines []string
	tell := func(word i18n.Key) {
		names := one.names[word]
		if len(names) == 0 {
			return
		}
		var shown []string
		for _, name := range names {
			shown = append(shown, chat.ShownName(name))
		}
		list := p.Chat.Some(shown, words.Say(i18n.JoinNames))
		args := i18n.Args{"Count": len(names), "Names": list, "Dir": dirs[word]}
		lines = append(lines, "• "+words.Say(word, args))
	}
	for _, word := range sentences {
		tell(word)
		if n := len(one.returning); n > 0 && word == i18n.RecoveredReboot {
			last, coming := &lines[len(lines)-1], words.Say(i18n.RecoveredComing, i18n.Args{"Count": n})
			*last = p.Chat.Sentences(*last, coming)
		}
	}
	if len(lines) > 0 {
		tell(i18n.RecoveredRestored)
		lines = slices.Insert(lines, 0, words.Say(i18n.RecoveredHead))
	}
	if len(one.closed) > len(one.returning) {
		lines = append(lines, words.Say(i18n.RecoveredFoot))
	}
	text := chat.Marked(strings.Join(lines, "\n"), newer, unreadable)
	windows := p.Windows.List(one.windows)
	options, lost := p.lostOptions(one)
	look := card.Look{To: one.to, Text: chat.Paragraphs(text, windows.Text)}
	look.Options = append(options, windows.Options...)
	return look, offered{Lost: lost, Windows: windows.Windows}
}

// lostOptions resume what went down with the machine or with tmux, unless it comes back by itself.
func (p *Reports) lostOptions(one *report) (options [][]card.Option, lost []uuid.UUID) {
	for _, r := range one.closed {
		if wentDown(r) && p.ResumeOnStart != ResumeNever && !slices.Contains(one.returning, r.ID) {
			lost = append(lost, r.ID)
		}
	}
	switch len(lost) {
	case 0:
		return nil, nil
	case 1:
		return chat.Rows(1, p.Chat.Option(i18n.ButtonResume, allOption, outbox.Primary)), lost
	}
	return chat.Rows(2, p.Chat.Option(i18n.ButtonResumeAll, allOption, outbox.Primary),
		p.Chat.Option(i18n.ButtonPick, pickOption, "")), lost
}
