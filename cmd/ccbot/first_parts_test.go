package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/doctor"
	"ccbot/internal/programtest"
)

// TestDoctorFindsEachPartThatEndsRun puts a file in the place of each folder of ccbot's folder, and a
// folder in the place of each file, and damages the content of each file. If `ccbot run` then ends before it
// asks Telegram, `ccbot doctor` has a failure. Doctor cannot know of another `run` in that second, and of the
// network.
func TestDoctorFindsEachPartThatEndsRun(t *testing.T) {
	t.Parallel()
	p := ranOnce(t)
	ends := 0
	p.eachPart(1, func(path string, part fs.DirEntry) {
		kept := filepath.Join(p.root, "kept")
		require.NoError(t, os.Rename(path, kept))
		if part.IsDir() {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		} else {
			require.NoError(t, os.Mkdir(path, 0o700))
		}
		ends += p.failsInBoth(path)
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, os.Rename(kept, path))
	})
	p.eachPart(9, func(path string, part fs.DirEntry) {
		if !part.Type().IsRegular() {
			return
		}
		was, err := os.ReadFile(path)
		require.NoError(t, err)
		for _, damaged := range []string{"", "\x00{]", string(was[:len(was)/2])} {
			require.NoError(t, os.WriteFile(path, []byte(damaged), 0o600))
			ends += p.failsInBoth(path)
		}
		require.NoError(t, os.WriteFile(path, was, 0o600))
	})
	assert.Positive(t, ends)
}

// TestDoctorFindsEachForeignPart_AsRoot gives each part of the folder to another user, or takes all rights from
// its owner.
func TestDoctorFindsEachForeignPart_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	p := ranOnce(t)
	const nobody = 65534
	p.set("TMUX_TMPDIR", p.root+"/tmux")
	t.Cleanup(func() {
		socket := fmt.Sprintf("%s/tmux/tmux-%d/%s", p.root, nobody, p.env["CCBOT_TMUX_SOCKET"])
		assert.NoError(t, exec.Command("tmux", "-S", socket, "kill-server").Run())
	})
	p.as = &syscall.Credential{Uid: nobody, Gid: nobody}
	bin := filepath.Dir(p.me) // its program is a link to this test's
	require.NoError(t, os.Chmod(bin, 0o755))
	require.NoError(t, filepath.WalkDir(p.root, func(path string, _ fs.DirEntry, err error) error {
		if path == bin {
			return fs.SkipDir
		}
		return errors.Join(err, os.Lchown(path, nobody, nobody))
	}))
	said, ended := p.endsBeforePoll()
	require.False(t, ended, said)
	ends := 0
	p.eachPart(9, func(path string, _ fs.DirEntry) {
		info, err := os.Lstat(path)
		require.NoError(t, err)
		require.NoError(t, os.Chmod(path, 0))
		ends += p.failsInBoth(path)
		require.NoError(t, errors.Join(os.Chmod(path, info.Mode().Perm()&0o700), os.Lchown(path, 0, 0)))
		ends += p.failsInBoth(path)
		require.NoError(t, errors.Join(os.Lchown(path, nobody, nobody), os.Chmod(path, info.Mode().Perm())))
	})
	assert.Positive(t, ends)
}

// ranOnce returns a patient whose bot has made its folder, and has ended.
func ranOnce(t *testing.T) *patient {
	t.Helper()
	p := newPatient(t)
	p.away()
	p.lives()
	_, end := p.starts("msg=ready")
	end()
	return p
}

// eachPart calls do for what was in ccbot's folder before, down to a depth.
func (p *patient) eachPart(depth int, do func(path string, part fs.DirEntry)) {
	p.t.Helper()
	all := make(map[string]fs.DirEntry)
	require.NoError(p.t, filepath.WalkDir(p.state, func(path string, part fs.DirEntry, err error) error {
		if err != nil || path == p.state {
			return err
		}
		all[path] = part
		if inside, _ := filepath.Rel(p.state, path); part.IsDir() && strings.Count(inside, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	}))
	require.Greater(p.t, len(all), 10)
	for path, part := range all {
		if _, err := os.Lstat(path); err == nil {
			do(path, part)
		}
	}
}

// failsInBoth returns 1 if `ccbot run` ends before it asks Telegram; then `ccbot doctor` must have a failure.
func (p *patient) failsInBoth(path string) int {
	p.t.Helper()
	said, ended := p.endsBeforePoll()
	if !ended {
		return 0
	}
	cmd := exec.Command(p.me, "doctor", "--json")
	cmd.Env, cmd.SysProcAttr = p.environ(), &syscall.SysProcAttr{Credential: p.as}
	out, _ := cmd.Output()
	var r doctor.Report
	require.NoError(p.t, json.Unmarshal(out, &r), string(out))
	assert.True(p.t, slices.ContainsFunc(r.Checks, func(f doctor.Finding) bool { return f.Status == doctor.Fail && f.ID != "telegram" }), "%s: %s%s", path, said, out)
	return 1
}

// endsBeforePoll starts a bot, and reports whether it ends before it is ready.
func (p *patient) endsBeforePoll() (said string, ended bool) {
	p.t.Helper()
	var mu sync.Mutex
	var all bytes.Buffer
	ready, stop := context.WithCancel(p.t.Context())
	defer stop()
	cmd := exec.Command(p.me, "run")
	cmd.Env, cmd.SysProcAttr = p.environ(), &syscall.SysProcAttr{Credential: p.as}
	cmd.Stderr = writer(func(data []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		n, err := all.Write(data)
		if bytes.Contains(all.Bytes(), []byte("msg=ready")) {
			stop()
		}
		return n, err
	})
	require.NoError(p.t, cmd.Start())
	over := make(chan error, 1)
	go func() { over <- cmd.Wait() }()
	select {
	case <-over:
		ended = true
	case <-ready.Done():
		_ = cmd.Process.Signal(syscall.SIGTERM)
		<-over
	}
	mu.Lock()
	defer mu.Unlock()
	return all.String(), ended
}
