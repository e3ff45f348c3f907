package bot

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/files"
	"ccbot/bot/report"
	"ccbot/bot/sessions"
	"ccbot/bot/writers"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/recovery"
)

// life are the features about the life of sessions.
type life struct {
	sessions *sessions.Sessions
	resumer  *sessions.Resumer
	writers  *writers.Writers
	windows  *writers.Windows
	reports  *report.Reports
}

// newLife makes these features and connects them with each other. They keep nothing, so that
// Connect may make them anew.
func newLife(b *Bot) (l life) {
	l.windows = writers.NewWindows(b.Chat, b.Windows, b.Sessions)
	l.sessions = sessions.New(b.Chat, b.Sessions, agents{b}, b.answers, l.windows)
	l.resumer = l.sessions.Resumer
	l.writers = writers.New(b.Chat, b.Sessions, b.Sessions, l.resumer, b.answers)
	l.resumer.Writers = l.writers
	l.reports = report.New(report.Deps{Chat: b.Chat, Lifecycle: b.Sessions, Resumer: l.resumer, Windows: l.windows,
		ToldWindows: b.Windows, Entries: b.Entries, StateDir: b.StateDir, ResumeOnStart: b.ResumeOnStart})
	return l
}

// features are what the roof knows of them.
func (l life) features() []chat.Feature {
	return []chat.Feature{l.sessions.Feature(), l.writers.Feature(), l.windows.Feature(), l.reports.Feature()}
}

// agents are the agents of sessions as package sessions looks at them.
type agents struct{ bot *Bot }

func (a agents) Look(ctx context.Context, r session.Record) lifecycle.Look {
	return a.bot.Sessions.Look(ctx, r)
}

func (a agents) ProjectAnswers(r session.Record) string {
	all := a.bot.Sessions.Answerers(r)
	if len(all) == 0 {
		return ""
	}
	return ask.ProjectAnswers(a.bot.words, all)
}

// Interrupt sends Esc, of which requests and the output of commands are told.
func (a agents) Interrupt(ctx context.Context, id uuid.UUID) error { return a.bot.interrupt(ctx, id) }

// Recovered tells what a recovery found and did, and resumes what comes back by itself.
func (b *Bot) Recovered(ctx context.Context, rep recovery.Report) error {
	return b.reports.Tell(ctx, rep)
}

// BroughtBack takes a session that was resumed at the desk as one that came back. current is the
// session that texts in its conversation go to from now on; it is the zero record where no
// conversation shows the session.
func (b *Bot) BroughtBack(ctx context.Context, id uuid.UUID) (current session.Record, err error) {
	return b.resumer.ResumedAtDesk(ctx, id)
}

// SendFile sends a file of a session's folder into its chat; see files.Files.
func (b *Bot) SendFile(ctx context.Context, id uuid.UUID, path, caption string) error {
	f := files.Files{Book: b.Book, Sender: b.Sender, Open: b.Files.Open, Heading: b.answers.Heading}
	return f.Send(ctx, id, path, caption)
}
