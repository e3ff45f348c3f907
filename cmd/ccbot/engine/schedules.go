package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/lifecycle/outcome"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/schedule"
)

// scheduleEngine implements schedule.Engine.
type scheduleEngine struct{ turns *loopEngine }

// Session implements schedule.Engine. A record that could not be read is not forgotten: a newer
// ccbot may read it, or a person may bring it back out of a backup.
func (e scheduleEngine) Session(id uuid.UUID) (session.Record, bool, error) {
	r, err := e.turns.Store.Whole(id)
	if !errors.Is(err, session.ErrNotFound) {
		return r, err == nil, err
	}
	if why, unread := e.turns.Store.Unread(id); unread {
		return r, false, fmt.Errorf("the record of the session was not read: %s", why)
	}
	return r, false, nil
}

// Keep implements schedule.Engine.
func (e scheduleEngine) Keep(ctx context.Context, id, key uuid.UUID, text string) error {
	return e.turns.keep(ctx, id, Planned{Key: key, Text: text, Waits: true})
}

// Withdraw implements schedule.Engine.
func (e scheduleEngine) Withdraw(ctx context.Context, id, key uuid.UUID) error {
	return e.turns.Withdraw(ctx, id, key)
}

// Kept implements schedule.Engine.
func (e scheduleEngine) Kept(key uuid.UUID) (bool, error) { return e.turns.Planned.Kept(key) }

// Outcome implements schedule.Engine.
func (e scheduleEngine) Outcome(ctx context.Context, r session.Record, key uuid.UUID, known *outcome.Prompt) (outcome.Outcome, outcome.Prompt, error) {
	return e.turns.Outcome(ctx, r, key, known)
}

// Resume implements schedule.Engine.
func (e scheduleEngine) Resume(ctx context.Context, id uuid.UUID) (refused *refusal.Error, err error) {
	s := e.turns.Engine
	r, known := s.Store.Get(id)
	if !known {
		return nil, session.ErrNotFound
	}
	if _, err = BringBack(ctx, s.Config, s.Lifecycle, r); err == nil {
		ReportOpened(ctx, s, id, true)
		return nil, nil
	}
	err = s.Sessions.Refused(err)
	if refused = refusal.In(err); refused.Code != refusal.Internal {
		return refused, nil
	}
	return nil, err
}

// ReportOpened reports to the chat a session that this machine has opened by itself. The session
// stays open if the report fails.
func ReportOpened(ctx context.Context, e *Engine, id uuid.UUID, back bool) {
	ctx, done := e.Lasting(ctx)
	defer done()
	r, _ := e.Views().Get(id)
	if err := e.Receipts.Chat.SessionNews(ctx, r, news.Opened{Back: back}); err != nil {
		e.Log.Error("opening_not_told", logkey.SessionID, id.String(), logkey.Error, err)
	}
}

// Abilities implements schedule.Engine.
func (e scheduleEngine) Abilities(r session.Record) port.Abilities {
	return e.turns.Coding.Of(r.AgentName).Abilities
}

// Looped implements schedule.Engine.
func (e scheduleEngine) Looped(id uuid.UUID) bool {
	_, live := e.turns.Loops.Live(id)
	return live
}

// Tell implements schedule.Engine.
func (e scheduleEngine) Tell(ctx context.Context, s schedule.Schedule, r port.ScheduleReport) error {
	of, known := e.turns.Views().Get(s.Session)
	if !known {
		of = port.Session{Name: s.Name, Conversation: s.Conversation}
	}
	return e.turns.Receipts.Chat.SessionNews(ctx, of, news.Scheduled{Schedule: s.Schedule, Report: r})
}
