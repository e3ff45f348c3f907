package menu

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port"
)

// The pages of this package.
const (
	menuPage = "menu"
	helpPage = "help"
	// startPage is shown to a person who opens the bot.
	startPage = "start"
)

// listPage is the address of the page of /list that leads back to the menu.
const listPage = `list/{"back":"menu"}`

// entry is a button that leads to a page.
type entry struct {
	address string
	word    i18n.Key
}

// entries are the buttons of the menu, in their order.
var entries = []entry{
	{listPage, i18n.PageSessions}, {"new", i18n.PageNew}, {"archive", i18n.PageArchive}, {"usage", i18n.PageUsage},
	{"health", i18n.PageHealth}, {"settings", i18n.PageSettings}, {helpPage, i18n.PageHelp},
}

// topic is a part of the help.
type topic struct {
	entry
	label i18n.Key
}

// topics are the parts of the help, in their order.
var topics = []topic{
	{entry{helpPage + "/sessions", i18n.PageSessions}, i18n.HelpSessions},
	{entry{helpPage + "/work", i18n.HelpWorkTitle}, i18n.HelpWork},
	{entry{helpPage + "/messages", i18n.HelpMessagesTitle}, i18n.HelpMessages},
	{entry{helpPage + "/again", i18n.HelpAgainTitle}, i18n.HelpAgain},
	{entry{helpPage + "/overview", i18n.HelpOverviewTitle}, i18n.HelpOverview},
	{entry{helpPage + "/tips", i18n.HelpTipsTitle}, i18n.HelpTips},
	{entry{helpPage + "/groups", i18n.HelpGroupsTitle}, i18n.HelpGroups},
}

// Questions handles agents' questions.
type Questions interface {
	// Step shows the oldest open question of all.
	Step(ctx context.Context, from outbox.Conversation) error
	// Waits returns the sessions that wait for a person.
	Waits() []port.Session
}

// Deps are what the pages are made of.
type Deps struct {
	Chat      *chat.Chat
	Questions Questions
	Folders   func(chat.Phrases, chat.Visit) [][]card.Option // the first folders to begin in
	Machines  func() bool                                    // the chat has /hosts
	Several   func() bool                                    // a group has other bots
}

// New is /menu, /help and /start with their pages.
func New(d Deps) chat.Feature {
	m := menu{d}
	do := func(_ context.Context, v chat.Visit, _ string) (a chat.Answer, next string, err error) {
		a, err = chat.Do(func(ctx context.Context) error { return d.Questions.Step(ctx, v.To) })
		return a, "", err
	}
	return chat.Feature{Name: "menu",
		Commands: []chat.Command{
			d.Chat.Pages.Command("menu", menuPage), d.Chat.Pages.Command("help", helpPage),
			hidden(d.Chat.Pages.Command("start", startPage)), // which Telegram sends when a person opens the bot
		},
		Pages: map[string]chat.Page{menuPage: {Draw: m.menu, Do: do}, helpPage: {Draw: m.help}, startPage: {Draw: m.start}}}
}

// text is a topic with its title; machines: it may name /hosts.
func (t topic) text(p chat.Phrases, machines bool) render.Text {
	lines := []render.Text{render.Bold(p.Say(t.word)), p.Text(t.label)}
	if machines && t.label == i18n.HelpOverview {
		lines = append(lines, render.Plain(p.Say(i18n.Named, i18n.Args{"What": "/hosts", "Said": p.Say(i18n.MenuKey.Of("hosts"))})))
	}
	return chat.Lines(lines...)
}

type menu struct{ Deps }

func (m menu) menu(_ context.Context, v chat.Visit) (chat.Screen, error) {
	p := m.Chat.In(v.To)
	buttons := each.As(entries, func(e entry) card.Option { return e.button(p) })
	rows := chat.Rows(2, buttons...)
	if n := len(m.Questions.Waits()); n > 0 {
		ask := card.Option{Text: p.Say(i18n.ButtonQuestions, i18n.Args{"Count": n}), Value: chat.QuestionsLink}
		rows = append([][]card.Option{{ask}}, rows...)
	}
	return chat.Screen{Text: p.Text(i18n.MenuAsk), Options: rows}, nil
}

