package lifecycle

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/port/news"
	"ccbot/hooks"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// PaneReader finds panes. Errors other than tmux.ErrNoPane and tmux.ErrNoServer
// mean that it is unknown whether a pane is there.
type PaneReader interface {
	Server(ctx context.Context) (tmux.ServerID, error)
	Pane(ctx context.Context, id tmux.PaneID) (tmux.Pane, error)
}

// Screens reads what panes show, and to whom.
type Screens interface {
	Capture(ctx context.Context, id tmux.PaneID, lines int) (string, error)
	// Viewers are the terminals that people have attached.
	Viewers(ctx context.Context) ([]tmux.Viewer, error)
}

// Windows makes windows, and closes a pane that is proven to be ours.
type Windows interface {
	// Ensure makes the server and ccbot's session where they are missing.
	Ensure(ctx context.Context) error
	NewWindow(ctx context.Context, spec tmux.Spec) (tmux.Pane, error)
	Panes(ctx context.Context) ([]tmux.Pane, error)
	AttachCommand(w tmux.WindowID, windowName string) string
	ClosePane(ctx context.Context, g tmux.Guard) error
}

// Keyboard types into panes. Every method is one guarded tmux command: with a
// false guard nothing is typed and the error is tmux.ErrGuard.
type Keyboard interface {
	Paste(ctx context.Context, g tmux.Guard, text string) error
	Enter(ctx context.Context, g tmux.Guard) error
	Press(ctx context.Context, g tmux.Guard, key tmux.Key) error
}

// Tmux is what a session's life needs of tmux.
type Tmux interface {
	PaneReader
	Screens
	Windows
	Keyboard
}

// Processes reads the process table and ends what is proven.
type Processes interface {
	evidence.Processes
	Wait(ctx context.Context, id process.Identity) error
	End(ctx context.Context, id process.Identity, prove func(process.Process) error,
		hangUp func(context.Context) error, g process.Grace) (process.Outcome, error)
}

// Launches writes the settings file of one launch in dir, the session's
// directory, and returns its path. Remove takes it away again.
type Launches interface {
	Write(recordID uuid.UUID, dir string) (path string, err error)
	Remove(recordID uuid.UUID) error
}

// Relays knows the permission requests that the chat can answer.
type Relays interface {
	// Waiting are those of a session whose hook waits, oldest first.
	Waiting(session uuid.UUID) []hooks.Request
}

// Prompts is the one store of prompts and their state. What changes is durable when the
// call returns. A prompt that was finished, that nobody holds yet, or that is not to be
// typed before a person has said so, is fs.ErrNotExist.
type Prompts interface {
	Prompt(key string) (Prompt, error)
	// HoldPrompt makes a prompt of which nothing was typed yet one that a session's queue
	// holds; once more is nothing. fs.ErrNotExist: it is typed, or finished.
	HoldPrompt(key string, session uuid.UUID) error
	SavePrompt(p Prompt) error
	FinishPrompt(key string) error
	// MovePrompt makes a prompt another session's. It is durable when it returns,
	// and once more is nothing.
	MovePrompt(key string, to uuid.UUID) error
}

// News is told what happened to a session. It keeps what it is told before it
// returns, so that a crash right after loses nothing; then the change itself is
// put on disk, and a crash between the two tells it twice at most. It is called
// on the session's worker: it must be quick and must not change that session.
//
// A [Receipt] is news as well: an archive is over.
type News interface {
	SessionNews(ctx context.Context, r session.Record, n news.News) error
}

// OtherWriters is news.OtherWriters before it is shown to people.
type OtherWriters []evidence.Writer
