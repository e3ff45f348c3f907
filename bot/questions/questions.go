package questions

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/attention"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
)

// Pins changes the pinned messages of a chat. Errors: see package outbox.
type Pins interface {
	Pin(ctx context.Context, at outbox.Conversation, message int) error
	Delete(ctx context.Context, at outbox.Conversation, message int) error
}

// Deps holds the dependencies of Questions.
type Deps struct {
	Chat        *chat.Chat
	Pins        Pins
	RemindAfter time.Duration // after which an unanswered question comes again; 0: never
	// Halt takes the queue of a session apart.
	Halt  func(ctx context.Context, session uuid.UUID) error
	Kinds map[string]Kind // of questions, by the kinds of their cards
}

// Questions brings open questions to people.
type Questions struct {
	Deps
	lines chat.Cards[line]
	links chat.Cards[questionRef]
	stops chat.Cards[stop]
	wake  chan struct{}

	mu       sync.Mutex
	answered []outbox.Conversation // the conversations of answered questions that people had stepped to
	refused  map[int64]bool        // chats in which the bot may not pin
}

// questionRef names a question that a message leads to.
type questionRef struct {
	Kind string `json:"kind"`
	Key  string `json:"key"`
}

// The kinds of the cards.
const (
	lineKind = "questions-line"
	linkKind = "question-link"
)

// New returns the questions of a chat, before the board runs.
func New(d Deps) *Questions {
	q := &Questions{Deps: d, lines: chat.NewCards[line](d.Chat, lineKind), links: chat.NewCards[questionRef](d.Chat, linkKind),
		stops: chat.NewCards[stop](d.Chat, stopKind),
		wake:  make(chan struct{}, 1), refused: make(map[int64]bool)}
	d.Chat.Cards.Changed = func() { pause.Poke(q.wake) }
	d.Chat.Cards.Stepped = func(at outbox.Conversation) {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.answered = append(q.answered, at)
		pause.Poke(q.wake)
	}
	return q
}

// Feature describes questions to the dispatcher.
func (q *Questions) Feature() chat.Feature {
	return chat.Feature{Name: "questions",
		Commands: []chat.Command{{Name: "waiting", Run: func(ctx context.Context, in chat.Incoming, _ string) error {
			return q.step(ctx, in.To, false) // the command itself is below the question
		}}},
		Cards: map[string]chat.OnTap{linkKind: q.links.OnTap(func(_ context.Context, t chat.Tap, was questionRef) (chat.Answer, error) {
			return q.after(t, was)
		}), stopKind: q.stops.OnTap(q.tapStop)},
		OnNews: func(context.Context, port.Session, news.News) error { pause.Poke(q.wake); return nil },
		Run:    q.run}
}

// open are the questions that people may see, the oldest first.
func (q *Questions) open() []card.Question {
	return slices.DeleteFunc(q.Chat.Cards.Questions(), func(one card.Question) bool { return !q.Chat.Book.MayShow(one.At) })
}

// Waits are the open sessions that wait for a person, the oldest question first.
func (q *Questions) Waits() []port.Session {
	all := slices.DeleteFunc(q.Chat.Book.Known(), func(r port.Session) bool {
		return !r.State.Live() || !attention.In(q.Chat, r, r.Now).Question
	})
	open := q.Chat.Cards.Questions()
	since := func(r port.Session) time.Time {
		if i := slices.IndexFunc(open, func(one card.Question) bool { return one.Session == r.ID }); i >= 0 {
			return open[i].WaitsSince
		}
		return r.NowSince // its terminal asks, and the chat has no card of that
	}
	slices.SortStableFunc(all, func(a, b port.Session) int { return since(a).Compare(since(b)) })
	return all
}

// Chosen brings the oldest open question of a session that a person has chosen in a conversation. A
// question that is the last message already stays there.
func (q *Questions) Chosen(ctx context.Context, from outbox.Conversation, session uuid.UUID) error {
	for _, one := range q.open() {
		if one.Session == session {
			return q.bring(ctx, from, one, false, true)
		}
	}
	return nil
}

// Again brings the oldest open question of a session below all other messages, and reports whether
// there is one.
func (q *Questions) Again(ctx context.Context, session uuid.UUID) (shown bool, err error) {
	for _, one := range q.open() {
		if one.Session == session {
			return q.again(ctx, one, nil, true)
		}
	}
	return false, nil
}

// Step shows in a conversation the oldest open question. Its answer, or a button, leads to the next
// one.
func (q *Questions) Step(ctx context.Context, from outbox.Conversation) error {
	return q.step(ctx, from, true)
}

// step is Step. A question stays in the last message if stays is set.
func (q *Questions) step(ctx context.Context, from outbox.Conversation, stays bool) error {
	all := q.open()
	if len(all) > 0 {
		return q.bring(ctx, from, all[0], len(all) > 1, stays)
	}
	p := q.Chat.In(from)
	if waits := q.Waits(); len(waits) > 0 { // its terminal asks, and the chat has no card of that
		r := waits[0]
		text := p.Text(i18n.QuestionInTerminal, i18n.Args{"Name": r.Name, "Command": render.Code(r.Attach)})
		return q.Chat.Post(ctx, card.Content{To: from, Session: r.ID, Text: text})
	}
	if _, err := q.Chat.Book.Records.List(); err != nil { // others may ask
		return q.Chat.Explain(ctx, from, p.Failure(port.Session{}, err))
	}
	return q.Chat.Say(ctx, from, p.Say(i18n.QuestionsNone))
}

