package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/host/received"
	"ccbot/tmux"
)

func (c *call) uninstallCommand() *cobra.Command {
	return &cobra.Command{Use: "uninstall", Args: noArgs, Short: "Stop the service, take out the hooks, and print commands that remove the rest",
		Long: `Stop the service and remove its unit, then take ccbot's hooks out of Claude Code's settings. The
settings file is as it was before the hooks if it was not changed since; otherwise only the hooks
go. No agent is ended and nothing else is removed: what is left is printed as commands, for you to
run as far as you want, in their order. It may be run again. Hooks and a service of a ccbot with
another state folder stay.`,
		Example: "  ccbot uninstall",
		RunE: func(cmd *cobra.Command, _ []string) error {
			d, err := offline.Open(c.environ, c.stderr)
			if err != nil {
				return err
			}
			if err := offline.RefuseAgents(cmd.Context(), d.Dir, offline.Sources(d.Config, "", d.Store, d.Table, nil, d.QuietLog(c.stderr))); err != nil {
				return err
			}
			if err := c.removeService(cmd.Context()); err != nil {
				return err
			}
			if err := removeHooks(d, c.stdout); err != nil {
				return err
			}
			return c.printRest(cmd.Context(), d)
		}}
}

// removeService stops and removes the service of this folder. A user has one service, which may be
// of another folder.
func (c *call) removeService(ctx context.Context) error {
	s, err := serviceOf(c.environ, c.stdout)
	if err != nil {
		return err
	}
	state, err := s.State(ctx)
	if err != nil {
		return err
	}
	if state.Installed && state.StateDir != s.Program.StateDir {
		_, err := fmt.Fprintf(c.stdout, "stays, because it is for another state folder: %s\n", terminal.Printable(state.File))
		return err
	}
	return s.Uninstall(ctx, false)
}

// removeHooks takes out the hooks, unless there are some of another state folder.
func removeHooks(d offline.View, stdout io.Writer) error {
	file := claudesettings.SettingsIn(d.ClaudeDir)
	data, err := file.Read()
	if err == nil && !bytes.Contains(data, []byte("ccbot-hook")) {
		return nil // it need not be one that can be edited
	}
	var found claudesettings.Installed
	if err == nil {
		found, err = claudesettings.Inspect(data, "")
	}
	if err != nil {
		return unreadable(file, err)
	}
	for _, e := range found.Events {
		for _, command := range e.Commands {
			if of := claudesettings.StateDir(command); of != "" && of != d.Dir {
				_, err := fmt.Fprintf(stdout, "The hooks in %s stay, because some are of the state folder %s; `ccbot hooks uninstall` takes all of them out.\n",
					terminal.Printable(file.Path), terminal.Printable(of))
				return err
			}
		}
	}
	return hooksUninstall(file, stdout)
}

// printRest prints what is left as commands. Each group has its sentence on a line of its own,
// because a comment behind a command would be an argument of it in an interactive zsh.
func (c *call) printRest(ctx context.Context, d offline.View) error {
	var text strings.Builder
	group := func(sentence string, commands []string) {
		if len(commands) > 0 {
			fmt.Fprintf(&text, "\n%s\n  %s\n", sentence, strings.Join(commands, "\n  "))
		}
	}
	var bot []string
	if pid, _ := statefolder.RunningBot(d.Dir, d.Table); pid != 0 {
		bot = []string{fmt.Sprintf("kill %d", pid)}
	}
	vars := env.ToMap(c.environ)
	group("Stop the bot, which a service did not start:", bot)
	group("End the open sessions with their agents; the conversations stay:", openSessions(d, config.OtherStateFolder(vars, d.Home)))
	group("Close ccbot's sessions in tmux, with all windows in them, also yours:", tmuxSessions(ctx, d))
	group("Remove the files from the chat, also those that you have changed:", removals("rm -rf", inboxes(d)))
	group("Remove the completions of the shell:", removals("rm", completions(d.Home, vars)))
	if isAbove(d.Dir, d.Home) {
		fmt.Fprintf(&text, "\nThe state folder %s has your other files, too: remove from it what docs/configuration.md lists.\n", terminal.Printable(d.Dir))
	} else {
		group("Remove the state folder, with the token, the records and everything else in it:", removals("rm -rf", stateFiles(d)))
	}
	me, err := offline.Program()
	if err != nil {
		return err
	}
	if folder := filepath.Dir(me); folder == "/usr/bin" {
		group("Remove the programs, which a package has installed (with dnf: sudo dnf remove ccbot):", []string{"sudo apt-get remove ccbot"})
	} else {
		group("Remove the programs:", removals("rm", programs(folder)))
	}
	text.WriteString("\n@BotFather deletes the bot, or revokes its token.\n")
	_, err = io.WriteString(c.stdout, text.String())
	return err
}

