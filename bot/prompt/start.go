package prompt

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/offer"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// MaxAge is the age at which a message needs confirmation: it was read late, or waited while ccbot
// was away. A prompt that waits for the end of a turn is never old.
const MaxAge = 15 * time.Minute

// isStale reports whether a message needs confirmation.
func isStale(e inbox.Entry) bool { return e.Stale || e.Lateness() > MaxAge }

// isLate reports whether a message is so old that it needs confirmation.
func isLate(p *Prompts, e inbox.Entry) bool {
	return isStale(e) || max(e.Lateness(), 0)+p.Entries.Age(e) > MaxAge
}

// sentOf returns when a message was sent, or first seen if that is unknown.
func sentOf(e inbox.Entry) time.Time {
	if e.Sent.Unix() <= 0 {
		return e.Received
	}
	return e.Sent
}

// TooLate rejects an expired command that targets the running turn.
func (p *Prompts) TooLate(ctx context.Context, in chat.Incoming, command string) (bool, error) {
	e, err := p.Entries.Load(in.Key)
	if err != nil {
		return false, err
	}
	e.Sent = in.Sent
	if !isLate(p, e) { // it may have waited in the inbox
		return false, nil
	}
	w := p.Chat.In(in.To)
	text := render.Plain(w.Say(i18n.AgedCommand, i18n.Args{"Command": command, "Time": w.Moment(sentOf(e))}))
	return true, p.Chat.Fail(ctx, in.To, in.MessageID, text, nil)
}

// Review handles the prompts that were not typed when ccbot stopped. It ends the prompts of people
// who are no longer allowed, and tells those who are; prompts without a sender stay. It asks
// about the others if ccbot was away for longer than MaxAge; about accepted ones at their turn. It
// repeats missing questions. It must precede the hand-over of prompts to their sessions.
func (p *Prompts) Review(ctx context.Context, away time.Duration) error {
	defer p.reviewed.Store(true)
	if _, err := DropUnauthorized(ctx, p); err != nil && !errors.Is(err, inbox.ErrUnread) {
		return err // otherwise they would be typed; machines that do not answer yet are told later
	}
	entries, err := p.Entries.List()
	if err != nil && !errors.Is(err, inbox.ErrUnread) { // a file that can never be read must not prevent each start
		return err
	}
	for _, e := range entries {
		if err := errors.Join(p.askStale(ctx, e, away), askLeft(ctx, p, e)); err != nil {
			return err // otherwise it would be typed, or wait for ever
		}
	}
	return nil
}

// Progress applies what an engine reports about a prompt, and asks about a prompt that the engine
// no longer has. The review asks about all of them.
func Progress(ctx context.Context, p *Prompts, n news.Progress) error {
	asks, err := p.Queue.Progress(ctx, n)
	if err != nil || !asks || !p.reviewed.Load() {
		return err
	}
	e, err := p.Entries.Load(n.Key)
	if chat.IsGone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	return askLeft(ctx, p, e)
}

// offerAgain repeats offers until ctx ends.
func offerAgain(ctx context.Context, p *Prompts) error {
	people := offer.People{
		IsLate: func(e inbox.Entry) bool { return isLate(p, e) },
		Ask: func(ctx context.Context, e inbox.Entry) error {
			r, _ := p.book.Records.Get(e.Session)
			return p.wait(ctx, facts{Reason: old}, e, r)
		},
		Tell: func(ctx context.Context, e inbox.Entry, failed error) error {
			if _, told := p.cards.Get(e.Key); told || e.Cancelled || !p.book.MayShow(e.Conversation) {
				return nil
			}
			r, _ := p.book.Records.Get(e.Session)
			why := away
			if refusal.Is(failed, refusal.Internal) {
				why = unable
			}
			return p.ask(ctx, facts{Reason: why}, e, r)
		},
	}
	return p.Queue.Again(ctx, people, func(err error) {
		p.Chat.Log.Error("prompts_not_offered", logkey.Error, err)
	})
}

// awayText is the sentence about a machine that does not answer; if its id is not known, about all
// of them.
func awayText(p chat.Phrases, id string) string {
	var all []string
	for _, m := range p.Machines.Others() {
		if m.ID == id || id == "" && m.Away {
			all = append(all, p.AwayText(m))
		}
	}
	return strings.Join(all, " ")
}

// askLeft asks about a prompt without its question: a kill came between the two writes, or the file
// of the question is damaged.
func askLeft(ctx context.Context, p *Prompts, e inbox.Entry) error {
	r, known := p.book.Records.Get(e.Session)
	why := reasonLeft(e, r, known)
	if _, asks := p.cards.Get(e.Key); why == "" || asks || p.Texts.Asks(e.Key) || p.Planned(e.Key) || !p.book.MayShow(e.Conversation) {
		return nil
	}
	if e.State == inbox.Asked && (known || e.Session == uuid.Nil) {
		if is, err := joins(ctx, p, e); is {
			return err
		}
	}
	if why := lacking(p); !known && e.Session == uuid.Nil && (why == nobody || e.ThreadID != 0) {
		return p.ask(ctx, facts{Reason: why}, e, port.Session{})
	}
	if !known {
		return Offer(ctx, p, []string{e.Key})
	}
	return p.ask(ctx, facts{Reason: why}, e, r)
}

