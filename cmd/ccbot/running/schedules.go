package running

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/control"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
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
	if why, unread := e.turns.store.Unread(id); unread {
		return r, false, fmt.Errorf("the record of the session was not read: %s", why)
	}
	return r, false, nil
}

// Keep implements schedule.Engine.
func (e scheduleEngine) Keep(ctx context.Context, id, key uuid.UUID, text string) error {
	return e.turns.keep(ctx, id, key, text, e.turns.lifecycle.Queues().Keep)
}

// Withdraw implements schedule.Engine.
func (e scheduleEngine) Withdraw(ctx context.Context, id, key uuid.UUID) error {
	return e.turns.Withdraw(ctx, id, key)
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

// Abilities implements schedule.Engine.
func (e scheduleEngine) Abilities(r session.Record) port.Abilities {
	return e.turns.coding.Of(r.AgentName).Abilities
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
func (e scheduleEngine) Tell(ctx context.Context, s schedule.Schedule, r port.ScheduleReport) error {
	of, known := e.turns.bot.Records.Get(s.Session)
	if !known {
		of = port.Session{Name: s.Name, Conversation: s.Conversation}
	}
	return e.turns.bot.SessionNews(ctx, of, news.Scheduled{Schedule: s.Schedule, Report: r})
}

// Scheduling makes a schedule. It needs the running bot.
var Scheduling = Change[port.ScheduleRequest, port.Schedule]{Verb: "schedule-add", keyed: true,
	do: func(ctx context.Context, s *system, body port.ScheduleRequest) (port.Schedule, error) {
		if body.Key == uuid.Nil || body.Session == uuid.Nil {
			return port.Schedule{}, control.Refuse(control.CodeMalformed, "not a schedule for a session")
		}
		made, err := s.schedules.Add(ctx, body)
		return made, refusedSchedule(err)
	}}

// Unscheduling removes a schedule. It needs the running bot.
var Unscheduling = Change[uuid.UUID, port.Schedule]{Verb: "schedule-remove", do: func(ctx context.Context, s *system, id uuid.UUID) (port.Schedule, error) {
	removed, err := s.schedules.Remove(ctx, uuid.Nil, id)
	return removed, refusedSchedule(err)
}}

// refusedSchedule makes a refusal readable at the socket.
func refusedSchedule(err error) error {
	if refusal.In(err).Code != refusal.Internal {
		return control.Refuse(control.CodeRefused, err.Error())
	}
	return err
}
