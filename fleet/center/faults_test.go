package center_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/center"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/member"
	"ccbot/fleet/rights"
	"ccbot/internal/disk"
)

var errFault = errors.New("input/output error")

// failing fails the nth call on a folder, and reports how many calls there were.
func failing(folder string, n int, do func() error) (calls int, err error) {
	end := disk.Fail(func(_, path string) error {
		if path != folder && !strings.HasPrefix(path, folder+"/") {
			return nil
		}
		if calls++; calls == n {
			return errFault
		}
		return nil
	})
	defer end()
	err = do()
	return calls, err
}

// outlives requires that each call on the folder that fails is reported, and that do works after
// the fault.
func outlives(t *testing.T, folder func() string, do func(folder string) error) {
	t.Helper()
	for n := 1; ; n++ {
		dir := folder()
		calls, err := failing(dir, n, func() error { return do(dir) })
		if calls < n {
			require.NoError(t, err)
			assert.Greater(t, n, 2)
			return
		}
		if err == nil {
			t.Logf("call %d of %d is not needed", n, calls)
		} else {
			require.ErrorIs(t, err, errFault)
		}
		require.NoError(t, do(dir))
	}
}

// TestP8_FleetFolderOutlivesFaults fails each call on the folder of the chat.
func TestP8_FleetFolderOutlivesFaults(t *testing.T) {
	pin := strings.Repeat("0", 64)
	fresh := func() string { return filepath.Join(t.TempDir(), "fleet") }
	keys := make(map[string]rights.Trust)
	outlives(t, fresh, func(dir string) error {
		trust, err := center.SetHub(dir, "127.0.0.1:1", pin)
		if was, ok := keys[dir]; ok && err == nil {
			assert.Equal(t, operator(t, was), operator(t, trust))
		}
		if err == nil {
			keys[dir] = trust
		}
		return err
	})
	outlives(t, func() string {
		dir := fresh()
		_, err := center.SetHub(dir, "127.0.0.1:1", pin)
		require.NoError(t, err)
		return dir
	}, func(dir string) error {
		_, err := center.Open(center.Settings{Folder: dir, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
		return err
	})
}

// TestP8_LinkFolderOutlivesFaults: a host whose folder cannot be made is there after a restart, and
// one whose folder cannot be removed is gone.
func TestP8_LinkFolderOutlivesFaults(t *testing.T) {
	w := newWorld(t)
	text, _, err := w.center.Offer(t.Context(), "B")
	require.NoError(t, err)
	code, err := join.ParseCode(text)
	require.NoError(t, err)
	keys, err := member.Keys(t.TempDir())
	require.NoError(t, err)
	asked := make(chan error, 1)
	go func() { _, err := hubtest.Ask(t.Context(), code, keys, join.Machine{}); asked <- err }()
	c, err := w.center.Candidate(t.Context(), "B")
	require.NoError(t, err)
	links := filepath.Join(w.folder, "links")
	_, err = failing(links, 1, func() error {
		_, err := w.center.Decide(t.Context(), c.Code, c.Fingerprint, true)
		return err
	})
	require.ErrorIs(t, err, errFault)
	require.NoError(t, <-asked, "it was let in")
	w.stop()
	w.start()
	require.Len(t, w.center.List(), 1)
	folder := filepath.Join(links, w.center.List()[0].ID)
	defer disk.Fail(func(_, path string) error { // the news that begin to be read are in a folder below
		if path == folder {
			return errFault
		}
		return nil
	})()
	_, err = w.center.Remove(t.Context(), "B")
	require.ErrorIs(t, err, errFault)
	assert.Empty(t, w.center.List())
}

// TestP8_MembershipOutlivesFaults fails each call on the folder of a host.
func TestP8_MembershipOutlivesFaults(t *testing.T) {
	shown := make(map[string]string)
	fresh := func() string { return filepath.Join(t.TempDir(), "fleet") }
	outlives(t, fresh, func(dir string) error {
		keys, err := member.Keys(dir)
		if err == nil && shown[dir] != "" {
			assert.Equal(t, shown[dir], keys.Fingerprint())
		}
		if err == nil {
			shown[dir] = keys.Fingerprint()
		}
		return err
	})
	key, err := join.NewHostKeys()
	require.NoError(t, err)
	a := join.Admission{Hub: link.Hub{Address: "tls://127.0.0.1:1"}, Chat: key.Seal.Public(), ID: "h1", Name: "B"}
	outlives(t, func() string {
		dir := fresh()
		_, err := member.Keys(dir)
		require.NoError(t, err)
		return dir
	}, func(dir string) error {
		if err := member.Joined(dir, a, key); err != nil {
			return err
		}
		m, err := member.Open(dir, slog.New(slog.DiscardHandler))
		if err == nil {
			assert.Equal(t, "B", m.Admission.Name)
		}
		return err
	})
}
