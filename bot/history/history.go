package history

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// History shows conversations.
type History struct {
	chat    *chat.Chat
	said    talk.Conversations
	exports talk.Exports
}

const (
	page = "history"
	top  = "menu"
	// file is the value of [As a file].
	file = "file"

	pageEntries = 5
	pageDays    = 12
	// timeout is the timeout of a search; the page shows the hits so far.
	timeout = 2 * time.Second
)

// New returns the feature of a chat.
func New(c *chat.Chat, said talk.Conversations, exports talk.Exports) *History {
	return &History{chat: c, said: said, exports: exports}
}

// Feature describes the feature to the dispatcher.
func (h *History) Feature() chat.Feature {
	f := chat.Feature{Name: "history",
		Pages: map[string]chat.Page{page: {Draw: h.draw, Do: h.do, Typed: h.typed}}}
	h.chat.PageByName(&f, page, chat.AnySession)
	byName := f.Commands[0].Run
	f.Commands[0].Run = func(ctx context.Context, in chat.Incoming, args string) error {
		r, word := h.parseArgs(in, args)
		if word == "" {
			return byName(ctx, in, args)
		}
		return h.chat.Pages.Open(ctx, in, address(r.ID, view{What: find, Word: word}))
	}
	return f
}

// parseArgs returns the session and the word of "/history [name] [word]". It takes as many words as
// possible for the name; without a name it is the message's session. The word is empty if
// there is only a name, or no session.
func (h *History) parseArgs(in chat.Incoming, args string) (r port.Session, word string) {
	words := strings.Fields(args)
	for n := len(words); n >= 0; n-- {
		found := h.chat.Book.FindFor(in.Message, in.From, strings.Join(words[:n], " "), chat.AnySession)
		if len(found) > 0 {
			return found[0], strings.Join(words[n:], " ")
		}
	}
	return r, ""
}

// view is the part of a session that a page shows.
type view struct {
	What string     `json:"what,omitempty"` // list, newer, read, days or find
	At   talk.Place `json:"at,omitempty"`
	Part int        `json:"part,omitempty"` // of an entry
	Word string     `json:"word,omitempty"` // of find
	Back string     `json:"back,omitempty"` // of read: the address of the page before
}

// Views. A list has the entries before a place; newer begins with the entry at a place.
const (
	list  = ""
	newer = "newer"
	read  = "read"
	days  = "days"
	find  = "find"
)

// viewOf is the view of a session in an address.
type viewOf struct {
	Session uuid.UUID `json:"session"`
	view
}

// address returns the address of a view.
func address(session uuid.UUID, v view) string { return chat.Address(page, viewOf{session, v}) }

// session returns the session and view of a page; without an address, the current session.
func (h *History) session(v chat.Visit) (r port.Session, at view, ok bool) {
	of := chat.ViewAt[viewOf](v.Rest)
	if v.Rest == "" {
		of.Session = h.chat.Book.CurrentID(v.To, v.By)
	}
	r, ok = h.chat.Book.Records.Get(of.Session)
	return r, of.view, ok
}

// drawing is one page while it is drawn.
type drawing struct {
	*History
	chat.Phrases
	session port.Session
}

// to returns an option that leads to a view of the session.
func (d drawing) to(text string, v view) card.Option {
	return card.Option{Text: text, Value: chat.ToPage(address(d.session.ID, v))}
}

func (d drawing) back() string { return address(d.session.ID, view{}) }

func (h *History) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	r, at, ok := h.session(v)
	d := drawing{h, h.chat.In(v.To), r}
	if !ok {
		return chat.Screen{Text: render.Plain(d.Say(i18n.SessionGone)), Back: top}, nil
	}
	s, err := d.view(ctx, at)
	if refusal.Is(err, refusal.Replaced) {
		s, err = d.list(ctx, view{})
		s.Text = chat.Paragraphs(render.Plain(d.Say(i18n.HistoryReplaced)), s.Text)
	}
	if refusal.Is(err, refusal.Unsaid) {
		s, err = chat.Screen{Text: d.Text(i18n.HistoryNone, i18n.Args{"Name": r.Name}), Back: top}, nil
	}
	s.Session = r.ID
	return s, err
}

func (d drawing) view(ctx context.Context, v view) (chat.Screen, error) {
	switch v.What {
	case read:
		return d.read(ctx, v)
	case days:
		return d.days(ctx, v)
	case find:
		return d.find(ctx, v)
	}
	return d.list(ctx, v)
}

