package bot

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
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

func TestP4_TheNextTextIsTheReasonOnlyWhileItMayBeMeant(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(t *testing.T, w *world, other session.Record)
	}{
		{"another session in the list", func(t *testing.T, w *world, other session.Record) {
			w.mustHear(t, "/list")
			list := w.sender.last(t)
			require.NoError(t, w.tapShown(t, alice, list, i18n.Key(other.Name)))
		}},
		{"a new session", func(t *testing.T, w *world, _ session.Record) { w.mustHear(t, "/new") }},
		{"a session that is back", func(t *testing.T, w *world, _ session.Record) {
			old := w.session(t, "old", session.Archived)
			w.mustHear(t, "/resume "+old.Name)
			w.records.change(old.ID, func(r *session.Record) { r.State = session.Running })
		}},
		{"a switch that nobody told", func(t *testing.T, w *world, other session.Record) {
			require.NoError(t, w.Chats.SetCurrent(atAlice, other.ID))
			w.later(round)
		}},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			_, q := w.asking(t)
			other := w.session(t, "web", session.Running)
			w.tapsOn(t, alice, q, i18n.AskDenyWhy)
			require.NotNil(t, w.card(t, q).Why)
			tt.then(t, w, other)
			assert.Nil(t, w.card(t, q).Why)
			m := w.sender.lastEdit(t)
			if m.ReplyTo == w.message(t, q) {
				assert.NotContains(t, m.Text.Text, w.word(i18n.AskWriteNow))
				assert.True(t, w.has(m, i18n.AskDenyWhy), "it can be decided as before")
			}
			w.mustHear(t, "a prompt")
			assert.Empty(t, w.relay.done())
			assert.Contains(t, strings.Join(w.sessions.done(), "\n"), "queue")
		})
	}
}

// TestP4_ATextForAnotherSessionIsAPrompt, also before anything else has noticed.
func TestP4_ATextForAnotherSessionIsAPrompt(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		other := w.session(t, "web", session.Running)
		w.tapsOn(t, alice, q, i18n.AskDenyWhy)
		require.NoError(t, w.Chats.SetCurrent(atAlice, other.ID))
		w.mustHear(t, "a prompt")
		assert.Empty(t, w.relay.done())
		assert.Nil(t, w.card(t, q).Why)
		assert.Contains(t, strings.Join(w.sessions.done(), "\n"), " for "+other.ID.String())
	})
}

func TestP4_ATextThatAHookHasMayHaveBeenRead(t *testing.T) {
	for _, tt := range []struct {
		name  string
		given bool
		want  i18n.Key
	}{{"a hook has it", true, i18n.AskTextUnsure}, {"no hook came for it", false, i18n.AskTextLost}} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			r, q := w.asking(t)
			if !tt.given {
				w.hangsUp(q)
			}
			w.tapsOn(t, alice, q, i18n.AskDenyWhy)
			w.mustHear(t, "use make")
			w.work(t)
			assert.Equal(t, tt.given, !w.card(t, q).Given.IsZero())
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteEnded, Session: r}))
			w.work(t)
			require.Equal(t, ask.Unknown, w.card(t, q).Outcome.What)
			assert.Contains(t, w.sender.texts(), warning+w.named(tt.want, "api"))
		})
	}
}

// TestP4_WordsForAQuestionThatIsOverAreNotTyped: somebody was writing while something else ended
// the wait for it.
func TestP4_WordsForAQuestionThatIsOverAreNotTyped(t *testing.T) {
	for _, tt := range []struct {
		name string
		then func(t *testing.T, w *world, q asked)
	}{
		{"the desk answered", func(t *testing.T, w *world, q asked) { w.result(t, q, "", "ok", false) }},
		{"the hook left", func(t *testing.T, w *world, q asked) {
			w.hangsUp(q)
			w.Left(t.Context(), q.Request)
			w.work(t)
		}},
		{"somebody denied it", func(t *testing.T, w *world, q asked) { w.tapsOn(t, bob, q, i18n.AskDeny) }},
		{"ten minutes later", func(_ *testing.T, w *world, _ asked) { w.later(10 * time.Minute) }},
		{"ten minutes later, which was seen", func(t *testing.T, w *world, _ asked) {
			w.later(10 * time.Minute)
			w.later(round)
		}},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			r, q := w.asking(t)
			w.later(7 * time.Second) // ten minutes later is between two rounds
			w.tapsOn(t, alice, q, i18n.AskDenyWhy)
			tt.then(t, w, q)
			key := w.mustHear(t, "no, never")
			assert.NotContains(t, strings.Join(w.sessions.done(), "\n"), "queue")
			w.work(t)
			m, stray := w.lastSent(t), w.sender.lastID()
			assert.Contains(t, m.Text.Text, "was probably meant for it")
			assert.Equal(t, w.wordsOf(i18n.ButtonSend, i18n.ButtonDrop), words(m))
			assert.Equal(t, inbox.Asked, w.entryState(key))
			second := w.mustHear(t, "a prompt")
			assert.Contains(t, w.sessions.done(), "queue "+second+" for "+r.ID.String(), "only the next text is")
			w.press(t, alice, stray, w.word(i18n.ButtonSend))
			assert.Contains(t, w.sessions.done(), "queue "+key+" for "+r.ID.String())
		})
	}
}

