package conversation

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/internal/session"
)

// The owners is a map that forgets all but the last thousand, also on its way through a file.
func TestTheRingKeepsTheLastThousand(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := make([]uuid.UUID, rapid.IntRange(1, 30).Draw(t, "sessions"))
		for i := range ids {
			ids[i] = uuid.New()
		}
		r, want, order := owners{}, map[int]uuid.UUID{}, []int(nil)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)) //nolint:gosec // a test
		for range rapid.IntRange(0, 2*maxOwners).Draw(t, "messages") {
			message, id := 1+random.IntN(2*maxOwners), ids[random.IntN(len(ids))]
			r.note(message, id)
			want[message] = id
			order = append(order, message)
		}
		last := map[int]bool{}
		for i := len(order) - 1; i >= 0 && len(last) < maxOwners; i-- {
			last[order[i]] = true
		}
		data, err := json.Marshal(r)
		require.NoError(t, err)
		var read owners
		require.NoError(t, json.Unmarshal(data, &read))
		for message := range want {
			for _, one := range []owners{r, read, r.clone()} {
				id, ok := one.of(message)
				assert.Equal(t, last[message], ok)
				if ok {
					assert.Equal(t, want[message], id)
				}
			}
		}
		assert.LessOrEqual(t, len(r.sessions), len(ids))
		assert.Equal(t, r.IsZero(), len(order) == 0)
	})
}

func TestADamagedRingIsEmpty(t *testing.T) {
	id := uuid.New()
	for _, data := range []string{`"x"`, `{"sessions":["x"]}`, `{"sessions":[],"messages":[[1,0],[2,-1]]}`, `[]`} {
		r := owners{}
		r.note(1, id)
		require.NoError(t, json.Unmarshal([]byte(data), &r), data)
		assert.True(t, r.IsZero(), data)
		r.note(7, id)
		got, ok := r.of(7)
		assert.True(t, ok && got == id)
	}
}

var (
	atAlice = session.Conversation{ChatID: 7}
	inGroup = session.Conversation{ChatID: -100}
)

func TestChatsKeepWhoseAMessageIs(t *testing.T) {
	dir := t.TempDir()
	c, err := Open(dir)
	require.NoError(t, err)
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
		now, err := c.Current(atAlice)
		require.NoError(t, err)
		assert.Equal(t, two, now)
		c, err = Open(dir) // a restart
		require.NoError(t, err)
	}
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.WriteFile(dir, nil, 0o600)) // nothing can be written there any more
	require.Error(t, c.NoteMessage(atAlice, 8, one))
	_, ok := c.SessionOf(atAlice, 8)
	assert.False(t, ok, "what is not on disk is not known")
}
