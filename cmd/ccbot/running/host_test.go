package running

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/recovery"
)

// newHost returns a machine whose chat is on another one, and its log.
func newHost(t *testing.T, settings ...string) (*engine.Engine, *bytes.Buffer) {
	t.Helper()
	environ := append(machine(t), settings...)
	c, err := config.LoadForHost(environ)
	require.NoError(t, err)
	log := new(bytes.Buffer)
	e, err := beginHost(t.Context(), c, "/bin/true", environ, slog.New(slog.NewTextHandler(log, nil)))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Close()) })
	return e, log
}

// TestHostReportsNews: a start, the silence of tmux and a session that is about to be forgotten are
// news for the chat on another machine.
func TestHostReportsNews(t *testing.T) {
	e, _ := newHost(t)
	got := new(reported)
	e.Connect(t.Context(), got)
	require.NoError(t, e.ReportRecovery(t.Context(), recovery.Report{Notices: []recovery.Notice{{Kind: recovery.Unclear, Record: idOf(2)}}}))
	require.NotNil(t, e.Callbacks().Lost, "losses are reported together")
	r := one(1, "api")
	require.NoError(t, e.Clear(t.Context(), r))
	require.Len(t, got.all, 2)
	assert.Equal(t, news.Start{Unclear: []uuid.UUID{idOf(2)}, Dir: e.Dir}, got.all[0].News)
	assert.Equal(t, uuid.Nil, got.all[0].ID)
	assert.Equal(t, news.Forgotten{}, got.all[1].News)
	assert.Equal(t, r.ID, got.all[1].ID)
	got.err = errors.New("the disk is full")
	require.Error(t, e.Clear(t.Context(), r), "it is not forgotten before the chat has the news")
}

// TestP8_HostOpensSessionsWithoutChat: what a loop starts and a schedule resumes is news for the
// chat on another machine, which is not asked.
func TestP8_HostOpensSessionsWithoutChat(t *testing.T) {
	e, _ := newHost(t)
	got := new(reported)
	e.Connect(t.Context(), got)
	r := one(1, "api")
	require.NoError(t, e.Store.Create(r))
	for _, back := range []bool{false, true} {
		engine.ReportOpened(t.Context(), e, r.ID, back)
		last := got.all[len(got.all)-1]
		assert.Equal(t, news.Opened{Back: back}, last.News)
		assert.Equal(t, r.ID, last.ID)
	}
	require.Len(t, got.all, 2)
}

// reported has the news that a machine has reported.
type reported struct {
	all []struct {
		port.Session
		news.News
	}
	err error
}

func (r *reported) SessionNews(_ context.Context, s port.Session, n news.News) error {
	r.all = append(r.all, struct {
		port.Session
		news.News
	}{s, n})
	return r.err
}
