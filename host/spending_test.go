package host_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/host"
	"ccbot/internal/hookwire"
	"ccbot/internal/ledger"
	"ccbot/internal/session"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
	"ccbot/port/talk"
)

type allRecords []session.Record

func (a allRecords) Shared() []session.Record { return a }

func (a allRecords) Get(id uuid.UUID) (session.Record, bool) {
	for _, r := range a {
		if r.ID == id {
			return r, true
		}
	}
	return session.Record{}, false
}

func agents(projects string) agent.Agents {
	return agent.Agents{agent.Default: claude.New(projects, agent.Launch{}, nil)}
}

// household is a machine whose transcripts are those that package ledger has counted by hand.
func household(t *testing.T, now time.Time, records ...session.Record) *host.Spending {
	t.Helper()
	root, log := t.TempDir(), slog.New(slog.DiscardHandler)
	projects, clock := filepath.Join(root, "projects"), func() time.Time { return now }
	require.NoError(t, os.CopyFS(projects, os.DirFS("../internal/ledger/testdata/projects")))
	of := agents(projects)
	return &host.Spending{Ledger: ledger.New(of, filepath.Join(root, "usage"), clock, log), Agents: of, Dir: root, Records: allRecords(records),
		Watch: watchtest.Run(t, watch.New(log)), Now: clock, Log: log}
}

// The answers of testdata, of the 4th and 5th of May at eight in the morning and later (UTC), have
// cost:
//
//	Opus 5.5   4 May   msg_1 100·4 + 600·5 + 400·8 + 10·0.2 + 20·20 = 7002
//	                   msg_2 200·4 + 2000·0.2 + 30·20 = 1800, and 2 searches
//	           5 May   msg_3 7·4 + 8·20 = 188 (a copy); msg_4 9·4 + 10·20 = 236
//	                   msg_1 of another request 1·4 + 1·20 = 24
//	Haiku 5.5  4 May   msg_s 5·0.1 + 6·0.5 = 3.5
//
// in millionths of a dollar, and a search is a cent.
func TestSpendingMatchesManualCount(t *testing.T) {
	api := session.Record{ID: uuid.New(), Name: "api", AgentSessionID: uuid.New(),
		Cursors: []talk.Cursor{{Path: "/x/11111111-1111-4111-8111-111111111111.jsonl"}, {Path: "/x/later.jsonl"}}}
	s := household(t, time.Date(2026, 5, 5, 20, 0, 0, 0, time.Local), api)
	rep, err := s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	const first, second = (7002+1800+3.5)/1e6 + 0.02, (188. + 236 + 24) / 1e6
	require.Len(t, rep.Spans, 3)
	today, week := rep.Spans[0], rep.Spans[1]
	assert.InDelta(t, second, today.All.Cost, 1e-9)
	assert.InDelta(t, first+second, week.All.Cost, 1e-9)
	assert.Equal(t, week, rep.Spans[2])
	assert.InDelta(t, second, rep.Days[29], 1e-9)
	assert.InDelta(t, first, rep.Days[28], 1e-9)

	names := func(lines []talk.Line) (all []string) {
		for _, l := range lines {
			all = append(all, l.Name+l.Dir)
		}
		return all
	}
	assert.Equal(t, []string{"Opus 5.5", "Haiku 5.5", "nobody-1"}, names(week.Models))
	assert.Equal(t, []string{"api", "/home/a/shop"}, names(week.Sessions), "the copy has only what came after")
	assert.Equal(t, uuid.MustParse("22222222-2222-4222-8222-222222222222"), week.Sessions[1].Session)
	assert.Equal(t, talk.Sum{Input: 11, Output: 12, Unpriced: true}, week.Models[2].Sum)
	assert.True(t, week.All.Unpriced)
	assert.Equal(t, int64(7+9+1+11), today.All.Input)
	assert.Equal(t, int64(1000), week.All.CacheWrite)
	assert.Equal(t, []string{"2026-11-18", "Claude Code 2.1.328", ""}, []string{rep.Prices, rep.Source, rep.Broken})

	own := filepath.Join(s.Dir, host.PricesFile)
	require.NoError(t, os.WriteFile(own, []byte(`{"date":"2026-12-01","source":"ours","models":{"nobody-1":{"input":1000,"output":1000}}}`), 0o600))
	rep, err = s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	assert.InDelta(t, second+0.023, rep.Spans[0].All.Cost, 1e-9)
	assert.False(t, rep.Spans[0].All.Unpriced)
	require.NoError(t, os.WriteFile(own, []byte(`{`), 0o600))
	rep, err = s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	assert.InDelta(t, second, rep.Spans[0].All.Cost, 1e-9, "the built-in prices count")
	assert.Equal(t, own, rep.Broken)
}

// TestSpendingReportsLackOfTime: a part is told from a whole with an unreadable file.
func TestSpendingReportsLackOfTime(t *testing.T) {
	s := household(t, time.Date(2026, 5, 4, 0, 30, 0, 0, time.UTC))
	rep, err := s.Spent(t.Context(), 0)
	for err != nil { // the time ended before the first file
		require.ErrorIs(t, err, context.DeadlineExceeded)
		rep, err = s.Spent(t.Context(), 0)
	}
	assert.True(t, rep.Incomplete)
	assert.NotZero(t, rep.Unread)
	rep, err = s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	assert.False(t, rep.Incomplete)
	assert.Zero(t, rep.Unread)
}

func TestFutureTimestampCountsAsToday(t *testing.T) {
	s := household(t, time.Date(2026, 5, 4, 0, 30, 0, 0, time.UTC)) // the clock was set back
	rep, err := s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	assert.Equal(t, rep.Spans[2].All, rep.Spans[0].All)
	assert.NotZero(t, rep.Spans[0].All.Cost)
	s = household(t, time.Date(2026, 6, 20, 0, 0, 0, 0, time.UTC))
	rep, err = s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	assert.Zero(t, rep.Spans[2].All)
}

