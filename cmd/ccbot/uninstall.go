package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ccbot/agent/claude/claudesettings"
	"ccbot/bot/sessions"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/setup"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/cmd/ccbot/uninstall"
	"ccbot/port"
)

func uninstallCommand(c *call, root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "uninstall", Args: noArgs, Short: "Remove what ccbot has set up on this machine, one confirmed step after the other",
		Long: `List what is found of ccbot on this machine, then ask for each step: end the agents, stop the bot
and remove its service, then the hooks, ccbot's windows in tmux, the files from the chat, the
completions of the shell, and last the state folder with the settings. A no skips the step. Hooks,
windows, files from the chat and the state folder stay while an agent lives or its end is not
proven, and while the bot runs or its service would start it. It may be interrupted at any time, and
continues when it is run again. It needs a terminal.`,
		Example: "  ccbot uninstall",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runUninstall(cmd, c, root) }}
}

func runUninstall(cmd *cobra.Command, c *call, root *cobra.Command) (err error) {
	// ^\ would leave the terminal without echo
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGQUIT)
	defer stop()
	u, err := uninstaller(ctx, c, root)
	if err != nil {
		return err
	}
	in, _ := cmd.InOrStdin().(*os.File)
	out, _ := c.stdout.(*os.File)
	if in == nil || out == nil || !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return exit.Usage(errors.New("uninstall asks a person for each step: run it in a terminal"))
	}
	at := setup.Terminal{In: in, Out: c.stdout}
	if err := at.Hide(); err != nil {
		return err
	}
	u.Ask = func(ctx context.Context, question string) (bool, error) { return at.Yes(ctx, question, false) }
	err = errors.Join(u.Run(ctx), at.Show())
	if errors.Is(err, context.Canceled) {
		return errors.New("interrupted; removed files stay removed, and `ccbot uninstall` continues")
	}
	return err
}

// uninstaller refuses a caller below an agent, and a state folder that no start would use.
func uninstaller(ctx context.Context, c *call, root *cobra.Command) (u uninstall.Uninstall, err error) {
	d, err := offline.Open(c.environ, c.stderr)
	if err != nil {
		return u, err
	}
	if err := offline.RefuseAgents(ctx, d.Dir, offline.Sources(d.Config, "", d.Store, d.Table, nil, d.QuietLog(c.stderr))); err != nil {
		return u, err
	}
	exposed, err := statefolder.Inspect(d.Dir, true)
	if err != nil {
		return u, err
	}
	for _, x := range exposed {
		if x.Refused {
			return u, exit.Usage(errors.New(x.Sentence))
		}
	}
	u = uninstall.Uninstall{Settings: claudesettings.SettingsIn(d.ClaudeDir), Environ: c.environ, Out: c.stdout,
		Open: func() (offline.View, error) { return offline.Open(c.environ, io.Discard) },
		Lock: func(ctx context.Context) (io.Closer, error) { return running.Lock(ctx, d.Config, c.environ, c.stderr) },
		Stop: func(ctx context.Context) error { return running.Stop(ctx, d.Dir, d.Table) },
		End:  func(ctx context.Context, s uninstall.Session) (string, error) { return endSession(ctx, c, s) }}
	u.Unhook = func() error { return hooksUninstall(u.Settings, c.stdout) }
	if u.Service, err = serviceOf(c.environ, c.stdout); err != nil {
		return u, err
	}
	if u.Completions, err = completions(d.Config, c.environ, root); err != nil {
		return u, err
	}
	folder := filepath.Dir(u.Service.Program.Binary)
	for _, name := range []string{"ccbot", "ccbot-codex", "ccbot-hook", "ccbot-hub", "ccbot-try"} {
		if path := filepath.Join(folder, name); isFile(path) {
			u.Programs = append(u.Programs, path)
		}
	}
	return u, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// endSession ends one launch of a session, as `ccbot archive` does. An end that a kill has
// interrupted is continued by the recovery before that, which tells its receipt to the chat.
func endSession(ctx context.Context, c *call, s uninstall.Session) (receipt string, err error) {
	did, _, err := running.Ending.Make(ctx, c.environ, c.stderr, sessions.End{Session: s.ID, Launch: s.Launch, Final: port.StateArchived})
	if err == nil {
		return did.Receipt, nil
	}
	if d, opened := offline.Open(c.environ, io.Discard); opened == nil {
		if r, there := d.Store.Get(s.ID); there && r.State.HasEnded() {
			return fmt.Sprintf("%s is %s; how it ended: ccbot why %s", terminal.Printable(r.Name), r.State, terminal.ShellWord(r.Name)), nil
		}
	}
	return "", err
}

// completions are the files that `ccbot completion --help` proposes, and where zsh looks by
// default.
func completions(c config.Config, environ []string, root *cobra.Command) (all []uninstall.Completion, err error) {
	vars := env.ToMap(environ)
	folder := func(name, fallback string) string {
		if dir := vars[name]; filepath.IsAbs(dir) {
			return dir
		}
		return filepath.Join(c.Home, fallback)
	}
	zsh := append(filepath.SplitList(vars["FPATH"]), filepath.Join(c.Home, ".zfunc"), filepath.Join(folder("XDG_DATA_HOME", ".local/share"), "zsh/site-functions"))
	for shell, paths := range map[string][]string{
		"bash": {filepath.Join(folder("XDG_DATA_HOME", ".local/share"), "bash-completion/completions/ccbot")},
		"fish": {filepath.Join(folder("XDG_CONFIG_HOME", ".config"), "fish/completions/ccbot.fish")},
		"zsh":  zshFiles(zsh),
	} {
		var text bytes.Buffer
		if err := shells(root)[shell](&text); err != nil {
			return nil, err
		}
		for _, path := range paths {
			all = append(all, uninstall.Completion{Path: path, Text: text.String()})
		}
	}
	return all, nil
}

func zshFiles(dirs []string) (files []string) {
	seen := make(map[string]bool)
	for _, dir := range dirs {
		if path := filepath.Join(dir, "_ccbot"); strings.HasPrefix(path, "/") && !seen[path] {
			seen[path] = true
			files = append(files, path)
		}
	}
	return files
}
