package main

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/reply"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/timespan"
	"ccbot/port"
)

func (c *call) sendPromptCommand() *cobra.Command {
	var wait bool
	var timeout time.Duration
	cmd := &cobra.Command{Use: "send-prompt NAME|ID TEXT|-", Short: "Send a prompt to a session; --wait: also wait for the answer",
		Args: someArgs(2, 2, "which session and what", "; quote a text with blanks"),
		Long: `Send a prompt to an open session, like a message of its chat: it waits in the same queue, and is
on disk before the command reports it. - reads it from the standard input. With --wait the command
waits for the end of the agent's turn, and prints its final text, in Markdown. If there is no such
text, or a person has to act first, it prints the reason and exits with 1. Ctrl-C ends only the
wait. If no bot runs, --wait types the prompt itself, unless the agent cannot take it then.`,
		Example: "  ccbot send-prompt api 'run the tests'\n  git diff | ccbot send-prompt api - --wait --timeout 10m",
		RunE: func(cmd *cobra.Command, args []string) error {
			if timeout != 0 && !wait {
				return exit.Usage(errors.New("--timeout goes with --wait"))
			}
			text, err := given(cmd.Context(), args[1], cmd.InOrStdin())
			if err != nil {
				return err
			}
			return c.sendPrompt(cmd.Context(), args[0], text, wait, reply.Timeout{Most: timeout, Since: time.Now()})
		}}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait for the answer, and print it")
	cmd.Flags().Func("timeout", "wait at most for this `SPAN`, 1s or more, such as 10m; 0: as long as it takes; a queued prompt stays",
		func(text string) (err error) {
			timeout, err = timespan.Parse(text)
			return err
		})
	return cmd
}

func (c *call) sendPrompt(ctx context.Context, what, text string, wait bool, timeout reply.Timeout) error {
	d, r, err := c.session(what, func(r port.Session) bool { return r.State.Live() })
	if err != nil {
		return err
	}
	send := running.Prompting
	if wait {
		send = running.Typing(timeout)
	}
	did, alone, err := send.Make(ctx, c.environ, c.stderr, running.Prompt{Key: uuid.New(), Session: r.ID, Text: text})
	if !alone && errors.Is(err, context.DeadlineExceeded) {
		return errors.New("ccbot has not answered in time, so it is not known whether the prompt is in the queue")
	}
	if err == nil && wait {
		err = timeout.Wait(ctx, did.Name, func(ctx context.Context) error {
			w := reply.Waiter{Dir: d.Dir, Agents: offline.Agents(d.Config)}
			if alone { // no bot looks after the agent
				w.Ended = d.Table.Wait
			}
			answer, err := w.Answer(ctx, did.Session, did.Prompt)
			did.Answer = &answer
			return err
		})
	}
	if err != nil {
		return err
	}
	return c.show(did, func(p *terminal.Printer) {
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
