package schedules

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/planned"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// FeatureName is the name of the feature.
const FeatureName = "schedules"

// Schedules shows the schedules of all sessions.
type Schedules struct {
	chat   *chat.Chat
	barred planned.Cards[uuid.UUID]
	all    port.Schedules
	exist  atomic.Bool                                                // there has been a schedule since the start
	brief  func(ctx context.Context, id uuid.UUID) (port.Work, error) // a session's known work
}

// New returns the Schedules of a chat. brief returns a session's known work.
func New(c *chat.Chat, all port.Schedules, brief func(ctx context.Context, id uuid.UUID) (port.Work, error)) *Schedules {
	s := &Schedules{chat: c, all: all, brief: brief}
	s.barred = planned.Cards[uuid.UUID]{Cards: chat.NewCards[uuid.UUID](c, barredKind), Chat: c, Act: s.actOn, Taken: i18n.ScheduleTaken, Removed: i18n.ScheduleGone}
	return s
}

// Feature describes the feature to the dispatcher.
func (s *Schedules) Feature() chat.Feature {
	return chat.Feature{Name: FeatureName, OnNews: s.report,
		Cards:    map[string]chat.OnTap{barredKind: s.barred.OnTap(s.barred.Tap)},
		Pages:    map[string]chat.Page{listPage: {Draw: s.draw, Do: s.act, Wordless: true}, askPage: {Draw: s.drawAsk, Do: s.cancel, Typed: s.typed, Own: true}},
		Commands: s.commands()}
}

func (s *Schedules) commands() []chat.Command {
	all := []chat.Command{s.command(once), s.command(every), s.chat.Pages.Command(listPage, listPage)}
	for i := range all {
		all[i].Once = s.exist.Load
	}
	return all
}

// list returns all schedules.
func (s *Schedules) list(ctx context.Context) ([]port.Schedule, error) {
	all, err := s.all.List(ctx)
	if len(all) > 0 {
		s.exist.Store(true)
	}
	return all, err
}

// words are the sentences about schedules in one language.
type words struct{ chat.Phrases }

// shownPrompt bounds the letters of a prompt in a line.
const shownPrompt = 200

// report posts the message about a run, or about the end of a schedule.
func (s *Schedules) report(ctx context.Context, r port.Session, n news.News) error {
	of, is := n.(news.Scheduled)
	if !is || !of.Report.Mentioned.IsZero() { // the list counts it
		return nil
	}
	var errs []error
	for _, to := range s.chat.Book.Seen(r.Conversation) {
		errs = append(errs, s.reportIn(ctx, to, r, of))
	}
	return errors.Join(errs...)
}

func (s *Schedules) reportIn(ctx context.Context, to outbox.Conversation, r port.Session, of news.Scheduled) error {
	w := words{s.chat.In(to)}
	key := i18n.ScheduleSent
	switch of.Report.Reason {
	case "":
		if of.Report.Late > 0 {
			key = i18n.ScheduleLate
		}
	case port.SkipEnded, port.SkipForgotten:
		key = i18n.ScheduleEnded
	case port.SkipClockBack:
		key = i18n.ScheduleClockBack
	default:
		key = i18n.ScheduleSkipped
	}
	text := w.Text(key, i18n.Args{"Name": r.Name, "Time": w.when(of.Schedule), "Said": w.prompt(of.Text), "At": w.At(of.Report.At),
		"Age": w.Age(of.Report.Late), "Reason": w.reason(r, of.Report)})
	if of.Report.Left > 0 {
		text = chat.Lines(text, w.Text(i18n.ScheduleLeft, i18n.Args{"Count": of.Report.Left}))
	}
	back := of.Report.Reason == port.SkipNotResumed || of.Report.Reason == port.SkipNotStarted
	look := card.Content{To: to, Session: r.ID, Text: text, Sounds: back && s.chat.Sounds(chat.LoopWaits, r)}
	look.Rank = outbox.Talk // replies pass it, and the answer to the prompt does not
	if back {
		look.Options, look.Rank = w.ResumeLink(r), outbox.Now
	}
	return s.chat.Post(ctx, look)
}

// when is the time of a schedule, as its person has written it.
func (w words) when(of port.Schedule) render.Text {
	return render.Code(chat.OneLine(glyph.Signs(of.When)))
}

// prompt is the beginning of a prompt in a line.
func (w words) prompt(text string) string { return chat.Head(chat.OneLine(text), shownPrompt) }

// reason is the reason for which a run of a session was skipped, or "".
func (w words) reason(of port.Session, r port.ScheduleReport) string {
	if r.Reason == "" {
		return ""
	}
	var refused refusal.Error
	if json.Unmarshal(r.Refusal, &refused) == nil && refused.Code != refusal.Internal {
		r.Detail = w.Failure(of, &refused).Text.Text
	}
	return w.Say(i18n.ScheduleKey.Of(string(r.Reason)), i18n.Args{"Detail": r.Detail})
}

// zone names a time zone.
func (w words) zone(name string) string {
	if name == conversation.MachineZone {
		return w.Say(i18n.ZoneMachine)
	}
	return name
}
