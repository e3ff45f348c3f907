package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/exit"
)

// TestP9_DoctorUsesNoForeignFile: others who may write the settings could have
// named a program to run and a server to send the token to.
func TestP9_DoctorUsesNoForeignFile(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	var asked atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	t.Cleanup(server.Close)
	p.script("other", "touch "+p.root+"/ran; echo 1.0")
	delete(p.env, "TELEGRAM_API_URL")
	path := p.write("s/ccbot.env", "CLAUDE_COMMAND="+p.tools+"/other\nTELEGRAM_API_URL="+server.URL+"\n", 0o666)
	r, faults := p.report(exit.Failure, "--fix")
	assert.Empty(t, r.Fixed)
	assert.Contains(t, faults["folder_refused"].Summary, "look at what is in it first")
	assert.Contains(t, faults["folder_refused"].Detail, "the token")
	assert.NoFileExists(t, p.root+"/ran")
	assert.False(t, asked.Load())
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o666), info.Mode().Perm())
}

// TestDoctorLeavesAPersonsFiles in the root of the folder, where ccbot.env and its copies lie.
func TestDoctorLeavesAPersonsFiles(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.away()
	mine := []string{"s/.ccbot.env.20261101", "s/.ccbot.env1234567890123456789", "s/.notes2026", "s/.instance.old2", "s/.instance"}
	for _, name := range append([]string{"s/.instance1234567890123456789"}, mine...) {
		p.old(name)
	}
	r, _ := p.report(exit.OK, "--fix")
	require.Len(t, r.Fixed, 1)
	assert.Equal(t, "removed "+p.state+"/.instance1234567890123456789", r.Fixed[0].Did)
	assert.NoFileExists(t, p.state+"/.instance1234567890123456789")
	for _, name := range mine {
		assert.FileExists(t, filepath.Join(p.root, name))
	}
}

// TestDoctorKeepsHooksUnderWrongSettings: they may name another folder of Claude Code.
func TestDoctorKeepsHooksUnderWrongSettings(t *testing.T) {
	t.Parallel()
	p := newPatient(t)
	p.claude = p.root + "/.claude"
	p.hooks(func(s string) string { return strings.ReplaceAll(s, p.root+"/bin/", p.root+"/gone/") })
	require.NoError(t, os.Rename(p.root+"/claude", p.claude)) // Claude Code's folder
	before, err := os.ReadFile(p.claude + "/settings.json")
	require.NoError(t, err)
	p.write("s/ccbot.env", "LANG=\"x\n", 0o600)
	r, faults := p.report(exit.Failure, "--fix")
	assert.Contains(t, faults, doctor.Code("settings_wrong"))
	assert.NotContains(t, faults, doctor.Code("hooks_elsewhere"))
	assert.Empty(t, r.Fixed)
	after, err := os.ReadFile(p.claude + "/settings.json")
	require.NoError(t, err)
	assert.Equal(t, string(before), string(after))
}
