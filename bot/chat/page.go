package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
)

// Page is a screen of a feature. A message shows one page at a time, at an address such as
// "help/tips": the name of the page, followed by the data that the feature needs to draw the page,
// see Address. Its buttons lead to other addresses, or do something. A page is drawn from its
// address alone, so that it outlives a restart, and several people may leaf at once, each in a
// separate message.
type Page struct {
	Draw func(ctx context.Context, v Visit) (Screen, error)
	// Do carries out the value of an option, and returns the address that is shown after the
	// answer's Then; empty: the same page. If Then is refused, the refusal is explained, and the
	// page stays.
	Do func(ctx context.Context, v Visit, what string) (a Answer, next string, err error)
	// Typed takes a reply to the page, and returns the address that is shown next. Without it, or
	// if it returns ErrNotTaken, such a text is like any other.
	Typed func(ctx context.Context, v Visit, text string) (next string, err error)
	// Wordless means that the page shows nothing that a person or an agent wrote about its session, so that
	// a group sees it also of a session of another chat. Of any other page it sees a sentence.
	Wordless bool
	// Own restricts the page to the person who opened it; taps and replies of others are ignored.
	Own bool
	// Live reports whether news of the page's session change the page, which is then redrawn. Of a
	// session's messages with the page in a conversation only the newest keeps its buttons.
	Live func(n news.News) bool
}

// Visit is a person's visit of a page.
type Visit struct {
	To      outbox.Conversation
	By      int64     // the person who opened the page or tapped last
	Rest    string    // of the address, after the name of the page
	Message int       // shows the page; 0 while the page is drawn
	Sent    time.Time // of the text of Typed
}

// Screen is the content of a page at an address. The value of an option is handed to the page's Do,
// unless ToPage makes it. A message without options is final. If Draw is refused, the page shows
// the refusal about Session, with Back.
type Screen struct {
	Text    render.Text
	Options [][]card.Option
	Back    string    // the address that [Back] leads to; empty: there is no such button
	Session uuid.UUID // that the page is about
	Until   time.Time // when the message loses its buttons; zero: never
}

// ErrStay is returned by the Then of a page's Answer to show the same page again, not the next one.
var ErrStay = errors.New("the page stays")

// ErrNotTaken is returned by Typed for a text that is not meant for the page.
var ErrNotTaken = errors.New("the text is not for the page")

const (
	PageKind = "page" // of the cards
	toPage   = "to:"
	does     = "do:"
)

// Address is the address of a page's view, a struct of plain values; the zero view is the first.
func Address(page string, view any) string {
	data, _ := json.Marshal(view) // plain values always encode
	if string(data) == "{}" {
		return page
	}
	return page + "/" + string(data)
}

// About is the address of a page's first view of a session. Its views have the id as "session".
func About(page string, session uuid.UUID) string {
	return Address(page, map[string]uuid.UUID{"session": session})
}

// ViewAt returns the view of an address, after the name of the page. An invalid address leads to
// the first view.
func ViewAt[V any](rest string) (view V) {
	_ = json.Unmarshal([]byte(rest), &view)
	return view
}

// ToPage is the value of an option that leads to a page.
func ToPage(address string) string { return toPage + address }

// pagePayload is the payload of a message that shows a page.
type pagePayload struct {
	At string `json:"at"`
	By int64  `json:"by"` // the person who opened it or tapped last
	// Used is the time of By's last action at it; zero: By has turned to something else.
	Used time.Time `json:"used,omitzero"`
	// Reply is the reply below which the page has come down. A repeated reply is not typed twice.
	Reply int `json:"reply,omitzero"`
	// Left are the messages above which the page has come down, the last ten.
	Left []int `json:"left,omitempty"`
	// First is the address with which the message was opened, and Opened the time.
	First  string    `json:"first,omitempty"`
	Opened time.Time `json:"opened,omitzero"`
}

// Pages are all pages and the messages that show them.
type Pages struct {
	All   map[string]Page // by their name
	cards Cards[pagePayload]
	chat  *Chat
	wake  chan struct{}

	mu      sync.Mutex
	changed map[subject]bool // those with news
}

// subject is a page and the session that it is about.
type subject struct {
	page    string
	session uuid.UUID
}

// PagesName is the name of the feature of all pages.
const PagesName = "pages"

