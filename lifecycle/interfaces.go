package lifecycle

import (
	"context"

	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
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

// News receives what happened to a session. It stores its effect before it returns. It is called on
// the session's worker: it must be quick and must not change that session. A crash repeats kept
// news with the same view of the session, which has their number.
//
// A [ending.Receipt] is news as well: it says that an archive has ended.
type News interface {
	// Translate returns news in the terms of the chat, which alone are stored.
	Translate(r session.Record, n news.News) news.News
	// View returns a session as the chat sees it. It is stored with news that are kept.
	View(r session.Record) port.Session
	SessionNews(ctx context.Context, s port.Session, n news.News) error
}

// OtherWriters is the news that becomes news.OtherWriters when it is shown to people.
type OtherWriters []evidence.Writer

// IsNews implements news.News.
func (OtherWriters) IsNews() {}
