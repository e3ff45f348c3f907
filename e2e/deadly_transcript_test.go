package e2e

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/internal/suspect"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// notes returns the file in which ccbot notes what it reads.
func (w *world) notes() []byte {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.state, suspect.Name))
	require.NoError(w.t, err)
	return data
}

// shownOf returns the positions up to which a session was shown: the record's, and the chat's if it
// is later.
func (w *world) shownOf(r session.Record) []talk.Cursor {
	w.t.Helper()
	for _, at := range w.shownInChats(cmp.Or(w.chats, w.state), r.ID) {
		at.Path = folders.Path(at.Path)
		r.Shown(at)
	}
	return r.Cursors
}

// shownInChats returns the positions of a session in the files of the conversations of a state
// folder.
func (w *world) shownInChats(state string, id uuid.UUID) (all []talk.Cursor) {
	w.t.Helper()
	names, err := filepath.Glob(filepath.Join(state, "chats", "*.json"))
	require.NoError(w.t, err)
	for _, name := range names {
		var chat struct {
			Cursors map[uuid.UUID]talk.Cursor `json:"cursors"`
		}
		data, err := os.ReadFile(name)
		require.NoError(w.t, err)
		require.NoError(w.t, json.Unmarshal(data, &chat), name)
		if at, is := chat.Cursors[id]; is {
			all = append(all, at)
		}
	}
	return all
}

// A transcript ends ccbot each time it is read. The start after the third death leaves it unread
// and answers; its session is unknown, and [Try again] reads the file once it is healed.
func TestP5_DeadlyTranscriptIsLeftUnread(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("one", w.dir)
	w.hear(w.say("say first"), "first")
	w.stop()
	path, before := w.transcriptPath(w.claudeIDOf("one")), w.shownOf(w.record("one"))
	boot := w.table.Self().Boot
	unread := func() []string { return suspect.Read(filepath.Join(w.state, suspect.Name), boot) }
	for range 3 {
		require.Empty(t, unread())
		file := filepath.Join(t.TempDir(), "reached")
		w.launch("CCBOT_FAILPOINT=read-noted", "CCBOT_FAILFILE="+file)
		w.until("it reads", func() bool { _, err := os.Stat(file); return err == nil })
		w.kill9()
	}
	require.Equal(t, []string{path}, unread())
	content, err := os.ReadFile(path)
	require.NoError(t, err)

	after := w.lastID()
	w.start("CCBOT_FAILPOINT=read-noted", "CCBOT_FAILFILE="+filepath.Join(t.TempDir(), "reached"))
	told := w.hear(after, "It leaves the file as it is")
	assert.Contains(t, told.Text, filepath.Base(path))
	w.hear(w.say("/health"), "is left unread")
	w.tap(w.hear(w.say("/kill one"), "End one"), "Kill")
	w.hear(told.ID, "Nothing was done")
	w.say("say second")
	w.stop()
	w.start() // the cause of its end is fixed
	assert.Equal(t, []string{path}, unread())
	now := w.record("one")
	assert.Equal(t, session.Running, now.State)
	assert.Equal(t, before, w.shownOf(now))
	same, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, string(content), string(same))
	assert.Equal(t, 1, w.heard("It leaves the file as it is"))

	w.tap(told, "Try again")
	w.shows(told.ID, "is read again")
	w.hear(told.ID, "second")
	assert.Empty(t, unread())
}
