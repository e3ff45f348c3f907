package answer

import (
	"context"
	"errors"
	"unicode/utf8"

	"ccbot/bot/chat"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Recall has the last answer of a session shown in a conversation where a person opens the session.
// The session's reader does that: the reader knows what it is about to show.
func (a *Answers) Recall(r views.Session, to address.Conversation) {
	a.mu.Lock()
	a.opened[r.ID] = to
	a.mu.Unlock()
	a.Follow(r)
}

// showRecalled shows the last answer of a session that was opened since. The answer is shown once,
// and no cursor moves: after a crash the person opens the session again.
func (a *Answers) showRecalled(ctx context.Context, r views.Session) {
	a.mu.Lock()
	to, ok := a.opened[r.ID]
	delete(a.opened, r.ID)
	a.mu.Unlock()
	if !ok || len(r.Cursors) == 0 || !a.Chat.Book.MayShow(to) {
		return
	}
	r.Conversation = to
	err := a.attempt(r.ID, talk.Item{At: r.Cursors[0]}, func() error { return a.showLast(ctx, r) })
	if errors.Is(err, errPanic) {
		err = a.postMarker(ctx, r)
	}
	if err != nil {
		a.Chat.Log.Warn("last_answer_not_shown", "session_id", r.ID.String(), "error", err.Error())
	}
}

// showLast shows what the conversation has only notices of, under the session's name; where nothing
// is known of that, it shows what was said last.
func (a *Answers) showLast(ctx context.Context, r views.Session) error {
	items, err := a.unread(r)
	if err != nil {
		return err
	}
	var parts []render.Part
	for _, item := range items {
		parts = append(parts, a.partsAgain(r, item)...)
	}
	parts = merged(parts)
	if over := len(parts) - mostRecalled; over > 0 {
		parts = append([]render.Part{{Text: render.Plain(a.Chat.Words.Say(i18n.AnswersBefore))}}, parts[over:]...)
	}
	if len(parts) > 0 {
		if err := a.deliverAll(ctx, r, headed(r, parts)); err != nil {
			return err
		}
	}
	return a.Chat.Book.NoteOpened(r.Conversation, r.ID)
}

// partsAgain are what the chat shows of an item that was passed already: the item's words as they
// are where rendering the item panics.
func (a *Answers) partsAgain(r views.Session, item talk.Item) (parts []render.Part) {
	err := a.attempt(r.ID, item, func() error {
		parts = a.parts(r, item).parts
		return nil
	})
	if err != nil {
		return unrendered(r, item).parts
	}
	return parts
}

// mostRecalled bounds what the opening of a session shows, in messages.
const mostRecalled = 20

// unread is what was said before the cursor and is not in the conversation in full.
func (a *Answers) unread(r views.Session) ([]talk.Item, error) {
	before := r.Cursors[0]
	had, known := a.Chat.Book.ReadMarkOf(r.Conversation, r.ID)
	switch {
	case known && had.Since == nil:
		return nil, nil
	case known && had.Since.Path == before.Path:
		return a.Transcripts.Said(had.Since, before)
	}
	return a.Transcripts.Said(nil, before)
}

// merged puts the texts of a turn together, as far as a message holds them: between its calls an
// agent says a line at a time.
func merged(all []render.Part) (parts []render.Part) {
	for _, p := range all {
		if n := len(parts); n > 0 && fitTogether(parts[n-1], p) {
			last := &parts[n-1]
			last.Text = chat.Paragraphs(last.Text, p.Text)
			if last.Rich != "" {
				last.Rich += "\n\n" + p.Rich
			}
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

// mergedLimit leaves the pieces of a long answer as they are.
const mergedLimit = 2000

func fitTogether(a, b render.Part) bool {
	return a.File == nil && b.File == nil && (a.Rich == "") == (b.Rich == "") &&
		a.Text.Length()+b.Text.Length() <= mergedLimit && len(a.Text.Entities)+len(b.Text.Entities) <= 90 &&
		utf8.RuneCountInString(a.Rich)+utf8.RuneCountInString(b.Rich) <= mergedLimit
}
