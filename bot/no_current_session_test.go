package bot_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/attachment"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/recovery"
)

// A text that has no session to go to is kept, and asked about, where a session is open: with one
// button for each, also for the only one.
func TestP4_TextWithoutCurrentSessionIsKept(t *testing.T) {
	for _, tt := range []struct {
		name    string
		current session.State // of alpha, which was current; empty: none was
		open    []string
		says    func(w *chattest.World) string
		words   func(w *chattest.World) []string
	}{
		{"none was chosen", "", []string{"beta"},
			func(w *chattest.World) string { return w.Word(i18n.WhichGets) },
			func(w *chattest.World) []string { return w.SendTo("beta") }},
		{"none was chosen of several", "", []string{"beta", "gamma"},
			func(w *chattest.World) string { return w.Word(i18n.WhichGets) },
			func(w *chattest.World) []string { return w.SendTo("beta", "gamma") }},
		{"the current one was killed", session.Archived, []string{"beta"},
			func(w *chattest.World) string {
				return chattest.Lines(chattest.Warning+w.Named(i18n.AlreadyEnded, "alpha"), w.Word(i18n.NotDelivered))
			},
			func(w *chattest.World) []string {
				return append([]string{w.Named(i18n.ButtonSendTo, "beta")}, w.WordsOf(i18n.ButtonResumeAndSend, i18n.ButtonDrop)...)
			}},
		{"the current one was not ended cleanly", session.CleanupFailed, []string{"beta"},
			func(w *chattest.World) string {
				return chattest.Lines(chattest.Warning+"alpha: "+w.Word(i18n.StateKey.Of(string(session.CleanupFailed)))+", 2 h ago", w.Word(i18n.NotDelivered))
			},
			func(w *chattest.World) []string { return w.SendTo("beta") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			if tt.current != "" {
				w.NewCurrentSession(t, "alpha", tt.current)
			}
			var beta session.Record
			for _, name := range tt.open {
				if r := w.Session(t, name, session.Running); name == "beta" {
					beta = r
				}
			}
			w.Session(t, "going", session.Stopping)
			key := w.MustHear(t, "hi")
			question := w.LastSent(t)
			assert.Equal(t, tt.says(w), question.Text.Text)
			assert.Equal(t, tt.words(w), chattest.Words(question))
			assert.Equal(t, 1001, question.ReplyTo)
			assert.Equal(t, inbox.Asked, w.EntryState(key))
			assert.Empty(t, w.Lifecycle.Done())
			assert.NotEqual(t, beta.ID, w.CurrentID(chattest.AtAlice, 0), "none becomes current by itself")

			w.Reopened(t)
			require.NoError(t, w.Chooses(t, question, "beta"))
			assert.Equal(t, []string{"queue " + key + " for " + beta.ID.String()}, w.Lifecycle.Done())
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, []any{inbox.Held, beta.ID, "hi"}, []any{e.State, e.Session, e.Text})
			became := w.Named(i18n.SentAndCurrent, "beta")
			assert.Equal(t, became, w.Telegram.LastEdit(t).Text.Text)
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)

			key = w.MustHear(t, "and more")
			assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+beta.ID.String(), "that session is the current one now")
		})
	}
}

