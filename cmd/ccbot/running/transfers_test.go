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
	"ccbot/bot/inbox"
	"ccbot/cmd/ccbot/engine"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/recovery"
)

// TestP8_EarlierVersionsTransfersAreFinished reads folders as an earlier version left them when
// it ended within a transfer: the second record has all prompts afterwards, and the first one
// nothing.
func TestP8_EarlierVersionsTransfersAreFinished(t *testing.T) {
	const (
		running = `{"version":2,"id":%q,"name":"api","dir":"/src","host":"h","state":"running","claude_session_id":"1d7f7a04-6ba1-4a50-a3ae-2c0c2e3e5a11","conversation":{"chat_id":7},"owner":7,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","binding":{"server":{"socket":"s","pid":1,"start":1},"window":"@1","pane":"%%1","agent":{"pid":4194304,"start":1,"boot":"b"},"bound_at":"2026-01-01T00:00:00Z"},"prompts":[%s]%s}`
		closed  = `{"version":2,"id":%q,"name":"api","dir":"/src","host":"h","state":"lost","claude_session_id":"1d7f7a04-6ba1-4a50-a3ae-2c0c2e3e5a11","conversation":{"chat_id":7},"owner":7,"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z","closed_reason":"ownership_transferred"}`
	)
	from, to := uuid.MustParse("01900000-0000-7000-8000-000000000001"), uuid.MustParse("01900000-0000-7000-8000-000000000002")
	for point, crash := range map[string]struct {
		closed bool // the first record
		moved  bool // the prompts belong to the second record
	}{
		"target-recorded": {false, false},
		"prompts-moved":   {false, true},
		"source-closed":   {true, true},
	} {
		t.Run(point, func(t *testing.T) {
			w, dir := newInbox(t), t.TempDir()
			owner := from
			if crash.moved {
				owner = to
			}
			one, late := w.prompt(t, owner, "one", inbox.Held), w.prompt(t, owner, "accepted later", inbox.Held)
			keys := fmt.Sprintf("%q", one.Key)
			source := fmt.Sprintf(running, from, keys, "")
			if crash.closed {
				source = fmt.Sprintf(closed, from)
				keys += fmt.Sprintf(",%q", late.Key)
			}
			target := fmt.Sprintf(running, to, keys, fmt.Sprintf(`,"took_over_from":%q`, from))
			for id, record := range map[uuid.UUID]string{from: source, to: target} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, id.String()+".json"), []byte(record), 0o600))
			}
			store, err := session.Open(dir, t.TempDir(), func() time.Time { return cameIn }, slog.New(slog.DiscardHandler), nil)
			require.NoError(t, err)
			table, err := process.NewTable()
			require.NoError(t, err)
			chats, err := conversation.Open(filepath.Join(t.TempDir(), "chats"), t.TempDir(), slog.New(slog.DiscardHandler))
			require.NoError(t, err)
			at := session.Conversation{ChatID: 7}
			require.NoError(t, chats.SetCurrent(at, owner))
			backups := 0
			s := &system{prompts: w.prompts(t), Engine: &engine.Engine{Store: store, Settings: engine.Settings{Table: table}}}
			s.Recovery = &recovery.Recovery{
				Now: func() time.Time { return cameIn }, Backup: func(context.Context) (string, error) { backups++; return "", nil }}
			for range 2 {
				require.NoError(t, s.prompts.agree())
				require.NoError(t, finishTransfers(t.Context(), s, chats))
			}
			assert.Equal(t, to, chats.Current(at))
			second, _ := store.Get(to)
			if crash.moved && !crash.closed {
				assert.Contains(t, second.Prompts, one.Key) // the start finds the other one in the inbox
			} else {
				assert.Equal(t, []string{one.Key, late.Key}, second.Prompts)
			}
			first, _ := store.Get(from)
			assert.Equal(t, session.Lost, first.State)
			assert.True(t, first.HandedOver() && first.Binding == nil && len(first.Prompts) == 0)
			assert.False(t, first.Resumable())
			waiting, err := s.prompts.waiting()
			require.NoError(t, err)
			assert.Equal(t, map[uuid.UUID][]string{to: {one.Key, late.Key}}, waiting)
			assert.Equal(t, !crash.closed, backups == 1)
		})
	}
}
