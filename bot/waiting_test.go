package bot_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// queue is a queue that the chat shows in one message.
type queue struct {
	*chattest.World
	t   *testing.T
	r   session.Record
	all []inbox.Entry
	id  int // of the message
}

// inQueue is a test with a session that works while prompts with these texts wait, which the chat
// shows.
func inQueue(t *testing.T, test func(t *testing.T, q *queue), texts ...string) {
	t.Helper()
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		q := &queue{World: w, t: t}
		q.r, q.all = w.Queued(t, "api", texts...)
		w.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWorking, Now: talk.Activity{Phase: talk.PhaseWorking}}
		q.show()
		test(t, q)
	})
}

func (q *queue) show() {
	q.t.Helper()
	q.MustHear(q.t, "/queue api")
	q.Work(q.t)
	q.id = q.Telegram.LastID()
}

func (q *queue) now() outbox.Message { return q.Shows(q.t, q.id) }

// becomes puts a prompt into another state, as lifecycle does, and tells that.
func (q *queue) becomes(at int, state inbox.State) {
	q.t.Helper()
	q.Becomes(q.t, q.all[at].Key, state)
	if state != inbox.Held && state != inbox.Typing {
		q.leaves(at)
	}
	require.NoError(q.t, q.SessionNews(q.t.Context(), q.Record(q.t, q.r.ID), news.Requeued{}))
	q.Work(q.t)
}

func (q *queue) leaves(at int) {
	q.Records.Change(q.r.ID, func(r *session.Record) {
		r.Prompts = slices.DeleteFunc(slices.Clone(r.Prompts), func(key string) bool { return key == q.all[at].Key })
	})
}

// done returns lifecycle's calls about prompts.
func (q *queue) done() (all []string) {
	for _, line := range q.Lifecycle.Done() {
		if strings.HasPrefix(line, "send now") || strings.HasPrefix(line, "to front") || strings.HasPrefix(line, "withdraw") {
			all = append(all, line)
		}
	}
	return all
}

func TestQueueShowsWhatWaitsInOrder(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		at := q.In(chattest.AtAlice).Moment(chattest.Started)
		assert.Equal(t, chattest.Lines("api: working", "", "3 messages in the queue:", "1. "+at+": fix the test",
			"2. "+at+": and then …", "3. "+at+": !make"), q.now().Text.Text)
		assert.Equal(t, []string{"1", "2", "3"}, chattest.Words(q.now()))
		q.Press(t, chattest.Bob, q.id, "2")
		assert.Equal(t, chattest.Lines("api: working", "", "Message 2 of 3, "+at+":", "and then", "this"), q.now().Text.Text)
		assert.Equal(t, q.WordsOf(i18n.ButtonInterruptSend, i18n.ButtonSendNext, i18n.ButtonDrop, i18n.AskBack), chattest.Words(q.now()))
		q.Press(t, chattest.Bob, q.id, "Back")
		assert.Equal(t, []string{"1", "2", "3"}, chattest.Words(q.now()))
		q.Press(t, chattest.Bob, q.id, "1")
		assert.NotContains(t, chattest.Words(q.now()), "Send next", "it is the next one")
		assert.Empty(t, q.done())
	}, "fix the test", "and then\nthis", "!make")
}

// The sender of a prompt is named, and no part of the name is hidden.
func TestQueueNamesPromptSender(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		raw, err := json.Marshal(models.Update{Message: &models.Message{From: &models.User{ID: chattest.Bob, FirstName: "B\u202eob"}}})
		require.NoError(t, err)
		require.NoError(t, q.Inbox.Change(q.all[0].Key, func(e *inbox.Entry) error { e.Update = raw; return nil }))
		q.show()
		assert.Contains(t, q.now().Text.Text, ", B·ob: one")
	}, "one")
}

func TestP4_InterruptAndSendRunsOnce(t *testing.T) {
	for _, reported := range []bool{true, false} {
		inQueue(t, func(t *testing.T, q *queue) {
			q.Lifecycle.OnSendNow = func(_ uuid.UUID, key string) (bool, error) {
				q.Becomes(t, key, inbox.Typing)
				return reported, nil
			}
			q.Press(t, chattest.Bob, q.id, "2")
			before := len(q.Telegram.Texts())
			shown := q.now()
			q.Press(t, chattest.Bob, q.id, "Interrupt and send")
			assert.Contains(t, q.Telegram.Done(), "answer query: "+q.Named(i18n.Interrupting, "api"))
			assert.Equal(t, []string{"1"}, chattest.Words(q.now()), "the other one waits")
			require.NoError(t, q.TapSpot(t, chattest.Alice, q.Spot(t, shown, i18n.ButtonInterruptSend)), "who sees the message as it was")
			q.Work(t)
			assert.Equal(t, []string{"send now " + q.all[1].Key + " of " + q.r.ID.String()}, q.done())
			said := q.Telegram.Texts()[before:]
			if reported {
				assert.Empty(t, said)
			} else {
				assert.Equal(t, []string{"api is interrupted."}, said)
			}
		}, "one", "two")
	}
}

