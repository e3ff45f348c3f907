package bot

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// answer handles a text of Alice's that answers a message, and returns its key.
func (w *world) answer(t *testing.T, message int, text string) string {
	t.Helper()
	key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: text,
		ReplyToMessage: &models.Message{ID: message}})
	require.NoError(t, w.Handle(t.Context(), key, u))
	return key
}

// reopened is again with the chats as they are on disk.
func (w *world) reopened(t *testing.T) {
	t.Helper()
	chats, err := OpenChats(filepath.Join(w.dir, "chats"))
	require.NoError(t, err)
	w.Deps.Chats = chats
	w.again()
}

// says55 lets a session have said message 55.
func (w *world) says55(r session.Record) {
	w.Sent(outbox.Message{To: atAlice, Text: plain("said"), Session: r.ID}, 55)
}

func TestP4_AReplyGoesToTheSessionOfItsMessage(t *testing.T) {
	w := newWorld(t)
	old := w.currentSession(t, "old", session.Running)
	own := w.updates + 1001 // the message of the prompt to come
	w.mustHear(t, "a prompt")
	now := w.currentSession(t, "now", session.Running)
	w.says55(old)
	w.reopened(t)

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
			key := w.answer(t, tt.message, "and more")
			e, err := w.entries.Load(key)
			require.NoError(t, err)
			assert.Equal(t, tt.want.ID, e.Session)
			current, err := w.Chats.Current(atAlice)
			require.NoError(t, err)
			assert.Equal(t, now.ID, current, "which stays the current one")
		})
	}
}

func TestAReplyFollowsAConversationToItsNextSession(t *testing.T) {
	w := newWorld(t)
	old := w.session(t, "old", session.Archived)
	w.says55(old)
	w.records.change(old.ID, func(r *session.Record) { r.Closed = session.ClosedTransferred })
	next := w.session(t, "next", session.Running)
	w.records.change(next.ID, func(r *session.Record) { r.TookOver = old.ID })
	e, err := w.entries.Load(w.answer(t, 55, "go on"))
	require.NoError(t, err)
	assert.Equal(t, next.ID, e.Session)
}

// What was meant for a session that is forgotten goes to no other one.
func TestP4_AReplyToAForgottenSessionIsTold(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "now", session.Running)
	w.says55(session.Record{ID: uuid.New()})
	key := w.answer(t, 55, "and more")
	assert.Empty(t, w.sessions.done())
	assert.Equal(t, lines(warning+w.word(i18n.ReplyUnknown), w.word(i18n.NotDelivered)), w.sender.last(t).Text.Text)
	assert.Equal(t, inbox.Accepted, w.entryState(key), "the intake finishes it: it is told")
}

// answerOurs is answer for a message that a bot wrote.
func (w *world) answerOurs(t *testing.T, message int, username, text string) string {
	t.Helper()
	key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: text,
		ReplyToMessage: &models.Message{ID: message, From: &models.User{ID: 99, IsBot: true, Username: username}}})
	require.NoError(t, w.Handle(t.Context(), key, u))
	return key
}

// Of which session a message was that the ring does not know, nobody knows: where there are
// several, nothing is typed.
func TestP4_AReplyToAMessageOfNobodyKnowsWhomIsTold(t *testing.T) {
	for _, tt := range []struct {
		name           string
		current, other session.State
		message        int
		username       string
		told           bool
	}{
		{"several are open", session.Running, session.Running, 56, "CC_bot", true},
		{"the current one is over", session.Archived, session.Running, 56, "cc_bot", true},
		{"none is open", session.Archived, session.Archived, 56, "cc_bot", true},
		{"only the current one is open", session.Running, session.Archived, 56, "cc_bot", false},
		{"another bot's message", session.Running, session.Running, 56, "other_bot", false},
		{"a message of no session", session.Running, session.Running, 57, "cc_bot", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.session(t, "other", tt.other)
			now := w.currentSession(t, "now", tt.current)
			w.Sent(outbox.Message{To: atAlice, Text: plain("what /help says")}, 57)
			w.reopened(t)
			key := w.answerOurs(t, tt.message, tt.username, "and more")
			if !tt.told {
				assert.Equal(t, []string{"queue " + key + " for " + now.ID.String()}, w.sessions.done())
				return
			}
			assert.Empty(t, w.sessions.done())
			assert.Equal(t, []string{lines(warning+w.word(i18n.ReplyUnknown), w.word(i18n.NotDelivered))}, w.sender.texts())
			assert.Empty(t, words(w.sender.last(t)))
			assert.Equal(t, inbox.Accepted, w.entryState(key), "the intake finishes it: it is told")
		})
	}
}

