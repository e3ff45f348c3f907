package modes

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/port/modes"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Modes are the cards of all sessions.
type Modes struct {
	chat     *chat.Chat
	switches modes.Switches
	cards    chat.Cards[shown] // by session
}

// shown is what a card shows.
type shown struct {
	Asked  int64         `json:"asked"` // the only person whose taps count
	Now    modes.Now     `json:"now"`
	Failed modes.Outcome `json:"failed,omitempty"` // of the last wish
	What   modes.Wish    `json:"what,omitzero"`    // that wish
	Posted time.Time     `json:"posted,omitzero"`
}

const kind = "modes"

// New returns the feature of a chat.
func New(c *chat.Chat, switches modes.Switches) *Modes {
	return &Modes{chat: c, switches: switches, cards: chat.NewCards[shown](c, kind)}
}

// Feature is what the roof knows of it.
func (m *Modes) Feature() chat.Feature {
	f := chat.Feature{Name: "modes", Cards: map[string]chat.OnTap{kind: m.cards.OnTap(m.tap)},
		News: []chat.Teller{chat.Tells(m.switched)}, Heard: m.hear}
	m.chat.ByName(&f, chat.Command{Name: "mode"}, func(r views.Session) bool { return r.Open },
		func(ctx context.Context, in chat.Incoming, r views.Session) error {
			return m.show(ctx, in.To, r.ID, in.From, false)
		})
	return f
}

// Show shows a session's modes in a message whose buttons are for the person who asked. Two taps are one message.
func (m *Modes) Show(ctx context.Context, in chat.Incoming, r views.Session) error {
	return m.show(ctx, in.To, r.ID, in.From, true)
}

// show shows a session's modes in a new message; tapped: or in the one that the last tap has brought. An earlier card of
// the session loses its buttons.
func (m *Modes) show(ctx context.Context, to address.Conversation, session uuid.UUID, asked int64, tapped bool) error {
	r, _ := m.chat.Book.Records.Get(session)
	now, err := m.switches.Switch(ctx, session, modes.Wish{})
	if err != nil {
		return m.chat.Explain(ctx, to, m.chat.In(to).Failure(r, err))
	}
	defer m.cards.Hold()()
	old, open := m.cards.Get(session.String())
	again := tapped && open && old.Look.To == to && old.Payload.Asked == asked && m.chat.Now().Sub(old.Payload.Posted) < chat.StillThere
	s := shown{Asked: asked, Now: now, Posted: m.chat.Now()}
	if again {
		s.Failed, s.What = old.Payload.Failed, old.Payload.What
	} else if err := m.cards.Close(ctx, session.String(), render.Text{}); err != nil {
		return err
	}
	return m.cards.Show(ctx, session.String(), m.look(r, to, s), s)
}

// tap wants what the option says. The card says that it is still to come before anything is wanted:
// the news of the end may be there at once.
func (m *Modes) tap(_ context.Context, t chat.Tap, was shown) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		id := t.Card.Session
		r, _ := m.chat.Book.Records.Get(id)
		now, err := m.switches.Switch(ctx, id, modes.Wish{})
		if err == nil {
			want := modes.Wish{Mode: modes.Mode(t.Card.Option)}
			if model, ok := strings.CutPrefix(t.Card.Option, modelPrefix); ok {
				want = modes.Wish{Model: model}
			}
			now.Want.Mode, now.Want.Model = cmp.Or(want.Mode, now.Want.Mode), cmp.Or(want.Model, now.Want.Model)
			err = m.redraw(ctx, r, func(s *shown) { *s = shown{Asked: was.Asked, Now: now, Posted: was.Posted} })
			if err == nil {
				_, err = m.switches.Switch(ctx, id, want)
			}
		}
		if err == nil {
			return nil
		}
		back := m.redraw(ctx, r, func(s *shown) { *s = was })
		return errors.Join(back, m.chat.Explain(ctx, t.To, m.chat.In(t.To).Failure(r, err)))
	})
}

// switched draws what came of a wish. A person who has waited, or whose card is gone, gets a message.
func (m *Modes) switched(ctx context.Context, r views.Session, n news.Switched) error {
	_, open := m.cards.Get(r.ID.String())
	err := m.redraw(ctx, r, func(s *shown) {
		s.Failed, s.What = n.Outcome, n.Wish
		if s.Now.Mode = n.Seen; n.Mode != "" && s.Now.Want.Mode == n.Mode {
			s.Now.Want.Mode = ""
		}
		if n.Model != "" && s.Now.Want.Model == n.Model {
			s.Now.Want.Model = ""
		}
		if n.Model != "" && n.Outcome == modes.Done {
			s.Now.Model = n.Model
		}
	})
	if err != nil || open && !n.Waited {
		return err
	}
	p := m.chat.In(r.Conversation)
	text := outcome(p, r, n.Wish, n.Outcome)
	if n.Mode != "" && n.Outcome != modes.Done && n.Seen != "" {
		text = render.Join(text, render.Plain("\n"+p.Say(i18n.StatusMode, i18n.Args{"Mode": modeText(p, n.Seen)})))
	}
	return m.chat.Post(ctx, card.Look{To: r.Conversation, Session: r.ID, Text: text,
		Sounds: n.Outcome != modes.Done && m.chat.Sounds(chat.NotSwitched, r)})
}

