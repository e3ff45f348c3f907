package prompt

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/attachment"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// reason is the reason of a question about a prompt.
type reason string

const (
	unproven reason = "unproven" // it may have been typed
	inBox    reason = "in box"   // the same, and it is seen in the prompt box
	old      reason = "old"      // it was sent, or has waited, for too long
	left     reason = "left"     // it awaits an answer, and the reason is unknown
	over     reason = "over"     // its session has ended
	gone     reason = "gone"     // its session is over and cannot come back
	homeless reason = "homeless" // the record of its session is not there, or cannot be read
	adrift   reason = "adrift"   // the same, and it may have been typed
	// That session is being resumed for it: there is no further question.
	returning reason = "returning"
	missed    reason = "missed" // it was written for a request that has ended
	spoken    reason = "spoken" // a program has written it down
	whose     reason = "whose"  // it answers a message of an unknown session
	// No open session is the current one in its place.
	unaddressed reason = "unaddressed"
	nobody      reason = "nobody"    // no session is open
	queued      reason = "queued"    // it waits for the end of a turn
	pursuing    reason = "pursuing"  // it waits for a goal
	draft       reason = "draft"     // it waits for a draft of a person in the box
	scrolled    reason = "scrolled"  // it waits because a person has scrolled back in the window
	first       reason = "first"     // its sender is about to start the session that gets it
	asFolder    reason = "folder"    // it is the path of the folder that was chosen for such a session
	noFolder    reason = "no folder" // it is a path, and no session may start there
	mistyped    reason = "mistyped"  // it may be meant as a ccbot command
	border      reason = "border"    // its turn would let a group read what its session has said in another chat
	held        reason = "held"      // it waits for a person in the terminal
	away        reason = "away"      // it waits for a machine that does not answer
	unable      reason = "unable"    // it waits for a machine that answers, and cannot keep it
	limited     reason = "limited"   // a limit of its session holds it
)

// question describes the question for one reason.
type question struct {
	state   inbox.State // of the prompt while the question stands
	says    i18n.Key    // with the session's name, and when the prompt was sent; empty: how it ended
	foot    i18n.Key
	hint    i18n.Key // about the buttons, as long as there are any
	warns   bool     // the prompt has no effect, as far as is known
	quotes  bool
	answers []answer
}

