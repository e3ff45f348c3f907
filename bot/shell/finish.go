package shell

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
)

const (
	// cardGrace is how long the end of a command waits for a card that is on its way into the chat:
	// one that is left behind would say for ever that the command runs. After it the output is an
	// answer.
	cardGrace = 2 * time.Second
	cardPace  = 100 * time.Millisecond
)

// command is what a card knows of the command whose output it shows.
type command struct {
	Session uuid.UUID `json:"session"`
	Text    string    `json:"text"` // with its sign
	// Path is the transcript when the command was typed, empty where there was none, and Offset its
	// end then: what the command has printed comes behind it.
	Path    string    `json:"path,omitempty"`
	Offset  int64     `json:"offset,omitempty"`
	Rows    []string  `json:"rows,omitempty"`   // what the terminal has shown
	Ended   int64     `json:"ended,omitempty"`  // offset of the output that the card shows; 0: of none
	Stopped time.Time `json:"stopped,omitzero"` // by then the command had been stopped
}

// isOver says that the terminal shows nothing more of the command.
func (c command) isOver() bool { return c.Ended != 0 || !c.Stopped.IsZero() }

// takes says whether an output may be the command's. What is younger than the stop of a command is
// of another one, perhaps of the same words.
func (c command) takes(item talk.Item) bool {
	at := item.At
	return (c.Ended == 0 || c.Ended == at.Offset) &&
		(c.Path == "" || c.Path == at.Path && c.Offset <= at.Offset) &&
		(c.Stopped.IsZero() || !item.Time.After(c.Stopped))
}

// is compares commands as they are typed and as a transcript has them.
func (c command) is(text string) bool {
	words := func(text string) []string { return strings.Fields(strings.TrimPrefix(text, "!")) }
	return slices.Equal(words(c.Text), words(text))
}

// Finish shows the output of a command in the message that has grown with it, and returns when the
// chat has it there. False: there is no such message, and the output is to be sent.
func (o *Outputs) Finish(ctx context.Context, r views.Session, item talk.Item,
	part render.Part) (done bool, err error) {
	key, ok := o.match(r, item)
	if !ok {
		return false, nil
	}
	o.mu.Lock()
	delete(o.live, key) // from here on nobody else draws the card
	o.mu.Unlock()
	c, ok := o.cards.Get(key)
	if !ok {
		return false, nil
	}
	c.Payload.Ended, c.Look.Until = item.At.Offset, o.chat.Now().Add(keepOver)
	c.Look.Rank = outbox.Now // as an answer has
	c.Look.Text = render.Join(title(c.Payload), part.Text)
	err = o.showEnd(ctx, c)
	_, refused := errors.AsType[*outbox.Refused](err)
	switch {
	case err == nil:
		o.chat.At("output-ended")
		return true, nil
	case refused, errors.Is(err, card.ErrUnsent):
		return false, o.cards.Close(ctx, key, title(c.Payload))
	}
	return false, err
}

// showEnd waits until the chat has the end of a card; card.ErrUnsent: it has no message within
// cardGrace.
func (o *Outputs) showEnd(ctx context.Context, c card.Card[command]) error {
	for begun := time.Now(); ; {
		err := o.cards.ShowNow(context.WithoutCancel(ctx), c.Key, c.Look, c.Payload)
		if !errors.Is(err, card.ErrUnsent) || time.Since(begun) >= cardGrace {
			return err
		}
		if !sleep(ctx, cardPace) {
			return ctx.Err()
		}
	}
}

// match finds the command that has printed an output: one of the session, or of a session that the
// same one goes on with.
func (o *Outputs) match(r views.Session, item talk.Item) (key string, ok bool) {
	o.mu.Lock()
	all := maps.Clone(o.live)
	o.mu.Unlock()
	for _, c := range o.cards.List() {
		all[c.Key] = c
	}
	maps.DeleteFunc(all, func(_ string, c card.Card[command]) bool { return !c.Payload.takes(item) })
	if len(all) == 0 {
		return "", false
	}
	text, list := item.Bash, o.chat.Book.Records.List()
	last := views.Successor(list, r).ID
	maps.DeleteFunc(all, func(_ string, c card.Card[command]) bool {
		id := c.Payload.Session
		goesOn := id == r.ID || views.Successor(list, views.Session{ID: id}).ID == last
		return !goesOn || !c.Payload.is(text)
	})
	if len(all) == 0 {
		return "", false
	}
	newest := func(a, b card.Card[command]) int {
		return cmp.Or(cmp.Compare(a.Payload.Offset, b.Payload.Offset), cmp.Compare(a.Key, b.Key))
	}
	return slices.MaxFunc(slices.Collect(maps.Values(all)), newest).Key, true
}
