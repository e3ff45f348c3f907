package router

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/internal/each"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// liar is a machine that answers more than it is asked.
type liar struct {
	machine.Sessions
	machine.Transcripts
	also uuid.UUID // a session of another machine
}

func (l liar) Inspect(_ context.Context, ids ...uuid.UUID) (map[uuid.UUID]port.Status, error) {
	all := map[uuid.UUID]port.Status{l.also: {Quiet: true}}
	for _, id := range ids {
		all[id] = port.Status{Draft: true}
	}
	return all, nil
}

func (l liar) NewOrphans(context.Context, []port.Window) ([]port.Window, error) {
	return []port.Window{{ID: "@3.17"}, {ID: "@4.17"}}, nil
}

func (l liar) LastQuestions(_ context.Context, ids []uuid.UUID) ([]string, error) {
	return []string{"one", "two", "three"}[:len(ids)+1], nil
}

// TestP9_AnswersAreAboutTheQuestion: an answer with more than the call asks for neither ends the
// program nor says anything about the sessions of other machines.
func TestP9_AnswersAreAboutTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, c := newTwin(), newTwin(), newTwin()
		r := New("attic", a.machine())
		for name, one := range map[string]*twin{"bbbb": b, "cccc": c} {
			m := one.machine()
			if one == c {
				m.Sessions, m.Transcripts = liar{m.Sessions, nil, b.id}, liar{nil, m.Transcripts, b.id}
			}
			require.NoError(t, r.Add(name, name, m))
		}
		synctest.Wait()
		chat := r.Machine()
		all, err := chat.Sessions.Inspect(t.Context(), b.id, c.id)
		require.NoError(t, err)
		assert.Equal(t, map[uuid.UUID]port.Status{b.id: {Idle: true}, c.id: {Draft: true}}, all)
		_, err = chat.Transcripts.LastQuestions(t.Context(), []uuid.UUID{c.id})
		require.Error(t, err)
		windows, err := chat.Sessions.NewOrphans(t.Context(), []port.Window{{ID: "cccc:@3.17"}})
		require.NoError(t, err)
		assert.Equal(t, []port.ID{"cccc:@3.17"}, each.As(windows, func(w port.Window) port.ID { return w.ID }))
	})
}

// many has a lot of sessions.
type many struct {
	port.Views
	all []port.Session
}

func (m many) List() ([]port.Session, error) { return m.all, nil }

// TestP8_SessionsOfMachineAreLimited: the chat knows the live sessions and the latest others.
func TestP8_SessionsOfMachineAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newTwin(), newTwin()
		r, m := New("attic", a.machine()), b.machine()
		var all []port.Session
		for i := range maxSessions + 10 {
			s := port.Session{ID: uuid.New(), Name: fmt.Sprint(i), Dir: "/x", State: port.StateArchived, CreatedAt: time.Unix(int64(i), 0)}
			if i == 0 {
				s.State = port.StateRunning
			}
			all = append(all, s)
		}
		m.Records = many{m.Records, all}
		require.NoError(t, r.Add("bbbb", "barn", m))
		synctest.Wait()
		h, _ := r.byID("bbbb")
		assert.Len(t, h.known, maxSessions)
		assert.Equal(t, all[0].ID, h.known[0].ID)
		assert.Equal(t, all[len(all)-1].ID, h.known[maxSessions-1].ID)

		var got told
		for range 5 {
			require.NoError(t, r.Chat("bbbb", &got).SessionNews(t.Context(), port.Session{ID: uuid.New(), Dir: "/x", State: port.StateRunning}, news.Doing{}))
		}
		assert.Len(t, h.known, maxSessions)
	})
}

// TestP6_NewsOfMachineHaveTheirPace: news that people read come from one machine no faster than
// Telegram takes messages, and those of another machine do not wait.
func TestP6_NewsOfMachineHaveTheirPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, _, _, b, c := fleet(t)
		synctest.Wait()
		began := time.Now()
		send := func(id string, s port.Session, n news.News, times int) {
			for range times {
				require.NoError(t, r.Chat(id, new(told)).SessionNews(t.Context(), s, n))
			}
		}
		send("bbbb", b.session(), news.Ended{}, newsBurst+20)
		assert.Equal(t, 20*newsInterval, time.Since(began))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, r.Chat("bbbb", new(told)).SessionNews(ended, b.session(), news.Ended{}), context.Canceled)
		began = time.Now()
		send("cccc", c.session(), news.Ended{}, newsBurst)
		send("cccc", c.session(), news.Doing{}, 5*newsBurst)
		assert.Zero(t, time.Since(began))
		send("cccc", c.session(), news.DraftCleared{Draft: strings.Repeat("x", 10*newsSize)}, 1)
		assert.GreaterOrEqual(t, time.Since(began), 10*newsInterval)
	})
}

