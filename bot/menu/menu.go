package menu

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// The pages of this package.
const (
	menuPage = "menu"
	helpPage = "help"
)

// entry is a button that leads to a page.
type entry struct {
	address string
	word    i18n.Key
}

// entries are the buttons of the menu, in their order.
var entries = []entry{
	{"sessions", i18n.PageSessions}, {"new", i18n.PageNew}, {"archive", i18n.PageArchive}, {"usage", i18n.PageUsage},
	{"health", i18n.PageHealth}, {"settings", i18n.PageSettings}, {helpPage, i18n.PageHelp},
}

// topic is a part of the help.
type topic struct {
	entry
	says i18n.Key
}

// topics are the parts of the help, in their order.
var topics = []topic{
	{entry{helpPage + "/sessions", i18n.PageSessions}, i18n.HelpSessions},
	{entry{helpPage + "/work", i18n.HelpWorkTitle}, i18n.HelpWork},
	{entry{helpPage + "/overview", i18n.HelpOverviewTitle}, i18n.HelpOverview},
	{entry{helpPage + "/messages", i18n.HelpMessagesTitle}, i18n.HelpMessages},
	{entry{helpPage + "/tips", i18n.HelpTipsTitle}, i18n.HelpTips},
}

// New is /menu and /help with their pages.
func New(c *chat.Chat) chat.Feature {
	m := menu{c}
	open := func(ctx context.Context, in chat.Incoming, _ string) error { return c.Pages.Open(ctx, in, menuPage) }
	help := func(ctx context.Context, in chat.Incoming, _ string) error {
		return c.Post(ctx, card.Look{To: in.To, Text: Help(c.In(in.To))})
	}
	return chat.Feature{Name: "menu",
		Commands: []chat.Command{
			{Name: "menu", Run: open}, {Name: "help", Run: help},
			{Name: "start", Run: help, Hidden: true}, // which Telegram sends when a person opens the bot
		},
		Pages: map[string]chat.Page{menuPage: {Draw: m.menu}, helpPage: {Draw: m.help}}}
}

// Help is all of the help.
func Help(p chat.Phrases) render.Text {
	all := []render.Text{p.Text(i18n.HelpAbout)}
	for _, t := range topics {
		all = append(all, t.text(p))
	}
	return chat.Paragraphs(all...)
}

func (t topic) text(p chat.Phrases) render.Text {
	return chat.Lines(render.Bold(p.Say(t.word)), p.Text(t.says))
}

type menu struct{ chat *chat.Chat }

func (m menu) menu(_ context.Context, v chat.Visit) (chat.Screen, error) {
	p := m.chat.In(v.To)
	var buttons []card.Option
	for _, e := range entries {
		if m.chat.Pages.Known(e.address) {
			buttons = append(buttons, e.button(p))
		}
	}
	return chat.Screen{Text: p.Text(i18n.MenuAsk), Options: chat.Rows(2, buttons...)}, nil
}

// help shows one topic, or what there is.
func (m menu) help(_ context.Context, v chat.Visit) (chat.Screen, error) {
	p := m.chat.In(v.To)
	var buttons []card.Option
	for _, t := range topics {
		if t.address == helpPage+"/"+v.Rest {
			return chat.Screen{Text: t.text(p), Back: helpPage}, nil
		}
		buttons = append(buttons, t.button(p))
	}
	return chat.Screen{Text: p.Text(i18n.HelpAbout), Options: chat.Rows(2, buttons...), Back: menuPage}, nil
}

func (e entry) button(p chat.Phrases) card.Option {
	return card.Option{Text: p.Say(e.word), Value: chat.ToPage(e.address)}
}
