package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// joins adds the bot to the group, and returns the question about it in the private chat.
func (w *world) joins() botapi.Message {
	w.t.Helper()
	w.api.Group(group, "team", false)
	bot := w.api.Bot()
	member := func(status string) string {
		return fmt.Sprintf(`{"status":%q,"user":{"id":%d,"is_bot":true,"first_name":%q}}`, status, bot.ID, bot.FirstName)
	}
	_, err := w.api.Inject(fmt.Appendf(nil, `{"my_chat_member":{"chat":{"id":%d,"type":"group","title":"team"},"date":%d,`+
		`"from":{"id":%d,"is_bot":false,"first_name":"You"},"old_chat_member":%s,"new_chat_member":%s}}`,
		group, w.api.Messages(w.chat())[0].Date, w.person.ID(), member("left"), member("member")))
	require.NoError(w.t, err)
	return w.hearIn(w.chat(), "every member will read")
}

// TestP9_AddedGroupIsHeardOnceAllowed: before the tap the group gets silence, after it answers,
// also from the next start.
func TestP9_AddedGroupIsHeardOnceAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.hear(w.say("/list"), "/new")
	asked := w.joins()
	w.person.Send(group, "/list")
	w.hear(w.say("/list"), "/new")
	assert.Zero(t, w.count(group, ""))
	w.tap(asked, "Allow this group")
	w.tap(w.hearIn(w.chat(), "Telegram does not list other bots"), "Only bot here")
	w.hearIn(w.chat(), "team ("+fmt.Sprint(group)+") is allowed")
	w.person.Send(group, "/list")
	w.hearIn(group, "/new")
	data, err := os.ReadFile(filepath.Join(w.state, "ccbot.env"))
	require.NoError(t, err)
	assert.Contains(t, string(data), "ALLOWED_CHATS="+fmt.Sprint(group)+"\n")
	w.kill9()
	before := w.count(group, "/new")
	w.start()
	w.person.Send(group, "/list")
	w.until("the group is heard again", func() bool { return w.count(group, "/new") > before })
	w.stop()
}

// TestP9_EmptyGroupsOfEnvironmentAllowNone: a tap could change only the file, which does not count.
func TestP9_EmptyGroupsOfEnvironmentAllowNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "ALLOWED_CHATS=")
	w.start()
	w.hear(w.say("/list"), "/new")
	asked := w.joins()
	assert.Contains(t, asked.Text, "ALLOWED_CHATS="+fmt.Sprint(group))
	_, allows := asked.Find("Allow this group")
	assert.False(t, allows)
	w.stop()
}