// Each text of a topic answers the message that has made the topic.
func TestATextOfATopicAnswersNothing(t *testing.T) {
	w := newWorld(t)
	w.session(t, "other", session.Running)
	now := w.session(t, "now", session.Running)
	require.NoError(t, w.Chats.SetCurrent(inTopic, now.ID))
	key, u := w.accept(t, &models.Message{From: &models.User{ID: alice}, Chat: privateChat(alice), Text: "hi", MessageThreadID: 9, IsTopicMessage: true,
		ReplyToMessage: &models.Message{ID: 9, From: &models.User{ID: 99, IsBot: true, Username: "cc_bot"}, ForumTopicCreated: &models.ForumTopicCreated{Name: "x"}}})
	require.NoError(t, w.Handle(t.Context(), key, u))
	assert.Contains(t, w.sessions.done(), "queue "+key+" for "+now.ID.String())
}

func TestACommandMeansTheSessionOfTheMessageThatItAnswers(t *testing.T) {
	w := newWorld(t)
	old := w.session(t, "old", session.Running)
	now := w.currentSession(t, "now", session.Running)
	w.says55(old)
	w.answer(t, 55, "/stop")
	assert.Equal(t, []string{"interrupt " + old.ID.String()}, w.sessions.done())
	w.answer(t, 55, "/kill")
	assert.Contains(t, w.sender.last(t).Text.Text, "old")
	w.answer(t, 55, "/why")
	assert.Contains(t, w.sender.last(t).Text.Text, "old")
	w.answer(t, 55, "/kill now")
	assert.Contains(t, w.sender.last(t).Text.Text, "now")
	w.answer(t, 56, "/stop")
	assert.Equal(t, "interrupt "+now.ID.String(), w.sessions.done()[1])
}

// What is said under a message is the session's of that message.
func TestWhatStandsUnderAPromptIsItsSessions(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	w.mustHear(t, "one")
	require.NoError(t, w.PostMessage(t.Context(), outbox.Message{To: atAlice, Text: plain("waits"), ReplyTo: 1001}))
	assert.Equal(t, r.ID, w.sender.last(t).Session)
	require.NoError(t, w.Say(t.Context(), atAlice, "of none"))
	assert.Equal(t, uuid.Nil, w.sender.last(t).Session)
	require.NoError(t, w.For(r.ID).Say(t.Context(), atAlice, "of it"))
	assert.Equal(t, r.ID, w.sender.last(t).Session)
}

func TestATurnThatAReplyBeganIsShownInFull(t *testing.T) {
	at := func(seconds int) time.Time { return started.Add(time.Duration(seconds) * time.Second) }
	w := newWorld(t)
	old := w.session(t, "old", session.Running)
	now := w.currentSession(t, "now", session.Running)
	w.says55(old)
	assert.False(t, w.Answers.InFull(host.View(old)))
	assert.True(t, w.Answers.InFull(host.View(now)))

	key := w.answer(t, 55, "go on")
	assert.False(t, w.Answers.InFull(host.View(old)), "it waits")
	w.typed(t, old, key, at(10))
	assert.True(t, w.Answers.InFull(host.View(old)))
	w.reopened(t)
	assert.True(t, w.Answers.InFull(host.View(old)), "after a restart, too")
	w.turnEnds(t, old, at(5))
	assert.True(t, w.Answers.InFull(host.View(old)), "the turn before it")
	w.delivered(t, old, key, at(10))
	require.NoError(t, w.entries.Finish(key))
	w.turnEnds(t, old, at(9))
	assert.True(t, w.Answers.InFull(host.View(old)), "the turn before it, told late")
	w.turnEnds(t, old, at(11))
	assert.False(t, w.Answers.InFull(host.View(old)))

	w.typed(t, old, w.answer(t, 55, "go on"), at(20))
	require.NoError(t, w.Chats.SetCurrent(atAlice, w.session(t, "third", session.Running).ID))
	assert.False(t, w.Answers.InFull(host.View(old)), "the person has turned to another one")
	require.NoError(t, w.Chats.SetCurrent(atAlice, old.ID))
	w.typed(t, old, w.answer(t, 55, "go on"), at(30))
	require.NoError(t, w.Chats.SetCurrent(atAlice, now.ID))
	assert.False(t, w.Answers.InFull(host.View(old)), "it was the current one then")
}

