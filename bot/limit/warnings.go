package limit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/spending"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
)

// levels are the percents at which people are warned, the highest first.
var levels = []int{95, 80}

// warnings tell that limits are nearly used up.
type warnings struct {
	chat     *chat.Chat
	spending spending.Spending
	cards    chat.Cards[warning] // each open until its window ends: it says that the chat was warned
}

// warning is one that a chat has had.
type warning struct {
	Window spending.Window `json:"window"`
	Level  int             `json:"level"`
	Resets time.Time       `json:"resets"`
}

const warningKind = "limit-warning"

// apart is how far two ends of one window may be apart: the ends are not told to the second.
const apart = time.Hour

// Warnings gives the feature that warns.
func Warnings(c *chat.Chat, s spending.Spending) chat.Feature {
	w := &warnings{chat: c, spending: s, cards: chat.NewCards[warning](c, warningKind)}
	open := func(_ context.Context, t chat.Tap, _ warning) (chat.Answer, error) {
		return chat.Do(func(ctx context.Context) error {
			in := chat.Incoming{From: t.From}
			in.To = t.To
			return c.Pages.Open(ctx, in, "usage")
		})
	}
	return chat.Feature{Name: "limit-warnings", Cards: map[string]chat.OnTap{warningKind: w.cards.OnTap(open)}, Run: w.run}
}

func (w *warnings) run(ctx context.Context) error {
	for {
		if err := w.spending.LimitsChange(ctx); err != nil {
			return ignoreEnd(ctx, err)
		}
		for _, l := range w.spending.Limits() {
			if err := w.warn(ctx, l); err != nil {
				w.chat.Log.Warn("limit_not_told", logkey.Error, err.Error())
			}
		}
	}
}

// ignoreEnd is the error of a Run: none where ctx has ended it.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// warn warns each private chat that was not warned as loudly in this window.
func (w *warnings) warn(ctx context.Context, l spending.Limit) (all error) {
	i := slices.IndexFunc(levels, func(level int) bool { return l.Percent >= float64(level) })
	if i < 0 {
		return nil
	}
	warned := w.cards.List()
	for _, to := range w.chat.Book.PrivateChats() {
		if slices.ContainsFunc(warned, func(c card.Card[warning]) bool {
			p := c.Payload
			return c.Look.To == to && p.Window == l.Window && p.Level >= levels[i] && p.Resets.Sub(l.Resets).Abs() < apart
		}) {
			continue
		}
		p := w.chat.In(to)
		look := card.Look{To: to, Text: render.Plain(chat.Warning + p.LimitText(l)), Until: l.Resets, Sounds: true,
			Options: [][]card.Option{{p.Option(i18n.ButtonUsage, "usage", outbox.Primary)}}}
		key := fmt.Sprintf("%s-%d-%d-%d", l.Window, levels[i], l.Resets.Unix(), to.ChatID)
		all = errors.Join(all, w.cards.Show(ctx, key, look, warning{l.Window, levels[i], l.Resets}))
	}
	return all
}