// A refusal of the machine is reported, and the prompt still waits.
func TestP7_InterruptAndSendReportsRefusal(t *testing.T) {
	for err, word := range map[error]i18n.Key{typing.ErrAsks: i18n.StopAsks, typing.ErrBoxBusy: i18n.BoxBusy,
		typing.ErrStillWorks: i18n.StopStillWorks, view.ErrNoAgent: i18n.AlreadyEnded} {
		inQueue(t, func(t *testing.T, q *queue) {
			q.Lifecycle.OnSendNow = func(uuid.UUID, string) (bool, error) { return true, err }
			q.Press(t, chattest.Bob, q.id, "1")
			q.Press(t, chattest.Bob, q.id, "Interrupt and send")
			assert.Equal(t, q.Named(word, "api"), q.Telegram.Last(t).Text.Text)
			assert.Equal(t, []string{"1"}, chattest.Words(q.now()))
		}, "one")
	}
}

// Esc would answer a question, and an idle agent has something else in the way.
func TestP7_InterruptAndSendNeedsRunningTurn(t *testing.T) {
	for name, look := range map[string]view.Status{
		"it asks":                {Phase: talk.PhaseWaitingPermission, Now: talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}},
		"it is idle":             {Phase: talk.PhaseIdle, Now: talk.Activity{Phase: talk.PhaseIdle}},
		"it is idle after limit": {Phase: talk.PhaseIdle, Now: talk.Activity{Phase: talk.PhaseLimited}},
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(t *testing.T, q *queue) {
				q.Lifecycle.OnLook = look
				q.Press(t, chattest.Bob, q.id, "2")
				want := q.WordsOf(i18n.ButtonSendNext, i18n.ButtonDrop, i18n.AskBack)
				if name == "it asks" {
					want = append(q.WordsOf(i18n.ButtonShowQuestion), want...)
				}
				assert.Equal(t, want, chattest.Words(q.now()))
			}, "one", "two")
		})
	}
}

func TestSendNextMovesPromptToFront(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.Press(t, chattest.Bob, q.id, "3")
		q.Press(t, chattest.Bob, q.id, "Send next")
		assert.Equal(t, []string{"to front " + q.all[2].Key + " of " + q.r.ID.String()}, q.done())
		at := q.In(chattest.AtAlice).Moment(chattest.Started)
		assert.Contains(t, q.now().Text.Text, chattest.Lines("1. "+at+": three", "2. "+at+": one", "3. "+at+": two"))
	}, "one", "two", "three")
}

// A discarded prompt is not sent, and its own message shows that.
func TestP4_DiscardRemovesPromptFromQueue(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		e := q.all[0]
		require.NoError(t, q.SessionNews(t.Context(), q.r, news.Held{Why: news.Queued, Prompt: talk.Prompt{Key: e.Key}}))
		q.Work(t)
		asked := q.Telegram.LastID()
		assert.Equal(t, q.WordsOf(i18n.ButtonInterruptSend), chattest.Words(q.Shows(t, asked)))
		q.Lifecycle.OnWithdraw = func(_ uuid.UUID, key string) error {
			q.leaves(0)
			return q.Inbox.FinishIn(key, inbox.Held)
		}
		q.Press(t, chattest.Bob, q.id, "1")
		q.Press(t, chattest.Bob, q.id, "Discard")
		assert.Equal(t, []string{"withdraw " + e.Key + " of " + q.r.ID.String()}, q.done())
		assert.Equal(t, q.Word(i18n.Dropped), q.Shows(t, asked).Text.Text)
		assert.Empty(t, chattest.Words(q.Shows(t, asked)))
		assert.Empty(t, q.Telegram.Reaction(e.MessageID))
		assert.Equal(t, []string{"1"}, chattest.Words(q.now()))
		assert.NotContains(t, q.now().Text.Text, "one")
	}, "one", "two")
}

