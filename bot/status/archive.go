package status

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// archive shows the ended sessions.
type archive struct {
	*status
	said talk.LastQuestions
}

const (
	page = "archive"
	top  = "menu"

	pageSessions = 6
	shownButton  = 14 // letters of a name on its button
	lineRoom     = 32 // columns of a session's last question, or of its folder
	shownAsked   = 300
)

func (a archive) feature() chat.Feature {
	return chat.Feature{Name: page, Pages: map[string]chat.Page{page: {Draw: a.draw, Do: a.do}},
		Commands: []chat.Command{a.chat.Pages.Command(page, page)}}
}

// view is the address of a page: a part of the list, or one session of it.
type view struct {
	Filter  filter    `json:"filter,omitempty"`
	Page    int       `json:"page,omitempty"`
	Session uuid.UUID `json:"session,omitzero"` // uuid.Nil: the list
}

// filter selects the listed sessions.
type filter string

const (
	all    filter = ""
	recent filter = "recent" // of the last three days
	lost   filter = "lost"
)

const recentFor = 3 * 24 * time.Hour

func (v view) address() string { return chat.Address(page, v) }

// takes reports whether a filter accepts a session.
func (f filter) takes(r port.Session, now time.Time) bool {
	switch f {
	case recent:
		return now.Sub(r.EndedAt) < recentFor
	case lost:
		return r.State == port.StateLost || r.State == port.StateAbandoned
	}
	return true
}

func (a archive) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	at, p := chat.ViewAt[view](v.Rest), a.chat.In(v.To)
	if at.Session == uuid.Nil {
		return a.list(ctx, v.To, p, at), nil
	}
	r, ok := a.chat.Book.Records.Get(at.Session)
	if r.State == port.StateUnknown {
		return chat.Screen{Session: r.ID, Back: top}, refusal.ErrUnreachable
	}
	if !ok || !r.Resumable {
		above := render.Plain(p.Say(i18n.SessionGone))
		if ok {
			above = p.EndedText(r)
		}
		list := a.list(ctx, v.To, p, view{Filter: at.Filter, Page: at.Page})
		list.Text = chat.Paragraphs(above, list.Text)
		return list, nil
	}
	return a.one(ctx, p, at, r), nil
}

// list returns a page of the ended sessions, the latest end first.
func (a archive) list(ctx context.Context, to address.Conversation, p chat.Phrases, at view) chat.Screen {
	all, unread := a.chat.Book.Records.List()
	sessions := slices.DeleteFunc(all, func(r port.Session) bool {
		return !r.Resumable || !at.Filter.takes(r, p.Now())
	})
	slices.SortStableFunc(sessions, func(x, y port.Session) int { return y.EndedAt.Compare(x.EndedAt) })
	part := card.PartOf(len(sessions), pageSessions, at.Page)
	at.Page = part.Page
	shown := sessions[part.First:part.Last]
	title := p.Say(i18n.ArchiveTitle, i18n.Args{"Count": len(sessions)})
	switch {
	case unread != nil: // there may be others
		title = p.Unread(unread)
	case len(sessions) == 0:
		title = p.Say(i18n.ArchiveEmpty)
	}
	text := []render.Text{render.Plain(title)}
	var options []card.Option
	for i, said := range a.lastQuestions(ctx, shown) {
		r, hidden := a.chat.Book.SeenIn(to, shown[i])
		if hidden {
			said = ""
		}
		number := strconv.Itoa(part.First + i + 1)
		text = append(text, line(p, number, r, said))
		label := number + " " + chat.Head(glyph.Name(r.Name), shownButton)
		one := view{Filter: at.Filter, Page: at.Page, Session: r.ID}
		options = append(options, card.Option{Text: label, Value: chat.ToPage(one.address()), Session: r.ID})
	}
	s := chat.Screen{Options: chat.Rows(2, options...), Back: top}
	turns := part.Turns(func(page int) card.Option {
		return card.Option{Value: chat.ToPage(view{Filter: at.Filter, Page: page}.address())}
	})
	s.Text = chat.Paragraphs(append(text, render.Plain(p.Place(part)))...)
	s.Options = append(s.Options, turns, filters(p, at.Filter))
	return s
}

// lastQuestions returns the last question of each session; empty: unknown.
func (a archive) lastQuestions(ctx context.Context, sessions []port.Session) []string {
	all, err := a.said.LastQuestions(ctx, each.As(sessions, func(r port.Session) uuid.UUID { return r.ID }))
	if err != nil && len(all) != len(sessions) {
		return make([]string, len(sessions))
	}
	return all
}

// line returns a session's entry in a list: its name, where and when it ended, and its last
// question. Foreign text is code, so that nothing in it can be tapped.
func line(p chat.Phrases, number string, r port.Session, said string) render.Text {
	dir := render.Code(ansi.TruncateLeft(p.Short(r.Dir), max(0, ansi.StringWidth(p.Short(r.Dir))-lineRoom), "…"))
	name := render.Bold(chat.ShownName(r.Name))
	if strings.ContainsAny(name.Text, "/@#.:") { // it looks like a command or a link
		name = render.Code(name.Text)
	}
	head := render.Join(render.Plain(number+". "), name, render.Plain(" · "+p.StateWithAge(r)))
	if said = ansi.Truncate(chat.OneLine(said), lineRoom, "…"); said == "" {
		return chat.Lines(head, dir)
	}
	return chat.Lines(head, dir, render.Code(said))
}

// filters are the ways to list, with a sign at the present one.
func filters(p chat.Phrases, now filter) (row []card.Option) {
	for _, one := range []struct {
		filter
		word i18n.Key
	}{{recent, i18n.ButtonRecent}, {all, i18n.ButtonEverything}, {lost, i18n.ButtonLost}} {
		text := p.Say(one.word)
		if one.filter == now {
			text = "✓ " + text
		}
		row = append(row, card.Option{Text: text, Value: chat.ToPage(view{Filter: one.filter}.address())})
	}
	return row
}

// one returns the page of a session in the list.
func (a archive) one(ctx context.Context, p chat.Phrases, at view, r port.Session) chat.Screen {
	text := []render.Text{chat.Lines(p.EndedText(r), render.Code(p.Short(r.Dir)))}
	if said := chat.OneLine(a.lastQuestions(ctx, []port.Session{r})[0]); said != "" {
		text = append(text, render.Quote(chat.Head(said, shownAsked)))
	}
	inspect := chat.Address(statusPage, about{Session: r.ID, Back: at.address()})
	back := view{Filter: at.Filter, Page: at.Page}
	return chat.Screen{Text: chat.Paragraphs(text...), Session: r.ID, Back: back.address(), Options: [][]card.Option{
		{p.Option(i18n.ButtonResume, resumeOption, outbox.Primary), p.Option(i18n.ButtonInspect, chat.ToPage(inspect), "")},
		{p.Option(i18n.ButtonForget, forgetOption, "")},
	}}
}

// do resumes the session that is shown, or asks whether to delete its record.
func (a archive) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	return a.act(v, chat.ViewAt[view](v.Rest).Session, what), "", nil
}
