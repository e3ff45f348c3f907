package bot

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
	"ccbot/bot/inbox"
	"ccbot/bot/port/refusal"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// inside gives the place of a message, and the number that the message has there.
func (b *Bot) inside(m *models.Message) (to address.Conversation, message int) {
	to = inbox.ConversationOf(m)
	to.ChatID, message = b.Chats.Aliases.In(m.Chat.ID, m.ID)
	return to, message
}

// Moves keeps the news that a group has become another chat, if the group is one of ours. People
// who may not speak cause such news, too.
func (b *Bot) Moves(from, to int64) (ours bool, err error) {
	if !b.InGroup(from) && !b.InGroup(to) {
		return false, nil
	}
	if err := b.Chats.Aliases.Note(from, to); err != nil {
		return true, err
	}
	b.Migrated()
	return true, nil
}

// tookMove takes a message which only tells that a group has become another chat: the earlier chat
// is told the new number, and the new chat the earlier one.
func (b *Bot) tookMove(m *models.Message) (taken bool, err error) {
	from, to := m.Chat.ID, m.MigrateToChatID
	if m.MigrateFromChatID != 0 {
		from, to = m.MigrateFromChatID, m.Chat.ID
	}
	if to == 0 {
		return false, nil
	}
	_, err = b.Moves(from, to)
	return true, err
}

// rehomes shows elsewhere what is shown in a topic that was deleted, and posts the cards again that
// a group has left behind in the chat that it was. Doing it twice is doing it once, so each start
// does it.
type rehomes struct {
	*Bot
	wake  chan struct{}
	again time.Duration // until the next try of what failed

	mu   sync.Mutex
	gone []address.Conversation // topics; those that a crash forgets are found out again by the outbox
}

func newRehomes(b *Bot) *rehomes {
	return &rehomes{Bot: b, wake: make(chan struct{}, 1), again: 10 * time.Second}
}

// Migrated hears that a group has become another chat.
func (b *Bot) Migrated() { poke(b.rehomes.wake) }

// TopicGone hears that a topic is not there any more.
func (b *Bot) TopicGone(gone address.Conversation) {
	b.rehomes.mu.Lock()
	b.rehomes.gone = append(b.rehomes.gone, gone)
	b.rehomes.mu.Unlock()
	poke(b.rehomes.wake)
}

// Run does what earlier runs have left, then what comes, until ctx ends.
func (r *rehomes) Run(ctx context.Context) error {
	for {
		var retry <-chan time.Time // nil waits for ever
		if err := r.work(ctx); err != nil && ctx.Err() == nil {
			r.Log.Error("rehome_failed", "error", err.Error())
			retry = time.After(r.again)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-r.wake:
		case <-retry:
		}
	}
}

func (r *rehomes) work(ctx context.Context) error {
	r.mu.Lock()
	gone := slices.Clone(r.gone)
	r.mu.Unlock()
	if len(gone) == 0 && len(r.Chats.Aliases.Moved()) == 0 {
		return nil
	}
	where := whereTo(func(at address.Conversation, message int) (to address.Conversation, there bool) {
		to = at
		to.ChatID, _ = r.Chats.Aliases.In(at.ChatID, 0)
		if slices.Contains(gone, to) {
			to.ThreadID = 0
		}
		return to, to == at && !r.Chats.Aliases.Lost(at.ChatID, message)
	})
	if err := r.tellTopics(ctx, gone); err != nil { // first: a crash repeats the sentence, and loses none
		return err
	}
	err := errors.Join(r.moveChats(where), r.moveSessions(ctx, where), r.moveEntries(where),
		r.asks.Moved(ctx, where.place), r.Deps.Cards.Moved(ctx, where), r.tellGroups(ctx))
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = r.gone[len(gone):]
	return nil
}

// whereTo says what the place of a message has become, and whether the message is there.
type whereTo func(at address.Conversation, message int) (to address.Conversation, there bool)

// place says what a place has become.
func (where whereTo) place(at address.Conversation) (to address.Conversation, moves bool) {
	to, _ = where(at, 0)
	return to, to != at
}

// tellTopics says in a chat that the topics of sessions are gone.
func (r *rehomes) tellTopics(ctx context.Context, gone []address.Conversation) error {
	for _, topic := range gone {
		var names []string
		for _, s := range r.Book.Records.List() {
			if s.Conversation == topic {
				names = append(names, chat.ShownName(s.Name))
			}
		}
		if len(names) == 0 {
			continue
		}
		r.Log.Warn("topic_gone", "chat_id", topic.ChatID, "topic", topic.ThreadID, "sessions", len(names))
		text := r.words.Say(i18n.TopicLost, i18n.Args{"Count": len(names), "Names": r.Some(names, ", ")})
		if err := r.Say(ctx, address.Conversation{ChatID: topic.ChatID}, text); err != nil {
			return err
		}
	}
	return nil
}

// tellGroups says in each group that has become another chat what belongs into the configuration,
// once. A group that is not allowed is none of ours, and of a listed number somebody knows.
func (r *rehomes) tellGroups(ctx context.Context) error {
	for _, numbers := range r.Chats.Aliases.Moved() {
		now := numbers[len(numbers)-1]
		listed := slices.IndexFunc(numbers, func(one int64) bool { return r.Groups[one] })
		if listed < 0 || r.Groups[now] || r.Chats.Aliases.Told(now) {
			continue
		}
		was := numbers[listed]
		r.Log.Warn("group_moved", "chat_id", was, "new_chat_id", now,
			"mend", fmt.Sprintf("put %d in place of %d in ALLOWED_CHATS", now, was))
		text := r.words.Say(i18n.GroupMoved,
			i18n.Args{"From": strconv.FormatInt(was, 10), "To": strconv.FormatInt(now, 10)})
		if err := r.Say(ctx, address.Conversation{ChatID: numbers[0]}, text); err != nil {
			return err
		}
		r.At("move-told")
		if err := r.Chats.Aliases.NoteTold(now); err != nil {
			return err
		}
	}
	return nil
}

func (r *rehomes) moveChats(where whereTo) error {
	all, err := r.Chats.All()
	for _, c := range all {
		if to, there := where(c, 0); !there {
			err = errors.Join(err, r.Chats.Rehome(c, to))
		}
	}
	return err
}

func (r *rehomes) moveSessions(ctx context.Context, where whereTo) error {
	var errs []error
	for _, s := range r.Book.Records.List() {
		to, there := where(s.Conversation, 0)
		if there {
			continue
		}
		if err := r.MoveTo(ctx, to, s); err != nil && !refusal.Is(err, refusal.NotFound) {
			errs = append(errs, fmt.Errorf("move %s: %w", s.ID, err))
		}
	}
	return errors.Join(errs...)
}

// moveEntries moves what waits in the inbox. The messages that it came with stay where they are, or
// are gone.
func (r *rehomes) moveEntries(where whereTo) error {
	entries, err := r.Entries.List()
	for _, e := range entries {
		if _, there := where(e.Conversation, 0); there {
			continue
		}
		change := r.Entries.Change(e.Key, func(now *inbox.Entry) error {
			now.Conversation, _ = where(now.Conversation, 0)
			now.MessageID = 0
			return nil
		})
		if !chat.IsGone(change) {
			err = errors.Join(err, change)
		}
	}
	return err
}