// questions has all questions about prompts.
var questions = map[reason]question{
	unproven: {state: inbox.Unproven, says: i18n.Unproven, warns: true, quotes: true,
		answers: []answer{sendAgain, dropIt}},
	inBox: {state: inbox.Unproven, says: i18n.Unproven, hint: i18n.UnprovenInBox, warns: true,
		quotes: true, answers: []answer{sendAgain, dropIt}},
	old:    {state: inbox.Asked, says: i18n.AgedAsk, quotes: true, answers: []answer{send, dropIt}},
	left:   {state: inbox.Asked, says: i18n.LeftAsk, quotes: true, answers: []answer{send, dropIt}},
	missed: {state: inbox.Asked, says: i18n.AskStray, answers: []answer{send, dropIt}},
	spoken: {state: inbox.Asked, says: i18n.VoiceAsk, hint: i18n.VoiceHint, answers: []answer{send, dropIt}},
	over: {state: inbox.Asked, says: i18n.AlreadyEnded, foot: i18n.NotDelivered, warns: true,
		answers: []answer{sendTo, resumeAndSend, resumeTo, dropIt}},
	gone:        {state: inbox.Asked, foot: i18n.NotDelivered, warns: true, answers: []answer{sendTo, dropIt}},
	homeless:    {state: inbox.Asked, says: i18n.NotDelivered, warns: true, quotes: true, answers: []answer{sendTo, dropIt}},
	adrift:      {state: inbox.Asked, says: i18n.UnprovenAdrift, warns: true, quotes: true, answers: []answer{sendTo, dropIt}},
	whose:       {state: inbox.Asked, says: i18n.WhichReply, answers: []answer{sendTo, dropIt}},
	unaddressed: {state: inbox.Asked, says: i18n.WhichGets, answers: []answer{sendTo, dropIt}},
	nobody:      {state: inbox.Asked, says: i18n.NobodyAsk, answers: []answer{startIn, resumeTo, sendTo, dropIt}},
	first:       {state: inbox.Asked, says: i18n.FirstPrompt, answers: []answer{sendTo, dropIt}},
	asFolder:    {state: inbox.Asked, says: i18n.FolderChosen, answers: []answer{useAsPrompt, dropIt}},
	noFolder:    {state: inbox.Asked, says: i18n.FolderNone, answers: []answer{useAsPrompt, dropIt}},
	mistyped:    {state: inbox.Asked, says: i18n.Mistyped, answers: []answer{runCommand, sendUnchanged, dropIt}},
	border:      {state: inbox.Asked, answers: []answer{sendInto, dropIt}},
	returning:   {state: inbox.Held, says: i18n.ResumeAndSend},
	held:        {state: inbox.Held},
	queued:      {state: inbox.Held, says: i18n.Queued, answers: []answer{sendNow}},
	pursuing:    {state: inbox.Held, says: i18n.HeldGoal, answers: []answer{pauseGoal}},
	draft:       {state: inbox.Held, says: i18n.HeldDraft, hint: i18n.HeldDraftHint, answers: []answer{sendAnyway}},
	scrolled:    {state: inbox.Held, says: i18n.HeldScroll, answers: []answer{leaveView}},
	away:        {state: inbox.Held, says: i18n.HeldAway, answers: []answer{takeBack}},
	unable:      {state: inbox.Held, says: i18n.HeldUnable, answers: []answer{takeBack}},
	limited:     {state: inbox.Asked, says: i18n.HeldLimitAsk, answers: []answer{sendHeldNow, dropIt}},
}

// write writes the question about a prompt: what happened, and below it, as long as there are
// buttons, their effect and the number of later prompts of the session.
func (a facts) write(l *card.Content, p chat.Phrases, e inbox.Entry, r port.Session) {
	q := questions[a.Reason]
	said := i18n.Args{"Name": r.Name, "Time": p.Moment(sentOf(e)), "Command": a.Command,
		"Path": render.Code(a.File), "Binding": render.Code(a.Binding),
		"Said": chat.FailureText(a.Word), "Reason": a.refusal(p), "Away": awayText(p, r.Machine)}
	says := cmp.Or(q.says, heldTexts[a.Why])
	if attach, elsewhere := (talk.Activity{Phase: talk.PhaseUnknown, What: a.Word}).Attach(); elsewhere {
		says, said["Command"] = i18n.HeldElsewhere, render.Code(attach)
	} else if a.Word != "" {
		says = i18n.HeldWord
	}
	if a.holds() {
		says, said["Until"] = i18n.HeldLimit, p.Until(a.Until)
		if a.Long {
			says = i18n.HeldLimitLong
		}
	}
	text := p.Text(says, said)
	switch {
	case a.Reason == border:
		text = p.BorderText(r)
	case says == "":
		text = p.EndedText(r)
	}
	if q.warns {
		text = render.Join(render.Plain(chat.Warning), text)
	}
	switch {
	case q.state == inbox.Asked && e.Spoken != "":
		text = render.Join(text, render.Plain("\n"), chat.Quoted(e.Spoken))
	case q.quotes, a.Reason == limited && e.MessageID == 0: // no message shows it
		text = render.Join(text, render.Plain("\n"), chat.Quoted(e.Text))
	}
	if q.foot != "" {
		text = chat.Lines(text, render.Plain(p.Words.Say(q.foot)))
	}
	var hint render.Text
	if q.hint != "" {
		hint = render.Plain(p.Words.Say(q.hint))
	}
	at := slices.Index(r.Prompts, e.Key)
	if n := len(r.Prompts) - 1 - at; q.state == inbox.Held && q.answers != nil && at >= 0 && n > 0 {
		hint = chat.Lines(hint, render.Plain(p.Words.Say(i18n.WaitsBehind, i18n.Args{"Count": n})))
	}
	l.Text, l.Hint = text, hint
}

