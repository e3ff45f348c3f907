package bot_test

import (
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port/news"
	"ccbot/port/talk"
)

func TestP4_ReplyGoesToMessagesSession(t *testing.T) {
	w := chattest.NewWorld(t)
	old := w.NewCurrentSession(t, "old", session.Running)
	own := w.Updates + 1001 // the message of the prompt to come
	w.MustHear(t, "a prompt")
	now := w.NewCurrentSession(t, "now", session.Running)
	w.Says55(old)
	w.Reopened(t)

	for _, tt := range []struct {
		name    string
		message int
		want    session.Record
	}{
		{"a message of the bot's", 55, old},
		{"a person's own prompt", int(own), old},
		{"a message that nobody knows", 56, now},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := w.Answer(t, tt.message, "and more")
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, tt.want.ID, e.Session)
			current := w.Chats.Current(chattest.AtAlice)
			assert.Equal(t, now.ID, current, "which stays the current one")
		})
	}
}

// A message for a forgotten session goes to no other one without a question.
func TestP4_ReplyToForgottenSessionIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "now", session.Running)
	w.Says55(session.Record{ID: uuid.New()})
	key := w.Answer(t, 55, "and more")
	assert.Empty(t, w.Lifecycle.Done())
	assert.Equal(t, w.Word(i18n.WhichReply), w.LastSent(t).Text.Text)
	assert.Equal(t, inbox.Asked, w.EntryState(key))
}

// The session of a message outside the ring is unknown: if another session may be meant, nothing is
// typed without a question.
func TestP4_ReplyToUnknownMessageIsReported(t *testing.T) {
	for _, tt := range []struct {
		name           string
		current, other session.State
		message        int
		username       string
		reported       bool
		asked          []string // for which sessions
	}{
		{"several are open", session.Running, session.Running, 56, "CC_bot", false, []string{"other", "now"}},
		{"the current one is over", session.Archived, session.Running, 56, "cc_bot", false, []string{"other"}},
		{"none is open", session.Archived, session.Archived, 56, "cc_bot", true, nil},
		{"only the current one is open", session.Running, session.Archived, 56, "cc_bot", false, nil},
		{"another bot's message", session.Running, session.Running, 56, "other_bot", false, nil},
		{"a message of no session", session.Running, session.Running, 57, "cc_bot", false, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.Session(t, "other", tt.other)
			now := w.NewCurrentSession(t, "now", tt.current)
			require.NoError(t, w.Sent(chattest.AtAlice, 57, uuid.Nil)) // the message of /help
			w.Reopened(t)
			key := w.AnswerOurs(t, tt.message, tt.username, "and more")
			if tt.asked != nil {
				assert.Empty(t, w.Lifecycle.Done())
				assert.Equal(t, w.Word(i18n.WhichReply), w.LastSent(t).Text.Text)
				assert.Equal(t, w.SendTo(tt.asked...), chattest.Words(w.LastSent(t)))
				assert.Equal(t, inbox.Asked, w.EntryState(key))
				return
			}
			if !tt.reported {
				assert.Equal(t, []string{"queue " + key + " for " + now.ID.String()}, w.Lifecycle.Done())
				return
			}
			assert.Empty(t, w.Lifecycle.Done())
			assert.Equal(t, []string{chattest.Lines(chattest.Warning+w.Word(i18n.ReplyUnknown), w.Word(i18n.NotDelivered))}, w.Telegram.Texts())
			assert.Empty(t, chattest.Words(w.Telegram.Last(t)))
			assert.Equal(t, inbox.Accepted, w.EntryState(key), "the intake finishes it: it is told")
		})
	}
}

// Each text of a topic answers the message that has made the topic.
func TestTopicTextIsNotReply(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "other", session.Running)
	now := w.Session(t, "now", session.Running)
	require.NoError(t, w.Chats.SetCurrent(chattest.InTopic, now.ID))
	key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "hi", MessageThreadID: 9, IsTopicMessage: true,
		ReplyToMessage: &models.Message{ID: 9, From: &models.User{ID: 99, IsBot: true, Username: "cc_bot"}, ForumTopicCreated: &models.ForumTopicCreated{Name: "x"}}})
	require.NoError(t, w.Handle(t.Context(), key, u))
	assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+now.ID.String())
}

