package bot_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port/talk"
)

// longWorld has a session that says more than fits in memory, and what was uploaded. Most bytes of
// it are sent unasked.
func longWorld(t *testing.T, most int64, lines ...string) (w *chattest.World, r session.Record, uploads *[]string) {
	t.Helper()
	w, uploads = chattest.NewWorld(t), new([]string)
	w.Talk.Gives = func(item talk.Item) {
		if item.Rest != nil && !item.Rest.Raw {
			item.Rest.Most = most
		}
	}
	w.Telegram.Upload = func(f outbox.File) error {
		*uploads = append(*uploads, chattest.Content(t, f))
		return nil
	}
	r = w.NewCurrentSession(t, "api", session.Completed, chattest.TranscriptOf(t, "t.jsonl", lines...))
	return w, r, uploads
}

func tooLong() string { return chattest.Long(int(jsonl.Budget() / 30)) }

// TestP5_LongTextIsSentWhole: a tap shows the omitted part, and the cursor is after the mark.
func TestP5_LongTextIsSentWhole(t *testing.T) {
	text := tooLong()
	first := chattest.Says(text)
	w, r, uploads := longWorld(t, 1<<20, first, chattest.Says("end"))
	w.ReadNow(t, r)
	w.Telegram.Deliver(t.Context())
	require.Len(t, *uploads, 1)
	assert.True(t, text[:1<<20] == (*uploads)[0], "the text up to the bound")
	assert.True(t, strings.HasPrefix(text, strings.TrimSuffix(w.Telegram.Files[0].Caption.Text, "…")))
	mark := w.Telegram.Sent[0]
	assert.Equal(t, []string{w.Word(i18n.TextTooLong, i18n.Args{"Name": "api", "Size": w.In(chattest.AtAlice).Size(int64(len(text))),
		"Missing": w.In(chattest.AtAlice).Size(int64(len(text) - 1<<20))}), "end"}, w.Telegram.AnswersSent())
	assert.Equal(t, int64(len(first)+len(chattest.Says("end"))), w.Cursors(r)[0].Offset)

	w.Again()
	stop := w.Running(t)
	for n := range 2 { // the button stays
		require.NoError(t, w.TapShown(t, chattest.Alice, mark, i18n.ButtonGetIt))
		waittest.Until(t, func() bool {
			w.Telegram.Mu.Lock()
			defer w.Telegram.Mu.Unlock()
			return len(w.Telegram.Files) >= n+2
		})
	}
	require.NoError(t, stop())
	assert.True(t, text == (*uploads)[0]+(*uploads)[1], "nothing is missing, nothing comes twice")
}

func TestGetItReportsUnsentFile(t *testing.T) {
	for _, tt := range []struct {
		name string
		cut  func(t *testing.T, r session.Record)
		want i18n.Key
	}{
		{"the transcript is gone", func(t *testing.T, r session.Record) { require.NoError(t, os.Remove(r.Cursors[0].Path)) }, i18n.RestGone},
		{"the chat has all of it", func(*testing.T, session.Record) {}, i18n.RestNone},
		{"it is another one", func(t *testing.T, r session.Record) { require.NoError(t, os.Truncate(r.Cursors[0].Path, 100)) }, i18n.RestGone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			most := int64(1 << 20)
			text := tooLong()
			if tt.want == i18n.RestNone { // each line break takes two bytes in the transcript
				text = strings.ReplaceAll(text, " ", "\n")
				most = int64(len(text))
			}
			w, r, _ := longWorld(t, most, chattest.Says(text))
			w.ReadNow(t, r)
			w.Telegram.Deliver(t.Context())
			mark := w.Telegram.Sent[0]
			tt.cut(t, r)
			stop := w.Running(t)
			require.NoError(t, w.TapShown(t, chattest.Alice, mark, i18n.ButtonGetIt))
			waittest.Until(t, func() bool { return chattest.Contains(w.Telegram.Texts(), chattest.Warning+w.Word(tt.want)) })
			require.NoError(t, stop())
		})
	}
}
