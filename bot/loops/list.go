package loops

import (
	"context"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

const (
	listPage = "loops"
	pageSize = 8
	perRow   = 4
)

// view is the address of a page: the list, or one loop with its actions.
type view struct {
	Loop    uuid.UUID `json:"loop,omitzero"`
	Session uuid.UUID `json:"session,omitzero"` // of the loop
	Page    int       `json:"page,omitempty"`
}

func (v view) address() string { return chat.Address(listPage, v) }

func (l *Loops) list() chat.Page {
	return chat.Page{Draw: l.drawList, Do: l.tap, Wordless: true, Live: func(n news.News) bool { _, is := n.(news.Looped); return is }}
}

// drawList shows all loops, the live ones first and then the newest, or one of them.
func (l *Loops) drawList(ctx context.Context, visit chat.Visit) (chat.Screen, error) {
	v, w := chat.ViewAt[view](visit.Rest), words{l.Chat.In(visit.To)}
	if v.Loop != uuid.Nil {
		return l.drawOne(ctx, w, v, visit.To)
	}
	all, err := l.read(ctx)
	if refusal.Lacks(err, "") {
		return chat.Screen{}, err
	}
	slices.Reverse(all)
	slices.SortStableFunc(all, func(a, b port.Loop) int {
		switch {
		case a.State.Live() == b.State.Live():
			return 0
		case a.State.Live():
			return -1
		}
		return 1
	})
	part := card.PartOf(len(all), pageSize, v.Page)
	lines := []render.Text{render.Bold(w.Say(i18n.LoopsTitle))}
	switch {
	case err != nil:
		lines = append(lines, render.Plain(w.Unread(err)))
	case len(all) == 0:
		lines = []render.Text{render.Plain(w.Say(i18n.LoopsNone))}
	}
	var buttons []card.Option
	for i, one := range all[part.First:part.Last] {
		number := strconv.Itoa(part.First + i + 1)
		r, known := l.Chat.Book.Records.Get(one.Session)
		if !known {
			r.Name = one.Name
		}
		lines = append(lines, render.Join(render.Plain(number+". "), w.Text(i18n.Named, i18n.Args{"What": chat.BoldName(r), "Said": attention.LoopDetails(w.Phrases, one)})))
		buttons = append(buttons, card.Option{Text: number, Value: chat.ToPage(view{Loop: one.ID, Session: one.Session, Page: part.Page}.address())})
	}
	s := chat.Screen{Text: chat.Lines(append(lines, render.Plain(w.Place(part)))...), Options: chat.Rows(perRow, buttons...)}
	turns := part.Turns(func(page int) card.Option { return card.Option{Value: chat.ToPage(view{Page: page}.address())} })
	s.Options = append(s.Options, append(turns, card.Option{Text: w.Say(i18n.ButtonRefresh), Value: chat.ToPage(view{Page: part.Page}.address())}))
	return s, nil
}

// drawOne shows one loop as its card does.
func (l *Loops) drawOne(ctx context.Context, w words, v view, to place) (chat.Screen, error) {
	s := chat.Screen{Back: view{Page: v.Page}.address()}
	of, known, err := l.find(ctx, v.Loop)
	if err != nil {
		return s, err
	}
	if !known {
		s.Text = render.Plain(w.Say(i18n.LoopGone))
		return s, nil
	}
	r, known := l.Chat.Book.Records.Get(of.Session)
	if s.Session = r.ID; !known {
		r.Name = of.Name
	}
	c, _ := l.cards.Get(of.ID.String())
	if s.Text, s.Options = w.card(r, of, c.Payload), w.options(of); conversation.IsHidden(r, to) {
		s.Text = chat.Lines(w.title(r, of), render.Plain(w.used(of)))
	}
	return s, nil
}

// tap carries out an option of the shown loop.
func (l *Loops) tap(ctx context.Context, visit chat.Visit, what string) (chat.Answer, string, error) {
	return l.act(ctx, visit.To, visit.By, chat.ViewAt[view](visit.Rest).Loop, what), "", nil
}
