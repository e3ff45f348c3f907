package running

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/conversation"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// savedCursors saves each position in the record.
type savedCursors struct{ *session.Store }

func (s savedCursors) Advance(ctx context.Context, id uuid.UUID, c talk.Cursor) error {
	return s.Do(ctx, id, func(r *session.Record, save func() error) error {
		r.Cursors[0] = c
		return save()
	})
}

// TestP5_StartHasLaterCursor reads folders in which the chat and the record have a position: as a
// kill leaves them, and as the version before left them, in which only records had positions.
func TestP5_StartHasLaterCursor(t *testing.T) {
	const record = `{"version":2,"id":%q,"name":"api","dir":"/src","host":"h","state":%q,"agent_session_id":"1d7f7a04-6ba1-4a50-a3ae-2c0c2e3e5a11","conversation":{"chat_id":7},"owner":7,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","cursors":[{"path":"/t.jsonl","offset":100,"block":1,"part":2},{"path":"/next.jsonl","offset":0,"block":0,"part":0}]}`
	const chat = `{"version":1,"current":"00000000-0000-0000-0000-000000000000"%s}`
	at := func(path string, offset, block, part int) string {
		return fmt.Sprintf(`{"path":%q,"offset":%d,"block":%d,"part":%d}`, path, offset, block, part)
	}
	own := talk.Cursor{Path: "/t.jsonl", Offset: 100, Block: 1, Part: 2}
	for _, tt := range []struct {
		name  string
		state session.State
		chats []string // the position in each conversation; "": none
		want  talk.Cursor
		kept  bool // the chat still has one
	}{
		{"the version before: no file of the chat", session.Running, nil, own, false},
		{"the version before: a file without positions", session.Running, []string{""}, own, false},
		{"the chat has a later part", session.Running, []string{at("/t.jsonl", 100, 1, 3)}, talk.Cursor{Path: "/t.jsonl", Offset: 100, Block: 1, Part: 3}, true},
		{"the chat has a later line", session.Running, []string{at("/t.jsonl", 200, 0, 0)}, talk.Cursor{Path: "/t.jsonl", Offset: 200}, true},
		{"killed while it moved to another conversation", session.Running, []string{at("/t.jsonl", 200, 0, 0), at("/t.jsonl", 150, 0, 0)}, talk.Cursor{Path: "/t.jsonl", Offset: 200}, true},
		{"killed between two parts, while it moved", session.Running, []string{at("/t.jsonl", 100, 1, 4), at("/t.jsonl", 100, 1, 3)}, talk.Cursor{Path: "/t.jsonl", Offset: 100, Block: 1, Part: 4}, true},
		{"the record has a later part", session.Running, []string{at("/t.jsonl", 100, 1, 1)}, own, true},
		{"a restore has moved the record on", session.Running, []string{at("/t.jsonl", 50, 0, 0)}, own, true},
		{"the transcript was read to its end", session.Running, []string{at("/before.jsonl", 900, 0, 0)}, own, true},
		{"the chat never goes ahead of the record's transcripts", session.Running, []string{at("/next.jsonl", 900, 0, 0)}, own, true},
		{"the session ended", session.Completed, []string{at("/t.jsonl", 200, 0, 0)}, talk.Cursor{Path: "/t.jsonl", Offset: 200}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			id, dir, quarantine := uuid.MustParse("01900000-0000-7000-8000-000000000001"), t.TempDir(), t.TempDir()
			require.NoError(t, os.Mkdir(filepath.Join(dir, "chats"), 0o700))
			require.NoError(t, os.Mkdir(filepath.Join(dir, "sessions"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "sessions", id.String()+".json"), fmt.Appendf(nil, record, id, tt.state), 0o600))
			for n, stored := range tt.chats {
				if stored != "" {
					stored = fmt.Sprintf(`,"cursors":{%q:%s}`, id, stored)
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, "chats", fmt.Sprintf("7-%d.json", n)), fmt.Appendf(nil, chat, stored), 0o600))
			}
			for range 2 { // a second start changes nothing
				store, err := session.Open(filepath.Join(dir, "sessions"), quarantine, time.Now, slog.New(slog.DiscardHandler), nil)
				require.NoError(t, err)
				chats, err := conversation.Open(filepath.Join(dir, "chats"), quarantine, slog.New(slog.DiscardHandler))
				require.NoError(t, err)
				noteCursors(t.Context(), store, savedCursors{store}, chats, slog.New(slog.DiscardHandler))
				r, ok := store.Get(id)
				require.True(t, ok)
				assert.Equal(t, []talk.Cursor{tt.want, {Path: "/next.jsonl"}}, r.Cursors)
				assert.Equal(t, tt.kept, len(chats.Cursors().All()) > 0)
			}
		})
	}
}
