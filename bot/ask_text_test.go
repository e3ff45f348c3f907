package bot_test

import (
	"runtime/debug"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
)

func TestP4_LateTextIsNotReason(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(t *testing.T, w *chattest.World, other session.Record)
	}{
		{"another session in the list", func(t *testing.T, w *chattest.World, other session.Record) {
			w.MustHear(t, "/list")
			list := w.Telegram.Last(t)
			require.NoError(t, w.TapShown(t, chattest.Alice, list, i18n.Key(other.Name)))
		}},
		{"a new session", func(t *testing.T, w *chattest.World, _ session.Record) { w.MustHear(t, "/new ~") }},
		{"a session that is back", func(t *testing.T, w *chattest.World, _ session.Record) {
			old := w.Session(t, "old", session.Archived)
			w.MustHear(t, "/resume "+old.Name)
			w.Records.Change(old.ID, func(r *session.Record) { r.State = session.Running })
		}},
		{"a switch that nobody told", func(t *testing.T, w *chattest.World, other session.Record) {
			require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, other.ID))
			w.Later(chattest.Round)
		}},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			_, q := w.Asking(t)
			other := w.Session(t, "web", session.Running)
			w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
			require.NotNil(t, w.RequestState(t, q).Why)
			tt.then(t, w, other)
			assert.Nil(t, w.RequestState(t, q).Why)
			m := w.Telegram.LastEdit(t)
			if m.ReplyTo == w.Message(t, q) {
				assert.NotContains(t, m.Text.Text, w.Word(i18n.AskWriteNow))
				assert.True(t, w.Has(m, i18n.AskDenyWhy), "it can be decided as before")
			}
			w.MustHear(t, "a prompt")
			assert.Empty(t, w.Relay.Done())
			assert.Contains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
		})
	}
}

// TestP7_ReasonGoesToItsRequest, also if another session is current when the button is tapped. That
// session stays current.
func TestP7_ReasonGoesToItsRequest(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		other := w.NewCurrentSession(t, "web", session.Running)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		w.CurrentIs(t, other.ID)
		w.Later(chattest.Round)
		w.MustHear(t, "use make")
		w.Work(t)
		assert.Contains(t, strings.Join(w.Relay.Done(), "\n"), "use make")
		assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
		w.CurrentIs(t, other.ID)
		key := w.MustHear(t, "a prompt")
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+other.ID.String())
	})
}

// The text comes before any other sign of the change.
func TestP4_TextForOtherSessionIsPrompt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		other := w.Session(t, "web", session.Running)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, other.ID))
		w.MustHear(t, "a prompt")
		assert.Empty(t, w.Relay.Done())
		assert.Nil(t, w.RequestState(t, q).Why)
		assert.Contains(t, strings.Join(w.Lifecycle.Done(), "\n"), " for "+other.ID.String())
	})
}

func TestP4_DeliveredReasonMayBeRead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given bool
		want  i18n.Key
	}{{"a hook has it", true, i18n.AskTextUnsure}, {"no hook came for it", false, i18n.AskTextLost}} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			if !tt.given {
				w.HangsUp(q)
			}
			w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
			w.MustHear(t, "use make")
			w.Work(t)
			assert.Equal(t, tt.given, !w.RequestState(t, q).Given.IsZero())
			require.NoError(t, w.SessionNews(t.Context(), r, news.Ended{}))
			w.Work(t)
			require.Equal(t, ask.Unknown, w.RequestState(t, q).Outcome.What)
			assert.Contains(t, w.Telegram.Texts(), chattest.Warning+w.Named(tt.want, "api"))
		})
	}
}

// TestP4_EndedQuestionsAnswerIsNotTyped: the question ended while the person was writing.
func TestP4_EndedQuestionsAnswerIsNotTyped(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(t *testing.T, w *chattest.World, q chattest.Asked)
	}{
		{"the desk answered", func(t *testing.T, w *chattest.World, q chattest.Asked) { w.Result(t, q, "", "ok", false) }},
		{"the hook left", func(t *testing.T, w *chattest.World, q chattest.Asked) {
			w.HangsUp(q)
			w.OnLeft(t.Context(), q.Request)
			w.Work(t)
		}},
		{"somebody denied it", func(t *testing.T, w *chattest.World, q chattest.Asked) { w.TapsOn(t, chattest.Bob, q, i18n.AskDeny) }},
		{"ten minutes later", func(_ *testing.T, w *chattest.World, _ chattest.Asked) { w.Later(10 * time.Minute) }},
		{"ten minutes later, which was seen", func(t *testing.T, w *chattest.World, _ chattest.Asked) {
			w.Later(10 * time.Minute)
			w.Later(chattest.Round)
		}},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			w.Later(7 * time.Second) // ten minutes later is between two rounds
			w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
			tt.then(t, w, q)
			key := w.MustHear(t, "no, never")
			assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
			w.Work(t)
			m, stray := w.LastSent(t), w.Telegram.LastID()
			assert.Contains(t, m.Text.Text, "is no longer waiting for this text")
			assert.Equal(t, w.WordsOf(i18n.ButtonSend, i18n.ButtonDrop), chattest.Words(m))
			assert.Equal(t, inbox.Asked, w.EntryState(key))
			second := w.MustHear(t, "a prompt")
			assert.Contains(t, w.Lifecycle.Done(), "queue "+second+" for "+r.ID.String(), "only the next text is")
			w.Press(t, chattest.Alice, stray, w.Word(i18n.ButtonSend))
			assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
		})
	}
}

