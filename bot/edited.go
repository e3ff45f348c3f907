package bot

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// edited hears that a message was changed. A prompt that is not typed yet gets the
// new text; of any other it is told that the edit changes nothing. An edit makes
// no command of a prompt; and nothing at all of a message that is not the person's
// own words, for another bot may have edited it.
func (b *Bot) edited(ctx context.Context, in incoming, m *models.Message) error {
	text, ok := b.editedText(in, m)
	e, err := b.Entries.Find(in.To, in.MessageID)
	if first, unread := messageOf(e); err == nil && unread == nil && sourceOf(first) != "" {
		in.Quoted = true // also where the edit does not say so
	}
	switch {
	case in.Quoted && err == nil && e.State.Waits() && !b.heard.same(in.To, m):
		return b.tellEdit(ctx, in, m, i18n.EditOfQuoted)
	case in.Quoted:
		return nil
	case ok:
	case err == nil && e.State.Waits() && !b.heard.same(in.To, m): // it would be typed as it was
		return b.tellEdit(ctx, in, m, i18n.EditIsCommand)
	default:
		return nil
	}
	if errors.Is(err, inbox.ErrNoEntry) {
		return b.editedLate(ctx, in, m)
	}
	if err == nil {
		err = b.reword(ctx, e, text, m)
	}
	switch {
	case errors.Is(err, errSameText):
		return nil
	case errors.Is(err, errBecomesCommand) && b.heard.same(in.To, m):
		return nil
	case errors.Is(err, errBecomesCommand):
		return b.tellEdit(ctx, in, m, i18n.EditIsCommand)
	case isGone(err):
		return b.tellTooLate(ctx, in, m)
	case err != nil:
		return err
	}
	b.heard.note(in.To, m)
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
	if e.State == inbox.Gathered {
		err := b.albums.reword(e.Key, text)
		now, found := b.Entries.Find(e.Conversation, e.MessageID)
		if isGone(err) && found == nil && now.State != inbox.Gathered { // it has become a prompt since
			return b.reword(ctx, now, text, m)
		}
		if err != nil {
			return err
		}
		return b.noteEdit(e.Key, m)
	}
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
		e.Update = raw
	}
	return err
}

// editedLate hears of a message that has left the inbox. Which of them were
// prompts the conversation's ring tells.
func (b *Bot) editedLate(ctx context.Context, in incoming, m *models.Message) error {
	if _, prompt := b.Chats.SessionOf(in.To, in.MessageID); !prompt {
		return nil
	}
	return b.tellTooLate(ctx, in, m)
}

// tellTooLate says once for each edit that it changes nothing. Whether the agent
// has the earlier text it does not say: the prompt may have been dropped. Telegram tells of an edit also where only the looks of a message have changed:
// then it names no time of the edit, or the text is as it was.
func (b *Bot) tellTooLate(ctx context.Context, in incoming, m *models.Message) error {
	if m.EditDate == 0 || b.heard.same(in.To, m) {
		return nil
	}
	return b.tellEdit(ctx, in, m, i18n.EditTooLate)
}

// tellEdit says what an edit does not change, once.
func (b *Bot) tellEdit(ctx context.Context, in incoming, m *models.Message, why i18n.Key) error {
	if err := b.Warn(ctx, in.To, in.MessageID, render.Plain(b.words.Say(why)), nil); err != nil {
		return err
	}
	b.heard.note(in.To, m)
	return nil
}

// heard remembers the last texts that came, to know which edit changes one. It is
// lost in a restart: then an edit that changes nothing may be taken for one.
type heard struct {
	mu    sync.Mutex
	texts map[heardAt][sha256.Size]byte
	order []heardAt // oldest first
}

type heardAt struct {
	to      session.Conversation
	message int
}

// keptTexts bounds heard.
const keptTexts = 1000

func newHeard() *heard { return &heard{texts: make(map[heardAt][sha256.Size]byte)} }

func (h *heard) note(to session.Conversation, m *models.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at := heardAt{to, m.ID}
	if _, known := h.texts[at]; !known {
		h.order = append(h.order, at)
	}
	h.texts[at] = textDigest(m)
	if len(h.order) > keptTexts {
		delete(h.texts, h.order[0])
		h.order = h.order[1:]
	}
}

// same says whether it is known that the text of a message is as it was.
func (h *heard) same(to session.Conversation, m *models.Message) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	was, known := h.texts[heardAt{to, m.ID}]
	return known && was == textDigest(m)
}

// textDigest is one for all edits of a message that is not the person's own words:
// they are ignored, and told once.
func textDigest(m *models.Message) [sha256.Size]byte {
	if sourceOf(m) != "" {
		return sha256.Sum256(fmt.Append(nil, "edited: ", m.EditDate != 0))
	}
	return sha256.Sum256([]byte(m.Text + "\x00" + m.Caption))
}