// The message never offers what is gone: it is drawn when the queue changes, and a tap that was
// quicker changes nothing.
func TestP4_ChangedQueueIsRedrawn(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		list := q.now()
		q.Press(t, chattest.Bob, q.id, "1")
		first := q.now()
		q.becomes(0, inbox.Typing)
		assert.Equal(t, []string{"1"}, chattest.Words(q.now()), "what was shown in full is being sent")
		assert.NotContains(t, q.now().Text.Text, "one")
		for _, word := range []i18n.Key{i18n.ButtonInterruptSend, i18n.ButtonDrop} {
			require.NoError(t, q.TapSpot(t, chattest.Bob, q.Spot(t, first, word)))
		}
		require.NoError(t, q.TapSpot(t, chattest.Bob, q.Spot(t, list, "2")))
		q.Work(t)
		assert.Empty(t, q.done())

		require.NoError(t, q.Inbox.Change(q.all[1].Key, func(e *inbox.Entry) error { e.Text = "two, edited"; return nil }))
		q.becomes(1, inbox.Held)
		assert.Contains(t, q.now().Text.Text, ": two, edited")
		q.becomes(1, inbox.Asked)
		assert.Equal(t, q.Named(i18n.QueueEmpty, "api"), q.now().Text.Text)
		assert.Empty(t, chattest.Words(q.now()))
	}, "one", "two")
}

// A tap before the message is redrawn does nothing to a prompt that is being sent, or has left.
func TestP4_PromptBeingTypedIsNotMoved(t *testing.T) {
	for state, word := range map[inbox.State]i18n.Key{inbox.Typing: i18n.QueueTyping, inbox.Unproven: i18n.QueueTyping,
		inbox.Asked: i18n.QueueLeft, "": i18n.QueueLeft} {
		for _, button := range []string{"Interrupt and send", "Send next", "Discard"} {
			inQueue(t, func(t *testing.T, q *queue) {
				q.Press(t, chattest.Bob, q.id, "2")
				if state == "" {
					require.NoError(t, q.Inbox.FinishIn(q.all[1].Key, inbox.Held))
				} else {
					q.Becomes(t, q.all[1].Key, state)
				}
				q.Press(t, chattest.Bob, q.id, button)
				assert.Empty(t, q.done())
				assert.Contains(t, q.Telegram.Done(), "answer query: "+q.Word(word))
				assert.Equal(t, []string{"1"}, chattest.Words(q.now()))
			}, "one", "two")
		}
	}
}

// Two people tap, and the second tap reports no failure.
func TestP4_LateTapShowsPresentQueue(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.Lifecycle.OnSendNow = func(_ uuid.UUID, key string) (bool, error) {
			q.Becomes(t, key, inbox.Typing)
			return true, fmt.Errorf("send now: %w", inbox.ErrNoEntry)
		}
		q.Press(t, chattest.Bob, q.id, "1")
		before := q.Telegram.Texts()
		q.Press(t, chattest.Bob, q.id, "Interrupt and send")
		assert.Equal(t, before, q.Telegram.Texts())
		assert.Equal(t, []string{"1"}, chattest.Words(q.now()))
	}, "one", "two")
}

func TestLongQueueHasPages(t *testing.T) {
	var texts []string
	for n := range 17 {
		texts = append(texts, fmt.Sprintf("prompt %d", n+1))
	}
	inQueue(t, func(t *testing.T, q *queue) {
		assert.Contains(t, q.now().Text.Text, "1–8 of 17")
		q.Press(t, chattest.Bob, q.id, "→")
		q.Press(t, chattest.Bob, q.id, "→")
		assert.Equal(t, []string{"17", "←"}, chattest.Words(q.now()))
		q.Press(t, chattest.Bob, q.id, "17")
		assert.Contains(t, q.now().Text.Text, "prompt 17")
		q.becomes(16, inbox.Asked)
		assert.Equal(t, []string{"9", "10", "11", "12", "13", "14", "15", "16", "←"}, chattest.Words(q.now()), "the last page")
	}, texts...)
}

func TestLongPromptFitsMessage(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.Press(t, chattest.Bob, q.id, "1")
		assert.Len(t, q.now().Text.Split(render.Limit), 1)
		assert.Contains(t, q.now().Text.Text, "\n…")
		assert.NotEmpty(t, chattest.Words(q.now()))
	}, strings.Repeat("👩‍💻 word ", 3000))
}

// Of one session there is one such message in a place.
func TestQueueIsOneMessage(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		old := q.id
		q.show()
		assert.NotEqual(t, old, q.id)
		assert.Empty(t, chattest.Words(q.Shows(t, old)))
		assert.Equal(t, []string{"1"}, chattest.Words(q.now()))
		q.becomes(0, inbox.Asked)
		q.show()
		assert.Equal(t, q.Named(i18n.QueueEmpty, "api"), q.Telegram.Last(t).Text.Text)
	}, "one")
}

