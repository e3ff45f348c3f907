package demoagent

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseFlags(t *testing.T) {
	t.Parallel()
	id := uuid.MustParse("11111111-1111-4111-8111-111111111111")
	tests := []struct {
		name string
		args []string
		want options
	}{
		{"settings and id", []string{"--settings", "f", "--session-id", id.String()}, options{settings: "f", sessionID: id}},
		{"resume joined", []string{"--resume=" + id.String()}, options{resume: id}},
		{"resume short", []string{"-r", id.String(), "--fork-session"}, options{resume: id, fork: true}},
		{"resume without an id", []string{"--resume", "--model", "opus"}, options{recent: true}},
		{"continue", []string{"-c"}, options{recent: true}},
		{"unknown flags and a prompt", []string{"--brand-new", "--effort=high", "say hi"}, options{prompt: "say hi"}},
		{"bypass", []string{"--dangerously-skip-permissions"}, options{mode: "bypassPermissions"}},
		{"name and mode", []string{"-n", "topic", "--permission-mode", "plan"}, options{name: "topic", mode: "plan"}},
		{"version", []string{"--version"}, options{version: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseFlags(tt.args)
			require.NoError(t, err)
			got.raw = nil
			assert.Equal(t, tt.want, got)
		})
	}
	_, err := parseFlags([]string{"--session-id", "nonsense"})
	require.ErrorIs(t, err, errInvalidID)
}

func TestBox(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x\n", 3) + "end"
	wide := strings.Repeat("y", foldChars+1)
	tests := []struct {
		name  string
		act   func(b *box)
		shown string
		plain string
	}{
		{"short pastes are text", func(b *box) { b.paste("a\nb\nc") }, "a\nb\nc", "a\nb\nc"},
		{"long pastes fold", func(b *box) { b.insert("see "); b.paste(long) }, "see [Pasted text #1 +3 lines]", "see " + long},
		{"a long line folds too", func(b *box) { b.paste(wide) }, "[Pasted text #1]", wide},
		{"pasting again unfolds", func(b *box) { b.paste(long); b.paste(long) }, long, long},
		{"numbers go on", func(b *box) { b.paste(long); b.clear(); b.paste(long) }, "[Pasted text #2 +3 lines]", long},
		{"backspace script.Takes a folded paste whole", func(b *box) { b.paste(long); b.backspace() }, "", ""},
		{"C-u script.Takes a row", func(b *box) { b.paste("one\ntwo"); b.killLine(80) }, "one\n", "one\n"},
		{"then the line break", func(b *box) { b.paste("one\ntwo"); b.killLine(80); b.killLine(80) }, "one", "one"},
		{"C-u script.Takes a wrapped row only", func(b *box) { b.insert("abcdefgh"); b.killLine(5) }, "abcde", "abcde"},
		{"C-u script.Takes a folded paste", func(b *box) { b.paste(long); b.killLine(80) }, "", ""},
		{"a leading ! is the shell's", func(b *box) { b.paste("!ls") }, "ls", "ls"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b box
			tt.act(&b)
			assert.Equal(t, tt.shown, strings.Join(b.rows(2000), "\n"))
			assert.Equal(t, tt.plain, b.plain())
		})
	}
	b := box{}
	b.paste(long)
	b.insert("?")
	assert.Equal(t, "\n\n<pasted_content id=\"ab8c\">\n"+long+"\n</pasted_content id=\"ab8c\">\n?", b.prompt(func() string { return "ab8c" }))
	b = box{}
	b.insert(`a\`)
	assert.True(t, b.continueLine())
	assert.Equal(t, "a\n", b.plain())
}

func TestProjectFolder(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "-tmp-proj-We-ird-dir-x--n----1", projectFolder("/tmp/proj/We ird_dir.x/ünï-é@1"))
}

// For any content the screen is filled exactly and no line is wider than the window.
func TestViewFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`([a-z ]|字|é|\n|👍){0,200}`)
		b := &box{}
		b.paste(text.Draw(t, "box"))
		v := view{width: rapid.IntRange(30, 130).Draw(t, "w"), height: rapid.IntRange(12, 50).Draw(t, "h"), box: b, mode: "default",
			busy: rapid.Bool().Draw(t, "busy"), streaming: text.Draw(t, "streaming"), queued: []string{text.Draw(t, "queued")}}
		for kind := userEntry; kind <= endEntry; kind++ {
			v.entries = append(v.entries, entry{kind, strings.TrimSpace(text.Draw(t, "entry"))})
		}
		lines := v.lines()
		require.Len(t, lines, v.height)
		for _, l := range lines {
			require.LessOrEqual(t, ansi.StringWidth(l), v.width, "%q", l)
		}
	})
}

func TestLoadSettingsMerges(t *testing.T) {
	t.Parallel()
	var s settings
	require.NoError(t, s.add([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a"}]}]},"statusLine":{"command":"x"}}`)))
	require.NoError(t, s.add([]byte(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"b","timeout":1.5},{"type":"http","url":"u"}]}],"PermissionRequest":[{"matcher":"Bash|Edit","hooks":[{"type":"command","command":"c"}]}]}}`)))
	assert.Len(t, s.hooksFor("Stop", ""), 2)
	assert.Len(t, s.hooksFor("PermissionRequest", "Bash"), 1)
	assert.Empty(t, s.hooksFor("PermissionRequest", "BashOutput"))
	assert.Equal(t, "x", s.StatusLine.Command)
	assert.Equal(t, []string{"Zzz"}, settings{Hooks: map[string][]hookGroup{"Zzz": nil, "Stop": nil}}.unknownEvents())
	_, err := loadSettings(t.TempDir(), t.TempDir(), "/does/not/exist.json")
	require.Error(t, err)
	inline, err := loadSettings(t.TempDir(), t.TempDir(), `{"permissions":{"defaultMode":"plan"}}`)
	require.NoError(t, err)
	assert.Equal(t, "plan", inline.Permissions.DefaultMode)
}

func TestHookAnswers(t *testing.T) {
	t.Parallel()
	d, ok := permission([]hookResult{{Stdout: []byte("noise")}, {Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"m"}}}`)}})
	assert.True(t, ok)
	assert.Equal(t, "m", d.Message)
	_, ok = permission([]hookResult{{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}`)}})
	assert.False(t, ok)
	reason, no := blocked([]hookResult{{Stdout: []byte(`{"decision":"block","reason":"r"}`)}})
	assert.True(t, no)
	assert.Equal(t, "r", reason)
}

// The keys are those of the real Claude Code.
func TestStatusInputHasKnownKeys(t *testing.T) {
	t.Parallel()
	a := &agent{start: &start{transcript: &transcript{}}}
	assert.ElementsMatch(t, []string{"session_id", "transcript_path", "cwd", "version", "effort", "output_style", "model", "workspace", "cost",
		"context_window", "exceeds_200k_tokens", "fast_mode", "thinking"}, slices.Collect(maps.Keys(a.statusInput())))
}
