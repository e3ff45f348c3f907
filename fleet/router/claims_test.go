package router

import (
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port"
	"ccbot/port/news"
)

// counted counts the lists that a machine is asked for.
type counted struct {
	port.Views
	asked *atomic.Int32
}

func (c counted) List() ([]port.Session, error) {
	c.asked.Add(1)
	return c.Views.List()
}

// TestP6_HangingMachineIsAskedOnce: of ten machines one hangs. Each list has the sessions of the
// others, and while the first call hangs no list makes another one.
func TestP6_HangingMachineIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := newTwin()
		r := New("attic", own.machine())
		asked := new(atomic.Int32)
		var last *twin
		for i := range 10 {
			last = newTwin()
			m := last.machine()
			m.Records = counted{m.Records, asked}
			require.NoError(t, r.Add("host"+strconv.Itoa(i), "host"+strconv.Itoa(i), m))
		}
		chat := r.Machine()
		synctest.Wait()
		hung := make(chan struct{})
		last.hung.Store(&hung)
		asked.Store(0)
		const lists = 20
		for range lists {
			all, _ := chat.Records.List()
			assert.Len(t, all, 11)
			_, err := chat.Sessions.Inspect(t.Context(), own.id)
			require.NoError(t, err)
		}
		assert.Equal(t, int32(lists*9+2), asked.Load(), "the hanging one by the first list, and in the background")
		close(hung)
		synctest.Wait()
		all, err := chat.Records.List()
		require.NoError(t, err)
		assert.Len(t, all, 11)
	})
}

// TestP9_MachineClaimsNoOtherSession: a machine can report any session. It gets no call about a
// session of another machine.
func TestP9_MachineClaimsNoOtherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, chat, a, b, c := fleet(t)
		synctest.Wait()
		var got told
		up := r.Chat("bbbb", &got)
		for _, victim := range []uuid.UUID{a.id, c.id} {
			s := b.session()
			s.ID = victim
			require.NoError(t, up.SessionNews(t.Context(), s, news.Ready{}))
			assert.Zero(t, got, "the news reach no person")
		}
		b.id = c.id // its list and its answers name the session, too
		r.Note("bbbb", false, time.Time{})
		synctest.Wait()
		_, err := chat.Records.List()
		require.NoError(t, err)
		for _, victim := range []*twin{a, c} {
			require.NoError(t, chat.Sessions.Archive(t.Context(), victim.id, port.StateArchived, port.Cause{}))
			assert.Equal(t, []uuid.UUID{victim.id}, victim.ended)
		}
		assert.Empty(t, b.ended)
	})
}
