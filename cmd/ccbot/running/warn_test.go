package running

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
)

// A start warns of a file whose settings set nothing, and of missing commands.
func TestStartWarnsOfObstacles(t *testing.T) {
	home := t.TempDir()
	text := "TELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USER=7\nALLOWED_USERS=7\nPROXY_ADDRESS=x\nAAsecret0secret=1\n" +
		"VOICE_COMMAND=no-such-voice -x\nCLAUDE_COMMAND=./no-such-claude\n"
	open := filepath.Join(home, "open")
	require.NoError(t, os.Mkdir(open, 0o700))
	require.NoError(t, os.Chmod(open, 0o777)) //nolint:gosec // others may put programs there
	require.NoError(t, os.WriteFile(filepath.Join(home, "ccbot.env"), []byte(text), 0o600))
	c, err := config.Load([]string{"HOME=" + home, "CCBOT_DIR=" + home, "OTHER_SETTING=1"})
	require.NoError(t, err)
	var out strings.Builder
	warn(c, "/usr/bin:"+open, config.Config{LogFormat: "text"}.Log(slog.LevelInfo, &out))
	for _, want := range []string{
		"path_writable_by_others.*folder=" + open + " why=.others may write " + open + ".",
		"setting_unknown.*name=ALLOWED_USER nearest=ALLOWED_USERS",
		`setting_unknown.*name=PROXY_ADDRESS nearest=""`,
		`setting_unknown.*name="a name that is not shown"`,
		"voice_command_missing.*command=no-such-voice ",
		"claude_missing.*command=./no-such-claude ",
	} {
		assert.Regexp(t, want, out.String())
	}
	assert.NotContains(t, out.String(), "AAsecret")
	assert.Equal(t, 6, strings.Count(out.String(), "\n"), out.String())
}

// A start without Claude Code warns if there is no other agent, or a setting names Claude Code.
func TestStartWithOnlyCodex(t *testing.T) {
	home := t.TempDir()
	t.Setenv("PATH", home)
	for _, tt := range []struct {
		name  string
		codex bool
		more  []string
		want  bool
	}{
		{"no agent", false, nil, true},
		{"only Codex", true, nil, false},
		{"a setting names Claude Code", true, []string{"CLAUDE_COMMAND=/none"}, true},
	} {
		if tt.codex {
			require.NoError(t, os.WriteFile(filepath.Join(home, "codex"), nil, 0o700))
		}
		c, err := config.Load(append([]string{"HOME=" + home, "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=7"}, tt.more...))
		require.NoError(t, err)
		var out strings.Builder
		warn(c, "", config.Config{LogFormat: "text"}.Log(slog.LevelInfo, &out))
		assert.Equal(t, tt.want, strings.Contains(out.String(), "claude_missing"), tt.name)
	}
}

// A start checks the file that it read, even if that file names another folder.
func TestStartChecksFileItRead(t *testing.T) {
	home, other := t.TempDir(), t.TempDir()
	file := filepath.Join(home, ".ccbot", "ccbot.env")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	text := "CCBOT_DIR=" + other + "\nTELEGRAM_BOT_TOKEN=" + goodToken + "\nALLOWED_USERS=7\nALLOWED_USER=7\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	c, err := config.Load([]string{"HOME=" + home, "CCBOT_ALLOW_READABLE_ENV=1"})
	require.NoError(t, err)
	require.Equal(t, other, c.Dir)
	var out strings.Builder
	warn(c, "", config.Config{LogFormat: "text"}.Log(slog.LevelInfo, &out))
	for _, event := range []string{"configuration_readable_by_others", "setting_unknown"} {
		assert.Contains(t, out.String(), event+" file="+file)
	}
}
