package bot_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/fleet/wire"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// liar is a machine that answers some calls otherwise than its program does.
type liar struct {
	ours, theirs session.Record
	there        *chattest.World
	answers      atomic.Pointer[map[string]wire.Envelope] // by kind
}

// hang is the kind of an answer that does not come.
const hang = "hang"

func newLiar(t *testing.T, w *chattest.World) *liar {
	t.Helper()
	other, l := chattest.NewWorld(t), new(liar)
	l.answers.Store(new(map[string]wire.Envelope))
	m, link := wire.Loopback(t.Context(), other.Machine)
	honest := link.Answer
	link.Answer = func(ctx context.Context, e wire.Envelope) wire.Envelope {
		a, is := (*l.answers.Load())[e.Kind]
		if !is {
			return honest(ctx, e)
		}
		if a.Kind == hang {
			<-ctx.Done()
		}
		a.V, a.Kind, a.From, a.To, a.Session, a.ID = wire.Version, e.Kind, e.To, e.From, e.Session, e.ID
		return a
	}
	require.NoError(t, w.Fleet.Add("bbbb", "barn", m))
	l.there = other
	l.ours, l.theirs = w.NewCurrentSession(t, "api", session.Running), other.Session(t, "api", session.Running)
	return l
}

// TestP4_FaultOfMachineHoldsUpNoOther: a machine reports that its disk is full. A later text for
// another machine's session in the same chat does not wait for it.
func TestP4_FaultOfMachineHoldsUpNoOther(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		l := newLiar(t, w)
		w.MustHear(t, "/list")
		full := wire.Envelope{Error: &wire.Error{Text: "no space left on device", Known: []string{"ENOSPC"}}}
		ended := wire.Envelope{Error: &wire.Error{Text: "ended", Refusal: &refusal.Error{Code: refusal.NoAgent}}}
		for _, fault := range []wire.Envelope{full, ended} {
			l.answers.Store(&map[string]wire.Envelope{"PromptQueue.Queue": fault, "PromptQueue.Keep": fault, "Keeper.Move": full, "Lookups.HasCommand": full})
			require.NoError(t, w.Book.SetCurrent(chattest.AtAlice, l.theirs.ID))
			for _, text := range []string{"fix it", "/compat"} {
				_, err := w.Hear(t, text)
				require.NoError(t, err, "the inbox does not wait for the machine")
			}
			require.NoError(t, w.Book.SetCurrent(chattest.AtAlice, l.ours.ID))
			key := w.MustHear(t, "test it")
			assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+l.ours.ID.String())
		}
	})
}

// TestP6_FaultOfMachineHidesNoOther: a machine cannot list what it has. What the others have is
// known.
func TestP6_FaultOfMachineHidesNoOther(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		l := newLiar(t, w)
		bad := wire.Envelope{Error: &wire.Error{Text: "input/output error", Known: []string{"EIO"}}}
		l.answers.Store(&map[string]wire.Envelope{"Views.List": bad, "Loops.All": bad, "Windows.Orphans": bad})
		_, err := w.Machine.Records.List()
		require.Error(t, err)
		assert.False(t, refusal.Lacks(err, ""), err)
		_, err = w.Machine.Sessions.Orphans(t.Context())
		require.Error(t, err)
		assert.False(t, refusal.Lacks(err, ""), err)
		assert.True(t, refusal.Lacks(err, "bbbb"), err)
	})
}

// TestP8_PatchWithoutItsFile: the chat shows a patch whose file its machine has not listed.
func TestP8_PatchWithoutItsFile(t *testing.T) {
	for _, at := range []int{-1, 0, 1 << 40} {
		assert.Zero(t, folders.Patch{At: at}.File())
	}
	assert.False(t, port.Dialog{Unasked: true}.CanChoose(3))
}

// TestP8_NewsOfMachineAreOneMessage: neither a wide screen nor a long list of places makes a
// lot of messages of one piece of news.
func TestP8_NewsOfMachineAreOneMessage(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		other, _, theirs, link := barn(t, w)
		f := farRequest{here: w, there: other, session: theirs, link: link}
		row := strings.Repeat("x", 8<<10)
		f.reports(t, news.Failed{Screen: strings.Repeat(row+"\n", 30)})
		messages := func() int { return len(w.Telegram.Sent) + len(w.Telegram.Posted) }
		before := messages()
		assert.LessOrEqual(t, before, 3)
		var to []session.Conversation
		for i := range 1000 {
			to = append(to, session.Conversation{ChatID: chattest.Alice, ThreadID: i})
		}
		f.reports(t, news.FileUnread{Path: "/x", To: to})
		assert.Equal(t, 1, messages()-before)
	})
}

// TestP6_MachineThatComesAndGoesIsQuiet: a machine that falls silent again and again is reported
// now and then.
func TestP6_MachineThatComesAndGoesIsQuiet(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		barn(t, w)
		w.MustHear(t, "/list")
		w.Telegram.Forget()
		for range 100 {
			w.Fleet.Note("bbbb", true, w.Now())
			w.Later(9 * time.Second)
			w.Fleet.Note("bbbb", false, w.Now())
			w.Later(9 * time.Second)
		}
		assert.LessOrEqual(t, len(w.Telegram.Sent), 10)
		w.Telegram.Forget()
		w.Fleet.Note("bbbb", true, w.Now())
		w.Later(time.Hour)
		assert.NotEmpty(t, w.Telegram.Sent, "it stays away")
	})
}

// TestP6_MachineThatHangsHoldsUpNoCap: another machine does not answer the end of a turn. Turns of
// the chat's own machine are still interrupted at their cap.
func TestP6_MachineThatHangsHoldsUpNoCap(t *testing.T) {
	withBudget(t, conversation.Settings{}, 10, func(w *budgeted) {
		l := newLiar(w.t, w.World)
		l.there.Records.Change(l.theirs.ID, func(r *session.Record) { r.Phase, r.CreatedAt = "working", time.Time{} })
		w.MustHear(w.t, "/list")
		l.answers.Store(&map[string]wire.Envelope{"TurnEnder.EndTurn": {Kind: hang}})
		w.spends(20)
		w.Later(15 * time.Second)
		assert.Positive(t, w.interrupted.Load())
	})
}
