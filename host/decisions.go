package host

import (
	"context"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// Decisions passes people's decisions to the hooks that wait for them. It implements the chat's
// port.
type Decisions struct {
	Relay
	Agents  agent.Agents
	Records Records
}

// Relay is the part of hooks.Relay that this package uses.
type Relay interface {
	Decide(ctx context.Context, id string, a talk.Answer) error
	Leave(ctx context.Context, id string)
	Waiting(ctx context.Context, session uuid.UUID) []talk.Request
}

var (
	_ talk.RequestWaiters  = Decisions{}
	_ talk.DecisionRecords = Decisions{}
)

// Decide passes an answer on. The id of a request is unique.
func (d Decisions) Decide(ctx context.Context, _ uuid.UUID, request string, a talk.Answer) error {
	return d.Relay.Decide(ctx, request, a)
}

// Leave releases a hook without a decision.
func (d Decisions) Leave(ctx context.Context, _ uuid.UUID, request string) error {
	d.Relay.Leave(ctx, request)
	return nil
}

// Waiting returns the waiting requests of a session.
func (d Decisions) Waiting(ctx context.Context, session uuid.UUID) ([]talk.Request, error) {
	return d.Relay.Waiting(ctx, session), nil
}

// Outcome reads the outcome of a request from its transcript.
func (d Decisions) Outcome(ctx context.Context, q talk.Request, a *talk.Answer) (o talk.RequestOutcome, found bool, err error) {
	if q.Transcript == "" {
		return o, false, nil
	}
	r, _ := d.Records.Get(q.Session)
	return d.Agents.Of(r.AgentName).Excerpts.Outcome(ctx, q, a)
}

// Answerers reads from the settings of a session's project what may answer in place of a person.
func (d Decisions) Answerers(_ context.Context, id uuid.UUID) ([]talk.Answerer, error) {
	r, _ := d.Records.Get(id)
	return answerersOf(d.Agents, r), nil
}

// answerersOf returns everything in a session's project that may answer in place of a person. It
// returns nil for an agent in a mode that asks nothing.
func answerersOf(agents agent.Agents, r session.Record) []talk.Answerer {
	in := agents.Of(r.AgentName).Answerers
	if in == nil || r.Dir == "" || r.Launch != nil && r.Launch.PermissionMode == agent.ModeBypass {
		return nil
	}
	return in(r.Folder())
}
