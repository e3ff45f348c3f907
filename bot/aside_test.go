package bot_test

import (
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// asideTeam is a group of Alice and Bob in which the agent asks something in Alice's turn.
type asideTeam struct {
	team
	r session.Record
	q chattest.Asked
}

func newAsking(t *testing.T, w *chattest.World, tool, input string) asideTeam {
	t.Helper()
	a := asideTeam{team: team{w, chattest.GroupChat(chattest.Ours)}}
	a.says(t, 0, bob, "/list")
	a.r = w.NewCurrentSession(t, "api", session.Running)
	w.Records.Change(a.r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
	require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, a.r.ID))
	key, _ := a.says(t, 0, alice, "deploy it")
	require.NoError(t, w.SessionNews(t.Context(), w.Record(t, a.r.ID), news.Typed{Prompt: talk.Prompt{Key: key}}))
	require.NoError(t, w.Inbox.Finish(key))
	w.Records.Change(a.r.ID, func(r *session.Record) { r.Prompts = nil })
	a.q = w.AsksFor(t, a.r, tool, input)
	require.NotZero(t, w.Message(t, a.q))
	return a
}

// taps taps a button of a message, as one of the group.
func (a asideTeam) taps(t *testing.T, by int64, id int, button string) {
	t.Helper()
	a.TapAt(t, by, a.group, id, chattest.DataBehind(t, a.Shows(t, id), button))
	a.Work(t)
}

// allows lets Alice allow the request, which then has its outcome.
func (a asideTeam) allows(t *testing.T) {
	t.Helper()
	a.taps(t, chattest.Alice, a.Message(t, a.q), a.Word(i18n.AskAllow))
	a.Result(t, a.q, "allow", "ok", false)
	a.Work(t)
}

// isQueued reports whether a text went to the queue of the session.
func (a asideTeam) isQueued(key string) bool {
	return strings.Contains(strings.Join(a.Lifecycle.Done(), "\n"), "queue "+key+" ")
}

// askedAside are the questions whether texts are for the agent, each as it came.
func (a asideTeam) askedAside() (all []outbox.Message) {
	for _, m := range a.Telegram.ShownOnce() {
		if strings.HasPrefix(m.Text.Text, a.Word(i18n.AsideAsk, i18n.Args{"Name": "api"})) {
			all = append(all, m)
		}
	}
	return all
}

func (a asideTeam) lastID() int { return a.Telegram.LastID() }

// What others say about an open request stands in one message without a sound, is not typed by itself,
// and is asked about once, with a sound, when the request has its outcome. A text of the person whose
// turn it is waits as ever.
func TestP4_TalkAboutRequestIsNoPrompt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		a := newAsking(t, w, "Bash", chattest.Bash)
		first, _ := a.says(t, 0, bob, "is that safe\non a friday?")
		own, _ := a.says(t, 0, alice, "then write the notes")
		second, _ := a.says(t, 0, bob, "wait, I look first")
		w.Work(t)
		list := w.Shows(t, a.lastID())
		assert.Equal(t, chattest.Lines("api is waiting for your answer: permission for Bash.", "1 message waits.", "1. then write the notes",
			"Written while it asked, and not sent. You are asked about it afterwards.", "2. Bob: is that safe …", "3. Bob: wait, I look first"), list.Text.Text)
		assert.Equal(t, []string{"Show the question", "1. Deny with this text"}, chattest.Words(list))
		assert.False(t, list.Sounds)
		assert.True(t, a.isQueued(own))

		a.Restart(t)
		assert.Empty(t, a.askedAside(), "the request is still open")
		a.allows(t)
		asked := a.askedAside()
		require.Len(t, asked, 1)
		assert.True(t, asked[0].Sounds)
		assert.Equal(t, chattest.Lines(a.Word(i18n.AsideAsk, i18n.Args{"Name": "api"}), "1. Bob: is that safe …", "2. Bob: wait, I look first"), asked[0].Text.Text)
		assert.Equal(t, []string{"1. Send", "2. Send", "Send all", "Not for the agent"}, chattest.Words(asked[0]))
		assert.False(t, a.isQueued(first))
		a.Restart(t)
		require.Len(t, a.askedAside(), 1, "once")

		a.taps(t, chattest.Alice, a.lastID(), "2. Send")
		assert.True(t, a.isQueued(second))
		assert.False(t, a.isQueued(first))
		a.taps(t, chattest.Bob, a.lastID(), "Not for the agent")
		assert.Empty(t, a.EntryState(first))
		assert.Equal(t, "1 message goes to api. 1 message was not for the agent.", w.Shows(t, a.lastID()).Text.Text)
	})
}

// However the request ends, also while no ccbot runs, its talk has an outcome.
func TestP4_TalkHasOutcome(t *testing.T) {
	ends := func(state session.State, n news.News) func(t *testing.T, a asideTeam) {
		return func(t *testing.T, a asideTeam) {
			a.Records.Change(a.r.ID, func(r *session.Record) { r.State = state })
			require.NoError(t, a.SessionNews(t.Context(), a.Record(t, a.r.ID), n))
			a.Later(chattest.Round)
		}
	}
	for _, tt := range []struct {
		name string
		end  func(t *testing.T, a asideTeam)
	}{
		{"denied", func(t *testing.T, a asideTeam) {
			a.taps(t, chattest.Alice, a.Message(t, a.q), a.Word(i18n.AskDeny))
			a.Result(t, a.q, "deny", "no", true)
		}},
		{"at the desk", func(t *testing.T, a asideTeam) { a.Result(t, a.q, "", "ok", false) }},
		{"the agent ends", ends(session.Archived, news.Ended{})},
		{"lost", ends(session.Lost, news.Lost{})},
		{"while no ccbot ran", func(t *testing.T, a asideTeam) {
			a.Stops(t)
			a.Records.Change(a.r.ID, func(r *session.Record) { r.State = session.Abandoned })
			a.HangsUp(a.q)
			a.StartsAnew(t)
			a.Later(chattest.Round)
		}},
	} {
		for _, restarts := range []bool{false, true} {
			name := tt.name
			if restarts {
				name += ", and a restart"
			}
			chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
				a := newAsking(t, w, "Bash", chattest.Bash)
				key, _ := a.says(t, 0, bob, "is that safe?")
				tt.end(t, a)
				if restarts {
					a.StartsAnew(t)
				}
				w.Work(t)
				require.True(t, a.RequestState(t, a.q).HasEnded())
				require.Len(t, a.askedAside(), 1)
				assert.Equal(t, []string{"Send", "Not for the agent"}, chattest.Words(a.askedAside()[0]))
				assert.Equal(t, inbox.Asked, a.EntryState(key))
				assert.False(t, a.isQueued(key))
			})
		}
	}
}

