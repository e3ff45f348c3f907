package claudesettings

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

func TestProjectAnswerers(t *testing.T) {
	const allow, hook, plugin = `{"permissions":{"allow":["Bash"]}}`, `{"hooks":{"PermissionRequest":[{"hooks":[]}]}}`, `{"enabledPlugins":{"a@b":true}}`
	for _, tt := range []struct {
		name  string
		files map[string]string // below the work tree; the session runs in sub
		want  []talk.Answerer
	}{
		{"nothing", nil, nil},
		{"a rule", map[string]string{"sub/.claude/settings.json": allow}, []talk.Answerer{talk.AnswersByRule}},
		{"a hook", map[string]string{"sub/.claude/settings.local.json": "\ufeff" + hook}, []talk.Answerer{talk.AnswersByHook}},
		{"a hook before every tool", map[string]string{"sub/.claude/settings.json": `{"hooks":{"PreToolUse":[{}]}}`}, []talk.Answerer{talk.AnswersByHook}},
		{"a plugin", map[string]string{"sub/.claude/settings.json": plugin}, []talk.Answerer{talk.AnswersByPlugin}},
		{"all, in several files", map[string]string{"sub/.claude/settings.json": allow, "sub/.claude/settings.local.json": hook, ".claude/settings.local.json": plugin},
			[]talk.Answerer{talk.AnswersByHook, talk.AnswersByPlugin, talk.AnswersByRule}},
		{"what Claude Code does not read", map[string]string{".claude/settings.json": allow}, nil},
		{"nothing in it", map[string]string{"sub/.claude/settings.json": `{"permissions":{"allow":[]},"hooks":{"PermissionRequest":[],"Stop":[{}]},"enabledPlugins":{"a@b":false}}`}, nil},
		{"hidden behind other letters", map[string]string{"sub/.claude/settings.json": `{"permissions":{"allow":["Bash"]},"Permissions":{"allow":[]},
			"hooks":{"PermissionRequest":[{}]},"HOOKS":7,"enabledPlugins":{"a@b":true},"EnabledPlugins":{"a@b":false}}`}, []talk.Answerer{talk.AnswersByHook, talk.AnswersByPlugin, talk.AnswersByRule}},
		{"one of a wrong type", map[string]string{"sub/.claude/settings.json": `{"permissions":7,"hooks":{"PreToolUse":[{}]}}`}, []talk.Answerer{talk.AnswersByHook}},
		{"behind more blanks than are read", map[string]string{"sub/.claude/settings.json": strings.Repeat(" ", maxUserSettings) + allow}, []talk.Answerer{talk.AnswersByRule}},
		{"no JSON", map[string]string{"sub/.claude/settings.json": "{"}, nil},
		{"other types", map[string]string{"sub/.claude/settings.json": `{"permissions":7,"hooks":[]}`}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := t.TempDir()
			require.NoError(t, os.MkdirAll(filepath.Join(root, ".git"), 0o700))
			require.NoError(t, os.MkdirAll(filepath.Join(root, "sub"), 0o700))
			for name, text := range tt.files {
				require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o600))
			}
			assert.Equal(t, tt.want, ProjectAnswerers(filepath.Join(root, "sub")))
		})
	}
	pipe := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(pipe, ".claude"), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(pipe, ".claude", "settings.json"), 0o600))
	assert.Empty(t, ProjectAnswerers(pipe), "and it does not wait")
}
