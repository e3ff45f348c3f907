package host

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/port/control"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/diffs"
	"ccbot/bot/port/modes"
	"ccbot/bot/port/prompts"
	"ccbot/bot/port/spending"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/internal/address"
	"ccbot/internal/git"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Lifecycle is the part of lifecycle.Service that this package uses: one method for each method
// that the chat's ports about sessions have together.
type Lifecycle interface {
	Start(ctx context.Context, q lifecycle.StartRequest) (session.Record, error)
	Restore(ctx context.Context, q lifecycle.RestoreRequest) (lifecycle.Restored, error)
	Archive(ctx context.Context, id uuid.UUID, final session.State, why string) error
	ArchiveQuiet(ctx context.Context, id uuid.UUID, q lifecycle.Silence) error
	Writers(ctx context.Context, id uuid.UUID) ([]evidence.Writer, error)
	EndWriters(ctx context.Context, id uuid.UUID, who []process.Identity) ([]lifecycle.Ending, error)
	Adopt(ctx context.Context, q lifecycle.AdoptRequest) (session.Record, error)
	Reported(ctx context.Context, id uuid.UUID) error
	Queue(ctx context.Context, id uuid.UUID, key string) error
	Keep(ctx context.Context, id uuid.UUID, key string) error
	SendAgain(ctx context.Context, id uuid.UUID, key string) error
	SendAnyway(ctx context.Context, id uuid.UUID, key string) error
	Drop(ctx context.Context, id uuid.UUID, key string) error
	Withdraw(ctx context.Context, id uuid.UUID, key string) error
	Reword(ctx context.Context, id uuid.UUID, key, text string, class lifecycle.Class) error
	ToFront(ctx context.Context, id uuid.UUID, key string) error
	SendNow(ctx context.Context, id uuid.UUID, key string) (told bool, err error)
	Wake(id uuid.UUID)
	Move(ctx context.Context, id uuid.UUID, to session.Conversation) error
	Rename(ctx context.Context, id uuid.UUID, name string) error
	Advance(ctx context.Context, id uuid.UUID, c transcript.Cursor) error
	Interrupt(ctx context.Context, id uuid.UUID) (told bool, err error)
	Attach(r session.Record) string
	Dialog(ctx context.Context, id uuid.UUID) (lifecycle.Dialog, error)
	Press(ctx context.Context, id uuid.UUID, mark, key string) (lifecycle.Dialog, error)
	Choose(ctx context.Context, id uuid.UUID, mark string, option int) (lifecycle.Dialog, error)
	Switch(ctx context.Context, id uuid.UUID, want modes.Wish) (modes.Now, error)
}

// Observer is the part of lifecycle.Observer that this package uses.
type Observer interface {
	Looks(ctx context.Context) func(session.Record) lifecycle.Look
	PIDs(ctx context.Context, r session.Record) []int
	Usage(r session.Record) *session.Usage
	Output(ctx context.Context, r session.Record, command string) lifecycle.Output
}

// Orphans is the part of recovery.Recovery that this package uses.
type Orphans interface {
	Orphans(ctx context.Context) ([]evidence.Window, error)
	Ignore(ctx context.Context, w evidence.Window) error
	NewOrphans(ctx context.Context, of []evidence.Window) ([]evidence.Window, error)
	Told(ctx context.Context, all []evidence.Window) error
}

// Desk is what a person at this machine would see and do. It implements the chat's port desk.
type Desk struct {
	Terminals Terminals
	Lifecycle Lifecycle
	Observer  Observer
	Windows   Orphans
	Records   AllRecords
}

// Sessions are the sessions and windows of this machine. It implements the chat's ports control,
// desk, diffs and prompts.
type Sessions struct {
	Desk
	// Git looks at the repository of a folder, and at what has changed in it since a commit, see
	// git.Compare.
	Git func(ctx context.Context, dir, since string) (*git.State, *git.Changes, error)
	// Diffs are what has changed, file by file, see [Diffs].
	diffs.Diffs
	// Spending is what agents use, see [Spending].
	spending.Spending
	// Memory is the memory of several processes together, in bytes; 0: unknown. It may be nil.
	Memory func(ctx context.Context, pids ...int) uint64
	// Forgets removes a record and all copies of it, see archive.Keeper.
	Forgets func(ctx context.Context, id uuid.UUID) error
}

