package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// queuedDone are the keys that were queued again, in order.
func queuedDone(w *chattest.World) (keys []string) {
	for _, line := range w.Lifecycle.Done() {
		if key, ok := strings.CutPrefix(line, "queue "); ok {
			keys = append(keys, strings.Fields(key)[0])
		}
	}
	return keys
}

// hears sends texts during a question of an agent, and reports that each waits, as lifecycle does.
func hears(t *testing.T, w *chattest.World, r session.Record, texts ...string) (keys []string) {
	t.Helper()
	for _, text := range texts {
		key := w.MustHear(t, text)
		keys = append(keys, key)
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Held{Why: news.HeldDialog,
			Prompt: talk.Prompt{Key: key}, Now: talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}}))
		w.Work(t)
	}
	return keys
}

// TestTextsBehindQuestionAreOneMessage sends three texts while a request is open. One of them
// becomes the reason of its denial, the others stay in the queue.
func TestTextsBehindQuestionAreOneMessage(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		before := trafficOf(w)
		keys := hears(t, w, r, "first", "not on a Friday", "third")
		now := trafficOf(w).minus(before)
		assert.Equal(t, 1, now.Messages)
		assert.Zero(t, now.Sounds)
		list := w.Telegram.LastID()
		assert.Equal(t, chattest.Lines("api is waiting for your answer: permission for Bash.", "3 messages wait.",
			"1. first", "2. not on a Friday", "3. third"), w.Shows(t, list).Text.Text)
		assert.Equal(t, []string{"Show the question", "1. Deny with this text", "2. Deny with this text", "3. Deny with this text"},
			chattest.Words(w.Shows(t, list)))

		w.Press(t, chattest.Alice, list, "2. Deny with this text")
		require.Len(t, w.Relay.Done(), 1)
		assert.Contains(t, w.Relay.Done()[0], "not on a Friday")
		assert.Contains(t, w.Lifecycle.Done(), "withdraw "+keys[1]+" of "+r.ID.String())
		assert.Equal(t, []string{keys[0], keys[2]}, w.Record(t, r.ID).Prompts)
		assert.Equal(t, chattest.Lines("Denied. api gets your message as the reason; it is not sent again.", "2 messages go to api."),
			w.Shows(t, list).Text.Text)
		assert.Empty(t, w.Shows(t, list).Buttons)
		w.Result(t, q, "deny", "", false)
		assert.Equal(t, list, w.Telegram.LastID())
	})
}

// TestListLeadsToItsQuestion: the question comes below the texts that were written after it.
func TestListLeadsToItsQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		hears(t, w, r, "first")
		list := w.Telegram.LastID()
		w.Press(t, chattest.Alice, list, "Show the question")
		assert.Greater(t, w.Message(t, q), list)
	})
}

// TestListBecomesOneLine: texts that waited for an answer read "wait" no longer, however the
// question was settled.
func TestListBecomesOneLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, w *chattest.World, r session.Record, q chattest.Asked, keys []string)
		want string
	}{
		{"it is answered", func(t *testing.T, w *chattest.World, _ session.Record, q chattest.Asked, _ []string) {
			w.TapsOn(t, chattest.Alice, q, "ask_allow")
			w.Result(t, q, "allow", "ok", false)
		}, "2 messages waited while api asked something."},
		{"all are discarded", func(t *testing.T, w *chattest.World, r session.Record, _ chattest.Asked, keys []string) {
			for _, key := range keys {
				e, err := w.Inbox.Load(key)
				require.NoError(t, err)
				require.NoError(t, w.Prompts.Discard(t.Context(), e, chattest.Alice))
				require.NoError(t, w.Inbox.Finish(key))
			}
			require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Requeued{}))
		}, "Nothing is queued for api."},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			keys := hears(t, w, r, "first", "second")
			list := w.Telegram.LastID()
			tt.do(t, w, r, q, keys)
			w.Work(t)
			assert.Equal(t, tt.want, w.Shows(t, list).Text.Text)
			assert.Empty(t, w.Shows(t, list).Buttons)
		})
	}
}

