package bot_test

import (
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// saying are the messages with a text in them, as they stand now.
func saying(t *testing.T, w *chattest.World, text string) (all []outbox.Message) {
	t.Helper()
	for id := range w.Telegram.LastID() {
		if m := w.Shows(t, id+1); strings.Contains(m.Text.Text, text) {
			all = append(all, m)
		}
	}
	return all
}

func TestLimitLevelsWarnOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		require.NoError(t, w.Chats.Set(chattest.Bob, func(s *conversation.Settings) { s.Telegram = "en" }))
		w.Session(t, "api", session.Running)
		resets := time.Now().Add(5 * time.Hour)
		tells := func(percent float64, at time.Time) []outbox.Message {
			w.Spent.Tells(talk.Limit{Window: talk.FiveHours, Percent: percent, Resets: at},
				talk.Limit{Window: talk.Week, Percent: 12, Resets: at.Add(72 * time.Hour)})
			w.Work(t)
			return saying(t, w, "limit:")
		}
		assert.Empty(t, tells(79.9, resets))
		all := tells(80, resets)
		people := len(w.PrivateChats())
		require.Len(t, all, people)
		assert.Equal(t, "⚠ 5-hour limit: 80% used, resets "+w.In(chattest.AtAlice).At(resets), all[0].Text.Text)
		assert.True(t, all[0].Sounds)
		assert.Len(t, tells(94, resets.Add(3*time.Second)), people, "once, also where the end is told a little differently")
		w.Restart(t)
		assert.Len(t, tells(94.9, resets), people)
		assert.Len(t, tells(96, resets), 2*people)
		w.Restart(t)
		assert.Len(t, tells(100, resets), 2*people)
		time.Sleep(5*time.Hour + time.Minute)
		assert.Len(t, tells(97, resets.Add(5*time.Hour)), 3*people, "of the next window, and only the louder of two")
		assert.Len(t, tells(82, resets.Add(5*time.Hour)), 3*people)

		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Quiet = &conversation.Hours{Until: 24 * 60} }))
		later := resets.Add(15 * time.Hour)
		silent := func(all []outbox.Message) (to []int64) {
			for _, m := range all {
				if !m.Sounds {
					to = append(to, m.To.ChatID)
				}
			}
			return to
		}
		assert.Equal(t, []int64{chattest.Alice}, silent(tells(80, later)), "in quiet hours it can wait")
		assert.Equal(t, []int64{chattest.Alice}, silent(tells(95, later)), "the louder one cannot")

		last := w.Telegram.LastID()
		w.Press(t, chattest.Alice, last-people+1, "Usage")
		w.Work(t)
		assert.Len(t, saying(t, w, "Usage (estimate)"), 1)
	})
}

// limited is a session that a limit has just stopped.
type limited struct {
	*chattest.World
	t     *testing.T
	r     session.Record
	c     talk.Cursor
	until time.Time
}

// atALimitWith has a chat with a setting for limits.
func atALimitWith(t *testing.T, atLimit string, test func(t *testing.T, w *limited)) {
	t.Helper()
	atALimitIn(t, conversation.Settings{Language: "en", AtLimit: atLimit}, "", test)
}

func atALimit(t *testing.T, test func(t *testing.T, w *limited)) {
	t.Helper()
	atALimitOf(t, "en", "", test)
}

// atALimitOf has a chat with a language, and a text of CCBOT_CONTINUE_TEXT.
func atALimitOf(t *testing.T, lang, text string, test func(t *testing.T, w *limited)) {
	t.Helper()
	atALimitIn(t, conversation.Settings{Language: lang}, text, test)
}

func atALimitIn(t *testing.T, set conversation.Settings, text string, test func(t *testing.T, w *limited)) {
	t.Helper()
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Talk.Reported, w.ContinueText = true, text
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { *s = set }))
		w.Restart(t)
		id := uuid.New()
		c := chattest.TranscriptOf(t, id.String()+".jsonl", chattest.PromptLine("go"))
		test(t, reachesLimit(t, w, w.NewCurrentSession(t, "api", session.Running, c), c, id))
	})
}