// list draws a part of the conversation, newest first.
func (d drawing) list(ctx context.Context, v view) (s chat.Screen, err error) {
	var entries []talk.Entry
	older, later := false, v.At != ""
	if v.What == newer {
		if entries, err = d.said.Read(ctx, d.session.ID, v.At, talk.Newer, pageEntries+1); err != nil {
			return s, err
		}
		if len(entries) <= pageEntries { // all of them are among the newest
			v = view{}
			later = false
		} else {
			before, err := d.said.Read(ctx, d.session.ID, v.At, talk.Older, 1)
			if err != nil {
				return s, err
			}
			entries, older = entries[1:], len(before) > 0
		}
	}
	if v.What != newer {
		if entries, err = d.said.Read(ctx, d.session.ID, v.At, talk.Older, pageEntries+1); err != nil {
			return s, err
		}
		older = len(entries) > pageEntries
		entries = entries[:min(len(entries), pageEntries)]
	}
	if len(entries) == 0 && later { // an older file of the conversation is gone
		return s, &refusal.Error{Code: refusal.Replaced}
	}
	title := d.Text(i18n.HistoryTitle, i18n.Args{"Name": d.session.Name})
	text := []render.Text{title}
	var numbers, turns []card.Option
	for i, e := range entries {
		number := strconv.Itoa(i + 1)
		text = append(text, d.short(number, e))
		numbers = append(numbers, d.to(number, view{What: read, At: e.At, Back: address(d.session.ID, v)}))
	}
	if later {
		turns = append(turns, d.to(d.Say(i18n.ButtonNewer), view{What: newer, At: entries[0].Next}))
	}
	if older {
		turns = append(turns, d.to(d.Say(i18n.ButtonOlder), view{At: entries[len(entries)-1].At}))
	}
	text = append(text, render.Plain(d.Say(i18n.HistoryHint)))
	more := []card.Option{d.to(d.Say(i18n.ButtonDays), view{What: days}),
		{Text: d.Say(i18n.ButtonAsFile), Value: file}}
	if v == (view{}) {
		more = append(more, d.to(d.Say(i18n.ButtonRefresh), view{}))
	}
	s = chat.Screen{Text: chat.Paragraphs(text...), Options: [][]card.Option{numbers, turns, more}, Back: d.back()}
	if v == (view{}) {
		s.Back = top
	}
	return s, nil
}

// find shows the hits of a word.
func (d drawing) find(ctx context.Context, v view) (s chat.Screen, err error) {
	found, err := d.said.Find(ctx, d.session.ID, v.At, v.Word, pageEntries, timeout)
	if err != nil {
		return s, err
	}
	args := i18n.Args{"Name": d.session.Name, "Sought": chat.Head(v.Word, shownWord)}
	title := i18n.HistoryFound
	switch {
	case len(found.Hits) == 0 && found.Next != "":
		title = i18n.HistoryNotYet
	case len(found.Hits) == 0 && v.At != "":
		title = i18n.HistoryNoMore
	case len(found.Hits) == 0:
		title = i18n.HistoryNothing
	}
	text := []render.Text{d.Text(title, args)}
	var numbers []card.Option
	for i, hit := range found.Hits {
		number := strconv.Itoa(i + 1)
		line := render.Join(render.Plain(excerpt(hit.Before)), render.Bold(chat.OneLine(hit.Word)), render.Plain(excerpt(hit.After)))
		text = append(text, chat.Lines(d.head(number, talk.Entry{Kind: hit.Kind, Time: hit.Time}), line))
		numbers = append(numbers, d.to(number, view{What: read, At: hit.At, Back: address(d.session.ID, v)}))
	}
	s = chat.Screen{Text: chat.Paragraphs(text...), Options: [][]card.Option{numbers}, Back: d.back()}
	if found.Next != "" {
		on := view{What: find, At: found.Next, Word: v.Word}
		s.Options = append(s.Options, []card.Option{d.to(d.Say(i18n.ButtonSearchOn), on)})
	}
	return s, nil
}

// days lists the days with entries.
func (d drawing) days(ctx context.Context, v view) (s chat.Screen, err error) {
	found, err := d.said.Days(ctx, d.session.ID, v.At, pageDays+1, timeout)
	if err != nil {
		return s, err
	}
	s = chat.Screen{Text: d.Text(i18n.HistoryDays, i18n.Args{"Name": d.session.Name}), Back: d.back()}
	options := each.As(found.Days[:min(len(found.Days), pageDays)], func(day talk.Day) card.Option {
		return d.to(d.Day(day.Time), view{What: newer, At: day.At})
	})
	s.Options = chat.Rows(3, options...)
	switch {
	case len(found.Days) > pageDays:
		older := view{What: days, At: found.Days[pageDays-1].At}
		s.Options = append(s.Options, []card.Option{d.to(d.Say(i18n.ButtonOlder), older)})
	case found.Next != "":
		s.Text = chat.Lines(s.Text, render.Plain(d.Say(i18n.HistoryDaysMore)))
		s.Options = append(s.Options, []card.Option{d.to(d.Say(i18n.ButtonSearchOn), view{What: days, At: found.Next})})
	}
	return s, nil
}

// typed searches for the text of a reply to a list or a search. A reply to an entry or to the days
// is not taken.
func (h *History) typed(_ context.Context, v chat.Visit, text string) (next string, err error) {
	r, at, ok := h.session(v)
	if at.What == read || at.What == days {
		return "", chat.ErrNotTaken
	}
	word := strings.Join(strings.Fields(text), " ")
	if !ok || word == "" {
		return "", nil
	}
	return address(r.ID, view{What: find, Word: word}), nil
}
