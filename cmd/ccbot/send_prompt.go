package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"ccbot/bot/inbox"
	"ccbot/bot/port/views"
	"ccbot/bot/prompt"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/reply"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/process"
	"ccbot/internal/watch"
)

// promptCall is a text for a session.
type promptCall struct {
	Key     uuid.UUID `json:"key"` // of the prompt: it is sent once
	Session uuid.UUID `json:"session_id"`
	Text    string    `json:"text"`
}

// queued is a prompt that waits in the queue of a session, or was answered.
type queuedPrompt struct {
	Session uuid.UUID `json:"session_id"`
	Name    string    `json:"name"`
	Prompt  string    `json:"prompt"` // its key in the inbox
	Answer  *string   `json:"answer,omitempty"`
}

var errBlank = refuse(codeRefused, "the prompt has no text to send")

// prompting puts a prompt into the queue of a session. It is on disk before anything is said of it.
var prompting = change[promptCall, queuedPrompt]{verb: "prompt", keyed: true, do: func(ctx context.Context, s *system, body promptCall) (queuedPrompt, error) {
	if body.Key == uuid.Nil || body.Session == uuid.Nil {
		return queuedPrompt{}, refuse(codeMalformed, "not a prompt for a session")
	}
	r, ok := s.bot.Records.Get(body.Session)
	if !ok {
		return queuedPrompt{}, refuse(codeRefused, "the session is forgotten by now")
	}
	did := queuedPrompt{Session: r.ID, Name: r.Name, Prompt: inbox.PromptKey(body.Key)}
	if err := s.queue(ctx, body.Key, r, body.Text); err != nil {
		return queuedPrompt{}, asTheChatSays(s.english(), r, err)
	}
	return did, nil
}}

// queue queues a prompt, even if who has sent it is gone.
func (s *system) queue(ctx context.Context, key uuid.UUID, r views.Session, text string) error {
	ctx, done := s.lasting(ctx)
	defer done()
	err := prompt.Desk{Prompts: s.bot.Prompts, Add: s.inbox.Add}.Send(ctx, inbox.PromptKey(key), r, text)
	if errors.Is(err, prompt.ErrBlank) {
		return errBlank
	}
	return err
}

// typed runs the parts that drive agents until one has a prompt: no bot does it.
func (s *system) typed(ctx context.Context, q queuedPrompt) error {
	w := reply.Waiter{Dir: s.Dir, Claude: s.ClaudeDir, Watch: s.watch, Ended: s.table.Wait}
	return beside(ctx, func(ctx context.Context) error { return w.Typed(ctx, q.Session, q.Prompt) },
		s.watch.Run, s.lifecycle.Run, s.events.Run, s.presence.Run)
}

// answerTo waits for the answer to a prompt, and only reads. alone: no bot drives the agent.
func answerTo(ctx context.Context, c config.Config, q queuedPrompt, alone bool) (text string, err error) {
	room := watch.New(slog.New(slog.DiscardHandler))
	w := reply.Waiter{Dir: c.Dir, Claude: c.ClaudeDir, Watch: room}
	if alone {
		table, err := process.NewTable()
		if err != nil {
			return "", err
		}
		w.Ended = table.Wait
	}
	err = beside(ctx, func(ctx context.Context) (err error) { text, err = w.Wait(ctx, q.Session, q.Prompt); return err }, room.Run)
	return text, err
}

// beside runs parts for as long as fn takes.
func beside(ctx context.Context, fn func(context.Context) error, parts ...func(context.Context) error) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for _, part := range parts {
		g.Go(func() error { return part(ctx) })
	}
	g.Go(func() error {
		defer stop()
		err = fn(ctx)
		return nil
	})
	if failed := g.Wait(); failed != nil && !errors.Is(failed, context.Canceled) {
		return failed
	}
	return err
}

// patience is how long a command waits in all; 0: as long as it takes.
type patience struct {
	most  time.Duration
	since time.Time
}

func (p patience) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if p.most == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, p.since.Add(p.most))
}

// wait waits with fn for a session. The prompt stays where it is when the wait ends early.
func (p patience) wait(ctx context.Context, name string, fn func(context.Context) error) error {
	ctx, stop := p.bound(ctx)
	defer stop()
	err := fn(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s has not answered in %s; the prompt stays", name, p.most)
	case errors.Is(err, context.Canceled):
		return errors.New("not waited for the answer; the prompt stays")
	}
	return err
}

// promptOptions are the flags of `ccbot send-prompt`.
type promptOptions struct {
	wait, asJSON bool
	timeout      time.Duration
}

func sendPromptCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var o promptOptions
	cmd := &cobra.Command{Use: "send-prompt NAME|ID TEXT|-", Short: "Send a prompt to a session, and wait for the answer",
		Long: `Send a prompt to a session that is open, as a message of its chat is sent: it waits in
the same queue, and is on disk before the command says so. - reads it from the standard
input. With --wait the command ends with the agent's turn, and prints what the agent has
said at its end, in Markdown. Where there is no such text (the turn was stopped or has
failed, the agent asks for something, the session is over) it says so and ends with 1.
Ctrl-C ends only the wait. Where no bot runs, --wait types the prompt itself, unless
the agent is busy.`,
		Example: "  ccbot send-prompt api 'run the tests'\n  git diff | ccbot send-prompt api - --wait --timeout 10m",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 || args[0] == "" {
				return exit.Usage(errors.New("say which session and what: ccbot send-prompt NAME|ID TEXT; quote a text with blanks"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.timeout != 0 && !o.wait {
				return exit.Usage(errors.New("--timeout goes with --wait"))
			}
			text, err := given(args[1], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return sendPrompt(cmd.Context(), environ, args[0], text, o, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait for the answer, and print it")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "wait at most so long, such as 10m; the prompt stays")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	return cmd
}

func sendPrompt(ctx context.Context, environ []string, what, text string, o promptOptions, stdout, stderr io.Writer) error {
	d, err := openDesk(environ, stderr)
	if err != nil {
		return err
	}
	r, err := d.find(what, func(r views.Session) bool { return r.Live })
	if err != nil {
		return err
	}
	send, patient := prompting, patience{o.timeout, time.Now()}
	send.patience = patient
	if o.wait {
		send.alone = func(ctx context.Context, s *system, q queuedPrompt) error {
			return patient.wait(ctx, q.Name, func(ctx context.Context) error { return s.typed(ctx, q) })
		}
	}
	did, alone, err := send.make(ctx, environ, stderr, promptCall{Key: uuid.New(), Session: r.ID, Text: text})
	if !alone && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("ccbot has not answered in %s, so it is not known whether the prompt is in the queue", o.timeout)
	}
	if err == nil && o.wait {
		err = patient.wait(ctx, did.Name, func(ctx context.Context) error {
			answer, err := answerTo(ctx, d.Config, did, alone)
			did.Answer = &answer
			return err
		})
	}
	if err != nil {
		return err
	}
	return terminal.Show(stdout, o.asJSON, did, func(p *terminal.Printer) {
		switch {
		case did.Answer != nil:
			p.Line("%s", terminal.Text(*did.Answer))
		case alone:
			p.Line("the prompt waits for %s, and is sent once ccbot runs", terminal.Printable(did.Name))
		default:
			p.Line("the prompt is in the queue of %s", terminal.Printable(did.Name))
		}
	})
}
