package lifecycle

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// The chat has stored the position of a part that it has shown: the record of a running session
// gets it with its next save, and the record of an ended session at once.
func TestP5_ShownPartWritesNoRecord(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.started()
		path := w.transcript(r.AgentSessionID)
		w.edit(r.ID, func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: path, Offset: 5}} })
		onDisk := func() talk.Cursor {
			data, err := os.ReadFile(filepath.Join(w.base, "state", "sessions", r.ID.String()+".json"))
			require.NoError(t, err)
			var r session.Record
			require.NoError(t, json.Unmarshal(data, &r))
			return r.Cursors[0]
		}
		flushes := 0
		end := disk.Fail(func(op, _ string) error {
			if op == "sync" || op == "replace" {
				flushes++
			}
			return nil
		})
		for part := range 3 {
			c := talk.Cursor{Path: path, Offset: 7, Part: part}
			require.NoError(t, w.Advance(w.ctx, r.ID, c))
			assert.Equal(t, c, w.get(r.ID).Cursors[0])
		}
		end()
		assert.Zero(t, flushes)
		assert.Equal(t, int64(5), onDisk().Offset)
		require.NoError(t, w.Rename(w.ctx, r.ID, "other"))
		assert.Equal(t, talk.Cursor{Path: path, Offset: 7, Part: 2}, onDisk(), "the next save has it")

		require.NoError(t, w.Advance(w.ctx, r.ID, talk.Cursor{Path: path, Offset: 3}))
		assert.Equal(t, int64(3), onDisk().Offset, "the transcript was replaced: the earlier position is saved at once")
		w.edit(r.ID, func(r *session.Record) { r.Cursors = append(r.Cursors, talk.Cursor{Path: "next.jsonl"}) })
		require.NoError(t, w.Advance(w.ctx, r.ID, talk.Cursor{Path: "next.jsonl"}))
		assert.Equal(t, "next.jsonl", onDisk().Path, "also the end of a transcript")
		assert.Len(t, w.get(r.ID).Cursors, 1)

		w.archive(r)
		require.NoError(t, w.Advance(w.ctx, r.ID, talk.Cursor{Path: "next.jsonl", Offset: 9}))
		assert.Equal(t, int64(9), onDisk().Offset, "an ended session's record has no next save")
	})
}
