package socket

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/bot/outbox"
	"ccbot/cmd/ccbot/exit"
	"ccbot/hooks"
	"ccbot/i18n"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
	"ccbot/internal/process"
	"ccbot/internal/watch"
	"ccbot/lifecycle/evidence"
	"ccbot/port/refusal"
)

// Socket answers what comes through ccbot.sock.
type Socket struct {
	Agents interface {
		AgentAbove(ctx context.Context, chain []process.Process) (evidence.Above, error)
		// Named reports with nil that the agent above a program has a conversation.
		Named(ctx context.Context, above evidence.Above, conversation uuid.UUID) error
	}
	Relay interface {
		Wait(ctx context.Context, by agent.Asks, q hooks.Request) (hooks.Decision, error)
	}
	Files interface {
		SendFile(ctx context.Context, session uuid.UUID, path, caption string) error
	}
	Watch    *watch.Watcher // reports that the socket was removed
	Coding   agent.Agents   // the known coding agents
	Hook     string         // path of our ccbot-hook
	Programs interface {
		// ExeDigest returns the digest of the program that a process runs, as the kernel has it.
		ExeDigest(id process.Identity) (string, error)
	}
	Scripts *Scripts // nil: a program without a terminal changes nothing
	Log     *slog.Logger

	now func() time.Time
}

// Change makes what a person has asked for.
type Change = func(ctx context.Context, body json.RawMessage) (any, error)

// handler serves a verb for a caller that is permitted.
type handler = func(ctx context.Context, who caller, c hookwire.Call) (any, error)

// Run serves all verbs at the socket of a folder until ctx ends, and calls listening when clients
// reach it. A person has to remove the cause of its error.
func (s Socket) Run(ctx context.Context, dir string, table control.Table, changes map[string]Change, listening func()) error {
	s.now = time.Now
	server := s.server(dir, table, changes)
	server.Listening = listening
	err := server.Run(ctx)
	switch {
	case errors.Is(err, control.ErrLongPath):
		return exit.Usage(fmt.Errorf("%w; choose a shorter CCBOT_DIR", err))
	case errors.Is(err, control.ErrNotASocket):
		return exit.Usage(err)
	}
	return err
}

func (s Socket) server(dir string, table control.Table, changes map[string]Change) *control.Server {
	server := control.NewServer(filepath.Join(dir, hookwire.SocketName), table, s.Log)
	server.Watch = s.Watch
	server.HandleWaiting(hookwire.VerbPermission, s.checked(s.permission))
	server.Handle(hookwire.VerbSend, s.checked(s.send))
	server.Handle(verbPing, s.checked(func(context.Context, caller, hookwire.Call) (any, error) { return struct{}{}, nil }))
	for verb, make := range changes {
		server.Handle(verb, s.checked(func(ctx context.Context, _ caller, c hookwire.Call) (any, error) { return make(ctx, c.Body) }))
	}
	return server
}

// Permitted returns an error if a program must not use a verb. The caller is identified by the
// kernel; the content of the call does not count. A program below an agent may only use the verbs
// for agents, and only for the agent's own session. All other verbs change something: the chain of
// parents of their caller must be known up to pid 1, and must show a terminal and no agent.
func Permitted(verb string, p control.Peer, above evidence.Above) error {
	forAgents := verb == hookwire.VerbPermission || verb == hookwire.VerbSend
	switch {
	case above.Found && above.Session == uuid.Nil:
		return control.Refuse(control.CodeForbidden, "the agent that asks is not in a session of this ccbot")
	case above.Found && !forAgents:
		return control.Refuse(control.CodeForbidden, "an agent may not do this")
	case above.Found:
		return nil
	case verb == hookwire.VerbSend:
		return control.Refuse(control.CodeForbidden, "no session of ccbot is above this program, so there is no chat to send to")
	case forAgents:
		return control.Refuse(control.CodeForbidden, "no session of ccbot is above this program")
	case !p.Whole: // every verb that is not named above changes something
		return errUnknown
	case p.Orphan() && slices.Contains(scriptVerbs, verb):
		return errNoTerminal
	case p.Orphan():
		return errUnknown
	}
	return nil
}

var (
	errUnknown    = control.Refuse(control.CodeForbidden, "the program that started this one is unknown; run it in a terminal")
	errNoTerminal = control.Refuse(control.CodeForbidden, "the program that started this one is unknown; run it in a terminal, "+
		"or set CCBOT_ALLOW_SCRIPTS=1 to let programs without one use new, send-prompt and resume")
)

