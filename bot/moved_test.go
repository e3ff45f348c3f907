package bot

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// transferred is a session whose conversation another one goes on with.
func (w *world) transferred(t *testing.T, name string) (source, target session.Record) {
	t.Helper()
	source = w.session(t, name, session.Lost)
	target = w.transfer(t, source)
	return w.record(t, source.ID), target
}

// transfer lets another session go on with the conversation of one.
func (w *world) transfer(t *testing.T, source session.Record) (target session.Record) {
	t.Helper()
	target = w.session(t, source.Name, session.Running)
	w.records.change(source.ID, func(r *session.Record) {
		r.State, r.Closed = session.Lost, session.ClosedTransferred
	})
	w.records.change(target.ID, func(r *session.Record) {
		r.TookOver, r.ClaudeSessionID = source.ID, source.ClaudeSessionID
		r.Binding = &session.Binding{Adopted: true, Window: "@21", Shell: 99}
	})
	return w.record(t, target.ID)
}

func TestATransferMovesTheCurrentSessionAlong(t *testing.T) {
	w := newWorld(t)
	source, target := w.transferred(t, "api")
	topic := session.Conversation{ChatID: alice, ThreadID: 3}
	for _, to := range []session.Conversation{atAlice, topic} {
		require.NoError(t, w.Chats.SetCurrent(to, source.ID))
	}
	web := w.session(t, "web", session.Running)
	require.NoError(t, w.Chats.SetCurrent(inGroup, web.ID))
	n := lifecycle.Note{Kind: lifecycle.NoteTransferred, Session: target, From: source}
	require.NoError(t, w.SessionNews(t.Context(), n))
	for to, want := range map[session.Conversation]uuid.UUID{atAlice: target.ID, topic: target.ID, inGroup: web.ID} {
		got, err := w.Chats.Current(to)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	assert.Equal(t, []string{"api goes on in the window @21: I type there, and never close it. " +
		"Permission questions show here only as a screen until you /kill and /resume it."}, w.sender.texts())

	n.Asked = true
	require.NoError(t, w.SessionNews(t.Context(), n))
	assert.Len(t, w.sender.texts(), 1, "who asked for it was told")
}

func TestATransferFromNobodyTakesNoPlace(t *testing.T) {
	w := newWorld(t)
	_, target := w.transferred(t, "api")
	require.NoError(t, w.Chats.SetCurrent(atAlice, uuid.Nil))
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteTransferred, Session: target, Asked: true}))
	w.currentIs(t, uuid.Nil)
	assert.Empty(t, w.sender.texts())
}

