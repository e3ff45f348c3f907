package conversation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// flushes counts the flushes of the disk during do.
func flushes(t require.TestingT, do func() error) (n int) {
	end := disk.Fail(func(op, _ string) error {
		if op == "sync" || op == "replace" { // a replaced file is flushed
			n++
		}
		return nil
	})
	defer end()
	require.NoError(t, do())
	return n
}

func TestP5_CursorComesWithMessage(t *testing.T) {
	dir, id := t.TempDir(), uuid.New()
	c := openIn(t, dir)
	at := talk.Cursor{Path: "t.jsonl", Offset: 10, Block: 1, Part: 2, Form: "rich"}
	require.NoError(t, c.NoteSent(atAlice, 5, id, at))
	assert.Equal(t, map[uuid.UUID][]talk.Cursor{id: {at}}, openIn(t, dir).Cursors().All(), "killed after the message")
	assert.Zero(t, flushes(t, func() error { return c.Cursors().Note(atAlice, id, at) }), "it is on disk")
	assert.Equal(t, 2, flushes(t, func() error { return c.NoteSent(atAlice, 6, id, talk.Cursor{Path: "t.jsonl", Offset: 20}) }))
	require.NoError(t, c.NoteSent(atAlice, 7, id, talk.Cursor{}))
	assert.Equal(t, int64(20), openIn(t, dir).Cursors().All()[id][0].Offset, "the message shows no part")
}

// TestP8_CursorIsNeverEarlier kills the chat after each write: the latest of the stored positions
// is never before one that a finished call has stored.
func TestP8_CursorIsNeverEarlier(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		require.NoError(rt, os.RemoveAll(filepath.Join(dir, "chats")))
		c := openIn(t, filepath.Join(dir, "chats"))
		ids := []uuid.UUID{uuid.New(), uuid.New()}
		places := []session.Conversation{atAlice, {ChatID: 7, ThreadID: 5}, {ChatID: -8}}
		stored := make(map[uuid.UUID]int64)
		for n := range rapid.IntRange(1, 20).Draw(rt, "steps") {
			id, to := rapid.SampledFrom(ids).Draw(rt, "session"), rapid.SampledFrom(places).Draw(rt, "to")
			at := talk.Cursor{Path: "t", Offset: int64(n + 1)}
			writes, dies := 0, rapid.IntRange(0, 3).Draw(rt, "dies after")
			end := disk.Fail(func(op, _ string) error {
				if op == "create" {
					writes++
				}
				if writes > dies {
					return os.ErrDeadlineExceeded
				}
				return nil
			})
			var err error
			switch rapid.IntRange(0, 3).Draw(rt, "step") {
			case 0:
				err = c.NoteSent(to, n+1, id, at)
			case 1:
				err = c.Cursors().Note(to, id, at)
			case 2:
				other := rapid.SampledFrom(places).Filter(func(p session.Conversation) bool { return p != to }).Draw(rt, "other")
				err, at.Offset = c.Rehome(to, other), 0
			case 3:
				if err = c.NoteSent(to, n+1, id, at); err == nil {
					err = c.Cursors().Note(places[0], id, at)
				}
			}
			end()
			if err == nil && at.Offset > 0 {
				stored[id] = at.Offset
			}
			if err != nil {
				c = openIn(t, filepath.Join(dir, "chats"))
			}
			for id, offset := range stored {
				latest := int64(0)
				for _, at := range c.Cursors().All()[id] {
					latest = max(latest, at.Offset)
				}
				assert.GreaterOrEqual(rt, latest, offset)
			}
		}
	})
}

func TestP5_CursorFollowsConversation(t *testing.T) {
	dir, id, topic := t.TempDir(), uuid.New(), session.Conversation{ChatID: 7, ThreadID: 5}
	c := openIn(t, dir)
	at := func(offset int64) talk.Cursor { return talk.Cursor{Path: "t.jsonl", Offset: offset} }
	require.NoError(t, c.Cursors().Note(topic, id, at(10)))
	require.NoError(t, c.Cursors().Note(atAlice, id, at(20)))
	assert.Equal(t, map[uuid.UUID][]talk.Cursor{id: {at(20)}}, openIn(t, dir).Cursors().All(), "the earlier place has none")
	require.NoError(t, c.NoteSent(topic, 5, id, at(30)))
	require.NoError(t, c.Cursors().Note(atAlice, id, at(30)))
	assert.Equal(t, []talk.Cursor{at(30)}, c.Cursors().All()[id], "the message came in a topic")
	require.NoError(t, c.Rehome(topic, atAlice))
	assert.Equal(t, []talk.Cursor{at(30)}, openIn(t, dir).Cursors().All()[id])
	require.NoError(t, c.Cursors().Drop(id))
	assert.Zero(t, flushes(t, func() error { return c.Cursors().Drop(id) }))
	require.NoError(t, c.Cursors().Note(atAlice, id, at(40)))
	require.NoError(t, c.Forget(id))
	data, err := os.ReadFile(filepath.Join(dir, nameOf(atAlice)))
	require.NoError(t, err)
	assert.NotContains(t, string(data), id.String(), "nothing stays of a forgotten session")
}