// reachesLimit lets a session of an agent's session be stopped by a limit.
func reachesLimit(t *testing.T, w *chattest.World, r session.Record, c talk.Cursor, id uuid.UUID) *limited {
	t.Helper()
	w.Records.Change(r.ID, func(r *session.Record) { r.AgentSessionID, r.Phase = id, "idle" })
	l := &limited{World: w, t: t, r: w.Record(t, r.ID), c: c, until: time.Now().Add(4 * time.Minute).Truncate(time.Second)}
	require.NoError(t, w.SessionNews(t.Context(), l.r, news.Transcript{}))
	l.writes(fmt.Sprintf(`{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","quotaLimits":{"resetsAt":%d},`+
		`"message":{"content":[{"type":"text","text":"You've hit your limit"}],"usage":{"output_tokens":0}}}`+"\n", l.until.Unix()))
	return l
}

// moves is an answer with its tokens, as the agent writes it: it ends the limit.
func moves(text string) string {
	return strings.Replace(chattest.Says(text), `"message":{`, `"message":{"usage":{"output_tokens":1},`, 1)
}

func (w *limited) writes(line string) {
	w.t.Helper()
	chattest.Grow(w.t, w.c, line)
	w.Later(time.Second)
	w.Work(w.t)
}

const goesOn = "The usage limit is over."

// card returns the message that offers to continue.
func (w *limited) card() outbox.Message {
	w.t.Helper()
	all := saying(w.t, w.World, "api")
	all = slices.DeleteFunc(all, func(m outbox.Message) bool { return m.Name == "" })
	require.Len(w.t, all, 1)
	return all[0]
}

func (w *limited) cardID() int {
	w.Telegram.Mu.Lock()
	defer w.Telegram.Mu.Unlock()
	return 1 + slices.IndexFunc(w.Telegram.Sent, func(m outbox.Message) bool { return strings.Contains(m.Text.Text, goesOn) })
}

func (w *limited) taps(word string) {
	w.t.Helper()
	w.Press(w.t, chattest.Alice, w.cardID(), word)
	w.Work(w.t)
}

func (w *limited) at() string { return w.until.Add(3 * time.Minute).Local().Format("15:04") }

func (w *limited) word() string { return "Continue at " + w.at() }

func TestEndOfLimitOffersToContinue(t *testing.T) {
	atALimit(t, func(t *testing.T, w *limited) {
		assert.Equal(t, "The limit of api lasts "+w.In(chattest.AtAlice).Until(w.until)+". After that this can be sent:\nThe usage limit is over. Continue where you stopped.", w.card().Text.Text)
		assert.Equal(t, []string{w.word()}, chattest.Words(w.card()))
		w.taps(w.word())
		assert.Equal(t, "This is sent to api at "+w.at()+", unless api has moved on by then:\nThe usage limit is over. Continue where you stopped.", w.card().Text.Text)
		w.Restart(t)
		w.taps(w.Word(i18n.ButtonDrop))
		assert.Equal(t, []string{w.word()}, chattest.Words(w.card()), "it is taken back")
		w.taps(w.word())
		left, err := w.Inbox.List()
		require.NoError(t, err)
		assert.Empty(t, left, "nothing is left that a kill could leave behind")
		w.Later(6 * time.Minute)
		assert.Empty(t, promptKeys(t, w.World), "Claude Code may go on by itself until then")
		w.Later(2 * time.Minute)
		assert.Len(t, promptKeys(t, w.World), 1)
		assert.Equal(t, "api continues. This is sent:\nThe usage limit is over. Continue where you stopped.", w.card().Text.Text)
		assert.Empty(t, w.card().Buttons)
	})
}

// By the setting of the chat the prompt is planned at once. A person can still take it back.
func TestSettingContinuesAfterLimit(t *testing.T) {
	atALimitWith(t, conversation.Continue, func(t *testing.T, w *limited) {
		assert.Equal(t, "This is sent to api at "+w.at()+", unless api has moved on by then:\nThe usage limit is over. Continue where you stopped.", w.card().Text.Text)
		w.taps(w.Word(i18n.ButtonDrop))
		assert.Equal(t, []string{w.word()}, chattest.Words(w.card()))
		w.taps(w.word())
		w.Restart(t)
		w.Later(10 * time.Minute)
		assert.Len(t, promptKeys(t, w.World), 1)
	})
}