func TestWhatWasTakenOverLeadsToItsSuccessor(t *testing.T) {
	t.Run("a text", func(t *testing.T) {
		w := newWorld(t)
		source, target := w.transferred(t, "api")
		require.NoError(t, w.Chats.SetCurrent(atAlice, source.ID))
		key := w.mustHear(t, "hi")
		assert.Equal(t, []string{"queue " + key + " for " + target.ID.String()}, w.sessions.done())
	})
	t.Run("lists", func(t *testing.T) {
		w := newWorld(t)
		_, target := w.transferred(t, "api")
		w.mustHear(t, "/list")
		assert.NotContains(t, w.sender.last(t).Text.Text, "archived")
		m := w.sender.last(t)
		assert.Equal(t, []string{"api"}, words(m))
		w.mustHear(t, "/resume")
		assert.Equal(t, w.word(i18n.ResumeNone), w.sender.last(t).Text.Text)
		require.NoError(t, w.tapShown(t, alice, m, "api"))
		w.currentIs(t, target.ID)
	})
	// Each prepares what a person does after the transfer, with what was shown before it.
	type prepare func(t *testing.T, w *world, source session.Record) (ask func() error)
	says := func(text func(source session.Record) string) prepare {
		return func(t *testing.T, w *world, source session.Record) func() error {
			return func() error { _, err := w.hear(t, text(source)); return err }
		}
	}
	taps := func(button func(t *testing.T, w *world, source session.Record) spot) prepare {
		return func(t *testing.T, w *world, source session.Record) func() error {
			s := button(t, w, source)
			return func() error { return w.tapSpot(t, alice, s) }
		}
	}
	for name, prepared := range map[string]prepare{
		"an old button": taps(func(t *testing.T, w *world, source session.Record) spot {
			return w.spot(t, w.lostShown(t, source), i18n.ButtonResume)
		}),
		"an old undo": taps(func(t *testing.T, w *world, source session.Record) spot {
			return w.spot(t, w.undoShown(t, source, 0), i18n.ButtonUndo)
		}),
		"a name": says(func(source session.Record) string { return "/resume " + source.Name }),
		"an id":  says(func(source session.Record) string { return "/resume " + source.ID.String() }),
		"an old list": taps(func(t *testing.T, w *world, source session.Record) spot {
			defer w.quietly(t)
			return w.listed(t, source)
		}),
	} {
		ready := func(t *testing.T) (w *world, ask func() error, target session.Record) {
			w = newWorld(t)
			source := w.session(t, "api", session.Running)
			ask = prepared(t, w, source)
			return w, ask, w.transfer(t, source)
		}
		t.Run(name+", open", func(t *testing.T) {
			w, ask, target := ready(t)
			w.sessions.restore = func(id uuid.UUID) (session.Record, error) {
				assert.Equal(t, target.ID, id)
				return target, deep(&lifecycle.StateError{State: session.Running})
			}
			require.NoError(t, ask())
			w.currentIs(t, target.ID)
			if name != "an old list" {
				assert.Equal(t, []string{w.named(i18n.ResumeAlreadyOpen, "api")}, w.sender.texts())
			}
		})
		if name == "an old list" {
			continue
		}
		t.Run(name+", over", func(t *testing.T) {
			w, ask, target := ready(t)
			w.records.change(target.ID, func(r *session.Record) { r.State = session.Archived })
			require.NoError(t, ask())
			assert.Contains(t, w.restored(), "restore "+target.ID.String(), "it comes back as the successor")
		})
		t.Run(name+", without its folder", func(t *testing.T) {
			w, ask, target := ready(t)
			w.records.change(target.ID, func(r *session.Record) { r.State = session.Archived })
			w.sessions.restore = func(uuid.UUID) (session.Record, error) {
				return target, deep(&lifecycle.DirError{Dir: "/gone", Why: lifecycle.DirMissing})
			}
			require.NoError(t, ask())
			m := w.sender.last(t)
			assert.Equal(t, w.word(i18n.ButtonMakeDir), words(m)[0])
			dir := filepath.Join(t.TempDir(), "gone")
			w.records.change(target.ID, func(r *session.Record) { r.Dir = dir })
			require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonMakeDir))
			assert.DirExists(t, dir, "and so do its buttons")
		})
	}
}

// The conversation moves between the tap and the session's worker: the next try leads to the
// successor.
func TestAResumeThatMeetsATransferIsTold(t *testing.T) {
	w := newWorld(t)
	r, target := w.session(t, "api", session.Lost), w.session(t, "web", session.Running)
	w.sessions.restore = func(uuid.UUID) (session.Record, error) { return r, deep(&lifecycle.MovedError{To: target.ID}) }
	require.NoError(t, w.tapShown(t, alice, w.lostShown(t, r), i18n.ButtonResume))
	assert.Equal(t, restores(r), w.restored())
	assert.Equal(t, []string{w.named(i18n.AlreadyEnded, "api")}, w.sender.texts())
}

func TestASessionThatNamesItselfIsNotWaitedFor(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", says("one"))
	r := w.currentSession(t, "api", session.Running, c)
	w.records.change(r.ID, func(r *session.Record) { r.TookOver = r.ID })
	assert.Equal(t, r.ID, w.Successor(host.View(r)).ID)
	w.running(t)
	require.Eventually(t, func() bool { return slices.Equal([]string{"one"}, w.sender.answersSent()) }, patience, time.Millisecond)
}

func TestSuccessorsAreFollowedToTheEnd(t *testing.T) {
	w := newWorld(t)
	first, second := w.transferred(t, "api")
	third := w.session(t, "api", session.Running)
	w.records.change(second.ID, func(r *session.Record) { r.State, r.Closed = session.Lost, session.ClosedTransferred })
	w.records.change(third.ID, func(r *session.Record) { r.TookOver = second.ID })
	for _, r := range []session.Record{first, w.record(t, second.ID), third} {
		assert.Equal(t, third.ID, w.Successor(host.View(r)).ID)
	}
	assert.True(t, w.GoesOn(first.ID))
	assert.False(t, w.GoesOn(third.ID))
	assert.False(t, w.GoesOn(uuid.New()))

	w.records.change(second.ID, func(r *session.Record) { r.Closed = "" })
	assert.Equal(t, third.ID, w.Successor(host.View(first)).ID, "a crash may come before the source knows")

	w.records.change(third.ID, func(r *session.Record) { r.Closed = session.ClosedTransferred })
	assert.Equal(t, third.ID, w.Successor(host.View(first)).ID, "whoever went on is not known any more")
	w.records.change(first.ID, func(r *session.Record) { r.TookOver = third.ID })
	w.Successor(host.View(first)) // a ring ends somewhere
	assert.Nil(t, w.ResumeButton(host.View(w.record(t, third.ID))))
}

