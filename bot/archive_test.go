package bot_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// talks writes a session's transcript in Claude Code's own folder.
func talks(t *testing.T, w *chattest.World, r session.Record, lines ...string) {
	t.Helper()
	folder := filepath.Join(w.Dir, "projects")
	require.NoError(t, os.MkdirAll(folder, 0o700))
	path := filepath.Join(folder, r.AgentSessionID.String()+".jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	w.Records.Change(r.ID, func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: path}} })
}

// asked is a line of a transcript with a prompt, and answered one with an answer.
func asked(n int, text string) string {
	return fmt.Sprintf(`{"type":"user","uuid":"u%d","timestamp":%q,"message":{"content":%q}}`, n, chattest.Started.Add(time.Duration(n)*time.Minute).Format(time.RFC3339), text)
}

func answered(n int, text string) string {
	return fmt.Sprintf(`{"type":"assistant","timestamp":%q,"message":{"content":[{"type":"text","text":%q}]}}`, chattest.Started.Add(time.Duration(n)*time.Minute).Format(time.RFC3339), text)
}

// endedAgo is a session that ended some time ago.
func endedAgo(t *testing.T, w *chattest.World, name string, state session.State, ago time.Duration) session.Record {
	t.Helper()
	r := w.Session(t, name, state)
	w.Records.Change(r.ID, func(r *session.Record) { r.EndedAt, r.StartedAt = w.Now().Add(-ago), w.Now().Add(-ago-time.Hour) })
	return w.Record(t, r.ID)
}

func TestArchive(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "open", session.Running)
	api := endedAgo(t, w, "api", session.Archived, 2*time.Hour)
	talks(t, w, api, asked(1, "first"), answered(2, "an answer"), asked(3, "fix the\ntest"), answered(4, "done"))
	endedAgo(t, w, "/kill", session.Completed, 100*time.Hour)
	endedAgo(t, w, "🚀", session.Lost, 80*time.Hour)
	w.MustHear(t, "/archive")
	m := w.Telegram.Last(t)
	assert.Equal(t, chattest.Lines("3 sessions are in the archive, the latest first.", "",
		"1. api · archived, 2 h ago", "~/api", "fix the test", "",
		"2. 🚀 · lost, 3 d ago", "~/🚀", "",
		"3. /kill · done, 4 d ago", "~/kill"), m.Text.Text)
	assert.Equal(t, []string{"1 api", "2 🚀", "3 /kill", "3 days", "✓ All", "Lost", "‹ Back"}, chattest.Words(m))
	for _, e := range m.Text.Entities {
		assert.Contains(t, []string{"bold", "code"}, string(e.Type))
	}

	lost := tapped(t, w, m, "Lost")
	assert.Equal(t, "1 session is in the archive.\n\n1. 🚀 · lost, 3 d ago\n~/🚀", lost.Text.Text)
	recent := tapped(t, w, lost, "3 days")
	assert.Equal(t, []string{"1 api", "✓ 3 days", "All", "Lost", "‹ Back"}, chattest.Words(recent))

	w.Restart(t)
	one := tapped(t, w, recent, "1 api")
	assert.Equal(t, "api: archived, 2 h ago\n~/api\n\nfix the test", one.Text.Text)
	assert.Equal(t, []string{"Resume", "Inspect", "Delete record", "‹ Back"}, chattest.Words(one))
	assert.Equal(t, api.ID, one.Session)
	all := tapped(t, w, one, "Inspect")
	w.MustHear(t, "/status api")
	assert.Equal(t, w.Telegram.Last(t).Text.Text, all.Text.Text, "what /status says")
	assert.Equal(t, []string{"Resume", "Rename", "Delete record", "‹ Back"}, chattest.Words(all))
	one = tapped(t, w, all, "‹ Back")

	require.NoError(t, w.TapShown(t, chattest.Alice, one, i18n.ButtonForget))
	question := w.Telegram.Last(t)
	assert.Contains(t, question.Text.Text, w.Named(i18n.ForgetConfirm, "api"))
	require.NoError(t, w.TapShown(t, chattest.Bob, question, i18n.ButtonForget))
	_, there := w.Records.Get(api.ID)
	assert.True(t, there, "another person was not asked")

	assert.Equal(t, recent.Text, tapped(t, w, one, "‹ Back").Text)
	one = tapped(t, w, recent, "1 api")
	require.NoError(t, w.TapShown(t, chattest.Alice, one, i18n.ButtonResume))
	assert.Equal(t, chattest.Restores(api), w.Restored())
}

