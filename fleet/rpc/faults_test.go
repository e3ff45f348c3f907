package rpc_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/courier"
	"ccbot/fleet/rpc"
	"ccbot/internal/disk"
	"ccbot/internal/spool"
)

// TestP5_UnreadNewsOutliveFaults fails each call on the folder of the unread news: they stay, delay
// the others only during the fault, and come after the next start.
func TestP5_UnreadNewsOutliveFaults(t *testing.T) {
	t.Parallel()
	const dialog = `{"v":1,"kind":"News","body":{"session":{},"of":"Dialog","news":{"Screen":"SCREEN"}}}`
	readable := func(screen string) []byte { return []byte(strings.Replace(dialog, "SCREEN", screen, 1)) }
	unread := strings.Replace(dialog, `"of":"Dialog"`, `"of":"Painting"`, 1)
	for n, calls := 1, 1; n <= calls; n++ {
		synctest.Test(t, func(t *testing.T) {
			dir := t.TempDir()
			var out, in *courier.End
			open := func(name string, to **courier.End) *courier.End {
				e, err := courier.Open(courier.Settings{Folder: filepath.Join(dir, name),
					Sender: sendFunc(func(ctx context.Context, _ string, data []byte) error { return (*to).Receive(ctx, data) })})
				require.NoError(t, err)
				return e
			}
			out, in = open("out", &in), open("in", &out)
			require.NoError(t, out.Put([]byte(unread)))
			require.NoError(t, out.Put(readable("one")))
			ctx, cancel := context.WithCancel(t.Context())
			go func() { _ = out.Run(ctx) }()
			kept, counts := spool.Folder{Path: filepath.Join(dir, "unread"), Fsync: true}, []int(nil)
			calls = 0
			runs := false // otherwise the test itself calls
			end := disk.Fail(func(_, path string) error {
				if !strings.HasPrefix(path, kept.Path) || !runs {
					return nil
				}
				if calls++; calls == n {
					return errors.New("input/output error")
				}
				return nil
			})
			run := func() []string {
				runs = true
				defer func() { runs = false }()
				to := &chat{failed: true}
				ctx, cancel := context.WithCancel(ctx)
				done := make(chan struct{})
				go func() {
					defer close(done)
					_ = rpc.Delivery{End: in, Unread: kept, To: to, Report: func(error) {}, OnUnread: func(n int) { counts = append(counts, n) }}.Run(ctx)
				}()
				time.Sleep(time.Minute)
				cancel()
				<-done
				return slices.Compact(to.all())
			}
			assert.Equal(t, []string{"one"}, run(), n)
			names, err := kept.List()
			require.NoError(t, err)
			require.Len(t, names, 1, n)
			require.NoError(t, kept.Put(names[0], readable("new"))) // a newer program reads it
			assert.Equal(t, []string{"late new"}, run(), n)
			end()
			names, err = kept.List()
			require.NoError(t, err)
			assert.Empty(t, names, n)
			assert.Equal(t, 0, counts[len(counts)-1], n)
			cancel()
		})
	}
}
