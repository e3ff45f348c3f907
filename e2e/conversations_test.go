package e2e

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

const (
	group      = int64(-500)
	supergroup = int64(-1001234567890)
)

// hearIn waits for a message of the bot's in a chat that contains text.
func (w *world) hearIn(chat int64, text string) (found botapi.Message) {
	w.t.Helper()
	w.until("the bot says "+strconv.Quote(text)+" in "+strconv.FormatInt(chat, 10), func() bool {
		for _, m := range w.api.Messages(chat) {
			if m.FromBot && strings.Contains(m.Body(), text) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// count returns the number of the bot's messages in a chat that contain text.
func (w *world) count(chat int64, text string) (n int) {
	for _, m := range w.api.Messages(chat) {
		if m.FromBot && strings.Contains(m.Body(), text) {
			n++
		}
	}
	return n
}

// TestP5_GroupBecomesSupergroup: its sessions continue in the new chat, also after a crash, and the
// migration is logged once.
func TestP5_GroupBecomesSupergroup(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ALLOWED_CHATS="+strconv.FormatInt(group, 10))
	w.api.Group(group, "team", false)
	w.start()
	w.person.Send(group, "/new api "+w.dir)
	w.hearIn(group, "api is ready")
	w.person.Send(group, "say hello")
	w.hearIn(group, "hello")
	w.person.Send(group, "slow until told")
	require.NoError(t, w.person.Migrate(group, supergroup))
	said := w.hearIn(supergroup, "ALLOWED_CHATS")
	w.makes("told")
	w.hearIn(supergroup, "slow word")
	assert.Contains(t, said.Text, strconv.FormatInt(supergroup, 10))
	w.person.Send(supergroup, "say from the new chat")
	w.hearIn(supergroup, "from the new chat")
	w.kill9()
	calls := len(w.api.Calls())
	w.start()
	w.person.Send(supergroup, "say after a crash")
	w.hearIn(supergroup, "after a crash")
	assert.Equal(t, 1, w.count(supergroup, "ALLOWED_CHATS"))
	for _, c := range w.api.Calls()[calls:] {
		assert.NotEqual(t, strconv.FormatInt(group, 10), c.Params["chat_id"], "nothing is sent to the old chat")
	}
	w.stop()
}

// TestP5_DeletedTopicContinuesInChat deletes the topic of a session.
func TestP5_DeletedTopicContinuesInChat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.person.Start()
	topic := w.person.OpenTopic(w.chat(), "api")
	w.start()
	w.person.SendIn(w.chat(), topic, "/new api "+w.dir)
	assert.Equal(t, topic, w.hear(0, "api is ready").Thread)
	w.person.SendIn(w.chat(), topic, "slow until told")
	w.until("the agent works", func() bool { return len(w.received()) == 1 })
	require.NoError(t, w.person.DeleteTopic(w.chat(), topic))
	w.makes("told")
	said := w.hear(0, "is gone; the session")
	assert.Zero(t, said.Thread)
	answer := w.hear(0, "slow word")
	assert.Zero(t, answer.Thread)
	w.say("/list")
	w.hear(answer.ID, "api")
	w.stop()
}

// TestP5_BlockedBotKeepsAnswers: the bot sends nothing to the chat, and its answers come when the
// person returns.
func TestP5_BlockedBotKeepsAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("api", w.dir)
	w.say("slow until told")
	w.until("the agent works", func() bool { return len(w.received()) == 1 })
	w.person.Block(true)
	w.makes("told")
	marker := filepath.Join(w.state, "parked.json")
	w.until("the chat is parked", func() bool { _, err := os.Stat(marker); return err == nil })
	w.kill9()
	w.start()
	assert.Zero(t, w.count(w.chat(), "slow word"))
	w.person.Block(false)
	id := w.say("say and more")
	w.hear(0, "slow word")
	w.hear(id, "and more")
	w.until("the marker is gone", func() bool { _, err := os.Stat(marker); return os.IsNotExist(err) })
	w.stop()
}
