package bot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/internal/session"
)

// TestP5_ATopicStaysItsSessionsWhereATextGoesToAnother: that other session is shown in a topic of its own, or
// in the main lane.
func TestP5_ATopicStaysItsSessionsWhereATextGoesToAnother(t *testing.T) {
	for name, at := range map[string]session.Conversation{"its own topic": chattest.InForum(1), "the main lane": chattest.InGroup} {
		t.Run(name, func(t *testing.T) {
			inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
				web := w.Session(t, "web", session.Running)
				if at.ThreadID != 0 {
					w.MustSayInForum(t, 0, "/new docs /")
					web = named(t, w, "docs")
				}
				w.Records.Change(web.ID, func(r *session.Record) { r.State, r.Conversation = session.Running, at })
				w.Records.Change(api.ID, func(r *session.Record) { r.State = session.Archived })
				w.MustSayInForum(t, chattest.FirstTopic, "go on")
				w.Work(t)
				require.NoError(t, w.Chooses(t, w.LastSent(t), web.Name))
				assert.Contains(t, w.Lifecycle.Done()[len(w.Lifecycle.Done())-1], "for "+web.ID.String())
				w.Later(chattest.Patience)
				assert.Equal(t, at, w.Record(t, web.ID).Conversation)
				assert.Equal(t, web.ID, w.CurrentID(at))
				assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(0)))
				assert.NotContains(t, strings.Join(edits(w), " "), web.Name, "no topic is called as another session")
			})
		})
	}
}
