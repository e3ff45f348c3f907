package report

import (
	"context"
	"errors"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/naming"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// report is the start report of one conversation.
type report struct {
	to      outbox.Conversation
	dir     string                // ccbot's own folder
	names   map[i18n.Key][]string // names of sessions, by sentence
	closed  []closed              // by the start, and not reported yet
	booted  time.Time             // when the machine booted after a reboot that ended sessions; zero if unknown
	windows []port.Window         // not reported yet
	posted  bool                  // its card is on disk
}

// closed is a session that a start closed, and its fate without a person's tap.
type closed struct {
	port.Session
	fate fate
}

type fate int

const (
	stays     fate = iota
	comesBack      // it is resumed
	goesOn         // it is resumed and continues its work
)

// ids returns the ids of the closed sessions for which fits returns true.
func (one *report) ids(fits func(c closed) bool) (ids []uuid.UUID) {
	for _, c := range one.closed {
		if fits(c) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

// sentences are the parts of a report, in order. Successful repairs follow them, and are not worth
// a message alone.
var sentences = []i18n.Key{i18n.RecoveredReboot, i18n.RecoveredTmux, i18n.RecoveredLost,
	i18n.RecoveredAbandoned, i18n.RecoveredFailed, i18n.RecoveredTrouble, i18n.RecoveredUnclear,
	i18n.RecoveredUnreadable, i18n.RecoveredMessages, i18n.RecoveredChat}

// collector groups the results of a start by conversation.
type collector struct {
	reports *Reports
	machine string // that has started; empty: the chat's own
	private []outbox.Conversation
	all     []*report
	news.Start
}

// reportOf returns the report of a conversation.
func (c *collector) reportOf(to outbox.Conversation) *report {
	i := slices.IndexFunc(c.all, func(one *report) bool { return one.to == to })
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &report{to: to, dir: c.Dir, booted: c.Booted, names: make(map[i18n.Key][]string)})
	}
	return c.all[i]
}

// add reports a session in its conversation, or in every private chat if no allowed person can see
// that conversation.
func (c *collector) add(r port.Session, word i18n.Key) (in []*report) {
	places := c.private
	if c.reports.Chat.Book.MayShow(r.Conversation) {
		places = []outbox.Conversation{r.Conversation}
	}
	for _, to := range places {
		one, name := c.reportOf(to), chat.ShownName(r.Name)
		if !slices.Contains(one.names[word], name) {
			one.names[word] = append(one.names[word], name)
		}
		in = append(in, one)
	}
	return in
}

// addClosed adds the sessions of the machine that its start closed. A session that is open again,
// or continues as another session, is only marked as reported.
func (c *collector) addClosed(ctx context.Context) error {
	known, err := c.reports.Chat.Book.Records.List()
	if !refusal.Lacks(err, "") { // only other machines are not reached yet: they recover by themselves
		err = nil
	}
	errs := []error{err}
	for _, r := range known {
		if r.Machine != c.machine {
			continue
		}
		if r.Unreported && !r.Resumable {
			errs = append(errs, c.reports.Reported(ctx, r.ID))
		}
		if !r.Unreported || !r.Resumable {
			continue
		}
		becomes, on := stays, c.reports.ResumeOnStart
		switch {
		case on != ResumeAll && on != ResumeContinue || r.Closed != port.ClosedReboot || !wentDown(r):
		case on == ResumeContinue && r.Interruption != nil && r.Interruption.Alone && c.reports.Chat.Book.MayAct(r.Owner, r.Conversation):
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

// causeOf returns the sentence for how a session was closed.
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

// wasCut reports whether the work of a session was interrupted, and does not continue.
func wasCut(c closed) bool { return c.fate != goesOn && c.Interruption != nil }

// addRepairs adds the repairs of sessions of the machine, and its sessions that are unclear.
func (c *collector) addRepairs() {
	book := c.reports.Chat.Book
	for _, done := range c.Repaired {
		r, known := book.Records.Get(done.Session)
		if !known {
			r = port.Session{Machine: c.machine, Name: naming.ShortID(done.Session)}
		}
		switch {
		case r.Machine != c.machine:
		case done.Failed:
			c.add(r, i18n.RecoveredTrouble)
		case r.State.Open():
			c.add(r, i18n.RecoveredRestored)
		}
	}
	for _, id := range c.Unclear {
		if r, ok := book.Records.Get(id); ok && r.Machine == c.machine {
			c.add(r, i18n.RecoveredUnclear)
		}
	}
}

// content returns the card.Content of a report and its payload. The text is blank if there is
// nothing to report.
func (p *Reports) content(one *report) (content card.Content, shown offered) {
	words := p.Chat.In(one.to)
	unreadable := render.Code(p.Chat.Short(path.Join(one.dir, "quarantine")))
	dirs := map[i18n.Key]render.Text{i18n.RecoveredUnreadable: unreadable,
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
			said = append(said, words.Text(i18n.RecoveredBooted, i18n.Args{"At": words.At(one.booted)}))
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
	content = card.Content{To: one.to, Sounds: p.Chat.Sounds(one.occasion(), port.Session{Conversation: one.to})}
	if p.ResumeOnStart != ResumeNever {
		shown.Lost = one.ids(func(c closed) bool { return c.fate == stays && wentDown(c.Session) })
		shown.Interrupted = one.ids(wasCut)
	}
	if row := options(words, shown); len(row) > 0 {
		content.Options, content.Hint = [][]card.Option{row}, rest
	} else {
		content.Rank = outbox.Talk
		lines = append(lines, rest)
	}
	if content.Text = chat.Paragraphs(chat.Lines(lines...), p.interruptions(words, one)); !content.Text.Blank() {
		content.Text = chat.Paragraphs(content.Text, p.loops(words, one.to))
	}
	return content, shown
}

// hint returns the next step for the sessions that stay closed.
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

// options returns the buttons that resume sessions lost with the machine or with tmux, and that
// continue interrupted work.
func options(words chat.Phrases, shown offered) (row []card.Option) {
	switch len(shown.Lost) {
	case 0:
	case 1:
		row = append(row, words.Option(i18n.ButtonResume, allOption, outbox.Primary))
	default:
		row = append(row, words.Option(i18n.ButtonResumeAll, allOption, outbox.Primary),
			words.Option(i18n.ButtonPick, pickOption, ""))
	}
	if len(shown.Interrupted) > 0 {
		row = append(row, words.Option(i18n.ButtonContinue, continueOption, ""))
	}
	return row
}

// occasion returns why the report may make a sound, or "" if it is silent.
func (one *report) occasion() chat.Occasion {
	switch {
	case slices.ContainsFunc(one.closed, wasCut):
		return chat.WorkInterrupted
	case slices.ContainsFunc(one.closed, func(c closed) bool { return c.Closed == port.ClosedTmux }):
		return chat.TmuxEnded
	}
	return ""
}

// interruptions lists the interrupted sessions, and those that continue by themselves.
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

// loops lists the live loops of a place.
func (p *Reports) loops(words chat.Phrases, to address.Conversation) render.Text {
	var lines []render.Text
	for _, r := range p.Chat.Book.Known() {
		if r.Loop != nil && r.Conversation == to {
			lines = append(lines, words.Text(i18n.Named, i18n.Args{"What": chat.BoldName(r), "Said": attention.Loop(words, r.Loop)}))
		}
	}
	if len(lines) == 0 {
		return render.Text{}
	}
	return words.Bullets(chat.MaxListed, lines)
}

// shownInterruptions bounds the parts of the lines of a report: three for each session.
const shownInterruptions = 3 * 10
