// Package refusal defines why the agent's machine refuses a request of the chat, or the chat a
// request of an agent.
package refusal

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"ccbot/internal/lazyregexp"
	"ccbot/port"
	"ccbot/port/talk"
)

// Error is a refusal. Only the details of its code are set.
type Error struct {
	Code    Code          `json:"code"`
	Err     error         `json:"-"`                 // for the log; nil: the code is complete
	Dir     string        `json:"dir,omitempty"`     // for codes about a folder; for Rebound: the file
	Reason  string        `json:"reason,omitempty"`  // for codes about a folder or a file, AgentUnfit, NotTaken, GitFailed and LoopHeld
	Command string        `json:"command,omitempty"` // for NotInstalled: the missing command; for AgentUnfit: see its reasons
	Agent   string        `json:"agent,omitempty"`   // for NotInstalled and AgentUnfit: the agent's name for people
	Setting string        `json:"setting,omitempty"` // for NotInstalled and AgentUnfit: the setting that is the cause
	State   port.State    `json:"state,omitempty"`   // for WrongState
	Open    bool          `json:"open,omitempty"`    // for WrongState: the session is open and is not being ended
	Writers []port.Writer `json:"writers,omitempty"` // for Writers
	Faults  []string      `json:"faults,omitempty"`  // for Damaged: short codes of the faults
	Machine string        `json:"machine,omitempty"` // the id of the machine that refuses; empty: the chat's own
}

func (e *Error) Error() string { return cmp.Or(e.Err, errors.New(string(e.Code))).Error() }

func (e *Error) Unwrap() error { return e.Err }

// Is reports whether the target is ErrUnreachable and e another one about some machine.
func (e *Error) Is(target error) bool { return e.Code == Unreachable && target == ErrUnreachable }

// Code is a kind of refusal.
type Code string

// The refusals.
const (
	Internal     Code = ""              // an unexpected error: see the log
	NotFound     Code = "not_found"     // the session, prompt or request no longer exists
	NoAgent      Code = "no_agent"      // the session has no living agent
	NotInstalled Code = "no_claude"     // the agent is not installed
	AgentUnfit   Code = "agent_unfit"   // ccbot cannot operate Agent, for one of the reasons below
	NoTmux       Code = "no_tmux"       // tmux is not installed
	TmuxSilent   Code = "tmux_silent"   // tmux does not answer
	WindowTaken  Code = "window_taken"  // a new window was changed or closed before the agent began
	NoEvidence   Code = "no_evidence"   // the writers of a conversation are unknown
	Changed      Code = "changed"       // the state is not the one that the person saw
	NoTerminal   Code = "no_terminal"   // the process has no terminal that ccbot can type in
	BoxBusy      Code = "box_busy"      // the prompt box cannot be cleared now
	DraftHidden  Code = "draft_hidden"  // the draft is longer than the screen shows
	NoDialog     Code = "no_dialog"     // the terminal shows no dialog
	Relayed      Code = "relayed"       // the dialog's question is in the chat
	Unseen       Code = "unseen"        // the terminal is not visible now
	Idle         Code = "idle"          // there is nothing to interrupt
	Asks         Code = "asks"          // a dialog is open, and an interrupt would answer it
	StillWorks   Code = "still_works"   // the agent still works after an interrupt
	WorksOn      Code = "works_on"      // the agent still works after two interrupts of one turn
	Rebound      Code = "rebound"       // the bindings in the file Dir, such as Reason, change the key
	Guarded      Code = "guarded"       // the terminal is no longer the session's: nothing was typed
	NoRepository Code = "no_repository" // the folder is in no git repository, or there is no git
	NoCommit     Code = "no_commit"     // the repository has no commit to check out
	GitSlow      Code = "git_slow"      // git did not answer in time
	GitFailed    Code = "git_failed"    // git failed; Reason is its message
	Unchanged    Code = "unchanged"     // the file has no changes
	HasWork      Code = "has_work"      // a work tree has work of the kind Reason
	DirMissing   Code = "dir_missing"
	DirNotADir   Code = "dir_not_a_dir"
	DirNoAccess  Code = "dir_no_access"
	DirNotText   Code = "dir_not_text" // its path is not UTF-8
	DirOutside   Code = "dir_outside"  // no session may work there
	WrongState   Code = "wrong_state"  // the session's state does not allow it
	Writers      Code = "writers"      // other processes write the conversation, or may
	Damaged      Code = "damaged"      // the transcript cannot be resumed as it is
	NothingLeft  Code = "nothing_left" // the transcript has nothing left of the conversation
	Deleted      Code = "deleted"      // the transcript was deleted, by the agent's program or a person
	Replaced     Code = "replaced"     // the transcript is not the one of the cursor
	Unread       Code = "unread"       // the transcript, Dir, is skipped: reading it ended ccbot
	Unsaid       Code = "unsaid"       // the session has no transcript, or no longer
	Unreachable  Code = "unreachable"  // the machine does not answer: it may have done it
	NoMachine    Code = "no_machine"   // the address names no machine that the chat has: nothing was done
	OldMachine   Code = "old_machine"  // the ccbot of the machine is older, and lacks the call: nothing was done
	Lapsed       Code = "lapsed"       // the file is no longer open on its machine: it can be opened again
	LoopHeld     Code = "loop_held"    // the loop of the session named Reason has the session or the feature

	TimeUnclear Code = "time_unclear" // the time of a schedule is not understood
	TimePast    Code = "time_past"    // it has passed
	TimeNever   Code = "time_never"   // it never comes
	TimeOften   Code = "time_often"   // it comes again in less than a minute
	NoText      Code = "no_text"      // there is no text to send

	NoModels  Code = "no_models"  // the model of the session's agent cannot be switched
	NoCompact Code = "no_compact" // the session's agent has no /compact
	NoBash    Code = "no_bash"    // the session's agent has no bash mode
	IsProse   Code = "is_prose"   // the session's agent would read the slash command as a text

	HostName  Code = "host_name"  // no machine can have this name
	HostTaken Code = "host_taken" // another machine has the name
	HostCode  Code = "host_code"  // the code of a new machine is no longer valid
	HubAway   Code = "hub_away"   // the hub of the chat's machines does not answer

	InboxNotOurs    Code = "inbox_not_ours"   // Dir is a link, a file or another user's directory
	InboxUnwritable Code = "inbox_unwritable" // no file can be stored in Dir
)

