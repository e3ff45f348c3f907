package prompt

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/bot/textlist"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/refusal"
)

// barredKind is the kind of the cards about texts of people who are no longer allowed.
const barredKind = "text-barred"

// notAllowed is why a prompt is not typed, in the log.
const notAllowed = "the sender is no longer allowed"

// texts are the waiting texts of a person to a session.
type texts struct {
	Session uuid.UUID `json:"session"`
	By      int64     `json:"by,omitempty"`
}

func (t texts) String() string { return fmt.Sprintf("%s-%d", t.Session, t.By) }

// isUnauthorized reports whether a prompt waits and its person is unknown or no longer allowed. A
// prompt of a person at the desk names nobody; that of a schedule or a loop is taken back with the
// schedule or the loop, and that of a limit has its own card.
func isUnauthorized(p *Prompts, e inbox.Entry) bool {
	switch {
	case e.State != inbox.Barred && !e.State.Waits(), e.Cancelled, p.Planned(e.Key):
		return false
	case len(e.Update) == 0:
		return e.By != 0 && !p.book.MayAct(e.By, e.Conversation)
	}
	m := sentOn(e)
	return m == nil || !p.book.IsAuthorized(m.From.ID, m.Chat)
}

// textsOf returns whose waiting text an entry is, and for which session.
func textsOf(e inbox.Entry) texts {
	if m := sentOn(e); m != nil {
		return texts{e.Session, m.From.ID}
	}
	return texts{e.Session, e.By}
}

// TellPlanners takes the texts of people who are no longer allowed out of their queues, and asks about
// them in each private chat. What already waits for a person keeps its question. The texts of people
// who are allowed again go where they were. away is the error of machines that do not answer: it is
// called again when they do.
func TellPlanners(ctx context.Context, p *Prompts) (away, err error) {
	defer p.barred.Hold()()
	entries, unread := p.Entries.List()
	hangs := make(map[string]bool) // machines that have not answered this pass
	barred, all := 0, make(map[texts][]inbox.Entry)
	for _, e := range entries {
		var failed error
		left := isUnauthorized(p, e)
		r, _ := p.book.Records.Get(e.Session)
		switch {
		case hangs[r.Machine] && (e.State == inbox.Held && left || e.State == inbox.Barred && !left):
			failed = refusal.ErrUnreachable
		case left && e.State == inbox.Held:
			if failed = p.bar(ctx, e); failed == nil {
				barred++
			}
		case !left && e.State == inbox.Barred && p.reviewed.Load():
			failed = p.release(ctx, e)
		}
		switch {
		case refusal.Is(failed, refusal.Unreachable):
			away, hangs[r.Machine] = errors.Join(away, failed), true
		case chat.IsGone(failed):
		default:
			err = errors.Join(err, failed)
			if left {
				all[textsOf(e)] = append(all[textsOf(e)], e)
			}
		}
	}
	if barred > 0 {
		p.Chat.Log.Warn("not_typed", logkey.Prompts, barred, logkey.Why, notAllowed)
	}
	err = errors.Join(err, unread)
	for of, entries := range all {
		err = errors.Join(err, p.askBarred(ctx, of, entries))
	}
	if unread == nil {
		err = errors.Join(err, p.barred.CloseUnless(ctx, func(of texts) bool { return all[of] != nil }))
	}
	return away, err
}

// bar takes a prompt out of its queue until its person is allowed again or another takes it over.
func (p *Prompts) bar(ctx context.Context, e inbox.Entry) error {
	err := p.Entries.Change(e.Key, func(now *inbox.Entry) error {
		switch now.State {
		case inbox.Held:
		case inbox.Barred:
			return inbox.ErrUnchanged
		default: // it is being typed
			return inbox.ErrNoEntry
		}
		now.State, now.Reported, now.Typing = inbox.Barred, nil, nil
		return nil
	})
	if err != nil {
		return err
	}
	r, _ := p.book.Records.Get(e.Session)
	words := p.Chat.In(e.Conversation)
	return p.close(ctx, e.Key, words.Text(i18n.LimitNotSent, i18n.Args{"Name": r.Name, "Reason": words.Say(i18n.PersonLeft)}))
}

