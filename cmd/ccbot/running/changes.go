package running

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/bot/chat"
	"ccbot/bot/prompt"
	"ccbot/bot/sessions"
	"ccbot/bot/waiting"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/reply"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/socket"
	"ccbot/fleet/center"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/control"
	"ccbot/internal/glyph"
	"ccbot/internal/health"
	"ccbot/internal/logkey"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/recovery"
)

// changes are the verbs that the running bot carries out; one only looks.
func (s *system) changes() map[string]socket.Change {
	return map[string]socket.Change{Starting.Verb: Starting.by(s), Prompting.Verb: Prompting.by(s), Ending.Verb: Ending.by(s), Resuming.Verb: Resuming.by(s),
		Forgetting.Verb: Forgetting.by(s), Recovering.Verb: Recovering.by(s), figures.Verb: figures.by(s),
		Looping.Verb: Looping.by(s), ChangingLoop.Verb: ChangingLoop.by(s),
		Scheduling.Verb: Scheduling.by(s), Unscheduling.Verb: Unscheduling.by(s),
		OfferingHost.Verb: OfferingHost.by(s), AwaitingHost.Verb: AwaitingHost.by(s), DecidingHost.Verb: DecidingHost.by(s),
		ListingHosts.Verb: ListingHosts.by(s), RemovingHost.Verb: RemovingHost.by(s)}
}

// Start is a session that a person wants.
type Start struct {
	Key    uuid.UUID       `json:"key"` // of the request: it starts one session
	Name   string          `json:"name,omitempty"`
	Base   string          `json:"base"` // the person's folder
	Path   string          `json:"path,omitempty"`
	With   port.ModeChange `json:"with"`
	Agent  string          `json:"agent,omitempty"` // empty: Claude Code
	Prompt string          `json:"prompt,omitempty"`
}

// Started is a session that was started.
type Started struct {
	ID     uuid.UUID `json:"id"`
	Name   string    `json:"name"`
	Dir    string    `json:"dir"`
	Attach string    `json:"attach"` // the command that shows it
}

// Starting starts a session in the private chat of the first allowed person.
var Starting = Change[Start, Started]{Verb: "new", keyed: true, do: func(ctx context.Context, s *system, body Start) (did Started, err error) {
	if body.Key == uuid.Nil {
		return did, control.Refuse(control.CodeMalformed, "not a session")
	}
	ctx, done := s.Lasting(ctx)
	defer done()
	dir, err := s.Places.Resolve(ctx, body.Base, body.Path)
	if err != nil {
		return did, offline.ChatError(s.english(), port.Session{}, err)
	}
	if _, _, some := talk.Normalise(body.Prompt); body.Prompt != "" && !some {
		return did, errBlank
	}
	owner := s.owner.Load()
	r, err := sessions.CLI{Sessions: s.bot.Resumer}.Begin(ctx, address.Conversation{ChatID: owner},
		port.Start{Name: chat.NameOf(body.Name), Dir: dir, Owner: owner, Origin: talk.PromptKey(body.Key), With: body.With, Agent: body.Agent})
	if err != nil && r.State.Live() { // it runs, and the report to the chat failed
		s.Log.Error("beginning_not_told", logkey.SessionID, r.ID.String(), logkey.Error, err)
		err = nil
	}
	s.bot.Prompts.Chat.At("desk-begun")
	if err == nil && body.Prompt != "" {
		err = s.queue(ctx, body.Key, r, body.Prompt)
	}
	if err != nil {
		return did, offline.ChatError(s.english(), r, err)
	}
	return Started{ID: r.ID, Name: r.Name, Dir: r.Dir, Attach: r.Attach}, nil
}}

// Prompt is a text for a session.
type Prompt struct {
	Key     uuid.UUID `json:"key"` // of the prompt: it is sent once
	Session uuid.UUID `json:"session_id"`
	Text    string    `json:"text"`
}

// Queued is a prompt that waits in the queue of a session, or was answered.
type Queued struct {
	Session uuid.UUID `json:"session_id"`
	Name    string    `json:"name"`
	Prompt  string    `json:"prompt"` // its key in the inbox
	Answer  *string   `json:"answer,omitempty"`
}

var (
	errBlank     = control.Refuse(control.CodeRefused, "the prompt has no text to send")
	errForgotten = control.Refuse(control.CodeRefused, "the session has been forgotten")
)

