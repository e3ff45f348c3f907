package host_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/host"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/git"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// turnsOfHost notes moments of work trees, forgets those of another session, exports a conversation
// and asks for limits.
func turnsOfHost() *disktest.Turns {
	var dir, exports string
	var moments host.Moments
	var r session.Record
	var spent *host.Spending
	kept, forgotten, plain := uuid.New(), uuid.New(), uuid.New()
	mark := func(objects string) (git.Moment, error) { return git.Moment{}, os.MkdirAll(objects, 0o700) }
	keep := func(id uuid.UUID) error {
		since, err := moments.Keep(id, mark)
		if err == nil {
			_, err = moments.Load(id, since)
		}
		return err
	}
	var tickets host.Tickets
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir = t.TempDir()
			moments, exports = host.Moments{Dir: filepath.Join(dir, "changes")}, filepath.Join(dir, "exports")
			require.NoError(t, keep(forgotten))
			require.NoError(t, os.MkdirAll(filepath.Join(moments.Dir, kept.String(), "of an older program"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(moments.Dir, plain.String()), 0o700))
			claude := uuid.MustParse("11111111-1111-4111-8111-111111111111")
			path, err := filepath.Abs("../internal/ledger/testdata/projects/-home-a-other/" + claude.String() + ".jsonl")
			require.NoError(t, err)
			r = session.Record{ID: uuid.New(), AgentSessionID: claude, Cursors: []talk.Cursor{{Path: path}}}
			spent = &host.Spending{Dir: dir, Records: allRecords{r}, Now: time.Now}
			limit := hookwire.Limit{UsedPercent: 5, ResetsAt: time.Now().Add(time.Hour).Unix()}
			_, err = hookwire.WriteStatus(dir, hookwire.Status{Version: hookwire.Version, Launch: kept.String(), SessionID: kept.String(), At: time.Now(), Week: limit})
			require.NoError(t, err)
			return dir
		},
		Turn: disktest.InOrder(
			func() error { return keep(kept) },
			func() error { return moments.Forget(forgotten) },
			func() error {
				f, err := host.Conversations{Agents: agents(""), Records: allRecords{r}, Dir: exports, Tickets: &tickets}.Export(context.Background(), r.ID, 1<<20, talk.Words{Title: "T"})
				if err != nil {
					return err
				}
				text, err := tickets.ReadPart(context.Background(), f.Ticket, 0)
				if err == nil && len(text) == 0 {
					err = errors.New("the export is empty")
				}
				return errors.Join(err, tickets.Close(context.Background(), f.Ticket))
			},
			func() error {
				known, err := spent.Limits(context.Background())
				if err == nil && len(known) != 1 {
					err = errors.New("the limit is unknown")
				}
				return err
			},
		),
		Done: func(t *testing.T) {
			all, err := os.ReadDir(moments.Dir)
			require.NoError(t, err)
			assert.Len(t, all, 2, "of a session that was forgotten nothing is left")
			assert.NoDirExists(t, filepath.Join(moments.Dir, forgotten.String()))
			left, err := os.ReadDir(exports)
			require.NoError(t, err)
			for _, e := range left {
				info, err := e.Info()
				require.NoError(t, err)
				assert.Zero(t, info.Size(), "no text of a conversation has a name")
			}
		},
	}
}

func TestP8_HostOutlivesFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfHost() })
}
