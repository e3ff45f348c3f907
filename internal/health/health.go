package health

import (
	"cmp"
	"slices"
	"time"
)

// Figures are the measurements of a running ccbot. An unknown figure is zero.
type Figures struct {
	Version string
	// the path of the program that runs, with " (deleted)" if its file was replaced
	Program string
	Up      time.Duration // of ccbot

	Sessions map[string]int // by state
	NotClean int            // sessions with processes left after their end
	Silent   int            // sessions whose agent did not answer the last look

	Inbox  int // messages of people that are not finished
	Outbox int // messages and edits that wait for the Bot API
	Cards  int // cards that the chat does not have as they should look

	Poll Poll
	API  API
	Hook Hook
	Disk Disk

	Refused map[string]int // updates that were refused, by kind, since the start
	// groups that are not allowed, in which an allowed person has written; at most ten
	RefusedGroups []int64

	ShutGroups   []int64 // that refuse messages although sessions are read there
	ClosedGroups []int64 // whose General is closed, so that messages wait

	UnreactedGroups []int64 // that do not allow the reactions by which people see that a message is stored

	AnonymousGroups []int64 // in which somebody writes anonymously: Telegram names the group, so nobody is heard

	Unpinned int // chats in which the bot may not pin the line of open questions

	// the limit that keeps ccbot from watching files: "instances", "watches" or "other"
	Watch string

	Keys Keys

	Unread     []string // files of agents that are left unread, because their read has ended ccbot
	Unreadable []string // transcripts that cannot be read now

	Tmux       string        // the version of the running server
	TmuxSilent time.Duration // since when it owes an answer, if that is long
	Claude     string

	ClaudeMissing string // the command, if there is no such program, and no other agent takes its place
	HooksShutBy   string // the file of the machine's administrator that keeps Claude Code from running ccbot's hooks

	Instead      string // the agent of each session if Claude Code is not installed
	ClaudeNeeded string // the oldest version that works with ccbot, if Claude is older

	Words []Word

	Machines    []Machine // the other machines that have a fault; one that is away has none
	FleetFailed bool      // no other machine is reached, because of a file
	// HubSilent is for how long the hub, through which all other machines are reached, has not answered the chat; zero: it answers.
	HubSilent time.Duration

	AgentVariables []string // names of the variables that agents get
}

// Poll is the state of receiving messages from Telegram.
type Poll struct {
	Ago     time.Duration // since the last poll ended, successful or not; negative: no poll yet
	Stuck   bool          // the tries have stopped
	Failing bool          // the last try failed
	Rival   bool          // because another program takes the messages
	Unknown bool          // because Telegram does not know the token
	Wait    time.Duration // because Telegram asks for a pause: the rest of it
}

// API is the state of sending to Telegram, since the start.
type API struct {
	Errors  int           // calls that failed or were refused
	Last    string        // why Telegram refused the last of them; empty: it did not answer
	LastAgo time.Duration // since then
	Waits   int           // times that Telegram asked to slow down
	Failing bool
	Wait    time.Duration // rest of the longest wait
}

// Hook is how long the events of Claude Code's hooks have taken to be dealt with.
type Hook struct {
	Events  int           // how many the figure is about
	Slowest time.Duration // of these
}

// Disk is the room on the disk of CCBOT_DIR, in bytes.
type Disk struct {
	Known bool
	Free  uint64
	Total uint64
	Low   bool // it is almost full
	Own   uint64
}

// Keys is a key binding of the person that keeps ccbot from submitting texts to Claude Code or from
// ending a turn. It is empty if there is no such binding.
type Keys struct{ File, Binding string }

// Machine is the faults of another machine. To a machine without a chat, that is the one of its chat.
type Machine struct {
	Name string
	Held int           // messages from it and to it that do not pass the hub
	For  time.Duration // since none has passed
	Own  string        // its own name, which another machine of the chat has; empty: Name
	Path string        // what the chat has stored of it and cannot read
	// Copies: copies of its folder run. Elsewhere: it goes on with a copy of this folder.
	Copies, Elsewhere bool
	Skew              time.Duration // of its clock; negative: it is slow
}

// MostSkew is how far the clock of a machine may be off. Times that it reports are shown as they are.
const MostSkew = time.Minute

