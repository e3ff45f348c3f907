package bot

import (
	"context"
	"fmt"
	"strings"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// SessionNews tells the chat what happened to a session. What it tells is on disk when it returns.
func (b *Bot) SessionNews(ctx context.Context, n lifecycle.Note) error {
	tell, ok := b.news[n.Kind]
	if !ok {
		return fmt.Errorf("unknown news %q", n.Kind)
	}
	for _, f := range b.rooms {
		if f.Heard == nil {
			continue
		}
		if err := f.Heard(ctx, n); err != nil {
			return err
		}
	}
	return tell(ctx, n)
}

// heardNews notes since when a prompt's own turn runs.
func (a *answers) heardNews(_ context.Context, n lifecycle.Note) error {
	if n.Kind == lifecycle.NoteDelivered {
		a.turnBegun(n)
	}
	return nil
}

// heardNews ends what waits for an answer of a session that is over.
func (a *asks) heardNews(ctx context.Context, n lifecycle.Note) error {
	switch n.Kind {
	case lifecycle.NoteDialogGone:
		return a.dialogGone(ctx, n.Session.ID)
	case lifecycle.NoteEnded, lifecycle.NoteLost, lifecycle.NoteStopped, lifecycle.NoteFailed:
		a.look(n.Session.ID, true)
	case lifecycle.NoteTransferred:
		a.look(n.From.ID, true)
	}
	return nil
}

// heardNews closes the dialog of a session that is ready or over: what was shown is not there any
// more.
func (d *dialogMessages) heardNews(ctx context.Context, n lifecycle.Note) error {
	switch n.Kind {
	case lifecycle.NoteReady, lifecycle.NoteEnded, lifecycle.NoteLost, lifecycle.NoteStopped, lifecycle.NoteFailed:
		return d.close(ctx, n.Session.ID)
	case lifecycle.NoteTransferred:
		return d.close(ctx, n.From.ID)
	}
	return nil
}

// The news about prompts that a sentence or a reaction tells.

func (b *Bot) markTyped(ctx context.Context, n lifecycle.Note) error {
	b.markPrompt(ctx, n, chat.ReactionTyped)
	return nil
}

func (b *Bot) markReceived(ctx context.Context, n lifecycle.Note) error {
	b.markPrompt(ctx, n, chat.ReactionReceived)
	return nil
}

func (b *Bot) tellQueued(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.Queued)
}

func (b *Bot) tellHeldUnknown(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.HeldUnknown)
}

func (b *Bot) tellHeldBash(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.HeldBash)
}

func (b *Bot) tellHeldDraft(ctx context.Context, n lifecycle.Note) error {
	return b.replyNamed(ctx, n, i18n.HeldDraft, b.Button(i18n.ButtonSendAnyway, "any:"+n.Prompt.Key, ""))
}

func (b *Bot) replyNamed(ctx context.Context, n lifecycle.Note, word i18n.Key, buttons ...outbox.Button) error {
	return b.reply(ctx, n, b.words.Say(word, i18n.Args{"Name": n.Session.Name}), buttons...)
}

func (b *Bot) tellFailed(ctx context.Context, n lifecycle.Note) error {
	return b.postScreen(ctx, n, b.words.Say(i18n.FailedScreen, i18n.Args{"Name": n.Session.Name}), b.waiting(n))
}

func (b *Bot) tellLost(ctx context.Context, n lifecycle.Note) error {
	text := b.words.Say(i18n.Lost, i18n.Args{"Name": n.Session.Name}) + b.waiting(n)
	return b.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Plain(text), b.comeBack(n))
}

// tellReady says that a session takes prompts, and what in its project may keep permission requests from the chat.
func (b *Bot) tellReady(ctx context.Context, r session.Record) error {
	text := b.words.Say(i18n.Ready, i18n.Args{"Name": r.Name})
	if all := b.Sessions.Answerers(r); len(all) > 0 {
		text += "\n" + ask.ProjectAnswers(b.words, all)
	}
	return b.For(r.ID).Say(ctx, r.Conversation, text)
}

func (b *Bot) attachHint(n lifecycle.Note) string {
	return b.words.Say(i18n.AttachHint, i18n.Args{"Command": n.Attach})
}

