package main

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
)

// shells are the shells with completions, and what prints these.
func shells(root *cobra.Command) map[string]func(io.Writer) error {
	return map[string]func(io.Writer) error{
		"bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":  root.GenZshCompletion,
		"fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
	}
}

func (c *call) completionCommand(root *cobra.Command) *cobra.Command {
	shells := shells(root)
	return &cobra.Command{Use: "completion bash|zsh|fish", Short: "Print the completions for a shell", ValidArgs: []string{"bash", "zsh", "fish"},
		Long: `Print a script with which the shell completes verbs, flags and the names of sessions.`,
		Example: `  ccbot completion bash > ~/.local/share/bash-completion/completions/ccbot
  ccbot completion zsh > "${fpath[1]}/_ccbot"
  ccbot completion fish > ~/.config/fish/completions/ccbot.fish`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || shells[args[0]] == nil {
				return exit.Usage(errors.New("missing shell: ccbot completion bash|zsh|fish"))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return shells[args[0]](c.stdout) }}
}

// forLive and forEnded are the verbs for sessions that have not ended, and for those that have.
var (
	forLive  = []string{"ccbot send-prompt", "ccbot archive", "ccbot done", "ccbot attach", "ccbot loop start", "ccbot schedule add"}
	forEnded = []string{"ccbot resume", "ccbot forget"}
)

// completeNames adds completion of names to the verbs that take a session.
func (c *call) completeNames(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		c.completeNames(cmd)
		if !strings.Contains(cmd.Use, " NAME|") {
			continue
		}
		live, over := slices.Contains(forLive, cmd.CommandPath()), slices.Contains(forEnded, cmd.CommandPath())
		cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			d, err := offline.Open(c.environ, io.Discard)
			if err != nil || len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, r := range d.Store.List() {
				if !(live && r.State.HasEnded()) && !(over && !r.State.HasEnded()) {
					names = append(names, r.Name+"\t"+string(r.State)+", "+r.Dir)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		}
	}
}
