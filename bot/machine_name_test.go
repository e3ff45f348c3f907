package bot_test

import (
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
)

// TestMachineNamesItsTopicsAndSessions: in a group with several bots a person sees which machine a
// session is on.
func TestMachineNamesItsTopicsAndSessions(t *testing.T) {
	for _, tt := range []struct {
		name   string
		others bool
		topic  string
		line   string
	}{
		{"several bots", true, "api · tower", "api · tower · "},
		{"one bot", false, "api", "api · "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.MachineName = "tower"
			w.Again()
			require.NoError(t, w.Chats.ResetBots(chattest.Ours, tt.others))
			w.MustSayInForum(t, 0, "/new api /")
			assert.Equal(t, []string{"open topic " + tt.topic + " (open) in -100"}, opened(w))
			w.MustSayInForum(t, 0, "/list")
			list := w.Telegram.Texts()[len(w.Telegram.Texts())-1]
			assert.Contains(t, list, tt.line)
			assert.Equal(t, tt.others, strings.Contains(list, "tower"), list)

			edited := models.Message{ForumTopicEdited: &models.ForumTopicEdited{Name: "web · tower"}}
			require.NoError(t, w.SaysInForum(t, chattest.FirstTopic, edited))
			want := "web-·-tower"
			if tt.others {
				want = "web"
			}
			named(t, w, want)
		})
	}
}
