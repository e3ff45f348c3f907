package config

import (
	"encoding/json"
	"fmt"
	stdlog "log"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/logkey"
	"ccbot/internal/token"
)

// TestP9_ConfigurationHidesToken in whatever way it is printed.
func TestP9_ConfigurationHidesToken(t *testing.T) {
	c, err := Load([]string{"HOME=" + t.TempDir(), "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1"})
	require.NoError(t, err)
	inside := struct{ hidden Config }{c}
	for _, form := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%t"} {
		for _, what := range []any{c.Token, c, &c, inside, &inside, []any{c}, map[string]Config{"c": c}} {
			assert.NotContains(t, fmt.Sprintf(form, what), tokenSecret, form)
		}
	}
	data, err := json.Marshal(c)
	require.NoError(t, err)
	assert.NotContains(t, string(data), tokenSecret)
	for _, format := range []string{"text", "json"} {
		var out strings.Builder
		Config{LogFormat: format}.Log(slog.LevelDebug, &out).Info("x", "config", c, "token", c.Token, "inside", inside)
		assert.NotContains(t, out.String(), tokenSecret, "a log that knows of no token")
	}
}

// TestTimeSpanInLogHasUnit in every format, as docs/operations.md says.
func TestTimeSpanInLogHasUnit(t *testing.T) {
	for format, want := range map[string]string{"text": " duration=1.5s g.pause=2m0s\n", "json": `,"duration":"1.5s","g":{"pause":"2m0s"}}` + "\n"} {
		var out strings.Builder
		Config{LogFormat: format}.Log(slog.LevelInfo, &out).Info("x", logkey.Duration, 1500*time.Millisecond,
			slog.Group("g", logkey.Pause, 2*time.Minute))
		assert.True(t, strings.HasSuffix(out.String(), want), out.String())
	}
}

// TestColourIsOff: https://no-color.org.
func TestColourIsOff(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	require.NoError(t, err)
	defer terminal.Close()
	for value, want := range map[string]bool{"": true, "1": false} {
		c, err := Load(set(t, "NO_COLOR="+value))
		require.NoError(t, err)
		_, plain := c.Handler(c.Level(), terminal).(*slog.TextHandler)
		assert.Equal(t, want, !plain, "%q", value)
	}
}

// TestP9_LinesHideToken: a line that has it all the same, in whatever part of
// it, loses it on its way out. So do lines of libraries.
func TestP9_LinesHideToken(t *testing.T) {
	var secret token.Token
	require.NoError(t, secret.UnmarshalText([]byte(goodToken)))
	_, half, _ := strings.Cut(goodToken, ":")
	for _, format := range []string{"text", "json", "auto"} {
		for _, leak := range []string{goodToken, half, url.QueryEscape(goodToken), "https://x/bot" + goodToken + "/getMe"} {
			var out strings.Builder
			c := Config{Token: secret, LogFormat: format, LogLevel: "debug"}
			log := c.Log(c.Level(), &out).With("with", leak).WithGroup("g")
			log.Debug("m "+leak, "error", &url.Error{Op: "Get", URL: leak, Err: os.ErrClosed}, slog.Group("deep", leak, leak),
				"panic", any([]string{leak}))
			assert.NotContains(t, out.String(), tokenSecret)
			assert.Equal(t, 6, strings.Count(out.String(), token.Hole), out.String())

			before := stdlog.Writer()
			out.Reset()
			stdlog.SetOutput(c.Token.Writer(&out))
			stdlog.Printf("http2: Transport encoding header \":path\" = \"/bot%s/getMe\"", leak)
			stdlog.SetOutput(before)
			assert.Contains(t, out.String(), "getMe")
			assert.NotContains(t, out.String(), tokenSecret)
		}
	}
}
