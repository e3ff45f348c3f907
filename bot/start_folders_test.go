package bot_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/internal/session"
)

// TestP9_StartInGroupOffersNoPrivateFolders: a group of several people gets the folders of its own
// sessions.
func TestP9_StartInGroupOffersNoPrivateFolders(t *testing.T) {
	w := newTeam(t, chattest.GroupChat(chattest.Ours))
	private, shared := w.Session(t, "secret", session.Archived), w.Session(t, "shared", session.Archived)
	w.Records.Change(private.ID, func(r *session.Record) { r.Dir = filepath.Join(r.Dir, "client", "api") })
	w.Records.Change(shared.ID, func(r *session.Record) { r.Dir, r.Conversation = filepath.Join(r.Dir, "api"), chattest.InGroup })
	w.says(t, 0, alice, "/start")
	w.Work(t)
	all := strings.Join(chattest.Words(w.Shows(t, w.Telegram.LastID())), "\n")
	assert.Contains(t, all, "api")
	assert.NotContains(t, all, "/")
	assert.NotContains(t, all, "client")
	w.MustHear(t, "/start")
	w.Work(t)
	assert.Contains(t, strings.Join(chattest.Words(w.Shows(t, w.Telegram.LastID())), "\n"), "client/api", "in private all are offered")
}