// removals are the commands that remove those of the paths that are there.
func removals(command string, paths []string) (all []string) {
	for _, path := range paths {
		if _, err := os.Lstat(path); err == nil {
			all = append(all, command+" "+terminal.ShellWord(path))
		}
	}
	return all
}

// openSessions are the commands that archive the open sessions. They name a folder that is not the
// default one, because they may be run in another environment than this one.
func openSessions(d offline.View, folder string) (all []string) {
	archive := "ccbot archive --yes "
	if folder != "" {
		archive = "CCBOT_DIR=" + terminal.ShellWord(folder) + " " + archive
	}
	for _, r := range d.Store.List() {
		if !r.State.HasEnded() {
			all = append(all, archive+r.ID.String())
		}
	}
	return all
}

// tmuxSessions leaves a tmux session out that another ccbot also uses.
func tmuxSessions(ctx context.Context, d offline.View) (all []string) {
	instance, err := statefolder.ReadInstance(d.Dir)
	if err != nil || instance == "" {
		return nil
	}
	panes := d.Tmux(ctx).All
	for _, session := range []string{d.TmuxSession, tmux.ControlSession(instance)} {
		is := func(p tmux.Pane) bool { return p.Session == session }
		isForeign := func(p tmux.Pane) bool { return is(p) && p.Tag != "" && !strings.HasPrefix(p.Tag, instance+"/") }
		if slices.ContainsFunc(panes, is) && !slices.ContainsFunc(panes, isForeign) {
			all = append(all, d.TmuxCommand()+" kill-session -t "+terminal.ShellWord("="+session))
		}
	}
	return all
}

// inboxes are the folders with files from the chat.
func inboxes(d offline.View) (all []string) {
	for _, r := range d.Store.List() {
		all = append(all, filepath.Join(r.Dir, received.Folder))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// completions are the files that `ccbot completion --help` proposes, and where zsh looks by
// default.
func completions(home string, vars map[string]string) []string {
	data, config := filepath.Join(home, ".local/share"), filepath.Join(home, ".config")
	if dir := vars["XDG_DATA_HOME"]; filepath.IsAbs(dir) {
		data = dir
	}
	if dir := vars["XDG_CONFIG_HOME"]; filepath.IsAbs(dir) {
		config = dir
	}
	return []string{filepath.Join(data, "bash-completion/completions/ccbot"), filepath.Join(config, "fish/completions/ccbot.fish"),
		filepath.Join(data, "zsh/site-functions/_ccbot"), filepath.Join(home, ".zfunc/_ccbot")}
}

// isAbove reports whether a folder is above another one, or the same.
func isAbove(folder, other string) bool {
	way, err := filepath.Rel(folder, other)
	return err == nil && way != ".." && !strings.HasPrefix(way, "../")
}

// stateFiles are the state folder, the folder to which it is a link, and the settings file, which
// may be elsewhere.
func stateFiles(d offline.View) []string {
	all := []string{d.Dir}
	if to, err := filepath.EvalSymlinks(d.Dir); err == nil && to != d.Dir {
		all = append(all, to)
	}
	if !slices.ContainsFunc(all, func(dir string) bool { return isAbove(dir, d.File) }) {
		all = append(all, d.File)
	}
	return all
}

func programs(folder string) (all []string) {
	for _, name := range []string{"ccbot", "ccbot-codex", "ccbot-hook", "ccbot-hub", "ccbot-try"} {
		all = append(all, filepath.Join(folder, name))
	}
	return all
}