// endless has turns without an end, or none at all.
type endless struct {
	machine.Transcripts
	some bool
	text string
}

func (e endless) Next(context.Context, uuid.UUID, talk.Cursor, int, bool) (all []talk.Item, err error) {
	for range 100 {
		if e.some {
			all = append(all, talk.Item{Kind: talk.Text, Text: e.text, Ends: talk.EndedTurn})
		}
	}
	return all, nil
}

// TestP6_TranscriptOfMachineHasItsPace: a machine fills neither the chat's memory with items nor
// its time with calls.
func TestP6_TranscriptOfMachineHasItsPace(t *testing.T) {
	for _, some := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a, b := newTwin(), newTwin()
			r, m := New("attic", a.machine()), b.machine()
			m.Transcripts = endless{m.Transcripts, some, strings.Repeat("x", maxText/4)}
			require.NoError(t, r.Add("bbbb", "barn", m))
			synctest.Wait()
			began := time.Now()
			const calls = turnBurst/4 + 10
			for range calls {
				items, err := r.Machine().Transcripts.Next(t.Context(), b.id, talk.Cursor{Path: "bbbb:/t"}, 16, true)
				require.NoError(t, err)
				assert.LessOrEqual(t, len(items), 4)
				items, err = r.Machine().Transcripts.Next(t.Context(), b.id, talk.Cursor{Path: "bbbb:/t"}, 1, false)
				require.NoError(t, err)
				assert.LessOrEqual(t, len(items), 1)
			}
			least := 10 * turnInterval
			if !some {
				least = calls * emptyInterval
			}
			assert.GreaterOrEqual(t, time.Since(began), least)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			_, err := r.Machine().Transcripts.Next(ctx, b.id, talk.Cursor{Path: "bbbb:/t"}, 16, true)
			require.ErrorIs(t, err, context.Canceled)
		})
	}
}

// claimer has a loop and a schedule of a session of another machine.
type claimer struct {
	port.Loops
	port.Schedules
	victim uuid.UUID
}

func (c claimer) All(context.Context) ([]port.Loop, error) {
	return []port.Loop{{ID: uuid.New(), Session: c.victim}}, nil
}

func (c claimer) List(context.Context) ([]port.Schedule, error) {
	return []port.Schedule{{ID: uuid.New(), Session: c.victim}}, nil
}

// TestP9_ValuesNameNoOtherSession: what a machine reports leads to no session of another machine.
func TestP9_ValuesNameNoOtherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := newTwin(), newTwin()
		r, m := New("attic", a.machine()), b.machine()
		claims := claimer{victim: a.id}
		m.Loops, m.Schedules = claims, claims
		r.own.Schedules = claimer{victim: a.id}
		require.NoError(t, r.Add("bbbb", "barn", m))
		synctest.Wait()
		loops, err := r.Machine().Loops.All(t.Context())
		require.NoError(t, err)
		require.Len(t, loops, 2)
		plans, err := r.Machine().Schedules.List(t.Context())
		require.NoError(t, err)
		require.Len(t, plans, 2)
		assert.Equal(t, []uuid.UUID{a.id, {}}, each.As(plans, func(s port.Schedule) uuid.UUID { return s.Session }))
		for _, l := range loops {
			assert.NotEqual(t, a.id, l.Session)
		}
		h, _ := r.byID("bbbb")
		n := up(h, news.News(news.Looped{Loop: port.Loop{Session: a.id}}))
		assert.Equal(t, news.Looped{}, n)
		n = up(h, news.News(news.Looped{Loop: port.Loop{Session: b.id}}))
		assert.Equal(t, news.Looped{Loop: port.Loop{Session: b.id}}, n)
		assert.Equal(t, "bbbb:", up(h, port.Session{ID: uuid.New()}).Dir)
	})
}