// Prompting puts a prompt into the queue of a session. It is on disk before anything is reported.
var Prompting = Change[Prompt, Queued]{Verb: "prompt", keyed: true, do: func(ctx context.Context, s *system, body Prompt) (did Queued, err error) {
	if body.Key == uuid.Nil || body.Session == uuid.Nil {
		return did, control.Refuse(control.CodeMalformed, "not a prompt for a session")
	}
	r, ok := s.bot.Records.Get(body.Session)
	if !ok {
		return did, errForgotten
	}
	did = Queued{Session: r.ID, Name: r.Name, Prompt: talk.PromptKey(body.Key)}
	return did, offline.ChatError(s.english(), r, s.queue(ctx, body.Key, r, body.Text))
}}

// queue queues a prompt, even if who has sent it is gone.
func (s *system) queue(ctx context.Context, key uuid.UUID, r port.Session, text string) error {
	ctx, done := s.Lasting(ctx)
	defer done()
	err := prompt.CLI{Prompts: s.bot.Prompts, Add: s.inbox.Add}.Send(ctx, talk.PromptKey(key), r, text)
	if errors.Is(err, prompt.ErrBlank) {
		return errBlank
	}
	return err
}

// Typing is Prompting that also delivers the prompt to the agent, in time, if no bot runs to type
// it.
func Typing(p reply.Timeout) Change[Prompt, Queued] {
	send := Prompting
	send.timeout = p
	send.alone = func(ctx context.Context, s *system, q Queued) error {
		w := reply.Waiter{Dir: s.Dir, Agents: s.Coding, Watch: s.Watch, Ended: s.Table.Wait}
		typed := func(ctx context.Context) error { return w.Typed(ctx, q.Session, q.Prompt) }
		return p.Wait(ctx, q.Name, func(ctx context.Context) error {
			return reply.RunWith(ctx, typed, s.Watch.Run, s.Lifecycle.Run, s.Events.Run, s.FollowPresences)
		})
	}
	return send
}

// Ended is a session that was ended.
type Ended struct {
	ID      uuid.UUID  `json:"id"`
	Name    string     `json:"name"`
	State   port.State `json:"state"`
	Receipt string     `json:"receipt"` // the result in the chat's words
}

// Ending ends one launch of a session. It continues after its caller is gone.
var Ending = Change[sessions.End, Ended]{Verb: "archive", do: func(ctx context.Context, s *system, body sessions.End) (did Ended, err error) {
	if body.Session == uuid.Nil || body.Final != port.StateArchived && body.Final != port.StateCompleted {
		return did, control.Refuse(control.CodeMalformed, "not a session and how it ends")
	}
	ctx, done := s.Lasting(ctx)
	defer done()
	var r port.Session
	what, err := s.Receipts.Of(body.Session, func() (err error) {
		r, err = body.Make(ctx, s.Views(), s.Sessions)
		return err
	})
	if err != nil {
		return did, offline.ChatError(s.english(), r, err)
	}
	receipt := sessions.ReceiptText(s.english(), r, what, "", waiting.Lines(s.prompts.inbox.Load, r))
	return Ended{ID: r.ID, Name: r.Name, State: r.State, Receipt: offline.InTerminal(receipt.Text)}, nil
}}

// Forget names the session whose record is deleted.
type Forget struct {
	Session uuid.UUID `json:"session_id"`
}

// Forgetting deletes the record of an ended session, and all copies of it.
var Forgetting = Change[Forget, struct{}]{Verb: "forget", do: func(ctx context.Context, s *system, body Forget) (struct{}, error) {
	if body.Session == uuid.Nil {
		return struct{}{}, control.Refuse(control.CodeMalformed, "not the id of a session")
	}
	err := s.Forget(ctx, body.Session)
	if r, there := s.Store.Get(body.Session); there && errors.Is(err, archive.ErrNotEnded) {
		err = offline.NotEnded(s.english(), s.Coding, r)
	}
	if unread, ok := errors.AsType[*recovery.UnreadBackup](err); ok {
		err = control.Refuse(control.CodeRefused, fmt.Sprintf("the backup %s cannot be read (%v), so it may have a copy of the record: "+
			"remove the file, and forget the session again", unread.Path, unread.Err))
	}
	return struct{}{}, err
}}

