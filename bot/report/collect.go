package report

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/naming"
	"ccbot/port"
	"ccbot/port/news"
)

// report is what one conversation is told of a start.
type report struct {
	to      outbox.Conversation
	names   map[i18n.Key][]string // of sessions, by the sentence that tells of them
	closed  []closed              // by the start, and not told yet
	booted  time.Time             // when the machine was started that some went down with; zero: not known
	windows []port.Window         // of which nobody was told yet
}

// closed is a session that a start closed, and what becomes of it without a person's word.
type closed struct {
	port.Session
	fate fate
}

type fate int

const (
	stays     fate = iota
	comesBack      // it is resumed
	goesOn         // and goes on with its work
)

// ids are those of the closed sessions that fit.
func (one *report) ids(fits func(c closed) bool) (ids []uuid.UUID) {
	for _, c := range one.closed {
		if fits(c) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// sentences are what is told, in this order. After them comes what went well, which is not worth a
// message of its own.
var sentences = []i18n.Key{i18n.RecoveredReboot, i18n.RecoveredTmux, i18n.RecoveredLost,
	i18n.RecoveredAbandoned, i18n.RecoveredFailed, i18n.RecoveredTrouble, i18n.RecoveredUnclear,
	i18n.RecoveredNewer, i18n.RecoveredUnreadable, i18n.RecoveredMessages, i18n.RecoveredChat}

// collector sorts what a start found and did by who is told of it.
type collector struct {
	of      *Reports
	private []outbox.Conversation
	booted  time.Time
	all     []*report
}

// at is the report of a conversation.
func (c *collector) at(to outbox.Conversation) *report {
	i := slices.IndexFunc(c.all, func(one *report) bool { return one.to == to })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &report{to: to, booted: c.booted, names: make(map[i18n.Key][]string)})
	}
	return c.all[i]
}

