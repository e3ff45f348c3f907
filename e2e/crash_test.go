package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// received are the texts that reached the demo agent's input, in order.
func (w *world) received() []string {
	w.t.Helper()
	f, err := os.Open(w.sent)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.t, err)
	defer f.Close()
	var texts []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ Text string }
		require.NoError(w.t, json.Unmarshal(lines.Bytes(), &line))
		texts = append(texts, line.Text)
	}
	require.NoError(w.t, lines.Err())
	return texts
}

// drained waits until everything that the bot had to say is sent and noted.
func (w *world) drained() {
	w.t.Helper()
	w.drainedTo(0)
}

// drainedTo is drained but for some posts.
func (w *world) drainedTo(posts int) {
	w.t.Helper()
	w.until("what was told is sent", func() bool {
		left, err := filepath.Glob(filepath.Join(w.state, "outbox", "*.json"))
		return err == nil && len(left) <= posts
	})
}

// tools are the living processes of tools that withChild has started.
func (w *world) tools() []process.Identity {
	return slices.DeleteFunc(slices.Clone(w.children), func(id process.Identity) bool { return w.table.Liveness(id) == process.Gone })
}

// settled says whether every session is running or over, and there is one.
func (w *world) settled() bool {
	records := w.records()
	return len(records) > 0 && !slices.ContainsFunc(records, func(r session.Record) bool {
		return r.State != session.Running && r.State != session.Archived && r.State != session.Completed
	})
}

// agents are the living agents that this world's ccbot started.
func (w *world) agents() []process.Identity {
	w.t.Helper()
	snap, err := w.table.Snapshot(w.t.Context())
	require.NoError(w.t, err)
	var all []process.Identity
	for _, p := range snap.Processes {
		launched := slices.ContainsFunc(p.Args, func(a string) bool { return strings.HasPrefix(a, w.state+"/launch/") })
		if launched && !p.Gone() && !forked(snap, p) {
			all = append(all, p.Identity)
		}
	}
	return all
}

// forked says whether a process is a fork that shows its parent's command line
// until it has become its own program, as one for a hook does.
func forked(snap process.Snapshot, p process.Process) bool {
	parent, ok := snap.Find(p.PPID)
	return ok && slices.Equal(parent.Args, p.Args)
}

// lastID is the newest message of the chat.
func (w *world) lastID() int {
	id := 0
	for _, m := range w.api.Messages(w.chat()) {
		id = max(id, m.ID)
	}
	return id
}
