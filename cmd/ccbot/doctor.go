package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/health"
	"ccbot/internal/systemfont"
)

func (c *call) doctorCommand() *cobra.Command {
	var fix, strict bool
	cmd := &cobra.Command{Use: "doctor", Args: noArgs, Short: "Diagnose ccbot; --fix: also fix what is safe to fix",
		Long: `Check the system, the settings, ccbot's folder, the running bot, tmux, the agents, the hooks,
the Bot API and the service. Without --fix it changes nothing. It takes no message from Telegram,
and may run next to the bot. Each fault has a code: docs/doctor.md lists them.

--fix repairs hooks and ccbot's own files: files that others can read, an unused socket, the remains
of writes and sessions, hooks of a removed program. It leaves files that others can write to a
person. It touches no process and no window. The exit code is 1 if a check fails, with --strict also
if one warns.`,
		Example: "  ccbot doctor\n  ccbot doctor --fix\n  ccbot doctor --json | jq -r '.checks[] | select(.status == \"fail\").code'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.examine(cmd.Context(), fix, strict) }}
	cmd.Flags().BoolVar(&fix, "fix", false, "fix what is safe to fix, and check again")
	cmd.Flags().BoolVar(&strict, "strict", false, "also fail on warnings")
	return cmd
}

func (c *call) examine(ctx context.Context, fix, strict bool) error {
	w, err := c.doctorsWorld(ctx)
	if err != nil {
		return err
	}
	report := doctor.Examine(ctx, w)
	if fix && ctx.Err() == nil {
		fixed := report.Fix(ctx, w)
		if w, err = c.doctorsWorld(ctx); err != nil { // settings that were refused can be read now
			return err
		}
		report = doctor.Examine(ctx, w)
		report.Fixed = fixed
	}
	if ctx.Err() != nil { // an interrupted check is not a fault
		return errors.New("interrupted")
	}
	if err := c.show(report, report.Print); err != nil {
		return err
	}
	switch fails, warns := report.Count(doctor.Fail), report.Count(doctor.Warn); {
	case fails > 0:
		return fmt.Errorf("%s found", terminal.Several(fails, "fault"))
	case warns > 0 && strict:
		return fmt.Errorf("%s, and --strict was given", terminal.Several(warns, "warning"))
	}
	return nil
}

// faults prints what doctor finds wrong at the end of a setup. It is an error if ccbot could not
// start.
func faults(ctx context.Context, c *call) error {
	w, err := c.doctorsWorld(ctx)
	if err != nil {
		return err
	}
	report := doctor.Examine(ctx, w)
	p := terminal.NewPrinter(c.stdout)
	if report.PrintFaults(p); p.Err != nil {
		return p.Err
	}
	if n := report.Preventing(); n > 0 {
		return fmt.Errorf("ccbot cannot start yet: %s found; `ccbot doctor` checks again", terminal.Several(n, "fault"))
	}
	return nil
}

func (c *call) doctorsWorld(ctx context.Context) (*doctor.World, error) {
	w, err := doctor.Open(ctx, c.environ, versionText(), c.stderr)
	if err != nil {
		return nil, err
	}
	w.Hook, w.Fonts = hookOf(w.Config), systemfont.System()
	w.Ask = func(ctx context.Context) (health.Figures, error) { return running.Figures(ctx, w.Dir) }
	w.Unit = func(ctx context.Context) (service.State, error) {
		s, err := serviceOf(c.environ, io.Discard)
		if err != nil {
			return service.State{}, err
		}
		return s.State(ctx)
	}
	return w, nil
}
