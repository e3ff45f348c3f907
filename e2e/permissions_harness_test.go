package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

func containsFold(text, part string) bool {
	return strings.Contains(strings.ToLower(text), strings.ToLower(part))
}

// likeButton is the data of the first button whose word contains text; "" for
// none.
func likeButton(m botapi.Message, text string) string {
	for _, row := range m.Keyboard {
		for _, b := range row {
			if strings.Contains(b.Text, text) {
				return b.Data
			}
		}
	}
	return ""
}

// tapLike taps the first button whose word contains text.
func (w *world) tapLike(m botapi.Message, text string) {
	w.t.Helper()
	for _, row := range m.Keyboard {
		for _, b := range row {
			if strings.Contains(b.Text, text) {
				w.tap(m, b.Text) // also if it was drawn again, or brought below
				return
			}
		}
	}
	require.Fail(w.t, "no button", "message %q has no button like %q", m.Text, text)
}

// shownIs waits until the bot has noted on disk that a message is in the chat: a
// crash before that sends it once more.
func (w *world) shownIs(m botapi.Message) {
	w.t.Helper()
	w.until("the message is noted", func() bool { return w.noted(m) || w.noted(w.follow(m)) })
}

// noted reports whether the message is on disk.
func (w *world) noted(m botapi.Message) bool {
	w.t.Helper()
	cards, err := filepath.Glob(filepath.Join(w.state, "cards", "*.json"))
	require.NoError(w.t, err)
	for _, card := range cards {
		data, err := os.ReadFile(card)
		if err == nil && strings.Contains(string(data), fmt.Sprintf(`"message":%d`, m.ID)) {
			return true
		}
	}
	return false
}

// screenHas reports whether the window of a session shows a text.
func (w *world) screenHas(name, text string) bool {
	w.t.Helper()
	return strings.Contains(w.tmux("capture-pane", "-p", "-t", "=ccbot:="+name), text)
}
