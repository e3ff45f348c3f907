package turn

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/port/diffs"
	"ccbot/bot/port/talk"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/logkey"
)

// Asked is what a tap asks for.
type Asked struct {
	To      address.Conversation
	From    int64
	Session uuid.UUID
	Since   diffs.Since // the work tree before the turn
	Once    uuid.UUID   // the same for all taps of the button
}

// Act does what a button says.
type Act func(ctx context.Context, a Asked) error

// Button is one that another feature acts on.
type Button string

// The buttons. Without an act there is none.
const (
	Stop    Button = "stop"
	Queue   Button = "queue"
	Mode    Button = "mode"
	Changes Button = "changes"
	Compact Button = "compact"
)

const detailsOption = "details"

// fullContext is from how many percent of the context on compacting it is offered.
const fullContext = 80

// fill puts what is shown of a turn into its look.
func (t *Turns) fill(look *card.Look, s *state, r views.Session, key string) {
	w := words{t.Chat.In(look.To)}
	look.Means = key
	var row []card.Option
	add := func(b Button, word i18n.Key, style outbox.Style, args ...i18n.Args) {
		if t.Acts[b] != nil {
			row = append(row, card.Option{Text: w.say(word, args...), Value: string(b), Style: style})
		}
	}
	if s.End != "" {
		look.Text = w.ended(s, r, look.To.ThreadID != 0)
		add(Changes, i18n.ButtonChanges, "")
		look.Options = chat.Rows(2, append(row, w.Option(i18n.ButtonDetails, detailsOption, ""))...)
		return
	}
	look.Text = w.running(s, r)
	add(Stop, i18n.ButtonStop, outbox.Danger)
	if s.Waiting > 0 {
		add(Queue, i18n.ButtonQueue, "", i18n.Args{"Count": s.Waiting})
	}
	add(Mode, i18n.ButtonMode, "")
	look.Options, row = chat.Rows(3, row...), nil
	add(Changes, i18n.ButtonChanges, "")
	if s.Context >= fullContext {
		add(Compact, i18n.ButtonCompact, "")
	}
	look.Options = append(look.Options, chat.Rows(2, row...)...)
}

// tap does what a button says.
func (t *Turns) tap(_ context.Context, tap chat.Tap, s state) (chat.Answer, error) {
	if tap.Card.Option == detailsOption {
		return chat.Do(func(ctx context.Context) error { return t.details(ctx, tap, s) })
	}
	asked := Asked{To: tap.To, From: tap.From, Session: s.Session, Since: s.since(),
		Once: uuid.NewSHA1(s.Session, []byte(tap.Card.Key+tap.Card.Option))}
	return chat.Do(func(ctx context.Context) error { return t.Acts[Button(tap.Card.Option)](ctx, asked) })
}

// longDetails is from how many UTF-16 units on the steps of a turn are a file.
const longDetails = 3000

// details shows all steps of a turn that is over, as the transcript has them.
func (t *Turns) details(ctx context.Context, tap chat.Tap, s state) error {
	w := words{t.Chat.In(tap.To)}
	r, _ := t.Chat.Book.Records.Get(s.Session)
	all, err := t.steps(ctx, s)
	if err != nil {
		t.Chat.Log.Warn("turn_unreadable", logkey.SessionID, s.Session.String(), logkey.Error, err.Error())
		return t.Chat.Tell(ctx, tap, w.Text(i18n.TurnUnreadable))
	}
	if len(all) == 0 {
		return t.Chat.Tell(ctx, tap, w.Text(i18n.TurnNoSteps))
	}
	title := w.say(i18n.TurnDetails, i18n.Args{"Name": r.Name, "Time": w.Moment(s.Began)})
	var lines []string
	for _, one := range all {
		lines = append(lines, one.Began.Local().Format("15:04:05 ")+w.step(one, views.Session{Dir: r.Dir}).Text)
	}
	text := strings.Join(lines, "\n")
	if page := render.Pre(text, ""); page.Length() <= longDetails {
		look := card.Look{To: tap.To, Text: chat.Lines(render.Bold(title), page), ReplyTo: tap.Message, Session: s.Session}
		return t.Chat.Post(ctx, look)
	}
	file := []byte(text + "\n")
	_, err = t.Upload(ctx, outbox.File{To: tap.To, Name: "steps.txt", Caption: render.Plain(title), Body: bytes.NewReader(file),
		Size: int64(len(file)), ReplyTo: tap.Message, Session: s.Session})
	return err
}

// steps reads the steps of a turn that is over again.
func (t *Turns) steps(ctx context.Context, s state) (all []step, err error) {
	now, cancel := context.WithCancel(ctx)
	cancel() // nothing is waited for
	at := make(map[string]int)
	for from := s.From; from.Path != "" && isBehind(from, s.Behind); {
		items, err := t.Transcripts.Next(now, s.Session, from, readAhead)
		if len(items) == 0 {
			if err == nil || now.Err() != nil && ctx.Err() == nil && len(all) > 0 {
				return all, nil
			}
			return nil, fmt.Errorf("steps of a turn: %w", err)
		}
		for _, item := range items {
			from = item.Next
			if !isBehind(item.At, s.Behind) || item.Sidechain || item.Tool == nil || slices.Contains(listTools, item.Tool.Name) {
				continue
			}
			switch i, known := at[item.Tool.ID]; {
			case item.Kind == talk.ToolUse:
				at[item.Tool.ID] = len(all)
				all = append(all, step{Line: item.Tool.Step, Began: item.Time})
			case known && item.Kind == talk.ToolResult:
				all[i].Ended, all[i].Failed = item.Time, item.Tool.Failed || item.Tool.Denied
			}
		}
	}
	return all, nil
}
