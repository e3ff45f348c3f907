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
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/pause"
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
	var pids []int
	socket := ""
	for line := range strings.Lines(string(out)) {
		words := strings.SplitN(strings.TrimSpace(line), " ", 3)
		socket = words[2]
		for _, word := range words[:2] {
			pid, err := strconv.Atoi(word)
			if err != nil {
				return fmt.Errorf("private tmux server %s: %w", name, err)
			}
			pids = append(pids, pid)
		}
	}
	snap, err := begun(ctx, table, pids)
	if err != nil {
		return err
	}
	var all []process.Identity
	for _, pid := range pids {
		all = append(all, withDescendants(snap, pid)...)
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

// begun waits until the program of each window has begun. Until then its process is a copy of the server, and a hang-up is lost on it.
func begun(ctx context.Context, table *process.Table, pids []int) (process.Snapshot, error) {
	for {
		snap, err := table.Snapshot(ctx)
		if err != nil {
			return snap, err
		}
		isCopy := func(pid int) bool {
			p, _ := snap.Find(pid)
			server, ok := snap.Find(p.PPID)
			return ok && slices.Contains(pids, p.PPID) && p.Comm == server.Comm
		}
		if !slices.ContainsFunc(pids, isCopy) {
			return snap, nil
		}
		if err := pause.For(ctx, 5*time.Millisecond); err != nil {
			return snap, err
		}
	}
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