// TestListOfTerminalHasNoReasons: no request can be denied with a text, and the list ends when the
// first text is typed.
func TestListOfTerminalHasNoReasons(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		keys := hears(t, w, r, "first", "second")
		list := w.Telegram.LastID()
		assert.Contains(t, w.Shows(t, list).Text.Text, "2 messages wait.")
		assert.Equal(t, []string{"Show the question"}, chattest.Words(w.Shows(t, list)))
		require.NoError(t, w.SessionNews(t.Context(), r, news.Typed{Prompt: talk.Prompt{Key: keys[0]}}))
		w.Work(t)
		assert.Equal(t, "2 messages waited while api asked something.", w.Shows(t, list).Text.Text)
	})
}

// stops lets a stop take texts back, the one that the agent had last, and returns the message that
// asks about them.
func stops(t *testing.T, w *chattest.World, r session.Record, interrupted string, queued ...string) (list int, keys []string) {
	t.Helper()
	for i, text := range append(queued, interrupted) {
		state := inbox.Held
		if i == len(queued) {
			state = inbox.Typing
		}
		e := w.Prompt(t, r, text, state)
		if keys = append(keys, e.Key); state == inbox.Typing {
			require.NoError(t, w.Inbox.Finish(e.Key))
		}
		require.NoError(t, w.SessionNews(t.Context(), r, news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: text}}))
		w.Work(t)
		assert.Equal(t, inbox.Asked, w.EntryState(e.Key), "nothing types it")
	}
	return w.Telegram.LastID(), keys
}

// TestP4_StoppedTextsAreOneCard stops an agent while four texts wait.
func TestP4_StoppedTextsAreOneCard(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		before := trafficOf(w)
		list, keys := stops(t, w, r, "deploy", "one", "two", "three", "four")
		now := trafficOf(w).minus(before)
		assert.Equal(t, []int{1, 1}, []int{now.Messages, now.Sounds}, "one message, one sound")
		assert.Equal(t, chattest.Lines("Stopped. api has not carried out these messages:",
			"1. Interrupted: deploy", "2. one", "3. two", "4. three", "5. four"), w.Shows(t, list).Text.Text)
		assert.Equal(t, []string{"1. Send again", "1. Discard", "2. Send", "2. Discard", "3. Send", "3. Discard", "4. Send", "4. Discard",
			"5. Send", "5. Discard", "Send all", "Discard all"}, chattest.Words(w.Shows(t, list)))
		assert.Equal(t, 5, w.Deps.Cards.Needs(r.ID).Decisions)

		w.Press(t, chattest.Alice, list, "3. Discard")
		assert.Empty(t, w.EntryState(keys[1]))
		w.Press(t, chattest.Alice, list, "2. Send")
		assert.Equal(t, inbox.Held, w.EntryState(keys[0]))
		assert.Equal(t, 3, w.Deps.Cards.Needs(r.ID).Decisions)
		w.Press(t, chattest.Alice, list, "Send all")
		assert.Equal(t, []string{keys[0], keys[4], keys[2], keys[3]}, queuedDone(w), "in the order of the list")
		assert.Equal(t, "4 messages go to api. 1 message was discarded.", w.Shows(t, list).Text.Text)
		assert.Empty(t, w.Shows(t, list).Buttons)
		assert.Equal(t, list, w.Telegram.LastID())
	})
}

// stoppable returns a session whose transcript is read, so that an interrupt is seen there.
func stoppable(t *testing.T, w *chattest.World) (session.Record, talk.Cursor) {
	t.Helper()
	w.Talk.Reported = true
	w.Restart(t)
	id := uuid.New()
	c := chattest.TranscriptOf(t, id.String()+".jsonl")
	r := w.NewCurrentSession(t, "api", session.Running, c)
	w.Records.Change(r.ID, func(r *session.Record) { r.AgentSessionID = id })
	require.NoError(t, w.SessionNews(t.Context(), r, news.Transcript{}))
	return r, c
}

