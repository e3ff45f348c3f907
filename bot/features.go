package bot

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/answer"
	"ccbot/bot/archive"
	"ccbot/bot/ask"
	"ccbot/bot/browse"
	"ccbot/bot/changes"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/dialog"
	"ccbot/bot/files"
	"ccbot/bot/health"
	"ccbot/bot/history"
	"ccbot/bot/idle"
	"ccbot/bot/limit"
	"ccbot/bot/menu"
	"ccbot/bot/modes"
	"ccbot/bot/moves"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/prompt"
	"ccbot/bot/rename"
	"ccbot/bot/report"
	"ccbot/bot/screenshot"
	"ccbot/bot/sessions"
	"ccbot/bot/settings"
	"ccbot/bot/shell"
	"ccbot/bot/status"
	"ccbot/bot/topics"
	"ccbot/bot/turn"
	"ccbot/bot/usage"
	"ccbot/bot/waiting"
	"ccbot/bot/why"
	"ccbot/bot/writers"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/cellpicture"
	measured "ccbot/internal/health"
)

// Features are all that the bot can do, in the order in which a text is offered to them. What one is given of another
// is one of its methods; where two need each other, the one that is made later is looked up when it is called.
func (b *Bot) Features() []chat.Feature { return append(b.lives(), b.talks()...) }

// lives are the features about how sessions begin, go on and end, and about what their agents write.
func (b *Bot) lives() []chat.Feature {
	resume := func(ctx context.Context, q chat.Resume) (bool, error) { return b.Resumer.Resume(ctx, q) }
	outputs := shell.New(b.Chat, b.Sessions.Output, b.Entries, b.Files)
	b.Answers = answer.New(answer.Deps{Chat: b.Chat, Sender: b.Sender, Limits: b.Sender, Sessions: b.Sessions,
		Outputs: outputs, Transcripts: b.Transcripts, Heard: b.item, Rich: b.Rich, Thinking: b.Thinking,
		Signs: func(to address.Conversation) bool { return b.stepsIn(to) != turn.OnCard }}) // no card says it
	b.Topics = topics.New(topics.Deps{Chat: b.Chat, Telegram: b.Sender, Threaded: func() bool { return b.Threaded }, Rename: b.Sessions.Rename,
		AskArchive: func(ctx context.Context, in chat.Incoming, r views.Session, question i18n.Key) error {
			return b.Resumer.AskEnd(views.Archived, question, i18n.ButtonArchive)(ctx, in, r)
		}})
	b.Book.Place = b.Topics.Place
	others := writers.New(b.Chat, b.Sessions, b.Sessions, b.Sessions, b.Sessions, resume, b.Answers.Follow)
	limits := limit.New(b.Chat, b.Entries, b.Sessions, b.Sessions.Brief)
	idles := idle.New(b.Chat, b.Sessions, b.Sessions.Looks,
		func(id uuid.UUID) bool { return b.Cards.Waits(id, ask.Kind, dialog.Kind, prompt.Kind) }, limits.Planned)
	b.IdleIn = func(at address.Conversation, session uuid.UUID) time.Duration {
		return idles.After(b.IdleAfter, at, session)
	}
	b.Resumer = sessions.New(sessions.Deps{Chat: b.Chat, Starter: b.Sessions, Agents: b.Sessions,
		Others: others, Recall: b.Answers.Recall,
		GoOn: sessions.GoingOn{Add: b.Entries.Add, Keep: b.Sessions, Text: b.ContinueText}, Idle: idles})
	b.Reports = report.New(report.Deps{Chat: b.Chat, Reported: b.Sessions.Reported, Resumer: b.Resumer,
		Windows: others, Notices: b.Sessions, StateDir: b.StateDir, ResumeOnStart: b.ResumeOnStart,
		ContinueText: b.ContinueText})
	return []chat.Feature{b.Resumer.Feature(), others.Feature(), b.Reports.Feature(), limits.Feature(), idles.Feature(),
		b.Answers.Feature(), outputs.Feature(), b.Topics.Feature(),
		why.New(why.Deps{Chat: b.Chat, Resume: b.Resumer.Resume, Continue: b.Resumer.Continue, Retry: b.Resumer.Retry,
			Crash: sessions.Crash, Interrupted: b.Resumer.Interrupted})}
}

