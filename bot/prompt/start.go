package prompt

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/offer"
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

// Review handles the prompts that were not typed when ccbot stopped. It bars the prompts of people
// who are no longer allowed, and asks those who are; prompts without a sender stay. It asks
// about the others if ccbot was away for longer than MaxAge; about accepted ones at their turn. It
// repeats missing questions. It must precede the hand-over of prompts to their sessions.
func (p *Prompts) Review(ctx context.Context, away time.Duration) error {
	defer p.reviewed.Store(true)
	if _, err := TellPlanners(ctx, p); err != nil && !errors.Is(err, inbox.ErrUnread) {
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
		IsLate: func(e inbox.Entry) bool { return isLate(p, e) || isUnauthorized(p, e) },
		Ask: func(ctx context.Context, e inbox.Entry) error {
			if isUnauthorized(p, e) {
				away, err := TellPlanners(ctx, p)
				return errors.Join(away, err)
			}
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

// askStale asks about a prompt that has waited while ccbot was away.
func (p *Prompts) askStale(ctx context.Context, e inbox.Entry, away time.Duration) error {
	waits := e.State == inbox.Held || e.State == inbox.Accepted || e.State == inbox.Barred
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
