package bot_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
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

func (w *limited) runs(model string) {
	w.Lifecycle.Mu.Lock()
	defer w.Lifecycle.Mu.Unlock()
	w.Lifecycle.OnLook = view.Status{Usage: &port.Usage{Model: model}}
}

// again is a restart after a crash, as the daemon does it.
func (w *limited) again() {
	w.t.Helper()
	w.Restart(w.t)
	require.NoError(w.t, w.Review(w.t.Context(), 0))
	w.Work(w.t)
}

// A text that would only fail waits in one silent message, and goes in its order when the limit ends.
func TestP4_LimitHoldsTexts(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		before := w.Telegram.LastID()
		w.hears("one", "two")
		w.again()
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
		w.again()
		assert.Equal(t, before+1, w.Telegram.LastID(), "still one message")
		w.Later(2 * time.Minute)
		assert.Empty(t, w.queued(), "Claude Code may go on by itself until then")
		w.Later(2 * time.Minute)
		assert.Equal(t, []string{"one", "two", "three"}, w.queued())
		assert.Equal(t, "api gets this message.", w.Shows(t, id).Text.Text)
		w.again()
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
		w.writes(chattest.PromptLine("at the desk"))
		w.Later(time.Minute)
		assert.Empty(t, w.queued(), "it has only begun")
		w.writes(moves("done"))
		w.writes(chattest.TurnEnd)
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
			w.again()
		}, func(_ *testing.T, w *limited) { w.Later(8 * time.Minute) }, ask},
		{"ccbot was away at its end", func(*testing.T, *limited) {}, func(t *testing.T, w *limited) {
			w.Stops(t)
			time.Sleep(time.Hour)
			w.again()
			w.Later(time.Minute)
		}, ask},
		{"the model is another one", func(_ *testing.T, w *limited) {
			w.runs("Opus 5.5")
		}, func(_ *testing.T, w *limited) {
			w.runs("Sonnet 5")
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
	for _, ends := range []bool{true, false} {
		t.Run(fmt.Sprintf("the limit has an end: %t", ends), func(t *testing.T) {
			atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
				if !ends {
					w.Records.Change(w.r.ID, func(r *session.Record) { r.PhaseUntil = time.Time{} })
				}
				w.hears("one", "two")
				w.Records.Change(w.r.ID, func(r *session.Record) { r.State = session.Completed })
				require.NoError(t, w.SessionNews(t.Context(), w.Record(t, w.r.ID), news.Ended{}))
				w.Work(t)
				assert.Empty(t, w.queued())
				w.noneHeld()
				assert.NotEmpty(t, saying(t, w.World, "Your message was not delivered"))
				all, err := w.Inbox.List()
				require.NoError(t, err)
				require.Len(t, all, 2)
				assert.Equal(t, []inbox.State{inbox.Asked, inbox.Asked}, []inbox.State{all[0].State, all[1].State})
			})
		})
	}
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
		_, id := w.held()
		w.Press(t, chattest.Alice, id, "Discard")
		w.Work(t)
		assert.Equal(t, idle, w.idleAfter(t, w.r.ID), "it may be idle again")
		w.hears("two")
		assert.Zero(t, w.idleAfter(t, w.r.ID))
		w.Later(8 * time.Minute)
		assert.Equal(t, idle, w.idleAfter(t, w.r.ID))
	})
}

// A failure leaves no text without its question. Texts that no further try can send wait for a person.
func TestP4_HeldTextsOutliveFailure(t *testing.T) {
	for _, tc := range []struct {
		name   string
		err    error
		fails  int
		passes bool
	}{{"the disk is full", &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, 2, true}, {"it is refused", view.ErrNoAgent, 1, false}} {
		t.Run(tc.name, func(t *testing.T) {
			atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
				var mu sync.Mutex // a later try has another goroutine
				var sent []string
				fails := tc.fails
				w.Lifecycle.OnQueue = func(_ uuid.UUID, key string) error {
					mu.Lock()
					defer mu.Unlock()
					e, err := w.Inbox.Load(key)
					if err == nil && e.Text == "two" && fails > 0 {
						fails--
						return tc.err
					}
					sent = append(sent, e.Text)
					return err
				}
				got := func() []string {
					mu.Lock()
					defer mu.Unlock()
					return slices.Clone(sent)
				}
				w.hears("one", "two", "three")
				w.Later(7*time.Minute + time.Second)
				assert.Equal(t, []string{"one"}, got())
				m, id := w.held()
				assert.Contains(t, m.Text.Text, "1. two\n2. three")
				assert.Equal(t, !tc.passes, m.Sounds)
				w.Later(time.Minute)
				if !tc.passes {
					assert.Equal(t, []string{"one"}, got())
					w.Press(t, chattest.Alice, id, "Send now")
					w.Work(t)
				}
				assert.Equal(t, []string{"one", "two", "three"}, got())
				w.noneHeld()
			})
		})
	}
}

