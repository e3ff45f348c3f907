package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/naming"
	"ccbot/internal/timespan"
	"ccbot/loop"
	"ccbot/port"
)

// loopVerbs are the verbs of `ccbot loop`.
type loopVerbs struct{ *call }

func loopCommand(call *call) *cobra.Command {
	c := loopVerbs{call}
	root := &cobra.Command{Use: "loop", Args: noArgs,
		Short:   "Prompt a session until a check succeeds, within bounds: start | list | status | templates | pause | resume | raise | stop",
		Example: "  ccbot loop start api 'make the tests pass' --check 'make test' --max-turns 20\n  ccbot loop list",
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage(errors.New("missing verb: ccbot loop start, list, status, templates, pause, resume, raise or stop"))
		}}
	list := &cobra.Command{Use: "list", Args: noArgs, Short: "List the loops, the newest last", Example: "  ccbot loop list --json",
		RunE: func(*cobra.Command, []string) error {
			all, err := c.all()
			if err != nil {
				return err
			}
			shown := make([]show.Loop, 0, len(all))
			for _, l := range all {
				shown = append(shown, show.LoopOf(l.Loop))
			}
			return c.show(shown, func(p *terminal.Printer) {
				for _, s := range shown {
					s.PrintLine(p)
				}
			})
		}}
	status := &cobra.Command{Use: "status NAME|FEATURE|ID", Args: oneSession, Short: "Show a loop, and the end of its last check's output", Example: "  ccbot loop status api",
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := c.find(args[0])
			if err != nil {
				return err
			}
			shown := show.LoopOf(l)
			return c.show(shown, shown.Print)
		}}
	for _, cmd := range []*cobra.Command{c.startCommand(), list, status, c.templatesCommand(),
		c.changeCommand("pause", "Pause a loop; the turn that runs is not interrupted"),
		c.changeCommand("resume", "Continue a paused loop"),
		c.raiseCommand(),
		c.changeCommand("stop", "End a loop; the turn that runs is not interrupted")} {
		root.AddCommand(c.printing(cmd))
	}
	return root
}

// holdCommand is the first process of a check.
func holdCommand() *cobra.Command {
	return &cobra.Command{Use: loop.HoldVerb + " COMMAND", Args: someArgs(1, 1, "which command", ""), Hidden: true,
		RunE: func(_ *cobra.Command, args []string) error { return loop.Hold(args[0]) }}
}

func (c loopVerbs) changeCommand(do, short string) *cobra.Command {
	return &cobra.Command{Use: do + " NAME|FEATURE|ID", Args: oneSession, Short: short, Example: "  ccbot loop " + do + " api",
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.change(cmd, args[0], port.LoopChange{Do: port.LoopDo(do)})
		}}
}

// loopStart is what a person types to start a loop.
type loopStart struct {
	port.LoopRequest
	file, until, template string
	yes                   bool
}

func (c loopVerbs) startCommand() *cobra.Command {
	var q loopStart
	cmd := &cobra.Command{Use: "start NAME|ID [TEXT|-]", Args: someArgs(1, 2, "which session", "; quote a text with blanks"), Short: "Start a loop in a session",
		Long: `Start a loop in an open session, or with --worktree in a new one. ccbot sends the text, waits for
the end of the turn, and runs the check with /bin/sh in the session's folder. Without phases exit
code 0 ends the loop as done, unless --stop-word or --todo is unmet; otherwise the next prompt has
the end of the check's output, or what is unmet. The check runs outside the agent's permissions and
sandbox, with few variables, none of them secret, and runs again if the end of ccbot cut it off. At
least one bound is needed; of tokens, dollars or time it interrupts a turn, unless a dialog is open.
A person's own prompt, and most other acts in the session, pause the loop. The running bot is
needed.`,
		Example: "  ccbot loop start api 'make the tests pass' --check 'make test' --max-turns 20 --max-cost 5\n" +
			"  ccbot loop start api --prompt-file task.md --check ./check.sh --until 08:00 --json",
		RunE: func(cmd *cobra.Command, args []string) error { return c.start(cmd, args, q) }}
	f := cmd.Flags()
	f.StringVar(&q.Check, "check", "", "the `COMMAND` that decides whether the task is done")
	f.StringVar(&q.file, "prompt-file", "", "read the task from this `FILE`")
	f.StringVar(&q.template, "template", "", "take what is missing from the template `NAME` of ccbot loop templates")
	f.BoolVar(&q.yes, "yes", false, "do not ask: neither about a repository's template that is new or changed, nor about an agent that asks for no permissions")
	f.StringVar(&q.Feature, "feature", "", "only one live loop of a repository may have this `NAME`; without it the branch counts")
	f.StringVar(&q.StopWord, "stop-word", "", "also needed: this `WORD` alone in a line of the answer")
	f.BoolVar(&q.ToDo, "todo", false, "also needed: the agent's to-do list, with each item completed")
	f.BoolVar(&q.Worktree, "worktree", false, "work in a new git worktree of the last commit, in a new session")
	boundFlags(cmd, &q.Bounds, &q.until, "end after ", "")
	return cmd
}

