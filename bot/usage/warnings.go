package usage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

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

// warning is one that a chat has had.
type warning struct {
	Window spending.Window `json:"window"`
	Level  int             `json:"level"`
	Resets time.Time       `json:"resets"`
}

const warningKind = "limit-warning"

// run warns whenever limits change.
func (u *usage) run(ctx context.Context) error {
	for {
		if err := u.spending.LimitsChange(ctx); err != nil {
			return nil //nolint:nilerr // ctx has ended
		}
		for _, l := range u.spending.Limits() {
			if err := u.warn(ctx, l); err != nil {
				u.chat.Log.Warn("limit_not_told", logkey.Error, err.Error())
			}
		}
	}
}

// warn warns each private chat that was not warned as loudly in this window.
func (u *usage) warn(ctx context.Context, l spending.Limit) (all error) {
	i := slices.IndexFunc(levels, func(level int) bool { return l.Percent >= float64(level) })
	if i < 0 {
		return nil
	}
	warned := u.cards.List()
	for _, to := range u.chat.Book.PrivateChats() {
		if slices.ContainsFunc(warned, func(c card.Card[warning]) bool {
			p := c.Payload
			return c.Look.To == to && p.Window == l.Window && p.Level >= levels[i] && p.Resets.Sub(l.Resets).Abs() < spending.Apart
		}) {
			continue
		}
		p := words{u.chat.In(to)}
		look := card.Look{To: to, Text: render.Plain(chat.Warning + p.limit(l)), Until: l.Resets,
			Sounds:  i == 0 || !u.chat.Book.Quiet(to, uuid.Nil, u.chat.Now()), // the louder one cannot wait
			Options: [][]card.Option{{p.Option(i18n.ButtonUsage, page, outbox.Primary)}}}
		key := fmt.Sprintf("%s-%d-%d-%d", l.Window, levels[i], l.Resets.Unix(), to.ChatID)
		all = errors.Join(all, u.cards.Show(ctx, key, look, warning{l.Window, levels[i], l.Resets}))
	}
	return all
}
