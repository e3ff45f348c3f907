// Package refusal says why the agent's machine does not do what the chat asks for, or the chat what
// an agent asks for.
package refusal

import (
	"cmp"
	"errors"
	"slices"

	"ccbot/port"
)

// Error is a refusal. Only the details that its code names are set.
type Error struct {
	Code    Code
	Err     error         // for the log; nil: the code says all
	Dir     string        // of the codes about a folder; of Rebound: the file
	Reason  string        // of the codes about a folder or a file, and of NotTaken and GitFailed: what the system says
	Command string        // of NoClaude: what is not to be found
	State   port.State    // of WrongState
	Open    bool          // of WrongState: the session is open, and is not being ended
	Writers []port.Writer // of Writers
	Faults  []string      // of Damaged: short codes of what is wrong
}

func (e *Error) Error() string { return cmp.Or(e.Err, errors.New(string(e.Code))).Error() }

func (e *Error) Unwrap() error { return e.Err }

// Code is a kind of refusal.
type Code string

// The refusals.
const (
	Internal     Code = ""              // nobody foresaw it: the log says more
	NotFound     Code = "not_found"     // the session, the prompt or the request is not there any more
	NoAgent      Code = "no_agent"      // the session has no living agent
	NoClaude     Code = "no_claude"     // Claude Code is not installed
	NoTmux       Code = "no_tmux"       // tmux is not installed
	TmuxSilent   Code = "tmux_silent"   // tmux does not answer
	WindowTaken  Code = "window_taken"  // a new window was changed or closed before the agent began
	NoEvidence   Code = "no_evidence"   // it cannot be seen who writes a conversation
	Changed      Code = "changed"       // it is not any more what the person saw
	NoTerminal   Code = "no_terminal"   // a process runs in no terminal that ccbot can type in
	BoxBusy      Code = "box_busy"      // the prompt box cannot be cleared now
	DraftHidden  Code = "draft_hidden"  // the draft holds more than the screen shows
	NoDialog     Code = "no_dialog"     // the terminal asks nothing
	Relayed      Code = "relayed"       // the chat has the question of the dialog itself
	Unseen       Code = "unseen"        // the terminal cannot be seen now
	Idle         Code = "idle"          // there is nothing to interrupt
	Asks         Code = "asks"          // a dialog is open, which an interrupt would answer
	StillWorks   Code = "still_works"   // the agent works on after an interrupt
	WorksOn      Code = "works_on"      // the agent works on after two interrupts of one turn
	Rebound      Code = "rebound"       // the person's key bindings in the file Dir give the key another meaning, by the binding Reason
	Guarded      Code = "guarded"       // the terminal is not the session's any more: nothing was typed
	NoRepository Code = "no_repository" // the folder is in no git repository, or there is no git
	NoCommit     Code = "no_commit"     // the repository has nothing yet that could be checked out
	GitSlow      Code = "git_slow"      // git did not answer in time
	GitFailed    Code = "git_failed"    // git refuses; Reason has its words
	Unchanged    Code = "unchanged"     // the file is as it was
	HasWork      Code = "has_work"      // a work tree is not removed; Reason says for which kind of work
	DirMissing   Code = "dir_missing"
	DirNotADir   Code = "dir_not_a_dir"
	DirNoAccess  Code = "dir_no_access"
	DirOutside   Code = "dir_outside"  // no session may work there
	WrongState   Code = "wrong_state"  // the session's state does not allow it
	Writers      Code = "writers"      // other processes write the conversation, or may
	Damaged      Code = "damaged"      // a resume would stumble over the transcript
	NothingLeft  Code = "nothing_left" // of the conversation, in the transcript
	Replaced     Code = "replaced"     // the transcript is not the one that a cursor was taken from
	Unread       Code = "unread"       // the transcript, Dir, is left unread: ccbot has ended each time it was read
	Unsaid       Code = "unsaid"       // the session has no transcript, or none any more

	InboxNotOurs    Code = "inbox_not_ours"   // a link, a file or another user's directory is in the place of Dir
	InboxUnwritable Code = "inbox_unwritable" // nothing can be put into Dir
)

// Why a file of a session is not sent.
const (
	FileRelative   Code = "file_relative"  // its path is not absolute
	FileOwn        Code = "file_own"       // it is one of ccbot's own
	FileOutside    Code = "file_outside"   // it lies outside of the session's folder
	FileLinked     Code = "file_linked"    // the session's folder is reached through a link
	FileChanged    Code = "file_changed"   // it, or a folder above it, changed while it was looked at
	FileIrregular  Code = "file_irregular" // it is no regular file
	FileNamed      Code = "file_named"     // a hard link gives it another name
	FileEmpty      Code = "file_empty"
	FileMissing    Code = "file_missing"
	FileUnreadable Code = "file_unreadable" // Reason says why
	FileTooBig     Code = "file_too_big"
	SentTooMany    Code = "sent_too_many" // Reason: the seconds to wait
	CaptionTooLong Code = "caption_too_long"
	NotShown       Code = "not_shown"     // nobody is allowed any more where the session is shown
	NotTaken       Code = "not_taken"     // Telegram refuses it
	TookTooLong    Code = "took_too_long" // Telegram was given up
)

// New is a refusal that needs no details; text is for the log.
func New(code Code, text string) error { return &Error{Code: code, Err: errors.New(text)} }

// Into is the As method of an error that is this refusal, see errors.As.
func (e Error) Into(target any) bool {
	to, ok := target.(**Error)
	if ok {
		*to = &e
	}
	return ok
}

// In gives the refusal in an error; without one an Error without a code. An error with a method NotFound
// is of a package that knows no ports.
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
