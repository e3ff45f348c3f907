package textlist

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/port"
	"ccbot/port/talk"
)

// isAside reports whether nobody has decided yet about a text that was kept aside.
func isAside(e inbox.Entry) bool { return e.State == inbox.Asked && e.Aside != nil }

// keptAside returns how many of some texts were kept aside, and are still to be decided about.
func (l *Lists) keptAside(keys []string) (n int) {
	for _, key := range keys {
		if e, err := l.Entries.Load(key); err == nil && isAside(e) {
			n++
		}
	}
	return n
}

// Aside lists a text that was kept aside with what waits for the answer, or asks about it if the
// request has its outcome already.
func (l *Lists) Aside(ctx context.Context, e inbox.Entry) error {
	if l.Requests.IsOpen(e.Aside.Request) {
		return l.Held(ctx, e.Conversation, e.Session, talk.Activity{})
	}
	return l.askAside(ctx)
}

// askAside asks, once for each session and place, about the texts that were kept aside for a request
// which has an outcome now. What comes later is added to an open list, which comes again below.
func (l *Lists) askAside(ctx context.Context) error {
	l.aside.Lock()
	defer l.aside.Unlock()
	all, err := l.Entries.List()
	type at struct {
		session uuid.UUID
		to      address.Conversation
	}
	var places []at
	fresh := make(map[at][]inbox.Entry)
	for _, e := range all {
		_, known := l.Chat.Book.Records.Get(e.Session)
		if isAside(e) && known && l.Requests.HasOutcome(e.Aside.Request) && !l.Asks(e.Key) {
			one := at{e.Session, e.Conversation}
			if fresh[one] == nil {
				places = append(places, one)
			}
			fresh[one] = append(fresh[one], e)
		}
	}
	errs := []error{err}
	for _, one := range places {
		errs = append(errs, l.addAside(ctx, l.session(one.session), one.to, fresh[one]))
	}
	return errors.Join(errs...)
}

func (l *Lists) addAside(ctx context.Context, r port.Session, to address.Conversation, fresh []inbox.Entry) error {
	defer l.stopped.Hold()()
	c, open := l.listOf(r.ID, to, true)
	for _, e := range fresh {
		c.Payload.Texts = append(c.Payload.Texts, text{Key: e.Key})
	}
	texts, _, err := l.undecided(c.Payload, inbox.Entry{})
	if err != nil || len(texts) == 0 {
		return err
	}
	c.Content.WaitsSince = time.Now().UTC() // by the clock of the inbox
	c.Content.Needs, c.Content.Sounds = card.Decision, l.Chat.Sounds(chat.PromptUndecided, r)
	c.Payload.write(&c.Content, l.Chat.In(to), r, texts, render.Text{})
	if open {
		return l.stopped.Repost(ctx, c.Key, c.Content, c.Payload)
	}
	c.Content.ReplyTo = texts[0].MessageID
	return l.stopped.Show(ctx, c.Key, c.Content, c.Payload)
}

// listOf returns the open list of texts that a stop took back, or that were kept aside, or a new one.
func (l *Lists) listOf(session uuid.UUID, to address.Conversation, aside bool) (c card.Card[stopped], open bool) {
	for _, c := range l.stopped.List() {
		if c.Content.Session == session && c.Content.To == to && c.Payload.Aside == aside {
			return c, true
		}
	}
	return card.Card[stopped]{Key: card.NewKey(), Content: card.Content{Session: session, To: to}, Payload: stopped{Aside: aside}}, false
}

// writeAside writes the question about texts that were kept aside.
func (s *stopped) writeAside(l *card.Content, p chat.Phrases, r port.Session, texts []inbox.Entry) {
	l.Text = chat.Lines(p.Text(i18n.AsideAsk, i18n.Args{"Name": r.Name}), numbered(p, signed(p, texts), 0, len(texts)))
	l.Undecided, l.Options = len(texts), nil
	var send []card.Option
	for i, e := range texts[:min(len(texts), mostShown)] {
		send = append(send, option(p, number(i, len(texts)), i18n.ButtonSend, e.Key, ""))
	}
	if len(texts) == 1 {
		send[0].Style = outbox.Primary
		l.Options = chat.Rows(2, send[0], option(p, "", i18n.ButtonNotForAgent, "", ""))
		return
	}
	l.Options = append(chat.Rows(2, send...), []card.Option{option(p, "", i18n.ButtonSendAll, "", outbox.Primary),
		option(p, "", i18n.ButtonNotForAgent, "", "")})
}

// becameAside is the plain line of such a question whose texts are settled.
func becameAside(p chat.Phrases, r port.Session, sent, kept int) render.Text {
	said := became(p, r, sent, 0)
	if kept > 0 {
		said = chat.Joined(" ", said, render.Plain(p.Words.Say(i18n.AsideNone, i18n.Args{"Count": kept})))
	}
	return said
}

// signed are texts with the names of their writers before them.
func signed(p chat.Phrases, texts []inbox.Entry) []inbox.Entry {
	all := slices.Clone(texts)
	for i, e := range all {
		var u models.Update
		if json.Unmarshal(e.Update, &u) != nil || u.Message == nil || u.Message.From == nil {
			continue
		}
		if who := chat.PersonName(u.Message.From.FirstName); who != "" {
			all[i].Text = p.Say(i18n.Named, i18n.Args{"What": who, "Said": e.Text})
		}
	}
	return all
}