// boundFlags are the flags of bounds. A number is one with the given words around it.
func boundFlags(cmd *cobra.Command, b *port.LoopBounds, until *string, before, after string) {
	f := cmd.Flags()
	f.IntVar(&b.Turns, "max-turns", 0, before+"`N`"+after+" prompts")
	f.Int64Var(&b.Tokens, "max-tokens", 0, before+"`N`"+after+" tokens of the session, including cached tokens")
	f.Float64Var(&b.Cost, "max-cost", 0, before+"this many `DOLLARS`"+after+" at the prices of ccbot usage; an unknown price counts as more")
	f.BoolVar(&b.NoCost, "no-cost", false, "count an answer without a known price as free")
	f.IntVar(&b.Minutes, "max-minutes", 0, before+"`N`"+after+" minutes")
	f.StringVar(until, "until", "", "end at this `TIME`: 08:00 is the next one (CCBOT_TIME_ZONE), or 2026-01-31T08:00:00Z")
}

func (c loopVerbs) raiseCommand() *cobra.Command {
	var more port.LoopBounds
	var until string
	cmd := &cobra.Command{Use: "raise NAME|FEATURE|ID", Args: oneSession, Short: "Raise bounds of a loop; one that a bound has ended may continue",
		Long: `Raise the bounds that a loop has: numbers are added, --until is the new time. A loop that a bound
has ended continues if its session is open and no bound is reached.`,
		Example: "  ccbot loop raise api --max-turns 5",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if more.Until, err = c.endTime(until); err != nil {
				return exit.Usage(err)
			}
			if more.Empty() && !more.NoCost {
				return exit.Usage(errors.New("say which bound to raise, such as --max-turns 5"))
			}
			return c.change(cmd, args[0], port.LoopChange{Do: port.LoopRaise, More: more})
		}}
	boundFlags(cmd, &more, &until, "", " more")
	return cmd
}

// change makes the running bot change a loop, and prints the result.
func (c loopVerbs) change(cmd *cobra.Command, what string, change port.LoopChange) error {
	l, err := c.find(what)
	name := l.Name
	if err == nil {
		change.Loop = l.ID
		l, err = running.ChangingLoop.Ask(cmd.Context(), c.environ, change)
	}
	if err != nil {
		return err
	}
	l.Name = name
	shown := show.LoopOf(l)
	return c.show(shown, shown.PrintLine)
}

func (c loopVerbs) start(cmd *cobra.Command, args []string, q loopStart) (err error) {
	if q.Task, err = q.task(cmd, args); err != nil {
		return err
	}
	if q.Bounds.Until, err = c.endTime(q.until); err != nil {
		return exit.Usage(err)
	}
	_, r, err := c.session(args[0], func(r port.Session) bool { return r.State.Live() })
	if err != nil {
		return err
	}
	asks := r.Bypasses
	if q.template != "" {
		shown, err := c.fromTemplate(cmd.Flags(), &q, r)
		if err != nil {
			return err
		}
		asks = asks || shown
	}
	if err := loop.Valid(q.LoopRequest); err != nil {
		return exit.Usage(err)
	}
	if err := c.confirmStart(cmd, r, asks && !q.yes); err != nil {
		return err
	}
	q.Key, q.Session = uuid.New(), r.ID
	l, err := running.Looping.Ask(cmd.Context(), c.environ, q.LoopRequest)
	if err != nil {
		return err
	}
	return c.show(show.LoopOf(l), func(p *terminal.Printer) { p.Line("the loop of %s has begun: %s", terminal.Printable(l.Name), l.ID) })
}

