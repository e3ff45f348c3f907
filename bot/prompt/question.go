package prompt

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// reason is why a person is asked about a prompt.
type reason string

const (
	unproven  reason = "unproven"  // it may have been typed
	inBox     reason = "in box"    // the same, and it is seen in the prompt box
	old       reason = "old"       // it was sent, or has waited, for too long
	over      reason = "over"      // its session is over
	missed    reason = "missed"    // it was written for a request that is over
	draft     reason = "draft"     // it waits behind what a person has typed into the box
	reasoning reason = "reasoning" // it waits behind a request, and may be the reason to deny it
	answering reason = "answering" // it waits behind a question that it may answer
)

// question is what a person is asked for one reason.
type question struct {
	state   inbox.State // of the prompt while the question stands
	says    i18n.Key    // with the session's name, and when the prompt was sent
	foot    i18n.Key
	warns   bool // nothing comes of the prompt, as far as is known
	quotes  bool
	answers []answer
}

// questions has all that people are asked about prompts.
var questions = map[reason]question{
	unproven: {state: inbox.Unproven, says: i18n.Unproven, warns: true, quotes: true,
		answers: []answer{sendAgain, dropIt}},
	inBox: {state: inbox.Unproven, says: i18n.Unproven, foot: i18n.UnprovenInBox, warns: true, quotes: true,
		answers: []answer{sendAgain, dropIt}},
	old:    {state: inbox.Asked, says: i18n.AgedAsk, quotes: true, answers: []answer{send, dropIt}},
	missed: {state: inbox.Asked, says: i18n.AskStray, answers: []answer{send, dropIt}},
	over: {state: inbox.Asked, says: i18n.AlreadyEnded, foot: i18n.NotDelivered, warns: true,
		answers: []answer{resumeAndSend, dropIt}},
	draft:     {state: inbox.Held, says: i18n.HeldDraft, answers: []answer{sendAnyway}},
	reasoning: {state: inbox.Held, says: i18n.HeldAsk, answers: []answer{denyWith, sendAfter}},
	answering: {state: inbox.Held, says: i18n.HeldAsk, answers: []answer{answerWith, denyWith, sendAfter}},
}

// answer is one button of a question. Its word is the option of the card.
type answer struct {
	word   i18n.Key
	style  outbox.Style
	became i18n.Key // what the question says then; with the session's name
}

var (
	sendAgain     = answer{i18n.ButtonSendAgain, outbox.Primary, i18n.SentAgain}
	send          = answer{i18n.ButtonSend, outbox.Primary, i18n.AgedSent}
	resumeAndSend = answer{i18n.ButtonResumeAndSend, outbox.Primary, i18n.ResumeAndSend}
	sendAnyway    = answer{i18n.ButtonSendAnyway, "", i18n.SentAnyway}
	sendAfter     = answer{i18n.ButtonSendAfter, "", i18n.SendAfter}
	denyWith      = answer{i18n.ButtonDenyWith, outbox.Danger, i18n.DeniedWith}
	answerWith    = answer{i18n.ButtonAnswerWith, outbox.Success, i18n.AnsweredWith}
	dropIt        = answer{i18n.ButtonDrop, "", i18n.Dropped}
)

// decide does with a prompt what a person has decided.
func (p *Prompts) decide(ctx context.Context, a answer, e inbox.Entry, r views.Session, was asked,
	by int64) error {
	switch a {
	case sendAgain:
		return p.Decisions.SendAgain(ctx, e.Session, e.Key)
	case sendAnyway: // what stood in the box comes as news
		return p.Decisions.SendAnyway(ctx, e.Session, e.Key)
	case send:
		if err := p.book.MoveTo(ctx, e.Conversation, r); err != nil { // for the answer
			return err
		}
		return p.Queue.Queue(ctx, r.ID, e.Key)
	case resumeAndSend: // whatever the resume asks before it succeeds, the prompt waits in the queue
		p.noteTarget(e, r)
		return p.Queue.Keep(ctx, r.ID, e.Key)
	case denyWith, answerWith:
		return p.Requests.DecideWith(ctx, was.Request, e, by, a == answerWith)
	case dropIt:
		if e.State == inbox.Unproven { // it may stand in the box
			return p.Decisions.Drop(ctx, e.Session, e.Key)
		}
		return p.Changes.FinishIn(e.Key, e.State)
	}
	return nil // [Send after]: it waits
}

// bringBack resumes the session of a prompt, beside the current one where that is open.
func (p *Prompts) bringBack(ctx context.Context, e inbox.Entry, r views.Session, by int64) error {
	now, ok, err := p.book.CurrentSession(e.Conversation)
	stays := err == nil && ok && now.ID != r.ID && now.Live
	_, err = p.Resume(ctx, chat.Resume{Session: r, To: e.Conversation, From: by, Undo: stays})
	return err
}

// text is what the question about a prompt says.
func (q question) text(p chat.Phrases, e inbox.Entry, session string) render.Text {
	said := i18n.Args{"Name": session, "Time": p.Moment(sentOf(e))}
	text := render.Plain(p.Words.Say(q.says, said))
	if q.warns {
		text = render.Join(render.Plain(chat.Warning), text)
	}
	if q.quotes {
		text = render.Join(text, render.Plain("\n"), chat.Quoted(e.Text))
	}
	if q.foot != "" {
		text = render.Join(text, render.Plain("\n"+p.Words.Say(q.foot)))
	}
	return text
}

// options are the buttons of a question.
func (q question) options(p chat.Phrases) [][]card.Option {
	var all []card.Option
	for _, a := range q.answers {
		all = append(all, p.Option(a.word, string(a.word), a.style))
	}
	return chat.Rows(2, all...)
}