// A session with a loop gets no prompt of a plan: the loop itself waits for the end of the limit.
func TestP4_PlanLeavesLoopAlone(t *testing.T) {
	atALimitWith(t, conversation.Continue, func(t *testing.T, w *limited) {
		w.Loops(t, w.r, port.Loop{ID: uuid.New(), Session: w.r.ID, Task: "x", Check: "make test", Bounds: port.LoopBounds{Turns: 20}, State: port.LoopPaused,
			Reason: port.WhyPerson, Step: port.LoopAsk, Iteration: 3, Attempt: 2}, true)
		w.Restart(t)
		w.Later(10 * time.Minute)
		assert.Empty(t, promptKeys(t, w.World))
	})
}

// By the setting of the chat nothing is offered, and nothing is sent.
func TestSettingStopsAtLimit(t *testing.T) {
	atALimitWith(t, conversation.Stop, func(t *testing.T, w *limited) {
		assert.Equal(t, "The limit of api lasts "+w.In(chattest.AtAlice).Until(w.until)+". Nothing is sent when it ends: /settings", w.card().Text.Text)
		assert.Empty(t, w.card().Buttons)
		w.Restart(t)
		w.Later(10 * time.Minute)
		assert.Empty(t, promptKeys(t, w.World))
	})
}

// The text that the chat shows is the one that is typed, in the language of the offer; a text of
// the settings is sent as it is.
func TestContinuationHasLanguageOfOffer(t *testing.T) {
	for _, tt := range []struct{ name, lang, set, want string }{
		{"English", "en", "", "The usage limit is over. Continue where you stopped."},
		{"Russian", "ru", "", "Лимит сброшен. Продолжай с того места, где остановился."},
		{"Chinese", "zh", "", "用量限额已重置。请从中断的地方继续。"},
		{"of the settings", "ru", "Go on, please.", "Go on, please."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			atALimitOf(t, tt.lang, tt.set, func(t *testing.T, w *limited) {
				id := w.Telegram.LastID()
				assert.True(t, strings.HasSuffix(w.Shows(t, id).Text.Text, "\n"+tt.want), w.Shows(t, id).Text.Text)
				w.Press(t, chattest.Alice, id, chattest.Words(w.Shows(t, id))[0])
				w.Work(t)
				require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.Language = "en" }))
				w.ContinueText = "changed"
				w.Restart(t)
				w.Later(10 * time.Minute)
				keys := promptKeys(t, w.World)
				require.Len(t, keys, 1)
				e, err := w.Inbox.Load(keys[0])
				require.NoError(t, err)
				assert.Equal(t, tt.want, e.Text)
				assert.Equal(t, "api continues. This is sent:\n"+tt.want, w.Shows(t, id).Text.Text)
			})
		})
	}
}

// TestP4_ContinuationOutlivesFault: the prompt that a person has planned cannot be written when its
// time comes.
func TestP4_ContinuationOutlivesFault(t *testing.T) {
	atALimit(t, func(t *testing.T, w *limited) {
		w.taps(w.word())
		heal := disktest.FailAll(t, "create", filepath.Join(w.Dir, "inbox"))
		w.Later(10 * time.Minute)
		assert.Empty(t, promptKeys(t, w.World))
		heal()
		w.Later(disktest.HealTime)
		assert.Len(t, promptKeys(t, w.World), 1)
	})
}

func TestUnusedOfferExpires(t *testing.T) {
	atALimit(t, func(t *testing.T, w *limited) {
		w.Later(8 * time.Minute)
		assert.Empty(t, w.card().Buttons)
		assert.Empty(t, promptKeys(t, w.World))
	})
}

