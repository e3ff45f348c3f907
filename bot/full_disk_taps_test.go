package bot_test

import (
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/disk"
	"ccbot/internal/session"
)

// fillDisk makes every write in the world's folder fail until room is called.
func fillDisk(w *chattest.World) (room func()) {
	w.Telegram.OnPost = func(outbox.Message) error { return errFull(w) }
	end := disk.Fail(func(op, path string) error {
		if strings.HasPrefix(path, w.Dir) && (op == "create" || op == "openfile") {
			return syscall.ENOSPC
		}
		return nil
	})
	return func() {
		w.Telegram.OnPost = nil
		end()
	}
}

func errFull(w *chattest.World) error {
	return &fs.PathError{Op: "write", Path: w.Dir + "/sessions/x.json", Err: syscall.ENOSPC}
}

// lastAnswer is the text that the last tap was answered with.
func lastAnswer(t *testing.T, w *chattest.World) string {
	t.Helper()
	var last string
	for _, line := range w.Telegram.Done() {
		if text, ok := strings.CutPrefix(line, "answer query: "); ok {
			last = text
		}
	}
	return last
}

// TestP4_KillOnFullDiskEndsNothing: the failure is reported, the button stays, and a new tap ends
// the session.
func TestP4_KillOnFullDiskEndsNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "/kill")
	asked := w.Telegram.Last(t)
	room := fillDisk(w)
	defer room()
	w.Lifecycle.OnArchive = func(uuid.UUID) error { return errFull(w) }
	require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonKill))
	assert.Empty(t, lastAnswer(t, w))
	assert.Contains(t, w.LastSent(t).Text.Text, "is full")
	assert.Zero(t, w.Telegram.Spent, "the buttons stay")
	assert.Empty(t, w.Telegram.Edited)

	room()
	w.Lifecycle.OnArchive = nil
	before := len(w.Lifecycle.Done())
	assert.Equal(t, 1, before, "nothing is carried out later")
	require.NoError(t, w.TapShown(t, chattest.Alice, asked, i18n.ButtonKill))
	assert.Equal(t, "archive "+r.ID.String()+" as archived", w.Lifecycle.Done()[before])
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
}

// TestP4_AllowOnFullDiskDecidesNothing: a decision that is not on disk is not given to the hook.
func TestP4_AllowOnFullDiskDecidesNothing(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		data := chattest.DataBehind(t, w.Telegram.Sent[0], w.Word(i18n.AskAllow))
		u := chattest.TapOn(chattest.Alice, w.AsTelegram(w.Telegram.Sent[0]), data)
		room := fillDisk(w)
		defer room()
		_, err := w.Bot.Tap(t.Context(), u)
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.NoError(t, w.UpdateFailed(t.Context(), inbox.Failure{Update: u, Tap: true, Conversation: chattest.AtAlice,
			From: chattest.Alice, Err: err}))
		assert.Contains(t, lastAnswer(t, w), "is full")
		assert.Empty(t, w.Relay.Done())
		assert.Nil(t, w.RequestState(t, q).Answer)
		assert.Zero(t, w.Telegram.Spent)

		room()
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
	})
}

// TestP4_TextOutlivesFault: the inbox hands on again what a fault of the machine kept from being
// done.
func TestP4_TextOutlivesFault(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	key, u := w.AcceptText(t, "fix it")
	defer disk.Fail(func(op, path string) error {
		if op == "read" && strings.Contains(path, "/"+key+".json") {
			return syscall.EMFILE
		}
		return nil
	})()
	require.ErrorIs(t, w.Bot.Handle(t.Context(), key, u), inbox.ErrLater)
}

// TestP4_CommandOnFullDiskIsAnswered without the disk, and once.
func TestP4_CommandOnFullDiskIsAnswered(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	_, u := w.AcceptText(t, "/kill")
	defer fillDisk(w)()
	err := w.Bot.Handle(t.Context(), "1", u)
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, w.UpdateFailed(t.Context(), inbox.Failure{Update: u, Conversation: chattest.AtAlice, From: chattest.Alice,
		MessageID: u.Message.ID, Err: err}))
	require.Len(t, w.Telegram.Sent, 1)
	assert.Contains(t, w.Telegram.Sent[0].Text.Text, "is full")
	assert.Equal(t, u.Message.ID, w.Telegram.Sent[0].ReplyTo)
}
