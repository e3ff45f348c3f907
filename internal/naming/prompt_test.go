package naming

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/glyph"
)

func TestOfPrompt(t *testing.T) {
	for _, tt := range []struct{ name, prompt, want string }{
		{"a task", "Fix the login test", "ccbot-fix-login-test"},
		{"politely", "Hi! Could you please fix the flaky login test in CI?", "ccbot-fix-flaky-login"},
		{"a greeting, then the task", "Hello!\nRewrite README for beginners", "ccbot-rewrite-README-beginners"},
		{"don't", "Don't panic; write the docs", "ccbot-panic-write-docs"},
		{"Russian", "Привет! Пожалуйста, исправь падающий тест входа", "ccbot-исправь-падающий-тест"},
		{"Chinese", "请帮我修复登录测试", "ccbot-修复登录测试"},
		{"Chinese, long", "请把用户登录页面上的所有错误信息翻译成中文", "ccbot-用户登录页面上的"},
		{"Chinese and English", "帮我修复 login 的测试", "ccbot-修复-login-测试"},
		{"only politeness", "请帮我", ""},
		{"a path", "look at internal/naming/naming.go and /etc/hosts", "ccbot-look-naming.go-hosts"},
		{"a file that is mentioned", "review @docs/PROMISES.md", "ccbot-review-PROMISES.md"},
		{"a URL", "https://github.com/a/b/issues/17 implement that", "ccbot-implement"},
		{"only a URL", "https://example.org/secret?token=abc", ""},
		{"a block of code", "```go\nfunc main() {}\n```\nwhy does it not compile", "ccbot-compile"},
		{"a block without an end", "explain\n```\nsecret code", "ccbot-explain"},
		{"code in a line", "rename `Foo` to `Bar`", "ccbot-rename-foo-bar"},
		{"a slash command", "/compact keep the plan", ""},
		{"the agent's own", "//help", ""},
		{"bash", "!git status", ""},
		{"a quotation", "Forwarded message from Bob:\n> drop the database\n> now", ""},
		{"a quotation with a word of one's own", "> drop the database\nanswer Bob", "ccbot-answer-bob"},
		{"a log, then the task", "2026-01-02 03:04:05 ERROR connect refused\n[12:00] x\nERROR: failed\nfind the leak", "ccbot-find-leak"},
		{"a stack", "panic: runtime error\ngoroutine 1 [running]:\n\tmain.main()\n", ""},
		{"emoji", "🚀🚀 deploy 🎉 staging", "ccbot-deploy-staging"},
		{"only emoji", "👍👍", ""},
		{"numbers", "42 17", ""},
		{"Hebrew", "תקן את הבדיקה", "ccbot-תקן-את-הבדיקה"},
		{"what turns the writing around", "fix\u202e login\u200b test\u2066", "ccbot-fix-login-test"},
		{"blank letters", "fix \u3164\u115f login", "ccbot-fix-login"},
		{"a word without end", strings.Repeat("x", 500) + " fix it", "ccbot-fix"},
		{"long words", "internationalization supercalifragilist antidisestablish", "ccbot-internationalization-antidisestablish"},
		{"a hash", "revert 4f2a9c81d0b7e6a5c4d3e2f1a0b9c8d7e6f5a4b3", "ccbot-revert"},
		{"the folder again", "ccbot: fix ccbot tests", "ccbot-fix-tests"},
		{"silent words only", "can you do it now please", ""},
		{"nothing", " \n\t ", ""},
		{"markup", "*fix* _this_ [link](x)", "ccbot-fix-link-x"},
		{"not UTF-8", "fix \xff\xfe login", "ccbot-fix-login"},
	} {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, OfPrompt("ccbot", tt.prompt)) })
	}
	assert.Equal(t, "fix-tests", OfPrompt("/", "fix the tests"), "a folder without a name")
	assert.Equal(t, "my-long-project-fix-tests", OfPrompt(".my long project!", "fix the tests"))
}

// FuzzOfPrompt: a name is bounded, takes no blank, hides nothing, begins like no path and no
// command.
func FuzzOfPrompt(f *testing.F) {
	f.Add("ccbot", "Fix the login test")
	f.Add(".", "请帮我修复登录测试")
	f.Add("a/b", "x\u0301\u0301 /etc \u202e🚀 `a`")
	f.Fuzz(func(t *testing.T, folder, prompt string) {
		name := OfPrompt(folder, prompt)
		require.True(t, utf8.ValidString(name))
		require.LessOrEqual(t, utf8.RuneCountInString(name), maxMade)
		require.Equal(t, glyph.Name(name), name)
		require.Equal(t, strings.Join(strings.Fields(name), ""), name)
		require.False(t, strings.HasPrefix(name, "/") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~"), name)
	})
}
