package bot

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/dialog"
	"ccbot/bot/inbox"
	"ccbot/bot/port/decisions"
	"ccbot/bot/port/desk"
	"ccbot/bot/port/talk"
	"ccbot/bot/prompt"
	"ccbot/bot/report"
	"ccbot/bot/sessions"
	"ccbot/bot/writers"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Features makes all that the bot can do, in the order in which a text is offered to the features.
func (b *Bot) Features() []chat.Feature {
	others := writers.New(b.Chat, b.Sessions, b.Sessions, b.Sessions, b.Sessions, b.Answers.Follow)
	b.Resumer = sessions.New(b.Chat, b.Sessions, b.Sessions, agents{b}, others)
	b.Resumer.Refused, b.Resumer.Recall, others.Resume = others.Refused, b.Answers.Recall, b.Resumer.Resume
	b.Reports = report.New(report.Deps{Chat: b.Chat, Reported: b.Sessions.Reported, Resumer: b.Resumer,
		Windows: others, Notices: b.Sessions, StateDir: b.StateDir, ResumeOnStart: b.ResumeOnStart})
	b.Prompts = prompt.New(prompt.Deps{Chat: b.Chat, Queue: b.Sessions, Decisions: b.Sessions,
		Edits: b.Sessions, Entries: b.Entries, Changes: b.Entries, Requests: requests{b.asks},
		Resume:      b.Resumer.Resume,
		Attachments: prompt.Attachments{Files: b.Files, Downloader: b.Downloader, Voice: b.Voice}})
	b.asks.Prompts = b.Prompts
	help := func(ctx context.Context, in chat.Incoming, _ string) error {
		return b.Say(ctx, in.To, b.words.Say(i18n.Help))
	}
	return []chat.Feature{b.Resumer.Feature(), others.Feature(), b.Reports.Feature(), b.asksFeature(),
		b.Answers.Feature(), b.outputs.Feature(), dialog.New(b.Chat, b.Sessions, b.asks.Floods),
		b.Prompts.Feature(), b.Moves.Feature(),
		{Name: "help", Commands: []chat.Command{
			{Name: "help", Run: help},
			{Name: "start", Run: help, Hidden: true}, // which Telegram sends when a person opens the bot
		}}}
}

// asksFeature shows requests. A text that was written for one that is over is asked about.
func (b *Bot) asksFeature() chat.Feature {
	f := b.asks.Feature()
	f.Text = func(ctx context.Context, in chat.Incoming, text string) (taken bool, err error) {
		taken, missed, err := b.asks.Hear(ctx, in, text)
		if missed == nil || taken || err != nil {
			return taken, err
		}
		in.Missed = true
		if err := b.Prompts.Take(ctx, in, text); err != nil {
			return false, err
		}
		return true, b.asks.Caught(ctx, missed.Request.ID)
	}
	return f
}

// heardItem looks at the requests of a session whose transcript may say what became of them.
func (b *Bot) heardItem(session uuid.UUID, item talk.Item) {
	switch item.Kind {
	case talk.ToolResult, talk.PermissionDecision, talk.Interrupt, talk.TurnEnd:
		b.asks.Look(session, false)
	}
}

// Asked takes a request that waits, or that waits again after its hook has redialled; see
// ask.Requests.Asked.
func (b *Bot) Asked(ctx context.Context, q decisions.Request) error { return b.asks.Asked(ctx, q) }

// Left hears that a request's hook is gone without an answer.
func (b *Bot) Left(_ context.Context, q decisions.Request) { b.asks.Left(q) }

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

func (a agents) Interrupt(ctx context.Context, id uuid.UUID) (told bool, err error) {
	return a.bot.Sessions.Interrupt(ctx, id)
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