// The reasons of AgentUnfit.
const (
	UnfitUnknown = "unknown" // ccbot has no agent of this name
	UnfitOld     = "old"     // the installed version is older than ccbot needs
	UnfitOther   = "other"   // Command is another program
	UnfitSilent  = "silent"  // Command does not tell its version
	UnfitPart    = "part"    // Command, a program of ccbot, is missing
	UnfitFolder  = "folder"  // Setting is no absolute path
)

// The reasons why a file of a session is not sent.
const (
	FileRelative   Code = "file_relative"  // its path is not absolute
	FileOwn        Code = "file_own"       // it is ccbot's own
	FileOutside    Code = "file_outside"   // it is outside the session's folder
	FileLinked     Code = "file_linked"    // the session's folder is reached through a link
	FileChanged    Code = "file_changed"   // it, or a folder above it, changed during the check
	FileIrregular  Code = "file_irregular" // it is not a regular file
	FileNamed      Code = "file_named"     // it has another name, by a hard link
	FileEmpty      Code = "file_empty"
	FileMissing    Code = "file_missing"
	FileUnreadable Code = "file_unreadable" // Reason is the cause
	FileTooBig     Code = "file_too_big"
	SentTooMany    Code = "sent_too_many" // Reason is the number of seconds to wait
	CaptionTooLong Code = "caption_too_long"
	NotShown       Code = "not_shown"     // no person is allowed any longer where it is shown
	NotTaken       Code = "not_taken"     // Telegram refused it
	TookTooLong    Code = "took_too_long" // Telegram did not reply in time
)

// ErrUnreachable is returned if a machine does not answer. What it has done, and what runs there,
// is unknown.
var ErrUnreachable = &Error{Code: Unreachable}

// New returns a refusal without details; text is for the log.
func New(code Code, text string) error { return &Error{Code: code, Err: errors.New(text)} }

// Into is an As method for errors that stand for this refusal, see errors.As.
func (e Error) Into(target any) bool {
	to, ok := target.(**Error)
	if ok {
		*to = &e
	}
	return ok
}

// In returns the refusal in err, or an Error without a code. An error with a method NotFound comes
// from a package that does not import port.
func In(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	if _, ok := errors.AsType[interface {
		error
		NotFound()
	}](err); ok {
		return &Error{Code: NotFound, Err: err}
	}
	return &Error{Err: err}
}

// Is reports whether an error is one of these refusals.
func Is(err error, codes ...Code) bool { return slices.Contains(codes, In(err).Code) }

// MachineOf returns the id of the machine that has returned an error; empty: the chat's own.
func MachineOf(err error) string {
	if e, ok := errors.AsType[interface {
		error
		MachineID() string
	}](err); ok {
		return e.MachineID()
	}
	return In(err).Machine
}

// Lacks reports whether a list with an error may lack what is on a machine. It lacks nothing of it
// if only other machines have failed.
func Lacks(err error, machine string) bool {
	if all, ok := err.(interface{ Unwrap() []error }); ok && len(all.Unwrap()) > 0 {
		return slices.ContainsFunc(all.Unwrap(), func(one error) bool { return Lacks(one, machine) })
	}
	of := MachineOf(err)
	return err != nil && (of == "" || of == machine)
}

// Unable returns the refusal of a text that needs an ability which an agent lacks, or nil.
func Unable(can port.Abilities, text string, class talk.PromptClass) error {
	name, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	switch {
	case class == talk.ClassBash && !can.Bash:
		return New(NoBash, "the agent has no bash mode")
	case class != talk.ClassCommand:
	case name == talk.Compact && !can.Compact:
		return New(NoCompact, "the agent has no /compact")
	case name == "/model" && len(can.Models) == 0:
		return New(NoModels, "the model of the agent cannot be switched")
	case can.Prose && strings.TrimSpace(text) != talk.Compact && command.MatchString(text):
		return New(IsProse, "the agent would read the command as a text")
	}
	return nil
}

// command matches a text that begins with a command. A path has more than one slash, or a dot.
var command = lazyregexp.New(`^\s*/[a-z][a-z0-9:_-]*(?:\s|$)`)
