// Package privatetmux ends a tmux server that a trial or a test has for itself (tmux -L name), and
// promises that nothing of it is left then: no process in its windows and no socket. It does not
// start one, and does not touch any other server.
package privatetmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"ccbot/internal/process"
)

// End ends the server of that name and waits until the processes of its windows are gone. No server
// is no error.
func End(ctx context.Context, name string) error {
	out, err := exec.CommandContext(ctx, "tmux", "-L", name, "list-panes", "-a", "-F", "#{pid} #{pane_pid} #{socket_path}").Output()
	if err != nil || len(out) == 0 {
		return ctx.Err() // no server
	}
	table, err := process.NewTable()
	if err != nil {
		return err
	}
	snap, err := table.Snapshot(ctx)
	if err != nil {
		return err
	}
	var all []process.Identity
	socket := ""
	for line := range strings.Lines(string(out)) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		socket = words[2]
		for _, word := range words[:2] {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return fmt.Errorf("private tmux server %s: %w", name, err)
			}
			all = append(all, withDescendants(snap, pid)...)
		}
	}
	if out, err := exec.CommandContext(ctx, "tmux", "-L", name, "kill-server").CombinedOutput(); err != nil {
		return fmt.Errorf("end the private tmux server %s: %w: %s", name, err, out)
	}
	for _, id := range all {
		if err := table.Wait(ctx, id); err != nil {
			return fmt.Errorf("process %d of the private tmux server %s did not end: %w", id.PID, name, err)
		}
	}
	// tmux does not remove the file of its socket.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("private tmux server %s: %w", name, err)
	}
	return nil
}

func withDescendants(snap process.Snapshot, pid int) (all []process.Identity) {
	if p, ok := snap.Find(pid); ok {
		all = append(all, p.Identity)
	}
	for _, below := range snap.Descendants(pid) {
		all = append(all, below.Identity)
	}
	return all
}
