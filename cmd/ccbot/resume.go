package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/bot/sessions"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// resumeCall is the body of a resume: a name or an id.
type resumeCall struct {
	Session string `json:"session"`
}

// resumed is a session that came back.
type resumed struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"`
	Dir    string    `json:"dir"`
	Attach string    `json:"attach"`          // the command that shows it
	Ended  []string  `json:"ended,omitempty"` // the processes of its earlier life that were ended
	Chat   string    `json:"chat,omitempty"`  // where its chat stands now
}

func resumeCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{Use: "resume NAME|ID", Args: oneSession("resume"), Short: "Bring a session back, with its conversation",
		Long: `Bring a session back in its folder, with its conversation, its model and flags, and
the messages that still wait for it. What has to be chosen (somebody else writes the
conversation, its file is damaged, the folder is gone) is chosen in the chat.`,
		Example: "  ccbot resume api",
		RunE: func(cmd *cobra.Command, args []string) error {
			return resume(cmd.Context(), environ, args[0], asJSON, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// resuming finds the session before a tmux server is started for nothing.
var resuming = change[resumeCall, resumed]{verb: "resume",
	first: func(c config, body resumeCall, stderr io.Writer) error {
		store, err := openRecords(c.Dir, stderr)
		if err == nil {
			_, err = find(store.List(), body.Session)
		}
		return err
	},
	do: func(ctx context.Context, s *system, body resumeCall) (resumed, error) {
		return s.resume(ctx, body.Session)
	}}

func resume(ctx context.Context, environ []string, what string, asJSON bool, stdout, stderr io.Writer) error {
	back, alone, err := resuming.make(ctx, environ, stderr, resumeCall{what})
	if err != nil {
		return err
	}
	later := ""
	if alone {
		later = ", once ccbot runs"
	}
	return terminal.Show(stdout, asJSON, back, func(p *terminal.Printer) {
		for _, ended := range back.Ended {
			p.Line("%s", terminal.Printable(ended))
		}
		p.Line("%s is back in %s; %s%s", terminal.Printable(back.Name), terminal.Printable(back.Dir), terminal.Printable(cmp.Or(back.Chat, chosenByHand)), later)
		p.Line("in a terminal: %s", back.Attach)
	})
}

// resume brings a session back. If the chat and this verb want the same session at the same time,
// the worker of its record lets only one of them through.
func (s *system) resume(ctx context.Context, what string) (resumed, error) {
	if what == "" {
		return resumed{}, refuse(codeMalformed, "not the name of a session")
	}
	records := s.store.List()
	r, err := find(records, what)
	if err != nil {
		return resumed{}, refuse(codeRefused, err.Error())
	}
	if next, ok := session.Successor(records, r.ID); ok {
		r = next
	}
	r, back, err := s.bringBack(ctx, s.lifecycle, s.store.Get, r)
	now := back.Record
	if now.ID == uuid.Nil {
		now = r
	}
	if why := notResumed(now, s.lifecycle.Attach(now), err); why != "" {
		return resumed{}, refuse(codeRefused, why)
	}
	if err != nil {
		return resumed{}, fmt.Errorf("resume %s: %w", r.Name, err)
	}
	done := resumed{ID: now.ID, Name: now.Name, Dir: now.Dir, Attach: s.lifecycle.Attach(now), Chat: s.tellBack(ctx, now.ID)}
	for _, e := range back.Ended {
		done.Ended = append(done.Ended, endingText(e))
	}
	return done, nil
}

// chosenByHand is the place of a session that is not the current one of a chat.
const chosenByHand = "in the chat, choose it with /list"

// tellBack reports to the chat that a session is back, even if the caller is gone by now, and
// returns where the session's texts go. The session stays back if the report fails.
func (s *system) tellBack(ctx context.Context, id uuid.UUID) string {
	ctx, done := s.lasting(ctx)
	defer done()
	current, err := sessions.Desk{Sessions: s.bot.Resumer}.Resumed(ctx, id)
	switch {
	case err != nil:
		s.log.Error("comeback_not_told", logkey.SessionID, id.String(), logkey.Error, err.Error())
		return chosenByHand
	case current.ID == uuid.Nil:
		return chosenByHand
	case current.ID != id:
		return fmt.Sprintf("in its chat %s stays the current one, /list there switches", current.Name)
	}
	return "its chat goes on with it"
}

// restores brings sessions back.
type restores interface {
	Restore(ctx context.Context, q lifecycle.RestoreRequest) (lifecycle.Restored, error)
}

// bringBack restores a session in a folder where sessions may be opened. If another record has
// taken over the conversation since the records were read, it restores that record instead. which
// is the record that the error is about.
func (c config) bringBack(ctx context.Context, sessions restores, get func(uuid.UUID) (session.Record, bool),
	r session.Record) (which session.Record, back lifecycle.Restored, err error) {
	for range 2 { // two transfers within a moment are for a person to look at
		if !host.InRoots(c.roots, r.Dir) {
			return r, lifecycle.Restored{}, refuse(codeRefused, fmt.Sprintf("%s is in %s, which is in none of CCBOT_ROOTS", r.Name, r.Dir))
		}
		back, err = sessions.Restore(ctx, lifecycle.RestoreRequest{Session: r.ID})
		moved := (*lifecycle.MovedError)(nil)
		if !errors.As(err, &moved) {
			break
		}
		next, ok := get(moved.To)
		if !ok {
			break
		}
		r = next
	}
	return r, back, err
}

// notResumed says in a sentence why a session did not come back, and where a choice can be made. It
// is empty for an error that belongs only into the log.
func notResumed(r session.Record, attach string, err error) string {
	moved, state, dir := (*lifecycle.MovedError)(nil), (*lifecycle.StateError)(nil), (*lifecycle.DirError)(nil)
	writers, damaged := (*lifecycle.WriterError)(nil), (*lifecycle.TranscriptError)(nil)
	switch {
	case errors.As(err, &moved):
		return fmt.Sprintf("another session goes on with the conversation of %s since a moment; `ccbot list` shows it", r.Name)
	case errors.As(err, &state):
		return notOver(r, state.State, attach)
	case errors.As(err, &dir):
		return fmt.Sprintf("%s cannot be opened in %s: %s; in the chat /resume %s PATH brings it back in another folder", r.Name, dir.Dir, dir.Why, r.Name)
	case errors.As(err, &writers):
		return fmt.Sprintf("%s; %s is not started a second time: the chat offers what can be done, /resume %s", writersText(writers.Writers), r.Name, r.Name)
	case errors.As(err, &damaged) && damaged.Nothing:
		return fmt.Sprintf("nothing is left in the transcript of %s; the chat offers to begin anew: /resume %s", r.Name, r.Name)
	case errors.As(err, &damaged):
		return fmt.Sprintf("the transcript of %s is damaged (%s); the chat offers a repaired copy: /resume %s", r.Name, damaged.Health.Path, r.Name)
	case errors.Is(err, lifecycle.ErrNoClaude):
		return fmt.Sprintf("%s cannot be started: %s; install Claude Code, or set CLAUDE_COMMAND to its path", r.Name, err)
	case errors.Is(err, evidence.ErrUnreadable):
		return fmt.Sprintf("it cannot be seen who writes the conversation of %s, so it was not started: %s", r.Name, err)
	case errors.Is(err, tmux.ErrNoTmux), errors.Is(err, tmux.ErrTooOld):
		return toInstall(err).Error()
	case errors.Is(err, session.ErrNotFound):
		return r.Name + " is forgotten by now"
	}
	return ""
}

// notOver says why a session in this state cannot be resumed.
func notOver(r session.Record, state session.State, attach string) string {
	switch {
	case state == session.Stopping:
		return r.Name + " is being ended at this moment; try again when it is over"
	case state == session.CleanupFailed:
		return fmt.Sprintf("what is left of %s is not proven to have ended, so it is not started again: the chat offers to try again; `ccbot why %s` says what it is", r.Name, r.ID)
	case state.Live():
		return fmt.Sprintf("%s is open already; in a terminal: %s", r.Name, attach)
	}
	return fmt.Sprintf("%s is %s and cannot be resumed", r.Name, state)
}

// writersText names the processes that write a conversation, or may write it.
func writersText(all []evidence.Writer) string {
	if len(all) == 0 {
		return "somebody else writes its conversation"
	}
	first, does := all[0], "may write"
	if first.Proven {
		does = "writes"
	}
	text := fmt.Sprintf("process %d %s its conversation", first.PID, does)
	if first.InTmux {
		text += " in tmux window " + first.Pane.Window.String()
	}
	if more := len(all) - 1; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}
