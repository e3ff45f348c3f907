package bot

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/files"
	"ccbot/bot/inbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/bot/prompt"
	"ccbot/bot/report"
	"ccbot/bot/sessions"
	"ccbot/bot/writers"
	"ccbot/internal/address"
)

// life are the features about the life of sessions.
type life struct {
	sessions *sessions.Sessions
	resumer  *sessions.Resumer
	writers  *writers.Writers
	windows  *writers.Windows
	reports  *report.Reports
	prompts  *prompt.Prompts
}

// newLife makes these features and connects them with each other.
func newLife(b *Bot) (l life) {
	l.windows = writers.NewWindows(b.Chat, b.Sessions, b.Sessions)
	l.sessions = sessions.New(b.Chat, b.Sessions, agents{b}, b.answers, l.windows)
	l.resumer = l.sessions.Resumer
	l.writers = writers.New(b.Chat, b.Sessions, b.Sessions, l.resumer, b.answers)
	l.resumer.Writers = l.writers
	l.reports = report.New(report.Deps{Chat: b.Chat, Lifecycle: b.Sessions, Resumer: l.resumer, Windows: l.windows,
		ToldWindows: b.Sessions, Entries: b.Entries, StateDir: b.StateDir, ResumeOnStart: b.ResumeOnStart})
	l.prompts = prompt.New(prompt.Deps{Chat: b.Chat, Queue: b.Sessions, Decisions: b.Sessions,
		Edits: b.Sessions, Entries: b.Entries, Changes: b.Entries, Requests: requests{b.asks},
		Resume:      l.resumer.Resume,
		Attachments: prompt.Attachments{Files: b.Files, Downloader: b.Downloader, Voice: b.Voice}})
	return l
}

// features are what the roof knows of them.
func (l life) features() []chat.Feature {
	return []chat.Feature{l.sessions.Feature(), l.writers.Feature(), l.windows.Feature(), l.reports.Feature()}
}

// agents are the agents of sessions as package sessions looks at them.
type agents struct{ bot *Bot }

func (a agents) Look(ctx context.Context, id uuid.UUID) desk.Look {
	return a.bot.Sessions.Look(ctx, id)
}

func (a agents) ProjectAnswers(id uuid.UUID) string {
	all := a.bot.Decisions.Answerers(id)
	if len(all) == 0 {
		return ""
	}
	return ask.ProjectAnswers(a.bot.words, all)
}

// Interrupt sends Esc, of which requests and the output of commands are told.
func (a agents) Interrupt(ctx context.Context, id uuid.UUID) error {
	if err := a.bot.asks.NoteStop(ctx, id, true); err != nil {
		return err
	}
	if err := a.bot.Sessions.Interrupt(ctx, id); err != nil {
		return errors.Join(err, a.bot.asks.NoteStop(ctx, id, false))
	}
	a.bot.outputs.Interrupted(ctx, id)
	return nil
}

// requests are what agents ask, as prompts may answer them.
type requests struct{ asks *ask.Requests }

func (r requests) Behind(session uuid.UUID, to address.Conversation) (id string, answers bool) {
	c, _ := r.asks.Behind(session, to)
	return c.Request.ID, c.OneLeft()
}

func (r requests) IsOpen(request string) bool {
	c, ok := r.asks.Store.Get(request)
	return ok && c.State == ask.StateOpen
}

func (r requests) DecideWith(ctx context.Context, request string, with inbox.Entry, by int64,
	answer bool) error {
	turn := ask.DenyWith
	if answer {
		turn = ask.AnswerWith
	}
	return r.asks.DecideWith(ctx, request, by, with, turn)
}

// Review ends or asks about the prompts that waited while ccbot was away; see prompt.Prompts.
func (b *Bot) Review(ctx context.Context, away time.Duration) error {
	return b.prompts.Review(ctx, away)
}

// Homeless tells of prompts whose session is not there any more; see prompt.Prompts.
func (b *Bot) Homeless(ctx context.Context, keys []string) error {
	return b.prompts.Homeless(ctx, keys)
}

// Awaited are the names of files that prompts still need; see prompt.Prompts.
func (b *Bot) Awaited() (map[string]bool, error) { return b.prompts.Awaited() }

// Recovered tells what a recovery found and did, and resumes what comes back by itself.
func (b *Bot) Recovered(ctx context.Context, rep news.Start) error {
	return b.reports.Tell(ctx, rep)
}

// BroughtBack takes a session that was resumed at the desk as one that came back. current is the
// session that texts in its conversation go to from now on; it is the zero record where no
// conversation shows the session.
func (b *Bot) BroughtBack(ctx context.Context, id uuid.UUID) (current views.Session, err error) {
	return b.resumer.ResumedAtDesk(ctx, id)
}

// SendFile sends a file of a session's folder into its chat; see files.Files.
func (b *Bot) SendFile(ctx context.Context, id uuid.UUID, path, caption string) error {
	f := files.Files{Book: b.Book, Sender: b.Sender, Open: b.Files.Open, Heading: b.answers.Heading}
	return f.Send(ctx, id, path, caption)
}

// Moves keeps the news that a group has become another chat; see moves.Moves.
func (b *Bot) Moves(from, to int64) (ours bool, err error) { return b.moves.Note(from, to) }

// Migrated hears that a group has become another chat.
func (b *Bot) Migrated() { b.moves.Migrated() }

// TopicGone hears that a topic is not there any more.
func (b *Bot) TopicGone(gone address.Conversation) { b.moves.TopicGone(gone) }
