package prompt

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/cuttext"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Edited applies the edit of a message. An untyped prompt gets the new text; for any other prompt
// its sender learns that the edit changes nothing. ok is false if the message is now a command or
// empty: an edit makes no command of a prompt. An edit of foreign words changes nothing, because
// another bot may have made it. Without a time of the edit only the appearance of the message has
// changed.
func (p *Prompts) Edited(ctx context.Context, in chat.Incoming, m *models.Message, text string,
	ok bool) error {
	if m.EditDate == 0 {
		return nil
	}
	e, err := p.Entries.Find(in.To, in.MessageID)
	if err != nil && !errors.Is(err, inbox.ErrNoEntry) {
		return err
	}
	if err != nil { // whether it was a prompt the conversation knows
		if _, prompt := p.book.SessionOf(in.To, in.MessageID); in.Quoted || !ok || !prompt {
			return nil
		}
		return p.reportIgnored(ctx, in, e, m)
	}
	// The edit may lack the sign that the words are another's.
	first := messageOf(e)
	quoted := in.Quoted || first != nil && quotation.Source(first) != ""
	typed, class, some := talk.Normalise(reworded(e, partOf(p.book, e, in.MessageID), m, text))
	r, _ := p.book.Records.Get(e.Session)
	unable := r.ID != uuid.Nil && refusal.Unable(r.Can, typed, class) != nil
	ignored := quoted || !ok || unable || some && class != talk.ClassPlain && class != e.Class
	same := !some || typed == e.Text // blanks are not typed either
	switch {
	case quoted && e.ReportedEdit != "", !ignored && same: // another bot may edit without end
		return nil
	case ignored, !e.State.Waits():
		err = inbox.ErrNoEntry
	default:
		err = p.reword(ctx, e, m, in.MessageID, typed, class)
	}
	switch {
	case chat.IsGone(err):
		return p.reportIgnored(ctx, in, e, m)
	case err == nil:
		p.Chat.React(ctx, in.To, in.MessageID, chat.ReactionStored)
		c, asks := p.cards.Get(e.Key)
		if asks && c.Payload.isPath() {
			return becomeFirst(ctx, p, c)
		}
		if asks && e.State == inbox.Asked {
			e.Text = typed
			return p.redraw(ctx, c, e)
		}
		if e.State == inbox.Asked { // the question of another text may show it
			return errors.Join(redrawShared(ctx, p, e.Conversation), p.Texts.Update(ctx, e.Session))
		}
		return p.Texts.Update(ctx, e.Session)
	}
	return err
}

// reword replaces the text of a prompt, and keeps the edited message for the next edit. chat.IsGone
// of the error: the prompt was typed, or may have been.
func (p *Prompts) reword(ctx context.Context, e inbox.Entry, m *models.Message, number int, typed string,
	class talk.PromptClass) error {
	raw, err := json.Marshal(models.Update{Message: m})
	if err == nil && e.State != inbox.Asked {
		err = p.Queue.Reword(ctx, e.Session, e.Key, talk.Spoken(e.Speaker, typed, class), class)
	}
	if err != nil {
		return err
	}
	return p.Entries.Change(e.Key, func(now *inbox.Entry) error {
		if e.State == inbox.Asked && now.State != e.State {
			return inbox.ErrNoEntry
		}
		now.Text, now.Class, now.ReportedEdit = typed, class, ""
		if i := partOf(p.book, *now, number); i > 0 {
			now.Rest[i-1] = raw
		} else {
			now.Update, now.Refers = raw, false
		}
		return nil
	})
}

