package answer

import (
	"context"
	"errors"

	"ccbot/bot/outbox"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

// showLast shows in a conversation where a person has opened the session what was only noticed
// there. It is shown once, and no cursor moves: after a crash the person opens the session again.
func (a *Answers) showLast(ctx context.Context, r views.Session, to address.Conversation) {
	if to == (address.Conversation{}) || len(r.Cursors) == 0 || !a.Chat.Book.MayShow(to) {
		return
	}
	r.Conversation = to
	items, err := a.unread(ctx, r)
	show := func(draw drawing) error { return a.showAgain(ctx, r, items, draw) }
	if err == nil {
		err = a.attempt(ctx, r.ID, true, show)
	}
	switch {
	case errors.Is(err, errReadAgain):
		err = a.attempt(ctx, r.ID, true, show)
	case errors.Is(err, errPanic):
		err = a.postMarker(ctx, r)
	}
	if err != nil {
		a.Chat.Log.Warn("last_answer_not_shown", logkey.SessionID, r.ID.String(), logkey.Error, err.Error())
	}
}

// showAgain shows items, under the session's name.
func (a *Answers) showAgain(ctx context.Context, r views.Session, items []talk.Item,
	draw drawing) error {
	var parts []render.Part
	for _, item := range items {
		parts = append(parts, draw(r, item).parts...)
	}
	if len(parts) > 0 {
		parts[0] = headed(title(r), parts[0])
	}
	if err := a.deliverAll(ctx, letter{session: r, rank: outbox.Talk}, parts); err != nil {
		return err
	}
	return a.Chat.Book.NoteOpened(r.Conversation, r.ID)
}

// unread is what was said before the cursor and is not in the conversation in full, or the last
// answer where nothing is known of that. Texts that follow each other are one: between its calls
// an agent says a line at a time.
func (a *Answers) unread(ctx context.Context, r views.Session) (all []talk.Item, err error) {
	mark, known := a.Chat.Book.ReadMarkOf(r.Conversation, r.ID)
	if known && mark.Since == nil {
		return nil, nil
	}
	if known && mark.Since.Path != r.Cursors[0].Path {
		mark.Since = nil
	}
	items, err := a.Transcripts.Said(ctx, mark.Since, r.Cursors[0])
	for _, item := range items {
		last := len(all) - 1
		switch {
		case isForeign(r, item):
		case last >= 0 && item.Kind == talk.Text && all[last].Kind == talk.Text:
			all[last].Text += "\n\n" + item.Text
		default:
			all = append(all, item)
		}
	}
	return all, err
}
