package running

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	accepted "ccbot/internal/prompts"
	"ccbot/internal/spool"
	"ccbot/lifecycle/typing"
	"ccbot/port/talk"
)

// restart opens both stores again, as a start does after a kill.
func (w *inboxFolder) restart(t *testing.T) *prompts {
	t.Helper()
	store, err := inbox.OpenStore(w.dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	w.Store = store
	p := w.prompts(t)
	require.NoError(t, p.agree())
	return p
}

// typed returns a prompt that is being typed.
func (w *inboxFolder) typed(t *testing.T, p *prompts, session uuid.UUID) typing.Prompt {
	t.Helper()
	e := w.prompt(t, session, "fix it", inbox.Accepted)
	q, err := accept(p, e.Key, session)
	require.NoError(t, err)
	q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
	require.NoError(t, p.SavePrompt(q))
	return q
}

// errKilled is what a failpoint panics with.
var errKilled = errors.New("killed")

// killAt runs a step, and ends it at a failpoint.
func killAt(t *testing.T, p *prompts, failpoint string, step func() error) {
	t.Helper()
	p.held.Failpoint = func(name string) {
		if name == failpoint {
			panic(errKilled)
		}
	}
	assert.PanicsWithValue(t, errKilled, func() { _ = step() }, "%s is not reached", failpoint)
}

// A kill between the two stores leaves a prompt that one of them owns.
func TestP4_KillBetweenStores(t *testing.T) {
	session := uuid.New()
	held := func(t *testing.T, p *prompts, key string) typing.Prompt {
		t.Helper()
		require.NoError(t, hold(p, key, session))
		q, err := p.Prompt(key)
		require.NoError(t, err)
		return q
	}
	t.Run("offered, and not held", func(t *testing.T) {
		w := newInbox(t)
		e := w.prompt(t, session, "fix it", inbox.Accepted)
		p := w.prompts(t)
		killAt(t, p, "prompt-offered", func() error { return hold(p, e.Key, session) })
		p = w.restart(t)
		q, err := p.Prompt(e.Key)
		require.NoError(t, err)
		assert.Equal(t, typing.Held, q.State)
		require.NoError(t, hold(p, e.Key, session), "once more is nothing")
	})
	t.Run("finished by the engine, and not by the chat", func(t *testing.T) {
		w := newInbox(t)
		e := w.prompt(t, session, "fix it", inbox.Accepted)
		p := w.prompts(t)
		q := held(t, p, e.Key)
		q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
		require.NoError(t, p.SavePrompt(q))
		killAt(t, p, "prompt-ended", func() error { return p.FinishPrompt(e.Key) })
		p = w.restart(t)
		_, err := p.inbox.Load(e.Key)
		require.ErrorIs(t, err, inbox.ErrNoEntry, "it is not typed again")
		o, err := p.outcomeOf(e.Key)
		require.NoError(t, err)
		assert.True(t, o.Finished)
		assert.Equal(t, q.Mark, o.Mark)
	})
	t.Run("taken back by the chat, and not asked about", func(t *testing.T) {
		w := newInbox(t)
		e := w.prompt(t, session, "fix it", inbox.Accepted)
		p := w.prompts(t)
		held(t, p, e.Key)
		killAt(t, p, "prompt-taken-back", func() error {
			return p.inbox.Change(e.Key, func(e *inbox.Entry) error { e.State = inbox.Asked; return nil })
		})
		p = w.restart(t)
		_, err := p.Prompt(e.Key)
		require.ErrorIs(t, err, fs.ErrNotExist, "it is not typed while a person is asked")
		now, err := p.inbox.Load(e.Key)
		require.NoError(t, err)
		assert.Equal(t, inbox.Asked, now.State)
		q := held(t, p, e.Key)
		assert.Greater(t, q.Number, now.Number, "a person has sent it again")
	})
	t.Run("being typed", func(t *testing.T) {
		w := newInbox(t)
		e := w.prompt(t, session, "fix it", inbox.Accepted)
		p := w.prompts(t)
		q, err := accept(p, e.Key, session)
		require.NoError(t, err)
		q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
		require.NoError(t, p.SavePrompt(q))
		p = w.restart(t)
		now, err := p.Prompt(e.Key)
		require.NoError(t, err)
		assert.Equal(t, q, now)
		shown, err := p.inbox.Load(e.Key)
		require.NoError(t, err)
		assert.Equal(t, inbox.Typing, shown.State)
		require.ErrorIs(t, hold(p, e.Key, session), inbox.ErrNoEntry)
	})
	t.Run("a damaged file of the engine", func(t *testing.T) {
		w := newInbox(t)
		e := w.prompt(t, session, "fix it", inbox.Accepted)
		held(t, w.prompts(t), e.Key)
		require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.dir), "prompts", e.Key+".json"), []byte("{"), 0o600))
		q, err := w.restart(t).Prompt(e.Key)
		require.NoError(t, err)
		assert.Equal(t, typing.Unproven, q.State, "it may have been typed")
	})
}