// Next answers a tap on the button of a question that leads to the next one.
func (q *Questions) Next(t chat.Tap) (chat.Answer, error) {
	return q.after(t, questionRef{t.Card.Kind, t.Card.Key})
}

// after brings the question that comes after another one, the first one after the last.
func (q *Questions) after(t chat.Tap, was questionRef) (chat.Answer, error) {
	all := q.open()
	i := slices.IndexFunc(all, func(one card.Question) bool { return nameOf(one) == was })
	if len(all) == 0 || len(all) == 1 && i == 0 {
		return chat.Answer{Text: q.Chat.In(t.To).Say(i18n.QuestionsNoOther)}, nil
	}
	return chat.Do(func(ctx context.Context) error { return q.bring(ctx, t.To, all[(i+1)%len(all)], true, true) })
}

// bring shows a question at the end of its conversation, or in another conversation a link to it.
// steps: with a button that leads to the next one; stays: it stays where it is the last message.
func (q *Questions) bring(ctx context.Context, from outbox.Conversation, one card.Question, steps, stays bool) error {
	p := q.Chat.In(from)
	var next []card.Option
	if steps {
		next = []card.Option{p.Option(i18n.ButtonNextQuestion, chat.NextQuestion, "")}
	}
	if one.At == from {
		_, err := q.again(ctx, one, next, stays)
		return err
	}
	r, _ := q.Chat.Book.Records.Get(one.Session)
	text := p.Text(i18n.QuestionElsewhere, i18n.Args{"Name": r.Name})
	if link := q.Chat.LinkTo(one.At, one.Message); link != "" {
		text = render.Link(text, link)
	}
	return q.links.Post(ctx, card.Content{To: from, Session: r.ID, Text: text, Options: [][]card.Option{next}}, nameOf(one))
}

// again sends a question below all other messages. If stays is set, it stays where it is the last
// message of those whose ids are known.
func (q *Questions) again(ctx context.Context, one card.Question, below []card.Option, stays bool) (shown bool, err error) {
	last := stays && one.Message > 0 && q.Chat.Book.Newest(one.At) == one.Message
	note := render.Plain(q.Chat.In(one.At).Say(i18n.QuestionBelow))
	return q.Chat.Cards.Again(ctx, one.Kind, one.Key, card.Bring{Note: note, ExtraOptions: below, Stay: last})
}

// run keeps the pinned lines up to date, brings the next question after an answer, and reminds of
// unanswered ones.
func (q *Questions) run(ctx context.Context) error {
	wait := time.Duration(0)
	for pause.Until(ctx, wait, q.wake) || ctx.Err() == nil {
		q.mu.Lock()
		answered := q.answered
		q.answered = nil
		q.mu.Unlock()
		for _, at := range answered {
			if all := q.open(); len(all) > 0 {
				q.note(all[0].Session, q.bring(ctx, at, all[0], len(all) > 1, true))
			}
		}
		q.dropSteps(ctx)
		q.drawLines(ctx)
		wait = q.remind(ctx)
	}
	return nil
}

// dropSteps takes the button that leads to the next question off all messages from which no other
// question is left.
func (q *Questions) dropSteps(ctx context.Context) {
	all := q.open()
	other := func(name questionRef) bool {
		return slices.ContainsFunc(all, func(one card.Question) bool { return nameOf(one) != name })
	}
	for _, one := range all {
		if one.Steps && !other(nameOf(one)) {
			q.note(one.Session, q.Chat.Cards.DropExtraOptions(ctx, one.Kind, one.Key))
		}
	}
	for _, c := range q.links.List() {
		if !other(c.Payload) && c.Sent {
			q.note(c.Content.Session, q.links.Close(ctx, c.Key, c.Content.Text))
		}
	}
}

func (q *Questions) note(session uuid.UUID, err error) {
	if err != nil {
		q.Chat.Log.Error("question_not_brought", logkey.SessionID, session.String(), logkey.Error, err)
	}
}

const (
	maxReminders = 3
	quietPace    = time.Minute // between checks for the end of quiet hours
)

// remind brings the questions that are due once more with a sound, and returns the time until the
// next one is due.
func (q *Questions) remind(ctx context.Context) (wait time.Duration) {
	wait = pause.Forever
	if q.RemindAfter <= 0 {
		return wait
	}
	for _, one := range q.open() {
		left := dueIn(one, q.RemindAfter, time.Now())
		if left == pause.Forever {
			continue
		}
		at := port.Session{ID: one.Session, Conversation: one.At}
		switch {
		case left > 0:
		case !q.Chat.Sounds(chat.Reminder, at):
			left = quietPace
		default:
			note := render.Plain(q.Chat.In(one.At).Say(i18n.QuestionBelow))
			_, err := q.Chat.Cards.Again(ctx, one.Kind, one.Key, card.Bring{Note: note, Remind: true, Sounds: q.Chat.Sounds(chat.Reminder, at)})
			if q.note(one.Session, err); one.Reminded+1 < maxReminders {
				left = q.RemindAfter
			} else {
				continue
			}
		}
		wait = min(wait, left)
	}
	return wait
}

// dueIn is the time until a question comes again; 0: now, pause.Forever: never.
func dueIn(one card.Question, after time.Duration, now time.Time) time.Duration {
	if one.Reminded >= maxReminders || one.Message == 0 {
		return pause.Forever
	}
	return max(0, one.Brought.Add(after).Sub(now))
}
