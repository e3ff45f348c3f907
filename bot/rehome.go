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
	"ccbot/i18n"
	"ccbot/internal/session"
)

// rehome is a place that is another one by now: a topic is gone, or a group has
// become a supergroup, which is another chat to Telegram.
type rehome struct {
	from, to session.Conversation
	group    bool // all conversations of the chat
}

// of is where a conversation is by now; false: where it was.
func (r rehome) of(c session.Conversation) (session.Conversation, bool) {
	switch {
	case r.group && c.ChatID == r.from.ChatID:
		c.ChatID = r.to.ChatID
		return c, true
	case !r.group && c == r.from:
		return r.to, true
	}
	return c, false
}

// rehomes moves what is shown in such places, one after the other. The outbox
// tells of them in the middle of its work and must not wait. What is lost in a
// crash it tells again: what still stands in the old place leads there.
type rehomes struct {
	*Bot
	wake  chan struct{}
	again time.Duration // until the next try of what failed

	working sync.Mutex // held while what waits is done; before mu
	mu      sync.Mutex
	waiting []rehome
	moved   map[int64]int64 // groups of which everything is in the new chat
}

func newRehomes(b *Bot) *rehomes {
	return &rehomes{Bot: b, wake: make(chan struct{}, 1), again: 10 * time.Second, moved: make(map[int64]int64)}
}

// Migrated hears that a group has become another chat.
func (b *Bot) Migrated(from, to int64) {
	b.rehomes.add(rehome{from: session.Conversation{ChatID: from}, to: session.Conversation{ChatID: to}, group: true})
}

// TopicGone hears that a topic is not there any more.
func (b *Bot) TopicGone(gone session.Conversation) {
	b.rehomes.add(rehome{from: gone, to: session.Conversation{ChatID: gone.ChatID}})
}

// Moves says whether the news that a group has become another chat is about one
// of ours. People who may not speak cause it, too. It is kept at once: what is
// said in the new chat may come right behind it, and is heard.
func (b *Bot) Moves(from, to int64) bool {
	if !b.InGroup(from) && !b.InGroup(to) {
		return false
	}
	b.Migrated(from, to)
	if err := b.Chats.NoteMove(from, to); err != nil {
		b.Log.Error("move_not_kept", "chat_id", from, "new_chat_id", to, "error", err.Error())
	}
	return true
}

// tookMove takes a message which only tells that a group has become another chat:
// the old one is told the new number, and the new one the old.
func (b *Bot) tookMove(m *models.Message) bool {
	from, to := m.Chat.ID, m.MigrateToChatID
	if m.MigrateFromChatID != 0 {
		from, to = m.MigrateFromChatID, m.Chat.ID
	}
	if to == 0 {
		return false
	}
	b.Moves(from, to)
	return true
}

// atHome is a message of a group as if it had come from the chat that the group
// has become. Nothing there has its number.
func (b *Bot) atHome(in incoming) incoming {
	b.rehomes.mu.Lock()
	to, moved := b.rehomes.moved[in.To.ChatID]
	b.rehomes.mu.Unlock()
	if moved {
		in.To.ChatID, in.MessageID, in.ReplyTo = to, 0, 0
	}
	return in
}

func (r *rehomes) add(one rehome) {
	r.mu.Lock()
	r.waiting = append(r.waiting, one)
	r.mu.Unlock()
	poke(r.wake)
}

