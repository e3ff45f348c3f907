package running

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/internal/disk"
	"ccbot/lifecycle/typing"
	"ccbot/port/talk"
)

// failOnce makes the first call of an operation in a folder next to the inbox fail.
func (w *inboxFolder) failOnce(t *testing.T, op, folder string) (end func()) {
	t.Helper()
	dir, failed := filepath.Join(filepath.Dir(w.dir), folder), false
	heal := disk.Fail(func(is, path string) error {
		if failed || is != op || path != dir && !strings.HasPrefix(path, dir+"/") {
			return nil
		}
		failed = true
		return syscall.EMFILE
	})
	return func() { heal(); assert.True(t, failed, "%s in %s is not reached", op, folder) }
}

// A fault while a prompt is finished leaves nothing that only the next start finishes.
func TestP4_FaultWhileFinishing(t *testing.T) {
	for _, at := range []struct{ op, folder string }{
		{"rename", "prompts"}, {"open", "prompts"}, {"sync", "prompts"}, {"rename", "inbox"}, {"open", "inbox"}, {"sync", "inbox"},
	} {
		t.Run(at.op+" in "+at.folder, func(t *testing.T) {
			w := newInbox(t)
			p := w.prompts(t)
			q := w.typed(t, p, uuid.New())
			end := w.failOnce(t, at.op, at.folder)
			_ = p.FinishPrompt(q.Key)
			end()
			if _, err := p.Prompt(q.Key); err == nil { // as the next step of the session does
				require.NoError(t, p.FinishPrompt(q.Key))
			} else {
				require.ErrorIs(t, err, typing.ErrNoPrompt)
			}
			require.NoError(t, p.held.Repeat())
			_, err := p.inbox.Load(q.Key)
			require.ErrorIs(t, err, inbox.ErrNoEntry)
		})
	}
}

// The engine reports a prompt that was taken back until the chat has put on disk that it asks about
// it.
func TestP4_FaultWhileTakenBack(t *testing.T) {
	for _, state := range []typing.PromptState{typing.Held, typing.Typing, typing.Unproven} {
		t.Run(string(state), func(t *testing.T) {
			w := newInbox(t)
			p := w.prompts(t)
			q := w.typed(t, p, uuid.New())
			if q.State = state; state == typing.Held {
				q.Mark = nil
			}
			require.NoError(t, p.SavePrompt(q))
			end := w.failOnce(t, "replace", "inbox")
			require.Error(t, p.inbox.Change(q.Key, func(e *inbox.Entry) error { e.State = inbox.Asked; return nil }))
			end()
			require.NoError(t, p.held.Repeat())
			e, err := p.inbox.Load(q.Key)
			require.NoError(t, err)
			assert.Equal(t, inbox.Asked, e.State)
			_, err = p.Prompt(q.Key)
			require.ErrorIs(t, err, typing.ErrNoPrompt)
			require.NoError(t, hold(p, q.Key, uuid.New()), "a person sends it")
		})
	}
}

// A prompt counts as finished also if the tombstones of others cannot be removed.
func TestP4_FaultWhileSettling(t *testing.T) {
	w := newInbox(t)
	p := w.prompts(t)
	q := w.typed(t, p, uuid.New())
	p.held.Settle(q.Number)
	end := w.failOnce(t, "replace", "prompts")
	require.NoError(t, p.FinishPrompt(q.Key))
	end()
}

// A step that has read a prompt before it was given to another session types
// nothing.
func TestP4_PromptOfAnotherSessionSince(t *testing.T) {
	w := newInbox(t)
	p, one, two := w.prompts(t), uuid.New(), uuid.New()
	e := w.prompt(t, one, "fix it", inbox.Accepted)
	require.NoError(t, hold(p, e.Key, one))
	q, err := p.Prompt(e.Key)
	require.NoError(t, err)
	require.NoError(t, p.inbox.Change(e.Key, func(e *inbox.Entry) error { e.State = inbox.Asked; return nil }))
	require.NoError(t, hold(p, e.Key, two))
	q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
	require.ErrorIs(t, p.SavePrompt(q), typing.ErrNoPrompt)
	q, err = p.Prompt(e.Key)
	require.NoError(t, err)
	assert.Equal(t, two, q.Session)
	assert.Equal(t, typing.Held, q.State)
}

// An offer that the engine has not answered, because it had the prompt from an earlier offer, makes
// no prompt be typed again after a kill.
func TestP4_LaterOfferOfPromptThatEngineHas(t *testing.T) {
	finish := func(t *testing.T, w *inboxFolder, p *prompts, key string) {
		t.Helper()
		killAt(t, p, "prompt-ended", func() error { return p.FinishPrompt(key) })
		p = w.restart(t)
		_, err := p.Prompt(key)
		require.ErrorIs(t, err, typing.ErrNoPrompt)
		_, err = p.inbox.Load(key)
		require.ErrorIs(t, err, inbox.ErrNoEntry)
	}
	t.Run("held for another session", func(t *testing.T) {
		w := newInbox(t)
		p, one, two := w.prompts(t), uuid.New(), uuid.New()
		e := w.prompt(t, one, "fix it", inbox.Accepted)
		require.NoError(t, hold(p, e.Key, one))
		killAt(t, p, "prompt-offered", func() error { return hold(p, e.Key, two) })
		p = w.restart(t)
		q, err := p.Prompt(e.Key)
		require.NoError(t, err)
		assert.Equal(t, one, q.Session, "the engine has not heard of another session")
		q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
		require.NoError(t, p.SavePrompt(q))
		finish(t, w, p, e.Key)
	})
	t.Run("handed on again while it is typed", func(t *testing.T) {
		w := newInbox(t)
		p, session := w.prompts(t), uuid.New()
		q := w.typed(t, p, session)
		require.NoError(t, p.inbox.Change(q.Key, func(e *inbox.Entry) error { e.State = inbox.Accepted; return inbox.ErrDraft }))
		require.ErrorIs(t, hold(p, q.Key, session), typing.ErrNoPrompt)
		finish(t, w, p, q.Key)
	})
}
