package card

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// Question is an open card that needs an answer.
type Question struct {
	Kind, Key  string
	Session    uuid.UUID
	At         outbox.Conversation // the place of its message
	Message    int                 // 0: not sent yet, or its id is unknown
	WaitsSince time.Time
	Brought    time.Time // when people last got it in a new message
	Reminded   int       // number of new messages with a sound
	Steps      bool      // it has options of Bring.Repost
}

// Bring describes how a card is sent again.
type Bring struct {
	Note         render.Text // added to the earlier message, as a link to the new one if there are links
	Alone        bool        // the earlier message shows only the note
	ExtraOptions []Option    // below the feature's options until the card closes; empty keeps the present ones
	Sounds       bool        // the new message
	Remind       bool        // it counts as a reminder
	Stay         bool        // in its present message, if it has one
}

// Questions returns the open questions, the oldest first.
func (b *Board) Questions() (all []Question) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.cards {
		if !c.Closed && c.Content.Needs == Answer {
			all = append(all, Question{Kind: c.Kind, Key: c.Key, Session: c.Content.Session, At: c.place(), Message: max(c.Message, 0),
				WaitsSince: c.WaitsSince, Brought: c.Brought, Reminded: c.Reminded, Steps: len(c.ExtraOptions) > 0})
		}
	}
	slices.SortFunc(all, func(x, y Question) int { return cmp.Or(x.WaitsSince.Compare(y.WaitsSince), cmp.Compare(x.Key, y.Key)) })
	return all
}

// Again sends an open card in a new message, below all others. The earlier message keeps its
// buttons until the new one is in the chat, then it links there: at any time one of the two works.
// It returns false if there is no such card. A card that waits for its post is not sent twice.
func (b *Board) Again(ctx context.Context, kind, key string, how Bring) (shown bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, open := b.openLocked(kind, key)
	if !open {
		return false, nil
	}
	if len(how.ExtraOptions) > 0 {
		c.ExtraOptions = how.ExtraOptions
	}
	if how.Remind {
		c.Reminded++
	}
	c.Brought = time.Now().UTC().Round(0)
	if how.Stay && c.Message > 0 {
		c.Drawn = false
		if err := b.putLocked(c); err != nil {
			return true, err
		}
		return true, b.drawLocked(ctx, c)
	}
	if c.Message > 0 {
		c.Former = &former{At: c.At, Message: c.Message, Note: how.Note, Alone: how.Alone, Sounds: how.Sounds}
	}
	c.leave()
	if err := b.putLocked(c); err != nil {
		return true, err
	}
	if b.Failpoint != nil {
		b.Failpoint("card-again")
	}
	return true, b.postLocked(ctx, c)
}

// noteNeed stores since when a card needs an answer or a decision.
func (c *record) noteNeed(now time.Time) {
	switch now = now.UTC().Round(0); {
	case c.Content.Needs == Decision:
		c.WaitsSince, c.Brought, c.Reminded = cmp.Or(c.Content.WaitsSince, c.WaitsSince, now), time.Time{}, 0
	case c.Content.Needs != Answer:
		c.WaitsSince, c.Brought, c.Reminded = time.Time{}, time.Time{}, 0
	case c.Brought.IsZero():
		c.WaitsSince, c.Brought = c.Content.WaitsSince, now
		if c.WaitsSince.IsZero() {
			c.WaitsSince = now
		}
	}
}

// stepLocked removes the options of Bring.Repost from an answered question.
func (b *Board) stepLocked(c *record) {
	if len(c.ExtraOptions) > 0 && b.Stepped != nil {
		b.Stepped(c.place())
	}
	c.ExtraOptions = nil
}

// DropExtraOptions removes the options of Bring.Repost from an open card.
func (b *Board) DropExtraOptions(ctx context.Context, kind, key string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	c, open := b.openLocked(kind, key)
	if !open || len(c.ExtraOptions) == 0 {
		return nil
	}
	c.ExtraOptions, c.Drawn = nil, false
	if err := b.putLocked(c); err != nil || c.Message <= 0 {
		return err
	}
	return b.drawLocked(ctx, c)
}

func (c record) isFormer(at outbox.Conversation, message int) bool {
	return c.Former != nil && c.Former.At == at && c.Former.Message == message
}

// comeBack restores the message before Again. It returns false if the card has one, or had none.
func (c *record) comeBack() bool {
	if c.Message != 0 || c.Former == nil {
		return false
	}
	c.Message, c.At, c.Drawn, c.Former = c.Former.Message, c.Former.At, false, nil
	return true
}

// leadLocked makes the earlier message link to the new one; Sent then forgets it.
func (b *Board) leadLocked(ctx context.Context, c record) {
	m := c.message()
	m.Buttons, m.Text = nil, c.Content.Text
	note := c.Former.Note
	if b.Link != nil && c.Message > 0 && !note.Blank() {
		if url := b.Link(c.At, c.Message); url != "" {
			note = render.Link(note, url)
		}
	}
	switch {
	case c.Former.Alone:
		m.Text = note
	case !note.Blank():
		m.Text = render.Join(m.Text.Begin(c.Content.limit()-note.Length()-2), render.Plain("\n\n"), note)
	}
	if b.mayShow(c.Former.At) {
		b.logUnsaved(c, b.sender.Edit(ctx, c.Former.At, c.Former.Message, m))
	}
}

func (b *Board) changed() {
	if b.Changed != nil {
		b.Changed()
	}
}