// Feature describes all pages to the dispatcher.
func (p *Pages) Feature() Feature {
	return Feature{Name: PagesName, Cards: map[string]OnTap{PageKind: p.cards.OnTap(p.tapped)}, Text: p.typed, OnNews: p.onNews, Run: p.run}
}

// Command is a slash command that opens a page.
func (p *Pages) Command(name, address string) Command {
	return Command{Name: name, Run: func(ctx context.Context, in Incoming, _ string) error { return p.Open(ctx, in, address) }}
}

// Open shows a page in a separate message. A page that cannot be drawn is explained.
func (p *Pages) Open(ctx context.Context, in Incoming, address string) error {
	return p.open(ctx, in, address, false)
}

// Show is Open for a button. The second of two taps shows the page in the message of the first.
func (p *Pages) Show(ctx context.Context, in Incoming, address string) error {
	return p.open(ctx, in, address, true)
}

// stillThere is how long a page that was opened with a button counts as seen.
const stillThere = time.Minute

func (p *Pages) open(ctx context.Context, in Incoming, address string, tapped bool) error {
	look, _, err := p.draw(ctx, in.To, in.From, address)
	if err != nil {
		r, _ := p.chat.Book.Records.Get(look.Session)
		return p.chat.Explain(ctx, in.To, p.chat.In(in.To).Failure(r, err))
	}
	page, name := p.All[nameOf(address)], nameOf(address)
	now := p.chat.Now()
	next := pagePayload{At: address, By: in.From, Used: now, First: address, Opened: now}
	defer p.cards.Hold()()
	for _, c := range p.cards.List() {
		was := c.Payload
		second := tapped && was.First == address && now.Sub(was.Opened) < stillThere && (!page.Own || was.By == in.From)
		switch {
		case c.Content.To != in.To:
		case second:
			next.Opened = was.Opened
			return p.cards.Redraw(ctx, c.Key, look, next)
		case page.Live != nil && nameOf(was.At) == name && c.Content.Session == look.Session:
			if err := p.cards.Close(ctx, c.Key, render.Text{}); err != nil {
				return err
			}
		}
	}
	if err := p.cards.Post(ctx, look, next); err != nil || page.Live == nil {
		return err
	}
	p.change(subject{name, look.Session}) // news before this call found no message
	return nil
}

func nameOf(address string) string {
	name, _, _ := strings.Cut(address, "/")
	return name
}

// Shows reports whether a message shows a page about a session.
func (p *Pages) Shows(name string, session uuid.UUID) bool {
	return slices.ContainsFunc(p.cards.List(), func(c card.Card[pagePayload]) bool {
		return nameOf(c.Payload.At) == name && c.Content.Session == session
	})
}

// onNews notes the pages that news change.
func (p *Pages) onNews(_ context.Context, r port.Session, n news.News) error {
	for name, page := range p.All {
		if page.Live == nil || !page.Live(n) {
			continue
		}
		p.change(subject{name, r.ID})
	}
	return nil
}

// Change redraws the pages of a name that are about no session.
func (p *Pages) Change(name string) { p.change(subject{page: name}) }

func (p *Pages) change(s subject) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed[s] = true
	pause.Poke(p.wake)
}

// run draws the pages that news change, and at its start all of them.
func (p *Pages) run(ctx context.Context) error {
	for _, c := range p.cards.List() {
		if name := nameOf(c.Payload.At); p.All[name].Live != nil {
			p.change(subject{name, c.Content.Session})
		}
	}
	for pause.Until(ctx, pause.Forever, p.wake) {
		p.mu.Lock()
		changed := p.changed
		p.changed = make(map[subject]bool)
		p.mu.Unlock()
		for _, c := range p.cards.List() {
			if !changed[subject{nameOf(c.Payload.At), c.Content.Session}] {
				continue
			}
			if err := p.Refresh(ctx, c.Key); err != nil && ctx.Err() == nil {
				p.chat.Log.Warn("page_not_drawn", logkey.SessionID, c.Content.Session.String(), logkey.Error, err)
			}
		}
	}
	return nil
}