// Prompts that wait for an ended session are sent after its restore, and can be seen, moved and
// discarded before.
func TestQueueOfEndedSession(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.Records.Change(q.r.ID, func(r *session.Record) { r.State = session.Archived })
		q.show()
		assert.Contains(t, q.now().Text.Text, q.Word(i18n.QueueOver))
		q.Press(t, chattest.Bob, q.id, "2")
		assert.Equal(t, q.WordsOf(i18n.ButtonSendNext, i18n.ButtonDrop, i18n.AskBack), chattest.Words(q.now()))
	}, "one", "two")
}

// The obstacle of an idle agent is shown.
func TestQueueShowsReasonOfWait(t *testing.T) {
	for why, word := range map[news.Wait]i18n.Key{news.HeldDraft: i18n.QueueDraft, news.HeldBash: i18n.QueueBash,
		news.HeldUnknown: i18n.QueueUnknown, news.HeldScroll: i18n.QueueScroll, news.HeldKeys: i18n.QueueKeys,
		news.HeldSync: i18n.QueueSync, news.HeldSmall: i18n.QueueSmall} {
		inQueue(t, func(t *testing.T, q *queue) {
			q.Lifecycle.OnLook = view.Status{Phase: talk.PhaseIdle, Now: talk.Activity{Phase: talk.PhaseIdle}}
			require.NoError(t, q.Inbox.Change(q.all[0].Key, func(e *inbox.Entry) error {
				e.Reported = []news.Wait{news.Queued, why}
				return nil
			}))
			q.show()
			assert.Contains(t, q.now().Text.Text, chattest.Lines("api: idle", q.Word(word), "", "1 message"))
		}, "one")
	}
}

// A queue that changed while no ccbot was there is drawn at its start.
func TestP8_StartRedrawsChangedQueue(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.Stops(t)
		q.Becomes(t, q.all[0].Key, inbox.Asked)
		q.Restart(t)
		q.Work(t)
		assert.NotContains(t, q.now().Text.Text, "one")
		assert.Equal(t, []string{"1"}, chattest.Words(q.now()))
	}, "one", "two")
}

// TestP4_TextBehindGoalPausesIt: what a text waits for follows from what the agent does.
func TestP4_TextBehindGoalPausesIt(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		now := talk.Activity{Phase: talk.PhaseWorking, What: talk.Pursuing}
		require.NoError(t, q.SessionNews(t.Context(), q.r, news.Held{Why: news.Queued, Now: now, Prompt: talk.Prompt{Key: q.all[0].Key}}))
		q.Work(t)
		m := q.Shows(t, q.Telegram.LastID())
		assert.Contains(t, m.Text.Text, q.Named(i18n.HeldGoal, "api"))
		assert.Equal(t, q.WordsOf(i18n.ButtonPauseGoal), chattest.Words(m))
	}, "one")
}

// The message that says that a prompt is queued interrupts the turn for it, and loses the button
// when the prompt is sent.
func TestP4_QueuedPromptsButtonInterrupts(t *testing.T) {
	for _, tapped := range []bool{true, false} {
		inQueue(t, func(t *testing.T, q *queue) {
			e := q.all[0]
			about := talk.Prompt{Key: e.Key}
			require.NoError(t, q.SessionNews(t.Context(), q.r, news.Held{Why: news.Queued, Prompt: about}))
			q.Work(t)
			id := q.Telegram.LastID()
			m := q.Shows(t, id)
			assert.Equal(t, chattest.Lines(q.Named(i18n.Queued, "api"), "1 more message is queued behind it."), m.Text.Text)
			assert.False(t, m.Sounds)
			assert.Equal(t, e.MessageID, m.ReplyTo)
			if tapped {
				q.Press(t, chattest.Bob, id, "Interrupt and send")
				assert.Equal(t, []string{"send now " + e.Key + " of " + q.r.ID.String()}, q.done())
				assert.Equal(t, q.Named(i18n.SentNow, "api"), q.Shows(t, id).Text.Text)
			} else {
				q.Becomes(t, e.Key, inbox.Typing)
				require.NoError(t, q.SessionNews(t.Context(), q.r, news.Typed{Prompt: about}))
				q.Work(t)
				assert.Equal(t, q.Named(i18n.PromptSent, "api"), q.Shows(t, id).Text.Text)
			}
			assert.Empty(t, chattest.Words(q.Shows(t, id)))
			require.NoError(t, q.TapSpot(t, chattest.Alice, q.Spot(t, m, i18n.ButtonInterruptSend)))
			if tapped {
				assert.Len(t, q.done(), 1)
			} else {
				assert.Empty(t, q.done())
			}
		}, "one", "two")
	}
}

