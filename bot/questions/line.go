package questions

import (
	"context"
	"slices"
	"strconv"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/logkey"
	"ccbot/port"
)

// line is the payload of the pinned line of a chat.
type line struct {
	Pinned int `json:"pinned,omitempty"` // the message that is pinned; 0: none is known to be
}

// shownNames is the number of sessions that a line names.
const shownNames = 6

// wanted reports whether a chat has a line: it appears with the second session that waits, and
// disappears with the last one.
func wanted(waits int, has bool) bool { return waits >= 2 || has && waits > 0 }

// drawLines brings the lines of all chats up to date.
func (q *Questions) drawLines(ctx context.Context) {
	waits := make(map[int64][]port.Session)
	for _, r := range q.Waits() {
		waits[r.Conversation.ChatID] = append(waits[r.Conversation.ChatID], r)
	}
	for _, c := range q.lines.List() { // also in chats in which no session waits
		waits[c.Content.To.ChatID] = slices.Clip(waits[c.Content.To.ChatID])
	}
	for id, all := range waits {
		if err := q.drawLine(ctx, outbox.Conversation{ChatID: id}, all); err != nil && ctx.Err() == nil {
			q.Chat.Log.Warn("line_not_drawn", logkey.ChatID, id, logkey.Error, err)
		}
	}
}

func (q *Questions) drawLine(ctx context.Context, to outbox.Conversation, waits []port.Session) error {
	key := strconv.FormatInt(to.ChatID, 10)
	c, has := q.lines.Get(key)
	if !wanted(len(waits), has && c.Sent) || q.isRefused(to.ChatID) {
		return q.removeLine(ctx, c, has)
	}
	p := q.Chat.In(to)
	names := each.As(waits, func(r port.Session) string { return chat.ShownName(r.Name) })
	text := p.Text(i18n.QuestionsLine, i18n.Args{"Count": len(waits), "Names": p.First(shownNames, names, p.Say(i18n.JoinNames))})
	if err := q.lines.Show(ctx, key, card.Content{To: to, Text: text, Rank: outbox.Card}, c.Payload); err != nil {
		return err
	}
	if c.Message == 0 || c.Payload.Pinned == c.Message {
		return nil
	}
	switch err := q.Pins.Pin(ctx, to, c.Message); {
	case chat.IsRefused(err):
		q.refuse(to.ChatID)
		return q.removeLine(ctx, c, true)
	case err != nil:
		return err
	}
	c.Payload.Pinned = c.Message
	c.Content.Text = text
	return q.lines.Show(ctx, key, c.Content, c.Payload)
}

// removeLine deletes a line. If Telegram refuses, because it is old, the line reports that nothing
// waits.
func (q *Questions) removeLine(ctx context.Context, c card.Card[line], has bool) error {
	if !has {
		return nil
	}
	if c.Message > 0 {
		if err := q.Pins.Delete(ctx, c.Content.To, c.Message); err != nil && !chat.IsRefused(err) {
			return err
		}
	}
	return q.lines.Close(ctx, c.Key, render.Plain(q.Chat.In(c.Content.To).Say(i18n.QuestionsNone)))
}

func (q *Questions) refuse(chat int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.refused[chat] = true
}

func (q *Questions) isRefused(chat int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refused[chat]
}

// Unpinned is the number of chats in which the bot may not pin the line, as far as it has tried
// since its start.
func (q *Questions) Unpinned() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.refused)
}
