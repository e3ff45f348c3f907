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
	return &cobra.Command{Use: "doctor", Args: noArgs, Short: "Diagnose ccbot",
		Long: `Check the system, the settings, ccbot's folder, the running bot, tmux, the agents, the hooks,
the Bot API and the service, and name for each fault the command or the step that ends it. It
changes nothing, takes no message from Telegram, and may run next to the bot. Each fault has a code:
docs/doctor.md lists them. The exit code is 1 if a check fails.`,
		Example: "  ccbot doctor\n  ccbot doctor --json | jq -r '.checks[] | select(.status == \"fail\").code'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.examine(cmd.Context()) }}
}

func (c *call) examine(ctx context.Context) error {
	w, err := c.doctorsWorld(ctx)
	if err != nil {
		return err
	}
	report := doctor.Examine(ctx, w)
	if ctx.Err() != nil { // an interrupted check is not a fault
		return errors.New("interrupted")
	}
	if err := c.show(report, report.Print); err != nil {
		return err
	}
	if fails := report.Count(doctor.Fail); fails > 0 {
		return fmt.Errorf("%s found", terminal.Several(fails, "fault"))
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
	w, err := doctor.Open(ctx, c.environ, versionText())
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
