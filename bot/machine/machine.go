package machine

import (
	"slices"
	"strings"
	"time"

	"ccbot/internal/cellpicture"
	"ccbot/internal/health"
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

// Info describes one of the machines that the chat has.
type Info struct {
	ID   string // empty: the chat's own
	Name string
	Away bool // it does not answer: what runs there is unknown
	Lost bool // it is Away because its link has had no contact for a while
	// Heard is the time of the last contact with a machine that is Away; zero: none since the start.
	Heard time.Time
}

// Status is the last report of a machine about itself.
type Status struct {
	Version  string  // of ccbot; empty: it has not reported yet
	Agents   int     // that run
	Load     float64 // of the last minute, for each processor
	DiskFree int64   // in bytes
	DiskSize int64
	Heard    time.Time     // the last contact with another machine; zero: none since the start
	Ahead    time.Duration // of its clock, about; negative: it is slow
	Unread   int           // reports of a newer machine, which wait for an update of the chat's ccbot
	Faults   health.Machine

	Undecided bool    // the folder of the machine runs more than once, and a person has to choose one of Torn
	Torn      []Start // that speak
	Refused   []Start // other starts of its folder, which speak in vain
	Elsewhere Start   // another start of the chat's own folder, which the machine follows; zero: none
}

// Start is one start of ccbot. Copies of one folder are told apart by it.
type Start struct {
	ID    string
	On    string // the machine, as it calls itself
	Since time.Time
}

// All returns the chat's own machine, and then the others; nil: there are no others.
type All func() []Info

// Others returns the other machines than the chat's own.
func (a All) Others() []Info {
	if a == nil {
		return nil
	}
	return a()[1:]
}

// Find returns another machine than the chat's own.
func (a All) Find(id string) (m Info, found bool) {
	others := a.Others()
	i := slices.IndexFunc(others, func(m Info) bool { return m.ID == id })
	if i < 0 {
		return Info{}, false
	}
	return others[i], true
}

// Has reports whether one of several machines has a name.
func (a All) Has(name string) bool {
	return len(a.Others()) > 0 && slices.ContainsFunc(a(), func(m Info) bool { return strings.EqualFold(m.Name, name) })
}
