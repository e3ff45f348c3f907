package prompt

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/bot/textlist"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// heldTexts are the sentences about the wait of a prompt.
var heldTexts = map[news.Wait]i18n.Key{
	news.Queued: i18n.Queued, news.HeldBash: i18n.HeldBash,
	news.HeldUnknown: i18n.HeldUnknown, news.HeldScroll: i18n.HeldScroll, news.HeldKeys: i18n.HeldKeys,
	news.HeldSync: i18n.HeldSync, news.HeldSmall: i18n.HeldSmall, news.HeldBudget: i18n.HeldBudget,
	news.HeldCosts: i18n.HeldCosts,
}

// onNews reports the outcome of prompts, and a person's draft in the box.
func (p *Prompts) onNews(ctx context.Context, r port.Session, n news.News) error {
	switch n := n.(type) {
	case news.Held:
		return replyUnder(ctx, p, n.Prompt, r, func(e inbox.Entry) error { return reportHeld(ctx, p, e, r, n) })
	case news.Unproven:
		why := unproven
		if n.InBox {
			why = inBox
		}
		return replyUnder(ctx, p, n.Prompt, r, func(e inbox.Entry) error { return p.ask(ctx, facts{Reason: why}, e, r) })
	case news.Typed: // with it the session may have moved to the prompt's place
		return errors.Join(p.noteAsker(n.Prompt, r), p.book.OnShown(r), reactTo(ctx, p, n.Prompt, r, chat.ReactionTyped))
	case news.Delivered:
		return errors.Join(dropNeeds(p, n.Key, r), reactTo(ctx, p, n.Prompt, r, chat.ReactionReceived))
	case news.TakenBack:
		return p.reportStopped(ctx, r, n)
	case news.DraftCleared: // shown in full: it is about to be taken out of the box
		text := chat.Lines(p.Chat.In(r.Conversation).Text(i18n.DraftCleared, i18n.Args{"Name": r.Name}), render.Pre(n.Draft, ""))
		return p.Chat.Post(ctx, card.Content{To: r.Conversation, Session: r.ID, Text: text})
	case news.Requeued:
		return p.recount(ctx, r.ID)
	}
	return nil
}

// noteAsker stores whose turn a typed prompt begins; nobody's if that cannot be known.
func (p *Prompts) noteAsker(about talk.Prompt, r port.Session) error {
	by := int64(0)
	e, err := p.Entries.Load(about.Key)
	if m := sentOn(e); err == nil && m != nil {
		by = m.From.ID
	}
	return p.book.NoteAsker(e.Conversation, r.ID, by)
}

// replyUnder reports, under a prompt, its progress. A prompt that has left needs no news.
func replyUnder(ctx context.Context, p *Prompts, about talk.Prompt, r port.Session, tell func(e inbox.Entry) error) error {
	e, err := p.Entries.Load(about.Key)
	if err == nil {
		err = tell(e)
	} else if chat.IsGone(err) {
		err = nil
	}
	return errors.Join(err, p.recount(ctx, r.ID))
}

// reactTo shows the progress of a prompt with a reaction.
func reactTo(ctx context.Context, p *Prompts, about talk.Prompt, r port.Session, reaction string) error {
	return replyUnder(ctx, p, about, r, func(e inbox.Entry) error {
		return errors.Join(p.Texts.Left(ctx, e.Key), p.confirm(ctx, e, reaction, r))
	})
}

// dropNeeds is called when the agent has a prompt. If a person has sent it, earlier questions about
// messages of its session no longer count as open; a script or a button does not decide that.
func dropNeeds(p *Prompts, key string, r port.Session) error {
	e, err := p.Entries.Load(key)
	if err != nil || len(e.Update) == 0 {
		return nil
	}
	return errors.Join(p.cards.DropNeeds(r.ID, key, e.Received), p.Texts.DropNeeds(r.ID, e.Received))
}