// TestP4_WordsForAQuestionThatEndsMeanwhileAreNotTyped: it ends between the look for it and the
// decision.
func TestP4_WordsForAQuestionThatEndsMeanwhileAreNotTyped(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(t *testing.T, w *world, q asked)
	}{
		{"somebody denied it", func(t *testing.T, w *world, q asked) {
			w.tapsOn(t, bob, q, i18n.AskDeny)
		}},
		{"it is over", func(t *testing.T, w *world, q asked) {
			w.result(t, q, "", "ok", false)
		}},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			_, q := w.asking(t)
			w.tapsOn(t, alice, q, i18n.AskDenyWhy)
			var looked atomic.Bool
			w.Now = func() time.Time {
				if strings.Contains(string(debug.Stack()), ").awaits(") && looked.CompareAndSwap(false, true) {
					tt.ends(t, w, q)
				}
				return time.Now()
			}
			key := w.mustHear(t, "no, never")
			require.True(t, looked.Load())
			assert.NotContains(t, strings.Join(w.sessions.done(), "\n"), "queue")
			assert.Equal(t, inbox.Asked, w.entryState(key))
		})
	}
}

func TestWordsForAQuestionThatIsOverAreDropped(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskDenyWhy)
		w.result(t, q, "", "ok", false)
		key := w.mustHear(t, "no, never")
		stray := w.sender.lastID()
		w.restart(t)
		w.press(t, alice, stray, w.word(i18n.ButtonDrop))
		assert.Empty(t, w.entryState(key))
		assert.Contains(t, w.shows(t, stray).Text.Text, w.named(i18n.Dropped, "api"))
		assert.Empty(t, w.shows(t, stray).Buttons)
	})
}

func TestWordsThatCannotBeQueuedAreAskedAboutStill(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskDenyWhy)
		w.result(t, q, "", "ok", false)
		key := w.mustHear(t, "no, never")
		w.work(t)
		stray := w.sender.lastID()
		w.sessions.queue = func(uuid.UUID, string) error { return lifecycle.ErrNoAgent }
		w.press(t, alice, stray, w.word(i18n.ButtonSend))
		assert.Contains(t, w.sender.texts(), w.named(i18n.AlreadyEnded, r.Name))
		assert.NotContains(t, w.sender.texts(), w.word(i18n.InternalError))
		assert.Equal(t, inbox.Asked, w.entryState(key))
		w.sessions.queue = nil
		w.press(t, alice, stray, w.word(i18n.ButtonSend))
		assert.Equal(t, inbox.Held, w.entryState(key))
		assert.Empty(t, w.shows(t, stray).Buttons)
	})
}

// TestAStartClosesWhatIsOver: a kill came after the end was on disk, and before the chat knew.
func TestAStartClosesWhatIsOver(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w *world, q asked)
		want i18n.Key
	}{
		{"over", func(t *testing.T, w *world, q asked) {
			require.NoError(t, w.Asks.Save(ask.GiveWay(w.card(t, q), w.Now())))
		}, i18n.AskUnknown},
		{"unknown", func(t *testing.T, w *world, q asked) { require.NoError(t, w.Asks.Remove(q.ID)) }, ""},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			r, q := w.asking(t)
			_, offer := w.heldBehind(t, r)
			shown := w.message(t, q)
			w.stops(t)
			tt.do(t, w, q)
			w.restart(t)
			assert.Empty(t, w.shows(t, shown).Buttons)
			if tt.want != "" {
				assert.Contains(t, w.shows(t, shown).Text.Text, w.word(tt.want))
			}
			assert.Empty(t, w.shows(t, offer).Buttons)
		})
	}
}

// TestAStartClosesAStrayThatWasDecided, and no other.
func TestAStartClosesAStrayThatWasDecided(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(w *world, key string) error
		open bool
	}{
		{"finished", func(w *world, key string) error { return w.entries.Finish(key) }, false},
		{"in the queue", func(w *world, key string) error {
			return w.entries.Change(key, func(e *inbox.Entry) error { e.State = inbox.Held; return nil })
		}, false},
		{"not decided", func(*world, string) error { return nil }, true},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			_, q := w.asking(t)
			w.tapsOn(t, alice, q, i18n.AskDenyWhy)
			w.result(t, q, "", "ok", false)
			key := w.mustHear(t, "no, never")
			w.work(t)
			stray := w.sender.lastID()
			w.stops(t)
			require.NoError(t, tt.do(w, key))
			w.restart(t)
			assert.Equal(t, tt.open, len(w.shows(t, stray).Buttons) > 0)
		})
	}
}

func TestAPromptLongAfterAQuestionIsTyped(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		_, q := w.asking(t)
		w.tapsOn(t, alice, q, i18n.AskDenyWhy)
		w.result(t, q, "", "ok", false)
		w.later(2 * time.Minute)
		w.mustHear(t, "a prompt")
		assert.Contains(t, strings.Join(w.sessions.done(), "\n"), "queue")
	})
}