func TestRepliedCommandMeansMessagesSession(t *testing.T) {
	w := chattest.NewWorld(t)
	old := w.Session(t, "old", session.Running)
	now := w.NewCurrentSession(t, "now", session.Running)
	w.Says55(old)
	w.Answer(t, 55, "/stop")
	assert.Equal(t, []string{"interrupt " + old.ID.String()}, w.Lifecycle.Done())
	w.Answer(t, 55, "/kill")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "old")
	w.Answer(t, 55, "/why")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "old")
	w.Answer(t, 55, "/kill now")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "now")
	w.Answer(t, 56, "/stop")
	assert.Equal(t, "interrupt "+now.ID.String(), w.Lifecycle.Done()[1])
}

// A reply to a message belongs to the message's session.
func TestReplyToPromptGoesToSession(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.MustHear(t, "one")
	require.NoError(t, w.Chat.Post(t.Context(), card.Content{To: chattest.AtAlice, Text: chattest.Plain("waits"), ReplyTo: 1001}))
	assert.Equal(t, r.ID, w.Telegram.Last(t).Session)
	require.NoError(t, w.Say(t.Context(), chattest.AtAlice, "of none"))
	assert.Equal(t, uuid.Nil, w.Telegram.Last(t).Session)
	require.NoError(t, w.Post(t.Context(), card.Content{To: chattest.AtAlice, Session: r.ID, Text: render.Plain("of it")}))
	assert.Equal(t, r.ID, w.Telegram.Last(t).Session)
}

func TestRepliedTurnIsShownInFull(t *testing.T) {
	at := func(seconds int) time.Time { return chattest.Started.Add(time.Duration(seconds) * time.Second) }
	w := chattest.NewWorld(t)
	old := w.Session(t, "old", session.Running)
	now := w.NewCurrentSession(t, "now", session.Running)
	w.Says55(old)
	assert.False(t, w.Answers.InFull(chattest.ViewOf(old)))
	assert.True(t, w.Answers.InFull(chattest.ViewOf(now)))

	key := w.Answer(t, 55, "go on")
	assert.False(t, w.Answers.InFull(chattest.ViewOf(old)), "it waits")
	w.Typed(t, old, key, at(10))
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)))
	w.Reopened(t)
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)), "after a restart, too")
	w.TurnEnds(t, old, at(5))
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)), "the turn before it")
	w.Delivered(t, old, key, at(10))
	require.NoError(t, w.Inbox.Finish(key))
	w.TurnEnds(t, old, at(9))
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)), "the turn before it, told late")
	w.TurnEnds(t, old, at(11))
	assert.False(t, w.Answers.InFull(chattest.ViewOf(old)))

	w.Typed(t, old, w.Answer(t, 55, "go on"), at(20))
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, w.Session(t, "third", session.Running).ID))
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)), "the person has turned to another one, and still waits for the answer")
	w.TurnEnds(t, old, at(21))
	assert.False(t, w.Answers.InFull(chattest.ViewOf(old)))
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, old.ID))
	w.Typed(t, old, w.Answer(t, 55, "go on"), at(30))
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, now.ID))
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)), "it was the current one then")
	w.TurnEnds(t, old, at(31))
	assert.False(t, w.Answers.InFull(chattest.ViewOf(old)))
}

// A prompt that the agent never gets begins no turn.
func TestUndeliveredPromptStartsNoTurn(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(w *chattest.World, key string) error
	}{
		{"dropped", func(w *chattest.World, key string) error { return w.Inbox.Finish(key) }},
		{"without a session", func(w *chattest.World, key string) error { return w.Prompts.Homeless(t.Context(), []string{key}) }},
		{"never proven", func(w *chattest.World, key string) error { w.Becomes(t, key, inbox.Unproven); return nil }},
		{"never typed", func(w *chattest.World, key string) error { w.Becomes(t, key, inbox.Held); return nil }},
		{"taken back by a question", func(w *chattest.World, key string) error { w.Becomes(t, key, inbox.Asked); return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			old := w.Session(t, "old", session.Running)
			w.NewCurrentSession(t, "now", session.Running)
			w.Says55(old)
			key := w.Answer(t, 55, "go on")
			require.NoError(t, tt.ends(w, key))
			assert.False(t, w.Answers.InFull(chattest.ViewOf(old)))
			w.Reopened(t)
			assert.False(t, w.Answers.InFull(chattest.ViewOf(old)))
		})
	}
}

