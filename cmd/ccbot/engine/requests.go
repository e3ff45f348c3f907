package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"ccbot/agent"
	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/pause"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// connectRequests brings the requests that the servers of agents make to the chat.
func (e *Engine) connectRequests() {
	for name, by := range e.Coding {
		if by.Requests != nil {
			by.Requests.Connect(func(ctx context.Context, o agent.Open) (json.RawMessage, error) { return e.waitWith(ctx, name, o) })
		}
	}
}

// bindInterval is the pause before another look for the record of a request: the server may not be
// bound yet.
const bindInterval = 5 * time.Second

// waitWith waits for the decision of a request. Until a live record has bound the server, and has
// the conversation, only the terminal shows it.
func (e *Engine) waitWith(ctx context.Context, name string, o agent.Open) (json.RawMessage, error) {
	by := e.Coding.Of(name)
	for {
		for _, r := range e.Store.List() {
			if cmp.Or(r.AgentName, agent.Default) == name && r.AgentSessionID == o.Conversation && r.State.Live() && serves(r, o) {
				q, err := requestOf(by, r, o)
				if err != nil {
					return nil, err
				}
				return e.Relay.Wait(ctx, by.Asks, q)
			}
		}
		if pause.For(ctx, bindInterval) != nil {
			return nil, nil // it was answered
		}
	}
}

func requestOf(by agent.Agent, r session.Record, o agent.Open) (hooks.Request, error) {
	ask := hookwire.Ask{Received: time.Now(), SessionID: o.Conversation.String(), Cwd: o.Dir, Tool: o.Tool, Input: o.Input}
	if path, err := by.Transcripts.Find(o.Conversation); err == nil { // without one there is no outcome yet
		end, _ := by.Transcripts.End(path) // its beginning will do
		ask.TranscriptPath, ask.TranscriptSize = path, end.Offset
	}
	return hooks.NewRequest(by.Asks, requestID(r.Binding.AgentServer, o.ID), r.ID, r.Binding.Agent, r.Binding.AgentServer, ask)
}

func serves(r session.Record, o agent.Open) bool {
	return r.Binding != nil && r.Binding.AgentServer.Valid() && r.Binding.AgentServer.PID == o.PID && r.Binding.AgentServer.Start == o.ProcStart
}

// requestID is the same whenever a server repeats a request, also after a restart of ccbot.
func requestID(server process.Identity, id string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", server.Text(), id))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
