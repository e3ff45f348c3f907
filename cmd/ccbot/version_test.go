package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestVersionNamesCommit(t *testing.T) {
	assert.Equal(t, "ccbot v1.2.3, commit 0123456789ab of 2026-05-04,", withCommit("ccbot v1.2.3", "0123456789ab of 2026-05-04"))
	assert.Equal(t, "ccbot v1.2.3", withCommit("ccbot v1.2.3", ""))
}

func TestReleaseIsReadThroughProxy(t *testing.T) {
	var asked []string
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.Method+" "+r.Host)
		http.Error(w, "no way out", http.StatusForbidden)
	}))
	defer proxy.Close()
	home := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(home, ".ccbot"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".ccbot", "ccbot.env"), []byte("HTTPS_PROXY="+proxy.URL+"\n"), 0o600))
	err := checkPublished(t.Context(), []string{"HOME=" + home, "CCBOT_RELEASE_URL=https://releases.invalid/files"}, t.Output())
	require.Error(t, err)
	assert.Equal(t, []string{"CONNECT releases.invalid:443"}, asked)
}

func TestVersionRefusesArguments(t *testing.T) {
	for _, args := range [][]string{{"version", "a"}, {"version", "a", "b"}, {"version", "--check", "a", "b"}, {"version", "--check=a", "b"}} {
		assert.Equal(t, 2, run(args, []string{"HOME=" + t.TempDir()}, io.Discard, io.Discard), "%q", args)
	}
}
