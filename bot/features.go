package bot

import (
	"context"

	"ccbot/bot/answer"
	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/dialog"
	"ccbot/bot/moves"
	"ccbot/bot/prompt"
	"ccbot/bot/rename"
	"ccbot/bot/report"
	"ccbot/bot/sessions"
	"ccbot/bot/shell"
	"ccbot/bot/status"
	"ccbot/bot/writers"
	"ccbot/i18n"
)

// Features makes all that the bot can do, in the order in which a text is offered to the features.
// What one is given of another is one of its methods; where two need each other, the one that is made
// later is looked up when it is called.
func (b *Bot) Features() []chat.Feature {
	resume := func(ctx context.Context, q chat.Resume) (bool, error) { return b.Resumer.Resume(ctx, q) }
	tidy := func(ctx context.Context) { b.Prompts.Tidy(ctx) }
	outputs := shell.New(b.Chat, b.Sessions.Output, b.Entries, b.Files)
	b.Answers = answer.New(answer.Deps{Chat: b.Chat, Sender: b.Sender, Limits: b.Sender, Sessions: b.Sessions,
		Outputs: outputs, Transcripts: b.Transcripts, Heard: b.item, Rich: b.Rich, Thinking: b.Thinking})
	others := writers.New(b.Chat, b.Sessions, b.Sessions, b.Sessions, b.Sessions, resume, b.Answers.Follow)
	b.Resumer = sessions.New(sessions.Deps{Chat: b.Chat, Starter: b.Sessions, Ender: b.Sessions, Agents: b.Sessions,
		Others: others, Recall: b.Answers.Recall,
		GoOn: sessions.GoingOn{Add: b.Entries.Add, Keep: b.Sessions, Text: b.ContinueText}})
	b.Reports = report.New(report.Deps{Chat: b.Chat, Reported: b.Sessions.Reported, Resumer: b.Resumer,
		Windows: others, Notices: b.Sessions, StateDir: b.StateDir, ResumeOnStart: b.ResumeOnStart,
		ContinueText: b.ContinueText})
	b.asks = ask.NewRequests(ask.Deps{Chat: b.Chat, Store: b.Asks, Hooks: b.Decisions, Records: b.Decisions,
		Entries: b.Entries, Queues: b.Sessions, Send: b.Sender.Send, Over: tidy})
	b.Prompts = prompt.New(prompt.Deps{Chat: b.Chat, Queue: b.Sessions, Decisions: b.Sessions, Edits: b.Sessions,
		Entries: b.Entries, Changes: b.Entries, Requests: b.asks, Resume: resume,
		Attachments: prompt.Attachments{Files: b.Received, Downloader: b.Downloader, Voice: b.Voice}})
	b.Moves = moves.New(b.Chat, b.moved)
	names := rename.New(b.Chat, b.Sessions)
	return []chat.Feature{b.Resumer.Feature(), others.Feature(), b.Reports.Feature(), names.Feature(), b.asks.Feature(),
		b.Answers.Feature(), outputs.Feature(), dialog.New(b.Chat, b.Sessions, b.asks.Floods),
		b.Moves.Feature(), status.New(b.Chat, b.Sessions, b.Sessions, b.Entries, resume, names.Ask), b.help(), b.Prompts.Feature()}
}

func (b *Bot) help() chat.Feature {
	help := func(ctx context.Context, in chat.Incoming, _ string) error {
		return b.Say(ctx, in.To, b.words.Say(i18n.Help))
	}
	return chat.Feature{Name: "help", Commands: []chat.Command{
		{Name: "help", Run: help},
		{Name: "start", Run: help, Hidden: true}, // which Telegram sends when a person opens the bot
	}}
}
