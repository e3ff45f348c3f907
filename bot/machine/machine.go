package machine

import (
	"ccbot/internal/cellpicture"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// Machine is one machine of agents. A feature is given the ports that it needs of it.
type Machine struct {
	Sessions    Sessions
	Records     port.Views
	Decisions   Decisions
	Loops       port.Loops
	Templates   port.LoopTemplates
	Schedules   port.Schedules
	Places      Places
	Files       folders.Files
	Bodies      folders.Bodies
	Received    folders.Received
	Transcripts Transcripts
	Fonts       cellpicture.Fonts // with which pictures of terminals are drawn
}

// Sessions are the ports about sessions and windows.
type Sessions interface {
	port.Agents
	port.Starter
	port.Ender
	port.Archiver
	port.Keeper
	port.Namer
	talk.PromptQueue
	talk.PromptDecisions
	talk.PromptViews
	talk.PromptEdits
	talk.PromptOrder
	talk.TurnEnder
	port.Works
	port.Keys
	port.Panes
	port.Screens
	port.WriterFinder
	port.Windows
	port.Notices
	port.ModeSwitcher
	talk.CursorStore
	folders.Diffs
	talk.Spending
}

// Places are the ports about folders.
type Places interface {
	folders.Places
	folders.Folders
	folders.Searches
	folders.Worktrees
	folders.Checkouts
	folders.WorktreeMaker
	folders.Lookups
}

// Decisions are the ports about agents' requests.
type Decisions interface {
	talk.RequestWaiters
	talk.DecisionRecords
}

// Transcripts are the ports that read conversations, as they are written and from any place.
type Transcripts interface {
	talk.Transcripts
	talk.Pictures
	talk.Conversations
	talk.Exports
	talk.LastQuestions
}