// permitted is Permitted for this socket. script: the caller has no terminal, and the setting
// permits it all the same.
func (s Socket) permitted(verb string, p control.Peer, above evidence.Above) (script bool, err error) {
	err = Permitted(verb, p, above)
	if s.Scripts == nil || !errors.Is(err, errNoTerminal) || !slices.Contains(scriptVerbs, verb) {
		return false, err
	}
	return true, s.Scripts.permit(p)
}

// fromHook reports whether the peer is our hook as its agent runs it, with nothing but shells
// between it and the agent. Without this check another program below the agent could invent
// requests, and use up all places of the session. A hook that the agent itself runs from a tool's
// shell looks the same; it is allowed.
func (s Socket) fromHook(chain []process.Process, above evidence.Above) bool {
	if len(chain) == 0 || !s.isHook(chain[0], above.Hook) {
		return false
	}
	for _, p := range chain[1:] {
		if p.Identity == above.Agent {
			return true
		}
		if !slices.Contains(shells, filepath.Base(strings.TrimSuffix(p.Exe, replaced))) {
			return false
		}
	}
	return false
}

// isHook reports whether a process runs our hook: that of this ccbot, or the one with which the
// agent was launched. After an upgrade in another folder a running agent keeps its hook, which is
// known by the digest that was saved then. The digest is of the program that the process runs, and
// not of the file at a path, which may be another one.
func (s Socket) isHook(p process.Process, launched string) bool {
	if isProgram(p.Exe, s.Hook) {
		return true
	}
	if launched == "" {
		return false
	}
	digest, err := s.Programs.ExeDigest(p.Identity)
	if err != nil {
		s.Log.Warn("hook_unknown", logkey.PID, p.PID, logkey.Path, p.Exe, logkey.Error, err)
	}
	return err == nil && digest == launched
}

// replaced is the text that Linux appends to the path of an executable that no longer exists, as
// after an upgrade.
const replaced = " (deleted)"

// isProgram compares files, so that a link to the program counts as the program. A program that was
// replaced while it ran is compared by its path.
func isProgram(exe, program string) bool {
	if strings.TrimSuffix(exe, replaced) == program {
		return program != ""
	}
	return ownfile.Same(exe, program)
}

var shells = []string{"sh", "bash", "rbash", "dash", "ash", "zsh", "fish", "ksh", "ksh93", "mksh", "busybox", "toybox"}

// caller is the program at the socket, and the agent that it runs below.
type caller struct {
	process process.Identity
	chain   []process.Process
	above   evidence.Above
}

// checked serves a verb for the callers that are permitted.
func (s Socket) checked(serve handler) control.Handler {
	return func(ctx context.Context, p control.Peer, c hookwire.Call) (json.RawMessage, error) {
		above, err := s.Agents.AgentAbove(ctx, p.Chain)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Verb, err)
		}
		script, err := s.permitted(c.Verb, p, above)
		if err != nil {
			s.Log.Warn("control_refused", logkey.Verb, c.Verb, logkey.PID, p.PID, logkey.Why, err.Error())
			return nil, err
		}
		if script && c.Verb != verbPing {
			program := p.Chain[min(1, len(p.Chain)-1)] // ccbot itself is the first one
			s.Log.Info("script_call", logkey.Verb, c.Verb, logkey.PID, p.PID, logkey.Path, program.Exe)
			if err := s.Scripts.Report(ctx, c.Verb, sessionIn(c.Body), program); err != nil {
				return nil, fmt.Errorf("%s: %w", c.Verb, err)
			}
		}
		reply, err := serve(ctx, caller{p.Chain[0].Identity, p.Chain, above}, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Verb, err)
		}
		return json.Marshal(reply)
	}
}

