package bot

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// fullDisk lets no queue be written, and no entry set back; mended ends it.
func (w *world) fullDisk(why error) (mended func()) {
	w.sessions.queue = func(uuid.UUID, string) error { return why }
	w.entries.save = func(e inbox.Entry) error {
		if e.State == inbox.Held {
			return nil
		}
		return errDisk
	}
	return func() { w.sessions.queue, w.entries.save = nil, nil }
}

// stranded is a prompt of Alice's that is held for a session and in no queue.
func (w *world) stranded(t *testing.T, why error) (key string) {
	t.Helper()
	mended := w.fullDisk(why)
	key, err := w.hear(t, "hi")
	require.ErrorIs(t, err, errDisk)
	require.Equal(t, inbox.Held, w.entryState(key), "the intake hands it on no more")
	mended()
	w.sessions.lines, w.sender.posted = nil, nil
	return key
}

func TestP4_APromptThatTheDiskLeftInNoQueueIsQueuedLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		r := w.currentSession(t, "api", session.Running)
		key := w.stranded(t, errDisk)
		w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
		w.settled(t)
		queued := "queue " + key + " for " + r.ID.String()
		assert.Contains(t, w.sessions.done(), queued)
		w.sessions.forget()
		w.sessions.queue = nil
		w.settled(t)
		assert.Equal(t, []string{queued}, w.sessions.done())
		w.settled(t)
		assert.Len(t, w.sessions.done(), 1, "and then no more")
		assert.Empty(t, w.sender.texts())
	})
}

// It is tried until it succeeds, without anybody asking for it.
func TestP4_WhatIsInNoQueueIsTriedAgainAndAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.currentSession(t, "api", session.Running)
		tries, queued := 0, make(chan struct{})
		w.stranded(t, errDisk)
		w.sessions.queue = func(uuid.UUID, string) error {
			if tries++; tries < 5 {
				return errDisk
			}
			close(queued)
			return nil
		}
		stop := w.running(t)
		<-queued
		require.NoError(t, stop())
		assert.Equal(t, 5, tries)
	})
}

func TestP4_WhatIsInNoQueueIsTold(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *world, r session.Record, key string)
		state  inbox.State // of the entry then
		told   func(w *world) []string
	}{
		{"its session is over", func(w *world, r session.Record, _ string) {
			w.records.change(r.ID, func(r *session.Record) { r.State = session.Archived })
			w.sessions.queue = func(uuid.UUID, string) error { return deep(lifecycle.ErrNoAgent) }
		}, inbox.Asked, func(w *world) []string {
			return []string{lines(warning+w.named(i18n.AlreadyEnded, "api"), w.word(i18n.NotDelivered))}
		}},
		{"its session is forgotten", func(w *world, r session.Record, _ string) {
			w.records.mu.Lock()
			defer w.records.mu.Unlock()
			delete(w.records.all, r.ID)
		}, "", func(w *world) []string {
			return []string{warning + lines(w.word(i18n.NotDelivered), "hi")}
		}},
		{"it is typed already", func(w *world, _ session.Record, key string) {
			_ = w.entries.Store.Change(key, func(e *inbox.Entry) error { e.State = inbox.Typing; return nil })
			w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
		}, inbox.Typing, func(*world) []string { return nil }},
		{"it is finished", func(w *world, _ session.Record, key string) {
			_ = w.entries.Store.Finish(key)
			w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
		}, "", func(*world) []string { return nil }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r := w.currentSession(t, "api", session.Running)
				key := w.stranded(t, errDisk)
				tt.change(w, r, key)
				w.settled(t)
				assert.Equal(t, tt.state, w.entryState(key))
				assert.Equal(t, tt.told(w), w.sender.texts())
				tries := len(w.sessions.done())
				w.settled(t)
				assert.Len(t, w.sessions.done(), tries, "and then no more")
			})
		})
	}
}

// A later prompt of the session waits for it.
func TestP4_WhatIsInNoQueueIsNotOvertaken(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	first := w.stranded(t, errDisk)
	w.sessions.queue = func(_ uuid.UUID, key string) error {
		if key == first {
			return errDisk
		}
		return nil
	}
	second, err := w.hear(t, "and more")
	require.ErrorIs(t, err, errNotQueued)
	assert.Equal(t, inbox.Accepted, w.entryState(second), "the intake hands it on again")
	w.currentSession(t, "other", session.Running)
	w.mustHear(t, "for another one")
	require.NoError(t, w.Chats.SetCurrent(atAlice, r.ID))
	w.sessions.queue, w.sessions.lines = nil, nil
	third := w.mustHear(t, "and more")
	assert.Equal(t, []string{"queue " + first + " for " + r.ID.String(), "queue " + third + " for " + r.ID.String()}, w.sessions.done())
}

// A tap that cannot queue leaves nothing behind either.
func TestP4_ATapThatTheDiskCutShortIsFinishedLater(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
		word  i18n.Key
	}{{"send", session.Running, i18n.ButtonSend}, {"resume and send", session.Archived, i18n.ButtonResumeAndSend}} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				r := w.currentSession(t, "api", tt.state)
				e := w.prompt(t, r, "old text", inbox.Held)
				require.NoError(t, w.AskAged(t.Context(), time.Hour))
				mended := w.fullDisk(errDisk)
				w.toldOfError(t, w.tapShown(t, alice, w.sender.last(t), tt.word))
				require.Equal(t, inbox.Held, w.entryState(e.Key))
				mended()
				w.sessions.forget()
				queued := []string{"queue " + e.Key + " for " + r.ID.String()}
				w.settled(t)
				assert.Equal(t, queued, w.sessions.done())
				w.settled(t)
				assert.Equal(t, queued, w.sessions.done(), "and then no more")
			})
		})
	}
}
