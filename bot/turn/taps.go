package turn

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/offer"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/talk"
)

// Button is one that another feature acts on.
type Button string

// The buttons. A button without an act is not shown.
const (
	Stop    Button = "stop"
	Queue   Button = "queue"
	Mode    Button = "mode"
	Ask     Button = "ask" // before each edit
	Changes Button = "changes"
	Compact Button = "compact"
	Rewind  Button = "rewind"
)

const (
	detailsOption = "details" // followed by a colon and a page of the steps; page 0: none
	pageSteps     = 40
)

// fullContext is from how many percent of the context on compacting it is offered.
const fullContext = 80

// fill sets the content of a turn's card.
func (t *Turns) fill(ctx context.Context, content *card.Content, s *state, r port.Session, key string) {
	w := words{t.Chat.In(content.To)}
	content.Means, content.Options = key, nil // a tap counts on any content of the card, see card.Content.Means
	var row []card.Option
	add := func(b Button, word i18n.Key, style outbox.Style, args ...i18n.Args) {
		if t.Actions[b] != nil {
			row = append(row, card.Option{Text: w.Say(word, args...), Value: string(b), Style: style})
		}
	}
	switch {
	case s.End == "":
		content.Text = w.running(s, r)
		add(Stop, i18n.ButtonStop, outbox.Danger)
		if n := len(s.waits); n > 0 {
			add(Queue, i18n.ButtonQueue, "", i18n.Args{"Count": n})
		}
		if r.Can.Switches() {
			add(Mode, i18n.ButtonMode, "")
		}
		content.Options, row = chat.Rows(3, row...), nil
		add(Changes, i18n.ButtonChanges, "")
		if s.Edits && r.Can.Switches() {
			add(Ask, i18n.ButtonAskAgain, "")
		}
		if s.Context >= fullContext && r.Can.Compact {
			add(Compact, i18n.ButtonCompact, "")
		}
	case s.Page > 0:
		var turns []card.Option
		content.Text, turns = t.details(ctx, w, s, r)
		content.Options = append(content.Options, turns)
		add(Changes, i18n.ButtonChanges, "")
		row = append(row, w.Option(i18n.ButtonBack, detailsOption+":0", ""))
	default:
		content.Text = w.ended(s, r, content.To.ThreadID != 0)
		if s.Again && r.Can.Compact && !r.Can.Prose {
			add(Rewind, i18n.ButtonRewind, "")
		}
		if s.isStuck(r) {
			add(Compact, i18n.ButtonCompact, "")
		}
		add(Changes, i18n.ButtonChanges, "")
		row = append(row, w.Option(i18n.ButtonDetails, detailsOption+":1", ""))
	}
	content.Options = append(content.Options, chat.Rows(2, row...)...)
}

// details returns a page of the steps of a finished turn, read from the transcript, and the arrows
// to other pages.
func (t *Turns) details(ctx context.Context, w words, s *state, r port.Session) (text render.Text, turns []card.Option) {
	title := render.Bold(w.Say(i18n.TurnDetails, i18n.Args{"Name": r.Name, "Time": w.Moment(s.Began)}))
	all, err := t.steps(ctx, s)
	if err != nil {
		t.Chat.Log.Warn("turn_unreadable", logkey.SessionID, s.Session.String(), logkey.Error, err)
	}
	switch {
	case err != nil, len(all) == 0 && s.Count > 0:
		return chat.Lines(title, w.Text(i18n.TurnUnreadable)), nil
	case len(all) == 0:
		return chat.Lines(title, w.Text(i18n.TurnNoSteps)), nil
	}
	part := card.PartOf(len(all), pageSteps, s.Page-1)
	lines := each.As(all[part.First:part.Last], func(one step) string {
		return w.Seconds(one.Began) + " " + w.step(one, r).Text
	})
	turns = part.Turns(func(page int) card.Option {
		return card.Option{Value: detailsOption + ":" + strconv.Itoa(page+1)}
	})
	return chat.Lines(title, render.Pre(strings.Join(lines, "\n"), ""), render.Plain(w.Place(part))), turns
}