// A list of last week leads to what the sessions are now, whoever taps.
func TestArchiveOfLastWeek(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Session(t, "open", session.Running)
	back, gone := endedAgo(t, w, "back", session.Archived, time.Hour), endedAgo(t, w, "gone", session.Archived, 2*time.Hour)
	w.MustHear(t, "/archive")
	m := w.Telegram.Last(t)
	w.Records.Change(back.ID, func(r *session.Record) { r.State = session.Running })
	w.Records.Forget(gone.ID)
	assert.Equal(t, "back: running\n\nThere are no sessions here. A session comes here when it ends.", tapped(t, w, m, "1 back").Text.Text)
	w.MustHear(t, "/archive")
	w.Records.Change(back.ID, func(r *session.Record) { r.State = session.Archived })
	m = tapped(t, w, w.Telegram.Last(t), "✓ All")
	one := tapped(t, w, m, "1 back")
	w.Records.Change(back.ID, func(r *session.Record) { r.State = session.Running })
	require.NoError(t, w.TapShown(t, chattest.Alice, one, i18n.ButtonForget))
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "back: running", "what is open is not deleted")
	assert.Empty(t, w.Restored())
}

func TestTwoPeopleInOneArchive(t *testing.T) {
	w := chattest.NewWorld(t)
	for n := range 20 {
		endedAgo(t, w, "s"+strconv.Itoa(n), session.Archived, time.Duration(n)*time.Hour)
	}
	group := outbox.Conversation{ChatID: chattest.Ours}
	open := func(from int64) outbox.Message {
		require.NoError(t, w.Chat.Pages.Open(t.Context(), asking(group, from), "archive"))
		w.Telegram.Deliver(t.Context())
		return w.Telegram.Last(t)
	}
	alice, bob := open(chattest.Alice), open(chattest.Bob)
	turned := tapped(t, w, alice, "→")
	assert.Contains(t, turned.Text.Text, "7–12 of 20")
	require.NoError(t, w.TapShown(t, chattest.Bob, turned, "→"))
	w.Telegram.Deliver(t.Context())
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, "13–18 of 20", "both leaf in it")
	assert.Contains(t, tapped(t, w, bob, "→").Text.Text, "7–12 of 20", "each message is at its own place")
}

func asking(to outbox.Conversation, from int64) chat.Incoming {
	return chat.Incoming{Message: conversation.Message{To: to}, From: from}
}

// countsAsked records the sessions that are read.
type countsAsked struct {
	machine.Transcripts
	of []uuid.UUID
}

func (c *countsAsked) LastQuestions(ctx context.Context, sessions []uuid.UUID) ([]string, error) {
	c.of = append(c.of, sessions...)
	return c.Transcripts.LastQuestions(ctx, sessions)
}

// The page of the largest archive reads only the sessions that it shows.
func TestLargeArchiveReadsOnlyShownSessions(t *testing.T) {
	w := chattest.NewWorld(t)
	var ids []uuid.UUID
	for n := range 3000 {
		r := session.Record{ID: uuid.New(), Name: "s" + strconv.Itoa(n), Dir: w.AgentsHome, State: session.Archived, LastEnd: session.LastEnd{EndedAt: w.Now().Add(-time.Duration(n) * time.Minute)}}
		w.Records.Put(r)
		ids = append(ids, r.ID)
	}
	counts := &countsAsked{Transcripts: w.Deps.Transcripts}
	w.Deps.Transcripts = counts
	w.Again()
	w.MustHear(t, "/archive")
	m := w.Telegram.Last(t)
	assert.Contains(t, m.Text.Text, "1–6 of 3,000")
	assert.Equal(t, ids[:6], counts.of, "the latest are the first")
	counts.of = nil
	assert.Contains(t, tapped(t, w, m, "→").Text.Text, "7–12 of 3,000")
	assert.Equal(t, ids[6:12], counts.of)
}