var (
	_ control.Starter   = Sessions{}
	_ control.Ender     = Sessions{}
	_ control.Keeper    = Sessions{}
	_ control.Namer     = Sessions{}
	_ prompts.Queue     = Sessions{}
	_ prompts.Decisions = Sessions{}
	_ prompts.Edits     = Sessions{}
	_ prompts.Order     = Sessions{}
	_ desk.Keys         = Sessions{}
	_ desk.Panes        = Sessions{}
	_ desk.Screens      = Sessions{}
	_ desk.Neighbours   = Sessions{}
	_ desk.Windows      = Sessions{}
	_ desk.Notices      = Sessions{}
	_ modes.Switches    = Sessions{}
	_ talk.Shown        = Sessions{}
	_ views.Works       = Sessions{}
	_ views.Successors  = Sessions{}
)

// Start starts an agent in a new window.
func (m Sessions) Start(ctx context.Context, q control.Start) (views.Session, error) {
	r, err := m.Lifecycle.Start(ctx, q)
	return View(r), m.refused(err)
}

// Successor returns the session that has taken over the conversation of another one. Without such a
// session it returns that one itself.
func (m Sessions) Successor(of views.Session) views.Session {
	if next, ok := session.Successor(m.Records.Shared(), of.ID); ok {
		return View(next)
	}
	return of
}

// Restore brings a session back.
func (m Sessions) Restore(ctx context.Context, q control.Restore) (control.Restored, error) {
	back, err := m.Lifecycle.Restore(ctx, q)
	return control.Restored{Session: View(back.Record), Ended: endingsOf(back.Ended)}, m.refused(err)
}

// Adopt makes a session out of an agent that a person has started, at the request of a person in
// the chat.
func (m Sessions) Adopt(ctx context.Context, q control.Adopt) (views.Session, error) {
	r, err := m.Lifecycle.Adopt(ctx, lifecycle.AdoptRequest{Agent: process.ParseIdentity(string(q.Agent)), Claude: q.Claude, From: q.From, Asked: true,
		Conversation: q.Conversation, Owner: q.Owner, Rule: "chat.adopt", Why: q.Why})
	return View(r), m.refused(err)
}

// Archive ends a session.
func (m Sessions) Archive(ctx context.Context, id uuid.UUID, final views.State, why string) error {
	return m.refused(m.Lifecycle.Archive(ctx, id, session.State(final), why))
}

// ArchiveQuiet ends a session in which nothing has happened.
func (m Sessions) ArchiveQuiet(ctx context.Context, id uuid.UUID, q control.Silence) error {
	return m.refused(m.Lifecycle.ArchiveQuiet(ctx, id, lifecycle.Silence{Since: q.Since, Why: q.Why, Together: q.Together}))
}

// EndWriters ends other writers of a session's conversation.
func (m Sessions) EndWriters(ctx context.Context, id uuid.UUID, who []desk.ID) ([]control.Ending, error) {
	var all []process.Identity
	for _, one := range who {
		all = append(all, process.ParseIdentity(string(one)))
	}
	ended, err := m.Lifecycle.EndWriters(ctx, id, all)
	return endingsOf(ended), m.refused(err)
}

// Forget removes the record of a session that is over, and all copies of it.
func (m Sessions) Forget(ctx context.Context, id uuid.UUID) error {
	return m.refused(m.Forgets(ctx, id))
}

// Move makes a session be shown in another place.
func (m Sessions) Move(ctx context.Context, id uuid.UUID, to address.Conversation) error {
	return m.refused(m.Lifecycle.Move(ctx, id, to))
}

// Rename gives a session a name that a person chose.
func (m Sessions) Rename(ctx context.Context, id uuid.UUID, name string) error {
	return m.refused(m.Lifecycle.Rename(ctx, id, name))
}

// Advance notes up to which place the chat has a transcript.
func (m Sessions) Advance(ctx context.Context, id uuid.UUID, c talk.Cursor) error {
	return m.refused(m.Lifecycle.Advance(ctx, id, transcript.Cursor(c)))
}

// Reported notes that the chat got the report of what a start did to a session.
func (m Sessions) Reported(ctx context.Context, id uuid.UUID) error {
	err := m.Lifecycle.Reported(ctx, id)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return m.refused(err)
}

