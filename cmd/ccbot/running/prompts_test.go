package running

import (
	"cmp"
	"context"
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
	"ccbot/bot/prompt"
	"ccbot/cmd/ccbot/engine"
	"ccbot/internal/disk"
	accepted "ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
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
	p, err := connected(w.Store, filepath.Dir(w.dir))
	require.NoError(t, err)
	return p
}

// connected returns the chat and the engine of one machine, without a bot.
func connected(in *inbox.Store, dir string) (*prompts, error) {
	held, err := engine.OpenPrompts(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, err
	}
	p := &prompts{inbox: in, held: held, log: slog.New(slog.DiscardHandler)}
	q := queue{p, new(typing.Prompt), false}
	held.Report = func(n news.Progress) error {
		_, err := p.offers(q).Progress(context.Background(), n)
		return err
	}
	in.TakeBack = takeBackFrom(context.Background(), q)
	return p, nil
}

// Prompt, Accept, SavePrompt and FinishPrompt are the engine's.
func (p *prompts) Prompt(key string) (typing.Prompt, error) { return p.held.Prompt(key) }
func (p *prompts) Accept(o talk.Offer, session uuid.UUID) (typing.Prompt, error) {
	return p.held.Accept(o, session)
}
func (p *prompts) SavePrompt(q typing.Prompt) error { return p.held.SavePrompt(q) }
func (p *prompts) FinishPrompt(key string) error    { return p.held.FinishPrompt(key) }

// queue is the engine's side of an offer. It holds the prompt, or only accepts it.
type queue struct {
	*prompts
	accepted *typing.Prompt
	only     bool
}

func (q queue) Queue(_ context.Context, session uuid.UUID, o talk.Offer) error {
	p, err := q.Accept(o, session)
	*q.accepted = p
	if err != nil || q.only {
		return err
	}
	return q.SavePrompt(p)
}

func (q queue) TakeBack(_ context.Context, _ uuid.UUID, key string, number int64, held bool) error {
	return q.held.TakeBack(key, number, held)
}

func (q queue) Keep(ctx context.Context, session uuid.UUID, o talk.Offer) error {
	return q.Queue(ctx, session, o)
}

// hold offers an entry to a session, which holds it.
func hold(p *prompts, key string, session uuid.UUID) error {
	return p.offers(queue{p, new(typing.Prompt), false}).Queue(context.Background(), session, key)
}

// accept offers an entry to a session, which has not written it yet.
func accept(p *prompts, key string, session uuid.UUID) (q typing.Prompt, err error) {
	err = p.offers(queue{p, &q, true}).Queue(context.Background(), session, key)
	return q, err
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
	require.NoError(t, p.agree())
	require.NoError(t, p.FinishPrompt(done.Key))
	require.NoError(t, p.FinishPrompt(done.Key), "twice is fine")

	waiting, err := p.waiting()
	require.NoError(t, err)
	assert.Equal(t, map[uuid.UUID][]string{r: {held.Key, unproven.Key}}, waiting)
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
		err = hold(p, e.Key, to)
		after, loadErr := w.Load(e.Key)
		require.NoError(t, loadErr)
		if !tt.held {
			assert.ErrorIs(t, err, inbox.ErrNoEntry, tt.state)
			assert.Equal(t, before, after)
			continue
		}
		require.NoError(t, err, tt.state)
		require.NoError(t, hold(p, e.Key, to), "once more is nothing")
		assert.Positive(t, after.Number)
		assert.Equal(t, tt.state == inbox.Held, before.Number == after.Number, "an offer is repeated until the engine gives the prompt back")
		if before.State != inbox.Held {
			before.Stale, before.Reported = false, nil
		}
		before.State, before.Session, before.Number, after.Reported = inbox.Held, to, after.Number, before.Reported
		assert.Equal(t, before, after)
	}
	assert.ErrorIs(t, hold(newInbox(t).prompts(t), "4711", uuid.New()), inbox.ErrNoEntry)
}