func (p *Pages) tapped(ctx context.Context, t Tap, was pagePayload) (Answer, error) {
	show := func(next string) func(ctx context.Context) error {
		return func(ctx context.Context) error { return p.show(ctx, t.Card.Key, t.To, p.used(was, next, t.From)) }
	}
	if next, leads := strings.CutPrefix(t.Card.Option, toPage); leads {
		if to, _ := p.find(next); to.Draw == nil { // an earlier version had the page
			return Answer{Text: p.chat.In(t.To).Say(i18n.StaleButton), Then: show(was.At)}, nil
		}
		return Do(show(next))
	}
	page, rest := p.find(was.At)
	what, acts := strings.CutPrefix(t.Card.Option, does)
	if !acts || page.Do == nil {
		return p.cards.AnswerExpired(ctx, t)
	}
	if _, hidden := p.hides(t.To, page, t.Card.Session); hidden {
		return Do(show(was.At)) // it has gone to another chat since
	}
	a, next, err := page.Do(ctx, Visit{To: t.To, By: t.From, Rest: rest, Message: t.Message}, what)
	if err != nil {
		return Answer{}, err
	}
	then, draw := a.Then, show(cmp.Or(next, was.At))
	a.Then = func(ctx context.Context) error {
		if then != nil {
			switch err := then(ctx); {
			case ctx.Err() != nil:
				return err
			case errors.Is(err, ErrStay):
				return show(was.At)(ctx)
			case err != nil:
				r, _ := p.chat.Book.Records.Get(t.Card.Session)
				f := p.chat.In(t.To).Failure(r, err)
				if err := p.chat.Explain(ctx, t.To, f); err != nil || f.Internal {
					return err
				}
				return show(was.At)(ctx)
			}
		}
		return draw(ctx)
	}
	return a, nil
}

// typed hands a reply to its page. The page comes down below that text.
func (p *Pages) typed(ctx context.Context, in *Incoming, text string) (taken bool, err error) {
	seen := func(c card.Card[pagePayload]) bool { return c.Content.To == in.To && c.Payload.Reply == in.MessageID }
	if in.ReplyTo != 0 && slices.ContainsFunc(p.cards.List(), seen) {
		return true, nil
	}
	c, open := p.cards.Find(in.To, in.ReplyTo)
	if !open || in.Quoted {
		in.Unclear = in.Unclear || p.hasLeft(in.To, in.ReplyTo)
		return false, nil
	}
	page, rest := p.find(c.Payload.At)
	if page.Typed == nil || page.Own && c.Payload.By != in.From {
		return false, nil
	}
	next, err := page.Typed(ctx, Visit{To: in.To, By: in.From, Rest: rest, Sent: in.Sent}, text)
	if errors.Is(err, ErrNotTaken) {
		return false, nil
	}
	if err != nil {
		return true, err
	}
	now := p.used(c.Payload, cmp.Or(next, c.Payload.At), in.From)
	now.Reply = in.MessageID
	now.Left = append(slices.Clone(now.Left), c.Message)
	now.Left = now.Left[max(0, len(now.Left)-mostLeft):]
	return true, p.show(ctx, c.Key, in.To, now)
}

const mostLeft = 10

// hasLeft reports whether an open page that takes replies was in a message, and has come down.
func (p *Pages) hasLeft(to outbox.Conversation, message int) bool {
	return message != 0 && slices.ContainsFunc(p.cards.List(), func(c card.Card[pagePayload]) bool {
		page, _ := p.find(c.Payload.At)
		return page.Typed != nil && c.Content.To == to && slices.Contains(c.Payload.Left, message)
	})
}

// used is the payload of a message that shows an address on a person's request.
func (p *Pages) used(was pagePayload, address string, by int64) pagePayload {
	return pagePayload{At: address, By: by, Used: p.chat.Now(), Left: was.Left, First: was.First, Opened: was.Opened}
}

// Turn shows an address in a message that shows a page, for a person who has asked for it. next
// makes the address from the present one, after the name of the page.
func (p *Pages) Turn(ctx context.Context, key string, by int64, next func(rest string) string) error {
	c, open := p.cards.Get(key)
	if !open {
		return nil
	}
	_, rest := p.find(c.Payload.At)
	return p.show(ctx, key, c.Content.To, p.used(c.Payload, next(rest), by))
}

