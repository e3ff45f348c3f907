package voice

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/environment"
	"ccbot/internal/process"
	"ccbot/internal/waittest"
)

// voiceOf is a VOICE_COMMAND of one script.
func voiceOf(t *testing.T, script string) Command {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "say it.sh")
	require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700))
	table, err := process.NewTable()
	require.NoError(t, err)
	return Command{words: []string{path, "--lang", "a b"}, env: environment.Server([]string{"PATH=" + os.Getenv("PATH"), "TELEGRAM_BOT_TOKEN=secret",
		"ANTHROPIC_API_KEY=secret"}), dir: dir, table: table, limit: time.Minute}
}

func TestVoiceCommand(t *testing.T) {
	const file = "/tmp/$(touch x); voice.oga"
	for _, tt := range []struct{ name, script, want, fails string }{
		{"its arguments", `printf '%s|' "$@"`, "--lang|a b|" + file + "|", ""},
		{"its folder", `[ "$PWD" = "$(dirname "$0")" ] && echo here`, "here\n", ""},
		{"it fails", `echo text; exit 3`, "", "exit status 3"},
		{"it is ended", `kill -9 $$`, "", "killed"},
		{"it says much", `head -c 65536 /dev/zero | tr '\0' a`, strings.Repeat("a", voiceMax), ""},
		{"it says too much", `head -c 65537 /dev/zero | tr '\0' a`, "", errVoiceLong.Error()},
		{"it says too much for ever", `yes`, "", errVoiceLong.Error()},
		{"it says much to nobody", `head -c 200000 /dev/zero >&2; echo ok`, "ok\n", ""},
		{"it asks", `read answer; echo "got $answer"`, "got \n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said, err := voiceOf(t, tt.script).run(t.Context(), file)
			if tt.fails != "" {
				require.ErrorContains(t, err, tt.fails)
				assert.Empty(t, said)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, said)
		})
	}
	t.Run("it is not there", func(t *testing.T) {
		v := voiceOf(t, "")
		v.words = []string{"/nowhere/whisper"}
		_, err := v.run(t.Context(), file)
		require.ErrorIs(t, err, os.ErrNotExist)
	})
}

// The command gets the recording in a separate file, which is removed after it.
func TestVoiceCommandGetsRecording(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	said, err := voiceOf(t, `basename "$3"; cat "$3"`).Text(t.Context(), "../voice-7.oga", []byte("hello"))
	require.NoError(t, err)
	assert.Equal(t, "voice-7.oga\nhello", said)
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestP9_VoiceCommandGetsNoSecret(t *testing.T) {
	said, err := voiceOf(t, "env").run(t.Context(), "x")
	require.NoError(t, err)
	assert.NotContains(t, said, "secret")
}

// A command over its limit ends with all its processes, even if they have detached themselves from
// their parent.
func TestSlowVoiceCommandEnds(t *testing.T) {
	for name, script := range map[string]string{
		"a child":                 "sleep 1000 & echo $! > pids; wait",
		"a grandchild":            `(sleep 1000 & echo $! > pids); sleep 1000 & echo $! >> pids; wait`,
		"one that does not heed":  `trap "" TERM; sleep 1000 & echo $! > pids; wait; wait; sleep 1000`,
		"one that has made noise": `echo hello; echo $$ > pids; exec sleep 1000`,
	} {
		t.Run(name, func(t *testing.T) {
			v := voiceOf(t, script)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			pids := filepath.Join(v.dir, "pids")
			done := make(chan error, 1)
			go func() {
				_, err := v.run(ctx, "x")
				done <- err
			}()
			want := 1 + strings.Count(script, ">>")
			waittest.Until(t, func() bool {
				data, _ := os.ReadFile(pids)
				return strings.Count(string(data), "\n") == want
			})
			cancel()
			require.ErrorIs(t, <-done, context.Canceled)
			data, err := os.ReadFile(pids)
			require.NoError(t, err)
			for _, word := range strings.Fields(string(data)) {
				var pid int
				_, err := fmt.Sscan(word, &pid)
				require.NoError(t, err)
				_, err = v.table.Identify(pid)
				assert.ErrorIs(t, err, process.ErrGone)
			}
		})
	}
	t.Run("by its time", func(t *testing.T) {
		v := voiceOf(t, "sleep 1000")
		v.limit = 50 * time.Millisecond
		_, err := v.run(t.Context(), "x")
		require.ErrorIs(t, err, errVoiceSlow)
	})
}
