package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/terminal"
)

// The errors of an incomplete status set its exit code; the lines before them describe the problem.
var (
	errHooksIncomplete = errors.New("the hooks are not all installed; `ccbot hooks install` fixes that")
	errHooksStuck      = errors.New("the hooks are not all installed, and `ccbot hooks install` cannot fix that now")
)

func (c *call) hooksCommand() *cobra.Command {
	root := &cobra.Command{Use: "hooks", Args: noArgs,
		Short:   "Let ccbot know sessions that you start by hand: install | uninstall | status",
		Example: "  ccbot hooks install\n  ccbot hooks status --json",
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage(errors.New("missing verb: ccbot hooks install, uninstall or status"))
		}}
	verb := func(use, short string, do func(h doctor.Hook) error) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Args: noArgs, Example: "  ccbot hooks " + use, RunE: func(*cobra.Command, []string) error {
			// none is needed, but each one that is there must be right, as for every verb
			settings, err := config.LoadForReading(c.environ)
			if err != nil {
				return err
			}
			return do(hookOf(settings))
		}}
		root.AddCommand(cmd)
		return cmd
	}
	verb("install", "Put ccbot's hooks into Claude Code's settings", func(h doctor.Hook) error { return hooksInstall(h, c.stdout, c.stderr) })
	verb("uninstall", "Take ccbot's hooks out of Claude Code's settings", func(h doctor.Hook) error {
		return hooksUninstall(h.Settings, c.stdout)
	})
	c.printing(verb("status", "Show which of ccbot's hooks are in Claude Code's settings", c.hooksStatus))
	return root
}

// hookOf is ccbot's hook, and the file in which it may be installed.
func hookOf(c config.Config) doctor.Hook {
	h := doctor.Hook{Settings: claudesettings.SettingsIn(c.ClaudeDir)}
	binary, err := offline.HookBinary()
	if err == nil {
		if h.Command, err = claudesettings.InstalledCommand(binary, c.Dir); err != nil {
			err = exit.Usage(err)
		}
	}
	h.Err = err
	return h
}

func hooksInstall(h doctor.Hook, stdout, stderr io.Writer) error {
	if h.Err != nil {
		return h.Err
	}
	var off bool
	err := editSettings(h.Settings, stdout, func(data []byte) ([]byte, []claudesettings.Change, error) {
		data, changes, err := claudesettings.Install(data, h.Command)
		if err != nil {
			return nil, nil, err
		}
		installed, err := claudesettings.Inspect(data, h.Command)
		off = installed.HooksOff
		return data, changes, err
	})
	if err == nil && off {
		fmt.Fprintf(stderr, "ccbot: %s: %s\n", h.Settings.Path, hooksOff)
	}
	return err
}

// hooksOff says that no installed hook runs.
const hooksOff = "disableAllHooks is on: Claude Code runs no hooks, these included"

// editSettings edits the file and prints the outcome.
func editSettings(file claudesettings.SettingsFile, stdout io.Writer, edit func([]byte) ([]byte, []claudesettings.Change, error)) error {
	var changes []claudesettings.Change
	backup, err := file.Edit(func(old []byte) (data []byte, err error) {
		data, changes, err = edit(old)
		return data, err
	})
	if err != nil {
		return fmt.Errorf("%w; nothing was changed", unreadable(file, err))
	}
	printChanges(stdout, changes)
	if backup != "" {
		fmt.Fprintln(stdout, "backup:", backup)
	}
	_, err = fmt.Fprintln(stdout, file.Path)
	return err
}

// hooksUninstall prints the backups that stay, because they have text that the file does not have.
func hooksUninstall(file claudesettings.SettingsFile, stdout io.Writer) error {
	done, err := file.Uninstall()
	if err != nil {
		return fmt.Errorf("%w; nothing was changed", unreadable(file, err))
	}
	printChanges(stdout, done.Changes)
	for _, backup := range done.Kept {
		fmt.Fprintln(stdout, "backup kept:", backup)
	}
	_, err = fmt.Fprintln(stdout, file.Path)
	return err
}

func printChanges(stdout io.Writer, changes []claudesettings.Change) {
	for _, c := range changes {
		fmt.Fprintf(stdout, "%s: %s\n", c.Event, c.Done)
	}
	if len(changes) == 0 {
		fmt.Fprintln(stdout, "nothing to change")
	}
}

// unreadable names the place in the file where a person has to look.
func unreadable(file claudesettings.SettingsFile, err error) error {
	var place *claudesettings.SettingsError
	if errors.As(err, &place) {
		return fmt.Errorf("%s, %w", file.Path, place)
	}
	return err
}

// hooksReport is the JSON of `ccbot hooks status --json`.
type hooksReport struct {
	File string `json:"file"`
	claudesettings.Installed
	Problem string `json:"problem,omitempty"` // the reason why install could not repair it
	// why the file cannot be read; then nothing is known of the events
	Error string `json:"error,omitempty"`
}

// hooksStatus only reads. Without a hook binary no command can be the right one, and the status
// says that as well.
func (c *call) hooksStatus(h doctor.Hook) error {
	report := hooksReport{File: h.Settings.Path}
	if h.Err != nil {
		report.Problem = h.Err.Error()
	}
	if err := report.read(h.Settings, h.Command); err != nil {
		if c.asJSON {
			report.Installed, report.Error = claudesettings.Installed{Events: []claudesettings.EventState{}}, err.Error()
			err = errors.Join(c.show(report, report.print), err)
		}
		return err
	}
	if err := c.show(report, report.print); err != nil {
		return err
	}
	switch {
	case report.Problem != "":
		return errHooksStuck
	case !report.Complete():
		return errHooksIncomplete
	}
	return nil
}

// read fills in the content of the file, and the reason why install could not repair it.
func (r *hooksReport) read(file claudesettings.SettingsFile, command string) error {
	data, err := file.Read()
	if err == nil {
		r.Installed, err = claudesettings.Inspect(data, command)
	}
	if err != nil {
		return unreadable(file, err)
	}
	if r.Complete() || r.Problem != "" {
		return nil
	}
	_, _, err = claudesettings.Install(data, command)
	if err == nil {
		err = file.Writable()
	}
	if err != nil {
		r.Problem = unreadable(file, err).Error()
	}
	return nil
}

func (r hooksReport) print(p *terminal.Printer) {
	for _, e := range r.Events {
		p.Line("%s: %s", e.Event, e.State)
		for _, command := range e.Commands {
			if e.State != claudesettings.InstallCurrent {
				p.Line("  %s", command)
			}
		}
	}
	if r.HooksOff {
		p.Line("%s", hooksOff)
	}
	if r.Problem != "" {
		p.Line("%s", r.Problem)
	}
	p.Line("%s", r.File)
}