// postScreen tells something with the terminal's screen below it.
func (b *Bot) postScreen(ctx context.Context, n lifecycle.Note, head, foot string) error {
	text := render.Plain(head)
	if screen := chat.Screen(n.Screen); !screen.Blank() {
		if over := n.Session.Exit != nil; over {
			text = render.Plain(head + " " + b.words.Say(i18n.LastScreen))
		}
		text = render.Join(text, render.Plain("\n"), screen)
	}
	if foot != "" {
		text = render.Join(text, chat.Marked("\n"+strings.TrimPrefix(foot, "\n"), n.Attach))
	}
	var buttons [][]outbox.Button
	if n.Kind == lifecycle.NoteFailed || n.Kind == lifecycle.NoteEnded {
		buttons = b.comeBack(n)
	}
	return b.For(n.Session.ID).Post(ctx, n.Session.Conversation, text, buttons)
}

// comeBack is the [Resume] under the news of an end.
func (b *Bot) comeBack(n lifecycle.Note) [][]outbox.Button {
	return chat.Rows(1, b.Button(i18n.ButtonResume, "res:"+ref(n.Session.ID), outbox.Primary))
}

func (b *Bot) tellEnded(ctx context.Context, n lifecycle.Note) error {
	e := n.Session.Exit
	args := i18n.Args{"Name": n.Session.Name}
	if e == nil || !e.Crashed() {
		return b.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Plain(b.words.Say(i18n.Ended, args)+b.waiting(n)), b.comeBack(n))
	}
	args["Status"], args["Signal"] = e.Status, e.Signal
	key := i18n.CrashedStatus
	if e.Signal != 0 {
		key = i18n.CrashedSignal
	}
	return b.postScreen(ctx, n, b.words.Say(key, args), b.waiting(n))
}

// waiting says how many prompts wait for the session to come back.
func (b *Bot) waiting(n lifecycle.Note) string {
	if len(n.Session.Prompts) == 0 {
		return ""
	}
	return "\n" + b.words.Say(i18n.ReceiptWaiting, i18n.Args{"Count": len(n.Session.Prompts)})
}

// tellDraft shows what a person had typed into the box, in full: it is about to
// be taken out there.
func (b *Bot) tellDraft(ctx context.Context, n lifecycle.Note) error {
	head := render.Plain(b.words.Say(i18n.DraftCleared, i18n.Args{"Name": n.Session.Name}) + "\n")
	return b.For(n.Session.ID).Post(ctx, n.Session.Conversation, render.Join(head, render.Pre(n.Draft, "")), nil)
}

// reply says something about one message, under it.
func (b *Bot) reply(ctx context.Context, n lifecycle.Note, text string, buttons ...outbox.Button) error {
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil {
		return err
	}
	return b.PostMessage(ctx, outbox.Message{To: e.Conversation, Text: render.Plain(text), ReplyTo: e.MessageID, Silent: true, Buttons: chat.Rows(2, buttons...)})
}

// markPrompt says with a reaction how far a prompt is.
func (b *Bot) markPrompt(ctx context.Context, n lifecycle.Note, reaction string) {
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil {
		b.Log.Debug("receipt_without_entry", "error", err.Error())
		return
	}
	b.Mark(ctx, e.Conversation, e.MessageID, reaction)
	if b.MayShow(e.Conversation) {
		b.Sender.Typing(ctx, e.Conversation)
	}
}

// tellUnproven asks what to do with a prompt that may have been typed, and says
// whether it is known where it stands.
func (b *Bot) tellUnproven(ctx context.Context, n lifecycle.Note) error {
	e, err := b.Entries.Load(n.Prompt.Key)
	if err != nil {
		return err
	}
	head := b.words.Say(i18n.Unproven, i18n.Args{"Name": n.Session.Name, "Time": e.Received.Local().Format("15:04")})
	text := render.Join(render.Plain(head+"\n"), chat.Quoted(n.Prompt.Text))
	if n.InBox {
		text = render.Join(text, render.Plain("\n"+b.words.Say(i18n.UnprovenInBox)))
	}
	return b.Fail(ctx, e.Conversation, e.MessageID, text, chat.Rows(2,
		b.Button(i18n.ButtonSendAgain, "again:"+e.Key, outbox.Primary),
		b.Button(i18n.ButtonDrop, "drop:"+e.Key, "")))
}
