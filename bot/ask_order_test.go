package bot_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// asksEarly lets the session's hook ask before the transcript has the call, as Claude Code does.
func (w *turnWorld) asksEarly(command string) chattest.Asked {
	w.t.Helper()
	q := w.Request(w.t, w.r, "Bash", fmt.Sprintf(`{"command":%q}`, command))
	require.NoError(w.t, w.OnEarlyRequest(w.t.Context(), q.Request))
	_, stored := w.Asks.Get(q.ID)
	require.True(w.t, stored, "it is on disk before it waits")
	return q
}

// shown is what each message of the chat shows now, the newest last.
func (w *turnWorld) shown() (all []string) {
	w.Telegram.Mu.Lock()
	n := len(w.Telegram.Sent)
	w.Telegram.Mu.Unlock()
	for id := range n {
		all = append(all, w.Shows(w.t, id+1).Text.Text)
	}
	return all
}

func TestReasonComesBeforeItsRequest(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		w.types("mend it")
		w.asksEarly("go test")
		w.Later(100 * time.Millisecond)
		assert.Empty(t, w.shown(), "the reason may come")
		chattest.Grow(t, w.c, chattest.Says("A test is red."), bash("a", "go test"))
		w.Later(20 * time.Millisecond)
		all := w.shown()
		require.Len(t, all, 2)
		assert.Equal(t, "A test is red.", all[0])
		assert.Contains(t, all[1], "go test")
	})
}

// inGroupTurns is inTurns with the session in a group, where its hook has asked, and its transcript then
// has a reason and the call.
func inGroupTurns(t *testing.T, test func(t *testing.T, w *turnWorld, q chattest.Asked)) {
	t.Helper()
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, w.r.ID))
		w.Records.Change(w.r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		w.tells(news.Transcript{})
		w.types("mend it")
		q := w.asksEarly("go test")
		chattest.Grow(t, w.c, chattest.Says("A test is red."), bash("a", "go test"))
		time.Sleep(100 * time.Millisecond) // it is read, and the chat takes no message yet
		synctest.Wait()
		require.Equal(t, "A test is red.", w.RequestState(t, q).Explanation)
		require.Empty(t, w.shown())
		test(t, w, q)
	})
}

// A group takes few messages: a reason is in the message of its request, also after the end.
func TestReasonIsInItsRequestInGroup(t *testing.T) {
	inGroupTurns(t, func(t *testing.T, w *turnWorld, q chattest.Asked) {
		before := w.Cursors(w.r)
		w.Later(20 * time.Millisecond)
		all := w.shown()
		require.Len(t, all, 1)
		assert.True(t, strings.HasPrefix(all[0], "A test is red.\n\n"), all[0])
		assert.Contains(t, all[0], "go test")
		assert.NotEqual(t, before, w.Cursors(w.r))
		w.Result(t, q, "", "ok", false)
		assert.Contains(t, w.shown()[0], "A test is red.")
		chattest.Grow(t, w.c, toolResult("a", false), chattest.Says("It is green."))
		w.Later(time.Second)
		assert.Equal(t, "It is green.", w.shown()[1])
	})
}

// A request that was answered at the desk has no message, and its reason has one.
func TestP5_ReasonOutlivesItsRequest(t *testing.T) {
	inGroupTurns(t, func(t *testing.T, w *turnWorld, q chattest.Asked) {
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Later(time.Minute)
		assert.Equal(t, []string{"A test is red."}, w.shown())
	})
}

// The transcript counts as read only when the chat has the request.
func TestP5_ReasonIsShownOnceAfterRestart(t *testing.T) {
	for name, redials := range map[string]bool{"the hook redials": true, "the hook is gone": false} {
		t.Run(name, func(t *testing.T) {
			inGroupTurns(t, func(t *testing.T, w *turnWorld, q chattest.Asked) {
				w.Restart(t)
				if redials {
					require.NoError(t, w.OnEarlyRequest(t.Context(), q.Request))
				} else {
					w.HangsUp(q)
				}
				w.Later(2 * time.Minute)
				assert.Equal(t, 1, strings.Count(strings.Join(w.shown(), "\n"), "A test is red."))
			})
		})
	}
}