// talks are the features about what people and agents say and ask, and about what there is to see.
func (b *Bot) talks() []chat.Feature {
	upload := func(ctx context.Context, f outbox.File) (int, error) { return b.Sender.SendFile(ctx, f) }
	b.asks = ask.NewRequests(ask.Deps{Chat: b.Chat, Store: b.Asks, Hooks: b.Decisions, Records: b.Decisions,
		Entries: b.Entries, Queues: b.Sessions, Send: b.Sender.Send, Over: func(ctx context.Context) { b.Prompts.Tidy(ctx) }})
	b.Prompts = prompt.New(prompt.Deps{Chat: b.Chat, Queue: b.Sessions, Decisions: b.Sessions, Edits: b.Sessions,
		Entries: b.Entries, Changes: b.Entries, Requests: b.asks, Resume: b.Resumer.Resume,
		Attachments: prompt.Attachments{Files: b.Received, Downloader: b.Downloader, Voice: b.Voice, Confirm: b.VoiceConfirm}})
	b.files = &files.Files{Book: b.Book, Open: b.Files.Open, Heading: b.Answers.Heading, Upload: upload}
	dialogs := dialog.New(b.Chat, b.Sessions, b.asks.Floods)
	queues := waiting.New(b.Chat, b.Entries, b.Sessions, b.Sessions, b.Prompts.Discard, b.asks.Again, dialogs.Again)
	names := rename.New(b.Chat, b.Sessions)
	b.Moves = moves.New(b.Chat, b.moved, b.Topics.AskLost)
	b.Changes = changes.New(b.Chat, b.Sessions, upload)
	switches := modes.New(b.Chat, b.Sessions)
	acts := map[turn.Button]turn.Act{
		turn.Stop: func(ctx context.Context, a turn.Asked) error {
			r, _ := b.Records.Get(a.Session)
			return b.Resumer.Stop(ctx, chat.Incoming{Message: conversation.Message{To: a.To}, From: a.From}, r)
		},
		turn.Queue:   func(ctx context.Context, a turn.Asked) error { return queues.Show(ctx, a.To, a.Session) },
		turn.Mode:    func(ctx context.Context, a turn.Asked) error { return switches.Show(ctx, a.To, a.Session, a.From) },
		turn.Changes: func(ctx context.Context, a turn.Asked) error { return b.Changes.Show(ctx, a.To, a.Session, a.Since) },
		turn.Compact: turn.Compacting(b.Entries.Add, b.Sessions),
	}
	turns := turn.New(turn.Deps{Chat: b.Chat, Works: b.Sessions, Transcripts: b.Transcripts, Diffs: b.Sessions,
		InFront: b.Answers.InFull, Waits: queues.Lines, Others: b.Resumer, Steps: b.stepsIn, Acts: acts})
	told, about := status.New(b.Chat, b.Sessions, b.Sessions, b.Entries, b.Resumer.Resume, names.Ask)
	firsts := prompt.Firsts{Prompts: b.Prompts}
	b.Browser = browse.New(browse.Deps{Chat: b.Chat, Folders: b.Deps.Places, Worktrees: b.Deps.Places, Beside: b.Deps.Places,
		First: firsts, Settled: firsts, Start: b.Resumer.Begin, Resume: b.Resumer.Again})
	return []chat.Feature{b.Pages.Feature(), names.Feature(), b.asks.Feature(), turns.Feature(), dialogs.Feature(),
		queues.Feature(), switches.Feature(), b.Changes.Feature(), b.Moves.Feature(), told, menu.New(b.Chat),
		usage.New(b.Chat, b.Sessions, upload), files.Getting(b.Chat, b.Files, b.files.Put),
		archive.New(archive.Deps{Chat: b.Chat, Asked: b.Transcripts, Resume: b.Resumer.Resume, Text: about.Text, AskForget: about.AskForget}),
		history.New(b.Chat, b.Transcripts, b.Transcripts, upload).Feature(),
		screenshot.New(b.Chat, b.Sessions, cellpicture.SystemFonts()),
		settings.New(b.Chat, settings.Configured{IdleAfter: b.IdleAfter, Steps: string(b.Steps)}, func() { b.Spoken() }),
		health.New(b.Chat, func(ctx context.Context) measured.Figures { return b.Health(ctx) }, b.StateDir),
		b.Browser.Feature(), b.Prompts.Feature()}
}

// stepsIn says where the steps of turns are shown for a place: what its chat has chosen counts before what is configured.
func (b *Bot) stepsIn(to address.Conversation) turn.Steps {
	return cmp.Or(turn.Steps(b.Settings(to.ChatID).Steps), b.Config.Steps)
}
