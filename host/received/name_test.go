package received

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestP9_HostileNamesAreMadeHarmless(t *testing.T) {
	for _, tt := range []struct{ name, wished, want string }{
		{"an ordinary one", "report.pdf", "report.pdf"},
		{"every script", "Отчёт за май (2).pdf", "Отчёт_за_май_(2).pdf"},
		{"Chinese", "报告，最终版.docx", "报告，最终版.docx"},
		{"an emoji", "🚀.png", "🚀.png"},
		{"traversal", "../../etc/passwd", "passwd"},
		{"an absolute path", "/etc/cron.d/x", "x"},
		{"a path of another system", `C:\Windows\evil.exe`, "evil.exe"},
		{"only dots", "..", "file"},
		{"nothing", "", "file"},
		{"a path that ends", "a/", "file"},
		{"a hidden one", ".bashrc", "bashrc"},
		{"git's own", ".gitignore", "gitignore"},
		{"ours while it is not whole", ".part-5", "part-5"},
		{"a module", "__init__.py", "__init__.py"},
		{"a blank that is a shape", "\u2800.txt", "_.txt"},
		{"an option", "--upload-pack=x", "upload-pack=x"},
		{"a mention", "@CHANGELOG.md", "CHANGELOG.md"},
		{"a mention within", "a。@notes.txt", "a。_notes.txt"},
		{"all of these", " .@-~_x", "_x"},
		{"another line", "a\nAttached file: .env", "a_Attached_file__.env"},
		{"a carriage return and a bell", "a\r\x07b", "a_b"},
		{"an end of paste", "a\x1b[201~b", "a[201~b"},
		{"turned around", "gpj.\u202eexe.txt", "gpj.exe.txt"},
		{"isolates", "\u2066a\u2069.txt", "a.txt"},
		{"without width", "a\u200b\u2060\ufeff\u00ad.txt", "a.txt"},
		{"fillers", "\u3164\u115f\uffa0.txt", "txt"},
		{"tags", "a\U000e0041\U000e0042.txt", "a.txt"},
		{"another blank", "a\u00a0\u2003b\u2028c.txt", "a__b_c.txt"},
		{"a command", "$(touch x)`id`;|&<>*?!#.sh", "_(touch_x)_id__________.sh"},
		{"quotes", `it's "so".txt`, "it_s__so_.txt"},
		{"no text", "\xff\xfe.bin", "bin"},
		{"instructions", "CLAUDE.md", "file-CLAUDE.md"},
		{"instructions in disguise", "./.claude\u200b.MD", "file-claude.MD"},
		{"instructions behind a second dot", "CLAUDE..md", "file-CLAUDE.md"},
		{"of other agents", "AGENTS.md", "file-AGENTS.md"},
		{"a long one", strings.Repeat("a", 200) + ".pdf", strings.Repeat("a", 76) + ".pdf"},
		{"a long one of two bytes each", strings.Repeat("я", 200) + ".txt", strings.Repeat("я", 38) + ".txt"},
		{"a long ending", "a." + strings.Repeat("b", 200), "a." + strings.Repeat("b", 78)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, safeName(tt.wished))
		})
	}
}

func TestNumberedNamesKeepTheirEnding(t *testing.T) {
	assert.Equal(t, "a.tar.gz", numbered("a.tar.gz", 1))
	assert.Equal(t, "a.tar-2.gz", numbered("a.tar.gz", 2))
	assert.Equal(t, "a-12", numbered("a", 12))
	long := safeName(strings.Repeat("я", 100) + ".pdf")
	assert.LessOrEqual(t, len(numbered(long, 999)), maxName)
	assert.True(t, strings.HasSuffix(numbered(long, 999), "-999.pdf"))
}

func FuzzSafeName(f *testing.F) {
	for _, seed := range []string{"", "a.txt", "../..", ".@-\u202e", "CLAUDE..md", "\xff", strings.Repeat("я", 100), "a.\u200b", "x.y.z"} {
		f.Add(seed, 1)
	}
	f.Fuzz(func(t *testing.T, wished string, n int) {
		if n < 1 || n > names {
			n = 1
		}
		name := numbered(safeName(wished), n)
		require.NotEmpty(t, name)
		require.LessOrEqual(t, len(name), maxName)
		require.True(t, utf8.ValidString(name))
		require.True(t, filepath.IsLocal(name))
		require.Equal(t, filepath.Base(name), name)
		require.NotContains(t, ".-@~ ", name[:1])
		require.False(t, instructs(name))
		for _, r := range name {
			require.True(t, unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r), "%U in %q", r, name)
			require.NotContains(t, "/\\$`\"'|&;<>*?!#:", string(r))
		}
		if n == 1 {
			require.Equal(t, name, safeName(name), "a safe name stays as it is")
		}
	})
}
