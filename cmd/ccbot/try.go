package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/demoagent"
	"ccbot/internal/process"
	"ccbot/internal/sandbox"
	"ccbot/tmux"
)

// tryOptions are the flags of `ccbot try`.
type tryOptions struct {
	agent string
	keep  bool
}

func tryCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var o tryOptions
	cmd := &cobra.Command{Use: "try", Args: noArgs,
		Short: "Try ccbot in a browser: no Telegram account, no token and no Claude needed",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTry(cmd.Context(), environ, o, stdout, stderr)
		}}
	cmd.Flags().StringVar(&o.agent, "agent", "demo", "who answers: demo, or claude for the real one")
	cmd.Flags().BoolVar(&o.keep, "keep", false, "keep the state folder and the windows after Ctrl-C")
	return cmd
}

// trial is a ccbot with everything of its own: Bot API, chat page, state
// folder, tmux server.
type trial struct {
	tryOptions
	dir    string // all of its files
	socket string // of its tmux server
	api    *sandbox.Server
	out    io.Writer
}

// runTry runs the very same bot as `ccbot run`, against a Bot API on loopback,
// until ctx ends.
func runTry(ctx context.Context, environ []string, o tryOptions, stdout, stderr io.Writer) error {
	if err := checkTry(o); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "ccbot-try-")
	if err != nil {
		return fmt.Errorf("try: %w", err)
	}
	t := &trial{tryOptions: o, dir: dir, socket: "ccbot-try-" + uuid.NewString()[:8], out: stdout,
		api: sandbox.New(sandbox.Options{BotName: "ccbot"})}
	err = t.run(ctx, environ, stderr)
	return errors.Join(err, t.clean(context.WithoutCancel(ctx)))
}

func checkTry(o tryOptions) error {
	if o.agent != "demo" && o.agent != "claude" {
		return usage(fmt.Errorf("--agent is demo or claude, not %q", o.agent))
	}
	if _, err := exec.LookPath("tmux"); err != nil {
		return toInstall(tmux.ErrNoTmux)
	}
	if _, err := hookBinary(); err != nil {
		return err
	}
	if _, err := exec.LookPath("claude"); o.agent == "claude" && err != nil {
		return usage(errors.New("claude is not on PATH; without --agent claude the demo agent plays"))
	}
	return nil
}

func (t *trial) run(ctx context.Context, environ []string, stderr io.Writer) error {
	env, err := t.environ(environ)
	if err != nil {
		return err
	}
	l, err := t.api.Listen()
	if err != nil {
		return fmt.Errorf("try: %w", err)
	}
	env = append(env, "TELEGRAM_API_URL="+t.api.URL())
	t.greet()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.api.Run(ctx, l) })
	g.Go(func() error { return runBot(ctx, env, stderr) })
	err = g.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// environ is the environment of the trial's bot: a person's own settings of
// ccbot play no part in it.
func (t *trial) environ(environ []string) ([]string, error) {
	own := map[string]string{
		"TELEGRAM_BOT_TOKEN": t.api.Token(),
		"ALLOWED_USERS":      fmt.Sprint(t.api.PagePerson().ID()),
		"CCBOT_DIR":          filepath.Join(t.dir, "state"),
		"CCBOT_TMUX_SOCKET":  t.socket,
	}
	if t.agent == "demo" {
		link, err := demoagent.Link(t.dir)
		if err != nil {
			return nil, fmt.Errorf("try: %w", err)
		}
		own["CLAUDE_COMMAND"], own["CLAUDE_CONFIG_DIR"] = link, filepath.Join(t.dir, "claude-config")
	}
	keep := []string{"HOME", "PATH", "LOG_LEVEL", "LOG_FORMAT", "CCBOT_LANG"}
	if t.agent == "claude" {
		keep = append(keep, "CLAUDE_CONFIG_DIR")
	}
	return merge(environ, own, keep), nil
}

