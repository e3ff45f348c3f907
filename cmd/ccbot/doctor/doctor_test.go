package doctor

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/systemfont/fonttest"
)

// TestDocumentHasEachCode compares the codes that docs/doctor.md lists with the program's.
func TestDocumentHasEachCode(t *testing.T) {
	data, err := os.ReadFile("../../../docs/doctor.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(data), "\n## Codes\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var want, got []string
	for _, f := range faults {
		assert.NotContains(t, want, string(f.code), "it names two faults")
		want = append(want, string(f.code))
	}
	for _, item := range strings.Split(section, "\n- ")[1:] {
		_, codes, _ := strings.Cut(item, ":")
		for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(codes, -1) {
			got = append(got, m[1])
		}
	}
	assert.Equal(t, want, got)
}

// TestFaultsAreKnown: found names no code that the document lacks.
func TestFaultsAreKnown(t *testing.T) {
	known := make(map[string]bool)
	for _, f := range faults {
		known[string(f.code)] = true
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	used := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, call := range []string{"found(\"", "Code(\""} {
			for _, after := range strings.Split(string(data), call)[1:] {
				code, _, _ := strings.Cut(after, "\"")
				if strings.HasSuffix(file, "_test.go") {
					continue
				}
				assert.True(t, known[code], "%s: %s", file, code)
				used++
			}
		}
	}
	assert.Greater(t, used, 40)
}

func TestInotify(t *testing.T) {
	tests := []struct {
		name, instances, watches string
		left                     bool // an instance can be had
		want                     Status
		code                     Code
	}{
		{"the kernel's own", "128\n", "8192\n", true, OK, ""},
		{"few instances", "16\n", "65536\n", true, Warn, "inotify_low"},
		{"few watches", "512\n", "1024\n", true, Warn, "inotify_low"},
		{"none left", "128\n", "8192\n", false, Fail, "inotify_used_up"},
		{"another system", "", "", true, Skip, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &World{proc: t.TempDir()}
			dir := filepath.Join(w.proc, "sys", "fs", "inotify")
			require.NoError(t, os.MkdirAll(dir, 0o700))
			for name, text := range map[string]string{"max_user_instances": tt.instances, "max_user_watches": tt.watches} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			f := inotify(w, func() bool { return tt.left })
			assert.Equal(t, []any{tt.want, tt.code}, []any{f.Status, f.Code})
		})
	}
}

func TestClock(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	tests := []struct {
		name          string
		before, after time.Duration // of the question and its answer
		want          Status
	}{
		{"together", -time.Second, time.Second, OK},
		{"a slow answer", -time.Minute, time.Second, OK},
		{"a little ahead", 20 * time.Second, 21 * time.Second, OK},
		{"ahead", time.Minute, time.Minute, Warn},
		{"behind", -time.Hour, -time.Hour, Warn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, clock(at.Add(tt.before), at.Add(tt.after), at).Status)
		})
	}
	assert.Equal(t, Unknown, clock(at, at, time.Time{}).Status)
}

func TestFontsOfOtherLanguages(t *testing.T) {
	for _, tt := range []struct {
		names []string
		want  Status
		fix   string
	}{
		{[]string{"English", "Русский", "Ελληνικά", "Français"}, Skip, ""},
		{[]string{"Deutsch", "한국어"}, OK, ""},
		{[]string{"日本語"}, Warn, "fonts-wqy-microhei"},
		{[]string{"中文", "العربية"}, Warn, "fonts-noto-core"},
	} {
		f := lettersOf(fonttest.Fonts{fonttest.Outlines}, tt.names)
		assert.Equal(t, tt.want, f.Status, tt.names)
		assert.Contains(t, f.Fix, tt.fix)
	}
}

func TestFonts(t *testing.T) {
	chinese := fonttest.Fonts{fonttest.Outlines}
	tests := []struct {
		name, lang string
		chats      []conversation.Settings
		fonts      fonttest.Fonts
		want       Status
	}{
		{"no Chinese", "en", []conversation.Settings{{Language: "ru"}}, nil, Skip},
		{"Chinese by default", "zh", nil, nil, Warn},
		{"a chat in Chinese", "en", []conversation.Settings{{Language: "ru"}, {Language: "zh"}}, nil, Warn},
		{"a person's Telegram is in Chinese", "en", []conversation.Settings{{Telegram: "zh-hans"}}, nil, Warn},
		{"that person has chosen another language", "en", []conversation.Settings{{Telegram: "zh-hans", Language: "en"}}, nil, Skip},
		{"a font", "en", []conversation.Settings{{Language: "zh"}}, chinese, OK},
		{"a font without Chinese", "zh", nil, fonttest.Fonts{fonttest.Emoji}, Warn},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := &World{Fonts: tt.fonts}
			w.Dir, w.Lang = t.TempDir(), tt.lang
			for n, set := range tt.chats {
				store, err := conversation.Open(filepath.Join(w.Dir, "chats"), filepath.Join(w.Dir, "quarantine"), slog.New(slog.DiscardHandler))
				require.NoError(t, err)
				require.NoError(t, store.Set(int64(n+1), func(s *conversation.Settings) { *s = set }))
			}
			all := fonts(t.Context(), w)
			require.Len(t, all, 1)
			assert.Equal(t, tt.want, all[0].Status)
			if tt.want == Warn {
				assert.Equal(t, Code("font_missing"), all[0].Code)
				assert.Contains(t, all[0].Fix, "fonts-wqy-microhei")
			}
			_, err := os.Stat(filepath.Join(w.Dir, "chats"))
			assert.Equal(t, len(tt.chats) == 0, errors.Is(err, fs.ErrNotExist), "nothing is made")
		})
	}
}

// TestPrint has the worst last, and nothing of a foreign name that moves a terminal.
func TestPrint(t *testing.T) {
	var out bytes.Buffer
	r := Report{Checks: []Finding{found("token_refused", "ask", "no"), good("tmux", "well"), found("quarantined", "look", "1 file"), skipped("service", "none")}}
	r.Checks[2].Detail = "a\x1b[31m\nb"
	p := &terminal.Printer{Out: &out}
	r.Print(p)
	require.NoError(t, p.Err)
	assert.Equal(t, `ok    tmux      well
-     service   none
warn  folder    1 file [quarantined]
                a·[31m
                b
                -> look
FAIL  telegram  no [token_refused]
                -> ask
1 ok, 1 warning, 1 fail
`, out.String())
}

func TestP9_ForeignFoldersOfPATHAreNamed(t *testing.T) {
	open := t.TempDir()
	require.NoError(t, os.Chmod(open, 0o777)) //nolint:gosec // others may put programs there
	found := path(&World{vars: map[string]string{"PATH": "/usr/bin:" + open}})
	require.Len(t, found, 1)
	assert.Equal(t, Code("path_writable"), found[0].Code)
	assert.Equal(t, `another user can put a program into "`+open+`", which is in PATH: others may write `+open, found[0].Summary)
	assert.Equal(t, OK, path(&World{vars: map[string]string{"PATH": "/usr/bin"}})[0].Status)
}