// close replaces the question about a prompt, if any, by a line with the outcome; if that is blank,
// it is unknown, or another message reports it. The words of a recording stay: only the chat has
// them.
func (p *Prompts) close(ctx context.Context, key string, became render.Text) error {
	c, ok := p.cards.Get(key)
	if !ok {
		return nil
	}
	if became.Blank() {
		became = render.Plain(p.Chat.In(c.Content.To).Say(i18n.PromptSettled))
	}
	if c.Payload.holds() {
		defer p.Limits.Changed() // its session may be idle now
	}
	defer redrawPages(p, c.Payload)
	return p.cards.Close(ctx, key, c.Payload.after(became))
}

// after is the text of a settled question: the outcome, below the words of a recording.
func (a facts) after(became render.Text) render.Text {
	if a.Words == "" {
		return became
	}
	return chat.Paragraphs(chat.Quoted(a.Words), became)
}

// choices holds the options of a question's buttons.
type choices struct {
	open, down []port.Session // that get the prompt; that are resumed for it
	all        bool           // all that went down with down are resumed
	folders    []folder       // in which a session is started
	command    string
	away       bool // no session takes the prompt now
}

// options are the buttons of a question, with the newest open sessions.
func (q question) options(p chat.Phrases, c choices) [][]card.Option {
	var all []card.Option
	for _, a := range q.answers {
		add := func(word i18n.Key, said i18n.Args, chosen string, about uuid.UUID) {
			all = append(all, card.Option{Text: p.Words.Say(word, said), Value: string(a.word) + ":" + chosen, Style: a.style, Session: about})
		}
		switch a {
		case sendTo:
			for _, r := range c.open[max(0, len(c.open)-90):] { // Telegram refuses more than 100 buttons
				add(a.word, i18n.Args{"Name": chat.ShownName(r.Name)}, r.ID.String(), r.ID)
			}
		case resumeTo:
			word := a.word
			if c.all {
				word = i18n.ButtonResumeAllSend
			}
			for _, r := range c.down {
				add(word, i18n.Args{"Name": chat.ShownName(r.Name)}, r.ID.String(), r.ID)
			}
		case startIn:
			for _, f := range c.folders {
				add(a.word, i18n.Args{"Dir": f.shown}, f.dir, uuid.Nil)
			}
		case sendUnchanged:
			if !c.away {
				all = append(all, p.Option(a.word, string(a.word), a.style))
			}
		case runCommand:
			add(a.word, i18n.Args{"Command": c.command}, "", uuid.Nil)
		default:
			all = append(all, p.Option(a.word, string(a.word), a.style))
		}
	}
	return chat.Rows(2, all...)
}

// openIn are the sessions that may be chosen for a prompt. With an error there may be others.
func openIn(records port.Views) ([]port.Session, error) {
	all, err := records.List()
	return slices.DeleteFunc(all, func(r port.Session) bool { return !r.State.Open() }), err
}

// CardKind is the kind of the cards; a card has the key of its prompt's entry.
const CardKind = "question"

// facts holds the facts for which a card's buttons were drawn.
type facts struct {
	Reason  reason `json:"reason"`
	By      int64  `json:"by,omitempty"`      // of first, asFolder and noFolder: the person who starts the session
	Command string `json:"command,omitempty"` // of mistyped: ccbot's, without its slash
	Others  string `json:"others,omitempty"`  // of a shared question: the keys of the other prompts that it shows
	Words   string `json:"words,omitempty"`   // of a recording, which it shows
	Turns   int    `json:"turns,omitempty"`   // of border: that the question names; of limited: that had ended then
	// Of limited: the limit's end, zero if a person has to decide; the model then, if it is known; and that a person is
	// asked at the end.
	Until time.Time `json:"until,omitzero"`
	Model string    `json:"model,omitempty"`
	Long  bool      `json:"long,omitempty"`
	// Of held: the reason, the agent's own word, the key bindings' file and the binding. Of asFolder, noFolder: the path.
	Why     news.Wait    `json:"why,omitempty"`
	Word    string       `json:"word,omitempty"`
	File    string       `json:"file,omitempty"`
	Binding string       `json:"binding,omitempty"`
	Refused refusal.Code `json:"refused,omitempty"` // of noFolder: why no session may start there
}

