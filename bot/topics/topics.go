package topics

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
)

// Telegram opens and changes topics, at the pace of their chat; see package outbox for the errors.
type Telegram interface {
	OpenTopic(ctx context.Context, chat int64, name, icon string, made func(at outbox.Conversation) error) error
	EditTopic(ctx context.Context, at outbox.Conversation, name, icon string) error
	// TopicIcons are the ids of the icons that a topic may have, by their emoji. An error passes: a
	// server that knows no icons has none.
	TopicIcons(ctx context.Context) (map[string]string, error)
}

// Deps holds the dependencies of Topics.
type Deps struct {
	Chat     *chat.Chat
	Telegram Telegram
	Threaded func() bool // the bot has threaded mode in private chats
	// Rename calls a session as a person has called its topic. nil: sessions keep their names.
	Rename func(ctx context.Context, session uuid.UUID, name string) error
	// AskEnd asks a person whether to end a session.
	AskEnd func(final port.State, question, button i18n.Key) chat.OnSession
	// KeepOpen withdraws the question of AskEnd about a session in a place.
	KeepOpen func(ctx context.Context, at outbox.Conversation, session uuid.UUID) error
}

// Topics open topics for sessions, and keep the two in step.
type Topics struct {
	Deps
	book *conversation.Book
	lost chat.Cards[struct{}] // ask about a session whose topic was deleted
	wake chan struct{}

	mu      sync.Mutex
	opening map[int64]*sync.Mutex // by chat: held while a topic is opened there
	forums  map[int64]bool        // the chats that have topics
	icons   map[string]string     // nil: not asked for yet
}

const lostKind = "topic-lost"

// New returns the Topics of a chat.
func New(d Deps) *Topics {
	return &Topics{Deps: d, book: d.Chat.Book, lost: chat.NewCards[struct{}](d.Chat, lostKind).Asking(), wake: make(chan struct{}, 1),
		opening: make(map[int64]*sync.Mutex), forums: make(map[int64]bool)}
}

// Feature describes Topics to the dispatcher.
func (t *Topics) Feature() chat.Feature {
	return chat.Feature{Name: "topics", Run: t.Run, OnNews: t.onNews,
		Cards:     map[string]chat.OnTap{lostKind: t.lost.OnTap(t.tapLost)},
		OnResumed: func(context.Context, int64) { pause.Poke(t.wake) }}
}

// Note keeps whether the chat of a message or a button has topics. Everything that may need a topic
// begins with one of these.
func (t *Topics) Note(place int64, m *models.Message) {
	private := m.Chat.Type == models.ChatTypePrivate
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forums[place] = m.Chat.IsForum || private && (t.Threaded() || m.IsTopicMessage || t.forums[place])
}

// placement names the kind of place that shows a session.
type placement int

const (
	here  placement = iota // the person's place
	own                    // in the topic that the session has
	fresh                  // in a new topic
)

// facts are the inputs of decide.
type facts struct {
	forum bool // the chat has topics
	has   bool // the session has one there
	free  bool // the person is in a topic that belongs to no other session
}

func (f facts) decide() placement {
	switch {
	case f.has:
		return own
	case !f.forum || f.free:
		return here
	}
	return fresh
}

// Place is Book.Place: it opens the session's own topic if that is needed and possible.
func (t *Topics) Place(ctx context.Context, to outbox.Conversation, r port.Session, asked string) (outbox.Conversation, error) {
	at, has := t.book.TopicOf(to.ChatID, r)
	if !has {
		at, has = t.book.OpenedFor(to.ChatID, asked)
	}
	now := t.book.CurrentID(to, 0)
	t.mu.Lock()
	f := facts{forum: t.forums[to.ChatID], has: has,
		free: to.ThreadID != 0 && (now == uuid.Nil || now == r.ID || r.Conversation == to)}
	t.mu.Unlock()
	switch f.decide() {
	case own:
		return at, nil
	case fresh:
		return t.open(ctx, to, r, asked)
	}
	return to, nil
}

// timeout is how long a person waits for a topic.
const timeout = 20 * time.Second

// open opens a topic for a session. If that fails, it posts the reason and returns the person's
// place.
func (t *Topics) open(ctx context.Context, to outbox.Conversation, r port.Session, asked string) (outbox.Conversation, error) {
	defer t.turn(to.ChatID)() // two taps on one button ask at the same time
	if at, known := t.book.OpenedFor(to.ChatID, asked); known {
		return at, nil
	}
	waits, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	icon, err := t.icon(waits, false)
	if err != nil { // the topic is worth more than its icon
		t.Chat.Log.Info("topic_icons_unknown", logkey.Error, err)
	}
	failed := t.Telegram.OpenTopic(waits, to.ChatID, t.title(to, r.Name), icon, func(at outbox.Conversation) error {
		t.Chat.At("topic-made")
		return t.book.NoteTopic(at, conversation.Topic{For: asked, Name: r.Name})
	})
	if at, known := t.book.OpenedFor(to.ChatID, asked); known {
		t.Chat.At("topic-noted")
		return at, t.book.NoteTopicsRefused(to.ChatID, false)
	}
	if ctx.Err() != nil {
		return to, ctx.Err()
	}
	t.Chat.Log.Warn("topic_not_opened", logkey.ChatID, to.ChatID, logkey.Error, failed)
	if !chat.IsRefused(failed) {
		return to, t.Chat.Post(ctx, card.Content{To: to, Session: r.ID, Text: t.Chat.In(to).Text(i18n.TopicFailed, i18n.Args{"Name": r.Name})})
	}
	if t.book.TopicsRefused(to.ChatID) {
		return to, nil
	}
	if err := t.Chat.Say(ctx, to, t.Chat.In(to).Say(i18n.TopicsRefused)); err != nil {
		return to, err
	}
	return to, t.book.NoteTopicsRefused(to.ChatID, true)
}

