package bot

import (
	"context"
	"errors"

	"ccbot/bot/chat"
	"ccbot/i18n"
)

// DiskLow says in each private chat that the disk of ccbot's folder is almost full.
func (b *Bot) DiskLow(ctx context.Context, free string) error {
	homes, err := b.PrivateChats()
	said := i18n.Args{"Dir": b.Short(b.StateDir), "Free": free}
	for _, to := range homes {
		err = errors.Join(err, b.Say(ctx, to, chat.Warning+b.words.Say(i18n.DiskLow, said)))
	}
	return err
}
