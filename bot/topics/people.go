package topics

import (
	"context"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/pause"
)

// Changed takes a message by which Telegram tells that a person has changed a topic.
func (t *Topics) Changed(ctx context.Context, in chat.Incoming, m *models.Message) error {
	r, known, err := t.book.CurrentSession(in.To)
	switch {
	case err != nil || !known || in.To.ThreadID == 0:
		return err
	case m.ForumTopicEdited != nil && m.ForumTopicEdited.Name != "":
		return t.renamed(ctx, in, r, m.ForumTopicEdited.Name)
	case m.ForumTopicClosed != nil && r.Open:
		return t.AskArchive(ctx, in, r, i18n.TopicClosedAsk)
	case m.ForumTopicReopened != nil && r.Resumable:
		return t.Chat.For(r.ID).Post(ctx, in.To, t.Chat.In(in.To).OverText(r), t.Chat.In(in.To).ResumeLink(r))
	}
	return nil
}

// renamed calls a session as its topic. The note goes first: a topic is called anew only where the session
// has come to be called otherwise.
func (t *Topics) renamed(ctx context.Context, in chat.Incoming, r views.Session, name string) error {
	if t.Rename == nil {
		return nil
	}
	if err := t.agree(in.To, name); err != nil {
		return err
	}
	failed := t.Rename(ctx, r.ID, chat.NameOf(name))
	if failed == nil {
		pause.Poke(t.wake)
		return nil
	}
	if err := t.agree(in.To, r.Name); err != nil {
		return err
	}
	return t.Chat.Explain(ctx, in.To, t.Chat.In(in.To).Failure(r, failed))
}

// agree notes as what a session and its topic were last called the same.
func (t *Topics) agree(at address.Conversation, name string) error {
	note, ours := t.book.Topic(at)
	if !ours {
		return nil
	}
	note.Name = name
	return t.book.NoteTopic(at, note)
}

// lost is the payload of a question about a session whose topic was deleted.
type lost struct {
	Session uuid.UUID `json:"session"`
}

const (
	newTopicOption = "new"
	archiveOption  = "archive"
)

// AskLost says that the topic of sessions is gone; of one that is open it asks what becomes of it.
func (t *Topics) AskLost(ctx context.Context, to address.Conversation, of []views.Session, text render.Text) error {
	if len(of) != 1 || !of[0].Open {
		return t.Chat.For(uuid.Nil).Post(ctx, to, text, nil)
	}
	look := card.Look{To: to, Text: text, Session: of[0].ID, Options: chat.Rows(2,
		t.Chat.In(to).Option(i18n.ButtonNewTopic, newTopicOption, outbox.Primary),
		t.Chat.In(to).Option(i18n.ButtonArchive, archiveOption, ""))}
	return t.lost.Post(ctx, look, lost{of[0].ID})
}

// tapLost opens a new topic for a session whose topic was deleted, or asks whether to archive the session.
func (t *Topics) tapLost(ctx context.Context, tap chat.Tap, was lost) (chat.Answer, error) {
	r, known := t.book.Records.Get(was.Session)
	if r = t.book.Successor(r); !known || !r.Open {
		return t.lost.Over(ctx, tap)
	}
	if tap.Card.Option == archiveOption {
		return chat.Do(func(ctx context.Context) error {
			in := chat.Incoming{Message: conversation.Message{To: tap.To}, From: tap.From}
			return t.AskArchive(ctx, in, r, i18n.KillConfirm)
		})
	}
	return chat.Do(func(ctx context.Context) error {
		at, err := t.Place(ctx, tap.To, r, r.ID.String())
		if err != nil || at == tap.To {
			return err
		}
		if err := t.book.Use(ctx, at, r); err != nil {
			return err
		}
		text := t.Chat.In(at).Text(i18n.TopicGoesOn, i18n.Args{"Name": r.Name})
		if err := t.Chat.For(r.ID).Post(ctx, at, text, nil); err != nil {
			return err
		}
		if err := t.lost.End(ctx, tap, ""); err != nil {
			return err
		}
		return t.Chat.Lead(ctx, tap.To, r, at)
	})
}
