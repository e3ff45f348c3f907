package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/doctor"
)

// TestDoctorFindsEachPartThatEndsRun puts a file in the place of each folder of ccbot's folder, and a
// folder in the place of each file. If `ccbot run` then ends before it asks Telegram, `ccbot doctor`
// has a failure. Doctor cannot know of another `run` in that second, and of the network.
func TestDoctorFindsEachPartThatEndsRun(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.away()
	p.lives()
	_, end := p.starts("msg=ready")
	end()
	parts, err := os.ReadDir(p.state)
	require.NoError(t, err)
	require.Greater(t, len(parts), 10)
	ends := 0
	for _, part := range parts {
		path, kept := filepath.Join(p.state, part.Name()), filepath.Join(p.root, "kept")
		require.NoError(t, os.Rename(path, kept))
		if part.IsDir() {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
		} else {
			require.NoError(t, os.Mkdir(path, 0o700))
		}
		if said, ended := p.endsBeforePoll(); ended {
			ends++
			cmd := exec.Command(p.me, "doctor", "--json")
			cmd.Env = p.environ()
			out, _ := cmd.Output()
			var r doctor.Report
			require.NoError(t, json.Unmarshal(out, &r), string(out))
			assert.True(t, slices.ContainsFunc(r.Checks, func(f doctor.Finding) bool { return f.Status == doctor.Fail && f.ID == "folder" }), "%s: %s%s", part.Name(), said, out)
		}
		require.NoError(t, os.RemoveAll(path))
		require.NoError(t, os.Rename(kept, path))
	}
	assert.Positive(t, ends)
}

// endsBeforePoll starts a bot, and reports whether it ends before it is ready.
func (p *patient) endsBeforePoll() (said string, ended bool) {
	p.t.Helper()
	var mu sync.Mutex
	var all bytes.Buffer
	ready, stop := context.WithCancel(p.t.Context())
	defer stop()
	cmd := exec.Command(p.me, "run")
	cmd.Env = p.environ()
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
