package host

import (
	"context"
	"errors"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/hooks"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/port/talk"
)

// Decisions passes people's decisions to the hooks that wait for them. It implements the chat's
// port.
type Decisions struct {
	talk.RequestWaiters // see hooks.Relay
	Records             Records
}

var _ talk.DecisionRecords = Decisions{}

// Outcome reads the outcome of a request from its transcript.
func (d Decisions) Outcome(ctx context.Context, q talk.Request) (o talk.RequestOutcome, found bool, err error) {
	if q.Transcript == "" {
		return o, false, nil
	}
	o, found, err = transcript.FindOutcome(ctx, transcript.Sought{Path: q.Transcript, Subagent: q.SubagentID, From: q.Offset,
		Tool: q.Tool, Input: q.Input, At: q.RequestedAt})
	if errors.Is(err, fs.ErrNotExist) {
		return talk.RequestOutcome{}, false, nil
	}
	return o, found, err
}

// Answerers reads from the settings of a session's project what may answer in place of a person.
func (d Decisions) Answerers(_ context.Context, id uuid.UUID) []talk.Answerer {
	r, _ := d.Records.Get(id)
	return answerersOf(r)
}

// answerersOf returns everything in a session's project that may answer in place of a person. It
// returns nil for an agent in a mode that asks nothing.
func answerersOf(r session.Record) []talk.Answerer {
	if r.Dir == "" || r.Launch != nil && r.Launch.PermissionMode == hooks.ModeBypass {
		return nil
	}
	return hooks.ProjectAnswerers(r.Dir)
}
