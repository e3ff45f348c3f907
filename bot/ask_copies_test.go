package bot_test

import (
	"slices"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

const whichColour = `{"questions":[{"question":"Which colour?","header":"Colour","multiSelect":false,"options":[{"label":"Red"},{"label":"Blue"}]}]}`

// asksWhileClosed makes a request of a session of Alice whose topic and General are closed, and returns what lists the messages
// that were sent to a place.
func asksWhileClosed(t *testing.T, w *chattest.World, tool, input string) (q chattest.Asked, sentTo func(session.Conversation) []int) {
	t.Helper()
	r := w.NewCurrentSession(t, "api", session.Running)
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, w.Session(t, "mine", session.Running).ID))
	require.NoError(t, w.Chats.SetCurrent(atBob, w.Session(t, "his", session.Running).ID))
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation, r.Owner = chattest.InGroup, chattest.Alice })
	w.Telegram.Shut = chattest.InGroup
	return w.AsksFor(t, w.Record(t, r.ID), tool, input), func(to session.Conversation) (ids []int) {
		for i, m := range w.Telegram.Sent {
			if m.To == to {
				ids = append(ids, i+1)
			}
		}
		return ids
	}
}

// TestRequestInClosedGroupIsAnsweredByEachPerson: while its topic and General are closed, each allowed
// person can answer a request in private, also after a restart. Each message then says who did, and
// nothing is repeated when the topic is open again.
func TestRequestInClosedGroupIsAnsweredByEachPerson(t *testing.T) {
	for _, tt := range []struct {
		tool, input string
		answer      i18n.Key
	}{
		{"Bash", chattest.Bash, i18n.AskAllow},
		{"AskUserQuestion", whichColour, i18n.AskSkip},
		{"ExitPlanMode", `{"plan":"Paint it red."}`, i18n.AskApprove},
	} {
		for name, restarts := range map[string]bool{" at once": false, " after a restart": true} {
			chattest.RunsAs(t, tt.tool+name, func(t *testing.T, w *chattest.World) {
				q, sentTo := asksWhileClosed(t, w, tt.tool, tt.input)
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

// TestReasonOnCopyDecides: a reason, and an answer in somebody's own words, count where their person writes them, and are
// confirmed there.
func TestReasonOnCopyDecides(t *testing.T) {
	for _, tt := range []struct {
		tool, input string
		begin       i18n.Key
	}{
		{"Bash", chattest.Bash, i18n.AskDenyWhy},
		{"AskUserQuestion", whichColour, i18n.AskOther},
	} {
		chattest.RunsAs(t, tt.tool, func(t *testing.T, w *chattest.World) {
			q, sentTo := asksWhileClosed(t, w, tt.tool, tt.input)
			w.Press(t, chattest.Bob, sentTo(atBob)[0], w.Word(tt.begin))
			w.MustHear(t, "of another session") // Alice's, who was asked for nothing
			assert.Empty(t, w.Relay.Done())
			key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.PrivateChat(chattest.Bob), Text: "use green"})
			require.NoError(t, w.Handle(t.Context(), key, u))
			w.Work(t)
			require.Len(t, w.Relay.Done(), 1)
			s := w.RequestState(t, q)
			assert.Contains(t, append(s.Answer.Answers, s.Answer.Text), "use green")
			assert.Equal(t, chattest.Bob, s.By)
			assert.Equal(t, atBob, s.TextIn)
			for _, to := range []session.Conversation{chattest.AtAlice, atBob} {
				assert.Empty(t, w.Shows(t, sentTo(to)[0]).Buttons)
			}
		})
	}
}

// TestP7_CopyAllowsOnlyWhatItHasShown: who has read all of a request may allow it, in the place where it was read, and nowhere else.
func TestP7_CopyAllowsOnlyWhatItHasShown(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		q, sentTo := asksWhileClosed(t, w, "Bash", `{"command":"echo a\u202eb"}`)
		hers, his := sentTo(chattest.AtAlice)[0], sentTo(atBob)[0]
		w.Press(t, chattest.Bob, his, w.Word(i18n.AskShowAll))
		w.Work(t)
		below := sentTo(atBob)[len(sentTo(atBob))-1]
		assert.NotEqual(t, his, below, "the copy comes again below the parts")
		assert.True(t, w.Has(w.Shows(t, below), i18n.AskAllow))
		assert.False(t, w.Has(w.Shows(t, hers), i18n.AskAllow))
		assert.Len(t, sentTo(chattest.AtAlice), 1)
		assert.False(t, w.RequestState(t, q).AllShown)
		allow := chattest.DataBehind(t, w.Shows(t, below), w.Word(i18n.AskAllow))
		deny := chattest.DataBehind(t, w.Shows(t, hers), w.Word(i18n.AskDeny))
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), hers, chattest.OfCard(allow, deny))
		assert.Empty(t, w.Relay.Done(), "she has not read it")
		w.Restart(t)
		w.Press(t, chattest.Bob, below, w.Word(i18n.AskAllow))
		assert.Equal(t, ask.StageSent, w.RequestState(t, q).Stage)
		assert.True(t, w.RequestState(t, q).Answer.Allows())
	})
}