// ask shows a question under the message of a prompt. Each reason has a separate message.
func (p *Prompts) ask(ctx context.Context, why facts, e inbox.Entry, r port.Session) error {
	if c, ok := p.cards.Get(e.Key); ok && !c.Payload.isSame(why, e.Conversation) {
		became := render.Plain(p.Chat.In(e.Conversation).Say(i18n.QuestionBelow))
		if c.Payload.Reason == returning {
			became = p.Chat.In(e.Conversation).Text(i18n.SentAgain, i18n.Args{"Name": r.Name})
		}
		if err := p.close(ctx, e.Key, became); err != nil {
			return err
		}
	}
	q := questions[why.Reason]
	offers := choicesFor(p, why, e.Conversation)
	offers.away = !r.State.Live()
	content := card.Content{To: e.Conversation, Session: r.ID, ReplyTo: e.MessageID, Options: q.options(p.Chat.In(e.Conversation), offers)}
	if q.state != inbox.Held && why.Reason != first && !why.isPath() && !why.holds() {
		content.Needs, content.Sounds = card.Decision, p.Chat.Sounds(chat.PromptUndecided, r) && !asksAlready(p, why, e, r)
	}
	why.Words, why.Turns = e.Spoken, turnsAsked(why, r)
	why.write(&content, p.Chat.In(e.Conversation), e, r)
	c := card.Card[facts]{Key: e.Key, Content: content, Payload: why}
	writeShared(p, &c, e)
	if err := p.cards.Show(ctx, e.Key, c.Content, c.Payload); err != nil {
		return err
	}
	if q.warns {
		p.Chat.React(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
	}
	return nil
}

// turnsAsked are the turns of a question.
func turnsAsked(why facts, r port.Session) int {
	switch why.Reason {
	case border:
		return r.Turns
	case limited:
		return why.Turns
	}
	return 0
}

// asksAlready reports whether another prompt has a question for the same reason.
func asksAlready(p *Prompts, why facts, e inbox.Entry, r port.Session) bool {
	return slices.ContainsFunc(p.cards.List(), func(c card.Card[facts]) bool {
		return c.Key != e.Key && c.Content.Session == r.ID && c.Content.To == e.Conversation && c.Content.Needs != "" && c.Payload.isSame(why, e.Conversation)
	})
}

// recount updates the number of later prompts in the questions about a session's queue, and the
// session's lists. A question that was closed in between stays closed.
func (p *Prompts) recount(ctx context.Context, session uuid.UUID) error {
	if err := p.Texts.Update(ctx, session); err != nil {
		return err
	}
	for _, c := range p.cards.List() {
		if c.Content.Session != session || questions[c.Payload.Reason].answers == nil {
			continue
		}
		e, err := p.Entries.Load(c.Key)
		if err != nil || e.State != inbox.Held || isSettled(c.Payload, e.State) {
			continue
		}
		if err := p.redraw(ctx, c, e); err != nil {
			return err
		}
	}
	return nil
}

// redraw brings an open question up to date with its prompt.
func (p *Prompts) redraw(ctx context.Context, c card.Card[facts], e inbox.Entry) error {
	r, _ := p.book.Records.Get(e.Session)
	c.Payload.Words, c.Payload.Turns = e.Spoken, turnsAsked(c.Payload, r)
	if c.Payload.isLacking(c.Content.To) {
		c.Payload.Reason = lacking(p)
	}
	c.Payload.write(&c.Content, p.Chat.In(c.Content.To), e, r)
	if writeShared(p, &c, e); c.Sent && c.Payload.isShared(c.Content.To) {
		c.Content.Rank = outbox.Card // people have the question; answers go before the count
	}
	defer redrawPages(p, c.Payload)
	return p.cards.Redraw(ctx, c.Key, c.Content, c.Payload)
}

// wait takes a prompt out of its queue, if it is in one, until a person has answered a question.
func (p *Prompts) wait(ctx context.Context, why facts, e inbox.Entry, r port.Session) error {
	if why.isShared(e.Conversation) {
		defer p.cards.Hold()() // until it has a question, or a shared one shows it
	}
	defer redrawPages(p, why)
	c, shares := sharedBy(p, why, e)
	if !shares {
		if err := p.ask(ctx, why, e, r); err != nil {
			return err
		}
	}
	e.State, e.Stale, e.Reported, e.Typing, e.Aside = inbox.Asked, false, nil, nil, nil
	if err := p.save(e); err != nil || !shares {
		return err
	}
	shown, err := p.Entries.Load(c.Key)
	if err != nil || !stands(p, c) { // a person has answered at this moment
		return p.ask(ctx, why, e, r)
	}
	return p.redraw(ctx, c, shown)
}

// isSettled reports whether a question no longer needs an answer. A question is shown before its
// prompt is in the state that the question is about.
func isSettled(was facts, now inbox.State) bool {
	q := questions[was.Reason]
	if q.answers == nil { // its text may be in the box
		return now != inbox.Held && now != inbox.Typing
	}
	asking := q.state == inbox.Asked && now == inbox.Accepted ||
		q.state == inbox.Unproven && now == inbox.Typing
	return now != q.state && !asking
}

// Tidy closes the questions that no longer need an answer: their prompts left or were decided while
// ccbot was away, or the requests before them have ended.
func (p *Prompts) Tidy(ctx context.Context) {
	p.Texts.Tidy(ctx)
	for _, c := range p.cards.List() {
		e, err := p.Entries.Load(c.Key)
		if chat.IsGone(err) || err == nil && isSettled(c.Payload, e.State) {
			err = p.close(ctx, c.Key, render.Text{})
		}
		if err != nil {
			p.Chat.Log.Error("question_not_closed", logkey.Key, c.Key, logkey.Error, err)
		}
	}
}

// tap answers a question, for any allowed person of its chat. A session that is chosen for a prompt
// is the current one before the tap is answered, unless another one is open, because a text may
// follow.
func (p *Prompts) tap(ctx context.Context, t chat.Tap, was facts) (chat.Answer, error) {
	q := questions[was.Reason]
	word, chosen, _ := strings.Cut(t.Card.Option, ":")
	i := slices.IndexFunc(q.answers, func(a answer) bool { return string(a.word) == word })
	e, err := p.Entries.Load(t.Card.Key)
	stale := chat.Answer{Text: p.Chat.In(t.To).Say(i18n.StaleButton)}
	switch {
	case chat.IsGone(err), err == nil && isSettled(was, e.State):
		return stale, errors.Join(p.close(ctx, t.Card.Key, render.Text{}), askRest(ctx, p, was, t.To, t.Card.Session))
	case err != nil:
		return chat.Answer{}, err
	case i < 0, e.State != q.state: // which it will be in a moment
		return stale, nil
	}
	r, known := p.book.Records.Get(e.Session)
	if q.answers[i] == sendInto && chat.MoreWasSaid(was.Turns, r) && p.book.MayEnter(e.Conversation, r) != nil {
		c, _ := p.cards.Get(t.Card.Key)
		return stale, p.redraw(ctx, c, e)
	}
	if q.answers[i] == resumeTo {
		id, _ := uuid.Parse(chosen)
		r, known = p.book.Records.Get(id)
	}
	if q.answers[i] == sendTo {
		home := r
		id, _ := uuid.Parse(chosen)
		if r, known = p.book.Records.Get(id); !r.State.Open() { // any more
			return stale, p.ask(ctx, was, e, home)
		}
		at := p.book.Home(e.Conversation, r) // the topic of another session stays that session's
		// Nobody chooses for another person.
		own := t.From == writerOf(e) || !p.book.IsShared(at)
		if now, _ := p.book.CurrentSession(at, writerOf(e)); own && !now.State.Live() && p.book.MayEnter(e.Conversation, r) == nil {
			if err := p.book.MakeCurrent(ctx, at, writerOf(e), r.ID); err != nil {
				return chat.Answer{}, err
			}
		}
	}
	return chat.Do(func(ctx context.Context) error {
		if !known && e.Session != uuid.Nil {
			return p.Homeless(ctx, []string{e.Key})
		}
		return answerAll(ctx, p, t, was, q.answers[i], e, r, chosen)
	})
}

// answered shows the effect of an answer in its question. While a prompt waits for its session to
// be resumed, the question shows that.
func (p *Prompts) answered(ctx context.Context, a answer, e inbox.Entry, r port.Session, was facts, by int64) (err error) {
	says := a.became
	switch {
	case a == resumeAndSend && r.State.Live():
		says = i18n.SentAgain
	case a == sendTo && p.book.IsCurrent(e.Conversation, writerOf(e), r):
		says = i18n.SentAndCurrent
	}
	became := chat.Lines(p.Chat.In(e.Conversation).Text(says, i18n.Args{"Name": r.Name, "Command": was.Command}), p.Chat.By(e.Conversation, by))
	switch c, ok := p.cards.Get(e.Key); {
	case !ok || !c.Payload.isSame(was, e.Conversation): // it has a new question
	case a == resumeAndSend:
		c.Content.Text, c.Content.Hint, c.Content.Options, c.Content.Rank = c.Payload.after(became), render.Text{}, nil, 0
		err = p.cards.Show(ctx, e.Key, c.Content, facts{Reason: returning, Words: c.Payload.Words})
	default:
		err = p.close(ctx, e.Key, became)
	}
	return errors.Join(err, p.recount(ctx, r.ID))
}

// answer carries a decision out. The question shows the outcome, or stays after a failure.
func (p *Prompts) answer(ctx context.Context, t chat.Tap, was facts, a answer, e inbox.Entry, r port.Session) error {
	reaction := chat.ReactionStored
	if a == dropIt {
		reaction = chat.ReactionNone
	}
	p.Chat.React(ctx, e.Conversation, e.MessageID, reaction) // next comes the reaction of the queued prompt
	switch err := p.decide(ctx, a, e, r, was, t.From); {
	case chat.IsGone(err):
		err := p.Chat.ReplyToTap(ctx, t, p.Chat.In(t.To).Text(i18n.StaleButton))
		return errors.Join(err, p.close(ctx, t.Card.Key, render.Text{}))
	case errors.As(err, new(attachment.Refused)):
		return p.Chat.ReplyToTap(ctx, t, render.Plain(err.Error()))
	case err != nil:
		f := p.Chat.In(t.To).Failure(r, err)
		if f.Internal {
			return err
		}
		if err = p.Chat.ReplyToTap(ctx, t, f.Text); err != nil || !onlyUnable(e, r, was) {
			return err
		}
	default:
		if err := p.answered(ctx, a, e, r, was, t.From); err != nil {
			return err
		}
	}
	if a != resumeAndSend || r.State.Live() || p.book.MayEnter(e.Conversation, r) != nil {
		return nil
	}
	now, _ := p.book.CurrentSession(e.Conversation, t.From)
	_, err := p.Sessions.Resume(ctx, chat.Resume{Session: r, To: e.Conversation, From: t.From, Undo: now.ID != r.ID && now.State.Live()})
	return err
}