// hear closes the card of a session that is over.
func (m *Modes) hear(ctx context.Context, r views.Session, n news.News) error {
	switch n.(type) {
	case news.Ended, news.Lost, news.Stopped, news.Failed:
		defer m.cards.Hold()()
		return m.cards.Close(ctx, r.ID.String(), render.Text{})
	}
	return nil
}

// redraw changes the open card of a session, if there is one.
func (m *Modes) redraw(ctx context.Context, r views.Session, change func(s *shown)) error {
	defer m.cards.Hold()()
	c, open := m.cards.Get(r.ID.String())
	if !open {
		return nil
	}
	change(&c.Payload)
	return m.cards.Redraw(ctx, c.Key, m.look(r, c.Look.To, c.Payload), c.Payload)
}

const modelPrefix = "model " // of the options that are a model; the others are a mode

// look is the card: what the agent runs with, what is still to come, and a button for each choice.
func (m *Modes) look(r views.Session, to address.Conversation, s shown) card.Look {
	p := m.chat.In(to)
	model := p.Say(i18n.ModelHidden)
	if s.Now.Model != "" {
		model = chat.ShownName(s.Now.Model)
	}
	lines := []string{
		p.Say(i18n.StatusMode, i18n.Args{"Mode": modeText(p, s.Now.Mode)}),
		p.Say(i18n.StatusModel, i18n.Args{"Model": model}),
		p.Say(i18n.ModesForSession),
	}
	if s.Now.Mode == modes.Bypass || s.Now.Mode == modes.Auto {
		lines = append(lines, p.Say(i18n.ModesTerminalOnly, i18n.Args{"What": modeText(p, s.Now.Mode)}))
	}
	lines = append(lines, pending(p, s.Now)...)
	text := render.Join(render.Bold(chat.ShownName(r.Name)), render.Plain("\n"+strings.Join(lines, "\n")))
	if s.Failed != modes.Done {
		text = render.Join(text, render.Plain("\n"+chat.Warning), outcome(p, r, s.What, s.Failed))
	}
	return card.Look{To: to, Session: r.ID, Text: text, Options: options(p, s)}
}

// pending says what is still to be switched.
func pending(p chat.Phrases, now modes.Now) (lines []string) {
	var what []string
	if now.Want.Mode != "" {
		what = append(what, modeText(p, now.Want.Mode))
	}
	if now.Want.Model != "" {
		what = append(what, now.Want.Model)
	}
	if len(what) == 0 {
		return nil
	}
	word := i18n.ModesPending
	if now.Waits {
		word = i18n.ModesWaits
	}
	return []string{"", p.Say(word, i18n.Args{"What": strings.Join(what, p.Say(i18n.JoinNames))})}
}

// options are the buttons. What is there now has a tick, what is still to come dots.
func options(p chat.Phrases, s shown) [][]card.Option {
	var ofModes, ofModels []card.Option
	for _, mode := range modes.Modes {
		o := p.Option(i18n.ModeKey.Of(string(mode)), string(mode), "")
		o.Text, o.For = sign(s.Now.Mode == mode, s.Now.Want.Mode == mode)+o.Text, s.Asked
		ofModes = append(ofModes, o)
	}
	for _, model := range modes.Models {
		is := s.Now.Model == model || strings.HasPrefix(s.Now.Model, model+" ")
		text := sign(is, s.Now.Want.Model == model) + model
		ofModels = append(ofModels, card.Option{Text: text, Value: modelPrefix + model, For: s.Asked})
	}
	return append(chat.Rows(2, ofModes...), chat.Rows(2, ofModels...)...)
}

func sign(is, coming bool) string {
	switch {
	case coming:
		return "… "
	case is:
		return "✓ "
	}
	return ""
}

// outcome says what came of a wish.
func outcome(p chat.Phrases, r views.Session, w modes.Wish, o modes.Outcome) render.Text {
	word, what := i18n.SwitchedModel, w.Model
	if w.Mode != "" {
		word, what = i18n.SwitchedMode, modeText(p, w.Mode)
	}
	if o != modes.Done {
		word = i18n.SwitchedKey.Of(string(o))
	}
	return p.Text(word, i18n.Args{"Name": r.Name, "What": what})
}

func modeText(p chat.Phrases, mode modes.Mode) string {
	if mode == "" {
		return p.Say(i18n.ModeHidden)
	}
	return p.Say(i18n.ModeKey.Of(string(mode)))
}
