package bot_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/bot/port/news"
	"ccbot/bot/port/views"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

func TestATransferMovesTheCurrentSessionAlong(t *testing.T) {
	w := chattest.NewWorld(t)
	source, target := w.Transferred(t, "api")
	topic := session.Conversation{ChatID: chattest.Alice, ThreadID: 3}
	for _, to := range []session.Conversation{chattest.AtAlice, topic} {
		require.NoError(t, w.Chats.SetCurrent(to, source.ID))
	}
	web := w.Session(t, "web", session.Running)
	require.NoError(t, w.Chats.SetCurrent(chattest.InGroup, web.ID))
	n := news.Transferred{From: source.ID}
	require.NoError(t, w.SessionNews(t.Context(), target, n))
	for to, want := range map[session.Conversation]uuid.UUID{chattest.AtAlice: target.ID, topic: target.ID, chattest.InGroup: web.ID} {
		got := w.Chats.Current(to)
		assert.Equal(t, want, got)
	}
	assert.Equal(t, []string{"api is connected to its window (@21). ccbot will not close it. " +
		"Permission requests appear here only as its screen, and a status line that looks like a question holds your texts, until you /kill and /resume it."}, w.Telegram.Texts())

	n.Asked = true
	require.NoError(t, w.SessionNews(t.Context(), target, n))
	assert.Len(t, w.Telegram.Texts(), 1, "who asked for it was told")
}

func TestATransferFromNobodyTakesNoPlace(t *testing.T) {
	w := chattest.NewWorld(t)
	_, target := w.Transferred(t, "api")
	require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, uuid.Nil))
	require.NoError(t, w.SessionNews(t.Context(), target, news.Transferred{Asked: true}))
	w.CurrentIs(t, uuid.Nil)
	assert.Empty(t, w.Telegram.Texts())
}

func TestWhatWasTakenOverLeadsToItsSuccessor(t *testing.T) {
	t.Run("a text", func(t *testing.T) {
		w := chattest.NewWorld(t)
		source, target := w.Transferred(t, "api")
		require.NoError(t, w.Chats.SetCurrent(chattest.AtAlice, source.ID))
		key := w.MustHear(t, "hi")
		assert.Equal(t, []string{"queue " + key + " for " + target.ID.String()}, w.Lifecycle.Done())
	})
	t.Run("lists", func(t *testing.T) {
		w := chattest.NewWorld(t)
		_, target := w.Transferred(t, "api")
		w.MustHear(t, "/list")
		assert.NotContains(t, w.Telegram.Last(t).Text.Text, "archived")
		m := w.Telegram.Last(t)
		assert.Equal(t, []string{"api"}, chattest.Words(m))
		w.MustHear(t, "/resume")
		assert.Equal(t, w.Word(i18n.ResumeNone), w.Telegram.Last(t).Text.Text)
		require.NoError(t, w.TapShown(t, chattest.Alice, m, "api"))
		w.CurrentIs(t, target.ID)
	})
	// Each prepares what a person does after the transfer, with what was shown before it.
	type prepare func(t *testing.T, w *chattest.World, source session.Record) (ask func() error)
	says := func(text func(source session.Record) string) prepare {
		return func(t *testing.T, w *chattest.World, source session.Record) func() error {
			return func() error { _, err := w.Hear(t, text(source)); return err }
		}
	}
	taps := func(button func(t *testing.T, w *chattest.World, source session.Record) chattest.Spot) prepare {
		return func(t *testing.T, w *chattest.World, source session.Record) func() error {
			s := button(t, w, source)
			return func() error { return w.TapSpot(t, chattest.Alice, s) }
		}
	}
	for name, prepared := range map[string]prepare{
		"an old button": taps(func(t *testing.T, w *chattest.World, source session.Record) chattest.Spot {
			return w.Spot(t, w.LostShown(t, source), i18n.ButtonResume)
		}),
		"an old undo": taps(func(t *testing.T, w *chattest.World, source session.Record) chattest.Spot {
			return w.Spot(t, w.UndoShown(t, source, 0), i18n.ButtonUndo)
		}),
		"a name": says(func(source session.Record) string { return "/resume " + source.Name }),
		"an id":  says(func(source session.Record) string { return "/resume " + source.ID.String() }),
		"an old list": taps(func(t *testing.T, w *chattest.World, source session.Record) chattest.Spot {
			defer w.Quietly(t)
			return w.Listed(t, source)
		}),
	} {
		ready := func(t *testing.T) (w *chattest.World, ask func() error, target session.Record) {
			w = chattest.NewWorld(t)
			source := w.Session(t, "api", session.Running)
			ask = prepared(t, w, source)
			return w, ask, w.Transfer(t, source)
		}
		t.Run(name+", open", func(t *testing.T) {
			w, ask, target := ready(t)
			w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
				assert.Equal(t, target.ID, id)
				return target, chattest.Deep(&lifecycle.StateError{State: session.Running})
			}
			require.NoError(t, ask())
			w.CurrentIs(t, target.ID)
			if name != "an old list" {
				assert.Equal(t, []string{w.Named(i18n.ResumeAlreadyOpen, "api")}, w.Telegram.Texts())
			}
		})
		if name == "an old list" {
			continue
		}
		t.Run(name+", over", func(t *testing.T) {
			w, ask, target := ready(t)
			w.Records.Change(target.ID, func(r *session.Record) { r.State = session.Archived })
			require.NoError(t, ask())
			assert.Contains(t, w.Restored(), "restore "+target.ID.String(), "it comes back as the successor")
		})
		t.Run(name+", without its folder", func(t *testing.T) {
			w, ask, target := ready(t)
			w.Records.Change(target.ID, func(r *session.Record) { r.State = session.Archived })
			w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) {
				return target, chattest.Deep(&lifecycle.DirError{Dir: "/gone", Why: lifecycle.DirMissing})
			}
			require.NoError(t, ask())
			m := w.Telegram.Last(t)
			assert.Equal(t, w.Word(i18n.ButtonMakeDir), chattest.Words(m)[0])
			dir := filepath.Join(t.TempDir(), "gone")
			w.Records.Change(target.ID, func(r *session.Record) { r.Dir = dir })
			require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonMakeDir))
			assert.DirExists(t, dir, "and so do its buttons")
		})
	}
}