// Nothing is typed where the limit is not the last that happened.
func TestP4_OtherEventCancelsPlannedPrompt(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func(w *limited)
		says string
	}{
		{"the session has ended", func(w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.State = session.Completed })
		}, "api has ended, so nothing was sent."},
		{"it is being resumed", func(w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.State = session.Restoring })
		}, "Nothing was sent to api: resuming."},
		{"it works", func(w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase = "working" })
		}, "Nothing was sent to api: working."},
		{"it asks", func(w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase = "waiting_permission" })
		}, "Nothing was sent to api: waiting for an answer."},
		{"nobody knows what it does", func(w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.Phase = "unknown" })
		}, "Nothing was sent to api: state unknown."},
		{"somebody has typed, and the agent is done", func(w *limited) {
			w.writes(chattest.PromptLine("something else") + moves("done") + chattest.TurnEnd)
		}, "api has moved on since the limit, so nothing was sent."},
		{"Claude Code has gone on by itself", func(w *limited) { w.writes(moves("on I go") + chattest.TurnEnd) },
			"api has moved on since the limit, so nothing was sent."},
		{"another limit has come", func(w *limited) {
			w.writes(fmt.Sprintf(`{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","quotaLimits":{"resetsAt":%d},`+
				`"message":{"content":[{"type":"text","text":"again"}],"usage":{}}}`+"\n", w.until.Add(-time.Minute).Unix()))
		}, "Nothing was sent to api: limit reached until "},
		{"a message waits", func(w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts = []string{"77"} })
		}, "Nothing was sent to api: messages are queued."},
		{"its transcript cannot be read", func(w *limited) {
			w.Records.Change(w.r.ID, func(r *session.Record) { r.Cursors[0].Path += "x" })
		}, "Nothing was sent to api: state unknown."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			atALimit(t, func(t *testing.T, w *limited) {
				id := w.cardID()
				w.taps(w.word())
				w.Stops(t) // the machine is off when the time comes, or slept
				tc.do(w)
				time.Sleep(5 * time.Hour)
				w.Restart(t)
				w.Later(time.Minute)
				assert.True(t, strings.HasPrefix(w.Shows(t, id).Text.Text, tc.says), w.Shows(t, id).Text.Text)
				assert.Empty(t, w.Shows(t, id).Buttons)
				assert.Empty(t, promptKeys(t, w.World))
				left, err := w.Inbox.List()
				require.NoError(t, err)
				assert.Empty(t, left)
			})
		})
	}
}

// With kills at any step, the prompt is typed once.
func TestP4_LimitPromptIsTypedOnce(t *testing.T) {
	for _, point := range []string{"nowhere", "continue-held", "before the queue", "queued", "typed"} {
		t.Run(point, func(t *testing.T) {
			atALimit(t, func(t *testing.T, w *limited) {
				id := w.cardID()
				w.taps(w.word())
				died := 0
				kills := 0
				w.Failpoint = func(at string) {
					if at != point {
						return
					}
					if kills++; kills < 3 {
						runtime.Goexit()
					}
				}
				w.Lifecycle.OnQueue = func(_ uuid.UUID, key string) error {
					if point == "queued" || point == "typed" {
						w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts = []string{key} })
						require.NoError(t, w.Inbox.Change(key, func(e *inbox.Entry) error { e.State = inbox.Held; return nil }))
					}
					if died++; died < 3 && (point != "nowhere" && point != "continue-held") {
						runtime.Goexit()
					}
					return nil
				}
				for range 3 { // the first runs are killed there
					w.Restart(t)
					w.Later(3 * time.Minute)
				}
				if point == "before the queue" { // a start offers it again
					w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts = promptKeys(t, w.World) })
				}
				if point == "typed" { // before the next start
					key := promptKeys(t, w.World)[0]
					require.NoError(t, w.Inbox.Finish(key))
					w.Records.Change(w.r.ID, func(r *session.Record) { r.Prompts, r.Phase = nil, "working" })
				}
				for range 2 {
					w.Restart(t)
					require.NoError(t, w.Review(t.Context(), time.Second))
					w.Later(2 * time.Minute)
				}
				assert.Equal(t, w.Record(t, w.r.ID).Prompts, promptKeys(t, w.World))
				w.Failpoint = nil
				assert.LessOrEqual(t, died, 1, "an offered prompt is offered again only by a start")
				if point != "typed" {
					assert.Len(t, promptKeys(t, w.World), 1)
				}
				assert.Contains(t, w.Shows(t, id).Text.Text, "api continues. This is sent:")
				assert.Empty(t, saying(t, w.World, "your decision"), "the offer asks about it")
			})
		})
	}
}