// Conversations before /clear also belong to the session, unless another session continues with
// them.
func TestSpendingIncludesConversationsBeforeClear(t *testing.T) {
	first, second := uuid.MustParse("11111111-1111-4111-8111-111111111111"), uuid.MustParse("22222222-2222-4222-8222-222222222222")
	elsewhere := session.Record{ID: uuid.New(), Name: "elsewhere", AgentSessionID: second}
	cleared := session.Record{ID: uuid.New(), Name: "cleared", AgentSessionID: uuid.New(), EarlierSessionIDs: []uuid.UUID{first, second}}
	s := household(t, time.Date(2026, 5, 5, 20, 0, 0, 0, time.Local), elsewhere, cleared)
	rep, err := s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	var names []string
	for _, l := range rep.Spans[1].Sessions {
		names = append(names, l.Name)
	}
	assert.Equal(t, []string{"cleared", "elsewhere"}, names)
}

// TestSpendingSince counts the answers of one session from a time on.
func TestSpendingSince(t *testing.T) {
	first, now := uuid.MustParse("11111111-1111-4111-8111-111111111111"), time.Date(2026, 5, 5, 20, 0, 0, 0, time.UTC)
	r := session.Record{ID: uuid.New(), AgentSessionID: first}
	s := household(t, now, r)
	since := func(at time.Time) talk.Sum {
		t.Helper()
		sum, err := s.Since(t.Context(), r.ID, at)
		require.NoError(t, err)
		return sum
	}
	whole, day := since(time.Date(2026, 5, 4, 0, 0, 0, 0, time.UTC)), since(time.Date(2026, 5, 5, 0, 0, 0, 0, time.UTC))
	rep, err := s.Spent(t.Context(), time.Minute)
	require.NoError(t, err)
	for _, l := range rep.Spans[2].Sessions {
		if l.Session == r.ID {
			assert.Equal(t, l.Sum, whole)
		}
	}
	assert.Positive(t, whole.Tokens())
	assert.Less(t, day.Tokens(), whole.Tokens())
	assert.Zero(t, since(now))
}

func TestLimitsComeFromLatestStatusLine(t *testing.T) {
	now := time.Date(2026, 5, 5, 20, 0, 0, 0, time.UTC)
	s := household(t, now)
	assert.Empty(t, limitsOf(s), "there is no status line yet")
	require.NoError(t, s.LimitsChange(t.Context()), "the first look")
	five, week := now.Add(time.Hour).Unix(), now.Add(72*time.Hour).Unix()
	tellsAt := func(at time.Time, fiveHours, weekly hookwire.Limit) {
		id := uuid.New().String()
		_, err := hookwire.WriteStatus(s.Dir, hookwire.Status{Version: hookwire.Version, Launch: id, SessionID: id, At: at, FiveHours: fiveHours, Week: weekly})
		require.NoError(t, err)
	}
	tells := func(fiveHours, weekly hookwire.Limit) { tellsAt(now, fiveHours, weekly) }
	tells(hookwire.Limit{UsedPercent: 40, ResetsAt: five}, hookwire.Limit{UsedPercent: 7, ResetsAt: week})
	require.NoError(t, s.LimitsChange(t.Context()))
	// Written later, of an idle session.
	tells(hookwire.Limit{UsedPercent: 30, ResetsAt: five}, hookwire.Limit{UsedPercent: 8, ResetsAt: week})
	// An ended window.
	tells(hookwire.Limit{UsedPercent: 99, ResetsAt: now.Add(-time.Hour).Unix()}, hookwire.Limit{})
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, hookwire.StatusFolder, "x.json"), []byte("{"), 0o600))
	got := limitsOf(s)
	require.Len(t, got, 2)
	assert.Equal(t, []any{talk.FiveHours, 40., five, talk.Week, 8., week},
		[]any{got[0].Window, got[0].Percent, got[0].Resets.Unix(), got[1].Window, got[1].Percent, got[1].Resets.Unix()})

	tellsAt(now.Add(-time.Minute), hookwire.Limit{UsedPercent: 10, ResetsAt: five + 60}, hookwire.Limit{UsedPercent: 9, ResetsAt: week - 1})
	assert.Equal(t, []any{40., 9.}, percents(s), "the ends of one window are not told to the second")
	tellsAt(now.Add(-time.Minute), hookwire.Limit{UsedPercent: 60, ResetsAt: five + 7200}, hookwire.Limit{})
	assert.Equal(t, []any{40., 9.}, percents(s), "of another window, said earlier")
	tellsAt(now.Add(time.Minute), hookwire.Limit{}, hookwire.Limit{UsedPercent: 2, ResetsAt: week - 24*3600})
	assert.Equal(t, []any{40., 2.}, percents(s), "the week begins anew earlier than was told before")

	other := session.Record{ID: uuid.New(), AgentName: "other"}
	s.Records = allRecords{other}
	_, err := hookwire.WriteStatus(s.Dir, hookwire.Status{Version: hookwire.Version, Launch: other.ID.String(), SessionID: other.ID.String(), At: now.Add(time.Hour),
		Week: hookwire.Limit{UsedPercent: 90, ResetsAt: week - 24*3600}})
	require.NoError(t, err)
	assert.Equal(t, []any{40., 2.}, percents(s), "another agent has another account")
}

func limitsOf(s *host.Spending) []talk.Limit {
	all, _ := s.Limits(context.Background())
	return all
}

func percents(s *host.Spending) (all []any) {
	for _, l := range limitsOf(s) {
		all = append(all, l.Percent)
	}
	return all
}