// typed tells that a prompt was typed for a session then.
func (w *world) typed(t *testing.T, r session.Record, key string, at time.Time) {
	t.Helper()
	w.ofPrompt(t, lifecycle.NoteTyped, r, key, at)
}

// delivered tells that the agent of a session has a prompt, which was typed then.
func (w *world) delivered(t *testing.T, r session.Record, key string, typed time.Time) {
	t.Helper()
	w.ofPrompt(t, lifecycle.NoteDelivered, r, key, typed)
}

func (w *world) ofPrompt(t *testing.T, kind lifecycle.NoteKind, r session.Record, key string, typed time.Time) {
	t.Helper()
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: kind, Session: r,
		Prompt: lifecycle.Prompt{Key: key, Mark: &lifecycle.Mark{At: typed}}}))
}

// turnEnds reads a transcript in which a turn of a session ended then.
func (w *world) turnEnds(t *testing.T, r session.Record, at time.Time) {
	t.Helper()
	end := strings.Replace(turnEnd, "{", fmt.Sprintf(`{"timestamp":%q,`, at.Format(time.RFC3339Nano)), 1)
	w.records.change(r.ID, func(r *session.Record) { r.Cursors = []transcript.Cursor{transcriptOf(t, "end.jsonl", end)} })
	w.readAll(t)
	w.records.change(r.ID, func(r *session.Record) { r.Cursors = nil })
}

// becomes puts a prompt into another state.
func (w *world) becomes(t *testing.T, key string, state inbox.State) {
	t.Helper()
	require.NoError(t, w.entries.Change(key, func(e *inbox.Entry) error { e.State = state; return nil }))
}

// A prompt that the agent never gets begins no turn.
func TestAPromptThatIsNotDeliveredIsNoTurn(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(w *world, key string) error
	}{
		{"dropped", func(w *world, key string) error { return w.entries.Finish(key) }},
		{"without a session", func(w *world, key string) error { return w.Prompts.Homeless(t.Context(), []string{key}) }},
		{"never proven", func(w *world, key string) error { w.becomes(t, key, inbox.Unproven); return nil }},
		{"never typed", func(w *world, key string) error { w.becomes(t, key, inbox.Held); return nil }},
		{"taken back by a question", func(w *world, key string) error { w.becomes(t, key, inbox.Asked); return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			old := w.session(t, "old", session.Running)
			w.currentSession(t, "now", session.Running)
			w.says55(old)
			key := w.answer(t, 55, "go on")
			require.NoError(t, tt.ends(w, key))
			assert.False(t, w.Answers.InFull(host.View(old)))
			w.reopened(t)
			assert.False(t, w.Answers.InFull(host.View(old)))
		})
	}
}

// The turn that goes on is shown to its end, whatever becomes of the next prompt.
func TestATurnInFullOutlivesTheNextPrompt(t *testing.T) {
	at := func(seconds int) time.Time { return started.Add(time.Duration(seconds) * time.Second) }
	w := newWorld(t)
	old := w.session(t, "old", session.Running)
	w.currentSession(t, "now", session.Running)
	w.says55(old)
	begins := func(key string, seconds int) {
		w.delivered(t, old, key, at(seconds))
		require.NoError(t, w.entries.Finish(key))
	}
	ends := func(seconds int) {
		w.turnEnds(t, old, at(seconds))
	}
	begins(w.answer(t, 55, "one"), 10)
	next := w.answer(t, 55, "two")
	assert.True(t, w.Answers.InFull(host.View(old)), "the first turn goes on")
	ends(20)
	assert.False(t, w.Answers.InFull(host.View(old)), "the second has not begun")
	begins(next, 30)
	assert.True(t, w.Answers.InFull(host.View(old)))
	ends(40)
	assert.False(t, w.Answers.InFull(host.View(old)))
}