// Queue makes a prompt be typed when its turn comes.
func (m Sessions) Queue(ctx context.Context, id uuid.UUID, key string) error {
	return m.refusedPrompt(m.Lifecycle.Queue(ctx, id, key))
}

// Keep makes a prompt wait for a session that may be over.
func (m Sessions) Keep(ctx context.Context, id uuid.UUID, key string) error {
	return m.refusedPrompt(m.Lifecycle.Keep(ctx, id, key))
}

// Wake makes a session be looked at now.
func (m Sessions) Wake(id uuid.UUID) { m.Lifecycle.Wake(id) }

// SendAgain types an unproven prompt again.
func (m Sessions) SendAgain(ctx context.Context, id uuid.UUID, key string) error {
	return m.refusedPrompt(m.Lifecycle.SendAgain(ctx, id, key))
}

// SendAnyway types a prompt although a person's draft is in the box.
func (m Sessions) SendAnyway(ctx context.Context, id uuid.UUID, key string) error {
	return m.refusedPrompt(m.Lifecycle.SendAnyway(ctx, id, key))
}

// Drop gives an unproven prompt up.
func (m Sessions) Drop(ctx context.Context, id uuid.UUID, key string) error {
	return m.refusedPrompt(m.Lifecycle.Drop(ctx, id, key))
}

// Withdraw takes a prompt out of the queue.
func (m Sessions) Withdraw(ctx context.Context, id uuid.UUID, key string) error {
	return m.refusedPrompt(m.Lifecycle.Withdraw(ctx, id, key))
}

// Reword changes a prompt that was not typed.
func (m Sessions) Reword(ctx context.Context, id uuid.UUID, key, text string, class prompts.Class) error {
	return m.refusedPrompt(m.Lifecycle.Reword(ctx, id, key, text, class))
}

// ToFront makes a prompt the next one.
func (m Sessions) ToFront(ctx context.Context, id uuid.UUID, key string) error {
	return m.refusedPrompt(m.Lifecycle.ToFront(ctx, id, key))
}

// SendNow makes a prompt the next one, and interrupts what runs.
func (m Sessions) SendNow(ctx context.Context, id uuid.UUID, key string) (told bool, err error) {
	told, err = m.Lifecycle.SendNow(ctx, id, key)
	return told, m.refusedPrompt(err)
}

// Switch reads what a session's agent runs with, and wants something else of it.
func (m Sessions) Switch(ctx context.Context, id uuid.UUID, want modes.Wish) (modes.Now, error) {
	now, err := m.Lifecycle.Switch(ctx, id, want)
	return now, m.refused(err)
}

// endingsOf are processes that were ended, or left alone, as the chat sees them.
func endingsOf(all []lifecycle.Ending) (shown []control.Ending) {
	for _, e := range all {
		shown = append(shown, control.Ending{Process: Process(e.Process, e.Age), How: string(e.How), Ended: e.Ended,
			Verified: e.Verified, Reason: e.Reason})
	}
	return shown
}

// Process is a process as the chat sees it.
func Process(p process.Process, age time.Duration) desk.Process {
	return desk.Process{ID: desk.ID(p.Identity.Text()), PID: p.PID, Program: programOf(p), Terminal: p.Terminal(), Age: age}
}

func (m Desk) paneOf(p tmux.Pane) desk.Pane {
	attach := m.Lifecycle.Attach(session.Record{Name: p.WindowName, Binding: &session.Binding{Window: p.Window.String()}})
	return desk.Pane{Window: p.Window.String(), Name: p.WindowName, Attach: attach}
}

func (m Desk) writersOf(all []evidence.Writer) (shown []desk.Writer) {
	for _, w := range all {
		shown = append(shown, m.writerOf(w))
	}
	return shown
}

func (m Desk) writerOf(w evidence.Writer) desk.Writer {
	shown := desk.Writer{Process: Process(w.Process, w.Age), Dir: w.Cwd, Claude: w.ClaudeSessionID, Proven: w.Proven,
		Endable: w.Endable(), Adoptable: w.Adoptable(), Source: string(w.Source), Kept: w.Spared, Session: w.Session}
	switch {
	case w.Session != "":
		shown.Kept = evidence.ReasonOtherAgent
	case !w.Proven:
		shown.Kept, shown.Source = evidence.ReasonUnclear, ""
	}
	if w.InTmux {
		pane := m.paneOf(w.Pane)
		shown.Window = &pane
	}
	return shown
}