// The reason comes eight minutes after the end of the request, for the request's session.
func TestP4_LateReasonIsAskedAbout(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		other := w.NewCurrentSession(t, "web", session.Running)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		w.Result(t, q, "", "ok", false)
		w.Later(8 * time.Minute)
		key := w.MustHear(t, "no, never")
		assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
		w.Work(t)
		m, stray := w.LastSent(t), w.Telegram.LastID()
		assert.Contains(t, m.Text.Text, w.Named(i18n.AskStray, r.Name))
		w.Press(t, chattest.Alice, stray, w.Word(i18n.ButtonSend))
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
		w.CurrentIs(t, other.ID)
	})
}

// TestP4_EndingQuestionsAnswerIsNotTyped: it ends between the lookup and the
// decision.
func TestP4_EndingQuestionsAnswerIsNotTyped(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(t *testing.T, w *chattest.World, q chattest.Asked)
	}{
		{"somebody denied it", func(t *testing.T, w *chattest.World, q chattest.Asked) {
			w.TapsOn(t, chattest.Bob, q, i18n.AskDeny)
		}},
		{"it is over", func(t *testing.T, w *chattest.World, q chattest.Asked) {
			w.Result(t, q, "", "ok", false)
		}},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			_, q := w.Asking(t)
			w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
			var looked atomic.Bool
			w.Now = func() time.Time {
				if strings.Contains(string(debug.Stack()), ").awaits(") && looked.CompareAndSwap(false, true) {
					tt.ends(t, w, q)
				}
				return time.Now()
			}
			key := w.MustHear(t, "no, never")
			require.True(t, looked.Load())
			assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
			assert.Equal(t, inbox.Asked, w.EntryState(key))
		})
	}
}

func TestEndedQuestionsAnswerCanBeDropped(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		w.Result(t, q, "", "ok", false)
		key := w.MustHear(t, "no, never")
		stray := w.Telegram.LastID()
		w.Restart(t)
		w.Press(t, chattest.Alice, stray, w.Word(i18n.ButtonDrop))
		assert.Empty(t, w.EntryState(key))
		assert.Contains(t, w.Shows(t, stray).Text.Text, w.Named(i18n.Dropped, "api"))
		assert.Empty(t, w.Shows(t, stray).Buttons)
	})
}

func TestUnqueuedAnswerKeepsQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		w.Result(t, q, "", "ok", false)
		key := w.MustHear(t, "no, never")
		w.Work(t)
		stray := w.Telegram.LastID()
		w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return view.ErrNoAgent }
		w.Press(t, chattest.Alice, stray, w.Word(i18n.ButtonSend))
		assert.Contains(t, w.Telegram.Texts(), w.Named(i18n.AlreadyEnded, r.Name))
		assert.NotContains(t, w.Telegram.Texts(), w.Word(i18n.InternalError))
		assert.Equal(t, inbox.Asked, w.EntryState(key))
		w.Lifecycle.OnQueue = nil
		w.Press(t, chattest.Alice, stray, w.Word(i18n.ButtonSend))
		assert.Equal(t, inbox.Held, w.EntryState(key))
		assert.Empty(t, w.Shows(t, stray).Buttons)
	})
}

// TestStartClosesEndedRequests: a kill came after the end was on disk, and before the chat knew.
func TestStartClosesEndedRequests(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w *chattest.World, q chattest.Asked)
		want i18n.Key
	}{
		{"over", func(t *testing.T, w *chattest.World, q chattest.Asked) {
			require.NoError(t, w.Asks.Save(ask.GiveWay(w.RequestState(t, q), w.Now())))
		}, i18n.AskUnknown},
		{"unknown", func(t *testing.T, w *chattest.World, q chattest.Asked) { require.NoError(t, w.Asks.Remove(q.ID)) }, ""},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			_, offer := w.HeldBehind(t, r)
			shown := w.Message(t, q)
			w.Stops(t)
			tt.do(t, w, q)
			w.Restart(t)
			assert.Empty(t, w.Shows(t, shown).Buttons)
			if tt.want != "" {
				assert.Contains(t, w.Shows(t, shown).Text.Text, w.Word(tt.want))
			}
			assert.Empty(t, w.Shows(t, offer).Buttons)
		})
	}
}

// TestStartClosesDecidedStray, and no other.
func TestStartClosesDecidedStray(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *chattest.World, key string) error
		open bool
	}{
		{"finished", func(w *chattest.World, key string) error { return w.Inbox.Finish(key) }, false},
		{"in the queue", func(w *chattest.World, key string) error {
			return w.Inbox.Change(key, func(e *inbox.Entry) error { e.State = inbox.Held; return nil })
		}, false},
		{"not decided", func(*chattest.World, string) error { return nil }, true},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			_, q := w.Asking(t)
			w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
			w.Result(t, q, "", "ok", false)
			key := w.MustHear(t, "no, never")
			w.Work(t)
			stray := w.Telegram.LastID()
			w.Stops(t)
			require.NoError(t, tt.do(w, key))
			w.Restart(t)
			assert.Equal(t, tt.open, len(w.Shows(t, stray).Buttons) > 0)
		})
	}
}

func TestPromptLongAfterQuestionIsTyped(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, q := w.Asking(t)
		w.TapsOn(t, chattest.Alice, q, i18n.AskDenyWhy)
		w.Result(t, q, "", "ok", false)
		w.Later(10 * time.Minute)
		w.MustHear(t, "a prompt")
		assert.Contains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue")
	})
}
