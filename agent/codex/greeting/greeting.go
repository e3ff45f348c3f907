// Package greeting introduces ccbot to a server of Codex, which answers nothing before.
//
// It is apart from package appserver because `ccbot-codex`, too, talks to the server, and links nothing else of ccbot.
package greeting

import (
	"context"
	"strings"

	"ccbot/internal/jsonrpc"
)

// Greet introduces ccbot, and returns the version of the server; empty: it is unknown. The server answers with "ccbot/VERSION (system) …".
func Greet(ctx context.Context, c *jsonrpc.Conn) (version string, err error) {
	hello := map[string]any{"clientInfo": map[string]string{"name": "ccbot", "title": "ccbot", "version": "1"},
		"capabilities": map[string]bool{"experimentalApi": true}}
	var server struct {
		UserAgent string `json:"userAgent"`
	}
	if err := c.Call(ctx, "initialize", hello, &server); err != nil {
		return "", err
	}
	product, _, _ := strings.Cut(server.UserAgent, " ")
	_, version, _ = strings.Cut(product, "/")
	return version, c.Send(ctx, jsonrpc.Message{Method: "initialized"})
}