// Warnings returns the warnings about a machine.
func (m Machine) Warnings() (all []Warning) {
	if m.Path != "" {
		all = append(all, Warning{Code: MachineUnread, Machine: m.Name, Path: m.Path})
	}
	if m.Held > 0 {
		all = append(all, Warning{Code: MachineHeld, Machine: m.Name, Count: m.Held, For: m.For})
	}
	if m.Own != "" {
		all = append(all, Warning{Code: MachineName, Machine: m.Name, Own: m.Own})
	}
	if off := m.Skew.Abs(); off > MostSkew {
		all = append(all, Warning{Code: MachineClock, Machine: m.Name, For: off})
	}
	if m.Copies {
		all = append(all, Warning{Code: MachineCopies, Machine: m.Name})
	}
	if m.Elsewhere {
		all = append(all, Warning{Code: MachineElse, Machine: m.Name})
	}
	return all
}

// Word is what an agent says of its state, in a word that ccbot does not know. Until the screen shows
// that the agent is idle, nothing is typed.
type Word struct {
	Agent   string // its name for people; empty: Claude Code
	Version string // empty: unknown
	Word    string
}

// Compare orders words.
func (w Word) Compare(other Word) int {
	return cmp.Or(cmp.Compare(w.Agent, other.Agent), cmp.Compare(w.Version, other.Version), cmp.Compare(w.Word, other.Word))
}

// Code names what is wrong.
type Code string

// The kinds of warnings, the worst first.
const (
	PollsStuck    Code = "polls_stuck"
	PollsRival    Code = "polls_rival"
	PollsUnknown  Code = "polls_unknown"
	PollsWait     Code = "polls_wait"
	PollsFail     Code = "polls_fail"
	APIFails      Code = "api_fails"
	TmuxHangs     Code = "tmux_hangs"
	FilesUnread   Code = "files_unread"
	NotReadable   Code = "transcript_unreadable"
	FleetFails    Code = "fleet_failed"
	HubSilent     Code = "hub_silent"
	MachineUnread Code = "machine_unread"
	MachineHeld   Code = "machine_held"
	MachineName   Code = "machine_name"
	MachineClock  Code = "machine_clock"
	MachineCopies Code = "machine_copies"
	MachineElse   Code = "machine_elsewhere"
	ClaudeOld     Code = "claude_old"
	DiskLow       Code = "disk_low"
	NotClean      Code = "not_clean"
	AgentSilent   Code = "agent_silent"
	APIWaits      Code = "api_waits"
	OutboxLong    Code = "outbox_long"
	KeysBound     Code = "keys_bound"
	NoInstances   Code = "watch_instances"
	NoWatches     Code = "watch_watches"
	Unwatchable   Code = "watch_other"
	HooksSlow     Code = "hooks_slow"
	ClaudeUnknown Code = "claude_unknown"
	WordUnknown   Code = "agent_word_unknown"
	NoPins        Code = "no_pins"
	GroupRefused  Code = "group_refused"
	GroupShut     Code = "group_shut"
	GroupClosed   Code = "group_closed"
	NoReactions   Code = "no_reactions"
	ClaudeGone    Code = "claude_gone"
	HooksShut     Code = "hooks_shut"
	Anonymous     Code = "group_anonymous"
)

// Codes are all of them, the worst first.
func Codes() []Code {
	return []Code{PollsStuck, PollsRival, PollsUnknown, PollsWait, PollsFail, APIFails, TmuxHangs, FilesUnread, NotReadable, FleetFails, HubSilent, MachineUnread, MachineHeld, MachineName, MachineClock, MachineCopies, MachineElse, ClaudeGone, ClaudeOld, HooksShut, DiskLow, NotClean, AgentSilent, APIWaits, OutboxLong, KeysBound, NoInstances, NoWatches, Unwatchable, HooksSlow, ClaudeUnknown, WordUnknown, NoPins, GroupRefused, GroupShut, GroupClosed, Anonymous, NoReactions}
}

// Warning is one thing that is wrong, with the figures that its sentence names.
type Warning struct {
	Code  Code
	Count int
	For   time.Duration
	Bytes uint64
	Keys  Keys
	Path  string
	Chats []int64
	Word  Word

	Machine, Own string // the name that the chat shows, and its own

	Version, Needed string // of Claude Code: which is there, and the oldest that works
}