// The chat may take a prompt back while the screen is read for it, before the engine has it on
// disk.
func TestP4_PromptTakenBackIsNotTyped(t *testing.T) {
	for name, back := range map[string]func(w *inboxFolder, key string) error{
		"asked": func(w *inboxFolder, key string) error {
			return w.Change(key, func(e *inbox.Entry) error { e.State = inbox.Asked; return nil })
		},
		"finished": func(w *inboxFolder, key string) error { return w.Finish(key) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newInbox(t)
			p, to := w.prompts(t), uuid.New()
			e := w.prompt(t, uuid.New(), "text", inbox.Asked)
			q, err := accept(p, e.Key, to)
			require.NoError(t, err)
			require.NoError(t, back(w, e.Key))
			q.State, q.Mark = typing.Typing, &talk.Mark{At: cameIn}
			require.ErrorIs(t, p.SavePrompt(q), fs.ErrNotExist)
			_, err = p.Prompt(e.Key)
			require.ErrorIs(t, err, fs.ErrNotExist)
		})
	}
}

// What is typed already, the chat neither asks about nor finishes as waiting.
func TestP4_TypedPromptIsNotTakenBack(t *testing.T) {
	w := newInbox(t)
	p := w.prompts(t)
	e := w.prompt(t, uuid.New(), "text", inbox.Asked)
	q, err := accept(p, e.Key, uuid.New())
	require.NoError(t, err)
	now, err := p.held.Files.Prompt(e.Key)
	require.ErrorIs(t, err, accepted.ErrNoPrompt)
	now.Key, now.Number, now.Session, now.State = q.Key, accepted.Number(q.Number), q.Session, accepted.Typing
	require.NoError(t, p.held.Files.Save(now), "the chat does not see it yet")
	ask := func(e *inbox.Entry) error { e.State = inbox.Asked; return nil }
	require.ErrorIs(t, w.Change(e.Key, ask), fs.ErrNotExist)
	require.ErrorIs(t, w.FinishIn(e.Key, inbox.Held), fs.ErrNotExist)
	left, err := w.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, inbox.Held, left.State)
}

// An offer that a session refuses leaves the entry as it was, and the engine without the prompt.
func TestP4_RefusedOfferChangesNothing(t *testing.T) {
	for _, state := range []inbox.State{inbox.Accepted, inbox.Asked} {
		w := newInbox(t)
		p := w.prompts(t)
		before := w.prompt(t, uuid.New(), "text", state)
		refused := p.offers(refusing{queue{p, new(typing.Prompt), false}})
		require.ErrorIs(t, refused.Queue(t.Context(), uuid.New(), before.Key), view.ErrNoAgent)
		after, err := w.Load(before.Key)
		require.NoError(t, err)
		before.Version, before.Number = after.Version, after.Number
		assert.Equal(t, before, after)
		_, err = p.Prompt(before.Key)
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.NoError(t, hold(p, before.Key, uuid.New()), "it may be offered again")
	}
}

// refusing holds a prompt, and fails then.
type refusing struct{ queue }

func (q refusing) Queue(ctx context.Context, session uuid.UUID, o talk.Offer) error {
	return cmp.Or(q.queue.Queue(ctx, session, o), view.ErrNoAgent)
}

// A prompt that waits for a person waits for no start.
func TestStopLogsMessagesForNextStart(t *testing.T) {
	w, said := newInbox(t), new(strings.Builder)
	for _, state := range []inbox.State{inbox.Accepted, inbox.Held, inbox.Typing, inbox.Unproven, inbox.Asked} {
		w.prompt(t, uuid.New(), "text", state)
	}
	(&system{inbox: w.Store, Engine: &engine.Engine{Settings: engine.Settings{Log: slog.New(slog.NewTextHandler(said, nil))}}}).stopped()
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
				p := w.prompts(t)
				require.NoError(t, p.readable(t.Context()))
				waiting, err := p.inbox.List()
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
	chat := prompt.Prompts{Deps: prompt.Deps{Entries: w.prompts(t).inbox}}
	require.ErrorIs(t, prompt.Forget(t.Context(), &chat, r.ID), syscall.EMFILE)
}