func TestP4_APromptForASessionThatIsOverWaitsForADecision(t *testing.T) {
	for _, state := range []session.State{session.Archived, session.Completed, session.Lost, session.Failed, session.Abandoned} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", state)
			key := w.mustHear(t, "hi")
			m := w.lastSent(t)
			assert.Equal(t, lines(warning+w.named(i18n.AlreadyEnded, "api"), w.word(i18n.NotDelivered)), m.Text.Text)
			assert.Equal(t, []any{1001, r.ID}, []any{m.ReplyTo, m.Session})
			assert.Equal(t, w.wordsOf(i18n.ButtonResumeAndSend, i18n.ButtonDrop), words(m))
			e, err := w.entries.Load(key)
			require.NoError(t, err)
			assert.Equal(t, []any{inbox.Asked, r.ID, "hi"}, []any{e.State, e.Session, e.Text})
			assert.Empty(t, w.sessions.done(), "it is in no queue")

			w.reopened(t)
			require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonResumeAndSend), "any allowed person of that chat may")
			assert.Equal(t, []string{"keep " + key + " for " + r.ID.String(), "restore " + r.ID.String()}, w.sessions.done())
			assert.Equal(t, inbox.Held, w.entryState(key))
			assert.Equal(t, lines(m.Text.Text, "", w.named(i18n.ResumeAndSend, "api")), w.sender.lastEdit(t).Text.Text)
			assert.Equal(t, reactionStored, w.sender.reaction(1001))

			require.NoError(t, w.tapShown(t, bob, m, i18n.ButtonResumeAndSend))
			assert.Len(t, w.sessions.done(), 2, "a second tap changes nothing")
		})
	}
}

func TestP4_APromptForASessionThatIsOverCanBeDropped(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Archived)
	key := w.mustHear(t, "hi")
	require.NoError(t, w.tapShown(t, alice, w.lastSent(t), i18n.ButtonDrop))
	assert.Empty(t, w.entryState(key))
	assert.Empty(t, w.sessions.done())
}

// The current session stays the current one where it is open.
func TestAReplyToASessionThatIsOverBringsItBackBesideTheCurrentOne(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
		stays bool
	}{{"open", session.Running, true}, {"over", session.Archived, false}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			old := w.session(t, "old", session.Archived)
			now := w.currentSession(t, "now", tt.state)
			w.says55(old)
			key := w.answer(t, 55, "go on")
			require.NoError(t, w.tapShown(t, alice, w.lastSent(t), i18n.ButtonResumeAndSend))
			w.typed(t, old, key, started)
			current, err := w.Chats.Current(atAlice)
			require.NoError(t, err)
			assert.Equal(t, tt.stays, current == now.ID)
			assert.True(t, w.Answers.InFull(host.View(w.record(t, old.ID))))
			assert.Contains(t, w.sender.last(t).Text.Text, "old")
		})
	}
}

// Whatever a resume asks first, the prompt waits in the session's queue.
func TestP4_AResumeThatIsRefusedKeepsThePrompt(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Archived)
	key := w.mustHear(t, "hi")
	w.sessions.restore = func(uuid.UUID) (session.Record, error) {
		return session.Record{}, &lifecycle.DirError{Dir: r.Dir, Why: lifecycle.DirMissing}
	}
	require.NoError(t, w.tapShown(t, alice, w.lastSent(t), i18n.ButtonResumeAndSend))
	assert.Equal(t, w.word(i18n.ButtonMakeDir), words(w.sender.last(t))[0], "the question of /resume")
	assert.Equal(t, inbox.Held, w.entryState(key))
}

func TestP4_APromptThatCannotBeQueuedStaysAsked(t *testing.T) {
	w := newWorld(t)
	w.currentSession(t, "api", session.Archived)
	key := w.mustHear(t, "hi")
	m := w.lastSent(t)
	w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
	w.toldOfError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAndSend))
	assert.Equal(t, inbox.Asked, w.entryState(key))
	w.sessions.queue = nil
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAndSend))
	assert.Equal(t, inbox.Held, w.entryState(key))
	require.NoError(t, w.entries.Finish(key))
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonResumeAndSend))
	assert.Contains(t, w.sender.done(), "answer query: "+w.word(i18n.StaleButton))
}

// A session that came back meanwhile takes the prompt at once.
func TestResumeAndSendToASessionThatIsBack(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Archived)
	key := w.mustHear(t, "hi")
	w.records.change(r.ID, func(r *session.Record) { r.State = session.Running })
	require.NoError(t, w.tapShown(t, alice, w.lastSent(t), i18n.ButtonResumeAndSend))
	assert.Equal(t, []string{"keep " + key + " for " + r.ID.String()}, w.sessions.done())
}

// An old prompt of a session that is over is asked about with the button that brings the session
// back.
func TestP4_AnAgedPromptOfASessionThatIsOverOffersBoth(t *testing.T) {
	w := newWorld(t)
	r := w.session(t, "api", session.Lost)
	e := w.prompt(t, r, "old text", inbox.Held)
	require.NoError(t, w.Review(t.Context(), time.Hour))
	assert.Equal(t, w.wordsOf(i18n.ButtonResumeAndSend, i18n.ButtonDrop), words(w.lastSent(t)))
	assert.Equal(t, inbox.Asked, w.entryState(e.Key))
}
