package bot

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// A prompt that cannot be written down, wherever that fails, is the inbox's to hand on again.
func TestP4_APromptThatCannotBeKeptWaits(t *testing.T) {
	for _, tt := range []struct {
		name string
		fail func(w *world)
	}{
		{"the text", func(w *world) { w.entries.save = func(inbox.Entry) error { return errDisk } }},
		{"the record", func(w *world) { w.sessions.queue = func(uuid.UUID, string) error { return errDisk } }},
		{"that it is held", func(w *world) {
			w.entries.save = func(e inbox.Entry) error {
				if e.State == inbox.Held {
					return errDisk
				}
				return nil
			}
		}},
		{"where its session is shown", func(w *world) {
			w.sessions.move = func(uuid.UUID, session.Conversation) error { return errDisk }
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			w.records.change(r.ID, func(r *session.Record) { r.Conversation = inGroup })
			tt.fail(w)
			key, u := w.acceptText(t, "hi")
			for range 3 {
				require.ErrorIs(t, w.Handle(t.Context(), key, u), inbox.ErrLater)
				require.Equal(t, inbox.Accepted, w.entryState(key))
			}
			assert.Empty(t, w.sender.texts(), "the inbox says when that is to be told")
			f := inbox.Failure{Key: key, Waits: true, From: alice, Conversation: atAlice, MessageID: 1001, Update: u}
			require.NoError(t, w.UpdateFailed(t.Context(), f))
			assert.Equal(t, []string{warning + w.word(i18n.PromptWaits)}, w.sender.texts())
			w.entries.save, w.sessions.queue, w.sessions.move = nil, nil, nil
			w.sessions.forget()
			require.NoError(t, w.Handle(t.Context(), key, u))
			assert.Contains(t, w.sessions.done(), "queue "+key+" for "+r.ID.String())
			assert.Equal(t, inbox.Held, w.entryState(key))
		})
	}
}

// What could not be kept is told where it cannot be typed any more when it is tried again.
func TestP4_WhatCouldNotBeKeptIsTold(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(w *world, r session.Record)
		state  inbox.State // of the entry then
		told   func(w *world) string
	}{
		{"its session is over", func(w *world, r session.Record) {
			w.records.change(r.ID, func(r *session.Record) { r.State = session.Archived })
		}, inbox.Asked, func(w *world) string {
			return lines(warning+w.named(i18n.AlreadyEnded, "api"), w.word(i18n.NotDelivered))
		}},
		{"its session ends at this moment", func(w *world, r session.Record) {
			w.sessions.queue = func(uuid.UUID, string) error {
				w.records.change(r.ID, func(r *session.Record) { r.State = session.Archived })
				return deep(lifecycle.ErrNoAgent)
			}
		}, inbox.Asked, func(w *world) string {
			return lines(warning+w.named(i18n.AlreadyEnded, "api"), w.word(i18n.NotDelivered))
		}},
		{"its session is forgotten", func(w *world, r session.Record) {
			w.records.forget(r.ID)
		}, inbox.Accepted, func(w *world) string { return lines(warning+w.word(i18n.NoSession), w.word(i18n.NotDelivered)) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
			key, u := w.acceptText(t, "hi")
			require.ErrorIs(t, w.Handle(t.Context(), key, u), inbox.ErrLater)
			w.sessions.queue = nil
			tt.change(w, r)
			require.NoError(t, w.handle(t, key, u))
			assert.Equal(t, tt.state, w.entryState(key))
			assert.Equal(t, []string{tt.told(w)}, append(w.sender.texts(), w.sender.answersSent()...))
		})
	}
}

// A tap that cannot queue leaves the question as it was.
func TestP4_ATapThatTheDiskCutShortCanBeTappedAgain(t *testing.T) {
	for _, tt := range []struct {
		name  string
		state session.State
		word  i18n.Key
	}{{"send", session.Running, i18n.ButtonSend}, {"resume and send", session.Archived, i18n.ButtonResumeAndSend}} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", tt.state)
			e := w.prompt(t, r, "old text", inbox.Held)
			require.NoError(t, w.Review(t.Context(), time.Hour))
			question := w.lastSent(t)
			w.sessions.queue = func(uuid.UUID, string) error { return errDisk }
			w.toldOfError(t, w.tapShown(t, alice, question, tt.word))
			require.Equal(t, inbox.Asked, w.entryState(e.Key))
			w.sessions.queue = nil
			require.NoError(t, w.tapShown(t, alice, question, tt.word))
			assert.Equal(t, inbox.Held, w.entryState(e.Key))
		})
	}
}