// An idle agent has the prompt before the tap gets its result.
func TestP4_QuestionOfTypedPromptEnds(t *testing.T) {
	for _, tt := range []struct {
		name string
		ask  func(w *chattest.World)
		tap  string
		want i18n.Key
	}{
		{"it was old", func(w *chattest.World) {
			w.NewCurrentSession(t, "beta", session.Running)
			w.HearSent(t, "hi", time.Now().Add(-time.Hour))
		}, "", i18n.PromptSent},
		{"none was current", func(w *chattest.World) {
			w.Session(t, "beta", session.Running)
			w.MustHear(t, "hi")
		}, "beta", i18n.SentAndCurrent},
		{"the current one is over", func(w *chattest.World) {
			w.NewCurrentSession(t, "alpha", session.Archived)
			w.Session(t, "beta", session.Running)
			w.MustHear(t, "hi")
		}, "beta", i18n.SentAndCurrent},
		{"another one is current", func(w *chattest.World) {
			w.Session(t, "beta", session.Running)
			w.NewCurrentSession(t, "now", session.Running)
			w.AnswerOurs(t, 56, "cc_bot", "hi")
		}, "beta", i18n.PromptSent},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			tt.ask(w)
			w.Lifecycle.OnQueue = func(id uuid.UUID, key string) error {
				return w.SessionNews(t.Context(), w.Record(t, id), news.Typed{Prompt: talk.Prompt{Key: key}})
			}
			if tt.tap == "" {
				require.NoError(t, w.TapShown(t, chattest.Alice, w.LastSent(t), i18n.ButtonSend))
			} else {
				require.NoError(t, w.Chooses(t, w.LastSent(t), tt.tap))
			}
			assert.True(t, strings.HasSuffix(w.Telegram.LastEdit(t).Text.Text, w.Named(tt.want, "beta")), w.Telegram.LastEdit(t).Text.Text)
			assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
		})
	}
}

// A person who chooses the session of the answered message keeps the current session.
func TestP4_ReplyGoesToChosenSession(t *testing.T) {
	w := chattest.NewWorld(t)
	beta, now := w.Session(t, "beta", session.Running), w.NewCurrentSession(t, "now", session.Running)
	key := w.AnswerOurs(t, 56, "cc_bot", "and more")
	require.NoError(t, w.Chooses(t, w.LastSent(t), "beta"))
	assert.Equal(t, []string{"queue " + key + " for " + beta.ID.String()}, w.Lifecycle.Done())
	assert.Equal(t, w.Named(i18n.SentAgain, "beta"), w.Telegram.LastEdit(t).Text.Text)
	assert.Equal(t, now.ID, w.CurrentID(chattest.AtAlice, 0))
}

// The buttons are for the open sessions; one that has ended since takes nothing, and does not
// become current.
func TestP4_EndedChosenSessionGetsNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	beta := w.Session(t, "beta", session.Running)
	key := w.MustHear(t, "hi")
	question := w.LastSent(t)
	w.Records.Change(beta.ID, func(r *session.Record) { r.State = session.Archived })
	w.Session(t, "gamma", session.Running)
	require.NoError(t, w.Chooses(t, question, "beta"))
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.Word(i18n.StaleButton))
	assert.Empty(t, w.Lifecycle.Done())
	assert.Equal(t, inbox.Asked, w.EntryState(key))
	assert.Equal(t, w.SendTo("gamma"), chattest.Words(w.Telegram.LastEdit(t)), "it is asked with those of now")
	assert.Equal(t, uuid.Nil, w.CurrentID(chattest.AtAlice, 0))
	require.NoError(t, w.TapShown(t, chattest.Alice, w.Telegram.LastEdit(t), i18n.ButtonDrop))
	assert.Empty(t, w.EntryState(key))
	assert.Empty(t, w.Lifecycle.Done())
}

