package running

import (
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/internal/disk"
	engine "ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/port/news"
	"ccbot/port/talk"
)

var cameIn = time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)

// inboxFolder is an inbox in a folder of the test.
type inboxFolder struct {
	*inbox.Store
	dir     string
	updates int64
}

func newInbox(t *testing.T) *inboxFolder {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "inbox")
	store, err := inbox.OpenStore(dir, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return &inboxFolder{Store: store, dir: dir}
}

// prompts returns the prompts of a start of ccbot. The engine's folder is next to the inbox.
func (w *inboxFolder) prompts(t *testing.T) *prompts {
	t.Helper()
	store, err := engine.Open(filepath.Join(filepath.Dir(w.dir), "prompts"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return newPrompts(w.Store, store, slog.New(slog.DiscardHandler))
}

// prompt puts an entry into the inbox that is a prompt of a session.
func (w *inboxFolder) prompt(t *testing.T, of uuid.UUID, text string, state inbox.State) inbox.Entry {
	t.Helper()
	w.updates++
	e := inbox.Entry{Key: inbox.UpdateKey(w.updates), Received: cameIn, State: state, Session: of,
		Conversation: session.Conversation{ChatID: 7}, MessageID: 77, Text: text}
	_, err := w.Add(e)
	require.NoError(t, err)
	return e
}

func TestPromptsShowTheInbox(t *testing.T) {
	w := newInbox(t)
	p := w.prompts(t)
	r := uuid.New()
	held := w.prompt(t, r, "one", inbox.Held)
	done := w.prompt(t, r, "two", inbox.Typing)
	unproven := w.prompt(t, r, "three", inbox.Unproven)
	early := w.prompt(t, r, "not yet a prompt", inbox.Accepted)
	old := w.prompt(t, r, "four", inbox.Asked)
	require.NoError(t, p.FinishPrompt(done.Key))
	require.NoError(t, p.FinishPrompt(done.Key), "twice is fine")

	waiting, err := p.Waiting()
	require.NoError(t, err)
	assert.Equal(t, map[uuid.UUID][]string{r: {held.Key, unproven.Key}}, waiting)
	left, err := p.Left()
	require.NoError(t, err)
	assert.Equal(t, map[uuid.UUID][]string{r: {held.Key, unproven.Key, old.Key}}, left, "told before the session is forgotten")
	for _, key := range []string{done.Key, early.Key, old.Key} {
		_, err = p.Prompt(key)
		assert.ErrorIs(t, err, fs.ErrNotExist, "it is in no queue")
	}
	assert.ErrorIs(t, p.SavePrompt(typing.Prompt{Key: done.Key, State: typing.Held}), fs.ErrNotExist)

	q, err := p.Prompt(held.Key)
	require.NoError(t, err)
	assert.Equal(t, typing.Prompt{Key: held.Key, Number: q.Number, Session: r, Text: "one", State: typing.Held, Since: cameIn}, q)
	q.State, q.Reported = typing.Typing, []news.Wait{news.HeldDraft, news.Queued}
	q.Mark = &talk.Mark{At: cameIn, Path: "/t.jsonl", Offset: 5, Enters: 2, Retreat: true}
	require.NoError(t, p.SavePrompt(q))
	again, err := p.Prompt(held.Key)
	require.NoError(t, err)
	assert.Equal(t, q, again)
	q.State, q.Mark = typing.Held, nil
	require.NoError(t, w.Change(held.Key, func(e *inbox.Entry) error { e.ReportedEdit = "an edit"; return nil }))
	require.NoError(t, p.SavePrompt(q))
	e, err := w.Load(held.Key)
	require.NoError(t, err)
	assert.Equal(t, "an edit", e.ReportedEdit, "the chat's own fields stay")
	again, err = p.Prompt(held.Key)
	require.NoError(t, err)
	assert.Equal(t, q, again, "a mark goes when it is taken off")
}

func TestP4_PromptIsHeldBeforeTyping(t *testing.T) {
	for _, tt := range []struct {
		state inbox.State
		mark  *talk.Mark
		held  bool
	}{
		{inbox.Accepted, nil, true}, {inbox.Asked, nil, true}, {inbox.Held, nil, true},
		{inbox.Unproven, &talk.Mark{At: cameIn}, false}, {inbox.Typing, &talk.Mark{At: cameIn}, false},
	} {
		w := newInbox(t)
		p, to := w.prompts(t), uuid.New()
		e := w.prompt(t, uuid.New(), "text", tt.state)
		require.NoError(t, w.Change(e.Key, func(e *inbox.Entry) error {
			e.Typing, e.Stale, e.Reported = tt.mark, true, []news.Wait{news.Queued}
			return nil
		}))
		before, err := w.Load(e.Key)
		require.NoError(t, err)
		err = p.HoldPrompt(e.Key, to)
		after, loadErr := w.Load(e.Key)
		require.NoError(t, loadErr)
		if !tt.held {
			assert.ErrorIs(t, err, fs.ErrNotExist, tt.state)
			assert.Equal(t, before, after)
			continue
		}
		require.NoError(t, err, tt.state)
		require.NoError(t, p.HoldPrompt(e.Key, to), "once more is nothing")
		assert.Greater(t, after.Number, before.Number, "it is offered anew")
		before.State, before.Session, before.Stale, before.Reported, before.Number = inbox.Held, to, false, nil, after.Number
		assert.Equal(t, before, after)
	}
	assert.ErrorIs(t, newInbox(t).prompts(t).HoldPrompt("4711", uuid.New()), fs.ErrNotExist)
}

// An entry may be edited while the screen is read for its prompt.
func TestP4_EditedPromptIsNotTypedUnedited(t *testing.T) {
	for _, edit := range []func(*inbox.Entry){
		func(e *inbox.Entry) { e.Text = "new" }, func(e *inbox.Entry) { e.Class = talk.ClassBash }, func(*inbox.Entry) {},
	} {
		w := newInbox(t)
		p, to := w.prompts(t), uuid.New()
		e := w.prompt(t, uuid.New(), "old", inbox.Asked)
		q, err := p.NewPrompt(e.Key, to)
		require.NoError(t, err)
		require.NoError(t, w.Change(e.Key, func(now *inbox.Entry) error { edit(now); return nil }))
		before, err := w.Load(e.Key)
		require.NoError(t, err)
		q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
		err = p.SavePrompt(q)
		after, loadErr := w.Load(e.Key)
		require.NoError(t, loadErr)
		if before.Text == e.Text && before.Class == e.Class {
			require.NoError(t, err)
			assert.Equal(t, inbox.Typing, after.State)
			continue
		}
		require.Error(t, err)
		assert.Equal(t, before, after)
	}
}

// A prompt that waits for a person waits for no start.
func TestStopLogsMessagesForNextStart(t *testing.T) {
	w, said := newInbox(t), new(strings.Builder)
	for _, state := range []inbox.State{inbox.Accepted, inbox.Held, inbox.Typing, inbox.Unproven, inbox.Asked} {
		w.prompt(t, uuid.New(), "text", state)
	}
	(&system{inbox: w.Store, log: slog.New(slog.NewTextHandler(said, nil))}).stopped()
	assert.Contains(t, said.String(), "msg=stopped unfinished=4 unsent=0")
}

// TestP4_StartWaitsForUnreadEntry: a prompt that cannot be read now is settled by this start, not
// by the next one. A file that can never be read holds up a start for a minute.
func TestP4_StartWaitsForUnreadEntry(t *testing.T) {
	for name, healed := range map[string]time.Duration{"a fault of seven seconds": 7 * time.Second, "a bad block": time.Hour} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newInbox(t)
				w.prompt(t, uuid.New(), "one", inbox.Held)
				began := time.Now()
				defer disk.Fail(func(op, _ string) error {
					if op == "read" && time.Since(began) < healed {
						return syscall.EIO
					}
					return nil
				})()
				s := &system{prompts: w.prompts(t)}
				require.NoError(t, s.readable(t.Context()))
				waiting, err := s.prompts.Waiting()
				if healed < unreadTimeout {
					require.NoError(t, err)
					assert.Len(t, waiting, 1)
					return
				}
				require.ErrorIs(t, err, inbox.ErrUnread)
				assert.Equal(t, unreadTimeout, time.Since(began))
			})
		})
	}
}

// TestP4_UnreadPromptForgetsNoSession: its prompts could not be reported.
func TestP4_UnreadPromptForgetsNoSession(t *testing.T) {
	w := newInbox(t)
	r := session.Record{ID: uuid.New()}
	w.prompt(t, r.ID, "one", inbox.Held)
	defer disk.Fail(func(op, _ string) error {
		if op == "read" {
			return syscall.EMFILE
		}
		return nil
	})()
	s := &system{prompts: w.prompts(t)}
	require.ErrorIs(t, s.clear(t.Context(), r), syscall.EMFILE)
}
