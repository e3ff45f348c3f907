package bot

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime/debug"
	"time"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
)

// unseen is the id of a message that Telegram refused for good, or of which it did
// not say one.
const unseen = -1

var errNotShown = errors.New("nobody in that conversation is allowed any more")

// renewPace is how often a message that people delete is sent anew.
const renewPace = time.Minute

// showLocked brings a card's message up to date, or into the chat.
func (a *asks) showLocked(ctx context.Context, c ask.Card) {
	id := c.Request.ID
	c = a.found(c)
	if c.Message > 0 && a.MayShow(c.Conversation) {
		err := a.Sender.Edit(ctx, c.Conversation, c.Message, a.message(c))
		if err == nil {
			return
		}
		a.Log.Debug("edit_failed", "error", err.Error())
		if !a.isDeleted(c, err) {
			return
		}
		a.renewed[id] = a.Now()
		c.Message = 0
		if err := a.Asks.Save(c); err != nil {
			a.Log.Error("ask_not_saved", "request", id, "error", err.Error())
			return
		}
	}
	if isDue(c) && !a.sending[id] && a.maySendLocked(ctx, c) {
		a.sending[id] = true
		a.lanes.add(c.Conversation, func(ctx context.Context) { a.send(ctx, id) })
	}
}

// isDue says whether a card's message is to be sent: somebody may decide, or reads
// that it comes again below.
func isDue(c ask.Card) bool {
	return c.Message == 0 && (c.State == ask.StateOpen || c.State == ask.StateSent || c.AllShown)
}

// isReady is isDue where the chat takes messages. Else unparked sends it.
func (a *asks) isReady(c ask.Card) bool {
	return isDue(c) && !a.Sender.Parked(c.Conversation.ChatID)
}

// found adds the message that Telegram took while the disk was full: it is not
// sent again in this run.
func (a *asks) found(c ask.Card) ask.Card {
	id, ok := a.took[c.Request.ID]
	if !ok || c.Message != 0 {
		return c
	}
	c.Message = id
	if err := a.Asks.Save(c); err == nil {
		delete(a.took, c.Request.ID)
	}
	return c
}

// isDeleted says whether an edit has shown that nobody sees an open request any
// more. It is asked once a minute at most: who deletes it each time may.
func (a *asks) isDeleted(c ask.Card, err error) bool {
	refused := (*outbox.Refused)(nil)
	return errors.As(err, &refused) && c.State == ask.StateOpen && a.Now().Sub(a.renewed[c.Request.ID]) >= renewPace
}

// rehomed is a card that the conversation it stands in may not show any more: it
// goes to where its session is by now, or to the desk.
func (a *asks) rehomed(c ask.Card) ask.Card {
	if c.State != ask.StateOpen && c.State != ask.StateSent || a.MayShow(c.Conversation) {
		return c
	}
	r, ok := a.Records.Get(c.Request.Session)
	if !ok || !a.MayShow(r.Conversation) {
		return ask.Leave(c, ask.ToDesk)
	}
	return inPlace(c, r.Conversation)
}

func (a *asks) message(c ask.Card) outbox.Message {
	return a.drawn(c, func() ask.View { return a.viewer().View(c, a.nameOf(c)) })
}

// drawn is what draw makes of a card. It draws what an agent has written, so a
// mistake in it must not end the bot, at each start again.
func (a *asks) drawn(c ask.Card, draw func() ask.View) (m outbox.Message) {
	defer func() {
		if p := recover(); p != nil {
			a.Log.Error("ask_not_drawn", "request", c.Request.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			m = outbox.Message{To: c.Conversation, Text: render.Plain(a.nameOf(c) + ": " + a.words.Say(i18n.AskAtDesk)), Session: c.Request.Session}
		}
	}()
	v := draw()
	m = outbox.Message{To: c.Conversation, Text: v.Text, Session: c.Request.Session}
	for _, row := range v.Buttons {
		var buttons []outbox.Button
		for _, one := range row {
			buttons = append(buttons, outbox.Button{Text: one.Text, Data: one.Data, Style: outbox.Style(one.Style)})
		}
		m.Buttons = append(m.Buttons, buttons)
	}
	return m
}

func (a *asks) viewer() ask.Viewer {
	return ask.Viewer{Words: a.words, Home: a.Places.Bounds().Home}
}

func (a *asks) nameOf(c ask.Card) string {
	r, _ := a.Records.Get(c.Request.Session)
	return glyph.Name(r.Name)
}

// send brings a card's message into the chat. One that Telegram does not take is
// left to the terminal, whose own dialog is told then; one that only waits until
// the chat takes messages again is kept, and its hook too.
func (a *asks) send(ctx context.Context, id string) {
	m, ok := a.takeOff(id)
	if !ok {
		return
	}
	sent, err := a.deliverMessage(ctx, m)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.sending, id)
	delete(a.flying, id)
	if err != nil {
		a.Log.Warn("ask_not_sent", "request", id, "error", err.Error())
	}
	c, ok := a.Asks.Get(id)
	if sent == 0 || !ok {
		return
	}
	c.Message = sent
	if err != nil {
		c = a.dated(c, ask.Leave(c, ask.ToDesk))
	}
	if err := a.keepLocked(c); err != nil {
		a.Log.Error("ask_not_saved", "request", id, "error", err.Error())
		a.took[id] = sent
	}
	if !reflect.DeepEqual(m, a.message(c)) { // it has changed meanwhile
		a.showLocked(ctx, c)
	}
}

// takeOff is the message that is to be sent. From then on Telegram may have it.
func (a *asks) takeOff(id string) (outbox.Message, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c, ok := a.Asks.Get(id)
	if !ok || !a.isReady(c) {
		delete(a.sending, id)
		return outbox.Message{}, false
	}
	a.sending[id], a.flying[id] = true, true
	return a.message(c), true
}

// deliverMessage gives the id of the message; 0 says that nobody knows whether
// it was taken, or that the chat takes nothing now, so that it is sent again.
func (a *asks) deliverMessage(ctx context.Context, m outbox.Message) (int, error) {
	if !a.MayShow(m.To) {
		return unseen, errNotShown
	}
	sent, err := a.Sender.Send(context.WithoutCancel(ctx), m)
	a.At("ask-sent")
	if chat.IsRefused(err) {
		return unseen, err
	}
	if err == nil && sent == 0 {
		return unseen, nil
	}
	return sent, err
}