// Run finishes what earlier runs have begun, then does what comes until ctx ends.
func (r *rehomes) Run(ctx context.Context) error {
	for from, to := range r.Chats.Moves() {
		r.Migrated(from, to)
	}
	var retry <-chan time.Time // nil waits for ever
	for {
		if !r.work(ctx) {
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

var errNotMoved = errors.New("what is shown in this chat has not all moved yet")

// settle does what waits for a chat, before something that was said there is
// handled: it is meant for what is shown there.
func (r *rehomes) settle(ctx context.Context, chat int64) error {
	r.working.Lock()
	defer r.working.Unlock()
	r.mu.Lock()
	waits := slices.ContainsFunc(r.waiting, func(one rehome) bool { return one.from.ChatID == chat || one.to.ChatID == chat })
	r.mu.Unlock()
	if waits && !r.workHeld(ctx) {
		return errNotMoved
	}
	return nil
}

// work does what waits. It is false when something failed, which waits on.
func (r *rehomes) work(ctx context.Context) bool {
	r.working.Lock()
	defer r.working.Unlock()
	return r.workHeld(ctx)
}

// workHeld is work with working held.
func (r *rehomes) workHeld(ctx context.Context) bool {
	r.mu.Lock()
	all := r.waiting
	r.waiting = nil
	r.mu.Unlock()
	var failed []rehome
	for _, one := range all {
		if err := r.carryOut(ctx, one); err != nil && ctx.Err() == nil {
			r.Log.Error("rehome_failed", "chat_id", one.from.ChatID, "topic", one.from.ThreadID, "error", err.Error())
			failed = append(failed, one)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(failed, r.waiting...)
	return len(failed) == 0
}

// carryOut moves everything that is shown in one place. Doing it twice is
// doing it once.
func (r *rehomes) carryOut(ctx context.Context, one rehome) error {
	if err := r.tell(ctx, one); err != nil {
		return err
	}
	errs := []error{r.moveChats(one), r.moveSessions(ctx, one), r.moveEntries(one)}
	errs = append(errs, r.asks.Moved(ctx, one.of), r.Deps.Cards.Moved(ctx, one.of))
	err := errors.Join(errs...)
	if err == nil && one.group {
		r.mu.Lock()
		r.moved[one.from.ChatID] = one.to.ChatID
		r.mu.Unlock()
	}
	return err
}

// tell says what has changed, and keeps it. It comes first: a crash after it tells
// twice, never not at all.
func (r *rehomes) tell(ctx context.Context, one rehome) error {
	if one.group {
		return r.tellGroup(ctx, one.from.ChatID, one.to.ChatID)
	}
	var names []string
	for _, s := range r.Records.List() {
		if _, moves := one.of(s.Conversation); moves {
			names = append(names, chat.ShownName(s.Name))
		}
	}
	if len(names) == 0 {
		return nil
	}
	r.Log.Warn("topic_gone", "chat_id", one.from.ChatID, "topic", one.from.ThreadID, "sessions", len(names))
	return r.Say(ctx, one.to, r.words.Say(i18n.TopicLost, i18n.Args{"Count": len(names), "Names": r.Some(names, ", ")}))
}

// tellGroup keeps that a group has become another chat, so that it stays allowed,
// and tells it there. One that is not allowed is none of ours.
func (r *rehomes) tellGroup(ctx context.Context, from, to int64) error {
	if !r.InGroup(from) && !r.InGroup(to) {
		return nil
	}
	if err := r.Chats.NoteMove(from, to); err != nil {
		return err
	}
	if r.Groups[to] || r.Chats.MoveTold(from, to) { // somebody has seen to it, or knows
		return nil
	}
	r.Log.Warn("group_moved", "chat_id", from, "new_chat_id", to, "mend", fmt.Sprintf("put %d in place of %d in ALLOWED_CHATS", to, from))
	text := r.words.Say(i18n.GroupMoved, i18n.Args{"From": strconv.FormatInt(from, 10), "To": strconv.FormatInt(to, 10)})
	if err := r.Say(ctx, session.Conversation{ChatID: to}, text); err != nil {
		return err
	}
	r.At("move-told")
	return r.Chats.NoteMoveTold(from, to)
}

func (r *rehomes) moveChats(one rehome) error {
	all, err := r.Chats.All()
	if err != nil {
		return err
	}
	for _, c := range all {
		if to, moves := one.of(c); moves {
			err = errors.Join(err, r.Chats.Rehome(c, to))
		}
	}
	return err
}

func (r *rehomes) moveSessions(ctx context.Context, one rehome) error {
	var errs []error
	for _, s := range r.Records.List() {
		to, moves := one.of(s.Conversation)
		if !moves {
			continue
		}
		if err := r.MoveTo(ctx, to, s); err != nil && !errors.Is(err, session.ErrNotFound) {
			errs = append(errs, fmt.Errorf("move %s: %w", s.ID, err))
		}
	}
	return errors.Join(errs...)
}

// moveEntries moves what waits in the inbox. The messages that it came with stay
// where they are, or are gone.
func (r *rehomes) moveEntries(one rehome) error {
	entries, err := r.Entries.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, moves := one.of(e.Conversation); !moves {
			continue
		}
		change := r.Entries.Change(e.Key, func(now *inbox.Entry) error {
			if to, moves := one.of(now.Conversation); moves {
				now.Conversation, now.MessageID = to, 0
			}
			return nil
		})
		if !isGone(change) {
			err = errors.Join(err, change)
		}
	}
	return err
}
