package moves

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/refusal"
)

// Moves shows the content of a deleted topic elsewhere, and posts again the cards of a group that
// has become another chat. Doing it twice is doing it once, so each start does it.
type Moves struct {
	chat   *chat.Chat
	book   *conversation.Book
	notify func(ctx context.Context, where chat.MoveFunc) error
	ask    func(ctx context.Context, to address.Conversation, of []port.Session, text render.Text) error
	wake   chan struct{}

	mu   sync.Mutex
	gone []*topic // the outbox detects again any that a crash forgets
}

// topic is a topic that was deleted.
type topic struct {
	at       address.Conversation
	reported bool // in its chat; only Run uses it
}

// New returns the Moves of a chat. tell hands the moved places to every feature; ask reports that
// the topic of sessions is gone, and asks what to do with them.
func New(c *chat.Chat, tell func(ctx context.Context, where chat.MoveFunc) error,
	ask func(ctx context.Context, to address.Conversation, of []port.Session, text render.Text) error) *Moves {
	return &Moves{chat: c, book: c.Book, notify: tell, ask: ask, wake: make(chan struct{}, 1)}
}

// Feature describes Moves to the dispatcher.
func (m *Moves) Feature() chat.Feature { return chat.Feature{Name: "moves", Run: m.Run} }

// Note keeps the news that a known group has become another chat. People who are not allowed also
// cause such news.
func (m *Moves) Note(from, to int64) (ours bool, err error) {
	if !m.book.InGroup(from) && !m.book.InGroup(to) {
		return false, nil
	}
	if err := m.book.Aliases.Note(from, to); err != nil {
		return true, err
	}
	m.Migrated()
	return true, nil
}

// Take takes a message that only reports that a group has become another chat: the earlier chat
// gets the new number, and the new chat the earlier one.
func (m *Moves) Take(message *models.Message) (taken bool, err error) {
	from, to := message.Chat.ID, message.MigrateToChatID
	if message.MigrateFromChatID != 0 {
		from, to = message.MigrateFromChatID, message.Chat.ID
	}
	if to == 0 {
		return false, nil
	}
	_, err = m.Note(from, to)
	return true, err
}

// retryAfter is the pause after a failure.
const retryAfter = 5 * time.Second

// Migrated is called when a group has become another chat.
func (m *Moves) Migrated() { pause.Poke(m.wake) }

// TopicGone is called when a topic no longer exists.
func (m *Moves) TopicGone(gone address.Conversation) {
	m.mu.Lock()
	if !slices.ContainsFunc(m.gone, func(t *topic) bool { return t.at == gone }) {
		m.gone = append(m.gone, &topic{at: gone})
	}
	m.mu.Unlock()
	pause.Poke(m.wake)
}

// Run completes the moves of earlier runs, then handles new ones, until ctx ends.
func (m *Moves) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := pause.Forever
		if err := m.work(ctx); err != nil && ctx.Err() == nil {
			m.chat.Log.Error("rehome_failed", logkey.Error, err)
			wait = retryAfter
		}
		pause.Until(ctx, wait, m.wake)
	}
	return nil
}

func (m *Moves) work(ctx context.Context) error {
	m.mu.Lock()
	gone := slices.Clone(m.gone)
	m.mu.Unlock()
	if len(gone) == 0 && len(m.book.Aliases.Moved()) == 0 {
		return nil
	}
	place := func(at address.Conversation) (to address.Conversation, moves bool) {
		to = at
		to.ChatID, _ = m.book.Aliases.In(at.ChatID, 0)
		if slices.ContainsFunc(gone, func(t *topic) bool { return t.at == to }) {
			to.ThreadID = 0
		}
		return to, to != at
	}
	ofCard := func(at address.Conversation, message int) (to address.Conversation, there bool) {
		to, moves := place(at)
		return to, !moves && !m.book.Aliases.Lost(at.ChatID, message)
	}
	var unread error
	for _, t := range gone { // first: a crash repeats the sentence, and loses none
		err := m.reportTopic(ctx, t)
		if err != nil && !refusal.Is(err, refusal.Unreachable) {
			return err
		}
		unread = errors.Join(unread, err)
	}
	err := errors.Join(unread, m.carry(ctx, place), m.notify(ctx, place), m.chat.Cards.Moved(ctx, ofCard),
		m.reportGroups(ctx))
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gone = m.gone[len(gone):]
	return nil
}

