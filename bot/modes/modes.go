package modes

import (
	"context"
	"strings"
	"sync"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/news"
)

// Modes are the pages of all sessions.
type Modes struct {
	chat     *chat.Chat
	switches port.ModeSwitcher

	mu sync.Mutex
	by map[uuid.UUID]int64 // who asked last for a switch of a session that is not reported yet
}

const page = "mode"

// view is the address of a page.
type view struct {
	Session uuid.UUID `json:"session"`
}

// New returns the feature of a chat.
func New(c *chat.Chat, switches port.ModeSwitcher) *Modes {
	return &Modes{chat: c, switches: switches, by: make(map[uuid.UUID]int64)}
}

// FeatureName is the name of the feature.
const FeatureName = "modes"

// Feature describes modes to the dispatcher.
func (m *Modes) Feature() chat.Feature {
	f := chat.Feature{Name: FeatureName, OnNews: m.onNews,
		Pages: map[string]chat.Page{page: {Draw: m.draw, Do: m.do, Own: true, Live: changes}}}
	m.chat.PageByName(&f, page, func(r port.Session) bool { return r.State.Open() })
	return f
}

// Show shows a session's modes in a message whose buttons are for the person who asked. Two taps
// are one message.
func (m *Modes) Show(ctx context.Context, in chat.Incoming, r port.Session) error {
	return m.chat.Pages.Show(ctx, in, chat.About(page, r.ID))
}

// AskAgain has the agent ask before each edit.
func (m *Modes) AskAgain(ctx context.Context, _ chat.Incoming, r port.Session) error {
	_, err := m.switches.Switch(ctx, r.ID, port.ModeChange{Mode: port.ModeManual})
	return err
}

// changes reports whether news change an agent's mode or model.
func changes(n news.News) bool {
	_, switched := n.(news.Switched)
	return switched || news.IsEnd(n)
}

// do requests the option's mode or model.
func (m *Modes) do(_ context.Context, v chat.Visit, what string) (chat.Answer, string, error) {
	want := port.ModeChange{Mode: port.Mode(what)}
	if model, ok := strings.CutPrefix(what, modelPrefix); ok {
		want = port.ModeChange{Model: model}
	}
	return chat.Answer{Then: func(ctx context.Context) error {
		session := chat.ViewAt[view](v.Rest).Session
		m.mu.Lock()
		m.by[session] = v.By
		m.mu.Unlock()
		_, err := m.switches.Switch(ctx, session, want)
		return err
	}}, "", nil
}

// takeBy returns who asked for the switch that is reported now; 0: nobody in the chat since the start.
func (m *Modes) takeBy(session uuid.UUID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	by := m.by[session]
	delete(m.by, session)
	return by
}

// onNews reports the outcome of a request, unless the page shows it and the person did not have to
// wait. Where several people read, it also says who asked for it.
func (m *Modes) onNews(ctx context.Context, r port.Session, reported news.News) error {
	n, switched := reported.(news.Switched)
	if !switched {
		return nil
	}
	who := m.chat.By(r.Conversation, m.takeBy(r.ID))
	if who.Blank() && n.Outcome == port.SwitchDone && !n.Waited && m.chat.Pages.Shows(page, r.ID) {
		return nil
	}
	p := m.chat.In(r.Conversation)
	text := outcome(p, r, n.ModeChange, n.Outcome)
	if n.Mode != "" && n.Outcome != port.SwitchDone && n.Seen != "" {
		text = render.Join(text, render.Plain("\n"+p.Say(i18n.StatusMode, i18n.Args{"Mode": modeText(p, n.Seen)})))
	}
	return m.chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: chat.Lines(text, who),
		Sounds: n.Outcome != port.SwitchDone && m.chat.Sounds(chat.NotSwitched, r), News: chat.NewsOf(r)})
}

const modelPrefix = "model " // of the options that are a model; the others are a mode

