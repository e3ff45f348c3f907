package offline

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/config"
)

// TestP9_ClaudeVersionIsReadWithoutSecrets: neither the bot's nor the
// agent's own.
func TestP9_ClaudeVersionIsReadWithoutSecrets(t *testing.T) {
	dir := t.TempDir()
	claude := filepath.Join(dir, "claude")
	require.NoError(t, os.WriteFile(claude, []byte("#!/bin/sh\nenv >\"$0.env\"\necho '2.0.30 (Claude Code)'\n"), 0o700))
	c := config.Config{Claude: "~/claude", Home: dir, ClaudeSet: "/c"}
	b := Claude(c, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TELEGRAM_BOT_TOKEN=1:secret",
		"ANTHROPIC_API_KEY=secret", "ALLOWED_USERS=1"}, nil)
	assert.Equal(t, "2.0.30 (Claude Code)", b.Version(t.Context()))
	env, err := os.ReadFile(claude + ".env")
	require.NoError(t, err)
	assert.NotContains(t, string(env), "secret")
	assert.NotContains(t, string(env), "ALLOWED_USERS")
	assert.Contains(t, string(env), "CLAUDE_CONFIG_DIR=/c\n")
	assert.Contains(t, string(env), "HOME="+dir+"\n")
}
