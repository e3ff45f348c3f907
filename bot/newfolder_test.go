package bot_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// chose reports whether the page shows how a session may begin in a folder.
func (w *browsing) chose(dir string) bool {
	return strings.HasPrefix(w.text(), w.say(i18n.NewIn, i18n.Args{"Dir": dir}))
}

// TestSearchFindsFoldersNeverUsed shows them after those that were used, with the extent of the search.
func TestSearchFindsFoldersNeverUsed(t *testing.T) {
	w := inFolders(t, "a/my-api/.git", "docs/api", "api", "deep/2/3/4/5/6/7")
	w.Session(t, "api", session.Archived)
	w.open()
	w.reply("api")
	assert.Equal(t, []string{"~/api", "~/a/my-api", "~/docs/api"}, w.buttons()[:3])
	assert.Equal(t, chattest.Lines(w.say(i18n.NewFiltered, i18n.Args{"Sought": "api", "Count": 3}), w.say(i18n.NewSearchedAll, i18n.Args{"Roots": "~"})), w.text())
	w.press("~/a/my-api", w.say(i18n.ButtonStartFresh))
	assert.Equal(t, filepath.Join(w.Home, "a/my-api"), w.Lifecycle.Starts[0].Dir)

	require.NoError(t, os.MkdirAll(filepath.Join(w.Home, "deep/2/3/4/5/6/7/8/9"), 0o700))
	w.open()
	w.reply("none at all")
	assert.Contains(t, w.text(), "there are more")
	w.Roots = []string{filepath.Join(w.Home, "docs"), filepath.Join(w.Home, "gone")}
	w.open()
	w.reply("api")
	assert.Equal(t, []string{"~/api", "~/a/my-api", "~/docs/api"}, w.buttons()[:3], "two were used")
	assert.Contains(t, w.text(), w.say(i18n.NewUnreadable, i18n.Args{"Count": 1}))
	assert.NotContains(t, w.text(), w.say(i18n.NewSearchedAll, i18n.Args{"Roots": "~/docs, ~/gone"}))
}

// git runs git in a folder.
func (w *browsing) git(dir string, args ...string) {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = filepath.Join(w.Home, dir), []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.Dir, "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "%s", out)
}

// TestWorktreesAreOfferedByBranch names the branch of each work tree of a repository, on the page and in the list.
func TestWorktreesAreOfferedByBranch(t *testing.T) {
	w := inFolders(t, "api", "elsewhere")
	w.repository("api")
	w.git("api", "worktree", "add", "-q", "-b", "fix/login", filepath.Join(w.Home, "elsewhere"))
	w.Session(t, "api", session.Running)
	w.Session(t, "elsewhere", session.Running)
	text, _ := w.ListText(t, chattest.AtAlice)
	assert.Contains(t, text.Text, "(fix/login) ~/elsewhere")
	assert.NotContains(t, text.Text, "main")
	w.open()
	w.press("~/api")
	assert.Contains(t, w.text(), w.say(i18n.StatusGit)+" main")
	w.press("fix/login · ~/elsewhere")
	assert.True(t, w.chose("~/elsewhere"), w.text())
	assert.Contains(t, w.buttons(), "main · ~/api")
	assert.NotContains(t, w.buttons(), "fix/login · ~/elsewhere")
	w.press(w.say(i18n.ButtonStartFresh))
	assert.Equal(t, filepath.Join(w.Home, "elsewhere"), w.Lifecycle.Starts[0].Dir)
}