// TestRequestIsTheLastMessage has the transcript come up to two seconds after the hook has asked, as
// from another machine, and a Bot API that takes up to a second for a message.
func TestRequestIsTheLastMessage(t *testing.T) {
	inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
		draw := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same delays each time
		var drawing sync.Mutex              // messages are sent beside the test
		upTo := func(most time.Duration) time.Duration {
			drawing.Lock()
			defer drawing.Unlock()
			return time.Duration(draw.Int64N(int64(most)))
		}
		w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
			if strings.HasPrefix(m.Text.Text, "reason") {
				time.Sleep(upTo(time.Second))
			}
			return nil
		}
		w.Telegram.OnSent = func(m outbox.Message, id int) { assert.NoError(t, w.Book.SentPart(m.To, id, m.Session, m.Cursor)) }
		for i := range 50 {
			w.types(fmt.Sprint("turn ", i))
			w.phase("working")
			chattest.Grow(t, w.c, chattest.PromptLine(fmt.Sprint("turn ", i)))
			asked := fmt.Sprint("echo ", i)
			q := w.asksEarly(asked)
			w.Later(upTo(2 * time.Second))
			w.phase("waiting_permission")
			chattest.Grow(t, w.c, chattest.Says(fmt.Sprint("reason ", i)))
			w.Later(upTo(2 * time.Second))
			id := fmt.Sprint("call", i)
			chattest.Grow(t, w.c, bash(id, asked))
			w.Later(3 * time.Second)
			all := w.shown()
			require.Contains(t, all, fmt.Sprint("reason ", i))
			require.Contains(t, all[len(all)-1], asked, "turn %d", i)
			require.True(t, w.Has(w.Shows(t, len(all)), i18n.AskAllow), "turn %d", i)
			w.phase("working")
			chattest.Grow(t, w.c, toolResult(id, false), chattest.TurnEnd)
			w.phase("idle")
			w.Result(t, q, "", "ok", false)
		}
	})
}

// TestOpenedSessionHasItsRequestLast: while another session is the current one its texts wait, and its requests do not.
func TestOpenedSessionHasItsRequestLast(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		w.Telegram.OnSent = func(m outbox.Message, id int) { assert.NoError(t, w.Book.SentPart(m.To, id, m.Session, m.Cursor)) }
		w.types("mend it")
		other := w.Session(t, "web", "running")
		require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, other.ID))
		chattest.Grow(t, w.c, chattest.Says("A test is red."), bash("a", "go test"))
		w.asksEarly("go test")
		w.Later(time.Minute)
		require.NotContains(t, w.shown(), "A test is red.")
		before := len(w.shown())
		require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, w.r.ID))
		w.Later(time.Minute)
		all := w.shown()[before:]
		require.Len(t, all, 2)
		assert.Equal(t, "A test is red.", all[0])
		assert.Contains(t, all[1], "go test")
	})
}

// TestSubagentsRequestStays: the chat shows no text of a subagent, so a turn of the main agent explains nothing.
func TestSubagentsRequestStays(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		w.Telegram.OnSent = func(m outbox.Message, id int) { assert.NoError(t, w.Book.SentPart(m.To, id, m.Session, m.Cursor)) }
		q := w.Request(t, w.r, "Bash", chattest.Bash)
		q.SubagentID = "a1"
		require.NoError(t, w.OnEarlyRequest(t.Context(), q.Request))
		w.Later(time.Second)
		require.Len(t, w.shown(), 1)
		chattest.Grow(t, w.c, chattest.Says("I look."), bash("b", "ls"))
		w.Later(time.Minute)
		assert.Len(t, w.shown(), 2)
	})
}

// TestOtherMessagesMoveNoRequest: a prompt and the answer to a command are no reason.
func TestOtherMessagesMoveNoRequest(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		q := w.asksEarly("go test")
		w.Later(time.Second)
		require.Len(t, w.shown(), 1)
		require.NoError(t, w.Chats.NoteMessage(chattest.AtAlice, 70, w.r.ID))
		require.NoError(t, w.Book.Sent(chattest.AtAlice, 71, w.r.ID))
		w.Calls(q.Request)
		w.Later(time.Second)
		assert.Len(t, w.shown(), 1)
	})
}

// TestEndedAgentHasNoCalls: its successor, after a resume, asks with the same tool.
func TestEndedAgentHasNoCalls(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		chattest.Grow(t, w.c, bash("killed", "sleep 9"))
		w.Later(time.Second)
		w.tells(news.Ended{})
		w.asksEarly("go test")
		w.Later(100 * time.Millisecond)
		assert.Empty(t, w.shown(), "the reason may come")
	})
}

