package conversation

import (
	"encoding/json"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/session"
	"ccbot/port/talk"
)

// The thousand newest messages are known, also after a round trip through a file.
func TestNewestThousandMessagesAreKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := make([]uuid.UUID, rapid.IntRange(1, 30).Draw(t, "sessions"))
		for i := range ids {
			ids[i] = uuid.New()
		}
		known, want := messages{}, map[int]uuid.UUID{}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) //nolint:gosec // a test
		for n := range rapid.IntRange(0, 2*maxMessages).Draw(t, "messages") {
			message, id := 1+n, ids[random.IntN(len(ids))]
			if random.IntN(4) == 0 {
				message = 1 + random.IntN(message) // an earlier message gets another session
			}
			if message > n-maxMessages/2 {
				known.note(message, id)
				want[message] = id
			}
		}
		newest := slices.Sorted(maps.Keys(want))
		for _, message := range newest[:max(0, len(newest)-maxMessages)] {
			delete(want, message)
		}
		data, err := json.Marshal(known)
		require.NoError(t, err)
		var read messages
		require.NoError(t, json.Unmarshal(data, &read))
		got := map[int]uuid.UUID{}
		for id, all := range read {
			for _, message := range all {
				got[message] = id
			}
		}
		assert.Equal(t, want, got)
	})
}

var (
	atAlice = session.Conversation{ChatID: 7}
	inGroup = session.Conversation{ChatID: -100}
)

// openIn opens the chats of a folder, as each start does.
func openIn(t *testing.T, dir string) *Store {
	t.Helper()
	c, err := Open(dir, filepath.Join(t.TempDir(), "quarantine"), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return c
}

func TestStoreKeepsTheSessionOfMessages(t *testing.T) {
	dir := t.TempDir()
	c := openIn(t, dir)
	one, two, topic := uuid.New(), uuid.New(), session.Conversation{ChatID: -100, ThreadID: 5}
	require.NoError(t, c.SetCurrent(atAlice, two))
	require.NoError(t, c.NoteMessage(atAlice, 5, one))
	require.NoError(t, c.NoteMessage(atAlice, 6, two))
	require.NoError(t, c.NoteMessage(topic, 5, two))
	require.NoError(t, c.NoteMessage(atAlice, 0, two))
	require.NoError(t, c.NoteMessage(atAlice, 7, uuid.Nil))
	for range 2 {
		for _, tt := range []struct {
			to      session.Conversation
			message int
			want    uuid.UUID
		}{{atAlice, 5, one}, {atAlice, 6, two}, {topic, 5, two}, {atAlice, 7, uuid.Nil}, {atAlice, 0, uuid.Nil}, {inGroup, 5, uuid.Nil}} {
			id, ok := c.SessionOf(tt.to, tt.message)
			assert.Equal(t, tt.want, id)
			assert.Equal(t, tt.want != uuid.Nil, ok)
		}
		now := c.Current(atAlice)
		assert.Equal(t, two, now)
		c = openIn(t, dir) // a restart
	}
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // the folder is no longer writable
	require.Error(t, c.NoteMessage(atAlice, 8, one))
	_, ok := c.SessionOf(atAlice, 8)
	assert.False(t, ok, "what is not on disk is not known")
}

func TestReadMarkAfterNotice(t *testing.T) {
	dir, id := t.TempDir(), uuid.New()
	c := openIn(t, dir)
	at := func(offset int64) talk.Cursor { return talk.Cursor{Path: "t", Offset: offset} }
	noticed := func(offset int64) { require.NoError(t, c.NoteNoticed(atAlice, id, at(offset))) }
	shown := func(offset int64) { require.NoError(t, c.NoteShown(atAlice, id, at(offset))) }
	has := func(offsets ...int64) (all []int64) {
		mark, known := openIn(t, dir).ReadMarkOf(atAlice, id) // also after a restart
		require.True(t, known)
		for _, offset := range offsets {
			if mark.Has(at(offset)) {
				all = append(all, offset)
			}
		}
		return all
	}
	noticed(10)
	shown(20)
	shown(30)
	assert.Equal(t, []int64{20, 30, 40}, has(10, 20, 30, 40))
	noticed(40)
	noticed(40) // a crash came between that and the notice
	noticed(50)
	assert.Equal(t, []int64{20, 30}, has(10, 20, 30, 40, 50))
	shown(50) // the notice did not come
	assert.Equal(t, []int64{20, 30, 50, 60}, has(10, 20, 30, 40, 50, 60))
	noticed(15) // in another transcript of the same name
	assert.Equal(t, []int64{20, 30}, has(10, 15, 20, 30, 40, 50))
	for n := int64(100); n < 200; n += 2 {
		shown(n)
		noticed(n + 1)
	}
	assert.Equal(t, []int64{100}, has(100, 101, 198, 199), "it is bounded")
	require.NoError(t, c.NoteNoticed(atAlice, id, talk.Cursor{Path: "next"}))
	mark, _ := c.ReadMarkOf(atAlice, id)
	assert.Empty(t, mark.Shown, "of the next transcript nothing was shown")
}

func TestReadMarksMoveWithTheirPlace(t *testing.T) {
	c := openIn(t, t.TempDir())
	unread, both, shown, topic := uuid.New(), uuid.New(), uuid.New(), session.Conversation{ChatID: 7, ThreadID: 5}
	require.NoError(t, c.NoteNoticed(topic, unread, talk.Cursor{Path: "t", Offset: 1}))
	require.NoError(t, c.NoteNoticed(topic, both, talk.Cursor{Path: "t", Offset: 2}))
	require.NoError(t, c.NoteShown(topic, shown, talk.Cursor{Path: "t"}))
	require.NoError(t, c.NoteNoticed(atAlice, both, talk.Cursor{Path: "t", Offset: 3}))
	require.NoError(t, c.Rehome(topic, atAlice))
	for id, want := range map[uuid.UUID]int64{unread: 1, both: 3} {
		mark, known := c.ReadMarkOf(atAlice, id)
		require.True(t, known)
		assert.Equal(t, want, mark.Since.Offset, "what is known of the other place counts")
	}
	_, known := c.ReadMarkOf(atAlice, shown)
	assert.False(t, known, "the messages are gone with the topic: its last answer is shown once more")
}