// turn waits until no other call opens a topic in a chat; done lets the next call continue.
func (t *Topics) turn(chat int64) (done func()) {
	t.mu.Lock()
	one := t.opening[chat]
	if one == nil {
		one = &sync.Mutex{}
		t.opening[chat] = one
	}
	t.mu.Unlock()
	one.Lock()
	return one.Unlock
}

// title is a session's name as the title of a topic, with the machine if the group has several
// bots.
func (t *Topics) title(at outbox.Conversation, name string) string {
	return chat.ShownName(name) + t.machine(at)
}

// machine is the end of a title that names the machine; empty in a chat with one bot.
func (t *Topics) machine(at outbox.Conversation) string {
	if m := t.Chat.Machine(at); m != "" {
		return " · " + m
	}
	return ""
}

// Changed handles Telegram's message that a person has changed a topic.
func (t *Topics) Changed(ctx context.Context, in chat.Incoming, m *models.Message) error {
	r, known := t.book.CurrentSession(in.To, in.From)
	switch {
	case !known || in.To.ThreadID == 0:
	case m.ForumTopicEdited != nil && m.ForumTopicEdited.Name != "":
		return t.renamed(ctx, in, r, m.ForumTopicEdited.Name)
	case m.ForumTopicClosed != nil && r.State.Open():
		return t.AskEnd(port.StateArchived, i18n.TopicClosedAsk, i18n.ButtonArchive)(ctx, in, r)
	case m.ForumTopicReopened != nil && r.State.Open():
		return t.KeepOpen(ctx, in.To, r.ID)
	case m.ForumTopicReopened != nil && r.Resumable:
		return t.Chat.Post(ctx, card.Content{To: in.To, Session: r.ID, Text: t.Chat.In(in.To).EndedText(r), Options: t.Chat.In(in.To).ResumeLink(r)})
	}
	return nil
}

// renamed renames a session after its topic. The note comes first: the topic is renamed again only
// if the session got another name.
func (t *Topics) renamed(ctx context.Context, in chat.Incoming, r port.Session, name string) error {
	if t.Rename == nil {
		return nil
	}
	if err := t.agree(in.To, name); err != nil {
		return err
	}
	failed := t.Rename(ctx, r.ID, chat.NameOf(strings.TrimSuffix(name, t.machine(in.To))))
	if failed == nil {
		pause.Poke(t.wake)
		return nil
	}
	if err := t.agree(in.To, r.Name); err != nil {
		return err
	}
	return t.Chat.Explain(ctx, in.To, t.Chat.In(in.To).Failure(r, failed))
}

// agree notes the last common name of a session and its topic.
func (t *Topics) agree(at outbox.Conversation, name string) error {
	note, ours := t.book.Topic(at)
	if !ours {
		return nil
	}
	note.Name = name
	return t.book.NoteTopic(at, note)
}

const (
	newTopicOption = "new"
	archiveOption  = "archive"
)

// AskLost reports that the topic of sessions is gone. If there is a single open session, it asks
// what to do with it.
func (t *Topics) AskLost(ctx context.Context, to outbox.Conversation, of []port.Session, text render.Text) error {
	if len(of) != 1 || !of[0].State.Open() {
		return t.Chat.Post(ctx, card.Content{To: to, Text: text})
	}
	look := card.Content{To: to, Text: text, Session: of[0].ID, Options: chat.Rows(2,
		t.Chat.In(to).Option(i18n.ButtonNewTopic, newTopicOption, outbox.Primary),
		t.Chat.In(to).Option(i18n.ButtonArchive, archiveOption, ""))}
	return t.lost.Post(ctx, look, struct{}{})
}

// tapLost opens a new topic for a session whose topic was deleted, or asks whether to archive the
// session.
func (t *Topics) tapLost(ctx context.Context, tap chat.Tap, _ struct{}) (chat.Answer, error) {
	r, known := t.book.Records.Get(tap.Card.Session)
	if !known || !r.State.Open() {
		return t.lost.AnswerExpired(ctx, tap)
	}
	if tap.Card.Option == archiveOption {
		return chat.Do(func(ctx context.Context) error {
			in := chat.Incoming{Message: conversation.Message{To: tap.To}, From: tap.From}
			return t.AskEnd(port.StateArchived, i18n.KillConfirm, i18n.ButtonArchive)(ctx, in, r)
		})
	}
	return chat.Do(func(ctx context.Context) error {
		at, err := t.Place(ctx, tap.To, r, r.ID.String())
		if err != nil || at == tap.To {
			return err
		}
		if err := t.book.Use(ctx, at, tap.From, r); err != nil {
			return err
		}
		text := t.Chat.In(at).Text(i18n.TopicGoesOn, i18n.Args{"Name": r.Name})
		if err := t.Chat.Post(ctx, card.Content{To: at, Session: r.ID, Text: text}); err != nil {
			return err
		}
		if err := t.lost.End(ctx, tap, ""); err != nil {
			return err
		}
		return t.Chat.Lead(ctx, tap.To, r, at)
	})
}
