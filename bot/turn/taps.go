package turn

import (
	"bytes"
	"context"
	"fmt"
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

// Buttons are what the buttons of a card do. Where one is nil there is no such button.
type Buttons struct {
	Stop    func(ctx context.Context, to address.Conversation, session uuid.UUID) error
	Compact func(ctx context.Context, to address.Conversation, session, once uuid.UUID) error // once: two taps are one
	Changes func(ctx context.Context, to address.Conversation, session uuid.UUID, since diffs.Since) error
	Queue   func(ctx context.Context, to address.Conversation, session uuid.UUID, asked int64) error
	Mode    func(ctx context.Context, to address.Conversation, session uuid.UUID, asked int64) error
	// Switch are links to other sessions, which Follow follows.
	Switch func(ctx context.Context, to address.Conversation, session uuid.UUID) [][]card.Option
	Follow func(ctx context.Context, t chat.Tap) (chat.Answer, error)
}

// What the options of a card do; any other value is that of a link.
const (
	stopOption    = "stop"
	compactOption = "compact"
	changesOption = "changes"
	queueOption   = "queue"
	modeOption    = "mode"
	detailsOption = "details"
)

// fullContext is from how many percent of the context on compacting it is offered.
const fullContext = 80

// fill puts what is shown of a turn into its look.
func (t *Turns) fill(look *card.Look, s *state, r views.Session, key string) {
	w := words{t.Chat.Phrases}
	look.Means = key
	option := func(has bool, word i18n.Key, value string, style outbox.Style, args ...i18n.Args) (all []card.Option) {
		if has {
			all = append(all, card.Option{Text: w.say(word, args...), Value: value, Style: style})
		}
		return all
	}
	b := t.Buttons
	if s.End != "" {
		look.Text = w.ended(s, r, look.To.ThreadID != 0)
		look.Options = chat.Rows(2, append(option(b.Changes != nil, i18n.ButtonChanges, changesOption, ""),
			option(true, i18n.ButtonDetails, detailsOption, "")...)...)
		return
	}
	look.Text = w.running(s, r)
	first := append(option(b.Stop != nil, i18n.ButtonStop, stopOption, outbox.Danger),
		option(b.Queue != nil && s.Waiting > 0, i18n.ButtonQueue, queueOption, "", i18n.Args{"Count": s.Waiting})...)
	first = append(first, option(b.Mode != nil, i18n.ButtonMode, modeOption, "")...)
	second := append(option(b.Changes != nil, i18n.ButtonChanges, changesOption, ""),
		option(b.Compact != nil && s.Context >= fullContext, i18n.ButtonCompact, compactOption, "")...)
	look.Options = append(chat.Rows(3, first...), chat.Rows(2, second...)...)
	if b.Switch != nil && look.To.ThreadID == 0 {
		look.Options = append(look.Options, b.Switch(context.Background(), look.To, r.ID)...)
	}
}

// tap does what a button says.
func (t *Turns) tap(ctx context.Context, tap chat.Tap, s state) (chat.Answer, error) {
	b, id := t.Buttons, s.Session
	switch tap.Card.Option {
	case stopOption:
		return chat.Do(func(ctx context.Context) error { return b.Stop(ctx, tap.To, id) })
	case queueOption:
		return chat.Do(func(ctx context.Context) error { return b.Queue(ctx, tap.To, id, tap.From) })
	case modeOption:
		return chat.Do(func(ctx context.Context) error { return b.Mode(ctx, tap.To, id, tap.From) })
	case changesOption:
		return chat.Do(func(ctx context.Context) error { return b.Changes(ctx, tap.To, id, s.since()) })
	case compactOption:
		once := uuid.NewSHA1(id, []byte(tap.Card.Key+compactOption))
		return chat.Do(func(ctx context.Context) error { return b.Compact(ctx, tap.To, id, once) })
	case detailsOption:
		return chat.Do(func(ctx context.Context) error { return t.details(ctx, tap, s) })
	}
	return b.Follow(ctx, tap)
}

// longDetails is from how many UTF-16 units on the steps of a turn are a file.
const longDetails = 3000

// details shows all steps of a turn that is over, as the transcript has them.
func (t *Turns) details(ctx context.Context, tap chat.Tap, s state) error {
	w := words{t.Chat.Phrases}
	r, _ := t.Chat.Book.Records.Get(s.Session)
	all, err := t.steps(ctx, s)
	if err != nil {
		t.Chat.Log.Warn("turn_unreadable", logkey.SessionID, s.Session.String(), logkey.Error, err.Error())
		return t.Chat.Tell(ctx, tap, w.say(i18n.TurnUnreadable))
	}
	if len(all) == 0 {
		return t.Chat.Tell(ctx, tap, w.say(i18n.TurnNoSteps))
	}
	title := w.say(i18n.TurnDetails, i18n.Args{"Name": r.Name, "Time": w.Moment(s.Began)})
	var lines []string
	for _, one := range all {
		lines = append(lines, one.Began.Local().Format("15:04:05 ")+w.step(one, views.Session{Dir: r.Dir}).Text)
	}
	text := strings.Join(lines, "\n")
	if page := render.Pre(text, ""); page.Length() <= longDetails {
		look := card.Look{To: tap.To, Text: chat.Lines(render.Bold(title), page), ReplyTo: tap.Message, Silent: true, Session: s.Session}
		return t.Chat.Post(ctx, look)
	}
	file := []byte(text + "\n")
	_, err = t.Upload(ctx, outbox.File{To: tap.To, Name: "steps.txt", Caption: render.Plain(title), Body: bytes.NewReader(file),
		Size: int64(len(file)), ReplyTo: tap.Message, Silent: true, Session: s.Session})
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
			if !isBehind(item.At, s.Behind) || item.Sidechain || item.Tool == nil {
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
