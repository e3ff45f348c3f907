package prompt

import (
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// reason is why a person is asked about a prompt.
type reason string

const (
	unproven reason = "unproven" // it may have been typed
	old      reason = "old"      // it was sent, or has waited, for too long
	over     reason = "over"     // its session is over
	draft    reason = "draft"    // it waits behind what a person has typed into the box
)

// subject is the prompt that a question is about.
type subject struct {
	inbox.Entry
	session string // its name
	inBox   bool   // the text is seen in the prompt box
}

// question is what a person is asked for one reason.
type question struct {
	state    inbox.State // of the entry while the question stands
	says     func(p chat.Phrases, s subject) render.Text
	silent   bool
	reaction string // of the message
	answers  []answer
}

// decided reports whether a prompt is past a question: a kill may have come between a decision and the
// end of the question.
func (q question) decided(now inbox.State) bool {
	switch q.state {
	case inbox.Asked:
		return now == inbox.Held || now == inbox.Typing || now == inbox.Unproven
	case inbox.Unproven:
		return now == inbox.Held
	}
	return now == inbox.Typing || now == inbox.Unproven // it was typed after all
}

// answer is one button of a question.
type answer struct {
	option option
	word   i18n.Key
	style  outbox.Style
	became i18n.Key // what the question says then; with the session's name
}

// option is what a person decides about a prompt.
type option string

const (
	again  option = "again"  // type it once more
	send   option = "send"   // type it although it is old
	anyway option = "anyway" // take the draft out of the box, and type it
	resume option = "resume" // bring its session back, and type it then
	drop   option = "drop"   // give it up
)

var dropIt = answer{drop, i18n.ButtonDrop, "", i18n.Dropped}

// questions has all that people are asked about prompts.
var questions = map[reason]question{
	unproven: {state: inbox.Unproven, says: unprovenText,
		answers: []answer{{again, i18n.ButtonSendAgain, outbox.Primary, i18n.SentAgain}, dropIt}},
	old: {state: inbox.Asked, says: oldText, reaction: chat.ReactionStored,
		answers: []answer{{send, i18n.ButtonSend, outbox.Primary, i18n.AgedSent}, dropIt}},
	over: {state: inbox.Asked, says: overText,
		answers: []answer{{resume, i18n.ButtonResumeAndSend, outbox.Primary, i18n.ResumeAndSend}, dropIt}},
	draft: {state: inbox.Held, says: draftText, silent: true, reaction: chat.ReactionStored,
		answers: []answer{{anyway, i18n.ButtonSendAnyway, "", i18n.SentAnyway}}},
}

func unprovenText(p chat.Phrases, s subject) render.Text {
	head := p.Words.Say(i18n.Unproven, i18n.Args{"Name": s.session, "Time": s.Received.Local().Format("15:04")})
	text := render.Join(render.Plain(chat.Warning+head+"\n"), chat.Quoted(s.Text))
	if s.inBox {
		text = render.Join(text, render.Plain("\n"+p.Words.Say(i18n.UnprovenInBox)))
	}
	return text
}

func oldText(p chat.Phrases, s subject) render.Text {
	head := p.Words.Say(i18n.AgedAsk, i18n.Args{"Name": s.session, "Time": p.Moment(sentOf(s.Entry))})
	return render.Join(render.Plain(head+"\n"), chat.Quoted(s.Text))
}

func overText(p chat.Phrases, s subject) render.Text {
	return render.Plain(chat.Warning + p.Words.Say(i18n.AlreadyEnded, i18n.Args{"Name": s.session}) + "\n" + p.Words.Say(i18n.NotDelivered))
}

func draftText(p chat.Phrases, s subject) render.Text {
	return render.Plain(p.Words.Say(i18n.HeldDraft, i18n.Args{"Name": s.session}))
}

// options are the buttons of a question.
func (q question) options(words i18n.Words) [][]card.Option {
	var row []card.Option
	for _, a := range q.answers {
		row = append(row, card.Option{Text: words.Say(a.word), Value: string(a.option), Style: a.style})
	}
	return [][]card.Option{row}
}