// A kill between the transcript's line and the offer loses nothing, nor does a session that
// continues.
func TestKilledOfferIsMadeAtStart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Talk.Reported = true
		limit := func(until time.Time) string {
			return fmt.Sprintf(`{"type":"assistant","isApiErrorMessage":true,"error":"rate_limit","quotaLimits":{"resetsAt":%d},`+
				`"message":{"content":[{"type":"text","text":"limit"}],"usage":{}}}`+"\n", until.Unix())
		}
		until := time.Now().Add(time.Hour)
		for name, said := range map[string]string{"api": limit(until), "past": limit(time.Now().Add(-time.Hour)), "on": limit(until) + moves("on") + chattest.TurnEnd} {
			id := uuid.New()
			c := chattest.TranscriptOf(t, id.String()+".jsonl", chattest.PromptLine("go")+said)
			r := w.Session(t, name, session.Running)
			w.Records.Change(r.ID, func(r *session.Record) {
				r.AgentSessionID, r.Phase = id, "idle"
				c.Offset = int64(len(chattest.PromptLine("go") + said)) // the chat has all of it
				r.Cursors = []talk.Cursor{c}
			})
		}
		w.ContinueText = ""
		for range 2 {
			w.Restart(t)
			w.Work(t)
			require.Len(t, saying(t, w, goesOn), 1)
		}
		assert.Contains(t, saying(t, w, goesOn)[0].Text.Text, "The limit of api")
	})
}

// idleAfter returns how long the machine lets a session be idle.
func (w *limited) idleAfter(t *testing.T, id uuid.UUID) time.Duration {
	t.Helper()
	synctest.Wait()
	r, _ := w.Records.Get(id)
	require.NotNil(t, r.IdleAfter)
	return *r.IdleAfter
}

// A planned prompt keeps its session, until its time or until it is taken back.
func TestPlannedPromptKeepsSession(t *testing.T) {
	atALimit(t, func(t *testing.T, w *limited) {
		w.Lifecycle.OnLook = quiet
		idle := 6 * time.Hour
		require.NoError(t, w.Chats.Set(chattest.Alice, func(s *conversation.Settings) { s.IdleAfter = &idle }))
		of := func() time.Duration { return w.idleAfter(t, w.r.ID) }
		assert.Equal(t, idle, of())
		w.taps(w.word())
		assert.Zero(t, of())
		w.Restart(t)
		assert.Zero(t, of())

		other := w.Session(t, "web", session.Running)
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, other.ID), news.Ready{}))
		assert.Equal(t, idle, w.idleAfter(t, other.ID))
		text, id := asksIdle(t, w.World)
		assert.Contains(t, text, "• web\n\nNot ended:\n• api: a message is planned")
		require.NoError(t, w.Pressing(t, chattest.Alice, id, w.Word(i18n.ButtonCancel)))

		w.taps(w.Word(i18n.ButtonDrop))
		assert.Equal(t, idle, of())
		_, id = asksIdle(t, w.World)
		w.taps(w.word())
		require.NoError(t, w.Pressing(t, chattest.Alice, id, w.Word(i18n.ButtonEndAll)))
		w.Work(t)
		assert.Contains(t, w.Lifecycle.Done(), "archive "+other.ID.String()+" when quiet")
		assert.NotContains(t, w.Lifecycle.Done(), "archive "+w.r.ID.String()+" when quiet")
		assert.Contains(t, w.Shows(t, id).Text.Text, "api: a message is planned")
	})
}

// A sleeping machine stops timers, but not the clock.
func TestSleepIsNoticedWithinMinute(t *testing.T) {
	atALimit(t, func(t *testing.T, w *limited) {
		w.taps(w.word())
		var slept atomic.Int64
		w.Stops(t)
		w.Again()
		w.Now = func() time.Time { return time.Now().Add(time.Duration(slept.Load())) }
		w.Bot.Now = w.Now
		stop := w.Running(t)
		slept.Store(int64(6 * time.Hour))
		w.Later(2 * time.Minute)
		assert.Len(t, promptKeys(t, w.World), 1)
		require.NoError(t, stop())
	})
}
