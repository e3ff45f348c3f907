package main

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/port"
	"ccbot/schedule"
)

// lineOf is a schedule in one line.
func lineOf(s port.Schedule) string {
	next := "over"
	if !s.Next.IsZero() {
		next = "next " + s.Next.Local().Format("2006-01-02 15:04 MST")
	}
	return fmt.Sprintf("%s  %s: %s, %s: %s", s.ID, terminal.Printable(s.Name), terminal.Printable(s.When), next, terminal.Printable(s.Text))
}

// scheduleVerbs are the verbs of `ccbot schedule`.
type scheduleVerbs struct{ *call }

func scheduleCommand(call *call) *cobra.Command {
	c := scheduleVerbs{call}
	root := &cobra.Command{Use: "schedule", Args: noArgs, Short: "Send prompts at times: add | list | remove",
		Example: "  ccbot schedule add api 'weekday 09:00' 'run the tests'\n  ccbot schedule list",
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage(errors.New("missing verb: ccbot schedule add, list or remove"))
		}}
	list := &cobra.Command{Use: "list", Args: noArgs, Short: "List the schedules, the oldest first", Example: "  ccbot schedule list --json",
		RunE: func(*cobra.Command, []string) error {
			all, err := c.all()
			if err != nil {
				return err
			}
			return c.show(all, func(p *terminal.Printer) {
				for _, s := range all {
					p.Line("%s", lineOf(s))
				}
			})
		}}
	remove := &cobra.Command{Use: "remove ID", Args: someArgs(1, 1, "which schedule", "; `ccbot schedule list` has the ids"), Short: "Remove a schedule, and its prompt that is not typed yet",
		Example: "  ccbot schedule remove 3f0e8a52-6f0b-4a53-9d3f-0a1b2c3d4e5f",
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := uuid.Parse(args[0])
			if err != nil {
				return exit.Usage(errors.New("the id is not one of `ccbot schedule list`"))
			}
			return c.answer(running.Unscheduling.Ask(cmd.Context(), c.environ, id))
		}}
	for _, cmd := range []*cobra.Command{c.addCommand(), list, remove} {
		root.AddCommand(c.printing(cmd))
	}
	return root
}

func (c scheduleVerbs) addCommand() *cobra.Command {
	var q port.ScheduleRequest
	cmd := &cobra.Command{Use: "add NAME|ID WHEN TEXT|-", Args: someArgs(3, 3, "which session, when and what", "; quote what has blanks"), Short: "Add a schedule to a session",
		Long: `Add a schedule to a session. WHEN is like 08:00, tomorrow 08:00 or 2026-01-31 08:00 for one prompt;
or weekday 09:00, day 09:00, mon,thu 18:30, every 2h, or a cron spec such as '*/30 9-17 * * 1-5', in
the time zone of the session's chat. A prompt is sent in the session's own permission mode; a
session that is lost, has crashed, failed to start, or was archived for its silence, is resumed
first. Of runs that were missed, as while the machine slept, the last is sent with its delay, unless
--skip-missed is given. The running bot is needed.`,
		Example: "  ccbot schedule add api 08:00 'continue'\n  ccbot schedule add api 'weekday 09:00' 'run the tests' --skip-missed --json",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if q.Text, err = given(cmd.Context(), args[2], cmd.InOrStdin()); err != nil {
				return err
			}
			if _, err := schedule.Parse(args[1], time.Now(), time.Local); err != nil && !errors.Is(err, schedule.ErrPast) {
				return exit.Usage(err)
			}
			_, r, err := c.session(args[0], func(r port.Session) bool { return r.State.Live() })
			if err != nil {
				return err
			}
			q.Key, q.Session, q.When = uuid.New(), r.ID, args[1]
			return c.answer(running.Scheduling.Ask(cmd.Context(), c.environ, q))
		}}
	cmd.Flags().BoolVar(&q.SkipMissed, "skip-missed", false, "skip a run that was missed; the chat is told")
	return cmd
}

// answer prints the schedule that the bot has made or removed.
func (c scheduleVerbs) answer(s port.Schedule, err error) error {
	if err != nil {
		return err
	}
	return c.show(s, func(p *terminal.Printer) { p.Line("%s", lineOf(s)) })
}

// all reads all schedules. The running bot is not asked.
func (c scheduleVerbs) all() ([]port.Schedule, error) {
	d, err := offline.Open(c.environ, c.stderr)
	if err != nil {
		return nil, err
	}
	all, err := schedule.Read(offline.Schedules(d.Dir), slog.New(slog.DiscardHandler))
	return append([]port.Schedule{}, all...), err
}
