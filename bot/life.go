package bot

import (
	"context"
	"errors"

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
	l.resumer = sessions.NewResumer(sessions.ResumerDeps{Chat: b.Chat, Restorer: b.Sessions, Reader: b.answers})
	l.writers = writers.New(writers.Deps{Chat: b.Chat, Agents: b.Sessions, Starter: b.Sessions, Resumer: l.resumer,
		Reader: b.answers})
	l.resumer.Connect(l.writers)
	l.sessions = sessions.New(sessions.Deps{Chat: b.Chat, Life: b.Sessions, Agents: agents{b},
		Interrupter: interrupter{b}, Reader: b.answers})
	l.windows = writers.NewWindows(writers.WindowDeps{Chat: b.Chat, Orphans: b.Windows, Adopter: b.Sessions,
		List: l.sessions})
	l.sessions.Connect(l.windows)
	l.reports = report.New(report.Deps{Chat: b.Chat, Lifecycle: b.Sessions, Resumer: l.resumer, Windows: l.windows,
		ToldWindows: b.Windows, Entries: b.Entries, StateDir: b.StateDir, ResumeOnStart: b.ResumeOnStart})
	return l
}

// features are what the roof knows of them.
func (l life) features() []chat.Feature {
	return []chat.Feature{l.sessions.Feature(), l.resumer.Feature(), l.writers.Feature(), l.windows.Feature(),
		l.reports.Feature()}
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

// interrupter sends Esc, of which requests and the output of commands are told.
type interrupter struct{ bot *Bot }

func (i interrupter) Interrupt(ctx context.Context, id uuid.UUID) error {
	if err := i.bot.asks.NoteStop(ctx, id, true); err != nil {
		return err
	}
	if err := i.bot.Sessions.Interrupt(ctx, id); err != nil {
		return errors.Join(err, i.bot.asks.NoteStop(ctx, id, false))
	}
	i.bot.outputs.Interrupted(ctx, id)
	return nil
}

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
