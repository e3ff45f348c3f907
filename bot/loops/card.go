package loops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/folders"
)

type place = address.Conversation

// The options of a card, a report and a page.
const (
	pauseOption   = "pause"
	goOnOption    = "go-on"
	stopOption    = "stop"
	changesOption = "changes"
	turnsOption   = "turns" // five more
	moreOption    = "more"  // of the bound that has ended the loop
)

// moreTurns is the number of turns that one tap adds.
const moreTurns = 5

// show stores the card of a loop, and sends or edits it. It runs nothing that waits.
func (l *Loops) show(ctx context.Context, r port.Session, of port.Loop) error {
	l.drawing.Lock()
	defer l.drawing.Unlock()
	if !l.Chat.Book.MayShow(r.Conversation) {
		return nil
	}
	if of.State == port.LoopRunning {
		if err := l.closeEnded(ctx, of); err != nil {
			return err
		}
	}
	return l.put(ctx, r, of, func(*shown) {})
}

// closeEnded closes the cards of a session's earlier loops.
func (l *Loops) closeEnded(ctx context.Context, of port.Loop) (err error) {
	for _, c := range l.cards.List() {
		if c.Content.Session == of.Session && c.Payload.Loop != of.ID {
			err = errors.Join(err, l.cards.Close(ctx, c.Key, render.Text{}))
		}
	}
	return err
}

// put shows the card of a loop with a changed payload. The caller holds l.drawing.
func (l *Loops) put(ctx context.Context, r port.Session, of port.Loop, change func(*shown)) error {
	key := of.ID.String()
	c, open := l.cards.Get(key)
	p := c.Payload
	change(&p)
	look := card.Content{To: r.Conversation, Session: r.ID, RenewOnce: of.State.Live(), Means: key}
	if open {
		look.To, look.Rank = c.Content.To, outbox.Card
		if p.State != of.State {
			look.Rank = outbox.Turning
		}
	}
	w := words{l.Chat.In(look.To)}
	look.Text, look.Options = w.card(r, of, p), w.options(of)
	p.Loop, p.State, l.drawn[of.ID] = of.ID, of.State, l.Chat.Now()
	return l.cards.Show(ctx, key, look, p)
}

// draw draws the card of a loop again if the loop has changed; if people have deleted it, it stays
// so. It returns when to draw it again, zero for not before the next change.
func (l *Loops) draw(ctx context.Context, r port.Session, of port.Loop) (again time.Duration, err error) {
	if err := l.closeNotes(ctx, of); err != nil {
		return 0, err
	}
	c, open := l.cards.Get(of.ID.String())
	if !open {
		return 0, nil
	}
	l.drawing.Lock()
	wait := outbox.CardsEach - l.Chat.Now().Sub(l.drawn[of.ID])
	l.drawing.Unlock()
	if wait > 0 && c.Payload.State == of.State && c.Payload.Step != "" {
		return wait, nil
	}
	step := fmt.Sprintf("%s %d %s %s", of.State, of.Iteration, of.Step, of.Phase)
	count := func(*shown) {}
	if c.Payload.Step != step {
		count = l.counted(ctx, of, step)
	}
	work, err := l.Brief(ctx, of.Session)
	if err != nil {
		return 0, err
	}
	l.drawing.Lock()
	defer l.drawing.Unlock()
	now, known, err := l.find(ctx, of.ID)
	if _, open := l.cards.Get(of.ID.String()); !open || !known {
		return 0, err
	}
	err = l.put(ctx, r, now, func(p *shown) {
		count(p)
		p.Tasks, p.Done = len(work.Tasks), 0
		for _, t := range work.Tasks {
			if t.Status == "completed" {
				p.Done++
			}
		}
	})
	if err != nil {
		return 0, err
	}
	if of.State.Moves() {
		return outbox.CardsEach, nil // the use grows during a turn
	}
	return 0, nil
}

// changesTimeout limits one reading of the work tree.
const changesTimeout = 10 * time.Second

// counted counts the changes since the loop began.
func (l *Loops) counted(ctx context.Context, of port.Loop, step string) func(*shown) {
	ctx, cancel := context.WithTimeout(ctx, changesTimeout)
	defer cancel()
	var sum *changed
	if since := folders.Since(of.Baseline); since != "" {
		if all, err := l.Diffs.Changes(ctx, of.Session, since); err == nil && all.Of == since {
			sum = &changed{}
			sum.Files, sum.Added, sum.Deleted = all.Sum()
		}
	}
	return func(p *shown) { p.Step, p.Changed = step, sum }
}

// report posts a message about an end, or a pause that no person has asked for. Again it is the
// same message.
func (l *Loops) report(ctx context.Context, r port.Session, of port.Loop) error {
	if of.State == port.LoopRunning || of.Reason == port.WhyPerson {
		return nil
	}
	var errs []error
	for _, to := range l.Chat.Book.Seen(r.Conversation) {
		errs = append(errs, l.reportIn(ctx, to, r, of))
	}
	return errors.Join(errs...)
}

