package several

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/quotation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

// The commands that pick a bot.
const (
	hereCommand    = "here"    // for the place of the message
	defaultCommand = "default" // for messages outside of topics
)

// Bots decides which messages of groups are for this bot.
type Bots struct {
	Username func() string // of this bot, without @
	Machine  string        // on which this bot runs
	chat     *chat.Chat
}

// New returns the Bots of a chat.
func New(c *chat.Chat, machine string, username func() string) *Bots {
	return &Bots{Username: username, Machine: machine, chat: c}
}

// Feature returns the part of Bots that the dispatcher uses.
func (b *Bots) Feature() chat.Feature {
	return chat.Feature{Name: "several", Commands: []chat.Command{
		{Name: hereCommand, Groups: true, Once: b.Exist, Run: func(ctx context.Context, in chat.Incoming, _ string) error { return b.reply(ctx, in, in.To.ThreadID) }},
		{Name: defaultCommand, Groups: true, Once: b.Exist, Run: func(ctx context.Context, in chat.Incoming, _ string) error { return b.reply(ctx, in, 0) }},
	}}
}

// Exist reports whether a group has other bots.
func (b *Bots) Exist() bool {
	return slices.ContainsFunc(b.chat.Book.All(), func(at address.Conversation) bool { return b.chat.Book.Bots(at).Others != 0 })
}

// reply answers a command that has picked this bot for a topic; thread 0: for messages outside of
// topics.
func (b *Bots) reply(ctx context.Context, in chat.Incoming, thread int) error {
	word := i18n.SeveralDefault
	switch {
	case in.To.ChatID > 0:
		word = i18n.SeveralPrivate
	case thread != 0:
		word = i18n.SeveralHere
	}
	return b.chat.Say(ctx, in.To, b.chat.In(in.To).Say(word, b.args()))
}

func (b *Bots) args() i18n.Args {
	return i18n.Args{"Bot": "@" + b.Username(), "Machine": b.Machine}
}

// Rules returns the sentences about this bot's messages in a group with several bots.
func (b *Bots) Rules(p chat.Phrases) render.Text { return p.Text(i18n.SeveralRules, b.args()) }

// message is as much of a message as the decision needs. It is also read from a message with a part
// that no library knows.
type message struct {
	ID      int         `json:"message_id"`
	Thread  int         `json:"message_thread_id"`
	Topic   bool        `json:"is_topic_message"`
	Chat    models.Chat `json:"chat"`
	Text    string      `json:"text"`
	Answers *struct {
		From       *models.User    `json:"from"`
		SenderChat json.RawMessage `json:"sender_chat"`
		Opened     json.RawMessage `json:"forum_topic_created"`
	} `json:"reply_to_message"`
	Joined    []models.User   `json:"new_chat_members"`
	Forwarded json.RawMessage `json:"forward_origin"`
	Via       json.RawMessage `json:"via_bot"`
	Business  json.RawMessage `json:"sender_business_bot"`
}

// Acts reports whether an update from an allowed person is for this bot, and notes the picks that
// it makes. Any other update than a message is for this bot. After an error the update has to come
// again.
func (b *Bots) Acts(ctx context.Context, update json.RawMessage) (bool, error) {
	var u struct {
		Message *message `json:"message"`
		Edited  *message `json:"edited_message"`
	}
	err := json.Unmarshal(update, &u)
	switch {
	case err != nil: // the handler reports it
	case u.Message != nil:
		r := b.read(u.Message)
		return r.Acts, b.note(ctx, r)
	case u.Edited != nil: // which picks no bot
		return b.read(u.Edited).Acts, nil
	}
	return true, nil
}

// IsFor is Acts for a message, without a note of its picks.
func (b *Bots) IsFor(m *models.Message) bool {
	var own message
	raw, err := json.Marshal(m)
	if err != nil || json.Unmarshal(raw, &own) != nil {
		return true
	}
	return b.read(&own).Acts
}

// reading is a message with the decision about it.
type reading struct {
	Decision
	command string
	at      address.Conversation
	message int // its number inside
}

// read decides about a message. In a private chat there is no other bot.
func (b *Bots) read(m *message) (r reading) {
	if m.Chat.Type != models.ChatTypeGroup && m.Chat.Type != models.ChatTypeSupergroup {
		return reading{Decision: Decision{Acts: true}}
	}
	r.at = inbox.ConversationOf(&models.Message{Chat: m.Chat, MessageThreadID: m.Thread, IsTopicMessage: m.Topic})
	r.at.ChatID, r.message = b.chat.Book.Aliases.In(m.Chat.ID, m.ID)
	var f Facts
	r.command, f = b.facts(m)
	r.Decision = Decide(f, b.state(r.at, r.message))
	return r
}

// facts returns the command of a message and its facts. A quotation has no command.
func (b *Bots) facts(m *message) (command string, f Facts) {
	if m.Forwarded == nil && m.Via == nil && m.Business == nil {
		var bot string
		if command, bot = quotation.Addressed(m.Text); bot != "" {
			f.To = b.who(bot)
		}
	}
	command = strings.ToLower(command)
	f.Picks = command == hereCommand || command == defaultCommand
	if to := m.Answers; to != nil && to.From != nil && to.From.IsBot && to.SenderChat == nil { // an anonymous administrator counts as a bot
		if to.Opened != nil {
			f.Opened = b.who(to.From.Username)
		} else {
			f.Answers = b.who(to.From.Username)
		}
	}
	for _, one := range m.Joined {
		f.Joined = f.Joined || one.IsBot && b.who(one.Username) == Other
	}
	return command, f
}

func (b *Bots) who(username string) Who {
	if strings.EqualFold(username, b.Username()) {
		return Me
	}
	return Other
}

// state returns the picks of a place at the time of a message.
func (b *Bots) state(at address.Conversation, message int) State {
	group := b.chat.Book.Bots(address.Conversation{ChatID: at.ChatID})
	s := State{Alone: !group.OthersBefore(message)}
	if at.ThreadID != 0 {
		_, s.Opened = b.chat.Book.Topic(at)
	}
	if p, known := b.chat.Book.Bots(at).PickBefore(message); known {
		s.Picked = Other
		if p.Mine {
			s.Picked = Me
		}
	}
	return s
}

// note keeps the changes of a message. If the bot acts on less from now on and no other bot is
// picked for messages outside of topics, the group gets a sentence first: a crash repeats the
// sentence, and never omits it.
func (b *Bots) note(ctx context.Context, r reading) error {
	group := address.Conversation{ChatID: r.at.ChatID}
	to := r.at
	if r.command == defaultCommand {
		to = group
	}
	if r.Sees {
		_, picked := b.chat.Book.Bots(group).PickBefore(r.message)
		if r.Picked == Me || !picked && (r.Picked == Nobody || to != group) {
			p := b.chat.In(group)
			if err := b.chat.Say(ctx, group, p.Say(i18n.SeveralSeen)+" "+p.Say(i18n.SeveralRules, b.args())); err != nil {
				return fmt.Errorf("report another bot: %w", err)
			}
		}
		b.chat.Log.Info("other_bot_seen", logkey.ChatID, group.ChatID)
		if err := b.chat.Book.NoteOthers(group.ChatID, r.message); err != nil {
			return err
		}
	}
	if r.Picked == Nobody {
		return nil
	}
	return b.chat.Book.NotePick(to, conversation.Pick{Message: r.message, Mine: r.Picked == Me})
}
