package host

import (
	"context"
	"errors"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/bot/port/decisions"
	"ccbot/bot/port/refusal"
	"ccbot/hooks"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// Relay is what this package asks of hooks.Relay, which waits for nothing.
type Relay interface {
	Decide(id string, d decisions.Decision) error
	Leave(id string)
	Waiting(session uuid.UUID) []decisions.Request
}

// Decisions gives the hooks that wait what people decide. It implements the chat's port.
type Decisions struct {
	Relay   Relay
	Records Records
}

var (
	_ decisions.Waiters = Decisions{}
	_ decisions.Records = Decisions{}
)

// Decide gives a waiting hook a decision.
func (d Decisions) Decide(_ context.Context, id string, decision decisions.Decision) error {
	err := d.Relay.Decide(id, decision)
	if errors.Is(err, hooks.ErrNotWaiting) {
		return &refusal.Error{Code: refusal.NotFound, Err: err}
	}
	return err
}

// Leave lets a waiting hook go.
func (d Decisions) Leave(_ context.Context, id string) { d.Relay.Leave(id) }

// Waiting are the requests of a session that wait.
func (d Decisions) Waiting(_ context.Context, session uuid.UUID) []decisions.Request {
	return d.Relay.Waiting(session)
}

// Outcome looks in the transcript of a request what became of it.
func (d Decisions) Outcome(ctx context.Context, q decisions.Request) (o decisions.Outcome, found bool, err error) {
	if q.Transcript == "" {
		return o, false, nil
	}
	out, found, err := transcript.FindOutcome(ctx, transcript.Sought{Path: q.Transcript, Subagent: q.SubagentID, From: q.Offset,
		Tool: q.Tool, Input: q.Input, At: q.Asked})
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	return decisions.Outcome{ByHook: out.ByHook, Done: out.Done, Denial: out.Denial, Text: out.Text, Interrupted: out.Interrupted}, found, err
}

// Answerers looks into the settings of a session's project.
func (d Decisions) Answerers(_ context.Context, id uuid.UUID) []decisions.Answerer {
	r, _ := d.Records.Get(id)
	return answerersOf(r)
}

// answerersOf are what in a session's project may answer. An agent in whose mode nothing is asked has none.
func answerersOf(r session.Record) []decisions.Answerer {
	if r.Dir == "" || r.Launch != nil && r.Launch.PermissionMode == hooks.ModeBypass {
		return nil
	}
	return hooks.ProjectAnswerers(r.Dir)
}
