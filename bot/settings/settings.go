package settings

import (
	"context"
	"slices"
	"time"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Configured is what holds where nothing is chosen.
type Configured struct {
	IdleAfter time.Duration // 0: never
	Steps     string
}

// Settings are the pages about what a chat has chosen.
type Settings struct {
	chat       *chat.Chat
	configured Configured
	spoken     func() // told that a chat has another language than before
}

// page begins the addresses.
const page = "settings"

// New is /settings with its pages.
func New(c *chat.Chat, configured Configured, spoken func()) chat.Feature {
	s := &Settings{c, configured, spoken}
	return chat.Feature{Name: page,
		Commands: []chat.Command{{Name: page, Run: func(ctx context.Context, in chat.Incoming, _ string) error {
			return c.Pages.Open(ctx, in, page)
		}}},
		Pages: map[string]chat.Page{page: {Draw: s.draw, Do: s.do}}}
}

// one is one setting. Its value is a text; "" is that nothing is chosen.
type one struct {
	name  string // behind the page's in the address
	title i18n.Key
	about i18n.Key
	row   int // how many choices stand beside each other
	// value is what is chosen, and choices are what can be, beside nothing.
	value   func(s conversation.Settings) string
	choices func(v view) []choice
	choose  func(s *conversation.Settings, value string)
}

// choice is a value and how people know it.
type choice struct{ value, label string }

// view is what a page is drawn for.
type view struct {
	chat.Phrases
	set        conversation.Settings
	configured Configured
	lang       i18n.Words // without a choice
	dirs       []string   // of sessions, the newest first
}

// isGroup reports whether a chat is not one person's.
func (s *Settings) isGroup(v chat.Visit) bool { return !s.chat.Book.IsAllowed(v.To.ChatID) }

// find is the setting of an address that a chat may choose; false: there is none.
func (s *Settings) find(v chat.Visit) (one, bool) {
	i := slices.IndexFunc(all, func(o one) bool { return o.name == v.Rest && (o.name == language || !s.isGroup(v)) })
	if i < 0 {
		return one{}, false
	}
	return all[i], true
}

func (s *Settings) view(v chat.Visit) view {
	set := s.chat.Book.Settings(v.To.ChatID)
	return view{Phrases: s.chat.In(v.To), set: set, configured: s.configured,
		lang: s.chat.Speech.For(set.Telegram, s.chat.Lang), dirs: s.dirs()}
}

// shownDirs is how many folders are offered.
const shownDirs = 6

// dirs are the folders of the newest sessions.
func (s *Settings) dirs() (all []string) {
	for _, r := range slices.Backward(s.chat.Book.Records.List()) {
		if !slices.Contains(all, r.Dir) && len(all) < shownDirs {
			all = append(all, r.Dir)
		}
	}
	return all
}

func (s *Settings) draw(_ context.Context, visit chat.Visit) (chat.Screen, error) {
	v := s.view(visit)
	if o, ok := s.find(visit); ok {
		return o.screen(v), nil
	}
	screen := chat.Screen{Back: "menu"}
	lines := []render.Text{render.Bold(v.Say(i18n.SettingsTitle))}
	var buttons []card.Option
	for _, o := range all {
		if o.name != language && s.isGroup(visit) {
			continue
		}
		lines = append(lines, o.line(v))
		buttons = append(buttons, card.Option{Text: v.Say(o.title), Value: chat.ToPage(page + "/" + o.name)})
	}
	screen.Text, screen.Options = chat.Lines(lines...), chat.Rows(2, buttons...)
	return screen, nil
}

// line is the setting with the value that holds, bold where it was chosen.
func (o one) line(v view) render.Text {
	said := render.Plain(o.said(v))
	if o.value(v.set) != "" {
		said = render.Bold(said.Text)
	}
	return v.Text(i18n.Named, i18n.Args{"What": v.Say(o.title), "Said": said})
}

// said is the value that holds, in words.
func (o one) said(v view) string {
	value := o.value(v.set)
	for _, c := range o.choices(v) {
		if c.value == value {
			return c.label
		}
	}
	return v.ShortTail(value)
}

// screen is the page of a setting: what it is, and a button for each choice.
func (o one) screen(v view) chat.Screen {
	now := o.value(v.set)
	var rest []card.Option
	for _, c := range o.choices(v) {
		label := c.label
		if c.value == now {
			label = "✓ " + label
		}
		rest = append(rest, card.Option{Text: label, Value: chat.Does(c.value)})
	}
	text := chat.Paragraphs(o.line(v), v.Text(o.about))
	return chat.Screen{Text: text, Back: page, Options: append(chat.Rows(1, rest[0]), chat.Rows(o.row, rest[1:]...)...)}
}

// do chooses a value of the setting that the page is about.
func (s *Settings) do(_ context.Context, v chat.Visit, value string) (chat.Answer, string, error) {
	o, ok := s.find(v)
	if !ok {
		return chat.Answer{Text: s.chat.In(v.To).Say(i18n.StaleButton)}, page, nil
	}
	err := s.chat.Book.Set(v.To.ChatID, func(set *conversation.Settings) { o.choose(set, value) })
	if err == nil && o.name == language {
		s.spoken()
	}
	return chat.Answer{}, "", err
}
