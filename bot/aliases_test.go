package bot

import (
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
)

// Names that tests use for what other packages have.
var (
	plain          = render.Plain
	rows           = chat.Rows
	marked         = chat.Marked
	lastLines      = chat.LastLines
	screenText     = chat.Screen
	paragraphs     = chat.Paragraphs
	quoted         = chat.Quoted
	tightScreen    = chat.TightScreen
	clip           = chat.Tail
	clipEnd        = chat.Head
	visible        = chat.Visible
	OpenChats      = conversation.Open
	reactionStored = chat.ReactionStored
)

const (
	limit            = render.Limit
	reactionTyped    = chat.ReactionTyped
	reactionReceived = chat.ReactionReceived
	reactionNone     = chat.ReactionNone
	warning          = chat.Warning
)

func (w *world) setSender(s Sender) { w.Sender, w.Chat.Sender = s, s }
