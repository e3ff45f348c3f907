package groups

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/each"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
)

// Shut names in private the groups that refuse the messages of this bot although open sessions are
// read there: what these say waits, and a question of an agent would wait unseen.
type Shut struct {
	chat  *chat.Chat
	bring func(ctx context.Context, from int64, to address.Conversation) error
	cards chat.Cards[refusing]
	wake  chan struct{}
}

// refusing is the group that a card is about.
type refusing struct {
	Group int64 `json:"group"`
}

const (
	shutKind = "group-shut" // of the cards
	moveHere = "move"
)

// shutRetry is the pause after a fault.
const shutRetry = 5 * time.Second

// NewShut returns the Shut of a chat. bring moves all that a chat shows to another place.
func NewShut(c *chat.Chat, bring func(ctx context.Context, from int64, to address.Conversation) error) *Shut {
	return &Shut{chat: c, bring: bring, cards: chat.NewCards[refusing](c, shutKind), wake: make(chan struct{}, 1)}
}

// Feature describes the feature to the dispatcher.
func (s *Shut) Feature() chat.Feature {
	return chat.Feature{Name: shutKind, Cards: map[string]chat.OnTap{shutKind: s.cards.OnTap(s.tap)}, Run: s.run,
		OnResumed: func(context.Context, int64) { s.Look() }, OnShown: func(port.Session) { s.Look() }, OnNews: s.onNews}
}

// onNews looks again when a session has ended, because its words no longer wait.
func (s *Shut) onNews(_ context.Context, of port.Session, _ news.News) error {
	if of.ID != uuid.Nil && !of.State.Live() {
		s.Look()
	}
	return nil
}

// Look compares the cards with the chats, such as after a chat has refused a message.
func (s *Shut) Look() { pause.Poke(s.wake) }

// Groups returns the groups that refuse messages.
func (s *Shut) Groups() []int64 { return slices.Sorted(maps.Keys(s.sessions())) }

func (s *Shut) run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := pause.Forever
		if err := s.Report(ctx); err != nil {
			s.chat.Log.Warn("group_not_named", logkey.Error, err)
			wait = shutRetry
		}
		pause.Until(ctx, wait, s.wake)
	}
	return nil
}

// sessions returns the open sessions that are read in groups that refuse messages, by group.
func (s *Shut) sessions() map[int64][]port.Session {
	all := make(map[int64][]port.Session)
	for _, r := range s.chat.Book.Known() {
		at := r.Conversation
		if r.State.Live() && !s.chat.Book.IsAllowed(at.ChatID) && s.chat.Book.MayShow(at) && s.chat.Sender.Refuses(at.ChatID) {
			all[at.ChatID] = append(all[at.ChatID], r)
		}
	}
	return all
}

// Report brings the cards into agreement with the chats.
func (s *Shut) Report(ctx context.Context) (err error) {
	defer s.cards.Hold()()
	now := s.sessions()
	for _, c := range s.cards.List() {
		if now[c.Payload.Group] == nil {
			last := ""
			if !s.chat.Sender.Refuses(c.Payload.Group) {
				last = s.chat.In(c.Content.To).Say(i18n.GroupTakesAgain)
			}
			err = errors.Join(err, s.cards.Close(ctx, c.Key, render.Plain(last)))
		}
	}
	for group, of := range now {
		for _, to := range s.chat.Book.PrivateChats() {
			err = errors.Join(err, s.cards.Show(ctx, fmt.Sprintf("%d-%d", group, to.ChatID), s.content(to, of), refusing{group}))
		}
	}
	return err
}

func (s *Shut) content(to address.Conversation, of []port.Session) card.Content {
	p := s.chat.In(to)
	names := each.As(of, func(r port.Session) string { return chat.ShownName(r.Name) })
	text := chat.Warning + p.Say(i18n.GroupShut, i18n.Args{"Count": len(names), "Names": p.Some(names, p.Say(i18n.JoinNames))})
	return card.Content{To: to, Text: render.Plain(text), Options: chat.Rows(1, p.Option(i18n.ButtonMoveHere, moveHere, outbox.Primary)),
		Sounds: s.chat.Sounds(chat.Fault, port.Session{Conversation: to})}
}

// tap moves the sessions to the chat of the tap.
func (s *Shut) tap(_ context.Context, t chat.Tap, was refusing) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		defer s.Look()
		if s.sessions()[was.Group] == nil { // two taps may come at the same time
			return nil
		}
		return s.bring(ctx, was.Group, t.To)
	})
}

// NoReactions says in a group that it takes no reactions, and what allows them.
func (s *Shut) NoReactions(group int64) error {
	to := address.Conversation{ChatID: group}
	if !s.chat.Book.MayShow(to) {
		return nil
	}
	receipts := strings.Join([]string{chat.ReactionStored, chat.ReactionTyped, chat.ReactionReceived}, " ")
	return s.chat.Post(context.Background(), card.Content{To: to, Text: s.chat.In(to).Text(i18n.NoReactions, i18n.Args{"Receipts": receipts})})
}