// reasonLeft returns the reason to ask about a prompt without a question; empty if it awaits no
// answer, or its session's queue is settled later.
func reasonLeft(e inbox.Entry, r port.Session, known bool) reason {
	switch {
	case e.State == inbox.Unproven && known:
		return unproven
	case e.State != inbox.Asked:
		return ""
	case !known:
		return homeless
	case e.Aside != nil: // its list asks, see textlist
		return ""
	case !r.State.Live() && !r.Resumable:
		return gone
	case !r.State.Live():
		return over
	case e.Spoken != "":
		return spoken
	}
	return left
}

// notAllowed is why a prompt is not typed, in the log.
const notAllowed = "the sender is no longer allowed"

// DropUnauthorized ends the waiting prompts of people who are no longer allowed, and tells those who are. away is the error of
// machines that do not answer: it is called again when they do.
func DropUnauthorized(ctx context.Context, p *Prompts) (away, err error) {
	entries, unread := p.Entries.List()
	ended := 0
	for _, e := range entries {
		if !isUnauthorized(p, e) {
			continue
		}
		failed := drop(ctx, p, e)
		switch {
		case refusal.Is(failed, refusal.Unreachable):
			away = errors.Join(away, failed)
		case !chat.IsGone(failed):
			ended++
			err = errors.Join(err, failed)
		}
	}
	if ended > 0 {
		p.Chat.Log.Warn("not_typed", logkey.Prompts, ended, logkey.Why, notAllowed)
	}
	return away, cmp.Or(err, unread)
}

// drop ends a prompt of a person who is no longer allowed. It is told before its end, so that a kill in between tells twice rather than
// not at all; but what another machine has is told when that has given it up: until then the machine may type it.
func drop(ctx context.Context, p *Prompts, e inbox.Entry) error {
	r, known := p.book.Records.Get(e.Session)
	if e.Machine != "" && !e.Owned && e.State == inbox.Held { // also when its machine answers again
		return errors.Join(tellDropped(ctx, p, e, r), p.Queue.Cancel(ctx, e.Session, e.Key))
	}
	if known && r.Machine == "" && r.State != port.StateUnknown {
		return errors.Join(tellDropped(ctx, p, e, r), end(ctx, p, e))
	}
	if err := end(ctx, p, e); err != nil {
		return err
	}
	return tellDropped(ctx, p, e, r)
}

// tellDropped reports that a text is not sent to its session, where allowed people see it. A chat that does not show the text gets it.
func tellDropped(ctx context.Context, p *Prompts, e inbox.Entry, r port.Session) error {
	if e.Session == uuid.Nil { // nobody waits for what went to no session
		return nil
	}
	name := r.Name
	if m, found := p.Chat.Machines.Find(e.Machine); found && name == "" { // which has not told of its sessions since the start
		name = m.Name
	}
	why := func(to outbox.Conversation) render.Text {
		words := p.Chat.In(to)
		return words.Text(i18n.LimitNotSent, i18n.Args{"Name": name, "Reason": words.Say(i18n.PersonLeft)})
	}
	if _, asked := p.cards.Get(e.Key); asked {
		if err := p.close(ctx, e.Key, why(e.Conversation)); err != nil || p.book.MayShow(e.Conversation) {
			return err
		}
	}
	var errs []error
	for _, to := range p.book.Seen(e.Conversation) {
		told := card.Content{To: to, Session: e.Session, ReplyTo: e.MessageID, Text: why(to)}
		if to != e.Conversation {
			told.ReplyTo, told.Text = 0, chat.Lines(told.Text, chat.Quoted(e.Text))
		}
		errs = append(errs, p.Chat.Post(ctx, told))
	}
	return errors.Join(errs...)
}

// end takes a waiting prompt out of its queue, if it is in one, and finishes it. chat.IsGone of the
// error: it no longer waits.
func end(ctx context.Context, p *Prompts, e inbox.Entry) error {
	withdrawn := p.Queue.Withdraw(ctx, e.Session, e.Key)
	if withdrawn != nil && !chat.IsGone(withdrawn) {
		return withdrawn
	}
	err := p.finish(ctx, e)
	if withdrawn == nil && chat.IsGone(err) { // which has finished it
		return nil
	}
	return err
}

// isUnauthorized reports whether a prompt waits and its person is unknown or no longer allowed. A
// prompt of a person at the desk names nobody; that of a schedule or a loop is taken back with the
// schedule or the loop.
func isUnauthorized(p *Prompts, e inbox.Entry) bool {
	switch {
	case !e.State.Waits() || e.Cancelled:
		return false
	case len(e.Update) == 0:
		return e.By != 0 && !p.book.MayAct(e.By, e.Conversation)
	}
	m := sentOn(e)
	return m == nil || !p.book.IsAuthorized(m.From.ID, m.Chat)
}

// askStale asks about a prompt that has waited while ccbot was away.
func (p *Prompts) askStale(ctx context.Context, e inbox.Entry, away time.Duration) error {
	waits := e.State == inbox.Held || e.State == inbox.Accepted
	if waits && away > MaxAge && !e.Stale { // also where a person has said yes before that
		e.Stale = true
		if err := p.save(e); err != nil {
			return err
		}
	}
	r, known := p.book.Records.Get(e.Session)
	if e.State == inbox.Held && !e.Stale { // its reaction was lost if the network was away when ccbot stopped
		p.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionStored)
	}
	if e.State != inbox.Held || !e.Stale || !known || !p.book.MayShow(e.Conversation) {
		return nil // or the session is unknown, or there is no person to ask
	}
	if r.Resumable {
		return p.wait(ctx, facts{Reason: over}, e, r)
	}
	return p.wait(ctx, facts{Reason: old}, e, r)
}
