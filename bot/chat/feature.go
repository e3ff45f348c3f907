package chat

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Feature describes one feature to the dispatcher. Every field is optional.
type Feature struct {
	Name     string
	Commands []Command
	Cards    map[string]OnTap // by the kind of a card
	Pages    map[string]Page  // by the name that begins their addresses
	// Late returns the outcome of a card for a person who tapped an earlier form of it, by the kind
	// of the card; empty: only that the button is old. It decides nothing.
	Late map[string]func(t Tap) string
	// OnNews receives all news. One feature reports the news to people, and is called last; the
	// others only update what they already show. A report is on disk when OnNews returns.
	OnNews func(ctx context.Context, s port.Session, n news.News) error
	// Text takes a text that is meant for the feature. The dispatcher has the order of the
	// features.
	Text      func(ctx context.Context, in *Incoming, text string) (taken bool, err error)
	Run       func(ctx context.Context) error
	OnResumed func(ctx context.Context, chat int64)              // the chat takes messages again: a person there has written or tapped
	Forget    func(ctx context.Context, session uuid.UUID) error // removes the state of a session that is forgotten

	// The events: each may be repeated, and a receiver calls no session from it.
	OnItem    func(session uuid.UUID, item talk.Item) // a transcript's item, before the chat has it
	OnCurrent func(ctx context.Context, to outbox.Conversation, session uuid.UUID) error
	OnShown   func(r port.Session) // in another conversation than before
	OnMoved   func(ctx context.Context, where MoveFunc) error
	OnMachine func(id string) // another machine answers, or no longer, or was removed; see machine.All
}

// MoveFunc returns the current place of a conversation and whether it moved.
type MoveFunc func(at outbox.Conversation) (to outbox.Conversation, moves bool)

// Incoming is one message of an allowed person.
type Incoming struct {
	conversation.Message
	Key       string // in the inbox
	From      int64
	MessageID int
	Sent      time.Time
	// Quoted means that the words are not the sender's own: they are typed as a quotation, and run
	// nothing.
	Quoted bool
	// Refers means that the message is the one that a person has answered with the name of the bot.
	Refers bool
	// Answered is the text of the message that it replies to; empty: none, or not a person's own
	// words.
	Answered string
	Since    folders.Since // of a button of a turn: the work tree before the turn
	Missed   uuid.UUID     // the session of a request that had ended when its text came
	Typed    string        // the name of the command that the text has, without its slash; empty: none
	Near     string        // the ccbot command that Typed misspells by one letter; empty: none
	Folder   string        // names a folder that was chosen with the text for the session that its sender starts next; empty: none
	// NoFolder is the refusal of the folder that the text names; nil: the text names none.
	NoFolder *refusal.Error
	First    bool // it is for the session that its sender starts next
}

// Command is a slash command of ccbot.
type Command struct {
	Name   string
	Hidden bool // it is not in Telegram's menu
	// Once, if set, reports whether there is something for it: only then it is in Telegram's menu.
	Once   func() bool
	Groups bool // it is in Telegram's menu of groups only
	Acts   bool // it shows nothing that a person or an agent wrote: a group may use it on a session of another chat
	Now    bool // it means the turn that runs: an old one would hit another
	Run    func(ctx context.Context, in Incoming, args string) error
	// Unkept returns a short answer for a place while the disk takes nothing, or is nil.
	Unkept func(ctx context.Context, to outbox.Conversation) render.Text
}

// Tap is a button tapped by an allowed person. Taps are handled at once and never written: a person
// who sees nothing happen taps again.
type Tap struct {
	From    int64
	To      outbox.Conversation
	Message int
	Card    card.Tapped // the option, and the card as it was drawn
}

// OnTap decides what an option does.
type OnTap = func(ctx context.Context, t Tap) (Answer, error)

// Answer is the immediate answer to a tap. The zero value only ends the waiting on the button.
type Answer struct {
	Text  string
	Alert bool // the person has to close the text
	// Then carries out the tap after the person has the answer. All that may wait for more than the
	// disk belongs here; its result is posted in the chat.
	Then func(ctx context.Context) error
}

// Do is the silent answer to a tap that is carried out then.
func Do(then func(ctx context.Context) error) (Answer, error) { return Answer{Then: then}, nil }