// Recovering recovers in a running bot: without a bot, Make has already recovered.
var Recovering = Change[struct{}, show.Account]{Verb: "recover", do: func(ctx context.Context, s *system, _ struct{}) (show.Account, error) {
	if s.recoveredFor == nil {
		return s.RecoverAgain(ctx)
	}
	did := s.AccountOf(*s.recoveredFor)
	did.Purge = s.Purge(ctx)
	return did, nil
}}

// figures are the running bot's own, for `ccbot doctor`. They do not exist without a bot.
var figures = Change[struct{}, health.Figures]{Verb: "figures", do: func(ctx context.Context, s *system, _ struct{}) (health.Figures, error) {
	return s.health(ctx), nil
}}

// english returns the chat's sentences for a person in a terminal.
func (s *system) english() chat.Phrases {
	return chat.Phrases{Words: i18n.Load(glyph.Name).For("en"), Facts: chat.Facts{Places: s.Places, Now: time.Now, Dir: s.Dir}}
}

// Figures asks the running bot for its figures. A bot that is too old does not know the verb.
func Figures(ctx context.Context, dir string) (f health.Figures, err error) {
	ctx, cancel := context.WithTimeout(ctx, socket.ReplyTimeout)
	defer cancel()
	err = socket.Ask(ctx, dir, figures.Verb, struct{}{}, &f)
	return f, err
}

// hostChange is a verb about the fleet, which needs the running bot.
func hostChange[Body, Reply any](verb string, do func(ctx context.Context, c *center.Center, body Body) (Reply, error)) Change[Body, Reply] {
	return Change[Body, Reply]{Verb: verb, do: func(ctx context.Context, s *system, body Body) (Reply, error) {
		return inFleet(s, func(c *center.Center) (Reply, error) { return do(ctx, c, body) })
	}}
}

// inFleet does something with the fleet. Its error is for the person.
func inFleet[Reply any](s *system, do func(c *center.Center) (Reply, error)) (did Reply, err error) {
	c, err := s.fleet.open()
	if err == nil {
		did, err = do(c)
	}
	if err != nil {
		err = control.Refuse(control.CodeRefused, err.Error())
	}
	return did, err
}

// offerTimeout bounds how long OfferingHost waits for the hub.
const offerTimeout = 5 * time.Second

// candidateTimeout bounds one call of AwaitingHost, which its caller repeats.
const candidateTimeout = 20 * time.Second

// The verbs of `ccbot host`.
var (
	OfferingHost = hostChange("host-add", func(ctx context.Context, c *center.Center, name string) (Code, error) {
		ctx, stop := context.WithTimeout(ctx, offerTimeout)
		defer stop()
		text, until, err := c.Offer(ctx, name)
		return Code{text, until}, err
	})
	AwaitingHost = hostChange("host-candidate", func(ctx context.Context, c *center.Center, name string) (Candidate, error) {
		ctx, stop := context.WithTimeout(ctx, candidateTimeout)
		defer stop()
		found, err := c.Candidate(ctx, name)
		if errors.Is(err, context.DeadlineExceeded) {
			return Candidate{}, nil
		}
		return Candidate{found, err == nil}, err
	})
	DecidingHost = Change[Decision, Host]{Verb: "host-decide", do: func(ctx context.Context, s *system, d Decision) (Host, error) {
		if d.Code == "" {
			return Host{}, control.Refuse(control.CodeMalformed, "not a decision")
		}
		return inFleet(s, func(c *center.Center) (Host, error) {
			host, err := c.Decide(ctx, d.Code, d.Fingerprint, d.Admit)
			return Host{Name: host.Name, ID: host.ID, Until: host.Until}, err
		})
	}}
	ListingHosts = hostChange("host-list", func(_ context.Context, c *center.Center, _ struct{}) (all []Host, err error) {
		all = []Host{} // null is no list for a script
		for _, s := range c.List() {
			all = append(all, hostOf(s))
		}
		return all, nil
	})
	RemovingHost = hostChange("host-remove", func(ctx context.Context, c *center.Center, name string) (Host, error) {
		host, err := c.Remove(ctx, name)
		return Host{Name: host.Name, ID: host.ID, Server: c.Server()}, err
	})
)
