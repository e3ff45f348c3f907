package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// How often a file of an album is fetched before the album goes without it, and the pause between.
const (
	fetchTries = 3
	fetchPause = time.Second
)

// album makes one prompt of the files and captions of an album. all are its messages in order, of
// which in is the first. A file that cannot be had is named, and the album goes without it.
func (b *Bot) album(ctx context.Context, in incoming, all []*models.Update) error {
	e, err := b.Entries.Load(in.Key)
	if err != nil {
		return err
	}
	r, ok, err := b.addressee(ctx, in)
	if err != nil || !ok {
		return err
	}
	var captions, problems []string
	for _, u := range all {
		part := in
		part.Key, part.Sent = inbox.UpdateKey(u.ID), time.Unix(int64(u.Message.Date), 0)
		part, err := retried(ctx, func() (incoming, error) {
			if file, ok := attached(u.Message); ok {
				return b.receive(ctx, part, r, file)
			}
			return part, &fileProblem{b.words.Say(i18n.MediaUnknown)}
		})
		refused, isRefused := errors.AsType[*fileProblem](err)
		failed, isFailed := errors.AsType[*fetchError](err)
		switch {
		case err == nil:
			in.files, in.session, in.dir = append(in.files, part.files...), part.session, part.dir
		case isRefused:
			problems = append(problems, refused.text)
		case isFailed && ctx.Err() == nil:
			b.Log.Error("file_not_fetched", "error", err.Error())
			problems = append(problems, b.words.Say(i18n.FileNotFetched, i18n.Args{"Name": failed.name}))
		default:
			return err
		}
		if caption := textOf(u.Message); caption != "" {
			captions = append(captions, caption)
		}
	}
	problems = slices.Compact(problems)
	if len(in.files) == 0 {
		return b.notDelivered(ctx, in, strings.Join(problems, "\n"), nil)
	}
	if len(problems) > 0 {
		problems = append(problems, b.words.Say(i18n.AlbumRest))
	}
	if e.Late {
		problems = append(problems, b.words.Say(i18n.AlbumLate))
	}
	if len(problems) > 0 {
		if err := b.Warn(ctx, in.To, in.MessageID, render.Plain(strings.Join(problems, "\n")), nil); err != nil {
			return err
		}
	}
	for _, u := range all[1:] { // the prompt notes the first
		if err := b.Chats.NoteMessage(in.To, u.Message.ID, r.ID); err != nil {
			b.Log.Warn("message_not_noted", "chat_id", in.To.ChatID, "error", err.Error())
		}
	}
	return b.prompt(ctx, in, strings.Join(captions, "\n"))
}

// retried calls fetch, and again while its download fails, fetchTries times in all. It returns what
// the last call returned.
func retried(ctx context.Context, fetch func() (incoming, error)) (in incoming, err error) {
	for try := 1; ; try++ {
		in, err = fetch()
		if _, failed := errors.AsType[*fetchError](err); !failed || try == fetchTries {
			return in, err
		}
		select {
		case <-time.After(fetchPause):
		case <-ctx.Done():
			return in, err
		}
	}
}
