package bot

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/i18n"
)

// command runs a command, unless it comes too late.
func (b *Bot) command(ctx context.Context, in chat.Incoming, c chat.Command, args string) error {
	if c.Now {
		if told, err := b.prompts.TooLate(ctx, in, c.Name); told || err != nil {
			return err
		}
	}
	return c.Run(ctx, in, args)
}

// Published are the commands that Telegram's menu shows, with their sentence.
func (b *Bot) Published() map[string]string {
	menu := make(map[string]string)
	for name, c := range b.commands {
		if !c.Hidden {
			menu[name] = b.words.Say(i18n.MenuKey(name))
		}
	}
	return menu
}

func (b *Bot) help(ctx context.Context, in chat.Incoming, _ string) error {
	return b.Say(ctx, in.To, b.words.Say(i18n.Help))
}