// add tells of a session in its conversation; where no allowed person sees that, in every private
// chat.
func (c *collector) add(r port.Session, word i18n.Key) (in []*report) {
	places := c.private
	if c.of.Chat.Book.MayShow(r.Conversation) {
		places = []outbox.Conversation{r.Conversation}
	}
	for _, to := range places {
		one, name := c.at(to), chat.ShownName(r.Name)
		if !slices.Contains(one.names[word], name) {
			one.names[word] = append(one.names[word], name)
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
		becomes, on := stays, c.of.ResumeOnStart
		switch {
		case on != ResumeAll && on != ResumeContinue || r.Closed != port.ClosedReboot || !wentDown(r):
		case on == ResumeContinue && r.Interruption != nil && r.Interruption.Alone:
			becomes = goesOn
		default:
			becomes = comesBack
		}
		for _, one := range c.add(r, causeOf(r)) {
			one.closed = append(one.closed, closed{r, becomes})
		}
	}
	return errors.Join(errs...)
}

// causeOf says how a session was closed.
func causeOf(r port.Session) i18n.Key {
	switch {
	case r.State == port.StateAbandoned:
		return i18n.RecoveredAbandoned
	case r.Closed == port.ClosedReboot:
		return i18n.RecoveredReboot
	case r.Closed == port.ClosedTmux:
		return i18n.RecoveredTmux
	case r.State == port.StateFailed:
		return i18n.RecoveredFailed
	}
	return i18n.RecoveredLost
}

// wentDown reports whether a session was lost with the machine or with tmux, and is not back.
func wentDown(r port.Session) bool {
	down := r.Closed == port.ClosedReboot || r.Closed == port.ClosedTmux
	return down && (r.State == port.StateLost || r.State == port.StateFailed)
}

// wasCut reports whether the work of a session was cut short, and does not continue.
func wasCut(c closed) bool { return c.fate != goesOn && c.Interruption != nil }

// addRepairs adds what was done about sessions, and what nothing could be done about.
func (c *collector) addRepairs(rep news.Start) {
	book := c.of.Chat.Book
	for _, done := range rep.Repaired {
		r, known := book.Records.Get(done.Session)
		if !known {
			r = port.Session{Name: naming.ShortID(done.Session)}
		}
		switch {
		case done.Failed:
			c.add(r, i18n.RecoveredTrouble)
		case r.Open:
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
func (p *Reports) look(one *report) (look card.Look, shown offered) {
	words := p.Chat.In(one.to)
	newer := render.Code(p.Chat.Short(path.Join(p.StateDir, "sessions")))
	unreadable := render.Code(p.Chat.Short(path.Join(p.StateDir, "quarantine")))
	dirs := map[i18n.Key]render.Text{i18n.RecoveredNewer: newer, i18n.RecoveredUnreadable: unreadable,
		i18n.RecoveredMessages: unreadable, i18n.RecoveredChat: unreadable}
	back := len(one.ids(func(c closed) bool { return c.fate != stays }))
	var lines []render.Text
	tell := func(word i18n.Key) {
		names := one.names[word]
		if len(names) == 0 {
			return
		}
		list := words.Some(names, words.Say(i18n.JoinNames))
		said := []render.Text{words.Text(word, i18n.Args{"Count": len(names), "Names": list, "Dir": dirs[word]})}
		if word == i18n.RecoveredReboot && !one.booted.IsZero() {
			said = append(said, words.Text(i18n.RecoveredBooted, i18n.Args{"Time": p.Chat.Moment(one.booted)}))
		}
		if word == i18n.RecoveredReboot && back > 0 {
			said = append(said, words.Text(i18n.RecoveredComing, i18n.Args{"Count": back}))
		}
		lines = append(lines, render.Join(render.Plain("• "), words.Sentences(said...)))
	}
	for _, word := range sentences {
		tell(word)
	}
	if len(lines) > 0 {
		tell(i18n.RecoveredRestored)
		lines = slices.Insert(lines, 0, words.Text(i18n.RecoveredHead))
	}
	var rest render.Text
	if shown.Stays = one.ids(func(c closed) bool { return c.fate == stays }); len(shown.Stays) > 0 {
		rest = p.hint(words, shown)
	}
	look = card.Look{To: one.to, Sounds: p.Chat.Sounds(one.occasion(), port.Session{Conversation: one.to})}
	if p.ResumeOnStart != ResumeNever {
		shown.Lost = one.ids(func(c closed) bool { return c.fate == stays && wentDown(c.Session) })
		shown.Cut = one.ids(wasCut)
	}
	if row := options(words, shown); len(row) > 0 {
		look.Options, look.Hint = [][]card.Option{row}, rest
	} else {
		lines = append(lines, rest)
	}
	look.Text = chat.Paragraphs(chat.Lines(lines...), p.interruptions(words, one))
	return look, shown
}

// hint returns what is to be done about the sessions that stay closed, as long as they do.
func (p *Reports) hint(words chat.Phrases, shown offered) render.Text {
	var lines []render.Text
	waiting := 0
	for _, id := range shown.Stays {
		r, _ := p.Chat.Book.Records.Get(id)
		waiting += len(r.Prompts)
	}
	if waiting > 0 {
		lines = append(lines, words.Text(i18n.ReceiptWaiting, i18n.Args{"Count": waiting}))
	}
	return chat.Lines(append(lines, words.Text(i18n.RecoveredFoot))...)
}

// options resume what went down with the machine or with tmux, and have those go on whose work was
// cut short.
func options(words chat.Phrases, shown offered) (row []card.Option) {
	switch len(shown.Lost) {
	case 0:
	case 1:
		row = append(row, words.Option(i18n.ButtonResume, allOption, outbox.Primary))
	default:
		row = append(row, words.Option(i18n.ButtonResumeAll, allOption, outbox.Primary),
			words.Option(i18n.ButtonPick, pickOption, ""))
	}
	if len(shown.Cut) > 0 {
		row = append(row, words.Option(i18n.ButtonContinue, continueOption, ""))
	}
	return row
}

// occasion returns why the report may make a sound; empty: it makes none.
func (one *report) occasion() chat.Occasion {
	switch {
	case slices.ContainsFunc(one.closed, wasCut):
		return chat.WorkInterrupted
	case slices.ContainsFunc(one.closed, func(c closed) bool { return c.Closed == port.ClosedTmux }):
		return chat.TmuxEnded
	}
	return ""
}

// interruptions say whose work was cut short, and who goes on without a person's word.
func (p *Reports) interruptions(words chat.Phrases, one *report) render.Text {
	var lines []render.Text
	var alone []string
	for _, r := range one.closed {
		if r.fate == goesOn {
			alone = append(alone, chat.ShownName(r.Name))
		}
		if r.Interruption != nil && len(lines) < shownInterruptions {
			who := words.Text(i18n.Named, i18n.Args{"What": render.Bold(chat.ShownName(r.Name)), "Said": ""})
			lines = append(lines, render.Plain("• "), who, words.InterruptionText(r.Interruption), render.Plain("\n"))
		}
	}
	if len(alone) > 0 {
		names := words.Some(alone, words.Say(i18n.JoinNames))
		lines = append(lines, words.Text(i18n.RecoveredAlone, i18n.Args{"Names": names}), render.Plain("\n"))
	}
	return render.Join(lines...)
}

// shownInterruptions bounds the parts of the lines of a report: three for each session.
const shownInterruptions = 3 * 10
