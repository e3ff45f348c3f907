package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// received returns the texts that the demo agent read, in order.
func (w *world) received() []string {
	w.t.Helper()
	data, err := os.ReadFile(w.sent)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.t, err)
	var texts []string
	for one := range strings.Lines(string(data)) {
		if !strings.HasSuffix(one, "\n") { // the agent writes it at this moment
			break
		}
		var line struct{ Text string }
		require.NoError(w.t, json.Unmarshal([]byte(one), &line))
		texts = append(texts, line.Text)
	}
	return texts
}

// drained waits until all messages of the bot are sent and noted.
func (w *world) drained() {
	w.t.Helper()
	w.drainedTo(0)
}

// drainedTo is like drained but allows some posts to remain.
func (w *world) drainedTo(posts int) {
	w.t.Helper()
	w.until("what was told is sent", func() bool {
		left, err := filepath.Glob(filepath.Join(w.state, "outbox", "*.json"))
		return err == nil && len(left) <= posts
	})
}

// tools returns the living processes of tools started by withChild.
func (w *world) tools() []process.Identity {
	return slices.DeleteFunc(slices.Clone(w.children), func(id process.Identity) bool { return w.table.Liveness(id) == process.Gone })
}

// settled reports whether there are sessions and each is running or has ended.
func (w *world) settled() bool {
	records := w.records()
	return len(records) > 0 && !slices.ContainsFunc(records, func(r session.Record) bool {
		return r.State != session.Running && r.State != session.Archived && r.State != session.Completed
	})
}

// agents returns the living agents of this world's ccbot.
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

// forked reports whether a process is a fork that still shows its parent's command line before its
// exec, for example for a hook.
func forked(snap process.Snapshot, p process.Process) bool {
	parent, ok := snap.Find(p.PPID)
	return ok && slices.Equal(parent.Args, p.Args)
}

// lastID returns the newest message of the chat.
func (w *world) lastID() int {
	id := 0
	for _, m := range w.api.Messages(w.chat()) {
		id = max(id, m.ID)
	}
	return id
}