// confirmStart warns of an agent that asks for no permissions, and asks a person whether to start.
func (c loopVerbs) confirmStart(cmd *cobra.Command, r port.Session, asks bool) error {
	if r.Bypasses {
		p := &terminal.Printer{Out: c.stderr}
		p.Line("the agent of %s asks for no permissions", terminal.Printable(r.Name))
		if p.Err != nil {
			return p.Err
		}
	}
	if !asks {
		return nil
	}
	return c.confirm(cmd, "Start this loop?")
}

// task is the text of the arguments or of the file.
func (q loopStart) task(cmd *cobra.Command, args []string) (string, error) {
	switch {
	case len(args) == 2 && q.file != "":
		return "", exit.Usage(errors.New("the task is the text or --prompt-file, not both"))
	case len(args) == 2:
		return given(cmd.Context(), args[1], cmd.InOrStdin())
	case q.file == "" && q.template != "":
		return "", nil
	case q.file == "":
		return "", exit.Usage(errors.New("the task is missing: give a text, --prompt-file or --template"))
	}
	f, err := os.Open(q.file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return given(cmd.Context(), "-", f)
}

// now is the present time in the time zone of the settings.
func (c loopVerbs) now() (now time.Time, err error) {
	set, err := config.LoadForReading(c.environ)
	if err != nil {
		return now, err
	}
	zone, err := time.LoadLocation(set.TimeZone)
	if err != nil {
		return now, err
	}
	return time.Now().In(zone), nil
}

// endTime is the time that a person means; empty: none. The time of a day is in the time zone of
// the settings.
func (c loopVerbs) endTime(text string) (at time.Time, err error) {
	if text == "" {
		return at, nil
	}
	now, err := c.now()
	if err != nil {
		return at, err
	}
	if at, ok := timespan.NextClock(text, now); ok {
		return at, nil
	}
	at, err = time.Parse(time.RFC3339, text)
	switch {
	case err != nil:
		return at, errors.New("--until is a time such as 08:00, or 2026-01-31T08:00:00Z")
	case !at.After(now):
		return at, errors.New("--until has passed")
	}
	return at.UTC(), nil
}

// all reads all loops, the newest last, with the present names of their sessions. The running bot
// is not asked.
func (c loopVerbs) all() ([]loop.Loop, error) {
	d, err := offline.Open(c.environ, c.stderr)
	if err != nil {
		return nil, err
	}
	all, err := readLoops(d.Dir)
	for i, l := range all {
		if r, ok := d.Store.Get(l.Session); ok {
			all[i].Name = r.Name
		}
	}
	return all, err
}

func readLoops(dir string) ([]loop.Loop, error) {
	all, err := loop.Read(offline.Loops(dir), slog.New(slog.DiscardHandler))
	return slices.DeleteFunc(all, func(l loop.Loop) bool { return l.Removed() }), err
}

// liveLoop returns the live loop of a session in ccbot's folder; nil: none is known.
func liveLoop(dir string, session uuid.UUID) *show.LoopLine {
	all, _ := readLoops(dir) // those that can be read
	for _, l := range all {
		if l.Session == session && l.State.Live() {
			line := show.LoopLineOf(l.Loop)
			return &line
		}
	}
	return nil
}

// find returns the loop that a person means: by its id, the live or newest one of a session, or of
// exactly this feature if no loop's session is named so.
func (c loopVerbs) find(what string) (port.Loop, error) {
	all, err := c.all()
	if err != nil {
		return port.Loop{}, err
	}
	named := func(l loop.Loop) naming.Named {
		return naming.Named{ID: l.Session, Name: l.Name, Other: []uuid.UUID{l.ID}}
	}
	live := func(l loop.Loop) bool { return l.State.Live() }
	found := naming.Find(all, what, named, live)
	if len(found) == 0 {
		found = slices.DeleteFunc(slices.Clone(all), func(l loop.Loop) bool { return what == "" || l.Feature != what })
		if slices.ContainsFunc(found, live) {
			found = slices.DeleteFunc(found, func(l loop.Loop) bool { return !live(l) })
		}
	}
	if len(found) == 0 {
		return port.Loop{}, fmt.Errorf("%q has no loop; see `ccbot loop list`", what)
	}
	newest := found[len(found)-1].Loop
	if slices.ContainsFunc(found, func(l loop.Loop) bool { return l.Name != newest.Name }) {
		return port.Loop{}, fmt.Errorf("%q may be the loop of several sessions; see `ccbot loop list`", what)
	}
	return newest, nil
}
