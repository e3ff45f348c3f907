package ask

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// While a topic and General are closed, a request stands in the private chat of one person, and each
// other allowed person has a copy, which answers it too. The first answer counts, and all get the
// outcome. A copy needs nothing by itself: one message of a request is counted and asked after.

// copied is the payload of a copy.
type copied struct {
	// Shown is the digest of the request that was shown whole in the copy's chat.
	Shown string `json:"shown,omitempty"`
}

// beforeChat separates a request's id and the chat of a copy in the key of its card.
const beforeChat = "@"

func copyKey(id string, to outbox.Conversation) string { return fmt.Sprint(id, beforeChat, to.ChatID) }

// shownRequest returns the id of the request that a card shows.
func shownRequest(key string) string {
	id, _, _ := strings.Cut(key, beforeChat)
	return id
}

// copies returns the open copies of a request.
func (a *Requests) copies(id string) (all []card.Card[copied]) {
	for _, c := range a.cards.List() {
		if c.Key != id && shownRequest(c.Key) == id {
			all = append(all, c)
		}
	}
	return all
}

// isAllShown reports whether people have seen all of a request in a place, by its card or its copy there.
func (a *Requests) isAllShown(s State, to outbox.Conversation) bool {
	if c, is := a.cards.Get(copyKey(s.Request.ID, to)); is && to.ChatID != s.Conversation.ChatID {
		return c.Payload.Shown == s.Request.Ask.Digest()
	}
	return s.AllShown
}

// as applies what a person does in a place, who may allow what was shown there.
func (a *Requests) as(s State, to outbox.Conversation, turn func(State) (State, error)) (State, error) {
	own := s.AllShown
	s.AllShown = a.isAllShown(s, to)
	next, err := turn(s)
	next.AllShown = own
	return next, err
}

// showCopies sends the copies that an open request needs where its session's place may be shown nothing, or is closed, and keeps those that it has as it is.
func (a *Requests) showCopies(ctx context.Context, s State) (err error) {
	session, _ := a.Chat.Book.Records.Get(s.Request.Session)
	if s.Stage == StageOpen && (a.isShutOut(session) || !a.Chat.Book.MayShow(session.Conversation)) {
		for _, to := range a.seen(session) {
			_, has := a.cards.Get(copyKey(s.Request.ID, to))
			if !has && to != s.Conversation && !a.Chat.Sender.Refuses(to.ChatID) {
				err = errors.Join(err, a.showCopy(ctx, s, to, copied{}))
			}
		}
	}
	for _, c := range a.copies(s.Request.ID) {
		to := c.Content.To
		switch {
		case !a.Chat.Book.MayShow(to) || s.Stage != StageOpen && !c.Sent:
			err = errors.Join(err, a.cards.Close(ctx, c.Key, render.Text{}))
		case to == s.Conversation: // the request itself has come there
			err = errors.Join(err, a.cards.Close(ctx, c.Key, a.below(s, to)))
		default:
			err = errors.Join(err, a.showCopy(ctx, s, to, c.Payload))
		}
	}
	return err
}

func (a *Requests) showCopy(ctx context.Context, s State, to outbox.Conversation, p copied) error {
	s.AllShown = p.Shown == s.Request.Ask.Digest()
	return a.cards.Show(ctx, copyKey(s.Request.ID, to), a.contentIn(to, s), p)
}

// closeCopies closes the copies of a request that has ended, with its outcome.
func (a *Requests) closeCopies(ctx context.Context, id string) (err error) {
	for _, c := range a.copies(id) {
		var last render.Text
		if s, ok := a.Store.Get(id); ok {
			last = a.contentIn(c.Content.To, s).Text
		}
		err = errors.Join(err, a.cards.Close(ctx, c.Key, last))
	}
	return err
}

// withdraw removes a request's cards if nobody has seen one of them.
func (a *Requests) withdraw(id string) (gone bool, err error) {
	for _, c := range a.copies(id) {
		if gone, err = a.cards.Withdraw(c.Key); !gone || err != nil {
			return false, err
		}
	}
	return a.cards.Withdraw(id)
}