// The running turn is shown to its end, for any outcome of the next prompt.
func TestFullTurnOutlivesNextPrompt(t *testing.T) {
	at := func(seconds int) time.Time { return chattest.Started.Add(time.Duration(seconds) * time.Second) }
	w := chattest.NewWorld(t)
	old := w.Session(t, "old", session.Running)
	w.NewCurrentSession(t, "now", session.Running)
	w.Says55(old)
	begins := func(key string, seconds int) {
		w.Delivered(t, old, key, at(seconds))
		require.NoError(t, w.Inbox.Finish(key))
	}
	ends := func(seconds int) {
		w.TurnEnds(t, old, at(seconds))
	}
	begins(w.Answer(t, 55, "one"), 10)
	next := w.Answer(t, 55, "two")
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)), "the first turn goes on")
	ends(20)
	assert.False(t, w.Answers.InFull(chattest.ViewOf(old)), "the second has not begun")
	begins(next, 30)
	assert.True(t, w.Answers.InFull(chattest.ViewOf(old)))
	ends(40)
	assert.False(t, w.Answers.InFull(chattest.ViewOf(old)))
}

func TestP4_EndedSessionsPromptNeedsDecision(t *testing.T) {
	for _, state := range []session.State{session.Archived, session.Completed, session.Lost, session.Failed, session.Abandoned} {
		t.Run(string(state), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", state)
			key := w.MustHear(t, "hi")
			m := w.LastSent(t)
			assert.Equal(t, chattest.Lines(chattest.Warning+w.Named(i18n.AlreadyEnded, "api"), w.Word(i18n.NotDelivered)), m.Text.Text)
			assert.Equal(t, []any{1001, r.ID}, []any{m.ReplyTo, m.Session})
			assert.Equal(t, w.WordsOf(i18n.ButtonResumeAndSend, i18n.ButtonDrop), chattest.Words(m))
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, []any{inbox.Asked, r.ID, "hi"}, []any{e.State, e.Session, e.Text})
			assert.Empty(t, w.Lifecycle.Done(), "it is in no queue")

			w.Reopened(t)
			require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonResumeAndSend), "any allowed person of that chat may")
			assert.Equal(t, []string{"keep " + key + " for " + r.ID.String(), "restore " + r.ID.String()}, w.Lifecycle.Done())
			assert.Equal(t, inbox.Held, w.EntryState(key))
			assert.Equal(t, w.Named(i18n.ResumeAndSend, "api"), w.Telegram.LastEdit(t).Text.Text)
			assert.Equal(t, chattest.ReactionStored, w.Telegram.Reaction(1001))

			require.NoError(t, w.TapShown(t, chattest.Bob, m, i18n.ButtonResumeAndSend))
			assert.Len(t, w.Lifecycle.Done(), 2, "a second tap changes nothing")
		})
	}
}

// The message about a prompt whose session is resumed for it ends as what became true.
func TestP4_ResumeAndSendReportsOutcome(t *testing.T) {
	for _, tt := range []struct {
		name     string
		reported func(p talk.Prompt) []news.News
		want     i18n.Key
	}{
		{"it waits", func(talk.Prompt) []news.News { return nil }, i18n.ResumeAndSend},
		{"it is sent", func(p talk.Prompt) []news.News {
			return []news.News{news.Typed{Prompt: p}, news.Delivered{Prompt: p}}
		}, i18n.PromptSent},
		{"it waits behind another turn", func(p talk.Prompt) []news.News { return []news.News{news.Held{Why: news.Queued, Prompt: p}} }, i18n.SentAgain},
		{"it waits behind a draft", func(p talk.Prompt) []news.News { return []news.News{news.Held{Why: news.HeldDraft, Prompt: p}} }, i18n.SentAgain},
		{"it waits, then is sent", func(p talk.Prompt) []news.News {
			return []news.News{news.Held{Why: news.Queued, Prompt: p}, news.Delivered{Prompt: p}}
		}, i18n.SentAgain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Archived)
			key := w.MustHear(t, "hi")
			id := w.Telegram.LastID()
			require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonResumeAndSend))
			w.Again()
			w.Prompts.Tidy(t.Context())
			for _, n := range tt.reported(talk.Prompt{Key: key}) {
				require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), n))
			}
			now := w.Telegram.Now(id)
			assert.Equal(t, w.Named(tt.want, "api"), now.Text.Text)
			assert.Empty(t, now.Buttons)
		})
	}
}

