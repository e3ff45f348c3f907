package bot_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestRequestInClosedGroupIsAnsweredByEachPerson: while its topic and General are closed, each allowed
// person can answer a request in private, also after a restart. Each message then says who did, and
// nothing is repeated when the topic is open again.
func TestRequestInClosedGroupIsAnsweredByEachPerson(t *testing.T) {
	for _, tt := range []struct {
		tool, input string
		answer      i18n.Key
	}{
		{"Bash", chattest.Bash, i18n.AskAllow},
		{"AskUserQuestion", `{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red"},{"label":"Blue"}]}]}`, i18n.AskSkip},
		{"ExitPlanMode", `{"plan":"Paint it red."}`, i18n.AskApprove},
	} {
		for name, restarts := range map[string]bool{" at once": false, " after a restart": true} {
			chattest.RunsAs(t, tt.tool+name, func(t *testing.T, w *chattest.World) {
				r := w.NewCurrentSession(t, "api", session.Running)
				atBob := session.Conversation{ChatID: chattest.Bob}
				require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, w.Session(t, "mine", session.Running).ID))
				require.NoError(t, w.Chats.SetCurrent(atBob, w.Session(t, "his", session.Running).ID))
				w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Owner = chattest.InGroup, chattest.Alice })
				w.Telegram.Shut = chattest.InGroup
				q := w.AsksFor(t, w.Record(t, r.ID), tt.tool, tt.input)
				sentTo := func(to session.Conversation) (ids []int) {
					for i, m := range w.Telegram.Sent {
						if m.To == to {
							ids = append(ids, i+1)
						}
					}
					return ids
				}
				require.Len(t, sentTo(chattest.AtAlice), 1)
				require.Len(t, sentTo(atBob), 1)
				if restarts {
					w.Restart(t)
				}
				his := sentTo(atBob)[0]
				assert.True(t, slices.Contains(chattest.Words(w.Shows(t, his)), w.Word(tt.answer)))
				w.Press(t, chattest.Bob, his, w.Word(tt.answer))
				assert.Equal(t, ask.StageSent, w.RequestState(t, q).Stage)
				assert.Equal(t, chattest.Bob, w.RequestState(t, q).By)
				w.Telegram.Shut = session.Conversation{}
				ask.WakeAll(w.Requests)
				w.Work(t)
				for _, to := range []session.Conversation{chattest.AtAlice, atBob} {
					require.Len(t, sentTo(to), 1)
					assert.Empty(t, w.Shows(t, sentTo(to)[0]).Buttons)
				}
				assert.Empty(t, sentTo(chattest.InGroup))
			})
		}
	}
}
