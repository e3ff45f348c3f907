package screenshot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/capture"
	"ccbot/internal/cellpicture"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/refusal"
)

// screenshots are the pictures of all sessions.
type screenshots struct {
	chat  *chat.Chat
	panes port.Panes
	fonts cellpicture.Fonts
	cards chat.Cards[payload]
	named sync.Map // of advice: in this run, the package was named in the chat
}

// advice is a package that a chat was advised to install.
type advice struct {
	chat int64
	name string
}

// payload is the screen that a card shows.
type payload struct {
	Fingerprint string   `json:"fingerprint"`
	Packages    []string `json:"packages,omitempty"` // that the message names
}

const (
	kind    = "screenshot"
	refresh = "refresh"
	asText  = "text"
)

// New returns the feature. fonts has the characters that the built-in fonts lack.
func New(c *chat.Chat, panes port.Panes, fonts cellpicture.Fonts) chat.Feature {
	s := &screenshots{chat: c, panes: panes, fonts: fonts, cards: chat.NewCards[payload](c, kind)}
	f := chat.Feature{Name: kind, Cards: map[string]chat.OnTap{kind: s.cards.OnTap(s.tap)}}
	c.ByName(&f, chat.Command{Name: "screenshot"}, func(r port.Session) bool { return r.State.Live() }, s.show)
	return f
}

// show sends a picture, and takes the keys off the one before.
func (s *screenshots) show(ctx context.Context, in chat.Incoming, r port.Session) error {
	now, err := s.panes.Screen(ctx, r.ID, port.KeyOn{})
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(r, err))
	}
	content, next, err := s.content(in.To, r, now, "", payload{})
	if err != nil {
		return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(r, err))
	}
	for _, old := range s.cards.List() {
		if old.Content.To == in.To {
			err = errors.Join(err, s.cards.Close(ctx, old.Key, render.Text{}))
		}
	}
	return errors.Join(err, s.name(in.To, next, s.cards.Post(ctx, content, next)))
}

// tap presses a key, and replaces the picture; or it sends the screen as text.
func (s *screenshots) tap(ctx context.Context, t chat.Tap, was payload) (chat.Answer, error) {
	if r, known := s.chat.Book.Records.Get(t.Card.Session); known && s.chat.Book.Veils(t.To, r.Conversation) {
		return chat.Answer{}, s.cards.Close(ctx, t.Card.Key, s.chat.In(t.To).HiddenText(r))
	}
	if t.Card.Option == asText {
		return chat.Do(func(ctx context.Context) error { return s.sendText(ctx, t) })
	}
	return chat.Do(func(ctx context.Context) error {
		p := s.chat.In(t.To)
		r, _ := s.chat.Book.Records.Get(t.Card.Session)
		var press port.KeyOn
		if t.Card.Option != refresh {
			press = port.KeyOn{Key: t.Card.Option, Fingerprint: was.Fingerprint}
		}
		now, err := s.panes.Screen(ctx, r.ID, press)
		said := ""
		switch {
		case refusal.Is(err, refusal.Changed):
			said = p.Say(i18n.ScreenChanged, i18n.Args{"Key": words[t.Card.Option]})
		case refusal.Is(err, refusal.Guarded):
			said = p.Say(i18n.ScreenGuarded, i18n.Args{"Key": words[t.Card.Option]})
			now, err = s.panes.Screen(ctx, r.ID, port.KeyOn{})
		case refusal.Is(err, refusal.NoAgent, refusal.NotFound):
			return errors.Join(s.cards.End(ctx, t, ""), s.chat.Explain(ctx, t.To, p.Failure(r, err)))
		}
		if err != nil && !refusal.Is(err, refusal.Changed) {
			return s.chat.Explain(ctx, t.To, p.Failure(r, err))
		}
		content, next, err := s.content(t.To, r, now, said, was)
		if err != nil {
			return s.chat.Explain(ctx, t.To, p.Failure(r, err))
		}
		return s.name(t.To, next, s.cards.Redraw(ctx, t.Card.Key, content, next))
	})
}

// sendText sends the terminal's screen as text that can be copied; of a large screen the lower
// part.
func (s *screenshots) sendText(ctx context.Context, t chat.Tap) error {
	r, _ := s.chat.Book.Records.Get(t.Card.Session)
	now, err := s.panes.Screen(ctx, r.ID, port.KeyOn{})
	if err != nil {
		return s.chat.Explain(ctx, t.To, s.chat.In(t.To).Failure(r, err))
	}
	text := render.Pre(screenText(now.Text), "")
	return s.chat.Post(ctx, card.Content{To: t.To, Session: r.ID, Text: chat.Lines(render.Bold(r.Name), text)})
}

// headRoom is kept free for the name above a screen, in UTF-16 units.
const headRoom = 300

// screenText returns the rows of a screen that a message has room for, without their colours.
func screenText(screen string) string {
	rows, _ := shownRows(screen)
	lines := each.As(rows, func(row []cellpicture.Cell) string {
		cells := each.As(row, func(c cellpicture.Cell) string { return cmp.Or(c.Text, " ") })
		return strings.TrimRight(strings.Join(cells, ""), " ")
	})
	for len(lines) > 1 && render.Plain(strings.Join(lines, "\n")).Length() > render.Limit-headRoom {
		lines = lines[1:]
	}
	return cmp.Or(strings.Trim(strings.Join(lines, "\n"), "\n"), " ")
}

// words are the labels of the keys.
var words = map[string]string{"up": "↑", "down": "↓", "left": "←", "right": "→", "tab": "Tab", "backtab": "⇧Tab", "space": "Space",
	"esc": "Esc", "interrupt": "^C", "enter": "Enter"}

