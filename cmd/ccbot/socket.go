package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/bot"
	"ccbot/hooks"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/lifecycle"
)

// socket answers what comes through ccbot.sock.
type socket struct {
	agents interface {
		AgentAbove(ctx context.Context, chain []process.Process) (lifecycle.Above, error)
	}
	relay interface {
		Wait(ctx context.Context, q hooks.Request) (hooks.Decision, bool, error)
	}
	files interface {
		SendFile(ctx context.Context, session uuid.UUID, path, caption string) (asked bool, err error)
	}
	log *slog.Logger
}

// server is the control socket with all its verbs.
func (s socket) server(dir string, table control.Table) *control.Server {
	server := control.NewServer(filepath.Join(dir, hookwire.SocketName), table, s.log)
	server.Handle(hookwire.VerbPermission, s.checked(s.permission))
	server.Handle(hookwire.VerbSend, s.checked(s.send))
	return server
}

// serveSocket runs the control socket. What is in its way is for a person to
// mend.
func (s *system) serveSocket(ctx context.Context) error {
	err := s.socket.Run(ctx)
	switch {
	case errors.Is(err, control.ErrLongPath):
		return usage(fmt.Errorf("%w; choose a shorter CCBOT_DIR", err))
	case errors.Is(err, control.ErrNotASocket):
		return usage(err)
	}
	return err
}

// Codes of what the socket refuses.
const (
	codeForbidden = "forbidden" // not this verb for this program
	codeRefused   = "refused"   // not this
	codeMalformed = control.CodeMalformed
)

func refuse(code, text string) error { return &control.Refusal{Code: code, Text: text} }

// permitted says for which program a verb is served. Who calls is what the kernel
// says; what the call says counts for nothing. Below an agent there are only the
// verbs that are for agents, and for its own session. All others change something,
// and need a way up to pid 1 that shows a terminal and no agent.
func permitted(verb string, p control.Peer, above lifecycle.Above) error {
	forAgents := verb == hookwire.VerbPermission || verb == hookwire.VerbSend
	switch {
	case above.Found && above.Session == uuid.Nil:
		return refuse(codeForbidden, "the agent that asks is not in a session of this ccbot")
	case above.Found && !forAgents:
		return refuse(codeForbidden, "an agent may not do this")
	case above.Found:
		return nil
	case verb == hookwire.VerbSend:
		return refuse(codeForbidden, "no session of ccbot is above this program, so there is no chat to send to")
	case forAgents:
		return refuse(codeForbidden, "no session of ccbot is above this program")
	case !p.Whole, p.Orphan():
		return refuse(codeForbidden, "it cannot be told who has started this program; run it in a terminal")
	}
	return nil
}

// caller is who calls: the program at the socket, and the agent that it runs
// below.
type caller struct {
	process process.Identity
	above   lifecycle.Above
}

// checked serves a verb for those who may.
func (s socket) checked(serve func(context.Context, caller, hookwire.Call) (any, error)) control.Handler {
	return func(ctx context.Context, p control.Peer, c hookwire.Call) (json.RawMessage, error) {
		above, err := s.agents.AgentAbove(ctx, p.Chain)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Verb, err)
		}
		if err := permitted(c.Verb, p, above); err != nil {
			s.log.Warn("control_refused", "verb", c.Verb, "pid", p.PID, "why", err.Error())
			return nil, err
		}
		reply, err := serve(ctx, caller{p.Chain[0].Identity, above}, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Verb, err)
		}
		return json.Marshal(reply)
	}
}

// permission waits until a person has decided, or nobody needs to any more: then
// the answer is empty and the terminal decides. A wait that ends with the
// connection, or with this program, has no answer at all: the hook asks again.
func (s socket) permission(ctx context.Context, who caller, c hookwire.Call) (any, error) {
	if !hookwire.IsRequestID(c.ID) {
		return nil, refuse(codeMalformed, "a request has an id of 22 letters")
	}
	ask, err := hookwire.ReadAsk(c.Body)
	if err != nil {
		return nil, refuse(codeMalformed, err.Error())
	}
	q, err := hooks.NewRequest(c.ID, who.above.Session, who.above.Agent, who.process, ask)
	if err != nil {
		return nil, refuse(codeMalformed, err.Error())
	}
	d, decided, err := s.relay.Wait(ctx, q)
	switch {
	case errors.Is(err, hooks.ErrRefused):
		return nil, refuse(codeRefused, err.Error())
	case err != nil:
		return nil, err
	case !decided && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case !decided:
		return hookwire.Answer{}, nil
	}
	raw, err := json.Marshal(d)
	return hookwire.Answer{Decision: raw}, err
}

// sendCall is the body of a send: an absolute path, and a text below the file.
type sendCall struct {
	Path    string `json:"path"`
	Caption string `json:"caption,omitempty"`
}

// sendReply says what became of it.
type sendReply struct {
	Asked bool `json:"asked"` // a person has to say yes first
}

// send sends a file into the chat of the session that the caller runs in.
func (s socket) send(ctx context.Context, who caller, c hookwire.Call) (any, error) {
	var body sendCall
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return nil, refuse(codeMalformed, "not a path and a caption")
	}
	asked, err := s.files.SendFile(ctx, who.above.Session, body.Path, body.Caption)
	if refusal := (*bot.FileRefusal)(nil); errors.As(err, &refusal) {
		return nil, refuse(codeRefused, refusal.Text)
	}
	return sendReply{Asked: asked}, err
}