// Of a turn that was interrupted for what waits the person is not asked what to do instead.
func TestInterruptForNextPromptAsksNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running, chattest.TranscriptOf(t, "t.jsonl", chattest.Interrupt))
	w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = []string{"1"} })
	w.ReadAll(t)
	assert.Equal(t, []string{"api is interrupted."}, w.Telegram.AnswersSent())
}

func TestQueueOfForgottenSession(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		q.Records.Forget(q.r.ID)
		require.NoError(t, q.SessionNews(t.Context(), q.r, news.Requeued{}))
		q.Work(t)
		assert.Equal(t, q.Word(i18n.SessionGone), q.now().Text.Text)
	}, "one")
}

// If Esc would answer a question, the question itself is shown again below.
func TestP7_BlockingQuestionIsShownAgain(t *testing.T) {
	for name, asks := range map[string]func(t *testing.T, q *queue) (at int, asked outbox.Message){
		"a dialog": func(t *testing.T, q *queue) (int, outbox.Message) {
			at := q.Telegram.LastID() + 1
			return at, q.Dialog(t, q.r, chattest.Trust)
		},
		"a request": func(t *testing.T, q *queue) (int, outbox.Message) {
			at := q.Message(t, q.AsksFor(t, q.r, "Bash", chattest.Bash))
			return at, q.Shows(t, at)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inQueue(t, func(t *testing.T, q *queue) {
				q.Press(t, chattest.Bob, q.id, "1")
				before := q.now()
				at, asked := asks(t, q)
				last := q.Telegram.LastID()
				q.Lifecycle.OnSendNow = func(uuid.UUID, string) (bool, error) { return true, typing.ErrAsks }
				word := i18n.ButtonInterruptSend
				if q.Has(q.now(), i18n.ButtonShowQuestion) { // an open dialog is known at once
					before, word = q.now(), i18n.ButtonShowQuestion
				}
				require.NoError(t, q.TapSpot(t, chattest.Bob, q.Spot(t, before, word)))
				q.Work(t)
				require.Equal(t, last+1, q.Telegram.LastID())
				assert.Equal(t, asked.Text, q.Shows(t, last+1).Text)
				assert.Equal(t, chattest.Words(asked), chattest.Words(q.Shows(t, last+1)))
				assert.Empty(t, chattest.Words(q.Shows(t, at)), "there is one place to answer")

				q.Lifecycle.OnLook = view.Status{Phase: talk.PhaseWaitingPermission, Now: talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}}
				q.show()
				q.Press(t, chattest.Bob, q.id, "1")
				q.Press(t, chattest.Bob, q.id, q.Word(i18n.ButtonShowQuestion))
				assert.Equal(t, asked.Text, q.LastSent(t).Text)
			}, "one")
		})
	}
}

// A group does not read what was queued from a private chat for its own session.
func TestP9_QueueInGroupHasNoPrivateTexts(t *testing.T) {
	inQueue(t, func(t *testing.T, q *queue) {
		raw, err := json.Marshal(models.Update{Message: &models.Message{From: &models.User{ID: chattest.Alice, FirstName: "Ana"}}})
		require.NoError(t, err)
		require.NoError(t, q.Inbox.Change(q.all[0].Key, func(e *inbox.Entry) error { e.Update = raw; return nil }))
		require.NoError(t, q.Inbox.Change(q.all[1].Key, func(e *inbox.Entry) error { e.Conversation = chattest.InGroup; return nil }))
		q.Records.Change(q.r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		b := border{World: q.World}
		for _, command := range []string{"/queue api", "/status api"} {
			b.says(t, command, chattest.InGroup)
			q.Work(t)
			q.id = q.Telegram.LastID()
			assert.NotContains(t, q.now().Text.Text, "salary", command)
			assert.Contains(t, q.now().Text.Text, "Ana: "+q.Word(i18n.WrittenElsewhere), command)
			assert.Contains(t, q.now().Text.Text, "of the team", command)
			if command == "/queue api" {
				q.Press(t, chattest.Bob, q.id, "1")
				assert.NotContains(t, q.now().Text.Text, "salary", "the prompt")
				assert.Contains(t, q.now().Text.Text, q.Word(i18n.WrittenElsewhere))
			}
		}
	}, "my salary", "of the team")
}