// reportHeld reports why a prompt waits, or asks about it.
func reportHeld(ctx context.Context, p *Prompts, e inbox.Entry, r port.Session, n news.Held) error {
	if n.Why == news.HeldDialog {
		return list(ctx, p, e.Conversation, r.ID, n.Now)
	}
	if err := p.Texts.Left(ctx, e.Key); err != nil {
		return err
	}
	switch n.Why {
	case news.Queued:
		why := facts{Reason: queued}
		if n.Now.What == talk.Pursuing {
			why.Reason = pursuing
		}
		if e.State == inbox.Held { // otherwise its text is in the box
			return p.ask(ctx, why, e, r)
		}
	case news.HeldDraft:
		return p.ask(ctx, facts{Reason: draft}, e, r)
	case news.HeldScroll:
		if e.State == inbox.Held { // otherwise its text is in the box
			return p.ask(ctx, facts{Reason: scrolled}, e, r)
		}
	}
	why := facts{Reason: held, Why: n.Why, File: p.Chat.Short(n.File), Binding: n.Binding}
	if n.Why == news.HeldUnknown && n.Now.Phase == talk.PhaseUnknown {
		why.Word = n.Now.What
	}
	return p.ask(ctx, why, e, r)
}

// ListWaiting lists the texts that wait in a conversation while a session's agent asks something.
func (p *Prompts) ListWaiting(ctx context.Context, to address.Conversation, session uuid.UUID) error {
	return list(ctx, p, to, session, talk.Activity{})
}

// list lists the texts that wait for an answer. No turn can be interrupted until then.
func list(ctx context.Context, p *Prompts, to address.Conversation, session uuid.UUID, now talk.Activity) error {
	var errs []error
	for _, c := range p.cards.List() {
		if (c.Payload.Reason == queued || c.Payload.Reason == pursuing) && c.Content.Session == session && c.Content.To == to {
			errs = append(errs, p.close(ctx, c.Key, render.Plain(p.Chat.In(to).Say(i18n.QuestionBelow))))
		}
	}
	return errors.Join(append(errs, p.Texts.Held(ctx, to, session, now))...)
}

// reportStopped asks about a prompt that was stopped before it was carried out, or typed. The agent
// may have had it, so that it is finished; from here on it waits, in no queue. If its entry cannot
// be brought back, the text is posted without buttons, because the agent's box is about to be
// emptied.
func (p *Prompts) reportStopped(ctx context.Context, r port.Session, n news.TakenBack) error {
	e, err := p.Entries.Load(n.Prompt.Key)
	if chat.IsGone(err) {
		if e, err = p.Entries.Reopen(n.Prompt.Key, inbox.Asked); err != nil {
			p.Chat.Log.Warn("stopped_prompt_not_reopened", logkey.Key, n.Prompt.Key, logkey.Error, err)
			content := card.Content{To: r.Conversation, Session: r.ID}
			content.Text = textlist.StoppedText(p.Chat.In(r.Conversation), r, n.Prompt.Text)
			return p.Chat.Post(ctx, content)
		}
	}
	if err != nil {
		return err
	}
	if n.AtBorder {
		return p.wait(ctx, facts{Reason: border}, e, r)
	}
	p.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
	below := render.Plain(p.Chat.In(e.Conversation).Say(i18n.QuestionBelow))
	return errors.Join(p.close(ctx, e.Key, below), p.Texts.Stop(ctx, e, r, n.Work))
}

// confirm sets the reaction of a prompt that is past its question. An idle agent has a prompt
// before the tap that sends it has ended: a question that is still open then shows the effect of
// the tap.
func (p *Prompts) confirm(ctx context.Context, e inbox.Entry, reaction string, r port.Session) error {
	p.Chat.React(ctx, e.Conversation, e.MessageID, reaction)
	if p.book.MayShow(e.Conversation) {
		p.Chat.Sender.Typing(ctx, e.Conversation)
	}
	c, _ := p.cards.Get(e.Key)
	words := p.Chat.In(e.Conversation)
	became := words.Text(i18n.PromptSent, i18n.Args{"Name": r.Name})
	if c.Payload.holds() {
		return nil // it stays until all its texts are sent
	}
	asking := questions[c.Payload.Reason].state == inbox.Asked
	if asking && c.Content.Session != r.ID && p.book.IsCurrent(e.Conversation, writerOf(e), r) { // a person has chosen the session
		became = words.Text(i18n.SentAndCurrent, i18n.Args{"Name": r.Name})
	}
	return p.close(ctx, e.Key, became)
}