func keys(names ...string) []card.Option {
	return each.As(names, func(name string) card.Option { return card.Option{Text: words[name], Value: name} })
}

// content returns a card of a screen, and its payload. said is the result of a tap on the card that
// showed was.
func (s *screenshots) content(to outbox.Conversation, r port.Session, now port.Screen, said string, was payload) (card.Content, payload, error) {
	p := s.chat.In(to)
	shot, err := picture(now.Text, s.fonts)
	if err != nil {
		return card.Content{}, payload{}, err
	}
	text := []render.Text{render.Join(render.Bold(r.Name), render.Plain(" · "+p.Seconds(p.Now())))}
	if said != "" {
		text = append(text, render.Plain(said))
	}
	again := []card.Option{p.Option(i18n.ButtonRefresh, refresh, ""), p.Option(i18n.ButtonAsText, asText, "")}
	rows := [][]card.Option{keys("up", "down", "left", "right"), keys("tab", "backtab", "space", "enter"), keys("esc", "interrupt"), again}
	switch {
	case !shot.whole:
		rows = [][]card.Option{again}
		text = append(text, render.Plain(p.Say(i18n.ScreenTooLarge)))
	case !now.Whole:
		rows = [][]card.Option{rows[0], rows[2], again}
		text = append(text, render.Plain(p.Say(i18n.DialogNotWhole)))
	case now.Unasked:
		rows = [][]card.Option{rows[0], rows[2], again}
		text = append(text, render.Plain(p.Say(i18n.KeysRelayed)))
	}
	next := payload{Fingerprint: now.Fingerprint, Packages: s.advise(to, shot.packages, was.Packages)}
	if len(next.Packages) > 0 {
		command := render.Code("sudo apt-get install " + strings.Join(next.Packages, " "))
		text = append(text, p.Text(i18n.FontsMissing, i18n.Args{"Command": command}))
	}
	return card.Content{To: to, Session: r.ID, Text: chat.Lines(text...), Picture: shot.picture, Options: rows}, next, nil
}

// advise returns the packages that a message names: each is named in one message of a chat in a run
// of ccbot. That message named before; it keeps the name as long as its picture lacks a character.
func (s *screenshots) advise(to outbox.Conversation, missing, before []string) []string {
	return slices.DeleteFunc(missing, func(name string) bool {
		_, named := s.named.Load(advice{to.ChatID, name})
		return named && !slices.Contains(before, name)
	})
}

// name remembers the packages that a message names, unless the message was not kept: err is the
// result of that.
func (s *screenshots) name(to outbox.Conversation, by payload, err error) error {
	if err == nil {
		for _, name := range by.Packages {
			s.named.Store(advice{to.ChatID, name}, true)
		}
	}
	return err
}

const (
	photoSide  = 1280 // pixels; Telegram makes a longer side of a photo so long, which blurs letters
	margin     = 12
	widest     = 16 // of a cell, in pixels
	narrowest  = 10
	maxColumns = 300
	maxRows    = 120
	minRows    = 5       // Telegram takes no flatter picture than 20 to 1 as a photo
	maxBytes   = 5 << 19 // of a picture: a card's file takes a little more
)

// shot is a picture of a terminal.
type shot struct {
	picture  *outbox.Picture
	whole    bool     // nothing was left out
	packages []string // of Debian, with fonts that have the characters missing here
}

// picture draws a terminal's screen.
func picture(screen string, fonts cellpicture.Fonts) (shot, error) {
	rows, whole := shownRows(screen)
	for {
		columns := 1
		for _, row := range rows {
			columns = max(columns, cellpicture.Columns(row))
		}
		grid, photo := gridFor(columns, len(rows))
		drawn, err := cellpicture.Picture{Lines: rows, Ink: capture.Ink, Paper: capture.Paper, Grid: grid, Columns: columns, Fonts: fonts}.Draw()
		if err != nil {
			return shot{}, err
		}
		data, err := drawn.PNG()
		if err != nil || len(data) <= maxBytes {
			return shot{&outbox.Picture{PNG: data, Exact: !photo}, whole, drawn.Packages()}, err
		}
		rows, whole = rows[(len(rows)+1)/2:], false // every cell has another colour
	}
}

// shownRows are the rows of a screen that are drawn: without the blank ones at its end, and of a
// screen that is too large the lower left part.
func shownRows(screen string) (rows [][]cellpicture.Cell, whole bool) {
	rows = capture.Read(screen)
	for len(rows) > 0 && blank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	for len(rows) < minRows {
		rows = append(rows, nil)
	}
	whole = len(rows) <= maxRows
	rows = rows[max(0, len(rows)-maxRows):]
	for i, row := range rows {
		for cellpicture.Columns(row) > maxColumns {
			row, whole = row[:min(len(row)-1, maxColumns)], false
		}
		rows[i] = row
	}
	return rows, whole
}

func blank(row []cellpicture.Cell) bool {
	for _, c := range row {
		if strings.TrimSpace(c.Text) != "" || c.Underline || c.Strike || c.Paper != (cellpicture.Cell{}).Paper {
			return false
		}
	}
	return true
}

// gridFor is the largest grid with which a picture is a photo that Telegram leaves as it is. A cell
// is twice as high as wide.
func gridFor(columns, rows int) (g cellpicture.Grid, photo bool) {
	for width := widest; width >= narrowest; width-- {
		g = cellpicture.Grid{Width: width, Height: 2 * width, Margin: margin}
		if size := g.Size(columns, rows); size.X <= photoSide && size.Y <= photoSide {
			return g, true
		}
	}
	return g, false
}
