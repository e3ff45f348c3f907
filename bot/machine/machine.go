// Package machine is all that the chat knows of one machine of agents. The chat touches the machine by
// this alone, and with plain values, so that it may be another one than the chat's own.
package machine

import (
	"ccbot/bot/port/control"
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/diffs"
	"ccbot/bot/port/files"
	"ccbot/bot/port/history"
	"ccbot/bot/port/modes"
	"ccbot/bot/port/places"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/spending"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/internal/cellpicture"
)

// Machine is one machine of agents. A feature is given the ports that it needs of it.
type Machine struct {
	Sessions    Sessions
	Records     views.Views
	Decisions   Decisions
	Places      Places
	Files       files.Files
	Received    files.Received
	Transcripts Transcripts
	Fonts       cellpicture.Fonts // with which pictures of terminals are drawn
}

// Sessions are the ports about sessions and windows.
type Sessions interface {
	control.Starter
	control.Ender
	control.Archiver
	control.Keeper
	control.Namer
	prompts.Queue
	prompts.Decisions
	prompts.Views
	prompts.Edits
	prompts.Order
	views.Works
	desk.Keys
	desk.Panes
	desk.Screens
	desk.Neighbours
	desk.Windows
	desk.Notices
	modes.Switches
	talk.Shown
	diffs.Diffs
	spending.Spending
}

// Places are the ports about folders.
type Places interface {
	places.Places
	places.Folders
	places.Searches
	places.Worktrees
	places.Checkouts
	places.Beside
	places.Lookups
}

// Decisions are the ports about what agents ask for.
type Decisions interface {
	decisions.Waiters
	decisions.Records
}

// Transcripts are the ports about what was said, as it is written and from any place.
type Transcripts interface {
	talk.Transcripts
	talk.Pictures
	history.Conversations
	history.Exports
	history.Asked
}