// The session may be open again when the button is tapped, and quick.
func TestP4_ResumeAndSendToOpenSession(t *testing.T) {
	for _, quick := range []bool{false, true} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Archived)
		key := w.MustHear(t, "hi")
		id, typed := w.Telegram.LastID(), func() {
			n := news.Typed{Prompt: talk.Prompt{Key: key}}
			require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), n))
		}
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
		if quick {
			w.Lifecycle.OnQueue = func(uuid.UUID, string) error { typed(); return nil }
		}
		require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonResumeAndSend))
		if !quick {
			assert.Equal(t, w.Named(i18n.SentAgain, "api"), w.Telegram.Now(id).Text.Text)
			typed()
		}
		assert.Equal(t, w.Named(i18n.PromptSent, "api"), w.Telegram.Now(id).Text.Text)
		assert.Empty(t, w.Telegram.Now(id).Buttons)
	}
}

func TestP4_EndedSessionsPromptCanBeDropped(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Archived)
	key := w.MustHear(t, "hi")
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonDrop))
	assert.Empty(t, w.EntryState(key))
	assert.Empty(t, w.Lifecycle.Done())
}

// An open current session stays current.
func TestReplyResumesSessionWithoutSwitching(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
		stays bool
	}{{"open", session.Running, true}, {"over", session.Archived, false}} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			old := w.Session(t, "old", session.Archived)
			now := w.NewCurrentSession(t, "now", tt.state)
			w.Says55(old)
			key := w.Answer(t, 55, "go on")
			require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonResumeAndSend))
			w.Typed(t, old, key, chattest.Started)
			current := w.Chats.Current(chattest.AtAlice)
			assert.Equal(t, tt.stays, current == now.ID)
			assert.True(t, w.Answers.InFull(chattest.ViewOf(w.Record(t, old.ID))))
			assert.Contains(t, w.Telegram.Last(t).Text.Text, "old")
		})
	}
}

// If a resume needs a decision first, the prompt waits in the session's queue.
func TestP4_RefusedResumeKeepsPrompt(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Archived)
	key := w.MustHear(t, "hi")
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
		return session.Record{}, &lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirMissing}
	}
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonResumeAndSend))
	assert.Equal(t, w.Word(i18n.ButtonMakeDir), chattest.Words(w.Telegram.Last(t))[0], "the question of /resume")
	assert.Equal(t, inbox.Held, w.EntryState(key))
}

func TestP4_UnqueuedPromptKeepsQuestion(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Archived)
	key := w.MustHear(t, "hi")
	m := w.LastSent(t)
	w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return chattest.ErrDisk }
	w.AssertErrorShown(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAndSend))
	assert.Equal(t, inbox.Asked, w.EntryState(key))
	w.Lifecycle.OnQueue = nil
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAndSend))
	assert.Equal(t, inbox.Held, w.EntryState(key))
	require.NoError(t, w.Inbox.Finish(key))
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonResumeAndSend))
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
}

// A session restored in between takes the prompt immediately.
func TestResumeAndSendToRestoredSession(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Archived)
	key := w.MustHear(t, "hi")
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Running })
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonResumeAndSend))
	assert.Equal(t, []string{"keep " + key + " for " + r.ID.String()}, w.Lifecycle.Done())
}

// The question about an old prompt of an ended session has the button that restores the session.
func TestP4_EndedSessionsOldPromptOffersBoth(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Lost)
	e := w.Prompt(t, r, "old text", inbox.Held)
	require.NoError(t, w.Review(t.Context(), time.Hour))
	assert.Equal(t, w.WordsOf(i18n.ButtonResumeAndSend, i18n.ButtonDrop), chattest.Words(w.LastSent(t)))
	assert.Equal(t, inbox.Asked, w.EntryState(e.Key))
}
