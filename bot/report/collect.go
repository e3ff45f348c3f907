package report

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/naming"
)

// report is what one conversation is told of a start.
type report struct {
	to        address.Conversation
	names     map[i18n.Key][]string // of sessions, by the sentence that tells of them
	closed    []views.Session       // by the start, and not told yet
	returning []uuid.UUID           // the closed sessions that come back by themselves
	alone     []uuid.UUID           // those of them that go on with their work as well
	booted    time.Time             // when the machine was started that some went down with; zero: not known
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
			if !c.of.comesBack(r) {
				continue
			}
			one.returning = append(one.returning, r.ID)
			if c.of.ResumeOnStart == ResumeContinue && r.Interruption != nil && r.Interruption.Alone {
				one.alone = append(one.alone, r.ID)
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

// comesBack reports whether a session comes back without a person's word.
func (p *Reports) comesBack(r views.Session) bool {
	all := p.ResumeOnStart == ResumeAll || p.ResumeOnStart == ResumeContinue
	return all && r.Closed == views.ClosedReboot && wentDown(r)
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
			r = views.Session{Name: naming.ShortID(done.Session)}
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
func (p *Reports) look(one *report) (look card.Look, shown offered) {
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
		if word != i18n.RecoveredReboot || len(one.names[word]) == 0 {
			continue
		}
		last := &lines[len(lines)-1]
		if !one.booted.IsZero() {
			*last = p.Chat.Sentences(*last, words.Say(i18n.RecoveredBooted, i18n.Args{"Time": p.Chat.Moment(one.booted)}))
		}
		if n := len(one.returning); n > 0 {
			*last = p.Chat.Sentences(*last, words.Say(i18n.RecoveredComing, i18n.Args{"Count": n}))
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
	look = card.Look{To: one.to}
	look.Options, shown.Lost = p.lostOptions(one)
	shown.Cut = p.interrupted(one)
	if len(shown.Cut) > 0 {
		look.Options = p.withContinue(look.Options)
	}
	look.Text = chat.Paragraphs(text, p.interruptions(one, shown.Cut))
	return look, shown
}

// interrupted are the closed sessions that a tap has go on with their work.
func (p *Reports) interrupted(one *report) (cut []uuid.UUID) {
	for _, r := range one.closed {
		if r.Interruption != nil && p.ResumeOnStart != ResumeNever && !slices.Contains(one.alone, r.ID) {
			cut = append(cut, r.ID)
		}
	}
	return cut
}

// withContinue adds [Continue] to the row about lost sessions, or makes one.
func (p *Reports) withContinue(options [][]card.Option) [][]card.Option {
	goOn := p.Chat.Option(i18n.ButtonContinue, continueOption, "")
	if len(options) == 0 {
		return [][]card.Option{{goOn}}
	}
	options[0] = append(options[0], goOn)
	return options
}

// interruptions say whose work was cut short and how far it was, who goes on without a person's
// word, and what is sent for that.
func (p *Reports) interruptions(one *report, cut []uuid.UUID) render.Text {
	var lines []render.Text
	var alone []string
	for _, r := range one.closed {
		if slices.Contains(one.alone, r.ID) {
			alone = append(alone, chat.ShownName(r.Name))
		}
		if r.Interruption != nil && len(lines) < shownInterruptions {
			who := p.Chat.Words.Say(i18n.Named, i18n.Args{"What": chat.ShownName(r.Name), "Said": ""})
			lines = append(lines, render.Plain("• "+who), p.Chat.InterruptionText(r.Interruption), render.Plain("\n"))
		}
	}
	if len(alone) > 0 {
		names := p.Chat.Some(alone, p.Chat.Words.Say(i18n.JoinNames))
		lines = append(lines, render.Plain(p.Chat.Words.Say(i18n.RecoveredAlone, i18n.Args{"Names": names})+"\n"))
	}
	if len(alone)+len(cut) > 0 {
		lines = append(lines, p.Chat.ContinueText(p.ContinueText))
	}
	return render.Join(lines...)
}

// shownInterruptions bounds the parts of the lines of a report: three for each session.
const shownInterruptions = 3 * 10

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
