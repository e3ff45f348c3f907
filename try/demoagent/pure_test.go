package demoagent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestParseFlags(t *testing.T) {
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

func TestDecoder(t *testing.T) {
	tests := []struct {
		name, bytes string
		want        []input
	}{
		{"text and Enter", "héy\r", []input{{keyText, "héy"}, {key: keyEnter}}},
		{"line feed", "a\nb", []input{{keyText, "a"}, {key: keyNewline}, {keyText, "b"}}},
		{"paste", "\x1b[200~a\rb\tc\x1b[201~\r", []input{{keyPaste, "a\nb    c"}, {key: keyEnter}}},
		{"a paste cannot be ended from inside without harm", "\x1b[200~ab\x1b[201~ cd\x1b[201~",
			[]input{{keyPaste, "ab"}, {keyText, " cd"}, {key: keyOther}}},
		{"control characters in a paste", "\x1b[200~a\x00\x07b\x1b[201~", []input{{keyPaste, "ab"}}},
		{"keys", "\x1b[A\x1b[B\x15\x03\x7f\t", []input{{key: keyUp}, {key: keyDown}, {key: keyKillLine}, {key: keyInterrupt}, {key: keyBackspace}, {key: keyTab}}},
		{"two escapes", "\x1b\x1b", []input{{key: keyEscape}, {key: keyEscape}}},
		{"escape then letter later", "\x1b", []input{{key: keyEscape}}},
		{"invalid UTF-8", "a\xffb", []input{{keyText, "a\uFFFDb"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var d decoder
			got := d.feed([]byte(tt.bytes))
			assert.Equal(t, tt.want, append(got, d.flush()...))
		})
	}
}

// However a read cuts the bytes, the same arrives.
func TestDecoderAcceptsCutBytes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé⏸\n ]{0,40}`).Draw(t, "text")
		stream := "x" + string(pasteStart) + text + string(pasteEnd) + "é\r"
		var d decoder
		var got []input
		for rest := []byte(stream); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			got = append(got, d.feed(rest[:n])...)
			rest = rest[n:]
		}
		assert.Equal(t, []input{{keyText, "x"}, {keyPaste, text}, {keyText, "é"}, {key: keyEnter}}, got)
	})
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte("\x1b[200~a\x1b[201~\x1b[A\x1b"))
	f.Add([]byte("\xe2\x8f"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d decoder
		for _, in := range append(d.feed(data), d.flush()...) {
			assert.True(t, utf8.ValidString(in.text))
		}
	})
}

func TestBox(t *testing.T) {
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
		{"backspace takes a folded paste whole", func(b *box) { b.paste(long); b.backspace() }, "", ""},
		{"C-u takes a row", func(b *box) { b.paste("one\ntwo"); b.killLine(80) }, "one\n", "one\n"},
		{"then the line break", func(b *box) { b.paste("one\ntwo"); b.killLine(80); b.killLine(80) }, "one", "one"},
		{"C-u takes a wrapped row only", func(b *box) { b.insert("abcdefgh"); b.killLine(5) }, "abcde", "abcde"},
		{"C-u takes a folded paste", func(b *box) { b.paste(long); b.killLine(80) }, "", ""},
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

func TestDecide(t *testing.T) {
	tests := []struct {
		name, prompt string
		check        func(t *testing.T, s Step)
	}{
		{"say", "say X  y\nz", func(t *testing.T, s Step) { assert.Equal(t, "X  y\nz", s.Text) }},
		{"bash", "bash rm -rf /", func(t *testing.T, s Step) { assert.Equal(t, "rm -rf /", s.Tool.Command) }},
		{"ask", "ask", func(t *testing.T, s Step) { assert.Len(t, s.Tool.Questions, 2) }},
		{"ask multi", "ask multi", func(t *testing.T, s Step) { assert.True(t, s.Tool.Questions[0].MultiSelect) }},
		{"plan", "plan", func(t *testing.T, s Step) { assert.Equal(t, "ExitPlanMode", s.Tool.Name) }},
		{"slow is bounded", "slow 999999999", func(t *testing.T, s Step) { assert.Equal(t, longest, s.Over) }},
		{"long", "long 4321", func(t *testing.T, s Step) { assert.Len(t, s.Text, 4321) }},
		{"error", "error", func(t *testing.T, s Step) { assert.NotEmpty(t, s.Error) }},
		{"crash in a sentence is a word", "crash course, please", func(t *testing.T, s Step) { assert.False(t, s.Crash) }},
		{"help", "help", func(t *testing.T, s Step) { assert.Contains(t, s.Text, "`bash make test`") }},
		{"anything", "why\nthough", func(t *testing.T, s Step) { assert.Contains(t, s.Text, "> why\n> though\n") }},
		{"nothing", "", func(t *testing.T, s Step) { assert.NotEmpty(t, s.Text) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			steps := Decide(tt.prompt)
			require.Len(t, steps, 1)
			tt.check(t, steps[0])
		})
	}
}

func TestProjectFolder(t *testing.T) {
	assert.Equal(t, "-tmp-proj-We-ird-dir-x--n----1", projectFolder("/tmp/proj/We ird_dir.x/ünï-é@1"))
}

// For any content the screen is filled exactly and no line is wider than the window.
func TestViewFits(t *testing.T) {
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
	d, ok := permission([]hookResult{{Stdout: []byte("noise")}, {Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"m"}}}`)}})
	assert.True(t, ok)
	assert.Equal(t, "m", d.Message)
	_, ok = permission([]hookResult{{Stdout: []byte(`{"hookSpecificOutput":{"hookEventName":"PreToolUse"}}`)}})
	assert.False(t, ok)
	reason, no := blocked([]hookResult{{Stdout: []byte(`{"decision":"block","reason":"r"}`)}})
	assert.True(t, no)
	assert.Equal(t, "r", reason)
}

func TestLong(t *testing.T) {
	for _, n := range []int{0, 1, 400, 12345} {
		assert.Equal(t, n, utf8.RuneCountInString(Long(n)))
	}
	assert.Contains(t, Long(400), "```go\n")
}