func (l *Loops) reportIn(ctx context.Context, to place, r port.Session, of port.Loop) error {
	w := words{l.Chat.In(to)}
	look := card.Content{To: to, Session: r.ID, Text: w.report(r, of), Options: w.options(of), Means: of.ID.String(),
		Sounds: sounds(of) && l.Chat.Sounds(chat.LoopWaits, r)}
	if !of.State.Live() && of.State != port.LoopExhausted { // it waits for nobody
		look.Rank = outbox.Talk
	}
	if c, open := l.cards.Get(of.ID.String()); open && c.Content.To == look.To {
		look.ReplyTo = c.Message
	}
	key := noteKey(of)
	if to != r.Conversation {
		key = fmt.Sprintf("%s-%d", key, to.ChatID)
	}
	return l.notes.Show(ctx, key, look, note{of.ID, of.State})
}

// noteKey names the report of one pause or end.
func noteKey(of port.Loop) string {
	return fmt.Sprintf("%s-%s-%d-%d-%d", of.ID, of.State, of.Iteration, of.Attempt, of.Used.Turns)
}

// sounds reports whether a pause or an end may sound. It may not if a person has caused it, or if
// another message has reported the reason.
func sounds(of port.Loop) bool {
	switch of.Reason {
	case port.WhyPersonActed, port.WhyInterrupted, port.WhyDialog, port.WhyAPIError:
		return false
	}
	return true
}

// closeNotes closes the reports of a loop that is no longer in their state.
func (l *Loops) closeNotes(ctx context.Context, of port.Loop) (err error) {
	for _, c := range l.notes.List() {
		if c.Payload.Loop == of.ID && c.Payload.State != of.State {
			err = errors.Join(err, l.notes.Close(ctx, c.Key, render.Text{}))
		}
	}
	return err
}

// closeRemoved closes the cards and reports of loops that were removed.
func (l *Loops) closeRemoved(ctx context.Context, all []port.Loop) (err error) {
	gone := func(id uuid.UUID) bool {
		return !slices.ContainsFunc(all, func(l port.Loop) bool { return l.ID == id })
	}
	for _, c := range l.cards.List() {
		if gone(c.Payload.Loop) {
			last := render.Text{}
			if c.Payload.State.Live() {
				last = render.Plain(l.Chat.In(c.Content.To).Say(i18n.LoopGone))
			}
			err = errors.Join(err, l.cards.Close(ctx, c.Key, last))
		}
	}
	for _, c := range l.notes.List() {
		if gone(c.Payload.Loop) {
			err = errors.Join(err, l.notes.Close(ctx, c.Key, render.Text{}))
		}
	}
	return err
}

// act carries out an option of a loop.
func (l *Loops) act(ctx context.Context, to place, by int64, id uuid.UUID, option string) chat.Answer {
	of, known, err := l.find(ctx, id)
	if err != nil {
		return chat.Answer{Then: func(ctx context.Context) error {
			return l.Chat.Explain(ctx, to, l.Chat.In(to).Failure(port.Session{}, err))
		}}
	}
	if !known {
		return chat.Answer{Text: l.Chat.In(to).Say(i18n.LoopGone)}
	}
	r, _ := l.Chat.Book.Records.Get(of.Session)
	if option == changesOption {
		in := chat.Incoming{Message: conversation.Message{To: to}, From: by, Since: folders.Since(of.Baseline)}
		return chat.Answer{Then: func(ctx context.Context) error { return l.Changes(ctx, in, r) }}
	}
	change := port.LoopChange{Loop: id, Session: of.Session, By: by}
	switch option {
	case pauseOption:
		change.Do = port.LoopPause
	case goOnOption:
		change.Do = port.LoopResume
	case stopOption:
		change.Do = port.LoopStop
	case turnsOption:
		change.Do, change.More = port.LoopRaise, port.LoopBounds{Turns: moreTurns}
	case moreOption:
		change.Do, change.More = port.LoopRaise, more(of, l.Chat.Now())
	default:
		return chat.Answer{Text: l.Chat.In(to).Say(i18n.StaleButton)}
	}
	return chat.Answer{Then: func(ctx context.Context) error {
		var err error
		if change.Do == port.LoopResume || change.Do == port.LoopRaise {
			err = l.Chat.Book.BringHome(ctx, r, by)
		}
		if err == nil {
			_, err = l.Loops.Change(ctx, change)
		}
		return l.failure(ctx, to, r, err)
	}}
}

// more is the addition to the bound that has ended a loop.
func more(of port.Loop, now time.Time) (b port.LoopBounds) {
	switch of.Reason {
	case port.BoundTurns:
		b.Turns = 2 * moreTurns
	case port.BoundTokens:
		b.Tokens = 1_000_000
	case port.BoundCost:
		if b.Cost = 5; of.Used.Cost < of.Bounds.Cost { // a price is unknown
			b = port.LoopBounds{NoCost: true}
		}
	case port.BoundMinutes:
		b.Minutes = 60
	case port.BoundUntil:
		b.Until = now.Add(time.Hour).Truncate(time.Minute)
	}
	return b
}
