package main

import (
	stdlog "log"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
	"ccbot/internal/token"
)

// TestP9_NoLineHasTheToken: a line that has it all the same, in whatever part of
// it, loses it on its way out. So do lines of libraries.
func TestP9_NoLineHasTheToken(t *testing.T) {
	var secret token.Token
	require.NoError(t, secret.UnmarshalText([]byte(goodToken)))
	_, half, _ := strings.Cut(goodToken, ":")
	for _, format := range []string{"text", "json", "auto"} {
		for _, leak := range []string{goodToken, half, url.QueryEscape(goodToken), "https://x/bot" + goodToken + "/getMe"} {
			var out strings.Builder
			c := config.Config{Token: secret, LogFormat: format, LogLevel: "debug"}
			log := newLog(c, c.Level(), &out).With("with", leak).WithGroup("g")
			log.Debug("m "+leak, "error", &url.Error{Op: "Get", URL: leak, Err: os.ErrClosed}, slog.Group("deep", leak, leak),
				"panic", any([]string{leak}))
			assert.NotContains(t, out.String(), tokenSecret)
			assert.Equal(t, 6, strings.Count(out.String(), token.Hole), out.String())

			before := stdlog.Writer()
			out.Reset()
			foreignLog(c, &out)
			stdlog.Printf("http2: Transport encoding header \":path\" = \"/bot%s/getMe\"", leak)
			stdlog.SetOutput(before)
			assert.Contains(t, out.String(), "getMe")
			assert.NotContains(t, out.String(), tokenSecret)
		}
	}
}
