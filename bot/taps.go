package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// tapEvent is a button tapped by an allowed person. Taps are handled at once
// and never written: a person who sees nothing happen taps again.
type tapEvent struct {
	query   string
	from    int64
	to      session.Conversation
	message int
	text    string // of the message that the button is under
	args    []string
}

// tap does what a button says. Its data is "verb:argument:…".
type tap func(ctx context.Context, t tapEvent) error

func (b *Bot) tapTable() map[string]tap {
	return map[string]tap{
		"cur":   b.tapCurrent,
		"kill":  func(ctx context.Context, t tapEvent) error { return b.tapEnd(ctx, t, session.Archived) },
		"done":  func(ctx context.Context, t tapEvent) error { return b.tapEnd(ctx, t, session.Completed) },
		"no":    b.tapCancel,
		"undo":  b.tapResume,
		"res":   b.tapResume,
		"again": b.tapAgain,
		"drop":  b.tapDrop,
	}
}

func (b *Bot) tapped(ctx context.Context, q *models.CallbackQuery) error {
	if old := q.Message.InaccessibleMessage; old != nil && b.mayHear(q.From.ID, old.Chat) {
		// Telegram does not say any more in which topic it stands, so nothing is done
		b.Sender.Answer(ctx, session.Conversation{ChatID: old.Chat.ID}, q.ID, b.words.Say(i18n.StaleButton), true)
		return nil
	}
	if q.Message.Message == nil || !b.mayHear(q.From.ID, q.Message.Message.Chat) {
		return nil
	}
	m := q.Message.Message
	parts := strings.Split(q.Data, ":")
	t := tapEvent{query: q.ID, from: q.From.ID, message: m.ID, text: m.Text, args: parts[1:],
		to: inbox.ConversationOf(m)}
	do, ok := b.taps[parts[0]]
	if !ok {
		return b.stale(ctx, t)
	}
	return do(ctx, t)
}

// stale answers a tap on a button whose time has passed.
func (b *Bot) stale(ctx context.Context, t tapEvent) error {
	b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.StaleButton), false)
	return b.spend(ctx, t)
}

// spend takes the buttons off the message.
func (b *Bot) spend(ctx context.Context, t tapEvent) error {
	return edited(b.Sender.EditButtons(ctx, t.to, t.message, nil))
}

// replace sets the text of the message that was tapped, without buttons.
func (b *Bot) replace(ctx context.Context, t tapEvent, text string) error {
	return edited(b.Sender.Edit(ctx, t.to, t.message, outbox.Message{To: t.to, Text: plain(text)}))
}

// edited passes over a message that is gone, or too old to be edited.
func edited(err error) error {
	if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}

// mine says whether the tapping person is the one who was asked, whose id is
// argument i.
func (b *Bot) mine(ctx context.Context, t tapEvent, i int) bool {
	if i < len(t.args) && t.args[i] == strconv.FormatInt(t.from, 10) {
		return true
	}
	b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.NotForYou), false)
	return false
}

// session is the session that argument 0 names.
func (b *Bot) session(t tapEvent) (session.Record, bool) {
	if len(t.args) == 0 {
		return session.Record{}, false
	}
	id, err := uuid.Parse(t.args[0])
	if err != nil {
		return session.Record{}, false
	}
	return b.Records.Get(id)
}

func (b *Bot) tapCurrent(ctx context.Context, t tapEvent) error {
	r, ok := b.session(t)
	if !ok || !endable(r.State) {
		return b.stale(ctx, t)
	}
	if err := b.use(ctx, t.to, r); err != nil {
		return err
	}
	b.Sender.Answer(ctx, t.to, t.query, "→ "+r.Name, false)
	text, buttons := b.listText(ctx, t.to)
	parts := text.Split(limit) // the buttons stand under the last one
	return edited(b.Sender.Edit(ctx, t.to, t.message, outbox.Message{To: t.to, Text: parts[len(parts)-1], Buttons: buttons}))
}

func (b *Bot) tapEnd(ctx context.Context, t tapEvent, final session.State) error {
	r, ok := b.session(t)
	if !ok {
		return b.stale(ctx, t)
	}
	if !b.mine(ctx, t, 1) {
		return nil
	}
	return b.end(ctx, t, r.ID, final)
}

func (b *Bot) tapCancel(ctx context.Context, t tapEvent) error {
	if !b.mine(ctx, t, 0) {
		return nil
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	return b.replace(ctx, t, b.words.Say(i18n.Cancelled))
}

// tapResume brings a session back: [Resume] of a list, [Undo] of a receipt.
// Whether it can come back is for the session's worker to say: news of an end
// is told before the end is on disk, and a person may be quicker than that.
func (b *Bot) tapResume(ctx context.Context, t tapEvent) error {
	r, ok := b.session(t)
	if !ok {
		return b.stale(ctx, t)
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	if back, err := b.restore(ctx, t.to, r); err != nil || !back {
		return err
	}
	return b.spend(ctx, t)
}

// unproven finds the prompt that a question is about.
func (b *Bot) unproven(t tapEvent) (key string, id uuid.UUID, err error) {
	if len(t.args) == 0 {
		return "", uuid.Nil, fs.ErrNotExist
	}
	e, err := b.Entries.Load(t.args[0])
	if err != nil {
		return "", uuid.Nil, err
	}
	return e.Key, e.Session, nil
}

func (b *Bot) tapAgain(ctx context.Context, t tapEvent) error {
	return b.decide(ctx, t, b.Sessions.SendAgain, i18n.SentAgain)
}

func (b *Bot) tapDrop(ctx context.Context, t tapEvent) error {
	return b.decide(ctx, t, b.Sessions.Drop, i18n.Dropped)
}

// decide carries out a person's decision on a prompt that has no proof.
func (b *Bot) decide(ctx context.Context, t tapEvent, do func(context.Context, uuid.UUID, string) error, said i18n.Key) error {
	key, id, err := b.unproven(t)
	if err == nil {
		err = do(ctx, id, key)
	}
	r, _ := b.Records.Get(id)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, inbox.ErrNoEntry), errors.Is(err, session.ErrNotFound):
		return b.stale(ctx, t)
	case errors.Is(err, lifecycle.ErrNoAgent):
		b.Sender.Answer(ctx, t.to, t.query, b.words.Say(i18n.AlreadyEnded, i18n.Args{"Name": r.Name}), true)
		return nil
	case err != nil:
		return err
	}
	b.Sender.Answer(ctx, t.to, t.query, "", false)
	return b.replace(ctx, t, fmt.Sprintf("%s\n\n%s", t.text, b.words.Say(said, i18n.Args{"Name": r.Name})))
}