// reportIgnored reports once that an edit changes nothing, and each time for a message that has
// left the inbox: Telegram repeats an edit if only the appearance of the message changes later.
func (p *Prompts) reportIgnored(ctx context.Context, in chat.Incoming, e inbox.Entry,
	m *models.Message) error {
	edit := fmt.Sprintf("%x", sha256.Sum256(fmt.Append(nil, m.EditDate, "\n", m.Text, m.Caption)))
	if e.ReportedEdit == edit {
		return nil
	}
	text := render.Plain(p.Chat.In(in.To).Say(i18n.EditIgnored))
	if err := p.Chat.Warn(ctx, in.To, in.MessageID, text, nil); err != nil {
		return err
	}
	err := p.Entries.Change(e.Key, func(now *inbox.Entry) error { now.ReportedEdit = edit; return nil })
	if errors.Is(err, inbox.ErrNoEntry) {
		return nil
	}
	return err
}

// partOf returns the part of a cut text that a message is; 0: the first, or there is one part.
func partOf(b *conversation.Book, e inbox.Entry, number int) int {
	parts, err := quotation.Parts(e.Update, e.Rest, e.Refers)
	if err != nil || e.Album != "" {
		return 0
	}
	return max(0, slices.IndexFunc(parts, func(u *models.Update) bool { _, n := b.Inside(u.Message); return n == number }))
}

// reworded returns a prompt's text with another text of one of its messages. It keeps the other
// parts of a cut text, and a file's name, words of a recording, and captions of an album.
func reworded(e inbox.Entry, part int, m *models.Message, text string) string {
	if len(e.Files) == 0 {
		parts, err := quotation.Parts(e.Update, e.Rest, e.Refers)
		if err != nil || len(parts) < 2 {
			return text
		}
		parts[part] = &models.Update{Message: m}
		return cuttext.Join(parts, quotation.Text)
	}
	first := ""
	if m := messageOf(e); m != nil && quotation.Text(m) != "" {
		first, _, _ = talk.Normalise(quotation.Text(m) + "\n.") // as with a following text
	}
	if rest, ok := strings.CutPrefix(e.Text, strings.TrimSuffix(first, ".")); ok {
		return lines(text, rest)
	}
	return withFiles(text, e.Files)
}

// messageOf is the message that an entry was made of, as it was last edited; nil: that is unknown.
func messageOf(e inbox.Entry) *models.Message {
	m := sentOn(e)
	if m == nil || !e.Refers {
		return m
	}
	return quotation.Meant(m)
}

// writerOf returns the person who has written an entry; 0: that is unknown.
func writerOf(e inbox.Entry) int64 {
	if m := messageOf(e); m != nil {
		return m.From.ID
	}
	return 0
}

// sentOn is the message whose sender has sent an entry to the agent: that of its words, or one that
// answers it. nil: that is unknown.
func sentOn(e inbox.Entry) *models.Message {
	var u models.Update
	if json.Unmarshal(e.Update, &u) != nil || u.Message == nil || u.Message.From == nil {
		return nil
	}
	return u.Message
}

// correct takes a text that answers the question about a recording: it becomes the words of the
// recording, and the question shows it. The text itself does not become a prompt. It makes no
// command of the recording: a command for the agent is a separate prompt.
func correct(ctx context.Context, p *Prompts, in chat.Incoming, text string) (corrects bool, err error) {
	c, asks := p.cards.Find(in.To, in.ReplyTo)
	_, own, some := talk.Normalise(text)
	if !asks || c.Payload.Reason != spoken || in.Quoted || !some || own != talk.ClassPlain {
		return false, nil
	}
	e, err := p.Entries.Load(c.Key)
	if err != nil && !chat.IsGone(err) {
		return false, err
	}
	caption := ""
	if m := messageOf(e); m != nil {
		caption = quotation.Text(m)
	}
	typed, class, _ := talk.Normalise(withFiles(lines(caption, text), e.Files))
	err = p.Entries.Change(e.Key, func(now *inbox.Entry) error {
		if now.State != inbox.Asked {
			return inbox.ErrNoEntry
		}
		now.Text, now.Class, now.Spoken = typed, class, text
		e = *now
		return nil
	})
	if chat.IsGone(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, p.redraw(ctx, c, e)
}
