package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/link"
	"ccbot/fleet/rights"
)

// run runs the program with arguments until it ends.
func run(t *testing.T, env map[string]string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems strings.Builder
	p := program{getenv: func(name string) string { return env[name] }, stdout: &out, stderr: &problems}
	code = p.main(t.Context(), args)
	return code, out.String(), problems.String()
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"-h"}, {"pin", "--help"}} {
		code, stdout, stderr := run(t, nil, args...)
		assert.Equal(t, 0, code)
		assert.Contains(t, stdout, "usage: ccbot-hub")
		for _, name := range []string{"-listen", "-dir", "-trust", "-max-store", "0.0.0.0:4443"} {
			assert.Contains(t, stdout, name)
		}
		assert.Empty(t, stderr)
	}
}

func TestWrongUsage(t *testing.T) {
	home := map[string]string{"HOME": t.TempDir()}
	for _, tt := range []struct {
		name string
		env  map[string]string
		args []string
		want string
	}{
		{"unknown flag", home, []string{"--port", "1"}, "not defined: -port"},
		{"unknown command", home, []string{"start"}, `unknown command "start"`},
		{"unknown argument", home, []string{"pin", "x"}, `unknown argument "x"`},
		{"no fleet", home, nil, "the chat's machine makes the file"},
		{"no home", nil, nil, "set --dir"},
		{"store of nothing", home, []string{"--max-store", "0"}, "at least 4096 MiB"},
		{"store that is too small for a fleet", home, []string{"--max-store", "4095"}, "at least 4096 MiB"},
		{"variable that is no number", map[string]string{"HOME": "/x", "CCBOT_HUB_MAX_STORE": "big"}, nil, "CCBOT_HUB_MAX_STORE"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, stdout, stderr := run(t, tt.env, tt.args...)
			assert.Equal(t, 2, code)
			assert.Empty(t, stdout)
			assert.Contains(t, stderr, tt.want)
		})
	}
}

// TestDescriptionHasAllFlags: the man page has each flag and each variable.
func TestDescriptionHasAllFlags(t *testing.T) {
	code, stdout, _ := run(t, map[string]string{"HOME": t.TempDir(), "CCBOT_HUB_LISTEN": "h:1"}, "describe-commands")
	assert.Equal(t, 0, code)
	var d described
	require.NoError(t, json.Unmarshal([]byte(stdout), &d))
	var names []string
	for _, f := range d.Flags {
		names = append(names, f.Name)
	}
	assert.Equal(t, []string{"dir", "listen", "max-store", "trust"}, names)
	assert.Equal(t, "0.0.0.0:4443", d.Flags[1].Default, "not the value of this environment")
	require.Len(t, d.More, 3)
	assert.Len(t, d.More[2].Rows, len(names))
}

func TestUnitRunsThisProgram(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	code, stdout, _ := run(t, map[string]string{"HOME": t.TempDir()}, "unit")
	assert.Equal(t, 0, code)
	assert.Contains(t, stdout, "\nExecStart="+self+"\n")
	assert.Contains(t, stdout, "\nRestartPreventExitStatus=2\n")
}

// A hub that runs serves the fleet of its file, has the pin that the verb printed before, and ends
// with its context.
func TestHubServesItsFleet(t *testing.T) {
	keys, err := rights.NewKeys()
	require.NoError(t, err)
	trust, err := keys.Trust()
	require.NoError(t, err)
	data, err := json.Marshal(trust)
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "trust.json"), data, 0o600))
	env := map[string]string{"CCBOT_HUB_DIR": dir, "CCBOT_HUB_LISTEN": "127.0.0.1:0"}
	code, pin, _ := run(t, env, "pin")
	require.Equal(t, 0, code)

	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int)
	go func() {
		p := program{getenv: func(name string) string { return env[name] }, stdout: write, stderr: os.Stderr}
		ended <- p.main(ctx, nil)
	}()
	line := make([]byte, 200)
	n, err := read.Read(line)
	require.NoError(t, err)
	address, shown, found := strings.Cut(strings.TrimPrefix(string(line[:n]), "listening on "), ", pin ")
	require.True(t, found, string(line[:n]))
	assert.Equal(t, pin, shown)

	account, err := keys.AccountJWT(nil)
	require.NoError(t, err)
	at := link.Hub{Address: "nats://" + address, Pin: fromHex(t, strings.TrimSpace(pin))}
	chat, err := link.OpenChat(t.Context(), at, keys, link.Fleet{Account: account, Hosts: []string{"h1"}})
	require.NoError(t, err)
	require.NoError(t, chat.SendCommand(t.Context(), "h1", time.Now().String(), []byte("start")))
	require.NoError(t, chat.Close())
	stop()
	assert.Equal(t, 0, <-ended)
}

func fromHex(t *testing.T, text string) []byte {
	t.Helper()
	data, err := hex.DecodeString(text)
	require.NoError(t, err)
	return data
}
