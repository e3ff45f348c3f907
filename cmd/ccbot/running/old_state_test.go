package running

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/conversation"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// testdata/state was written by the program before stored news had views. It was killed when the
// chat had the receipt of an archive and the record did not know that. The folder loads without
// loss, and the receipt is not repeated.
func TestP8_StateOfEarlierProgramLoads(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "state"))))
	quarantine, log := filepath.Join(dir, "quarantine"), slog.New(slog.DiscardHandler)
	records, err := session.Open(filepath.Join(dir, "sessions"), quarantine, time.Now, log, nil)
	require.NoError(t, err)
	chats, err := conversation.Open(filepath.Join(dir, "chats"), quarantine, log)
	require.NoError(t, err)
	assert.NoDirExists(t, quarantine)
	all := records.List()
	require.Len(t, all, 2)
	pending := 0
	for _, r := range all {
		want, err := os.ReadFile(filepath.Join(dir, "sessions", r.ID.String()+".json"))
		require.NoError(t, err)
		whole, err := records.Whole(r.ID)
		require.NoError(t, err)
		got, err := json.Marshal(whole)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got), "no field is lost")
		for _, n := range r.News {
			pending++
			told, err := news.Decode(n.Kind, n.Body)
			require.NoError(t, err)
			assert.Empty(t, n.View)
			s := port.Session{ID: r.ID, Conversation: r.Conversation, News: n.Number}
			require.NoError(t, conversation.News{In: chats}.Once(s, told, func() error {
				t.Errorf("%s comes again", n.Kind)
				return nil
			}))
		}
	}
	assert.NotZero(t, pending)
	want, err := os.ReadFile(filepath.Join("testdata", "state", "chats", "1001-0.json"))
	require.NoError(t, err)
	require.NoError(t, chats.SetCurrent(chats.All()[0], chats.Current(chats.All()[0])))
	got, err := os.ReadFile(filepath.Join(dir, "chats", "1001-0.json"))
	require.NoError(t, err)
	assert.JSONEq(t, string(want), string(got))
}