const (
	startUp    = time.Minute      // until then unknown figures are normal
	longOutbox = 50               // messages; a chat takes one per second
	silentHub  = 30 * time.Second // what its restart or a change of the network takes
	slowHook   = 5 * time.Second  // a person reads an event as fast
)

// Warnings returns the warnings for f, the worst first.
func Warnings(f Figures) (all []Warning) {
	add := func(is bool, w Warning) {
		if is {
			all = append(all, w)
		}
	}
	add(f.Poll.Stuck, Warning{Code: PollsStuck, For: f.Poll.Ago})
	add(f.Poll.Rival && !f.Poll.Stuck, Warning{Code: PollsRival})
	add(f.Poll.Unknown && !f.Poll.Stuck, Warning{Code: PollsUnknown})
	add(f.Poll.Wait > 0, Warning{Code: PollsWait, For: f.Poll.Wait})
	add(f.Poll.Failing && !f.Poll.Rival && !f.Poll.Unknown && !f.Poll.Stuck && f.Poll.Wait == 0, Warning{Code: PollsFail})
	add(f.API.Failing, Warning{Code: APIFails})
	add(f.TmuxSilent > 0, Warning{Code: TmuxHangs, For: f.TmuxSilent})
	for _, path := range f.Unread {
		add(true, Warning{Code: FilesUnread, Path: path})
	}
	for _, path := range f.Unreadable {
		add(!slices.Contains(f.Unread, path), Warning{Code: NotReadable, Path: path})
	}
	add(f.FleetFailed, Warning{Code: FleetFails})
	add(f.HubSilent > silentHub, Warning{Code: HubSilent, For: f.HubSilent})
	for _, m := range f.Machines {
		all = append(all, m.Warnings()...)
	}
	add(f.ClaudeMissing != "", Warning{Code: ClaudeGone, Path: f.ClaudeMissing})
	add(f.ClaudeNeeded != "", Warning{Code: ClaudeOld, Version: f.Claude, Needed: f.ClaudeNeeded})
	add(f.HooksShutBy != "", Warning{Code: HooksShut, Path: f.HooksShutBy})
	add(f.Disk.Known && f.Disk.Low, Warning{Code: DiskLow, Bytes: f.Disk.Free})
	add(f.NotClean > 0, Warning{Code: NotClean, Count: f.NotClean})
	add(f.Silent > 0, Warning{Code: AgentSilent, Count: f.Silent})
	add(f.API.Wait > 0, Warning{Code: APIWaits, For: f.API.Wait})
	add(f.Outbox > longOutbox, Warning{Code: OutboxLong, Count: f.Outbox})
	add(f.Keys != Keys{}, Warning{Code: KeysBound, Keys: f.Keys})
	add(f.Watch != "", Warning{Code: Code("watch_" + f.Watch)})
	add(f.Watch == "" && f.Hook.Slowest > slowHook, Warning{Code: HooksSlow, For: f.Hook.Slowest})
	add(f.Claude == "" && f.ClaudeMissing == "" && f.Instead == "" && f.Up > startUp, Warning{Code: ClaudeUnknown})
	for _, word := range f.Words {
		add(true, Warning{Code: WordUnknown, Word: word})
	}
	add(f.Unpinned > 0, Warning{Code: NoPins, Count: f.Unpinned})
	add(len(f.RefusedGroups) > 0, Warning{Code: GroupRefused, Count: len(f.RefusedGroups), Chats: f.RefusedGroups})
	add(len(f.ShutGroups) > 0, Warning{Code: GroupShut, Count: len(f.ShutGroups), Chats: f.ShutGroups})
	add(len(f.ClosedGroups) > 0, Warning{Code: GroupClosed, Count: len(f.ClosedGroups), Chats: f.ClosedGroups})
	add(len(f.AnonymousGroups) > 0, Warning{Code: Anonymous, Count: len(f.AnonymousGroups), Chats: f.AnonymousGroups})
	add(len(f.UnreactedGroups) > 0, Warning{Code: NoReactions, Count: len(f.UnreactedGroups), Chats: f.UnreactedGroups})
	return all
}