// TestStopIsOneMessage stops a turn while texts wait: the list of the texts has all that there is
// to report.
func TestStopIsOneMessage(t *testing.T) {
	for _, tt := range []struct {
		name   string
		work   string
		queued []string
		line   bool // the transcript reports the interrupt, sooner or later
		agents int
		want   string
	}{
		{"several texts", "deploy the shop", []string{"one", "two"}, true, 0, chattest.Lines("api is interrupted. It was working on: deploy the shop",
			"It has not carried out these messages:", "1. one", "2. two")},
		{"one text", "deploy the shop\nand test it", []string{"one"}, true, 0, chattest.Lines("api is interrupted. It was working on: deploy the shop …",
			"This message was still queued at /stop, so it was not sent. Send it to api anyway?", "one")},
		{"unknown work", "", []string{"one", "two"}, true, 0, chattest.Lines("api is interrupted.",
			"It has not carried out these messages:", "1. one", "2. two")},
		{"a turn that leaves no line, and a subagent", "deploy", []string{"one", "two"}, false, 1, chattest.Lines("api is interrupted. It was working on: deploy",
			"It has not carried out these messages:", "1. one", "2. two",
			"Still running: 1 agent in the background. /stop does not end that. Ask api to end it, or end all of it with /kill.")},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, c := stoppable(t, w)
			w.Lifecycle.OnLook = view.Status{Agents: tt.agents}
			w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) {
				for _, text := range tt.queued {
					e := w.Prompt(t, r, text, inbox.Held)
					require.NoError(t, w.SessionNews(t.Context(), r, news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: text}, Work: tt.work}))
				}
				return tt.line, nil
			}
			before := trafficOf(w)
			w.MustHear(t, "/stop")
			w.Work(t)
			if tt.line {
				chattest.Grow(t, c, chattest.Interrupt)
				w.Later(time.Second)
				w.Work(t)
			}
			now := trafficOf(w).minus(before)
			assert.Equal(t, []int{1, 1}, []int{now.Messages, now.Sounds}, "%q", w.Telegram.Texts())
			assert.Equal(t, tt.want, w.Shows(t, w.Telegram.LastID()).Text.Text)
		})
	}
}

// TestSecondStopIsNotTheFirst stops an agent twice within seconds. The effects of the second stop
// are not in the first one's list, unless that stop also takes texts back.
func TestSecondStopIsNotTheFirst(t *testing.T) {
	for _, tt := range []struct {
		name  string
		line  bool     // the first stop ends a turn
		texts []string // that the second stop takes back
		first string   // the list
		then  string   // the last message after the second stop
	}{
		{"of a turn, and of a turn", true, nil, chattest.Lines("api is interrupted. It was working on: deploy",
			"It has not carried out these messages:", "1. one", "2. two"), "api is interrupted. Tell it what to do instead."},
		{"of a queue, and of a turn", false, nil, chattest.Lines("Stopped. api has not carried out these messages:", "1. one", "2. two"),
			"api is interrupted. Tell it what to do instead."},
		{"of a turn, and of a turn with a queue", true, []string{"three"}, "", chattest.Lines("api is interrupted. It was working on: test",
			"It has not carried out these messages:", "1. one", "2. two", "3. three")},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			r, c := stoppable(t, w)
			stop := func(work string, line bool, texts ...string) {
				w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) {
					for _, text := range texts {
						e := w.Prompt(t, r, text, inbox.Held)
						require.NoError(t, w.SessionNews(t.Context(), r, news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: text}, Work: work}))
					}
					if line {
						chattest.Grow(t, c, chattest.Interrupt)
						w.Work(t) // the reader may be faster than the stop
					}
					return true, nil
				}
				w.MustHear(t, "/stop")
				w.Later(time.Second)
				w.Work(t)
			}
			stop("deploy", tt.line, "one", "two")
			list := w.Telegram.LastID()
			w.Later(5 * time.Second)
			stop("test", true, tt.texts...)
			if tt.first == "" {
				assert.Empty(t, w.Shows(t, list).Buttons)
			} else {
				assert.Equal(t, tt.first, w.Shows(t, list).Text.Text)
			}
			assert.Greater(t, w.Telegram.LastID(), list)
			assert.Equal(t, tt.then, w.Shows(t, w.Telegram.LastID()).Text.Text)
		})
	}
}

