package appserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"sync"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
)

// Requests passes the requests of the conversations that are watched on. It is the agent.Requests
// of Codex.
type Requests struct {
	Calls interface {
		// Patch returns the patch of the call of a tool; empty: it is not found.
		Patch(ctx context.Context, conversation uuid.UUID, call string) string
	}
	wait func(ctx context.Context, o agent.Open) (output json.RawMessage, err error)
}

// Input is the input of a request, for Asks and the rollout.
type Input struct {
	Call    string `json:"call"`
	Command string `json:"command,omitempty"`
	Patch   string `json:"patch,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// Connect sets the function that waits.
func (r *Requests) Connect(wait func(ctx context.Context, o agent.Open) (output json.RawMessage, err error)) {
	r.wait = wait
}

// waiting are the requests of a connection that wait for a decision.
type waiting struct {
	of     *Requests
	server process.Identity
	conn   *Conn
	thread Thread
	log    *slog.Logger
	ends   map[string]context.CancelFunc // by ids
	begun  map[string]string             // the patches of the turn's calls, by ids
	all    sync.WaitGroup
}

// note begins to wait for the request of an event, or ends a wait.
func (w *waiting) note(ctx context.Context, e Event) {
	if end := w.ends[e.Resolved]; end != nil {
		end()
		delete(w.ends, e.Resolved)
	}
	switch {
	case e.Patch != nil:
		w.begun[e.Patch.Call] = e.Patch.Text
	case e.Ended != "":
		clear(w.begun)
	}
	if q := e.Request; q != nil && !q.Beyond && w.of != nil && w.of.wait != nil && w.ends[q.ID] == nil {
		within, end := context.WithCancel(ctx)
		w.ends[q.ID] = end
		patch, known := w.begun[q.Call]
		if !known && q.Kind == AsksChange {
			patch = w.late(ctx, q.Call)
		}
		w.all.Go(func() { w.decide(within, *q, patch) })
	}
}

// late returns the patch of a call that had begun before the conversation was joined. The server repeats the requests to
// each connection that asks it, and note has each of them once.
func (w *waiting) late(ctx context.Context, call string) string {
	within, done := context.WithTimeout(ctx, readTimeout)
	defer done()
	patches, err := w.conn.begun(within, w.thread)
	if err != nil {
		w.log.Warn("permission_ask_failed", logkey.Error, err)
	}
	maps.Copy(w.begun, patches)
	return w.begun[call]
}

// decide waits for a decision. If the server does not know the patch of a change, the rollout has that of a call that no
// script has made.
func (w *waiting) decide(ctx context.Context, q Request, patch string) {
	in, o := Input{Call: q.Call, Command: q.Command, Reason: q.Reason}, agent.Open{PID: w.server.PID, ProcStart: w.server.Start, ID: q.ID, Dir: q.Dir}
	o.Conversation, _ = uuid.Parse(q.Thread) // it is the one that was joined
	if o.Tool = "Bash"; q.Kind == AsksChange {
		o.Tool = "apply_patch"
		if in.Patch = patch; patch == "" {
			in.Patch = w.of.Calls.Patch(ctx, o.Conversation, q.Call)
		}
		if in.Patch == "" { // the chat could not show it: the terminal decides
			w.log.Warn("permission_ask_failed", logkey.Error, "the patch of "+q.Call+" is unknown")
			return
		}
	}
	var choice Choice
	input, err := json.Marshal(in)
	if o.Input = input; err == nil {
		input, err = w.of.wait(ctx, o)
	}
	if err == nil && input != nil {
		if err = json.Unmarshal(input, &choice); err == nil {
			err = w.conn.Answer(ctx, q, choice)
		}
	}
	if err != nil && ctx.Err() == nil {
		w.log.Warn("permission_ask_failed", logkey.Error, err)
	}
}

// end ends all waits: the server repeats the requests to the next connection.
func (w *waiting) end() {
	for _, end := range w.ends {
		end()
	}
	w.all.Wait()
}
