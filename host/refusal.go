package host

import (
	"cmp"
	"errors"
	"io/fs"
	"os/exec"

	"ccbot/archive"
	"ccbot/bot/port/refusal"
	"ccbot/bot/port/views"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// codes are the refusals that need no details. If an error is two of them the first one counts.
var codes = []struct {
	err  error
	code refusal.Code
}{
	{session.ErrNotFound, refusal.NotFound},
	{lifecycle.ErrNoAgent, refusal.NoAgent},
	{tmux.ErrNoPane, refusal.NoAgent},
	{tmux.ErrNoTmux, refusal.NoTmux},
	{evidence.ErrUnreadable, refusal.NoEvidence},
	{lifecycle.ErrChanged, refusal.Changed},
	{lifecycle.ErrNoTerminal, refusal.NoTerminal},
	{lifecycle.ErrBoxBusy, refusal.BoxBusy},
	{lifecycle.ErrDraftHidden, refusal.DraftHidden},
	{lifecycle.ErrNoDialog, refusal.NoDialog},
	{lifecycle.ErrRelayed, refusal.Relayed},
	{lifecycle.ErrUnseen, refusal.Unseen},
	{lifecycle.ErrIdle, refusal.Idle},
	{lifecycle.ErrAsks, refusal.Asks},
	{lifecycle.ErrStillWorks, refusal.StillWorks},
	{tmux.ErrGuard, refusal.Guarded},
	{archive.ErrNotOver, refusal.WrongState},
}

// dirCodes are the refusals of folders.
var dirCodes = map[lifecycle.DirFault]refusal.Code{
	lifecycle.DirMissing: refusal.DirMissing, lifecycle.DirNotADir: refusal.DirNotADir, lifecycle.DirNoAccess: refusal.DirNoAccess,
}

// refusedPrompt translates the error of an operation on a prompt: a prompt that does not exist any
// more must not be reported as a missing file.
func (m Desk) refusedPrompt(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &refusal.Error{Code: refusal.NotFound, Err: err}
	}
	return m.refused(err)
}

// Refused is an error of this machine for who carries out a verb of the command line.
func (m Desk) Refused(err error) error { return m.refused(err) }

// refused translates an error of this machine into the terms of the chat. An error that is not
// listed stays as it is.
func (m Desk) refused(err error) error {
	if err == nil {
		return nil
	}
	e := &refusal.Error{Err: err}
	var dir *lifecycle.DirError
	var state *lifecycle.StateError
	var writers *lifecycle.WriterError
	var moved *lifecycle.MovedError
	var damaged *lifecycle.TranscriptError
	switch {
	case errors.As(err, &dir):
		e.Code, e.Dir, e.Reason = cmp.Or(dirCodes[dir.Why], refusal.DirNoAccess), dir.Dir, string(dir.Why)
	case errors.As(err, &state):
		e.Code, e.State = refusal.WrongState, views.State(state.State)
		e.Open = state.State.Open()
	case errors.As(err, &writers):
		e.Code, e.Writers = refusal.Writers, m.writersOf(writers.Writers)
	case errors.As(err, &moved):
		e.Code = refusal.Moved
	case errors.As(err, &damaged):
		e.Code = refusal.Damaged
		if damaged.Nothing {
			e.Code = refusal.NothingLeft
		}
		for _, fault := range damaged.Health.Faults {
			e.Faults = append(e.Faults, string(fault))
		}
	case errors.Is(err, lifecycle.ErrNoClaude):
		e.Code, e.Command = refusal.NoClaude, "claude"
		if missing := (*exec.Error)(nil); errors.As(err, &missing) {
			e.Command = missing.Name
		}
	default:
		for _, one := range codes {
			if errors.Is(err, one.err) {
				e.Code = one.code
				return e
			}
		}
		return err
	}
	return e
}
