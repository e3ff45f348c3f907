package bot

import (
	"cmp"
	"slices"

	"ccbot/i18n"
)

// Menu is a list of commands as Telegram shows it to some people.
type Menu struct {
	Chat     int64         `json:"chat,omitempty"` // whose people see it; 0: all that have no list of their own
	Lang     string        `json:"lang,omitempty"` // of their Telegram; empty: any that has no list
	Commands []MenuCommand `json:"commands"`
}

// MenuCommand is a command in a list.
type MenuCommand struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Menus are the lists that Telegram is to show: one in the bot's own language for everybody, one for each
// other language, and one for each private chat whose person reads the bot in another language than
// Telegram.
func (b *Bot) Menus() []Menu {
	own := b.Speech.For(b.Config.Lang).Lang()
	all := []Menu{{Commands: b.published(own)}}
	for _, lang := range i18n.Languages() {
		if lang != own {
			all = append(all, Menu{Lang: lang, Commands: b.published(lang)})
		}
	}
	for _, to := range b.PrivateChats() {
		set := b.Settings(to.ChatID)
		if reads := b.In(to).Lang(); reads != b.Speech.For(set.Telegram, own).Lang() {
			all = append(all, Menu{Chat: to.ChatID, Commands: b.published(reads)})
		}
	}
	return all
}

// spoken says that a chat may have another language than before.
func (b *Bot) spoken() {
	if b.Spoken != nil {
		b.Spoken()
	}
}

// firstCommands are those that a menu begins with.
var firstCommands = []string{"new", "list", "stop", "kill", "done", "resume"}

// published are the commands of a menu, with their sentences in a language.
func (b *Bot) published(lang string) (all []MenuCommand) {
	words := b.Speech.For(lang)
	for name, c := range b.commands {
		if !c.Hidden {
			all = append(all, MenuCommand{name, words.Say(i18n.MenuKey(name))})
		}
	}
	place := func(name string) int {
		if i := slices.Index(firstCommands, name); i >= 0 {
			return i
		}
		return len(firstCommands)
	}
	slices.SortFunc(all, func(x, y MenuCommand) int {
		return cmp.Or(cmp.Compare(place(x.Name), place(y.Name)), cmp.Compare(x.Name, y.Name))
	})
	return all
}
