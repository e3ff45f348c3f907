package running

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/control"
	"ccbot/internal/session"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// yieldToLeft pauses the loop of a session if a crash came after a person's prompt was kept, and
// before it was queued.
func yieldToLeft(ctx context.Context, loops *loop.Keeper, r session.Record, keys []string) {
	l, live := loops.Live(r.ID)
	if live && slices.ContainsFunc(keys, func(key string) bool { return key != talk.PromptKey(l.Key()) && !slices.Contains(r.Prompts, key) }) {
		loops.Yield(ctx, r.ID, "a prompt")
	}
}

// Looping begins a loop. It needs the running bot.
var Looping = Change[port.LoopRequest, port.Loop]{Verb: "loop-start", keyed: true, do: func(ctx context.Context, s *system, body port.LoopRequest) (l port.Loop, err error) {
	if body.Key == uuid.Nil || body.Session == uuid.Nil {
		return l, control.Refuse(control.CodeMalformed, "not a loop for a session")
	}
	ctx, done := s.Lasting(ctx)
	defer done()
	l, err = s.Loops.Start(ctx, body)
	return l, offline.ChatError(s.english(), port.Session{}, refusedLoop(err))
}}

// ChangingLoop changes a loop. It needs the running bot.
var ChangingLoop = Change[port.LoopChange, port.Loop]{Verb: "loop-change", do: func(ctx context.Context, s *system, body port.LoopChange) (port.Loop, error) {
	if body.Loop == uuid.Nil {
		return port.Loop{}, control.Refuse(control.CodeMalformed, "not a change of a loop")
	}
	ctx, done := s.Lasting(ctx)
	defer done()
	l, err := s.Loops.Change(ctx, body)
	return l, refusedLoop(err)
}}

// refusedLoop makes the errors that a person can act on readable at the socket.
func refusedLoop(err error) error {
	known := errors.Is(err, loop.ErrNoBound) || errors.Is(err, loop.ErrNoTask) || errors.Is(err, loop.ErrNoCheck) || errors.Is(err, loop.ErrNoWord) || errors.Is(err, loop.ErrBadBound) || errors.Is(err, loop.ErrBadPhase)
	if known || refusal.Is(err, refusal.LoopHeld, refusal.Changed, refusal.NoAgent) {
		return control.Refuse(control.CodeRefused, err.Error())
	}
	return err
}

// Scheduling makes a schedule. It needs the running bot.
var Scheduling = Change[port.ScheduleRequest, port.Schedule]{Verb: "schedule-add", keyed: true,
	do: func(ctx context.Context, s *system, body port.ScheduleRequest) (port.Schedule, error) {
		if body.Key == uuid.Nil || body.Session == uuid.Nil {
			return port.Schedule{}, control.Refuse(control.CodeMalformed, "not a schedule for a session")
		}
		if r, known := s.Store.Get(body.Session); known {
			body.Zone = s.bot.Book.ZoneOf(r.Conversation.ChatID)
		}
		made, err := s.Schedules.Add(ctx, body)
		return made, refusedSchedule(err)
	}}

// Unscheduling removes a schedule. It needs the running bot.
var Unscheduling = Change[uuid.UUID, port.Schedule]{Verb: "schedule-remove", do: func(ctx context.Context, s *system, id uuid.UUID) (port.Schedule, error) {
	removed, err := s.Schedules.Remove(ctx, uuid.Nil, id)
	return removed, refusedSchedule(err)
}}

// refusedSchedule makes a refusal readable at the socket.
func refusedSchedule(err error) error {
	if refusal.In(err).Code != refusal.Internal {
		return control.Refuse(control.CodeRefused, err.Error())
	}
	return err
}