// release sends a barred prompt whose person is allowed again. It asks if the session has ended, or
// the prompt has waited for too long.
func (p *Prompts) release(ctx context.Context, e inbox.Entry) error {
	r, known := p.book.Records.Get(e.Session)
	switch {
	case !known:
		return Offer(ctx, p, []string{e.Key})
	case r.State == port.StateUnknown:
		return refusal.ErrUnreachable
	case !r.State.Live():
		e.State = inbox.Asked
		return p.wait(ctx, facts{Reason: reasonLeft(e, r, true)}, e, r)
	case e.Stale, p.HoldFor > 0 && p.Entries.Age(e) > p.HoldFor:
		return p.wait(ctx, facts{Reason: old}, e, r)
	}
	return p.decide(ctx, send, e, r, facts{}, 0)
}

// askBarred asks about the barred texts of a person to a session.
func (p *Prompts) askBarred(ctx context.Context, of texts, entries []inbox.Entry) error {
	r, known := p.book.Records.Get(of.Session)
	if !known || r.State == port.StateUnknown {
		return nil
	}
	return p.barred.Ask(ctx, of, r, func(w chat.Phrases) render.Text {
		said := w.Text(i18n.TextsBarred, i18n.Args{"Count": len(entries), "Name": r.Name})
		var who render.Text
		if name := chat.PersonName(p.book.NameOf(of.By)); name != "" {
			who = w.Text(i18n.ByPerson, i18n.Args{"Person": name})
		}
		shown := textlist.Lines(w, entries)
		if len(entries) == 1 {
			shown = chat.Quoted(entries[0].Text)
		}
		return chat.Lines(said, who, shown)
	})
}

// actOnBarred makes the barred texts of somebody to a session a person's, or removes them.
func (p *Prompts) actOnBarred(ctx context.Context, of texts, r port.Session, by int64) error {
	entries, err := p.Entries.List()
	for _, e := range entries {
		switch {
		case err != nil && !chat.IsGone(err):
			return err
		case textsOf(e) != of || !isUnauthorized(p, e) || e.State == inbox.Held:
		case by != 0:
			err = p.takeOver(ctx, e, r, by)
		default:
			err = p.finish(ctx, e)
		}
	}
	return err
}

// takeOver sends a text of somebody who is no longer allowed as a text of another person. If that fails, it is still the first one's.
func (p *Prompts) takeOver(ctx context.Context, e inbox.Entry, r port.Session, by int64) (err error) {
	was := e
	defer func() {
		if err != nil && !chat.IsGone(err) {
			err = errors.Join(err, p.Entries.Change(was.Key, func(now *inbox.Entry) error {
				if now.State != inbox.Barred {
					return inbox.ErrUnchanged
				}
				*now = was
				return nil
			}))
		}
	}()
	err = p.Entries.Change(e.Key, func(now *inbox.Entry) error {
		if now.State != e.State {
			return inbox.ErrNoEntry
		}
		if now.By, now.Update, now.Rest, now.Speaker = by, nil, nil, ""; !p.book.MayShow(now.Conversation) {
			now.Conversation, now.MessageID = address.Conversation{ChatID: by}, 0
		}
		return nil
	})
	if err != nil {
		return err
	}
	if e, err = p.Entries.Load(e.Key); err != nil {
		return err
	}
	if err := p.close(ctx, e.Key, p.Chat.In(e.Conversation).Text(i18n.SentAgain, i18n.Args{"Name": r.Name})); err != nil {
		return err
	}
	e.Stale = false // a person wants it now
	if e.State = inbox.Asked; !r.State.Live() {
		return p.wait(ctx, facts{Reason: reasonLeft(e, r, true)}, e, r)
	}
	return p.decide(ctx, send, e, r, facts{}, by)
}