// TestTextsThatWaitAreAboveRedialledRequest: after a restart the hook redials before its card is shown.
func TestTextsThatWaitAreAboveRedialledRequest(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	q := w.Request(t, r, "Bash", chattest.Bash)
	require.NoError(t, w.Asks.Save(ask.New(q.Request, chattest.AtAlice)))
	w.Restart(t)
	var above []int
	w.Requests.Opened = func(context.Context, outbox.Conversation, uuid.UUID) error {
		above = append(above, w.Cards.Needs(r.ID).Answers)
		return nil
	}
	require.NoError(t, w.OnEarlyRequest(t.Context(), q.Request))
	assert.Equal(t, 1, w.Cards.Needs(r.ID).Answers)
	assert.Equal(t, []int{0}, above)
}

func TestRequestWithoutReasonIsShownSoon(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		w.asksEarly("go test")
		w.Later(399 * time.Millisecond)
		assert.Empty(t, w.shown())
		w.Later(time.Millisecond)
		assert.Len(t, w.shown(), 1)
	})
}

// unanswered are hooks of which a machine gives no answer once, after a while.
type unanswered struct {
	talk.RequestWaiters
	talk.DecisionRecords
	while func() // nil: it answers
}

func (u *unanswered) Waiting(ctx context.Context, session uuid.UUID) ([]talk.Request, error) {
	if while := u.while; while != nil {
		u.while = nil
		while()
		return nil, errors.New("no answer")
	}
	return u.RequestWaiters.Waiting(ctx, session)
}

// TestP5_HookThatRedialsDuringCheckIsShown: the check was about the connection before.
func TestP5_HookThatRedialsDuringCheckIsShown(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		hooks := &unanswered{RequestWaiters: w.Requests.Hooks, DecisionRecords: w.Requests.Hooks}
		w.Requests.Hooks = hooks
		q := w.asksEarly("go test")
		hooks.while = func() {
			w.Dials(q)
			assert.NoError(t, w.OnEarlyRequest(t.Context(), q.Request))
		}
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Later(time.Minute)
		assert.Len(t, w.shown(), 1)
	})
}

func TestAnswerAtTheDeskLeavesNoMessage(t *testing.T) {
	inTurns(t, turn.Nowhere, func(t *testing.T, w *turnWorld) {
		q := w.asksEarly("go test")
		w.Later(200 * time.Millisecond)
		w.HangsUp(q)
		w.OnLeft(t.Context(), q.Request)
		w.Later(time.Minute)
		assert.Empty(t, w.shown())
		_, stored := w.Asks.Get(q.ID)
		assert.False(t, stored)
	})
}

// TestUnseenCardGivesWay: a card that waits for its turn would hide the question below which it came.
func TestUnseenCardGivesWay(t *testing.T) {
	for name, happens := range map[string]func(w *turnWorld, becomes func(phase string)){
		"to a question": func(_ *turnWorld, becomes func(phase string)) { becomes("waiting_permission") },
		"to another session": func(w *turnWorld, becomes func(phase string)) {
			other := w.Session(w.t, "web", "running")
			require.NoError(w.t, w.Book.MakeCurrent(w.t.Context(), chattest.AtAlice, 0, other.ID))
			becomes("working")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inTurns(t, turn.OnCard, func(t *testing.T, w *turnWorld) {
				becomes := func(phase string) { // before the chat takes a message
					time.Sleep(time.Millisecond)
					w.setPhase(phase)
					require.NoError(t, w.Bot.SessionNews(t.Context(), chattest.ViewOf(w.Record(t, w.r.ID)), news.Doing{}))
					synctest.Wait()
				}
				require.NoError(t, w.Bot.SessionNews(t.Context(), chattest.ViewOf(w.Record(t, w.r.ID)), w.newPrompt("go")))
				becomes("working")
				happens(w, becomes)
				w.Later(outbox.CardsEach)
				assert.Empty(t, w.cards(), "%v", w.Telegram.Done())
				require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, w.r.ID))
				w.phase("working")
				assert.Len(t, w.cards(), 1, "it comes when it may")
			})
		})
	}
}