// Bring moves the sessions of a chat, and all that is open there, to another place. The chat keeps
// its settings.
func (m *Moves) Bring(ctx context.Context, from int64, to address.Conversation) error {
	place := func(at address.Conversation) (address.Conversation, bool) {
		if at.ChatID != from {
			return at, false
		}
		return to, true
	}
	return errors.Join(m.carrySessions(ctx, place), m.notify(ctx, place),
		m.chat.Cards.Moved(ctx, func(at address.Conversation, _ int) (address.Conversation, bool) {
			to, moves := place(at)
			return to, !moves
		}))
}

// reportTopic reports in a chat that the topic of sessions is gone, once even if the rest fails.
func (m *Moves) reportTopic(ctx context.Context, t *topic) error {
	var names []string
	var of []port.Session
	known, unread := m.book.Records.List()
	for _, s := range known {
		if s.Conversation == t.at {
			names, of = append(names, chat.ShownName(s.Name)), append(of, s)
		}
	}
	if len(names) == 0 || t.reported {
		return unread // it may be the topic of one of the others
	}
	m.chat.Log.Warn("topic_gone", logkey.ChatID, t.at.ChatID, logkey.Topic, t.at.ThreadID, logkey.Sessions, len(names))
	to := address.Conversation{ChatID: t.at.ChatID}
	p := m.chat.In(to)
	list := p.Some(names, p.Say(i18n.JoinNames))
	err := m.ask(ctx, to, of, p.Text(i18n.TopicLost, i18n.Args{"Count": len(names), "Names": list}))
	t.reported = err == nil
	return err
}

// reportGroups posts, once, the new configuration in each group that has become another chat. It
// skips groups that are not allowed, and groups whose new number is configured.
func (m *Moves) reportGroups(ctx context.Context) error {
	for _, numbers := range m.book.Aliases.Moved() {
		now := numbers[len(numbers)-1]
		listed := slices.IndexFunc(numbers, m.book.ListsGroup)
		if listed < 0 || m.book.ListsGroup(now) || m.book.Aliases.IsReported(now) {
			continue
		}
		was := numbers[listed]
		m.chat.Log.Warn("group_moved", logkey.ChatID, was, logkey.NewChatID, now,
			logkey.Fix, fmt.Sprintf("put %d in place of %d in ALLOWED_CHATS", now, was))
		to := address.Conversation{ChatID: numbers[0]}
		from, into := strconv.FormatInt(was, 10), strconv.FormatInt(now, 10)
		text := m.chat.In(to).Say(i18n.GroupMoved, i18n.Args{"From": from, "To": into})
		if err := m.chat.Say(ctx, to, text); err != nil {
			return err
		}
		m.chat.At("move-told")
		if err := m.book.Aliases.NoteReported(now); err != nil {
			return err
		}
	}
	return nil
}

// carry moves the state of places, and the sessions that are shown there.
func (m *Moves) carry(ctx context.Context, place chat.MoveFunc) error {
	var errs []error
	for _, c := range m.book.All() {
		if to, moves := place(c); moves {
			errs = append(errs, m.book.Rehome(c, to))
		}
	}
	return errors.Join(append(errs, m.carrySessions(ctx, place))...)
}

func (m *Moves) carrySessions(ctx context.Context, place chat.MoveFunc) error {
	var errs []error
	known, err := m.book.Records.List()
	errs = append(errs, err) // the others are moved when their machine answers
	for _, s := range known {
		to, moves := place(s.Conversation)
		if !moves {
			continue
		}
		if err := m.book.MoveTo(ctx, to, s); err != nil && !refusal.Is(err, refusal.NotFound) {
			errs = append(errs, fmt.Errorf("move %s: %w", s.ID, err))
		}
	}
	return errors.Join(errs...)
}
