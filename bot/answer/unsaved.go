package answer

import (
	"context"
	"errors"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// errUnsaved is returned while a cursor is not on disk. The chat has everything before the cursor:
// one more part would make a crash repeat two.
var errUnsaved = errors.New("the cursor is not on disk")

// unsavedPause is the longest pause between two tries to save a cursor.
const unsavedPause = 5 * time.Second

// advance saves that the chat has everything before c. After an error the session sends nothing
// until saveUnsaved returns nil.
func (t *transcriptReader) advance(ctx context.Context, r port.Session, c talk.Cursor) error {
	t.unsaved = c
	return t.saveUnsaved(ctx, r)
}

// saveUnsaved saves the cursor that advance could not save, or that its machine has lost.
func (t *transcriptReader) saveUnsaved(ctx context.Context, r port.Session) error {
	a := t.answers
	if t.unsaved == (talk.Cursor{}) {
		return nil
	}
	if err := a.note(context.WithoutCancel(ctx), r, t.unsaved); err != nil {
		return errors.Join(errUnsaved, err)
	}
	t.unsaved = talk.Cursor{}
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.waiting, t.id)
	return nil
}

// reportUnsaved reports in the session's conversation that its next words wait, once for all
// waiting sessions of the conversation. The message is not stored first. A machine that does not
// answer is no fault of a disk.
func (a *Answers) reportUnsaved(ctx context.Context, r port.Session, why error) {
	if refusal.Is(why, refusal.Unreachable) || !a.isFirstUnsaved(r) {
		return
	}
	a.Chat.Log.Error("cursor_not_saved", logkey.SessionID, r.ID.String(), logkey.Error, why)
	text := render.Join(render.Plain(chat.Warning), a.Chat.In(r.Conversation).Text(i18n.AnswerUnsaved, i18n.Args{"Name": r.Name}))
	if _, err := a.Sender.Send(ctx, outbox.Message{To: r.Conversation, Session: r.ID, Text: text, Sounds: a.Chat.Sounds(chat.Fault, r)}); err != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.waiting, r.ID) // it is reported at the next try
	}
}

// isFirstUnsaved notes that a session waits, and reports whether it is the first one of its
// conversation.
func (a *Answers) isFirstUnsaved(r port.Session) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := true
	for _, to := range a.waiting {
		first = first && to != r.Conversation
	}
	a.waiting[r.ID] = r.Conversation
	return first
}
