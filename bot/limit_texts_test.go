package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
)

// atKnownLimit is atALimitWith for a session whose agent is known to have reached the limit.
func atKnownLimit(t *testing.T, atLimit string, test func(t *testing.T, w *limited)) {
	t.Helper()
	atALimitWith(t, atLimit, func(t *testing.T, w *limited) {
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase, r.PhaseUntil = "limit_reached", w.until })
		w.Work(t)
		test(t, w)
	})
}

// queued returns the texts that the session's queue got, in their order.
func (w *limited) queued() (all []string) {
	w.t.Helper()
	for _, line := range w.Lifecycle.Done() {
		if key, is := strings.CutPrefix(line, "queue "); is {
			key, _, _ = strings.Cut(key, " ")
			e, err := w.Inbox.Load(key)
			require.NoError(w.t, err)
			all = append(all, e.Text)
		}
	}
	return all
}

// held returns the newest message with the button [Send now].
func (w *limited) held() (m outbox.Message, id int) {
	w.t.Helper()
	for id = w.Telegram.LastID(); id > 0; id-- {
		if m = w.Shows(w.t, id); slices.Contains(chattest.Words(m), w.Word(i18n.ButtonSendNow)) {
			return m, id
		}
	}
	require.Fail(w.t, "no text is held")
	return m, id
}

func (w *limited) noneHeld() {
	w.t.Helper()
	for id := range w.Telegram.LastID() {
		assert.NotContains(w.t, chattest.Words(w.Shows(w.t, id+1)), w.Word(i18n.ButtonSendNow))
	}
}

func (w *limited) hears(texts ...string) {
	w.t.Helper()
	for _, text := range texts {
		w.MustHear(w.t, text)
		w.Work(w.t)
	}
}

// A text that would only fail waits in one silent message, and goes in its order when the limit ends.
func TestP4_LimitHoldsTexts(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		before := w.Telegram.LastID()
		w.hears("one", "two")
		w.Restart(t)
		w.hears("three")
		assert.Empty(t, w.queued())
		assert.Equal(t, before+1, w.Telegram.LastID(), "one message for all")
		m, id := w.held()
		assert.Equal(t, "The limit of api lasts "+w.In(chattest.AtAlice).Until(w.until)+". What waits here is sent then.\n"+
			"3 messages wait here.\n1. one\n2. two\n3. three", m.Text.Text)
		assert.Equal(t, []string{"Send now", "Discard"}, chattest.Words(m))
		assert.False(t, m.Sounds)

		w.Later(3 * time.Minute)
		assert.Empty(t, w.queued())
		w.Restart(t)
		w.Later(2 * time.Minute)
		assert.Equal(t, []string{"one", "two", "three"}, w.queued())
		assert.Equal(t, "api gets this message.", w.Shows(t, id).Text.Text)
		w.Restart(t)
		w.Later(time.Hour)
		assert.Len(t, w.queued(), 3, "once")
		w.hears("four")
		assert.Len(t, w.queued(), 4)
	})
}

// What a person can do about it meanwhile.
func TestHeldTextsAreSentOrDiscarded(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		w.hears("/model sonnet", "!ls")
		assert.Equal(t, []string{"/model sonnet", "!ls"}, w.queued(), "a command may end the limit")
		w.hears("one")
		_, id := w.held()
		w.Press(t, chattest.Alice, id, "Discard")
		w.Work(t)
		w.noneHeld()
		w.hears("two", "three")
		require.NoError(t, w.Edit(t, 1000+int(w.Updates), "three, better"))
		m, id := w.held()
		assert.Contains(t, m.Text.Text, "2. three, better")
		w.Press(t, chattest.Alice, id, "Send now")
		w.Work(t)
		w.Later(time.Hour)
		assert.Equal(t, []string{"/model sonnet", "!ls", "two", "three, better"}, w.queued())
	})
}