// A reply to a permission is no prompt of anybody, and denies only with a tap.
func TestP7_ReplyToPermissionDeniesWithTap(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		a := newAsking(t, w, "Bash", chattest.Bash)
		key, _ := a.writes(t, 0, alice, models.Message{Text: "not on a friday", ReplyToMessage: a.card(t)})
		w.Work(t)
		assert.Empty(t, w.Relay.Done())
		assert.False(t, a.isQueued(key))
		list := a.lastID()
		assert.Equal(t, []string{"Show the question", "Deny with this text"}, chattest.Words(w.Shows(t, list)))
		a.Restart(t)
		a.taps(t, chattest.Bob, list, "Deny with this text")
		require.Len(t, w.Relay.Done(), 1)
		assert.Contains(t, w.Relay.Done()[0], "not on a friday")
		assert.Empty(t, a.EntryState(key))
		a.Result(t, a.q, "deny", "no", true)
		w.Work(t)
		assert.Empty(t, a.askedAside())
		assert.False(t, a.isQueued(key))
	})
}

// card is the message of the request, as a person replies to it.
func (a asideTeam) card(t *testing.T) *models.Message {
	t.Helper()
	return &models.Message{ID: a.Message(t, a.q), From: &models.User{IsBot: true, Username: "cc_bot"}, Chat: a.group}
}

// A reply to a question is the answer in one's own words, of whoever replies.
func TestReplyToQuestionIsOwnWords(t *testing.T) {
	const colour = `{"questions":[{"question":"Which colour?","multiSelect":false,"options":[{"label":"Red"},{"label":"Blue"}]}]}`
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		a := newAsking(t, w, "AskUserQuestion", colour)
		a.says(t, 0, bob, "green is nicer")
		assert.Empty(t, w.Relay.Done(), "he talks about it")
		key, _ := a.writes(t, 0, bob, models.Message{Text: "Green, please", ReplyToMessage: a.card(t)})
		w.Work(t)
		require.Len(t, w.Relay.Done(), 1)
		assert.Equal(t, []string{"Green, please"}, a.RequestState(t, a.q).Answer.Answers)
		assert.False(t, a.isQueued(key))
		assert.Equal(t, ask.StageSent, a.RequestState(t, a.q).Stage)
	})
}

// One person alone, and the own chat of each, are as ever: a text waits for the answer, and is sent
// then.
func TestTextsOfOnePersonDuringRequestWait(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		a := newAsking(t, w, "Bash", chattest.Bash)
		w.Admit(conversation.Lists{People: map[int64]bool{chattest.Alice: true}, Groups: map[int64]bool{chattest.Ours: true}})
		require.NoError(t, w.Chats.NoteAsker(chattest.InGroup, a.r.ID, 0))
		plain, _ := a.says(t, 0, alice, "and the notes")
		reply, _ := a.writes(t, 0, alice, models.Message{Text: "hm", ReplyToMessage: a.card(t)})
		assert.True(t, a.isQueued(plain))
		assert.True(t, a.isQueued(reply))
	})
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Asking(t)
		key := w.MustHear(t, "and the notes")
		assert.Contains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue "+key)
	})
}

// An edit changes what is asked about.
func TestEditOfTalk(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		a := newAsking(t, w, "Bash", chattest.Bash)
		key, m := a.says(t, 0, bob, "is that save?")
		m.Text, m.EditDate = "is that safe?", 5
		require.NoError(t, a.EditAs(t, m))
		w.Work(t)
		assert.Contains(t, w.Shows(t, a.lastID()).Text.Text, "Bob: is that safe?")
		a.allows(t)
		require.Len(t, a.askedAside(), 1)
		m.Text, m.EditDate = "is that really safe?", 6
		require.NoError(t, a.EditAs(t, m))
		w.Work(t)
		assert.Contains(t, w.Shows(t, a.lastID()).Text.Text, "Bob: is that really safe?")
		a.taps(t, chattest.Alice, a.lastID(), "Send")
		assert.True(t, a.isQueued(key))
	})
}

// TestP4_KillAfterTextIsKeptAside: the text is on disk and nobody was told. It is asked about at the
// outcome.
func TestP4_KillAfterTextIsKeptAside(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		a := newAsking(t, w, "Bash", chattest.Bash)
		w.Dies(t, "text-kept-aside", func() error { a.says(t, 0, bob, "is that safe?"); return nil })
		a.Restart(t)
		require.NoError(t, w.Review(t.Context(), 0))
		w.Work(t)
		assert.Empty(t, a.askedAside(), "the request is still open")
		a.allows(t)
		require.Len(t, a.askedAside(), 1)
		assert.Contains(t, a.askedAside()[0].Text.Text, "Bob: is that safe?")
	})
}