// A new text comes after those that are being sent.
func TestP4_TextFollowsHeldOnesThatGo(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		var heard atomic.Bool // the new text is queued from another goroutine
		w.Lifecycle.OnQueue = func(uuid.UUID, string) error {
			if !heard.Swap(true) {
				w.MustHear(t, "new")
				time.Sleep(time.Second)
			}
			return nil
		}
		w.hears("one", "two")
		w.Later(8 * time.Minute)
		assert.Equal(t, []string{"one", "two", "new"}, w.queued())
		w.noneHeld()
	})
}

// Another limit has another end.
func TestP4_LaterLimitHoldsTextsLonger(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		w.hears("one")
		later := w.until.Add(time.Hour)
		w.Records.Change(w.r.ID, func(r *session.Record) { r.PhaseUntil = later })
		w.writes(chattest.PromptLine("at the desk") + fmt.Sprintf(`{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","quotaLimits":{"resetsAt":%d},`+
			`"message":{"content":[{"type":"text","text":"You've hit your limit"}],"usage":{"output_tokens":0}}}`+"\n", later.Unix()))
		m, _ := w.held()
		assert.Contains(t, m.Text.Text, w.In(chattest.AtAlice).Until(later))
		w.Later(30 * time.Minute)
		assert.Empty(t, w.queued())
		w.hears("two")
		w.Later(time.Hour)
		assert.Equal(t, []string{"one", "two"}, w.queued())
	})
}

// Texts that a stop took back, that were agreed to late, or that a terminal sends, join the held ones.
func TestP4_LimitHoldsTextsOfAllWays(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		r := w.Record(t, w.r.ID)
		for _, text := range []string{"one", "two"} {
			e := w.Prompt(t, r, text, inbox.Held)
			require.NoError(t, w.Inbox.Change(e.Key, func(e *inbox.Entry) error { e.Class = talk.ClassPlain; return nil }))
			require.NoError(t, w.SessionNews(t.Context(), r, news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: text}}))
			w.Work(t)
		}
		list := w.Telegram.LastID()
		w.Press(t, chattest.Alice, list, "Send all")
		w.Work(t)
		assert.Empty(t, w.queued())
		assert.Empty(t, w.Shows(t, list).Buttons)

		shown, _ := w.Book.Records.Get(r.ID)
		require.NoError(t, prompt.CLI{Prompts: w.Prompts, Add: w.Inbox.Add}.Send(t.Context(), talk.PromptKey(uuid.New()), shown, "three"))
		w.Work(t)
		assert.Empty(t, w.queued())

		w.Talk.Reported = true
		w.HearSent(t, "four", time.Now().Add(-time.Hour))
		w.Work(t)
		old := w.Telegram.LastID()
		w.Press(t, chattest.Alice, old, "Send")
		w.Work(t)
		assert.Empty(t, w.Shows(t, old).Buttons)
		m, _ := w.held()
		for _, text := range []string{". one", ". two", ". three", ". four"} {
			assert.Contains(t, m.Text.Text, text)
		}
		w.again()
		w.Later(8 * time.Minute)
		assert.ElementsMatch(t, []string{"one", "two", "three", "four"}, w.queued())
	})
}

// Nothing else shows the text of a terminal.
func TestHeldTextOfTerminalIsShown(t *testing.T) {
	atKnownLimit(t, conversation.Stop, func(t *testing.T, w *limited) {
		shown, _ := w.Book.Records.Get(w.r.ID)
		require.NoError(t, prompt.CLI{Prompts: w.Prompts, Add: w.Inbox.Add}.Send(t.Context(), talk.PromptKey(uuid.New()), shown, "one"))
		w.Work(t)
		m, _ := w.held()
		assert.True(t, strings.HasSuffix(m.Text.Text, "\none"), m.Text.Text)
	})
}