// TestListTakesOneInterrupt: the interrupt of another turn in the terminal after a stop is a
// separate message.
func TestListTakesOneInterrupt(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r, c := stoppable(t, w)
		list, _ := stops(t, w, r, "deploy", "one")
		for i := range 2 {
			at := w.Now().Add(time.Duration(i) * time.Second).UTC().Format(time.RFC3339Nano)
			chattest.Grow(t, c, strings.Replace(chattest.Interrupt, `{`, `{"timestamp":"`+at+`",`, 1))
			w.Later(time.Second)
			w.Work(t)
			assert.Contains(t, w.Shows(t, list).Text.Text, "api is interrupted.")
			assert.Equal(t, list+i, w.Telegram.LastID())
		}
	})
}

// TestP4_StoppedTextsResumeTheirSession sends texts of a stop after their session has ended.
func TestP4_StoppedTextsResumeTheirSession(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		list, keys := stops(t, w, r, "deploy", "one", "two")
		w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
		w.Press(t, chattest.Alice, list, "Send all")
		assert.Equal(t, []string{keys[2], keys[0], keys[1]}, keptFor(w, r))
		assert.Equal(t, 1, strings.Count(strings.Join(w.Lifecycle.Done(), "\n"), "restore "), "%v", w.Lifecycle.Done())
		assert.Equal(t, "3 messages go to api.", w.Shows(t, list).Text.Text)
	})
}

// TestP4_NextStopListsAllTexts: undecided texts of an earlier stop come below with the texts of the
// next one.
func TestP4_NextStopListsAllTexts(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		list, _ := stops(t, w, r, "deploy", "one")
		key := w.MustHear(t, "go on")
		require.NoError(t, w.SessionNews(t.Context(), r, news.Delivered{Prompt: talk.Prompt{Key: key}}))
		before := trafficOf(w)
		again, keys := stops(t, w, r, "more", "two")
		assert.Greater(t, again, list)
		assert.Equal(t, 1, trafficOf(w).minus(before).Sounds)
		assert.Empty(t, w.Shows(t, list).Buttons)
		assert.Contains(t, w.Shows(t, again).Text.Text, chattest.Lines("1. Interrupted: deploy", "2. Interrupted: more", "3. one", "4. two"))
		w.Press(t, chattest.Alice, again, "Discard all")
		assert.Empty(t, w.EntryState(keys[0]))
		assert.Equal(t, "4 messages were discarded.", w.Shows(t, again).Text.Text)
	})
}

// TestP4_StoppedTextsOutliveKills kills ccbot between two texts of [Send all], and before the first
// one is saved.
func TestP4_StoppedTextsOutliveKills(t *testing.T) {
	chattest.RunsAs(t, "between two texts", func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		list, keys := stops(t, w, r, "deploy", "one", "two")
		w.Dies(t, "text-next", func() error { return w.Pressing(t, chattest.Alice, list, "Send all") })
		w.Restart(t)
		require.NoError(t, w.Review(t.Context(), time.Second))
		w.Work(t)
		assert.Equal(t, keys[2:], queuedDone(w))
		assert.Contains(t, w.Shows(t, list).Text.Text, chattest.Lines("1. one", "2. two"))
		assert.Equal(t, list, w.Telegram.LastID(), "nothing is asked again")
		w.Press(t, chattest.Alice, list, "Send all")
		assert.Equal(t, []string{keys[2], keys[0], keys[1]}, queuedDone(w), "each once")
	})
	chattest.RunsAs(t, "before a text is saved", func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		e := w.Prompt(t, r, "one", inbox.Held)
		n := news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: "one"}}
		w.Dies(t, "text-listed", func() error { return w.SessionNews(t.Context(), r, n) })
		w.Restart(t)
		require.NoError(t, w.Review(t.Context(), time.Second))
		w.Work(t)
		assert.Equal(t, inbox.Held, w.EntryState(e.Key), "its queue has it")
		for _, m := range w.Telegram.Sent {
			assert.Empty(t, w.Shows(t, w.Telegram.LastID()).Buttons, m.Text.Text)
		}
	})
}

