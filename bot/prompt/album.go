package prompt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/inbox"
	"ccbot/bot/port/views"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/pause"
)

// How often a file of an album is fetched before the album goes without it, and the pause between.
const (
	fetchTries = 3
	fetchPause = time.Second
)

// Album makes one prompt of the files and captions of an album. all are its messages in order, of
// which in is the first. A file that cannot be had is named, and the album goes without it.
func (p *Prompts) Album(ctx context.Context, in Message, all []*models.Update) error {
	e, err := p.Entries.Load(in.Key)
	if err != nil {
		return err
	}
	r, ok, err := p.addressee(ctx, in)
	if err != nil || !ok {
		return err
	}
	var captions, problems []string
	for _, u := range all {
		part := in
		part.Key, part.Sent = inbox.UpdateKey(u.ID), time.Unix(int64(u.Message.Date), 0)
		part, err := p.received(ctx, part, r, u.Message)
		refused, isRefused := errors.AsType[*FileProblem](err)
		failed, isFailed := errors.AsType[*FetchError](err)
		switch {
		case err == nil:
			in.Files, in.Session, in.Dir = append(in.Files, part.Files...), part.Session, part.Dir
		case isRefused:
			problems = append(problems, refused.Text)
		case isFailed && ctx.Err() == nil:
			p.Chat.Log.Error("file_not_fetched", "error", err.Error())
			problems = append(problems, p.words.Say(i18n.FileNotFetched, i18n.Args{"Name": failed.Name}))
		default:
			return err
		}
		if caption := quotation.Text(u.Message); caption != "" {
			captions = append(captions, caption)
		}
	}
	problems = slices.Compact(problems)
	if len(in.Files) == 0 {
		return p.notDelivered(ctx, in, strings.Join(problems, "\n"), nil)
	}
	if len(problems) > 0 {
		problems = append(problems, p.words.Say(i18n.AlbumRest))
	}
	if e.Late {
		problems = append(problems, p.words.Say(i18n.AlbumLate))
	}
	for _, u := range all[1:] { // the prompt notes the first
		_, message := p.book.Aliases.In(u.Message.Chat.ID, u.Message.ID)
		if err := p.book.NoteMessage(in.To, message, r.ID); err != nil {
			p.Chat.Log.Warn("message_not_noted", "chat_id", in.To.ChatID, "error", err.Error())
		}
	}
	if err := p.Take(ctx, in, strings.Join(captions, "\n")); err != nil || len(problems) == 0 {
		return err
	}
	return p.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(strings.Join(problems, "\n")), nil)
}

// received puts the file of one message into a session's folder. A download that fails is tried again.
func (p *Prompts) received(ctx context.Context, in Message, r views.Session, m *models.Message) (Message, error) {
	file, ok := attached(m)
	if !ok {
		return in, &FileProblem{p.words.Say(i18n.MediaUnknown)}
	}
	for try := 1; ; try++ {
		part, _, err := p.Attachments.Receive(ctx, in, r, file, "")
		if _, failed := errors.AsType[*FetchError](err); !failed || try == fetchTries || pause.For(ctx, fetchPause) != nil {
			return part, err
		}
	}
}
