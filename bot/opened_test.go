package bot_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
)

// TestP8_SessionOpenedByItsMachineIsReportedOnce: the machine opens it without the chat, for a loop
// or a schedule. Its news may come twice.
func TestP8_SessionOpenedByItsMachineIsReportedOnce(t *testing.T) {
	for _, tt := range []struct {
		name   string
		state  session.State
		back   bool
		word   i18n.Key
		beside bool // another session is open
	}{
		{"for a loop", session.Starting, false, i18n.Started, false},
		{"for a loop, beside its other session", session.Starting, false, i18n.Started, true},
		{"back for a schedule", session.Restoring, true, i18n.Resuming, false},
		{"back for a schedule, beside another", session.Restoring, true, i18n.Resuming, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.Session(t, "api", tt.state)
			want := r.ID
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, uuid.Nil))
			if tt.beside {
				want = w.NewCurrentSession(t, "other", session.Running).ID
			}
			for range 2 {
				require.NoError(t, w.SessionNews(t.Context(), r, news.Opened{Back: tt.back}))
			}
			w.Work(t)
			assert.Equal(t, want, w.Chats.Current(chattest.AtAlice))
			assert.Equal(t, []string{w.Word(tt.word, i18n.Args{"Name": "api", "Dir": w.Short(r.Dir)})}, w.Telegram.Texts())
		})
	}
}