// A file is fetched when its session is known: it belongs into that session's folder. A file in the
// folder of an ended session is fetched once more.
func TestP4_FilesGoToTheChosenSession(t *testing.T) {
	for _, current := range []session.State{"", session.Archived} {
		t.Run(string(current), func(t *testing.T) {
			d := chattest.NewMediaWorld(t)
			if current == "" {
				require.NoError(t, d.Chats.SetCurrent(chattest.AtAlice, uuid.Nil))
			} else {
				old := d.NewCurrentSession(t, "old", current)
				d.Records.Change(old.ID, func(r *session.Record) { r.Dir = t.TempDir() })
			}
			m := chattest.Document("d", "a.txt")
			m.Caption = "do this"
			key := d.MustGet(t, m).Key
			assert.Empty(t, d.Received(t))
			assert.Equal(t, inbox.Asked, d.EntryState(key))
			d.Downloads.Fail("d", attachment.ErrFileTooBig)
			require.NoError(t, d.Chooses(t, d.LastSent(t), "api"))
			assert.Equal(t, inbox.Asked, d.EntryState(key), "the question stays")
			assert.Equal(t, d.Word(i18n.FileTooBig, i18n.Args{"Name": "a.txt"}), d.Telegram.Last(t).Text.Text)
			d.Downloads.Fail("d", nil)
			require.NoError(t, d.Chooses(t, d.LastSent(t), "api"))
			assert.Equal(t, []string{"a.txt"}, d.Received(t))
			d.IsOnePrompt(t, key, "do this\nAttached file: .ccbot-inbox/a.txt")
		})
	}
}

func TestP4_AlbumGoesToChosenSession(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	require.NoError(t, d.Chats.SetCurrent(chattest.AtAlice, uuid.Nil))
	key, handle := d.Album(t, "compare")
	require.NoError(t, handle(t.Context()))
	assert.Empty(t, d.Downloads.Done())
	require.NoError(t, d.Chooses(t, d.LastSent(t), "api"))
	d.IsOnePrompt(t, key, albumText)
	assert.NotEmpty(t, d.Received(t))
}

// A damaged file of a chat is reported once. No session becomes current by itself: the person's
// next message is kept and confirmed, and so is a reply to an older message.
func TestP4_DamagedChatReportsOnceAndAsks(t *testing.T) {
	w := chattest.NewWorld(t)
	w.ResumeOnStart = chattest.ResumeAll
	alpha, beta := w.NewCurrentSession(t, "alpha", session.Running), w.Session(t, "beta", session.Running)
	w.Says55(beta)
	require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, beta.ID))
	w.Lost(t, "back", session.ClosedReboot)
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "chats", "7-0.json"), []byte("{ha"), 0o600))
	w.Reopened(t)
	w.Telegram.OnPost = chattest.Refuse
	require.ErrorContains(t, w.Recovered(t.Context(), recovery.Report{}), chattest.ErrDisk.Error())
	w.Telegram.OnPost = nil
	w.Reopened(t) // the next start sends the missed report
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	sentence := w.Word(i18n.RecoveredChat, i18n.Args{"Dir": "~/.ccbot/quarantine"})
	reported := func() (n int) {
		for _, m := range w.Telegram.ShownOnce() {
			if strings.Contains(m.Text.Text, sentence) {
				assert.Equal(t, chattest.AtAlice, m.To)
				n++
			}
		}
		return n
	}
	assert.Equal(t, 1, reported())
	w.Reopened(t)
	require.NoError(t, w.Recovered(t.Context(), recovery.Report{}))
	assert.Equal(t, 1, reported(), "once")
	kept, err := os.ReadFile(filepath.Join(w.Dir, "quarantine", "chats-7-0.json"))
	require.NoError(t, err)
	assert.Equal(t, "{ha", string(kept))

	assert.Equal(t, uuid.Nil, w.CurrentID(chattest.AtAlice, 0), "also when sessions come back at that start")
	assert.Equal(t, beta.ID, w.CurrentID(chattest.InGroup, 0), "other chats are as they were")
	key := w.MustHear(t, "hi")
	assert.Equal(t, inbox.Asked, w.EntryState(key))
	reply := w.AnswerOurs(t, 55, "cc_bot", "and more")
	assert.Equal(t, inbox.Asked, w.EntryState(reply))
	assert.Equal(t, w.Word(i18n.WhichReply), w.LastSent(t).Text.Text)
	require.NoError(t, w.Chooses(t, w.LastSent(t), "alpha"))
	assert.Contains(t, w.Lifecycle.Done(), "queue "+reply+" for "+alpha.ID.String())
}
