package bot_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/fleet/wire"
	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
)

// A part costs one write, of its message's number and the position in the transcript: two flushes.
func TestP5_PartAndPositionAreOneWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := chattest.NewWorld(t)
		text := chattest.Long(1500)
		c := chattest.TranscriptOf(t, "t.jsonl")
		r := w.NewCurrentSession(t, "api", session.Running, c)
		require.NoError(t, w.Chats.NoteOpened(r.Conversation, r.ID))
		api := &slowAPI{}
		through(t, w, api)
		time.Sleep(time.Minute)
		flushes := 0
		end := disk.Fail(func(op, _ string) error {
			if op == "sync" || op == "replace" {
				flushes++
			}
			return nil
		})
		chattest.Grow(t, c, chattest.Says(text))
		time.Sleep(time.Minute)
		synctest.Wait()
		end()
		parts := len(api.texts)
		require.Greater(t, parts, 2)
		assert.Equal(t, strings.Fields(text), strings.Fields(strings.Join(api.texts, " ")))
		assert.Equal(t, 2*parts, flushes, "of %d parts", parts)
		assert.Equal(t, w.Cursors(r), w.Chats.Cursors().All()[r.ID])
	})
}

// The chat and the record agree on the position at each part, at each end of a transcript, and at
// the end of the session: then the chat keeps none.
func TestP5_EndedSessionLeavesNoCursor(t *testing.T) {
	w := chattest.NewWorld(t)
	two := chattest.TranscriptOf(t, "two.jsonl", chattest.Says("three"))
	c := chattest.TranscriptOf(t, "one.jsonl", chattest.Says("one"), chattest.Says("two"))
	r := w.NewCurrentSession(t, "api", session.Completed, c, two)
	w.Lifecycle.OnAdvance = func(id uuid.UUID, at talk.Cursor) error {
		for _, was := range w.Chats.Cursors().All()[id] {
			assert.True(t, was.Path != at.Path || was.Precedes(at), "the engine knows a position first: %v, %v", was, at)
		}
		return nil
	}
	w.ReadNow(t, r)
	assert.Equal(t, "two.jsonl", w.Cursors(r)[0].Path[strings.LastIndexByte(w.Cursors(r)[0].Path, '/')+1:])
	assert.Empty(t, slices.Collect(maps.Keys(w.Chats.Cursors().All())))
}

// shownBeyondRecord is a session whose record has the beginning of its transcript. The chat has the
// first answer, and the second one follows.
func shownBeyondRecord(t *testing.T) (w *chattest.World, r session.Record, shown talk.Cursor) {
	t.Helper()
	w = chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"))
	r = w.NewCurrentSession(t, "api", session.Running, c)
	info, err := os.Stat(c.Path)
	require.NoError(t, err)
	shown = talk.Cursor{Path: c.Path, Offset: info.Size()}
	require.NoError(t, w.Chats.Cursors().Note(r.Conversation, r.ID, shown))
	chattest.Grow(t, c, chattest.Says("two"))
	return w, r, shown
}

// A machine that has died has the position of its record's last save. The chat repeats nothing, and
// gives the machine its own position.
func TestP5_ChatKnowsLaterPositionThanMachine(t *testing.T) {
	w, r, shown := shownBeyondRecord(t)
	w.ReadAll(t)
	assert.Equal(t, []string{"two"}, w.Telegram.AnswersSent())
	assert.Greater(t, w.Cursors(r)[0].Offset, shown.Offset)
}

// A machine that is busy may show its record as it was before it got the chat's position.
func TestP5_LateRecordRepeatsNothing(t *testing.T) {
	w, _, _ := shownBeyondRecord(t)
	w.Lifecycle.Late = true
	w.ReadAll(t)
	assert.Equal(t, []string{"two"}, w.Telegram.AnswersSent())
}

// A session that is resumed while its last words are shown keeps the chat's position: its record is
// written with its next save.
func TestP5_ResumedSessionKeepsCursor(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says(chattest.Long(1500)))
	r := w.NewCurrentSession(t, "api", session.Completed, c)
	w.Lifecycle.OnAdvance = func(id uuid.UUID, _ talk.Cursor) error {
		w.Records.Change(id, func(r *session.Record) { r.State = session.Running })
		w.Answers.Follow(port.Session{ID: id})
		return nil
	}
	w.ReadAll(t)
	assert.Equal(t, w.Cursors(r), w.Chats.Cursors().All()[r.ID])
}

// A start takes the later one of the two positions, so the chat has the earlier position in a
// replaced transcript first.
func TestP5_PositionInReplacedTranscript(t *testing.T) {
	w := chattest.NewWorld(t)
	c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("another"))
	c.Offset = 5000
	r := w.NewCurrentSession(t, "api", session.Running, c)
	require.NoError(t, w.Chats.Cursors().Note(r.Conversation, r.ID, c))
	w.Lifecycle.OnAdvance = func(id uuid.UUID, at talk.Cursor) error {
		assert.Equal(t, []talk.Cursor{at}, w.Chats.Cursors().All()[id])
		return nil
	}
	w.ReadAll(t)
	assert.Less(t, w.Cursors(r)[0].Offset, c.Offset)
}

// A session that a silent machine has not shown since the start is not gone: its position stays.
func TestP6_SilentMachineDropsNoCursor(t *testing.T) {
	chattest.RunsRemote(t, func(t *testing.T, w *chattest.World) {
		w.Link.Set(wire.Faults{Unreachable: true})
		c := chattest.TranscriptOf(t, "t.jsonl", chattest.Says("one"))
		r := w.NewCurrentSession(t, "api", session.Running, c)
		require.NoError(t, w.Chats.Cursors().Note(r.Conversation, r.ID, c))
		w.Answers.Follow(port.Session{ID: r.ID})
		synctest.Wait()
		assert.Equal(t, []talk.Cursor{c}, w.Chats.Cursors().All()[r.ID])
	})
}
