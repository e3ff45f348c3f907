package running

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/offline"
	"ccbot/i18n"
	"ccbot/internal/control"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/lifecycle/typing"
	"ccbot/port/refusal"
	"ccbot/port/talk"
	"ccbot/schedule"
)

// openPlans makes the parts that run loops and carry out schedules.
func openPlans(s *system, environ []string) (err error) {
	if s.loops, err = openLoops(s, environ); err == nil {
		s.schedules, err = openSchedules(s, environ)
	}
	return err
}

// openSchedules makes the part that carries out schedules.
func openSchedules(s *system, environ []string) (*schedule.Keeper, error) {
	k := &schedule.Keeper{Engine: scheduleEngine{&loopEngine{system: s}}, Now: time.Now, Log: s.log, Failpoint: Failpoint(environ)}
	return k, k.Open(offline.Schedules(s.Dir), filepath.Join(s.Dir, "quarantine"))
}

// scheduleEngine implements schedule.Engine with the parts of the running bot.
type scheduleEngine struct{ turns *loopEngine }

// Session implements schedule.Engine. A record that could not be read is not forgotten: a newer
// ccbot may read it, or a person may bring it back out of a backup.
func (e scheduleEngine) Session(id uuid.UUID) (session.Record, bool, error) {
	r, err := e.turns.store.Whole(id)
	if !errors.Is(err, session.ErrNotFound) {
		return r, err == nil, err
	}
	for _, a := range e.turns.store.Unloaded() {
		if a.ID == id {
			return r, false, fmt.Errorf("the record of the session was not read: %s", a.Why)
		}
	}
	return r, false, nil
}

// Keep implements schedule.Engine.
func (e scheduleEngine) Keep(ctx context.Context, id, key uuid.UUID, text string) error {
	r, ok := e.turns.store.Get(id)
	if !ok {
		return session.ErrNotFound
	}
	typed, class, ok := talk.Normalise(text)
	if !ok {
		return schedule.ErrNoText
	}
	name := inbox.PromptKey(key)
	if _, err := e.turns.inbox.Add(inbox.Entry{Key: name, State: inbox.Held, Session: id, Conversation: r.Conversation, Text: typed, Class: class}); err != nil {
		return err
	}
	err := e.turns.lifecycle.Queues().Keep(ctx, id, name)
	if errors.Is(err, typing.ErrNoPrompt) { // it is typed, or finished
		return nil
	}
	return err
}

// Kept implements schedule.Engine.
func (e scheduleEngine) Kept(key uuid.UUID) (bool, error) {
	name := inbox.PromptKey(key)
	_, err := e.turns.inbox.Load(name)
	if errors.Is(err, inbox.ErrNoEntry) {
		_, err = e.turns.inbox.Finished(name)
	}
	if errors.Is(err, inbox.ErrNoEntry) {
		return false, nil
	}
	return err == nil, err
}

// Outcome implements schedule.Engine.
func (e scheduleEngine) Outcome(ctx context.Context, r session.Record, key uuid.UUID, known *outcome.Prompt) (outcome.Outcome, outcome.Prompt, error) {
	return e.turns.Outcome(ctx, r, key, known)
}

// Resume implements schedule.Engine.
func (e scheduleEngine) Resume(ctx context.Context, id uuid.UUID) (refused string, err error) {
	s := e.turns.system
	r, known := s.store.Get(id)
	if !known {
		return "", session.ErrNotFound
	}
	if _, err = bringBack(ctx, s.Config, s.lifecycle, r); err == nil {
		s.reportResumed(ctx, id)
		return "", nil
	}
	err = s.sessions.Refused(err)
	if now, _ := s.bot.Records.Get(id); refusal.In(err).Code != "" {
		return s.bot.Chat.In(r.Conversation).Failure(now, err).Text.Text, nil
	}
	return "", err
}

// Looped implements schedule.Engine.
func (e scheduleEngine) Looped(id uuid.UUID) bool {
	_, live := e.turns.loops.Live(id)
	return live
}

// Zone implements schedule.Engine.
func (e scheduleEngine) Zone(to session.Conversation) string {
	return e.turns.bot.Chat.Book.ZoneOf(to.ChatID)
}

// Tell implements schedule.Engine.
func (e scheduleEngine) Tell(ctx context.Context, s schedule.Schedule, r schedule.Report) error {
	to, name := s.Conversation, s.Name
	about, known := e.turns.bot.Records.Get(s.Session)
	if known {
		to, name = about.Conversation, about.Name
	}
	c := e.turns.bot.Chat
	w := c.In(to)
	w.Now = func() time.Time { return time.Now().In(c.Book.Location(to.ChatID)) }
	said := i18n.Args{"Name": name, "Time": chat.OneLine(s.When), "Said": chat.Head(chat.OneLine(s.Text), shownPrompt), "At": w.At(r.At), "Age": w.Age(r.Late), "Left": r.Left}
	said["Reason"] = w.Say(i18n.ScheduleKey.Of(string(r.Reason)), i18n.Args{"Detail": r.Detail, "At": w.At(r.At)})
	key := i18n.ScheduleSent
	switch {
	case r.Reason == schedule.SessionEnded, r.Reason == schedule.Forgotten:
		key = i18n.ScheduleEnded
	case r.Reason == schedule.ClockBack:
		key = i18n.ScheduleClockBack
	case r.Reason != "":
		key = i18n.ScheduleSkipped
	case r.Late > 0:
		key = i18n.ScheduleLate
	}
	text := w.Text(key, said)
	if r.Left > 0 {
		text = chat.Lines(text, w.Text(i18n.ScheduleLeft, i18n.Args{"Count": r.Left}))
	}
	return c.Post(ctx, card.Content{To: to, Session: s.Session, Text: text, Sounds: r.Reason != "" && c.Sounds(chat.TurnDone, about)})
}

// shownPrompt bounds the letters of a prompt in a report.
const shownPrompt = 200

// Scheduling makes a schedule. It needs the running bot.
var Scheduling = Change[schedule.Request, schedule.Schedule]{Verb: "schedule-add", keyed: true,
	do: func(_ context.Context, s *system, body schedule.Request) (schedule.Schedule, error) {
		if body.Key == uuid.Nil || body.Session == uuid.Nil {
			return schedule.Schedule{}, control.Refuse(control.CodeMalformed, "not a schedule for a session")
		}
		made, err := s.schedules.Add(body)
		return made, refusedSchedule(err)
	}}

// Unscheduling removes a schedule. It needs the running bot.
var Unscheduling = Change[uuid.UUID, schedule.Schedule]{Verb: "schedule-remove", do: func(_ context.Context, s *system, id uuid.UUID) (schedule.Schedule, error) {
	removed, err := s.schedules.Remove(id)
	return removed, refusedSchedule(err)
}}

// refusedSchedule makes the errors that a person can act on readable at the socket.
func refusedSchedule(err error) error {
	for _, known := range []error{schedule.ErrWhen, schedule.ErrPast, schedule.ErrNever, schedule.ErrOften, schedule.ErrNotFound, schedule.ErrNoSession, schedule.ErrNoText} {
		if errors.Is(err, known) {
			return control.Refuse(control.CodeRefused, known.Error())
		}
	}
	return err
}