// A damaged file of a prompt that the chat has finished is put aside once.
func TestP8_DamagedPromptWithoutEntry(t *testing.T) {
	w := newInbox(t)
	w.prompts(t)
	path := filepath.Join(filepath.Dir(w.dir), "prompts", "4711.json")
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	for range 2 {
		w.restart(t)
		assert.NoFileExists(t, path)
		names, err := spool.Unreported(filepath.Join(filepath.Dir(w.dir), "quarantine"))
		require.NoError(t, err)
		assert.Equal(t, []string{"prompts-4711.json"}, names)
	}
}

// The engine forgets prompts only when the chat has finished all earlier ones.
func TestP4_SettledPromptsAreForgotten(t *testing.T) {
	w := newInbox(t)
	p, session := w.prompts(t), uuid.New()
	first := w.prompt(t, session, "first", inbox.Accepted)
	require.NoError(t, hold(p, first.Key, session))
	for range 3 {
		e := w.prompt(t, session, "later", inbox.Accepted)
		require.NoError(t, hold(p, e.Key, session))
		require.NoError(t, p.FinishPrompt(e.Key))
	}
	q, err := p.Prompt(first.Key)
	require.NoError(t, err)
	p = w.restart(t)
	_, _, err = p.held.Files.Accept(accepted.Prompt{Key: first.Key, Number: accepted.Number(q.Number), Session: session})
	require.NoError(t, err, "it is not over")
	require.NoError(t, p.FinishPrompt(first.Key))
	p = w.restart(t)
	_, _, err = p.held.Files.Accept(accepted.Prompt{Key: first.Key, Number: accepted.Number(q.Number), Session: session})
	require.ErrorIs(t, err, accepted.ErrNoPrompt)
}

// A number is not used again if the chat has lost its file of numbers, and the clock is wrong.
func TestP4_LostNumbersAreNotUsedAgain(t *testing.T) {
	w := newInbox(t)
	p, session := w.prompts(t), uuid.New()
	w.NumberAbove(1 << 60)
	first := w.prompt(t, session, "first", inbox.Accepted)
	require.NoError(t, hold(p, first.Key, session))
	require.NoError(t, p.FinishPrompt(first.Key))
	require.NoError(t, os.Remove(filepath.Join(w.dir, "numbers")))
	p = w.restart(t)
	next := w.prompt(t, session, "next", inbox.Accepted)
	require.NoError(t, hold(p, next.Key, session))
	q, err := p.Prompt(next.Key)
	require.NoError(t, err)
	assert.Greater(t, q.Number, int64(1<<60))
}

// A person has discarded a prompt that a stop has brought back: it was taken out.
func TestP4_DiscardedPromptHasNoOutcomeOfEarlierTyping(t *testing.T) {
	for name, finish := range map[string]func(p *prompts, key string) error{
		"it was delivered": func(p *prompts, key string) error {
			if err := p.FinishPrompt(key); err != nil {
				return err
			}
			_, err := p.inbox.Reopen(key, inbox.Asked)
			return err
		},
		"it was being typed": func(p *prompts, key string) error {
			return p.inbox.Change(key, func(e *inbox.Entry) error { e.State, e.Typing = inbox.Asked, nil; return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newInbox(t)
			p := w.prompts(t)
			q := w.typed(t, p, uuid.New())
			require.NoError(t, finish(p, q.Key))
			o, err := p.outcomeOf(q.Key)
			require.NoError(t, err)
			assert.True(t, o.Undecided)
			assert.Nil(t, o.Mark)
			require.NoError(t, p.inbox.FinishIn(q.Key, inbox.Asked))
			o, err = p.outcomeOf(q.Key)
			require.NoError(t, err)
			assert.True(t, o.Finished)
			assert.Nil(t, o.Mark)
		})
	}
}
