package usage

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/spending"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// page is the name of the page. Its address is usage/<days>/<page of sessions>, both may be missing.
const page = "usage"

const (
	shownSessions = 8
	shownModels   = 8
	picture       = "picture"
	// patience is how long counting may keep a person waiting.
	patience = 5 * time.Second
)

// usage shows what is used.
type usage struct {
	chat     *chat.Chat
	spending spending.Spending
	upload   func(ctx context.Context, f outbox.File) (messageID int, err error)
	cards    chat.Cards[warning] // each open until its window ends: it says that the chat was warned
}

// New gives the feature.
func New(c *chat.Chat, s spending.Spending, upload func(ctx context.Context, f outbox.File) (int, error)) chat.Feature {
	u := &usage{chat: c, spending: s, upload: upload, cards: chat.NewCards[warning](c, warningKind)}
	command := func(ctx context.Context, in chat.Incoming, _ string) error { return c.Pages.Open(ctx, in, page) }
	return chat.Feature{Name: page, Commands: []chat.Command{{Name: page, Run: command}},
		Pages: map[string]chat.Page{page: {Draw: u.draw, Do: u.do}},
		Cards: map[string]chat.OnTap{warningKind: u.cards.OnTap(u.open)}, Run: u.run}
}

// place is what an address means.
type place struct{ span, page int } // the index of a span, and the page of its sessions

// placeOf reads an address: one of an older program, or by hand, leads to the beginning.
func placeOf(rest string) (p place) {
	days, sessions, _ := strings.Cut(rest, "/")
	if n, err := strconv.Atoi(days); err == nil {
		p.span = max(slices.Index(spending.Spans(), n), 0)
	}
	if n, err := strconv.Atoi(sessions); err == nil {
		p.page = max(n, 0)
	}
	return p
}

func (p place) address() string {
	return fmt.Sprintf("%s/%d/%d", page, spending.Spans()[p.span], p.page)
}

func (u *usage) report(ctx context.Context) (spending.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return u.spending.Spent(ctx)
}

// draw shows a page.
func (u *usage) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at, w := placeOf(v.Rest), words{u.chat.In(v.To)}
	rep, err := u.report(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return chat.Screen{Text: render.Plain(w.Say(i18n.UsageBusy)), Back: "menu",
			Options: [][]card.Option{{w.Option(i18n.ButtonRefresh, chat.ToPage(at.address()), "")}}}, nil
	case err != nil:
		return chat.Screen{}, err
	}
	span := rep.Spans[at.span]
	last := max(len(span.Sessions)-1, 0) / shownSessions
	at.page = min(at.page, last)
	return chat.Screen{Text: w.page(rep, u.spending.Limits(), at), Options: w.options(at, at.page < last), Back: "menu"}, nil
}

// do sends the picture.
func (u *usage) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	if what != picture {
		return chat.Answer{}, "", nil
	}
	a, err := chat.Do(func(ctx context.Context) error {
		rep, err := u.report(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			return nil // the page, which is drawn now, says it
		}
		if err != nil {
			return err
		}
		return u.send(ctx, v.To, rep)
	})
	return a, "", err
}

func (u *usage) send(ctx context.Context, to outbox.Conversation, rep spending.Report) error {
	png, err := chart(rep.Days, u.chat.Now().Local())
	if err != nil {
		return err
	}
	w := words{u.chat.In(to)}
	caption := w.Say(i18n.UsageChart, i18n.Args{"Span": w.span(spending.Days), "Cost": money(rep.Spans[len(rep.Spans)-1].All.Cost)})
	_, err = u.upload(ctx, outbox.File{To: to, Name: "usage.png", Caption: render.Plain(caption), Body: bytes.NewReader(png),
		Size: int64(len(png)), Photo: true})
	return err
}
