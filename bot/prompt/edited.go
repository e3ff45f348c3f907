package prompt

import (
	"ccbot/bot/port/prompts"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// edit is a message as its sender has changed it.
type edit struct {
	prompts *Prompts
	in      Message
	message *models.Message
}

// Edited takes the edit of a message. A prompt that is not typed yet gets the new text; of any
// other prompt its sender is told that the edit changes nothing. ok is false where the message is
// no prompt any more, but a command, or nothing: an edit makes no command of a prompt. Nothing at
// all comes of a message that is not the person's own words, for another bot may have edited it.
// Without a time of the edit only the looks of the message have changed.
func (p *Prompts) Edited(ctx context.Context, in Message, m *models.Message, text string, ok bool) error {
	if m.EditDate == 0 {
		return nil
	}
	d := edit{p, in, m}
	e, err := p.Entries.Find(in.To, in.MessageID)
	if first, unread := messageOf(e); err == nil && unread == nil && quotation.Source(first) != "" {
		in.Quoted = true // also where the edit does not say so
	}
	waits := err == nil && e.State.Waits() // it would be typed as it was
	switch {
	case in.Quoted && waits && e.ToldEdit == "": // that bot may edit it without end
		return d.tell(ctx, e, i18n.EditOfQuoted)
	case !in.Quoted && !ok && waits:
		return d.tell(ctx, e, i18n.EditIsCommand)
	case in.Quoted, !ok:
		return nil
	case errors.Is(err, inbox.ErrNoEntry):
		return d.late(ctx)
	case err == nil:
		err = d.reword(ctx, e, text)
	}
	switch {
	case errors.Is(err, errSameText):
		return nil
	case errors.Is(err, errBecomesCommand):
		return d.tell(ctx, e, i18n.EditIsCommand)
	case chat.IsGone(err):
		return d.tell(ctx, e, i18n.EditTooLate)
	case err != nil:
		return err
	}
	p.Chat.Mark(ctx, in.To, in.MessageID, chat.ReactionStored)
	return nil
}

// Why an edit changes nothing.
var (
	errSameText       = errors.New("the text is the same")
	errBecomesCommand = errors.New("an edit makes no command of a text")
)

// mayBecome says whether an edit may give a prompt that is typed as one class a text of another
// one: what runs a command is written as a message of its own.
func mayBecome(was string, class prompts.Class) error {
	if class != prompts.Plain && string(class) != was {
		return errBecomesCommand
	}
	return nil
}

// reword gives a prompt another text. chat.IsGone of the error: it was typed, or may have been.
func (d edit) reword(ctx context.Context, e inbox.Entry, text string) error {
	typed, class, ok := prompts.Normalise(reworded(e, text))
	if !ok || typed == e.Text {
		return errSameText // what is blank is not typed either
	}
	if err := mayBecome(e.Class, class); err != nil {
		return err
	}
	if e.State == inbox.Held {
		if err := d.prompts.Queue.Reword(ctx, e.Session, e.Key, typed, class); err != nil {
			return err
		}
		return d.keep(e.Key)
	}
	return d.prompts.Changes.Change(e.Key, func(now *inbox.Entry) error {
		if now.State != e.State || e.State != inbox.Asked {
			return fmt.Errorf("entry %s is %s: %w", e.Key, now.State, fs.ErrNotExist)
		}
		now.Text, now.Class = typed, string(class)
		return d.replace(now)
	})
}

// reworded is a prompt with another text of its message. What a file has brought along stays: its
// name, the words of a recording, the captions of an album.
func reworded(e inbox.Entry, text string) string {
	if len(e.Files) == 0 {
		return text
	}
	if m, err := messageOf(e); err == nil {
		if rest, ok := textBehind(e.Text, quotation.Text(m)); ok {
			return strings.TrimPrefix(text+"\n"+rest, "\n")
		}
	}
	return withFiles(text, e.Files)
}

// textBehind is what stands in a prompt behind the lines that it begins with.
func textBehind(typed, first string) (rest string, ok bool) {
	if first == "" {
		return typed, true
	}
	head, _, _ := prompts.Normalise(first + "\n.") // as it is normalised with something behind it
	return strings.CutPrefix(typed, strings.TrimSuffix(head, "."))
}

// keep keeps the message as it was edited, for the next edit. A prompt that has left needs none.
func (d edit) keep(key string) error { return d.change(key, d.replace) }

func (d edit) replace(e *inbox.Entry) error {
	raw, err := json.Marshal(models.Update{Message: d.message})
	if err == nil {
		e.Update, e.ToldEdit = raw, ""
	}
	return err
}

func (d edit) change(key string, change func(e *inbox.Entry) error) error {
	err := d.prompts.Changes.Change(key, change)
	if errors.Is(err, inbox.ErrNoEntry) {
		return nil
	}
	return err
}

// late says that an edit comes too late, of a message that has left the inbox. Which of those were
// prompts the conversation knows. Whether the agent has the earlier text is not said: the prompt
// may have been dropped.
func (d edit) late(ctx context.Context) error {
	if _, prompt := d.prompts.book.SessionOf(d.in.To, d.in.MessageID); !prompt {
		return nil
	}
	return d.warn(ctx, i18n.EditTooLate)
}

// tell says once what the edit of a message in the inbox does not change. Telegram reports the same
// edit again where only the looks of the message change later.
func (d edit) tell(ctx context.Context, e inbox.Entry, why i18n.Key) error {
	mark := chat.Digest(fmt.Sprint(d.message.EditDate, "\n", d.message.Text, d.message.Caption), 22)
	if e.ToldEdit == mark {
		return nil
	}
	if err := d.warn(ctx, why); err != nil {
		return err
	}
	return d.change(e.Key, func(e *inbox.Entry) error { e.ToldEdit = mark; return nil })
}

func (d edit) warn(ctx context.Context, why i18n.Key) error {
	return d.prompts.Chat.Warn(ctx, d.in.To, d.in.MessageID, render.Plain(d.prompts.words.Say(why)), nil)
}

var errNoMessage = errors.New("the entry has no message")

// messageOf is the message that an entry was made of, as it was last edited.
func messageOf(e inbox.Entry) (*models.Message, error) {
	var u models.Update
	if err := json.Unmarshal(e.Update, &u); err != nil {
		return nil, err
	}
	if u.Message == nil || u.Message.From == nil {
		return nil, errNoMessage
	}
	return u.Message, nil
}
