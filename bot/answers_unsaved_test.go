package bot_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// refuses makes the disk refuse the cursors of one session, until heal is called.
func refuses(w *chattest.World, id uuid.UUID) (heal func()) {
	healed := make(chan struct{})
	w.Lifecycle.OnAdvance = func(session uuid.UUID, _ talk.Cursor) error {
		select {
		case <-healed:
		default:
			if session == id {
				return chattest.ErrDisk
			}
		}
		return nil
	}
	return func() { close(healed) }
}

// TestP5_NextPartWaitsForCursor: while the disk refuses the cursor of a part, the session's next
// part is not sent, the chat gets one notice, and other sessions and commands do not wait. When the
// disk works, the rest comes once.
func TestP5_NextPartWaitsForCursor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		long := chattest.Long(1500)
		r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", chattest.Says(long), chattest.Says("end")))
		heal := refuses(w, r.ID)
		stop := w.Running(t)
		time.Sleep(10 * time.Minute)
		waits := chattest.Warning + w.Word(i18n.AnswerUnsaved, i18n.Args{"Name": "api"})
		got := w.Telegram.AnswersSent()
		require.Len(t, got, 2, "one part, and the reason why no more come")
		assert.Equal(t, waits, got[1])

		w.NewTranscript(t, w.Session(t, "other", session.Completed, chattest.TranscriptOf(t, "o.jsonl", chattest.Says("another"), chattest.TurnEnd)))
		w.MustHear(t, "/list")
		w.Work(t)
		time.Sleep(time.Second)
		assert.Contains(t, w.Telegram.Texts(), w.Notice("other", "another"))
		assert.Len(t, w.Telegram.Texts(), 2, "and /list is answered")
		assert.Len(t, w.Telegram.AnswersSent(), 2)

		heal()
		time.Sleep(5 * time.Second)
		require.NoError(t, stop())
		all := w.Telegram.AnswersSent()
		assert.Equal(t, strings.Fields(long+" end"), strings.Fields(strings.Join(append(all[:1:1], all[2:]...), " ")))
	})
}

// TestP5_KillWhileCursorUnsavedRepeatsOne, even after many checks of the session.
func TestP5_KillWhileCursorUnsavedRepeatsOne(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
	}{
		{"a text of several parts", []string{chattest.Says(chattest.Long(1500)), chattest.Says("end")}},
		{"texts", []string{chattest.Says("one"), chattest.PromptLine("p"), chattest.Says("two"), chattest.PromptLine("q"), chattest.Says("three")}},
		{"what has failed", []string{chattest.Says("one"), chattest.APIError, chattest.PromptLine("p"), chattest.Says("two")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := chattest.NewWorld(t)
				r := w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", tt.lines...))
				_ = refuses(w, r.ID)
				stop := w.Running(t)
				for range 5 {
					time.Sleep(time.Second)
					w.NewTranscript(t, r)
				}
				require.NoError(t, stop())
				begun := w.Telegram.AnswersSent()
				w.Lifecycle.OnAdvance = nil
				w.Again()
				w.ReadNow(t, r)
				again := w.Telegram.AnswersSent()[len(begun):]
				require.NotEmpty(t, again)
				assert.Equal(t, begun[0], again[0], "the part in flight")
				for _, part := range again[1:] {
					assert.NotContains(t, begun, part)
				}
			})
		})
	}
}
