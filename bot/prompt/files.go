package prompt

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/attachment"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// Files takes a message without text, or the messages of an album, whose first is in. The files go
// into the directory of their session, and one prompt names them there. A file that cannot be
// fetched is reported, and the prompt goes without it.
func (p *Prompts) Files(ctx context.Context, in chat.Incoming, all []*models.Update) error {
	r, ok, err := p.target(ctx, in)
	if err != nil || !ok {
		return err
	}
	if r.ID == uuid.Nil && attachment.Name(all[0].Message) != "" { // its folder gets the files
		var files, texts []string
		for _, u := range all {
			files = append(files, attachment.Name(u.Message))
			texts = append(texts, quotation.Text(u.Message))
		}
		return p.takeFor(ctx, in, r, fetched{text: lines(texts...), files: files})
	}
	got, err := p.fetch(ctx, in, r, all)
	if none, is := errors.AsType[attachment.Refused](err); is && ctx.Err() == nil {
		return p.notDelivered(ctx, in, render.Plain(none.Error()), nil)
	}
	if err != nil {
		return err
	}
	if e, err := p.Entries.Load(in.Key); err == nil && e.Late {
		got.problems = append(got.problems, p.Chat.In(in.To).Say(i18n.AlbumLate))
	}
	err = p.takeFor(ctx, in, r, got)
	if err != nil || len(got.problems) == 0 {
		return err
	}
	return p.Chat.Warn(ctx, in.To, in.MessageID, render.Plain(lines(got.problems...)), nil)
}

// fetched is the result of fetching the files of a message, or of an album.
type fetched struct {
	files    []string // their paths, as the agent's machine has them
	text     string   // the captions, and the words of recordings
	spoken   string   // the words of recordings that a person must confirm
	problems []string // sentences about the others
}

// fetch brings the files of a message to a session. An attachment.Refused has the reason if there
// are none.
func (p *Prompts) fetch(ctx context.Context, in chat.Incoming, r port.Session, all []*models.Update) (
	got fetched, err error) {
	var texts, spoken []string
	for i, u := range all {
		part := in
		if part.Sent = quotation.SentAt(u.Message); i > 0 {
			part.Key = inbox.UpdateKey(u.ID)
		}
		file, said, err := p.Attachments.Bring(ctx, part, r, u.Message)
		switch problem, is := errors.AsType[attachment.Refused](err); {
		case err == nil:
			got.files = append(got.files, file)
		case ctx.Err() != nil || !is:
			return got, err
		case !slices.Contains(got.problems, string(problem)):
			got.problems = append(got.problems, string(problem))
		}
		if texts = append(texts, quotation.Text(u.Message)); said != "" {
			texts, spoken = append(texts, quotation.Of("Transcript of a voice message", said)), append(spoken, said)
		}
	}
	if p.Confirm {
		got.spoken = lines(spoken...)
	}
	if got.text = lines(texts...); len(got.files) == 0 {
		return got, attachment.Refused(lines(got.problems...))
	}
	if len(got.problems) > 0 {
		got.problems = append(got.problems, p.Chat.In(in.To).Say(i18n.AlbumRest))
	}
	return got, nil
}

// bringFiles brings the files of a prompt to the folder of the session that a person has chosen for
// the prompt. An attachment.Refused has the reason if there are none.
func (p *Prompts) bringFiles(ctx context.Context, e *inbox.Entry, r port.Session) error {
	if len(e.Files) == 0 {
		return nil
	}
	all, err := quotation.Parts(e.Update, e.Rest, e.Refers)
	if err != nil {
		return fmt.Errorf("files of prompt %s: %w", e.Key, err)
	}
	in := chat.Incoming{Message: conversation.Message{To: e.Conversation}, Key: e.Key, MessageID: e.MessageID}
	got, err := p.fetch(ctx, in, r, all)
	if err != nil {
		return err
	}
	typed, class, _ := talk.Normalise(withFiles(got.text, got.files))
	err = p.Entries.Change(e.Key, func(now *inbox.Entry) error {
		if now.State != e.State { // a person has decided otherwise
			return inbox.ErrNoEntry
		}
		now.Text, now.Class, now.Files, now.Spoken = typed, class, got.files, got.spoken
		*e = *now
		return nil
	})
	if err != nil || len(got.problems) == 0 {
		return err
	}
	return p.Chat.Warn(ctx, e.Conversation, e.MessageID, render.Plain(lines(got.problems...)), nil)
}

// withFiles is a prompt that names the files that came with it, one per line, by their paths: the agent may work in another folder by
// then. Those whose session is not chosen yet, or that came to an earlier version, have only their names.
func withFiles(text string, files []string) string {
	all := []string{text}
	for _, file := range files {
		if !path.IsAbs(file) {
			file = path.Join(folders.InboxName, file)
		}
		all = append(all, folders.Attached+file)
	}
	return lines(all...)
}

// lines puts texts under each other. An empty text leaves no gap.
func lines(all ...string) string {
	return strings.Join(slices.DeleteFunc(all, func(text string) bool { return text == "" }), "\n")
}