// The conversation moves between the tap and the session's worker: the next try leads to the
// successor.
func TestAResumeThatMeetsATransferIsTold(t *testing.T) {
	w := chattest.NewWorld(t)
	r, target := w.Session(t, "api", session.Lost), w.Session(t, "web", session.Running)
	w.Lifecycle.OnRestore = func(uuid.UUID) (session.Record, error) { return r, chattest.Deep(&lifecycle.MovedError{To: target.ID}) }
	require.NoError(t, w.TapShown(t, chattest.Alice, w.LostShown(t, r), i18n.ButtonResume))
	assert.Equal(t, chattest.Restores(r), w.Restored())
	assert.Equal(t, []string{w.Named(i18n.AlreadyEnded, "api")}, w.Telegram.Texts())
}

func TestASessionThatNamesItselfIsNotWaitedFor(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"))
	r := w.NewCurrentSession(t, "api", session.Running, c)
	w.Records.Change(r.ID, func(r *session.Record) { r.TookOver = r.ID })
	assert.Equal(t, r.ID, w.Successor(host.View(r)).ID)
	w.Running(t)
	require.Eventually(t, func() bool { return slices.Equal([]string{"one"}, w.Telegram.AnswersSent()) }, chattest.Patience, time.Millisecond)
}

func TestSuccessorsAreFollowedToTheEnd(t *testing.T) {
	w := chattest.NewWorld(t)
	first, second := w.Transferred(t, "api")
	third := w.Session(t, "api", session.Running)
	w.Records.Change(second.ID, func(r *session.Record) { r.State, r.Closed = session.Lost, session.ClosedTransferred })
	w.Records.Change(third.ID, func(r *session.Record) { r.TookOver = second.ID })
	for _, r := range []session.Record{first, w.Record(t, second.ID), third} {
		assert.Equal(t, third.ID, w.Successor(host.View(r)).ID)
	}
	assert.Equal(t, uuid.Nil, w.Successor(views.Session{}).ID, "of none")

	w.Records.Change(second.ID, func(r *session.Record) { r.Closed = "" })
	assert.Equal(t, third.ID, w.Successor(host.View(first)).ID, "a crash may come before the source knows")

	w.Records.Change(third.ID, func(r *session.Record) { r.Closed = session.ClosedTransferred })
	assert.Equal(t, third.ID, w.Successor(host.View(first)).ID, "whoever went on is not known any more")
	w.Records.Change(first.ID, func(r *session.Record) { r.TookOver = third.ID })
	w.Successor(host.View(first)) // a ring ends somewhere
	assert.Nil(t, w.In(chattest.AtAlice).ResumeLink(host.View(w.Record(t, third.ID))))
}

