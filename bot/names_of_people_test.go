package bot_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/address"
	"ccbot/internal/session"
)

// In a group an outcome names who has decided, and a card who is asked to write.
func TestRequestNamesWhoDecided(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		o := team{w, chattest.GroupChat(chattest.Ours)}
		o.says(t, 0, bob, "/list")
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		taps := func(q chattest.Asked, word i18n.Key) {
			id := w.Message(t, q)
			w.TapAt(t, chattest.Bob, o.group, id, chattest.DataBehind(t, w.Shows(t, id), w.Word(word)))
		}
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		taps(q, i18n.AskAllow)
		w.Result(t, q, "allow", "ok", false)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "✅ Allowed by Bob")

		q = w.AsksFor(t, r, "Bash", `{"command":"ls"}`)
		taps(q, i18n.AskDenyWhy)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "Bob writes it now, as the next message.")
		o.says(t, 0, bob, "use make instead")
		w.Work(t)
		assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "Denied by Bob")
		w.Restart(t)
		assert.Equal(t, "Bob", w.Who(chattest.InGroup, chattest.Bob), "the name is on disk")
	})
}

// Nobody is named to himself, where one person alone is allowed, or by a name that nobody has seen.
func TestWhoIsNamed(t *testing.T) {
	o := newTeam(t, chattest.GroupChat(chattest.Ours))
	assert.Empty(t, o.Who(chattest.InGroup, chattest.Bob), "his name is unknown")
	o.says(t, 0, bob, "/list")
	assert.Equal(t, "Bob", o.Who(chattest.InGroup, chattest.Bob))
	assert.Equal(t, "Bob", o.Who(chattest.AtAlice, chattest.Bob))
	assert.Empty(t, o.Who(address.Conversation{ChatID: chattest.Bob}, chattest.Bob))
	assert.Empty(t, o.Who(chattest.InGroup, 0), "a person at the desk")
	long := bob
	long.FirstName = "B\u202eob\nthe very long name of a person who likes names"
	o.says(t, 0, long, "/list")
	assert.Equal(t, "B·ob·the very long name of a pe…", o.Who(chattest.InGroup, chattest.Bob))
	delete(o.Config.People, chattest.Bob)
	o.Admit(o.Config.Lists)
	assert.Empty(t, o.Who(chattest.InGroup, chattest.Bob), "Alice alone is left")
	require.Empty(t, o.By(chattest.InGroup, chattest.Bob).Text)
}