// The prompt that continues the session goes first.
func TestP4_HeldTextsFollowTheContinuation(t *testing.T) {
	atKnownLimit(t, conversation.Continue, func(t *testing.T, w *limited) {
		w.hears("one")
		w.Later(5 * time.Minute)
		assert.Empty(t, w.queued(), "Claude Code may go on by itself until then")
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase, r.PhaseUntil = "idle", time.Time{} })
		w.hears("two")
		assert.Empty(t, w.queued(), "it keeps its place behind the first one")
		w.Later(3 * time.Minute)
		assert.Equal(t, []string{"The usage limit is over. Continue where you stopped.", "one", "two"}, w.queued())
	})
}

// An answer shows that the limit is over before its time.
func TestAnswerEndsHold(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		w.hears("one")
		w.writes(chattest.PromptLine("at the desk") + moves("done") + chattest.TurnEnd)
		assert.Equal(t, []string{"one"}, w.queued())
		w.noneHeld()
	})
}

// A person decides about a text that is no longer, or was never, to go by itself.
func TestP4_HeldTextsAreAskedAbout(t *testing.T) {
	const ask = "api has reached a usage limit, so your message ("
	for _, tc := range []struct {
		name string
		// before a text is sent, and after it
		before, after func(t *testing.T, w *limited)
		says          string
	}{
		{"the limit has no end", func(_ *testing.T, w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.PhaseUntil = time.Time{} })
		}, func(*testing.T, *limited) {}, ask},
		{"it lasts too long", func(t *testing.T, w *limited) {
			w.HoldFor = 2 * time.Minute
			w.Restart(t)
		}, func(_ *testing.T, w *limited) { w.Later(5 * time.Minute) }, ask},
		{"ccbot was away at its end", func(*testing.T, *limited) {}, func(t *testing.T, w *limited) {
			w.Stops(t)
			time.Sleep(time.Hour)
			w.Restart(t)
			w.Later(time.Minute)
		}, ask},
		{"the model is another one", func(_ *testing.T, w *limited) {
			w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: "Opus 5.5"}}
		}, func(_ *testing.T, w *limited) {
			w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: "Sonnet 5"}}
			w.Later(5 * time.Minute)
		}, ask},
	} {
		t.Run(tc.name, func(t *testing.T) {
			atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
				tc.before(t, w)
				w.hears("one", "two")
				tc.after(t, w)
				m, id := w.held()
				assert.True(t, strings.HasPrefix(m.Text.Text, tc.says), m.Text.Text)
				assert.Contains(t, m.Text.Text, "2. two")
				assert.True(t, m.Sounds)
				w.Later(time.Hour)
				assert.Empty(t, w.queued())
				w.Press(t, chattest.Alice, id, "Send now")
				w.Work(t)
				assert.Equal(t, []string{"one", "two"}, w.queued())
			})
		})
	}
}

// The texts of a session that has ended stay with their writer.
func TestP4_HeldTextsOutliveSession(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		w.hears("one", "two")
		w.Records.Change(w.r.ID, func(r *session.Record) { r.State = session.Completed })
		w.Later(5 * time.Minute)
		assert.Empty(t, w.queued())
		w.noneHeld()
		assert.NotEmpty(t, saying(t, w.World, "Your message was not delivered"))
		all, err := w.Inbox.List()
		require.NoError(t, err)
		require.Len(t, all, 2)
		assert.Equal(t, []inbox.State{inbox.Asked, inbox.Asked}, []inbox.State{all[0].State, all[1].State})
	})
}

// A session whose texts a limit holds is not idle.
func TestHeldTextsKeepSession(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		w.Lifecycle.OnLook = quiet
		idle := 6 * time.Hour
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.IdleAfter = &idle }))
		assert.Equal(t, idle, w.idleAfter(t, w.r.ID))
		w.hears("one")
		assert.Zero(t, w.idleAfter(t, w.r.ID))
	})
}
