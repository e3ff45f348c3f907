package bot_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/bot/sessions"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// TestP7_CLIPromptIsTypedLikeChats: the same text, the same class, the same queue.
func TestP7_CLIPromptIsTypedLikeChats(t *testing.T) {
	for _, text := range []string{"fix it", "a\r\nb\x1b[31m", "//clear", "!ls", "! two\nlines", `ends with \`} {
		w := chattest.NewWorld(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		reported := w.MustHear(t, text)
		want, err := w.Inbox.Load(reported)
		require.NoError(t, err)

		key := talk.PromptKey(uuid.New())
		cli := prompt.CLI{Prompts: w.Prompts, Add: w.Inbox.Add}
		shown, _ := w.Book.Records.Get(r.ID)
		require.NoError(t, cli.Send(t.Context(), key, shown, text), "%q", text)
		got, err := w.Inbox.Load(key)
		require.NoError(t, err)
		assert.Equal(t, []any{want.State, want.Session, want.Conversation, want.Text, want.Class},
			[]any{got.State, got.Session, got.Conversation, got.Text, got.Class}, "%q", text)
		queued := []string{"queue " + reported + " for " + r.ID.String(), "queue " + key + " for " + r.ID.String()}
		assert.Equal(t, queued, w.Lifecycle.Done())
		require.NoError(t, cli.Send(t.Context(), key, shown, text), "the same once more")
		assert.Equal(t, queued, w.Lifecycle.Done(), "it is sent once")
	}
}

// TestP4_CLIPromptWithoutSessionIsRefused, and nothing of it stays.
func TestP4_CLIPromptWithoutSessionIsRefused(t *testing.T) {
	w := chattest.NewWorld(t)
	over, live := w.Session(t, "over", session.Archived), w.Session(t, "live", session.Running)
	cli := prompt.CLI{Prompts: w.Prompts, Add: w.Inbox.Add}
	send := func(r session.Record, text string) error {
		shown, _ := w.Book.Records.Get(r.ID)
		return cli.Send(t.Context(), talk.PromptKey(uuid.New()), shown, text)
	}
	require.ErrorIs(t, send(live, " \n\x1b"), prompt.ErrBlank)
	assert.True(t, refusal.Is(send(over, "hi"), refusal.WrongState))
	w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return view.ErrNoAgent }
	assert.True(t, refusal.Is(send(live, "hi"), refusal.WrongState), "it ends at this moment")
	entries, err := w.Inbox.List()
	require.NoError(t, err)
	assert.Empty(t, entries)

	disk := errors.New("disk")
	cli.Add = func(inbox.Entry) (bool, error) { return false, disk }
	require.ErrorIs(t, send(live, "hi"), disk)
}

// TestCLISessionIsReportedInChat like one started there; a refusal is only the caller's.
func TestCLISessionIsReportedInChat(t *testing.T) {
	w := chattest.NewWorld(t)
	cli := sessions.CLI{Sessions: w.Resumer}
	dir := t.TempDir()
	r, err := cli.Begin(t.Context(), chattest.AtAlice, port.Start{Name: "api", Dir: dir, Owner: chattest.Alice, Origin: "p-" + uuid.NewString()})
	require.NoError(t, err)
	now := w.Chats.Current(chattest.AtAlice)
	assert.Equal(t, r.ID, now)
	w.Work(t)
	assert.Equal(t, w.Word(i18n.Started, i18n.Args{"Name": "api", "Dir": w.Short(dir)}), w.Telegram.Last(t).Text.Text)

	reported := len(w.Telegram.Texts())
	w.Lifecycle.OnStart = func(port.Start) (session.Record, error) {
		return session.Record{}, &lifecycle.DirError{Dir: dir, Why: lifecycle.DirMissing}
	}
	_, err = cli.Begin(t.Context(), chattest.AtAlice, port.Start{Name: "web", Dir: dir, Owner: chattest.Alice})
	assert.True(t, refusal.Is(err, refusal.DirMissing))
	w.Work(t)
	assert.Len(t, w.Telegram.Texts(), reported)
}

// TestP3_CLIEndsConfirmedLaunch, and no later one.
func TestP3_CLIEndsConfirmedLaunch(t *testing.T) {
	w := chattest.NewWorld(t)
	live, over := w.Session(t, "api", session.Running), w.Session(t, "over", session.Archived)
	tests := []struct {
		name string
		end  sessions.End
		code refusal.Code
	}{
		{"forgotten", sessions.End{Session: uuid.New(), Final: port.StateArchived}, refusal.NotFound},
		{"over", sessions.End{Session: over.ID, Launch: over.StartedAt, Final: port.StateArchived}, refusal.WrongState},
		{"started anew since", sessions.End{Session: live.ID, Launch: live.StartedAt.Add(-time.Hour), Final: port.StateArchived}, refusal.WrongState},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.end.Make(t.Context(), w.Bot.Records, w.Hosted)
			assert.True(t, refusal.Is(err, tt.code), "%v", err)
			assert.Empty(t, w.Lifecycle.Done())
		})
	}
	r, err := sessions.End{Session: live.ID, Launch: live.StartedAt, Final: port.StateCompleted}.Make(t.Context(), w.Bot.Records, w.Hosted)
	require.NoError(t, err)
	assert.Equal(t, live.ID, r.ID)
	assert.Len(t, w.Lifecycle.Done(), 1)
}

// TestP4_FailedCLIPromptIsNotTyped: the caller, who got an error, sends it again.
func TestP4_FailedCLIPromptIsNotTyped(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Running)
	cli := prompt.CLI{Prompts: w.Prompts, Add: w.Inbox.Add}
	shown, _ := w.Book.Records.Get(r.ID)
	w.Lifecycle.OnQueue = func(uuid.UUID, string) error { return errors.New("the disk is full") }
	key := talk.PromptKey(uuid.New())
	require.ErrorContains(t, cli.Send(t.Context(), key, shown, "hi"), "the disk is full")
	assert.Empty(t, w.EntryState(key))
}
