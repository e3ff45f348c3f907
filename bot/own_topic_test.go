package bot_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// TestP5_TopicKeepsSessionDespiteOtherText: the other session is shown in its topic, or in the main
// lane.
func TestP5_TopicKeepsSessionDespiteOtherText(t *testing.T) {
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
				w.Later(chattest.Timeout)
				assert.Equal(t, at, w.Record(t, web.ID).Conversation)
				assert.Equal(t, web.ID, w.CurrentID(at, 0))
				assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(0), 0))
				assert.NotContains(t, strings.Join(edits(w), " "), web.Name, "no topic is called as another session")
			})
		})
	}
}

// TestP7_TopicKeepsSessionDespiteConnectedWindow: texts in the topic still go to its session.
func TestP7_TopicKeepsSessionDespiteConnectedWindow(t *testing.T) {
	inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
		w.Windows.All = []evidence.Window{chattest.AgentWindow(t, "@21", 4123)}
		w.Lifecycle.OnAdopt, w.Lifecycle.Shell = func(lifecycle.AdoptRequest) error { w.Windows.All = nil; return nil }, 99
		w.MustSayInForum(t, chattest.FirstTopic, "/list")
		w.Work(t)
		list := w.Telegram.Last(t)
		m, connect := w.AsTelegram(list), w.Spot(t, list, i18n.ButtonAdopt)
		m.Chat = chattest.Forum()
		require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Alice, m, connect.Button.Data)))
		w.Later(chattest.Timeout)
		mine := named(t, w, "mine")
		assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(0), 0))
		assert.Equal(t, chattest.InForum(1), mine.Conversation)
		assert.Equal(t, mine.ID, w.CurrentID(chattest.InForum(1), 0))
		assert.NotContains(t, strings.Join(edits(w), " "), "mine")
		assert.Equal(t, chattest.InForum(0), shown(t, w, w.Named(i18n.TopicItsOwn, "mine")).To)
	})
}

// TestP7_TopicKeepsSessionDespiteCopy: the session may be resumed there one day.
func TestP7_TopicKeepsSessionDespiteCopy(t *testing.T) {
	inStep(t, func(t *testing.T, w *chattest.World, api session.Record) {
		w.Write(chattest.InTerminal(4123))
		require.NoError(t, w.SessionNews(t.Context(), api, lifecycle.OtherWriters{chattest.InTerminal(4123)}))
		w.Work(t)
		reported := w.Telegram.Last(t)
		m, fork := w.AsTelegram(reported), w.Spot(t, reported, i18n.ButtonForkInstead)
		m.Chat = chattest.Forum()
		require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Alice, m, fork.Button.Data)))
		w.Later(chattest.Timeout)
		assert.Equal(t, api.ID, w.CurrentID(chattest.InForum(0), 0))
		assert.Equal(t, named(t, w, "api-fork").ID, w.CurrentID(chattest.InForum(1), 0))
	})
}