// TestListComesBackWithNextQuestion: texts that a first question did not release wait again while
// the agent asks a second one.
func TestListComesBackWithNextQuestion(t *testing.T) {
	chattest.RunsAs(t, "a permission", func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		hears(t, w, r, "first", "second")
		w.TapsOn(t, chattest.Alice, q, "ask_allow")
		w.Result(t, q, "allow", "ok", false)
		next := w.AsksFor(t, r, "Bash", `{"command":"make deploy"}`)
		list := w.Offer(t, next).Message
		assert.Contains(t, w.Shows(t, list).Text.Text, chattest.Lines("2 messages wait.", "1. first", "2. second"))
		assert.Less(t, list, w.Message(t, next), "the question is the last message")
		assert.False(t, w.Shows(t, list).Sounds)
		w.Press(t, chattest.Alice, list, "1. Deny with this text")
		assert.Contains(t, w.Relay.Done()[1], "first")
	})
	chattest.RunsAs(t, "a dialog", func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		hears(t, w, r, "first", "second")
		list := w.Telegram.LastID()
		require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
		w.Work(t)
		assert.Equal(t, "2 messages waited while api asked something.", w.Shows(t, list).Text.Text)
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		w.Work(t)
		assert.Contains(t, w.Shows(t, w.Telegram.LastID()).Text.Text, "2 messages wait.")
	})
}

// TestListClosesWithTruth: a list that ends does not promise that its texts reach an agent that was
// stopped or has died.
func TestListClosesWithTruth(t *testing.T) {
	for name, do := range map[string]func(t *testing.T, w *chattest.World, r session.Record, q chattest.Asked){
		"stopped": func(t *testing.T, w *chattest.World, _ session.Record, q chattest.Asked) { w.Refused(t, q, true) },
		"died": func(t *testing.T, w *chattest.World, r session.Record, _ chattest.Asked) {
			w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Completed })
			require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Ended{}))
		},
	} {
		chattest.RunsAs(t, name, func(t *testing.T, w *chattest.World) {
			r, q := w.Asking(t)
			hears(t, w, r, "first", "second")
			list := w.Telegram.LastID()
			do(t, w, r, q)
			w.Later(chattest.Round)
			assert.Equal(t, "2 messages waited while api asked something.", w.Shows(t, list).Text.Text)
			assert.Empty(t, w.Shows(t, list).Buttons)
		})
	}
}

// TestListReplacesInterruptAndSend: nothing can be interrupted while the agent asks.
func TestListReplacesInterruptAndSend(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		key := w.MustHear(t, "first")
		held := news.Held{Why: news.Queued, Prompt: talk.Prompt{Key: key}}
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), held))
		w.Work(t)
		queued := w.Telegram.LastID()
		require.Equal(t, []string{"Interrupt and send"}, chattest.Words(w.Shows(t, queued)))
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		assert.Empty(t, w.Shows(t, queued).Buttons)
		assert.Contains(t, w.Shows(t, w.Offer(t, q).Message).Text.Text, "1 message waits.")
	})
}

// TestStopLeadsFromQueuedCard has the card of a queued text lead to the list that asks about the
// text after a stop.
func TestStopLeadsFromQueuedCard(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		key := w.MustHear(t, "one")
		require.NoError(t, w.SessionNews(t.Context(), r, news.Held{Why: news.Queued, Prompt: talk.Prompt{Key: key, Text: "one"}}))
		w.Work(t)
		queued := w.Telegram.LastID()
		require.Contains(t, chattest.Words(w.Shows(t, queued)), w.Word(i18n.ButtonInterruptSend))
		require.NoError(t, w.SessionNews(t.Context(), r, news.TakenBack{Prompt: talk.Prompt{Key: key, Text: "one"}}))
		w.Work(t)
		assert.Greater(t, w.Telegram.LastID(), queued)
		assert.Equal(t, w.Word(i18n.QuestionBelow), w.Shows(t, queued).Text.Text)
	})
}