// The agent of a ghost's message is another session's by now: nothing is done.
func TestP2_AnOldGhostButtonEndsNoSuccessor(t *testing.T) {
	w := newWorld(t)
	one := inWindow(t, 4123)
	r, m := w.told(t, writerAfterEnd, one)
	target := w.session(t, "api", session.Running)
	w.records.change(r.ID, func(r *session.Record) { r.Closed = session.ClosedTransferred })
	w.records.change(target.ID, func(next *session.Record) { next.TookOver = r.ID })
	for _, s := range spots(m) {
		require.NoError(t, w.tapSpot(t, alice, s))
	}
	assert.Empty(t, w.sessions.done())
}

// A conversation moves between a text and its queue.
func TestP4_ATextThatMeetsATransferGoesToTheSuccessor(t *testing.T) {
	for _, state := range []session.State{session.Running, session.Archived} {
		t.Run(string(state), func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			target := w.session(t, "api", state)
			w.sessions.queue = func(id uuid.UUID, _ string) error {
				if id == target.ID {
					return nil
				}
				w.records.change(r.ID, func(r *session.Record) { r.State, r.Closed = session.Lost, session.ClosedTransferred })
				w.records.change(target.ID, func(next *session.Record) { next.TookOver = r.ID })
				return deep(lifecycle.ErrNoAgent)
			}
			key := w.mustHear(t, "hi")
			e, err := w.entries.Load(key)
			require.NoError(t, err)
			assert.Equal(t, []any{target.ID, "hi"}, []any{e.Session, e.Text})
			if state == session.Running {
				assert.Equal(t, inbox.Held, e.State)
				assert.Empty(t, w.sender.texts())
				return
			}
			assert.Equal(t, inbox.Asked, e.State)
			assert.Contains(t, w.lastSent(t).Text.Text, w.word(i18n.NotDelivered))
		})
	}
}

// The part that the reader of the source has in hand is not said again by that of the target, which
// begins where the source's cursor was.
func TestP5_ATransferSaysNoPartTwice(t *testing.T) {
	w := newWorld(t)
	c := transcriptOf(t, "t.jsonl", says("one"), says("two"))
	source := w.currentSession(t, "api", session.Running, c)
	sending, answer := make(chan struct{}), make(chan error)
	first := true
	w.sender.send = func(context.Context, outbox.Message) error {
		if first {
			first = false
			close(sending)
			return <-answer
		}
		return nil
	}
	w.running(t)
	receive(t, sending)

	target := source.Clone()
	target.ID, target.TookOver, target.CreatedAt = uuid.New(), source.ID, started.Add(1)
	w.records.put(target)
	w.records.change(source.ID, func(r *session.Record) {
		r.State, r.Closed, r.Cursors = session.Lost, session.ClosedTransferred, nil
	})
	w.newTranscript(t, target) // its transcript is told before the transfer
	n := lifecycle.Note{Kind: lifecycle.NoteTransferred, Session: target, From: w.record(t, source.ID), Asked: true}
	require.NoError(t, w.SessionNews(t.Context(), n))
	answer <- nil

	end := []transcript.Cursor{{Path: c.Path, Offset: int64(2 * len(says("one")))}}
	require.Eventually(t, func() bool { return slices.Equal(end, w.cursors(target)) }, patience, time.Millisecond)
	assert.Equal(t, []string{"one", "two"}, w.sender.answersSent())
}

// In a chat a second writer that is adopted is the same transfer.
func TestAdoptAsksForTheTransfer(t *testing.T) {
	w := newWorld(t)
	one := inWindow(t, 4123)
	r, m := w.told(t, writerAfterEnd, one)
	var asked lifecycle.AdoptRequest
	w.sessions.adopt = func(q lifecycle.AdoptRequest) error { asked = q; return nil }
	require.NoError(t, w.tapShown(t, alice, m, i18n.ButtonAdopt))
	assert.Equal(t, lifecycle.AdoptRequest{Agent: process.Identity{PID: 4123, Start: 41230, Boot: "boot"}, Claude: r.ClaudeSessionID,
		From: r.ID, Asked: true, Conversation: atAlice, Owner: alice, Rule: "chat.adopt", Why: "asked for by 7"}, asked)
}
