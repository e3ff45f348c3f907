package prompt

import (
	"context"
	"log/slog"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// MaxAge is the age at which a message is not acted on unasked any more: so long after it was sent
// ccbot first read it, or so long ccbot was away while it was not typed. What waits for a turn to
// end is never old.
const MaxAge = 15 * time.Minute

// aged reports whether a person is to be asked before a message is acted on. A clock that was wrong
// makes nothing old: what was sent later than it came is fresh.
func aged(e inbox.Entry) bool { return e.Aged || e.Received.Sub(sentOf(e)) > MaxAge }

// sentOf is when a message was sent, or else when it was first seen.
func sentOf(e inbox.Entry) time.Time {
	if e.Sent.IsZero() {
		return e.Received
	}
	return e.Sent
}

// TooLate says under a command that means the turn that runs that it is too old for that.
func (p *Prompts) TooLate(ctx context.Context, in chat.Incoming, command string) (told bool, err error) {
	e, err := p.Entries.Load(in.Key)
	if err != nil {
		return false, err
	}
	e.Sent = sentAt(in)
	if !aged(e) && time.Since(e.Received) <= MaxAge { // by the clock of the inbox, where it may have waited
		return false, nil
	}
	said := i18n.Args{"Command": command, "Time": p.Chat.Moment(sentOf(e))}
	text := render.Plain(p.words.Say(i18n.AgedCommand, said))
	return true, p.Chat.Fail(ctx, in.To, in.MessageID, text, nil)
}

// AskAged asks about the prompts that were not typed yet when ccbot was away for longer than
// MaxAge. It belongs before the prompts are handed to their sessions. What only was to be handled
// is asked about when its turn comes.
func (p *Prompts) AskAged(ctx context.Context, away time.Duration) error {
	entries, err := p.Entries.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		waits := e.State == inbox.Held || e.State == inbox.Accepted
		if waits && away > MaxAge && !e.Aged { // also where a person has said yes before that
			e.Aged = true
			if err := p.save(e); err != nil {
				return err
			}
		}
		r, known := p.book.Records.Get(e.Session)
		if e.State != inbox.Held || !e.Aged || !known || !p.book.MayShow(e.Conversation) {
			continue // or the session is unknown, or nobody may be asked
		}
		why := old
		if r = p.book.Successor(r); r.Resumable {
			why = over
		}
		if err := p.wait(ctx, why, e, r); err != nil {
			return err
		}
	}
	return nil
}

// EndUnheard ends the prompts that are not typed yet and whose sender may not speak any more: who
// was taken off the list while they waited. It tells nobody, and the log once. It belongs before
// any prompt is asked about or handed to its session. What may be typed already stays, and so do
// prompts that no person has sent.
func (p *Prompts) EndUnheard(ctx context.Context) error {
	entries, err := p.Entries.List()
	if err != nil {
		return err
	}
	ended := 0
	for _, e := range entries {
		m, err := messageOf(e) // of an error it is unknown who has sent it
		if !e.State.Waits() || len(e.Update) == 0 || err == nil && p.book.Hears(m.From.ID, m.Chat) {
			continue
		}
		if err := p.finish(ctx, e.Key); err != nil {
			return err // else it would be typed
		}
		ended++
	}
	if ended > 0 {
		p.Chat.Log.LogAttrs(ctx, slog.LevelWarn, "not_typed", slog.Int("prompts", ended),
			slog.String("why", "who sent them is not allowed any more"))
	}
	return nil
}
