package prompt

import (
	"context"
	"errors"

	"ccbot/bot/attachment"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
	"ccbot/port/refusal"
)

// answer is one button of a question; sendTo is one for each open session. Its word is the option
// of the card, for sendTo followed by a colon and the session's id.
type answer struct {
	word   i18n.Key
	style  outbox.Style
	became i18n.Key // the text of the answered question; with the session's name
}

var (
	sendAgain     = answer{i18n.ButtonSendAgain, outbox.Primary, i18n.SentAgain}
	sendTo        = answer{i18n.ButtonSendTo, "", i18n.SentAgain}
	startIn       = answer{i18n.ButtonStartIn, "", i18n.SentAgain}
	resumeTo      = answer{i18n.ButtonResumeSendTo, "", i18n.ResumeAndSend}
	sendInto      = answer{i18n.ButtonShowAndSend, outbox.Primary, i18n.SentAgain}
	send          = answer{i18n.ButtonSend, outbox.Primary, i18n.SentAgain}
	resumeAndSend = answer{i18n.ButtonResumeAndSend, outbox.Primary, i18n.ResumeAndSend}
	sendAnyway    = answer{i18n.ButtonSendAnyway, "", i18n.SentAnyway}
	leaveView     = answer{i18n.ButtonLeaveView, "", i18n.ViewLeft}
	sendNow       = answer{i18n.ButtonInterruptSend, "", i18n.SentNow}
	pauseGoal     = answer{i18n.ButtonPauseGoal, "", i18n.SentNow}
	useAsPrompt   = answer{i18n.ButtonUseAsPrompt, "", i18n.SentAgain}
	runCommand    = answer{i18n.ButtonCommand, outbox.Primary, i18n.TakenAsCommand}
	sendUnchanged = answer{i18n.ButtonSendToAgent, "", i18n.SentAgain}
	sendHeldNow   = answer{i18n.ButtonSendNow, outbox.Primary, i18n.SentAgain}
	takeBack      = answer{i18n.ButtonTakeBack, "", i18n.TakenBackLater}
	dropIt        = answer{i18n.ButtonDrop, "", i18n.Dropped}
)

// decide carries out a person's decision about a prompt. After an error the prompt stays under its
// question.
func (p *Prompts) decide(ctx context.Context, a answer, e inbox.Entry, r port.Session, was facts, by int64) error {
	switch a {
	case leaveView:
		return p.Queue.LeaveView(ctx, e.Session, e.Key)
	case takeBack:
		return p.Queue.Cancel(ctx, e.Session, e.Key)
	case sendAnyway: // a draft in the box comes as news
		return p.Queue.SendAnyway(ctx, e.Session, e.Key)
	case sendNow, pauseGoal: // the key that interrupts the turn also pauses the goal
		ends := p.Texts.StopBegins(e.Session, by)
		reported, err := p.Queue.SendNow(ctx, e.Session, e.Key)
		ends(err)
		if err != nil || reported {
			return err
		}
		return p.Chat.Post(ctx, card.Content{To: e.Conversation, Session: r.ID, Text: chat.Lines(p.Chat.In(e.Conversation).Text(i18n.TurnInterrupted, i18n.Args{"Name": r.Name}), p.Chat.By(e.Conversation, by))})
	case useAsPrompt:
		return p.wait(ctx, facts{Reason: first, By: was.By}, e, port.Session{})
	case sendInto: // the next turn is that of the prompt
		if err := p.book.EnterAgreed(ctx, e.Conversation, r, by); err != nil {
			return err
		}
		return p.SendOrHold(ctx, e, r)
	case sendTo:
		shown := e.Spoken
		if err := fit(ctx, p, &e, r); err != nil {
			return err
		}
		p.noteTarget(e, r, false)
		if e.Spoken != shown { // it is written down only now
			e.Session = r.ID
			return p.wait(ctx, facts{Reason: spoken}, e, r)
		}
		fallthrough
	case send, sendAgain, sendUnchanged:
		if e.State == inbox.Unproven { // it may be in the box
			return p.Queue.SendAgain(ctx, e.Session, e.Key)
		}
		if p.book.MayEnter(e.Conversation, r) != nil {
			return p.askBorder(ctx, e, r)
		}
		return p.SendOrHold(ctx, e, r)
	case sendHeldNow:
		if p.book.MayEnter(e.Conversation, r) != nil {
			return p.askBorder(ctx, e, r)
		}
		return p.enqueue(ctx, e, r)
	case resumeAndSend: // even if the resume asks about writers first, the prompt waits in the queue
		if err := fit(ctx, p, &e, r); err != nil {
			return err
		}
		p.noteTarget(e, r, false)
		if p.book.MayEnter(e.Conversation, r) != nil {
			return p.askBorder(ctx, e, r)
		}
		return p.Queue.Keep(ctx, r.ID, e.Key)
	case runCommand: // the command comes first: a crash between leaves the question, and each command may come twice
		if err := p.Run(ctx, e, by, was.Command); err != nil {
			return err
		}
		return p.Entries.FinishIn(e.Key, e.State)
	case dropIt:
		if e.State == inbox.Unproven { // it may be in the box
			return p.Queue.Drop(ctx, e.Session, e.Key)
		}
		return p.Entries.FinishIn(e.Key, e.State)
	}
	return nil
}

// enqueue queues a prompt for its session, which is shown where the prompt was written.
func (p *Prompts) enqueue(ctx context.Context, e inbox.Entry, r port.Session) error {
	if err := p.book.Follow(ctx, e.Conversation, r); err != nil {
		return err
	}
	return p.Queue.Queue(ctx, r.ID, e.Key)
}

// askBorder makes a prompt wait until a person agrees that its session comes into the group. The
// session is not the current one there before that.
func (p *Prompts) askBorder(ctx context.Context, e inbox.Entry, r port.Session) error {
	e.Session = r.ID
	return p.wait(ctx, facts{Reason: border}, e, r)
}

// fit makes a prompt one for a session that is not yet its own: it brings the files there, and notes
// whether its agent is told who speaks.
// The error is the refusal of a text that the session's agent does not take.
func fit(ctx context.Context, p *Prompts, e *inbox.Entry, r port.Session) error {
	if e.Session != r.ID {
		if err := p.bringFiles(ctx, e, r); err != nil {
			return err
		}
		if who := p.speaker(*e, r); who != e.Speaker {
			e.Speaker = who
			if err := p.Entries.Change(e.Key, func(now *inbox.Entry) error { now.Speaker = who; return nil }); err != nil {
				return err
			}
		}
	}
	return refusal.Unable(r.Can, e.Text, e.Class)
}

// explain reports under a prompt why a decision about it was not possible. It returns the error of
// a failure that only the log explains, and of a prompt that no longer waits for a decision.
func explain(ctx context.Context, p *Prompts, e inbox.Entry, r port.Session, err error) error {
	if now, unread := p.Entries.Load(e.Key); chat.IsGone(unread) || unread == nil && now.State != inbox.Asked {
		return err
	}
	var f chat.Failure
	if none, is := errors.AsType[attachment.Refused](err); is {
		f.Text = render.Plain(none.Error())
	} else {
		f = p.Chat.In(e.Conversation).Failure(r, err)
	}
	err = p.Chat.Warn(ctx, e.Conversation, e.MessageID, f.Text, nil)
	if f.Internal {
		err = errors.Join(f.Err, err)
	}
	return err
}
