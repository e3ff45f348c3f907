package main

import (
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
)

// tryCommand replaces this process by ccbot-try, in ccbot's folder. It is a separate program so
// that ccbot contains no stand-in.
func (c *call) tryCommand() *cobra.Command {
	start := func(args ...string) error {
		me, err := offline.Program()
		if err != nil {
			return err
		}
		path := filepath.Join(filepath.Dir(me), "ccbot-try")
		err = syscall.Exec(path, append([]string{path}, args...), c.environ)
		return exit.Usage(fmt.Errorf("start %s: %w: it belongs into the folder of %s; build or copy both", path, err, me))
	}
	cmd := &cobra.Command{Use: "try", DisableFlagParsing: true,
		Short:   "Try ccbot in a browser: no Telegram account, no token and no Claude needed",
		Example: "  ccbot try\n  ccbot try --agent claude",
		RunE:    func(_ *cobra.Command, args []string) error { return start(args...) }}
	cmd.SetHelpFunc(func(*cobra.Command, []string) {
		if err := start("--help"); err != nil {
			fmt.Fprintln(c.stderr, "ccbot:", err)
		}
	})
	return cmd
}
