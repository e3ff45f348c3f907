package lifecycle

import (
	"context"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/tmux"
)

// Windows makes and names windows.
type Windows interface {
	// Answers returns nil if the server answers, or if there is none.
	Answers(ctx context.Context) error
	// Ensure makes the server and ccbot's session if they are missing.
	Ensure(ctx context.Context) error
	NewWindow(ctx context.Context, spec tmux.Spec) (tmux.Pane, error)
	Panes(ctx context.Context) ([]tmux.Pane, error)
	// Environment returns the variables with these names that a new window starts with.
	Environment(ctx context.Context, names []string) (map[string]string, error)
	AttachCommand(w tmux.WindowID, windowName string) string
	// Rename names the window of a pane, if the window has the tag.
	Rename(ctx context.Context, g tmux.Guard, tag, name string) error
}

// Keyboard types into panes. Every method is one guarded tmux command: if the guard does not hold,
// nothing is typed and the error is tmux.ErrGuard.
type Keyboard interface {
	Paste(ctx context.Context, g tmux.Guard, text string) error
	Enter(ctx context.Context, g tmux.Guard) error
	Press(ctx context.Context, g tmux.Guard, key tmux.Key) error
	// LeaveView ends the mode in which a person has scrolled back.
	LeaveView(ctx context.Context, g tmux.Guard) error
}

// Tmux is the part of tmux used by the life of a session.
type Tmux interface {
	view.PaneReader
	Windows
	Keyboard
}

// Launches writes the settings file of one launch and returns its path; dir is the session's
// directory, and started holds environment variables of the agent. Remove deletes the file. Unheard
// reports whether an unprocessed event of the launch is on disk. HookDigest is process.Digest of
// the hook in the settings; empty: unknown.
type Launches interface {
	Write(recordID uuid.UUID, dir string, started map[string]string) (path string, err error)
	Remove(recordID uuid.UUID) error
	Unheard(recordID uuid.UUID) (bool, error)
	HookDigest() string
}

// Prompts is the one store of prompts and their state. A change is durable when the call returns.
// ErrNoPrompt means that a prompt is finished, or that no session holds it yet, or that a person
// still has to decide whether it is typed.
type Prompts interface {
	Prompt(key string) (Prompt, error)
	// NewPrompt reads an untyped prompt as HoldPrompt would hold it; saved, it is in the queue of
	// the session. ErrNoPrompt means that the prompt was typed or finished.
	NewPrompt(key string, session uuid.UUID) (Prompt, error)
	// HoldPrompt moves an untyped prompt into the queue of a session. A repeated call does nothing.
	// ErrNoPrompt means that the prompt was typed or finished.
	HoldPrompt(key string, session uuid.UUID) error
	SavePrompt(p Prompt) error
	FinishPrompt(key string) error
}

// News receives what happened to a session. It stores the news before it returns, so that a crash
// right afterwards loses nothing; only then is the change itself put on disk, and a crash between
// the two repeats the news at most once. It is called on the session's worker: it must be quick and
// must not change that session.
//
// A [ending.Receipt] is news as well: it says that an archive has ended.
type News interface {
	SessionNews(ctx context.Context, r session.Record, n news.News) error
}

// OtherWriters is the news that becomes news.OtherWriters when it is shown to people.
type OtherWriters []evidence.Writer

// IsNews implements news.News.
func (OtherWriters) IsNews() {}
