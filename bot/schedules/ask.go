package schedules

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/refusal"
)

const askPage = "schedule"

// The commands, which are also the first words of their times.
const (
	once  = "at"
	every = "every"
)

// examples are times of a command, as people type them in any language.
var examples = map[string]string{once: "08:00 · tomorrow 9 · mon 18:30 · 2h", every: "9 · weekday 09:00 · mon,thu 18:30 · 2h"}

// wanted is the view of the question about a request that is not complete. The question keeps the
// words of the person.
type wanted struct {
	Session uuid.UUID    `json:"session"`
	Key     uuid.UUID    `json:"key"` // of the request
	Command string       `json:"command"`
	When    string       `json:"when,omitempty"` // with the command
	Text    string       `json:"text,omitempty"`
	Why     refusal.Code `json:"why,omitempty"` // of the last reply
	Over    bool         `json:"over,omitempty"`
}

// command makes a schedule from the words of /at or /every, or from the message that it answers.
func (s *Schedules) command(name string) chat.Command {
	return chat.Command{Name: name, Run: func(ctx context.Context, in chat.Incoming, args string) error {
		r, known := s.chat.Book.Target(in.Message, in.From)
		if !known {
			return s.chat.ReplyNone(ctx, in, "", nil)
		}
		message := fmt.Sprintf("%d %d %d", in.To.ChatID, in.MessageID, in.Sent.Unix())
		v := wanted{Session: r.ID, Key: uuid.NewSHA1(uuid.NameSpaceOID, []byte(message)), Command: name}
		next, err := s.add(ctx, v, in.From, "", name+" "+args, in.Answered, conversation.AskedAt(in.Sent, s.chat.Now()))
		if err != nil {
			return s.chat.Explain(ctx, in.To, s.chat.In(in.To).Failure(r, err))
		}
		return s.chat.Pages.Open(ctx, in, next)
	}}
}

// add makes a schedule of a person, and returns its address, or the address of the question about the missing
// part. If when is empty, the text begins with the time. answered is the text if text has only a
// time.
func (s *Schedules) add(ctx context.Context, v wanted, by int64, when, text, answered string, asked time.Time) (next string, err error) {
	r, _ := s.chat.Book.Records.Get(v.Session)
	q := port.ScheduleRequest{Key: v.Key, Session: v.Session, Asked: asked, When: when, Zone: s.chat.Book.ZoneOf(r.Conversation.ChatID), Text: text, By: by}
	of, err := s.all.Add(ctx, q)
	if refusal.Is(err, refusal.NoText) && answered != "" {
		q.When, q.Text = of.When, answered
		of, err = s.all.Add(ctx, q)
	}
	if err == nil {
		s.exist.Store(true)
	}
	switch v.Why = refusal.In(err).Code; v.Why {
	case refusal.NoText:
		v.When, v.Text = of.When, ""
	case refusal.TimeUnclear, refusal.TimePast, refusal.TimeNever, refusal.TimeOften:
		if v.When, v.Text = "", of.Text; of.When == "" && when == "" { // the text has the command
			v.Text = strings.TrimSpace(strings.TrimPrefix(of.Text, v.Command))
		}
		if v.Text == "" {
			v.Text = answered
		}
	default:
		return view{Schedule: of.ID}.address(), err
	}
	return chat.Address(askPage, v), nil
}

// questions are the questions about an incomplete request.
var questions = map[refusal.Code]i18n.Key{refusal.NoText: i18n.ScheduleAskText, refusal.TimeUnclear: i18n.ScheduleAskTime, refusal.TimePast: i18n.SchedulePast,
	refusal.TimeNever: i18n.ScheduleNever, refusal.TimeOften: i18n.ScheduleOften}

func (s *Schedules) drawAsk(_ context.Context, visit chat.Visit) (chat.Screen, error) {
	v, w := chat.ViewAt[wanted](visit.Rest), s.chat.In(visit.To)
	r, known := s.chat.Book.Records.Get(v.Session)
	key := questions[v.Why]
	switch {
	case !known:
		return chat.Screen{Text: render.Plain(w.Say(i18n.SessionGone))}, nil
	case v.Why == refusal.TimeUnclear && v.Text == "":
		key = i18n.ScheduleAsk
	}
	said := i18n.Args{"Name": r.Name, "Time": render.Code(v.When), "Example": render.Code(examples[v.Command])}
	text := render.Quote(glyph.Signs(v.Text)).Begin(shownText)
	if v.Over {
		return chat.Screen{Text: chat.Paragraphs(render.Plain(w.Say(i18n.Cancelled)), text), Session: r.ID}, nil
	}
	return chat.Screen{Text: chat.Paragraphs(w.Text(key, said), text), Options: chat.Rows(1, w.Option(i18n.ButtonCancel, "cancel", "")), Session: r.ID}, nil
}

// cancel ends the question.
func (s *Schedules) cancel(_ context.Context, visit chat.Visit, _ string) (chat.Answer, string, error) {
	v := chat.ViewAt[wanted](visit.Rest)
	v.Over = true
	return chat.Answer{}, chat.Address(askPage, v), nil
}

// typed takes the missing part from a reply to the question. Its time counts from the sending of
// the reply.
func (s *Schedules) typed(ctx context.Context, visit chat.Visit, reply string) (string, error) {
	v, sent := chat.ViewAt[wanted](visit.Rest), conversation.AskedAt(visit.Sent, s.chat.Now())
	switch timed := v.Command + " " + reply; {
	case v.Over || strings.TrimSpace(reply) == "":
		return "", chat.ErrNotTaken
	case v.When != "":
		return s.add(ctx, v, visit.By, v.When, reply, "", sent)
	case v.Text != "":
		return s.add(ctx, v, visit.By, timed, v.Text, "", sent)
	default:
		return s.add(ctx, v, visit.By, "", timed, "", sent)
	}
}
