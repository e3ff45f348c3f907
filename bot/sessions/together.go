package sessions

import (
	"context"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/news"
)

// comingBack is a message about sessions that come back together, with a line for each.
type comingBack struct {
	Lines []backLine `json:"lines"`
}

// backLine is the line of one session.
type backLine struct {
	Session uuid.UUID `json:"session"`
	Kept    []string  `json:"kept,omitempty"` // the first lines of the prompts that waited for it
	State   backState `json:"state,omitempty"`
}

type backState string

const (
	backComing backState = ""
	backReady  backState = "ready"
	backFailed backState = "failed" // another message has the reason
)

// Without implements card.Forgetter.
func (b comingBack) Without(session uuid.UUID) comingBack {
	return comingBack{slices.DeleteFunc(slices.Clone(b.Lines), func(l backLine) bool { return l.Session == session })}
}

// Together shows sessions that come back together.
type Together struct {
	chat  *chat.Chat
	kept  func(r port.Session) []string // see Deps.Kept
	cards card.Kind[comingBack]
}

const togetherKind = "together"

func newTogether(c *chat.Chat, kept func(r port.Session) []string) *Together {
	return &Together{chat: c, kept: kept, cards: card.NewKind[comingBack](c.Cards, togetherKind, nil)}
}

// Show shows in one message that sessions come back, with the prompts that wait for each, and from
// then on when each is ready. done notes which of them do not come back.
func (t *Together) Show(ctx context.Context, to address.Conversation, list []port.Session) (
	done func(failed []uuid.UUID) error, err error) {
	key := card.NewKey()
	b := comingBack{each.As(list, func(r port.Session) backLine { return backLine{Session: r.ID, Kept: t.kept(r)} })}
	return func(failed []uuid.UUID) error { return t.note(ctx, key, backFailed, "", failed...) }, t.cards.Show(ctx, key, t.content(to, b), b)
}

// note sets the state of the sessions of a message that come back. That reports news.
func (t *Together) note(ctx context.Context, key string, state backState, news string, sessions ...uuid.UUID) error {
	defer t.cards.Hold()()
	c, open := t.cards.Get(key)
	if !open {
		return nil
	}
	lines := slices.Clone(c.Payload.Lines)
	for i, l := range lines {
		if l.State == backComing && slices.Contains(sessions, l.Session) {
			lines[i].State = state
		}
	}
	b := comingBack{lines}
	now := t.content(c.Content.To, b)
	now.News = news
	if slices.ContainsFunc(lines, func(l backLine) bool { return l.State == backComing }) {
		return t.cards.Show(ctx, key, now, b)
	}
	if c.Sent {
		return t.cards.CloseFor(ctx, key, now.Text, news)
	}
	return t.cards.Show(ctx, key, now, b) // a close would remove it
}

// onNews notes that a session is ready, or has ended, and reports whether a message has a line for
// it. alone means that there is no other report of the news.
func (t *Together) onNews(ctx context.Context, r port.Session, n news.News, alone bool) (reported bool, err error) {
	state, name := backFailed, ""
	if alone {
		name = chat.NewsOf(r)
	}
	if _, ready := n.(news.Ready); ready {
		state = backReady
	}
	waits := func(l backLine) bool { return l.Session == r.ID && l.State == backComing }
	for _, c := range t.cards.List() {
		if slices.ContainsFunc(c.Payload.Lines, waits) {
			return true, t.note(ctx, c.Key, state, name, r.ID)
		}
	}
	return false, nil
}

func (t *Together) content(to address.Conversation, b comingBack) card.Content {
	p := t.chat.In(to)
	word := map[backState]i18n.Key{backComing: i18n.BackComing, backReady: i18n.BackReady, backFailed: i18n.BackFailed}
	var lines []render.Text
	for _, l := range b.Lines {
		r, known := t.chat.Book.Records.Get(l.Session)
		if !known {
			continue
		}
		line := p.Text(word[l.State], i18n.Args{"Name": r.Name})
		if len(l.Kept) > 0 {
			line = render.Join(line, render.Plain(" "+p.Say(i18n.BackKept, i18n.Args{"Said": quotes(p, l.Kept)})))
		}
		lines = append(lines, render.Join(render.Plain("• "), line))
	}
	return card.Content{To: to, Text: chat.Lines(append([]render.Text{p.Text(i18n.BackHead, i18n.Args{"Count": len(b.Lines)})}, lines...)...), Renew: true}
}

// quotes quotes the first lines of prompts.
func quotes(p chat.Phrases, kept []string) string {
	return p.Some(each.As(kept, p.Quoted), p.Say(i18n.JoinNames))
}
