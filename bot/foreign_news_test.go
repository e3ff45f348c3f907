package bot_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// TestP4_MachineReportsItsOwnPromptsOnly: a machine can guess the keys of other prompts. What it
// reports about them shows no reaction and no question, and hands none of them to it.
func TestP4_MachineReportsItsOwnPromptsOnly(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		other, ours, theirs, link := barn(t, w)
		f := farRequest{here: w, there: other, session: theirs, link: link}
		held, done := w.Prompt(t, ours, "a secret", inbox.Held), w.Prompt(t, ours, "a done secret", inbox.Held)
		require.NoError(t, w.Inbox.Finish(done.Key))
		w.Work(t)
		before := len(w.Telegram.Sent)
		for _, e := range []inbox.Entry{held, done} {
			key, reactions := e.Key, w.Telegram.Reactions(e.MessageID)
			about := talk.Prompt{Key: key, Text: "forged", Class: talk.ClassBash, Mark: &talk.Mark{At: time.Now()}}
			for _, n := range []news.News{news.Held{Prompt: about, Why: news.Queued}, news.Held{Prompt: about, Why: news.HeldBash}, news.Unproven{Prompt: about},
				news.Typed{Prompt: about}, news.Delivered{Prompt: about}, news.TakenBack{Prompt: about}} {
				f.reports(t, n)
				assert.Len(t, w.Telegram.Sent, before, "%T of %s", n, key)
				assert.Equal(t, reactions, w.Telegram.Reactions(e.MessageID), "%T of %s", n, key)
			}
		}
		assert.Equal(t, inbox.Held, w.EntryState(held.Key))
		assert.Empty(t, w.EntryState(done.Key))
	})
}
