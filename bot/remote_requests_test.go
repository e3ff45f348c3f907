package bot_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// farRequest is a request of a session on another machine, whose hook waits there.
type farRequest struct {
	here, there *chattest.World
	session     session.Record
	chattest.Asked
	link *wire.Loop
}

// asksFar lets the session of the machine barn ask.
func asksFar(t *testing.T, w *chattest.World) farRequest {
	t.Helper()
	other, _, theirs, link := barn(t, w)
	return farRequest{w, other, theirs, other.Request(t, theirs, "Bash", chattest.Bash), link}
}

// reports passes news of the session on as its machine sends them.
func (f farRequest) reports(t *testing.T, n news.News) {
	t.Helper()
	up := &wire.Loop{Answer: wire.Reader{Chat: f.here.Fleet.Chat("bbbb", f.here.Bot)}.Answer}
	r, ok := f.there.Records.Get(f.session.ID)
	require.True(t, ok)
	require.NoError(t, (&wire.Client{From: "barn", To: "chat", Transport: up.Call}).SessionNews(t.Context(), chattest.ViewOf(r), n))
	f.here.Work(t)
}

func (f farRequest) requested() news.Requested {
	f.here.Calls(f.Request)
	return news.Requested{Request: f.Request, Project: []talk.Answerer{talk.AnswersByHook}}
}

// TestP7_RequestOfAnotherMachineIsDecidedOnce: a permission request of a session on another machine
// has one card, however often its news come, and the decision goes to the hook with the digest of
// what was shown.
func TestP7_RequestOfAnotherMachineIsDecidedOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		f := asksFar(t, w)
		f.reports(t, f.requested())
		f.reports(t, f.requested())
		require.Len(t, w.Telegram.Sent, 1)
		shown := w.Shows(t, w.Message(t, f.Asked))
		assert.Contains(t, shown.Text.Text, "barn:api")
		assert.Equal(t, chattest.AtAlice, shown.To)
		assert.Equal(t, []talk.Answerer{talk.AnswersByHook}, w.RequestState(t, f.Asked).Project)

		w.TapsOn(t, chattest.Alice, f.Asked, i18n.AskAllow)
		assert.Equal(t, f.Ask.Digest(), w.RequestState(t, f.Asked).Answer.Shown)
		assert.Len(t, f.there.Relay.Done(), 1)
		assert.Empty(t, w.Relay.Done())
		f.reports(t, f.requested())
		assert.Len(t, f.there.Relay.Done(), 1, "its hook has it")
		assert.Len(t, w.Telegram.Sent, 1)
	})
}

// TestP7_UnreachedMachineHoldsDecision: the card of a request reports that its machine does not
// answer, and since when; a decision reaches the hook when the machine answers again.
func TestP7_UnreachedMachineHoldsDecision(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		f := asksFar(t, w)
		f.reports(t, f.requested())
		text := func() string { return w.Shows(t, w.Message(t, f.Asked)).Text.Text }
		open, heard := text(), w.Now()
		f.away(heard, true)
		w.Work(t)
		assert.Contains(t, text(), "barn has not answered "+w.In(chattest.AtAlice).Since(heard))
		assert.True(t, w.Has(w.Shows(t, w.Message(t, f.Asked)), i18n.AskAllow))

		w.TapsOn(t, chattest.Alice, f.Asked, i18n.AskAllow)
		w.Later(2 * chattest.Round)
		assert.Equal(t, ask.StageSent, w.RequestState(t, f.Asked).Stage)
		assert.Contains(t, text(), w.AllowedText(i18n.AskNoted))
		assert.Empty(t, f.there.Relay.Done())

		f.away(heard, false)
		w.Later(chattest.Round)
		assert.Len(t, f.there.Relay.Done(), 1)
		assert.NotContains(t, open, "not answered")
	})
}

// away lets the link of the machine fail, or work again.
func (f farRequest) away(heard time.Time, away bool) {
	f.link.Set(wire.Faults{Unreachable: away})
	f.here.Fleet.Note("bbbb", away, heard)
}

// TestP7_LateNewsOfRequestShowNothing: the news of a request may come after its hook has gone.
func TestP7_LateNewsOfRequestShowNothing(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		f := asksFar(t, w)
		f.there.HangsUp(f.Asked)
		f.reports(t, f.requested())
		f.reports(t, news.RequestLeft{Request: f.ID})
		assert.Empty(t, w.Telegram.Sent)
		_, known := w.Asks.Get(f.ID)
		assert.False(t, known)
	})
}

// TestP7_RequestLeftOnAnotherMachine: the card of a request whose hook has gone takes no decision.
func TestP7_RequestLeftOnAnotherMachine(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		f := asksFar(t, w)
		f.reports(t, f.requested())
		f.there.HangsUp(f.Asked)
		f.reports(t, news.RequestLeft{Request: f.ID})
		assert.Equal(t, ask.StageAway, w.RequestState(t, f.Asked).Stage)
		assert.False(t, w.Has(w.Shows(t, w.Message(t, f.Asked)), i18n.AskAllow))
	})
}

// TestP9_ForeignRequestIsLeftToTerminal: a machine can send anything. A request that is no request,
// of another session, or under the id of another one, has no card.
func TestP9_ForeignRequestIsLeftToTerminal(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		f := asksFar(t, w)
		ours, q := w.Asking(t)
		sent := len(w.Telegram.Sent)
		f.reports(t, news.Requested{})
		n := f.requested()
		n.Session = ours.ID
		f.reports(t, n)
		n = f.requested()
		n.ID = q.ID
		f.reports(t, n)
		f.reports(t, news.RequestLeft{Request: q.ID})
		w.Later(chattest.Round)
		assert.Len(t, w.Telegram.Sent, sent)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		assert.Equal(t, 1, strings.Count(strings.Join(f.there.Relay.Done(), "\n"), "leave"), f.there.Relay.Done())
	})
}

// TestP7_RedialOvertakesItsHooksEnd: the hook of a request dials again while the chat asks whether
// it is gone. The request stays open.
func TestP7_RedialOvertakesItsHooksEnd(t *testing.T) {
	const delay = time.Second
	for name, seen := range map[string]bool{"a card": true, "no card yet": false} {
		t.Run(name, func(t *testing.T) {
			chattest.Runs(t, func(t *testing.T, w *chattest.World) {
				f := asksFar(t, w)
				if seen {
					f.reports(t, f.requested())
				}
				f.there.HangsUp(f.Asked)
				f.link.Set(wire.Faults{Delay: delay})
				if seen {
					f.reports(t, news.RequestLeft{Request: f.ID})
				} else {
					f.reports(t, f.requested())
				}
				w.Later(delay + delay/2) // the machine has answered that no hook waits
				f.there.Dials(f.Asked)
				f.reports(t, f.requested())
				w.Later(2 * delay)
				f.link.Set(wire.Faults{})
				w.Later(chattest.Round)
				assert.Equal(t, ask.StageOpen, w.RequestState(t, f.Asked).Stage)
				w.TapsOn(t, chattest.Alice, f.Asked, i18n.AskAllow)
				assert.Len(t, f.there.Relay.Done(), 1)
			})
		})
	}
}
