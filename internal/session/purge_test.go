package session

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPurge(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name   string
		may    func(Record) (bool, error)
		purged bool
		err    error
	}{
		{"it may", func(Record) (bool, error) { return true, nil }, true, nil},
		{"it may not", func(Record) (bool, error) { return false, nil }, false, nil},
		{"an error", func(Record) (bool, error) { return true, broken }, false, broken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFolders(t)
			s := f.open(t)
			r, other := created(t, s), created(t, s)
			asked := 0
			purged, err := s.Purge(t.Context(), r.ID, func(got Record) (bool, error) {
				asked++
				want, _ := s.Get(r.ID)
				assert.Equal(t, text(t, want), text(t, got))
				return tt.may(got)
			})
			require.ErrorIs(t, err, tt.err)
			assert.Equal(t, tt.purged, purged)
			assert.Equal(t, 1, asked)
			for name, store := range map[string]*Store{"memory": s, "disk": f.open(t)} {
				_, ok := store.Get(r.ID)
				assert.Equal(t, !tt.purged, ok, name)
				_, ok = store.Get(other.ID)
				assert.True(t, ok, name)
			}
		})
	}
}

func TestPurgeOfAnUnknownRecord(t *testing.T) {
	s := newFolders(t).open(t)
	purged, err := s.Purge(t.Context(), uuid.New(), func(Record) (bool, error) { t.Error("asked"); return true, nil })
	assert.ErrorIs(t, err, ErrNotFound)
	assert.False(t, purged)
}

func TestFailedPurgeKeepsRecord(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r := created(t, s)
	away := f.dir + ".away"
	purged, err := s.Purge(t.Context(), r.ID, func(Record) (bool, error) {
		require.NoError(t, os.Rename(f.dir, away)) // fails for root too, unlike a read-only folder
		return true, os.WriteFile(f.dir, nil, 0o600)
	})
	require.Error(t, err)
	assert.False(t, purged)
	require.NoError(t, os.Remove(f.dir))
	require.NoError(t, os.Rename(away, f.dir))
	for name, store := range map[string]*Store{"memory": s, "disk": f.open(t)} {
		_, ok := store.Get(r.ID)
		assert.True(t, ok, name)
	}
}

// A change that waits while a purge asks finds no record: it cannot bring it back. The purge sees a
// change that runs.
func TestP8_PurgeChecksAtomically(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFolders(t)
		s := f.open(t)
		r := created(t, s)
		running, asked, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			assert.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
				<-running
				r.Name = "changed"
				return save()
			}))
		})
		synctest.Wait()
		wg.Go(func() {
			purged, err := s.Purge(t.Context(), r.ID, func(got Record) (bool, error) {
				assert.Equal(t, "changed", got.Name)
				close(asked)
				<-release
				return true, nil
			})
			assert.NoError(t, err)
			assert.True(t, purged)
		})
		close(running)
		<-asked
		wg.Go(func() {
			assert.ErrorIs(t, s.Do(t.Context(), r.ID, func(_ *Record, save func() error) error { return save() }), ErrNotFound)
		})
		synctest.Wait()
		close(release)
		wg.Wait()
		assert.Empty(t, s.List())
		assert.Empty(t, f.open(t).List())
	})
}

func TestPurgeWaitEndsWithContext(t *testing.T) {
	s := newFolders(t).open(t)
	r := created(t, s)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, s.Do(t.Context(), r.ID, func(*Record, func() error) error {
		_, err := s.Purge(ctx, r.ID, func(Record) (bool, error) { t.Error("asked"); return true, nil })
		assert.ErrorIs(t, err, context.Canceled)
		return nil
	}))
	_, ok := s.Get(r.ID)
	assert.True(t, ok)
}