// The agent of a ghost's message is another session's by now: nothing is done.
func TestP2_AnOldGhostButtonEndsNoSuccessor(t *testing.T) {
	w := chattest.NewWorld(t)
	one := chattest.InWindow(t, 4123)
	r, m := w.Told(t, chattest.WriterAfterEnd, one)
	target := w.Session(t, "api", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Closed = session.ClosedTransferred })
	w.Records.Change(target.ID, func(next *session.Record) { next.TookOver = r.ID })
	for _, s := range chattest.Spots(m) {
		require.NoError(t, w.TapSpot(t, chattest.Alice, s))
	}
	assert.Empty(t, w.Lifecycle.Done())
}

// A conversation moves between a text and its queue.
func TestP4_ATextThatMeetsATransferGoesToTheSuccessor(t *testing.T) {
	for _, state := range []session.State{session.Running, session.Archived} {
		t.Run(string(state), func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			target := w.Session(t, "api", state)
			w.Lifecycle.OnQueue = func(id uuid.UUID, _ string) error {
				if id == target.ID {
					return nil
				}
				w.Records.Change(r.ID, func(r *session.Record) { r.State, r.Closed = session.Lost, session.ClosedTransferred })
				w.Records.Change(target.ID, func(next *session.Record) { next.TookOver = r.ID })
				return chattest.Deep(lifecycle.ErrNoAgent)
			}
			key := w.MustHear(t, "hi")
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			assert.Equal(t, []any{target.ID, "hi"}, []any{e.Session, e.Text})
			if state == session.Running {
				assert.Equal(t, inbox.Held, e.State)
				assert.Empty(t, w.Telegram.Texts())
				return
			}
			assert.Equal(t, inbox.Asked, e.State)
			assert.Contains(t, w.LastSent(t).Text.Text, w.Word(i18n.NotDelivered))
		})
	}
}

// The part that the reader of the source has in hand is not said again by that of the target, which
// begins where the source's cursor was.
func TestP5_ATransferSaysNoPartTwice(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"), chattest.Says("two"))
	source := w.NewCurrentSession(t, "api", session.Running, c)
	sending, answer := make(chan struct{}), make(chan error)
	first := true
	w.Telegram.OnSend = func(context.Context, outbox.Message) error {
		if first {
			first = false
			close(sending)
			return <-answer
		}
		return nil
	}
	w.Running(t)
	chattest.Receive(t, sending)

	target := source.Clone()
	target.ID, target.TookOver, target.CreatedAt = uuid.New(), source.ID, chattest.Started.Add(1)
	w.Records.Put(target)
	w.Records.Change(source.ID, func(r *session.Record) {
		r.State, r.Closed, r.Cursors = session.Lost, session.ClosedTransferred, nil
	})
	w.NewTranscript(t, target) // its transcript is told before the transfer
	n := news.Transferred{From: source.ID, Asked: true}
	require.NoError(t, w.SessionNews(t.Context(), target, n))
	answer <- nil

	end := []transcript.Cursor{{Path: c.Path, Offset: int64(2 * len(chattest.Says("one")))}}
	require.Eventually(t, func() bool { return slices.Equal(end, w.Cursors(target)) }, chattest.Patience, time.Millisecond)
	assert.Equal(t, []string{"one", "two"}, w.Telegram.AnswersSent())
}

// In a chat a second writer that is adopted is the same transfer.
func TestAdoptAsksForTheTransfer(t *testing.T) {
	w := chattest.NewWorld(t)
	one := chattest.InWindow(t, 4123)
	r, m := w.Told(t, chattest.WriterAfterEnd, one)
	var asked lifecycle.AdoptRequest
	w.Lifecycle.OnAdopt = func(q lifecycle.AdoptRequest) error { asked = q; return nil }
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAdopt))
	assert.Equal(t, lifecycle.AdoptRequest{Agent: process.Identity{PID: 4123, Start: 41230, Boot: "boot"}, Claude: r.ClaudeSessionID,
		From: r.ID, Asked: true, Conversation: chattest.AtAlice, Owner: chattest.Alice, Rule: "chat.adopt", Why: "asked for by 7"}, asked)
}