// merge takes the trial's own variables, and of the environment those that a
// server or an agent gets anyway, and keep.
func merge(environ []string, own map[string]string, keep []string) []string {
	all := serverEnv(environ)
	agent := agentEnv(environ)
	if _, demo := own["CLAUDE_COMMAND"]; !demo {
		for name, value := range agent {
			all = append(all, name+"="+value)
		}
	}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		for _, k := range keep {
			if name == k || strings.HasPrefix(name, "DEMOAGENT_") || strings.HasPrefix(name, "CCBOT_FAIL") {
				all = append(all, kv)
				break
			}
		}
	}
	if !slices.ContainsFunc(all, func(kv string) bool { return strings.HasPrefix(kv, "LOG_LEVEL=") }) {
		all = append(all, "LOG_LEVEL=warn")
	}
	for name, value := range own {
		all = append(all, name+"="+value)
	}
	return all
}

func (t *trial) greet() {
	fmt.Fprintf(t.out, "\n  Open this in a browser:  %s\n\n", t.api.PageURL())
	if _, err := exec.LookPath("claude"); err == nil && t.agent == "demo" {
		fmt.Fprintln(t.out, "  A demo agent plays Claude Code. For your own:  ccbot try --agent claude")
	}
	fmt.Fprintf(t.out, "  In a terminal:  tmux -L %s attach\n  Ctrl-C ends it", t.socket)
	if !t.keep {
		fmt.Fprint(t.out, " and removes everything")
	}
	fmt.Fprint(t.out, ".\n\n")
}

// cleanPatience is how long the trial's windows may take to end.
const cleanPatience = 15 * time.Second

// clean ends the private tmux server, sees its windows' processes end, and
// removes the folder.
func (t *trial) clean(ctx context.Context) error {
	if t.keep {
		fmt.Fprintf(t.out, "\n  Kept: %s, and the windows: tmux -L %s attach\n", t.dir, t.socket)
		fmt.Fprintf(t.out, "  To remove both:  tmux -L %s kill-server; sleep 1; rm -rf %s\n", t.socket, t.dir)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, cleanPatience)
	defer cancel()
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	ids, err := processesBelow(ctx, table, t.pids(ctx))
	if err != nil {
		return err
	}
	socket := t.socketFile(ctx)
	if out, err := exec.CommandContext(ctx, "tmux", "-L", t.socket, "kill-server").CombinedOutput(); err != nil && len(ids) > 0 {
		return fmt.Errorf("try: end the private tmux server: %w: %s", err, out)
	}
	for _, id := range ids {
		if err := table.Wait(ctx, id); err != nil {
			return fmt.Errorf("try: process %d did not end: %w", id.PID, err)
		}
	}
	// tmux leaves the file of its socket behind.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) && socket != "" {
		return fmt.Errorf("try: %w", err)
	}
	if err := os.RemoveAll(t.dir); err != nil {
		return fmt.Errorf("try: %w", err)
	}
	fmt.Fprintln(t.out, "\n  Ended; nothing is left.")
	return nil
}

// socketFile is the path of the private tmux server's socket, empty without one.
func (t *trial) socketFile(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, "tmux", "-L", t.socket, "display-message", "-p", "#{socket_path}").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// pids are the processes of the private tmux server's panes, and its own.
func (t *trial) pids(ctx context.Context) []int {
	out, err := exec.CommandContext(ctx, "tmux", "-L", t.socket, "list-panes", "-a", "-F", "#{pid} #{pane_pid}").Output()
	if err != nil {
		return nil // no server: nothing to end
	}
	var pids []int
	for _, word := range strings.Fields(string(out)) {
		var pid int
		if _, err := fmt.Sscan(word, &pid); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// processesBelow are the processes and all that they have started.
func processesBelow(ctx context.Context, table *process.Table, pids []int) ([]process.Identity, error) {
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	var all []process.Identity
	for _, pid := range pids {
		if p, ok := snap.Find(pid); ok {
			all = append(all, p.Identity)
		}
		for _, below := range snap.Descendants(pid) {
			all = append(all, below.Identity)
		}
	}
	return all, nil
}