// draw shows the agent's mode and model, the requested ones, and a button for each choice.
func (m *Modes) draw(ctx context.Context, v chat.Visit) (chat.Screen, error) {
	p := m.chat.In(v.To)
	r, ok := m.chat.Book.Records.Get(chat.ViewAt[view](v.Rest).Session)
	switch {
	case !ok:
		return chat.Screen{Text: render.Plain(p.Say(i18n.SessionGone))}, nil
	case !r.State.Open():
		return chat.Screen{Text: p.EndedText(r), Session: r.ID}, nil
	case !r.Can.Switches():
		return chat.Screen{Text: p.Text(i18n.UnableMode, i18n.Args{"Name": r.Name}), Session: r.ID}, nil
	}
	now, err := m.switches.Switch(ctx, r.ID, port.ModeChange{})
	if err != nil {
		return chat.Screen{Session: r.ID}, err
	}
	lines := values(p, r.Can, now)
	if now.Mode == port.ModeBypass || now.Mode == port.ModeAuto {
		lines = append(lines, p.Say(i18n.ModesTerminalOnly, i18n.Args{"What": modeText(p, now.Mode)}))
	}
	lines = append(lines, pending(p, now)...)
	text := render.Join(render.Bold(chat.ShownName(r.Name)), render.Plain("\n"+strings.Join(lines, "\n")))
	return chat.Screen{Text: text, Session: r.ID, Options: options(p, r.Can, now)}, nil
}

// values lists the mode and the model, as far as they can be switched.
func values(p chat.Phrases, can port.Abilities, now port.ModeState) (lines []string) {
	if len(can.Modes) > 0 {
		lines = append(lines, p.Say(i18n.StatusMode, i18n.Args{"Mode": modeText(p, now.Mode)}))
	}
	if len(can.Models) > 0 {
		model := p.Say(i18n.ModelHidden)
		if now.Model != "" {
			model = chat.ShownName(now.Model)
		}
		lines = append(lines, p.Say(i18n.StatusModel, i18n.Args{"Model": model}), p.Say(i18n.ModesForSession))
	}
	return lines
}

// pending lists the switches still to come.
func pending(p chat.Phrases, now port.ModeState) (lines []string) {
	var what []string
	if now.Want.Mode != "" && now.Want.Mode != now.Mode {
		what = append(what, modeText(p, now.Want.Mode))
	}
	if now.Want.Model != "" && !now.Runs(now.Want.Model) {
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

// options are the buttons. The current values have a tick, requested ones dots.
func options(p chat.Phrases, can port.Abilities, now port.ModeState) [][]card.Option {
	var ofModes, ofModels []card.Option
	for _, mode := range can.Modes {
		text := sign(now.Mode == mode, now.Want.Mode == mode) + modeText(p, mode)
		ofModes = append(ofModes, card.Option{Text: text, Value: string(mode)})
	}
	for _, model := range can.Models {
		text := sign(now.Runs(model), now.Want.Model == model) + model
		ofModels = append(ofModels, card.Option{Text: text, Value: modelPrefix + model})
	}
	return append(chat.Rows(2, ofModes...), chat.Rows(2, ofModels...)...)
}

// sign returns the sign of a choice. A choice that is in force counts as such although its request
// is still noted: the news of a switch comes before the record is saved.
func sign(is, coming bool) string {
	switch {
	case is:
		return "✓ "
	case coming:
		return "… "
	}
	return ""
}

// outcome describes the result of a requested switch.
func outcome(p chat.Phrases, r port.Session, w port.ModeChange, o port.SwitchOutcome) render.Text {
	word, what := i18n.SwitchedModel, w.Model
	if w.Mode != "" {
		word, what = i18n.SwitchedMode, modeText(p, w.Mode)
	}
	if o != port.SwitchDone {
		word = i18n.SwitchedKey.Of(string(o))
	}
	return p.Text(word, i18n.Args{"Name": r.Name, "What": what})
}

func modeText(p chat.Phrases, mode port.Mode) string {
	if mode == "" {
		return p.Say(i18n.ModeHidden)
	}
	return p.ModeText(string(mode), "")
}