// permission waits until a person has decided, or until no decision is needed: then the answer is
// empty and the terminal decides. A wait that ends with the connection, or with this program, has
// no answer at all: the hook asks again.
func (s Socket) permission(ctx context.Context, who caller, c hookwire.Call) (any, error) {
	if !s.fromHook(who.chain, who.above) {
		s.Log.Warn("control_refused", logkey.Verb, c.Verb, logkey.PID, who.process.PID, logkey.Why, "not our hook", logkey.Path, who.chain[0].Exe)
		return nil, control.Refuse(control.CodeForbidden, "only ccbot-hook, run by the agent, asks for a permission")
	}
	by := s.Coding.Of(who.above.AgentName)
	if by.Asks == nil {
		return nil, control.Refuse(control.CodeForbidden, "the agent that asks does so only in its terminal")
	}
	if !hookwire.IsRequestID(c.ID) {
		return nil, control.Refuse(control.CodeMalformed, "a request has an id of 22 letters")
	}
	ask, err := hookwire.ReadAsk(c.Body)
	if err != nil {
		return nil, control.Refuse(control.CodeMalformed, err.Error())
	}
	ask.Received = s.within(ask.Received)
	if conversation, err := uuid.Parse(ask.SessionID); err == nil { // NewRequest refuses any other id
		err := s.Agents.Named(ctx, who.above, conversation)
		if err != nil && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			s.Log.Warn("control_refused", logkey.Verb, c.Verb, logkey.PID, who.process.PID, logkey.Why, err.Error())
			return nil, control.Refuse(control.CodeForbidden, "the agent that asks has another conversation")
		}
		ask.TranscriptPath = by.Transcripts.Own(ask.TranscriptPath, conversation)
	}
	q, err := hooks.NewRequest(by.Asks, c.ID, who.above.Session, who.above.Agent, who.process, ask)
	if err != nil {
		return nil, control.Refuse(control.CodeMalformed, err.Error())
	}
	d, err := s.Relay.Wait(ctx, by.Asks, q)
	switch {
	case errors.Is(err, hooks.ErrRefused):
		return nil, control.Refuse(control.CodeRefused, err.Error())
	case err != nil:
		return nil, err
	case d == nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return hookwire.Answer{Decision: d}, nil
}

// oldestAsk is the greatest age that a request may claim: a little more than the time for which a
// hook looks for a ccbot that is being restarted. The card of a request that comes back later keeps
// its own time.
const oldestAsk = 15 * time.Minute

// within limits the time of a request, as stated by the hook, to a possible one. The outcome of the
// dialog is judged by this time, and a request from the future would never end.
func (s Socket) within(asked time.Time) time.Time {
	now := s.now().UTC()
	switch {
	case asked.After(now):
		return now
	case asked.Before(now.Add(-oldestAsk)):
		return now.Add(-oldestAsk)
	}
	return asked
}

// sendCall is the body of a send: an absolute path, and a text below the file.
type sendCall struct {
	Path    string `json:"path"`
	Caption string `json:"caption,omitempty"`
}

// send sends a file into the chat of the session that the caller runs in.
func (s Socket) send(ctx context.Context, who caller, c hookwire.Call) (any, error) {
	var body sendCall
	if err := json.Unmarshal(c.Body, &body); err != nil {
		return nil, control.Refuse(control.CodeMalformed, "not a path and a caption")
	}
	err := s.Files.SendFile(ctx, who.above.Session, body.Path, body.Caption)
	refused := refusal.In(err)
	if text, known := unsent[refused.Code]; known {
		if strings.HasSuffix(text, ": ") {
			text += refused.Reason
		}
		return nil, control.Refuse(control.CodeRefused, text)
	}
	return struct{}{}, err
}

// unsent are the reasons for an agent why its file is not sent; the system's reason follows a
// colon.
var unsent = map[refusal.Code]string{
	refusal.NotFound:       "there is no such session",
	refusal.WrongState:     "the session has ended",
	refusal.NotShown:       "no allowed person is left in the session's chat",
	refusal.CaptionTooLong: fmt.Sprintf("the caption has more than %d characters", outbox.MaxCaption),
	refusal.FileTooBig:     fmt.Sprintf("it has more than the %s that Telegram takes", i18n.Words{}.Size(outbox.MaxFile)),
	refusal.SentTooMany:    "a session may send ten files a minute; seconds to wait: ",
	refusal.NotTaken:       "Telegram does not take it: ",
	refusal.TookTooLong:    "Telegram did not take it in ten minutes, and I gave up",
	refusal.DirOutside:     "the session's folder lies outside of CCBOT_ROOTS",
	refusal.FileRelative:   "the path is not absolute",
	refusal.FileOwn:        "files of ccbot's own are never sent",
	refusal.FileOutside:    "it lies outside of the folder in which the session began: copy it into that folder first",
	refusal.FileLinked:     "the session's folder is reached through a link: nothing is sent from there",
	refusal.FileChanged:    "it changed just now",
	refusal.FileIrregular:  "it is not a regular file",
	refusal.FileNamed:      "it has more than one name, by a hard link: copy it first",
	refusal.FileEmpty:      "it is empty",
	refusal.FileMissing:    "there is no such file",
	refusal.FileUnreadable: "it cannot be read: ",
	refusal.Unreachable:    "the chat has not answered, and may still take it",
}
