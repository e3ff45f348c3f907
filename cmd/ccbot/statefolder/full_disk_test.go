package statefolder

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/gauge"
)

const mib = 1 << 20

// testDisk is a fake disk, and the chat that gets its reports.
type testDisk struct {
	*DiskSpace
	mu     sync.Mutex
	now    gauge.Space
	taken  int // bytes that it takes in one piece
	probes int
	said   []string
	deaf   error // of the chat
}

func newDisk(dir string, free uint64) *testDisk {
	d := &testDisk{now: gauge.Space{Free: free * mib, Total: 20_000 * mib}, taken: LeastFree}
	d.DiskSpace = NewDiskSpace(dir, d, slog.New(slog.DiscardHandler))
	d.gauge = func(context.Context, string) (gauge.Space, error) { return d.now, nil }
	d.probe = func(size int) error {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.probes++; size > d.taken {
			return syscall.ENOSPC
		}
		return nil
	}
	return d
}

func (d *testDisk) hear(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.deaf == nil {
		d.said = append(d.said, what)
	}
	return d.deaf
}

// takes sets the number of bytes that the disk accepts in one piece.
func (d *testDisk) takes(bytes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.taken = bytes
}

// heard returns the reports, and the number of writes to the disk.
func (d *testDisk) heard() (said []string, probes int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.said), d.probes
}

func (d *testDisk) DiskLow(_ context.Context, free int64) error {
	return d.hear(i18n.Words{}.Size(free))
}
func (d *testDisk) DiskFull(context.Context) error { return d.hear("full") }
func (d *testDisk) DiskFree(context.Context) error { return d.hear("room") }

// The disk is reported as almost full once, also over restarts, and again only after it clearly was
// not.
func TestFullDiskIsReportedOnce(t *testing.T) {
	dir := t.TempDir()
	var reported []string
	for _, free := range []uint64{5000, 1024, 1000, 900, 1100, 1000, 1281, 1200, 800, 1281} {
		d := newDisk(dir, free) // a new start each time
		d.look(t.Context(), false)
		reported = append(reported, d.said...)
	}
	assert.Equal(t, []string{"1.0 GB", "839 MB"}, reported)
	assert.NoFileExists(t, filepath.Join(dir, lowFile))

	d := newDisk(dir, 0)
	d.deaf = assert.AnError
	d.look(t.Context(), false)
	assert.NoFileExists(t, filepath.Join(dir, lowFile), "what could not be told is told later")
}

// The fall is reported once, and so is its end. A disk at its limit is one fall; a failed report is
// repeated by the next check, unless the fall has ended.
func TestFullDiskAndEndAreReported(t *testing.T) {
	for _, tt := range []struct {
		name  string
		free  uint64
		taken []int // at each check
		deaf  map[int]bool
		want  []string
	}{
		{"a fall and its end", 0, []int{LeastFree, 0, 0, 0, LeastFree, LeastFree}, nil, []string{"0 B", "full", "room"}},
		{"at once", 0, []int{0, 0}, nil, []string{"full"}},
		{"two falls", 0, []int{0, LeastFree, 0, LeastFree}, nil, []string{"full", "room", "full", "room"}},
		{"at its limit", 0, []int{0, leastProbe, 0, leastProbe, LeastFree, leastProbe, 0}, nil, []string{"full", "room", "0 B", "full"}},
		{"Telegram is away", 0, []int{0, 0, 0, LeastFree, LeastFree}, map[int]bool{0: true, 1: true, 3: true}, []string{"full", "room"}},
		{"Telegram is away all the time", 0, []int{0, 0, LeastFree, LeastFree}, map[int]bool{0: true, 1: true}, []string{"0 B"}},
		{"a quota, which no gauge shows", 10_000, []int{0, 0, LeastFree}, nil, []string{"full", "room"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDisk(t.TempDir(), tt.free)
			for i, taken := range tt.taken {
				d.taken, d.deaf = taken, nil
				if tt.deaf[i] {
					d.deaf = assert.AnError
				}
				d.look(t.Context(), true)
			}
			assert.Equal(t, tt.want, d.said)
		})
	}
}

// Only what says that the disk takes nothing is a full disk at once; anything else is one when it
// happens twice in a row.
func TestFailedWriteIsNotFullDisk(t *testing.T) {
	for _, tt := range []struct {
		name  string
		fails []error // of each check; the first one follows a refusal
		want  []string
	}{
		{"no room", []error{syscall.ENOSPC, nil}, []string{"full", "room"}},
		{"a quota", []error{syscall.EDQUOT}, []string{"full"}},
		{"read-only", []error{syscall.EROFS}, []string{"full"}},
		{"once", []error{syscall.EMFILE, nil, nil}, nil},
		{"now and then", []error{syscall.EIO, nil, syscall.EIO, nil}, nil},
		{"twice", []error{syscall.EIO, syscall.EIO, syscall.EIO, nil}, []string{"full", "room"}},
		{"first for another reason", []error{syscall.EMFILE, syscall.ENOSPC, syscall.EMFILE}, []string{"full"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := newDisk(t.TempDir(), 10_000)
			for i, err := range tt.fails {
				d.probe = func(int) error { return err }
				d.look(t.Context(), i == 0 || tt.fails[i-1] == nil)
			}
			assert.Equal(t, tt.want, d.said)
		})
	}
}

// A disk with room is not written to; a failed write makes Run check it at once.
func TestRefusedWriteChecksDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk(t.TempDir(), 10_000)
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error, 1)
		go func() { over <- d.Run(ctx) }()
		time.Sleep(10 * checkInterval)
		_, probes := d.heard()
		assert.Zero(t, probes)
		d.takes(0)
		d.Refused()
		synctest.Wait()
		said, _ := d.heard()
		assert.Equal(t, []string{"full"}, said)
		d.takes(LeastFree)
		time.Sleep(fullInterval + time.Second)
		said, _ = d.heard()
		assert.Equal(t, []string{"full", "room"}, said)
		cancel()
		require.ErrorIs(t, <-over, context.Canceled)
	})
}
