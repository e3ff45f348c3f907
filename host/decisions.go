package host

import (
	"context"
	"errors"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/bot/port/decisions"
	"ccbot/hooks"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// Relay is the part of hooks.Relay that this package uses. Its methods wait for nothing.
type Relay interface {
	Decide(id string, d decisions.Decision) error
	Leave(id string)
	Waiting(session uuid.UUID) []decisions.Request
}

// Decisions passes people's decisions to the hooks that wait for them. It implements the chat's
// port.
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
	return d.Relay.Decide(id, decision)
}

// Leave lets a waiting hook go.
func (d Decisions) Leave(_ context.Context, id string) { d.Relay.Leave(id) }

// Waiting returns the requests of a session that wait for a decision.
func (d Decisions) Waiting(_ context.Context, session uuid.UUID) []decisions.Request {
	return d.Relay.Waiting(session)
}

// Outcome reads the outcome of a request from its transcript.
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

// Answerers reads from the settings of a session's project what may answer in place of a person.
func (d Decisions) Answerers(_ context.Context, id uuid.UUID) []decisions.Answerer {
	r, _ := d.Records.Get(id)
	return answerersOf(r)
}

// answerersOf returns everything in a session's project that may answer in place of a person. For
// an agent in a mode that asks nothing there is none.
func answerersOf(r session.Record) []decisions.Answerer {
	if r.Dir == "" || r.Launch != nil && r.Launch.PermissionMode == hooks.ModeBypass {
		return nil
	}
	return hooks.ProjectAnswerers(r.Dir)
}
