package host

import (
	"context"
	"errors"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/bot/port/decisions"
	"ccbot/bot/port/refusal"
	"ccbot/hooks"
	"ccbot/internal/transcript"
)

// Relay is what this package asks of hooks.Relay.
type Relay interface {
	Decide(id string, d hooks.Decision) error
	Leave(id string)
	Waiting(session uuid.UUID) []hooks.Request
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
func (d Decisions) Decide(id string, decision decisions.Decision) error {
	err := d.Relay.Decide(id, decision)
	if errors.Is(err, hooks.ErrNotWaiting) {
		return &refusal.Error{Code: refusal.NotFound, Err: err}
	}
	return err
}

// Leave lets a hook go without a decision.
func (d Decisions) Leave(id string) { d.Relay.Leave(id) }

// Waiting gives the requests of a session that wait, oldest first.
func (d Decisions) Waiting(session uuid.UUID) (all []decisions.Request) {
	for _, q := range d.Relay.Waiting(session) {
		all = append(all, q.Plain())
	}
	return all
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

// Answerers looks into the settings of a session's project. An agent in whose mode nothing is asked
// has none.
func (d Decisions) Answerers(session uuid.UUID) []decisions.Answerer {
	r, ok := d.Records.Get(session)
	if !ok || r.Launch != nil && r.Launch.PermissionMode == hooks.ModeBypass {
		return nil
	}
	return hooks.ProjectAnswerers(r.Dir)
}

// Requests hears of permission requests.
type Requests interface {
	Asked(ctx context.Context, q decisions.Request) error
	Left(ctx context.Context, q decisions.Request)
}

// Asks tells the chat what the hooks' relay tells.
type Asks struct{ Chat Requests }

// Asked tells a request that waits, or waits again.
func (a Asks) Asked(ctx context.Context, q hooks.Request) error { return a.Chat.Asked(ctx, q.Plain()) }

// Left tells that the hook of a request is gone without an answer.
func (a Asks) Left(ctx context.Context, q hooks.Request) { a.Chat.Left(ctx, q.Plain()) }