// tap carries out a button. An action on one turn is not applied to the next turn.
func (t *Turns) tap(ctx context.Context, tap chat.Tap, s state) (chat.Answer, error) {
	what, value, _ := strings.Cut(tap.Card.Option, ":")
	if what == detailsOption {
		page, err := strconv.Atoi(value)
		if err != nil {
			page = 1
		}
		return chat.Do(func(ctx context.Context) error {
			return t.change(ctx, tap.Card.Key, outbox.Later, func(s *state) { s.Page = page })
		})
	}
	act, known := t.Actions[Button(what)]
	if !known {
		before := t.Chat.Book.CurrentID(tap.To, tap.From)
		return t.Others.Follow(ctx, tap, func(ctx context.Context) error {
			t.notify(s.Session, false, func(_ context.Context, o *tracker) { o.drawn, o.looked = card.Content{}, time.Time{} })
			now, some := t.Chat.Book.CurrentSession(tap.To, tap.From)
			if !some || now.ID == before {
				return nil
			}
			return t.Chat.Post(ctx, card.Content{To: tap.To, Session: now.ID, Text: t.Chat.NowCurrentText(tap.To, tap.From, now.Name)})
		})
	}
	in := chat.Incoming{Message: conversation.Message{To: tap.To}, From: tap.From, Since: s.since(), // all taps of a button have one key
		Key: talk.PromptKey(uuid.NewSHA1(s.Session, []byte(tap.Card.Key+tap.Card.Option)))}
	return chat.Do(func(ctx context.Context) error {
		if Button(what) == Stop { // the turn may have ended since the card was drawn: the next one is not meant
			t.catchUp(ctx, &s, func(item talk.Item) { s.take(item, t.Chat.Now()) })
			if s.End != "" {
				return nil // the card will show the end
			}
		}
		r, _ := t.Chat.Book.Records.Get(s.Session)
		r.ID = s.Session // which may be forgotten
		return act(ctx, in, r)
	})
}

// change applies do to the card of a finished turn. It reads the content first, then the card, and
// retries if the card changed in between.
func (t *Turns) change(ctx context.Context, key string, rank outbox.Rank, do func(s *state)) error {
	for {
		c, open := t.cards.Get(key)
		if !open || c.Payload.End == "" {
			return nil
		}
		was := c.Payload
		do(&c.Payload)
		r, _ := t.Chat.Book.Records.Get(was.Session)
		c.Content.Rank = rank
		t.fill(ctx, &c.Content, &c.Payload, r, key)
		if done, err := t.put(ctx, c, was); done || err != nil {
			return err
		}
	}
}

// put shows a card, unless the card has changed since was.
func (t *Turns) put(ctx context.Context, c card.Card[state], was state) (done bool, err error) {
	defer t.cards.Hold()()
	if now, open := t.cards.Get(c.Key); !open || !reflect.DeepEqual(now.Payload, was) {
		return !open, nil
	}
	return true, t.cards.Show(ctx, c.Key, c.Content, c.Payload)
}

// Prompts is the inbox. Add reports whether the key is new.
type Prompts interface {
	Add(e inbox.Entry) (fresh bool, err error)
	FinishIn(key string, state inbox.State) error
}

// Commanding queues a command of the agent's own. Two taps are one, and what is refused is not kept.
func Commanding(prompts Prompts, queue offer.Queue, command string) chat.OnSession {
	return func(ctx context.Context, in chat.Incoming, r port.Session) error {
		typed, class, _ := talk.Normalise("/" + command)
		e := inbox.Entry{Key: in.Key, State: inbox.Held, Session: r.ID, Conversation: in.To, By: in.From, Text: typed, Class: class}
		if fresh, err := prompts.Add(e); err != nil || !fresh {
			return err
		}
		err := queue.Queue(ctx, r.ID, e.Key)
		if err != nil && !chat.IsGone(err) {
			err = errors.Join(err, prompts.FinishIn(e.Key, inbox.Held))
		}
		return err
	}
}