// Mine returns the message at which a person was last in a place, among the messages with a page of
// a name, and the time. It returns false if there is none, or the person has left it.
func (p *Pages) Mine(to outbox.Conversation, by int64, name string) (key string, used time.Time, open bool) {
	for _, c := range p.cards.List() {
		p := c.Payload
		later := cmp.Or(p.Used.Compare(used), cmp.Compare(c.Key, key)) > 0
		if c.Content.To == to && p.By == by && strings.HasPrefix(p.At+"/", name+"/") && !p.Used.IsZero() && later {
			key, used = c.Key, p.Used
		}
	}
	return key, used, key != ""
}

// Leave notes that people have left the pages of a name in a place: a tap brings a reader back to
// them. by 0: all people.
func (p *Pages) Leave(ctx context.Context, to outbox.Conversation, by int64, name string) (err error) {
	defer p.cards.Hold()()
	for _, c := range p.cards.List() {
		of := c.Content.To == to && (by == 0 || c.Payload.By == by) && strings.HasPrefix(c.Payload.At+"/", name+"/")
		if of && !c.Payload.Used.IsZero() {
			c.Payload.Used = time.Time{}
			err = errors.Join(err, p.cards.Redraw(ctx, c.Key, c.Content, c.Payload))
		}
	}
	return err
}

// Refresh redraws the page of a message. It does not count as use.
func (p *Pages) Refresh(ctx context.Context, key string) error {
	c, open := p.cards.Get(key)
	if !open {
		return nil
	}
	return p.show(ctx, key, c.Content.To, pagePayload{At: c.Payload.At, By: c.Payload.By})
}

// show shows an address in a message that already shows a page. Without a use it only redraws: if
// the message now shows another address, that stays.
func (p *Pages) show(ctx context.Context, key string, to outbox.Conversation, next pagePayload) error {
	look, known, err := p.draw(ctx, to, next.By, next.At)
	if err != nil && look.Text.Blank() || !known {
		return err
	}
	defer p.cards.Hold()()
	if next.Reply != 0 {
		return p.cards.Repost(ctx, key, look, next)
	}
	if now, open := p.cards.Get(key); open && next.Used.IsZero() {
		if now.Payload.At != next.At {
			return nil
		}
		next = now.Payload
	}
	return p.cards.Redraw(ctx, key, look, next)
}

// hides reports whether a place sees a sentence instead of a page about a session.
func (p *Pages) hides(to outbox.Conversation, page Page, session uuid.UUID) (r port.Session, hidden bool) {
	r, known := p.chat.Book.Records.Get(session)
	return r, known && !page.Wordless && p.chat.Book.Veils(to, r.Conversation)
}

// draw returns the card of an address; known is false if no feature has such a page. With an error
// that is a refusal the card shows the refusal; otherwise it has no text.
func (p *Pages) draw(ctx context.Context, to outbox.Conversation, by int64, address string) (l card.Content, known bool, err error) {
	page, rest := p.find(address)
	if page.Draw == nil {
		return card.Content{To: to}, false, nil
	}
	s, err := page.Draw(ctx, Visit{To: to, By: by, Rest: rest})
	if err != nil {
		s.Text, s.Options = render.Text{}, nil
		r, _ := p.chat.Book.Records.Get(s.Session)
		if f := p.chat.In(to).Failure(r, err); !f.Internal {
			s.Text, s.Options = f.Text, Rows(1, p.chat.In(to).Option(i18n.ButtonRefresh, ToPage(address), ""))
		}
	}
	if r, hidden := p.hides(to, page, s.Session); hidden {
		s.Text, s.Options, err = p.chat.In(to).HiddenText(r), nil, nil
	}
	if s.Back != "" {
		s.Options = append(s.Options, []card.Option{{Text: p.chat.In(to).Words.Say(i18n.ButtonBack), Value: ToPage(s.Back)}})
	}
	means := "" // the words of the buttons: a person means these words; a button's action depends on the address
	for _, row := range s.Options {
		for i := range row {
			if !strings.HasPrefix(row[i].Value, toPage) {
				row[i].Value = does + row[i].Value
				means += "\n" + address
			}
			means += "\n" + row[i].Text
			if page.Own && row[i].For == 0 {
				row[i].For = by
			}
		}
	}
	return card.Content{To: to, Text: s.Text, Options: s.Options, Session: s.Session, Until: s.Until, Means: means}, true, err
}

func (p *Pages) find(address string) (page Page, rest string) {
	name, rest, _ := strings.Cut(address, "/")
	return p.All[name], rest
}
