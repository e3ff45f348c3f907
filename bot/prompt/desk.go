package prompt

import (
	"context"
	"errors"
	"time"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/internal/logkey"
)

// ErrBlank says that nothing of a text can be typed.
var ErrBlank = errors.New("the text is blank")

// Desk takes the prompts that people write in a terminal.
type Desk struct {
	*Prompts
	// Add puts a prompt into the inbox, durably; fresh is false where its key was ever there.
	Add func(e inbox.Entry) (fresh bool, err error)
}

// Send queues a text for a session that is open, as a message of its chat is queued. With a key that was ever
// used it does nothing. Errors: [ErrBlank], refusal.WrongState.
func (d Desk) Send(ctx context.Context, key string, r views.Session, text string) error {
	typed, class, ok := prompts.Normalise(text)
	if !ok {
		return ErrBlank
	}
	if !r.Live {
		return &refusal.Error{Code: refusal.WrongState, State: r.State}
	}
	e := inbox.Entry{Key: key, State: inbox.Held, Session: r.ID, Conversation: r.Conversation, Received: time.Now().UTC(),
		Text: typed, Class: string(class)}
	fresh, err := d.Add(e)
	if err != nil || !fresh {
		return err
	}
	d.Chat.At("desk-prompt-added")
	if err = d.hold(ctx, e, r); chat.IsGone(err) || refusal.Is(err, refusal.NoAgent) { // it ended at this moment
		return errors.Join(&refusal.Error{Code: refusal.WrongState, State: r.State, Err: err}, d.finish(ctx, e))
	}
	if err == nil {
		return nil
	}
	ended := end(ctx, d.Prompts, e) // who is told that it was not queued as it should be writes it again
	if chat.IsGone(ended) {         // it is typed by now: nothing has failed but to say so
		d.Chat.Log.Error("prompt_not_shown", logkey.SessionID, e.Session.String(), logkey.Error, err.Error())
		return nil
	}
	return errors.Join(err, ended)
}
