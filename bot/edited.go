package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/lifecycle"
)

// edited hears that a message was changed. A prompt that is not typed yet gets the
// new text; of any other it is told that the edit changes nothing. An edit makes
// no command of a prompt; and nothing at all of a message that is not the person's
// own words, for another bot may have edited it. Without a time of the edit only the
// looks of the message have changed.
func (b *Bot) edited(ctx context.Context, in incoming, m *models.Message) error {
	if m.EditDate == 0 {
		return nil
	}
	text, ok := b.editedText(in, m)
	e, err := b.Entries.Find(in.To, in.MessageID)
	if first, unread := messageOf(e); err == nil && unread == nil && sourceOf(first) != "" {
		in.Quoted = true // also where the edit does not say so
	}
	switch {
	case in.Quoted && err == nil && e.State.Waits() && e.ToldEdit == "": // that bot may edit it without end
		return b.tellEdit(ctx, in, e, m, i18n.EditOfQuoted)
	case in.Quoted:
		return nil
	case ok:
	case err == nil && e.State.Waits(): // it would be typed as it was
		return b.tellEdit(ctx, in, e, m, i18n.EditIsCommand)
	default:
		return nil
	}
	if errors.Is(err, inbox.ErrNoEntry) {
		return b.editedLate(ctx, in)
	}
	if err == nil {
		err = b.reword(ctx, e, text, m)
	}
	switch {
	case errors.Is(err, errSameText):
		return nil
	case errors.Is(err, errBecomesCommand):
		return b.tellEdit(ctx, in, e, m, i18n.EditIsCommand)
	case isGone(err):
		return b.tellEdit(ctx, in, e, m, i18n.EditTooLate)
	case err != nil:
		return err
	}
	b.Mark(ctx, in.To, in.MessageID, chat.ReactionStored)
	return nil
}

// editedText is the text that an edit gives a prompt. It is false where the
// message is none any more: a command, or nothing.
func (b *Bot) editedText(in incoming, m *models.Message) (text string, ok bool) {
	text = textOf(m)
	if m.Text == "" {
		return text, true // a caption is no command
	}
	name, to, rest := splitCommand(text)
	ours := to == "" || strings.EqualFold(to, b.Username)
	if !ours && in.To.ChatID != in.From && addressed.MatchString(name+"@"+to) {
		return "", false
	}
	if _, command := b.commands[name]; command && ours {
		return "", false
	}
	if to != "" && ours {
		text = "/" + name + rest
	}
	return text, true
}

// Why an edit changes nothing.
var (
	errSameText       = errors.New("the text is the same")
	errBecomesCommand = errors.New("an edit makes no command of a text")
)

// mayBecome says whether an edit may give a prompt that is typed as one class a
// text of another one: what runs a command is written as a message of its own.
func mayBecome(was string, class lifecycle.Class) error {
	if class != lifecycle.ClassPrompt && string(class) != was {
		return errBecomesCommand
	}
	return nil
}

// reword gives a prompt another text. isGone of the error: it was typed, or may
// have been.
func (b *Bot) reword(ctx context.Context, e inbox.Entry, text string, m *models.Message) error {
	typed, class, ok := lifecycle.Normalise(b.reworded(e, text))
	if !ok || typed == e.Text {
		return errSameText // what is blank is not typed either
	}
	if err := mayBecome(e.Class, class); err != nil {
		return err
	}
	if e.State == inbox.Held {
		if err := b.Sessions.Reword(ctx, e.Session, e.Key, typed, class); err != nil {
			return err
		}
		return b.noteEdit(e.Key, m)
	}
	return b.Entries.Change(e.Key, func(now *inbox.Entry) error {
		if now.State != e.State || e.State != inbox.Asked {
			return fmt.Errorf("entry %s is %s: %w", e.Key, now.State, fs.ErrNotExist)
		}
		now.Text, now.Class = typed, string(class)
		return asEdited(now, m)
	})
}

// reworded is a prompt with another text of its message. What a file has brought
// along stays: its name, the words of a recording, the captions of an album.
func (b *Bot) reworded(e inbox.Entry, text string) string {
	if len(e.Files) == 0 {
		return text
	}
	if m, err := messageOf(e); err == nil {
		if rest, ok := textBehind(e.Text, textOf(m)); ok {
			return strings.TrimPrefix(text+"\n"+rest, "\n")
		}
	}
	return b.withFiles(text, e.Files)
}

// textBehind is what stands in a prompt behind the lines that it begins with.
func textBehind(typed, first string) (rest string, ok bool) {
	if first == "" {
		return typed, true
	}
	head, _, _ := lifecycle.Normalise(first + "\n.") // as it is normalised with something behind it
	return strings.CutPrefix(typed, strings.TrimSuffix(head, "."))
}

// noteEdit keeps a message as it was edited, for the next edit. A prompt that has
// left meanwhile needs none.
func (b *Bot) noteEdit(key string, m *models.Message) error {
	err := b.Entries.Change(key, func(e *inbox.Entry) error { return asEdited(e, m) })
	if errors.Is(err, inbox.ErrNoEntry) {
		return nil
	}
	return err
}

func asEdited(e *inbox.Entry, m *models.Message) error {
	raw, err := json.Marshal(models.Update{Message: m})
	if err == nil {
		e.Update, e.ToldEdit = raw, ""
	}
	return err
}

// editedLate says that an edit comes too late, of a message that has left the inbox.
// Which of them were prompts the conversation's ring tells. Whether the agent has the
// earlier text is not said: the prompt may have been dropped.
func (b *Bot) editedLate(ctx context.Context, in incoming) error {
	if _, prompt := b.Chats.SessionOf(in.To, in.MessageID); !prompt {
		return nil
	}
	return b.warnOfEdit(ctx, in, i18n.EditTooLate)
}

// tellEdit says once what an edit of a message in the inbox does not change. Telegram
// reports the same edit again where only the looks of the message change later.
func (b *Bot) tellEdit(ctx context.Context, in incoming, e inbox.Entry, m *models.Message, why i18n.Key) error {
	mark := chat.Digest(fmt.Sprint(m.EditDate, "\n", m.Text, m.Caption), 22)
	if e.ToldEdit == mark {
		return nil
	}
	if err := b.warnOfEdit(ctx, in, why); err != nil {
		return err
	}
	err := b.Entries.Change(e.Key, func(e *inbox.Entry) error { e.ToldEdit = mark; return nil })
	if errors.Is(err, inbox.ErrNoEntry) {
		return nil
	}
	return err
}

func (b *Bot) warnOfEdit(ctx context.Context, in incoming, why i18n.Key) error {
	return b.Warn(ctx, in.To, in.MessageID, render.Plain(b.words.Say(why)), nil)
}

var errNoMessage = errors.New("the entry has no message")

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
