package running

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/internal/disk"
	accepted "ccbot/internal/prompts"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// The chat takes a prompt back before the engine has it, and cannot write that: the engine does not
// type it, and reports that until a person is asked.
func TestP4_FaultWhileTakenBackBeforeHeld(t *testing.T) {
	w := newInbox(t)
	p, to := w.prompts(t), uuid.New()
	e := w.prompt(t, to, "text", inbox.Accepted)
	q, err := accept(p, e.Key, to)
	require.NoError(t, err)
	end := w.failOnce(t, "replace", "inbox")
	require.Error(t, w.Change(e.Key, func(e *inbox.Entry) error { e.State = inbox.Asked; return nil }))
	end()
	require.ErrorIs(t, p.SavePrompt(q), typing.ErrNoPrompt)
	require.NoError(t, p.held.Repeat())
	shown, err := w.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, "text", shown.Text)
	assert.Equal(t, inbox.Asked, shown.State)
}

// A session has refused an offer, and the disk did not take the entry as it was: the prompt can be
// offered again.
func TestP4_FaultAfterRefusedOffer(t *testing.T) {
	for _, state := range []inbox.State{inbox.Accepted, inbox.Asked} {
		w := newInbox(t)
		p, to := w.prompts(t), uuid.New()
		e := w.prompt(t, to, "text", state)
		var heal func()
		refused := p.offers(ended{queue{p, new(typing.Prompt), false}, func() { heal = w.failOnce(t, "replace", "inbox") }})
		require.ErrorIs(t, refused.Queue(t.Context(), to, e.Key), view.ErrNoAgent)
		heal()
		require.NoError(t, hold(p, e.Key, to))
		q, err := p.Prompt(e.Key)
		require.NoError(t, err)
		assert.Equal(t, "text", q.Text)
	}
}

// ended is a session that has ended.
type ended struct {
	queue
	then func()
}

func (q ended) Queue(context.Context, uuid.UUID, talk.Offer) error { q.then(); return view.ErrNoAgent }
func (q ended) Keep(context.Context, uuid.UUID, talk.Offer) error  { q.then(); return view.ErrNoAgent }

// A backup of the inbox has a prompt that is over for the engine, and forgotten: the start asks a
// person about it.
func TestP4_RestoredEntryOfForgottenPromptIsAskedAbout(t *testing.T) {
	for _, state := range []inbox.State{inbox.Held, inbox.Typing, inbox.Unproven} {
		w := newInbox(t)
		p, to := w.prompts(t), uuid.New()
		e := w.prompt(t, to, "text", state)
		require.NoError(t, p.agree())
		e, err := w.Load(e.Key)
		require.NoError(t, err)
		require.NoError(t, w.Save(e))
		require.NoError(t, p.held.Files.Finish(e.Key, accepted.Delivered))
		require.NoError(t, w.Finish(e.Key))
		require.NoError(t, p.held.Files.Settle(accepted.Number(e.Number), nil))
		_, err = w.Reopen(e.Key, state)
		require.NoError(t, err)
		require.NoError(t, w.Save(e), "as the backup has it")
		require.NoError(t, os.Remove(filepath.Join(filepath.Dir(w.dir), "prompts", e.Key+".delivered")), "two days later")
		p = w.restart(t)
		now, err := p.inbox.Load(e.Key)
		require.NoError(t, err)
		assert.Equal(t, inbox.Asked, now.State)
		_, err = p.Prompt(e.Key)
		require.ErrorIs(t, err, typing.ErrNoPrompt)
	}
}

// An offer has failed on a full disk after the engine has the prompt, and the chat could neither
// take it back nor write that. A start does not hand on what was typed.
func TestP4_StartAfterPromptWasNotTakenBack(t *testing.T) {
	w := newInbox(t)
	p, to := w.prompts(t), uuid.New()
	e := w.prompt(t, to, "text", inbox.Accepted)
	var heal func()
	full := p.offers(failing{queue{p, new(typing.Prompt), false}, func() {
		heal = disk.Fail(func(op, _ string) error { return syscall.ENOSPC })
	}})
	require.Error(t, full.Queue(t.Context(), to, e.Key))
	heal()
	require.NoError(t, w.Change(e.Key, func(e *inbox.Entry) error { e.Tries = 0; return nil }), "as the intake does")
	q, err := p.Prompt(e.Key)
	require.NoError(t, err)
	q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
	require.NoError(t, p.SavePrompt(q))
	p = w.restart(t)
	now, err := p.inbox.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, inbox.Typing, now.State)
	again, err := p.Prompt(e.Key)
	require.NoError(t, err)
	assert.Equal(t, q, again)
}

// failing holds a prompt, and fails then.
type failing struct {
	queue
	then func()
}

func (q failing) Queue(ctx context.Context, session uuid.UUID, o talk.Offer) error {
	err := q.queue.Queue(ctx, session, o)
	q.then()
	return cmp.Or(err, error(syscall.ENOSPC))
}