// start says what the bot is and what its signs mean, and offers folders to begin in.
func (m menu) start(_ context.Context, v chat.Visit) (chat.Screen, error) {
	p := m.Chat.In(v.To)
	others := []card.Option{entry{"new", i18n.ButtonOtherFolder}.button(p), entry{helpPage, i18n.ButtonHow}.button(p)}
	return chat.Screen{Text: p.Text(i18n.StartText), Options: append(m.Folders(p, v), chat.Rows(2, others...)...)}, nil
}

func hidden(c chat.Command) chat.Command { c.Hidden = true; return c }

// help shows one topic, or what a person needs first and the list of topics.
func (m menu) help(_ context.Context, v chat.Visit) (chat.Screen, error) {
	p := m.Chat.In(v.To)
	var buttons []card.Option
	for _, t := range topics {
		if t.address == helpPage+"/"+v.Rest {
			return chat.Screen{Text: t.text(p, m.Machines()), Back: helpPage}, nil
		}
		if t.label != i18n.HelpGroups || m.Several() {
			buttons = append(buttons, t.button(p))
		}
	}
	return chat.Screen{Text: p.Text(i18n.HelpAbout), Options: chat.Rows(2, buttons...), Back: menuPage}, nil
}

func (e entry) button(p chat.Phrases) card.Option {
	return card.Option{Text: p.Say(e.word), Value: chat.ToPage(e.address)}
}

// List is a list of commands as Telegram shows it to some people.
type List struct {
	Chat     int64  `json:"chat,omitempty"`   // whose people see it; 0: all without a separate list
	Groups   bool   `json:"groups,omitempty"` // it is for all groups
	Lang     string `json:"lang,omitempty"`   // of their Telegram; empty: any that has no list
	Commands []Line `json:"commands"`
}

// Line is a command in a list.
type Line struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Lists returns the lists for Telegram: one in the bot's own language for all people, one for each
// other language, the same for groups, and one for each private chat whose person reads the bot in
// another language than Telegram.
func Lists(c *chat.Chat, commands map[string]chat.Command) (all []List) {
	own := c.Speech.For(c.Lang).Lang()
	private := maps.Clone(commands)
	maps.DeleteFunc(private, func(_ string, one chat.Command) bool { return one.Groups })
	for _, lang := range append([]string{own}, slices.DeleteFunc(i18n.Languages(), func(lang string) bool { return lang == own })...) {
		words, of := c.Speech.For(lang), lang
		if lang == own {
			of = ""
		}
		all = append(all, List{Lang: of, Commands: lines(words, private)}, List{Groups: true, Lang: of, Commands: lines(words, commands)})
	}
	for _, to := range c.Book.PrivateChats() {
		set := c.Book.Settings(to.ChatID)
		if reads := c.In(to); reads.Lang() != c.Speech.For(set.Telegram, own).Lang() {
			all = append(all, List{Chat: to.ChatID, Commands: lines(reads.Words, private)})
		}
	}
	return all
}

// firstCommands are the first commands of a list.
var firstCommands = []string{"new", "list", "stop", "kill", "done", "resume"}

// lines are the commands of a list, with their sentences in a language.
func lines(words i18n.Words, commands map[string]chat.Command) (all []Line) {
	for name, c := range commands {
		if !c.Hidden && (c.Once == nil || c.Once()) {
			all = append(all, Line{name, words.Say(i18n.MenuKey.Of(name))})
		}
	}
	place := func(name string) int {
		if i := slices.Index(firstCommands, name); i >= 0 {
			return i
		}
		return len(firstCommands)
	}
	slices.SortFunc(all, func(x, y Line) int {
		return cmp.Or(cmp.Compare(place(x.Name), place(y.Name)), cmp.Compare(x.Name, y.Name))
	})
	return all
}
