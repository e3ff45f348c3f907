package bot_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/session"
)

// chose reports whether the page shows how a session may begin in a folder.
func (w *browsing) chose(dir string) bool {
	return strings.HasPrefix(w.text(), w.say(i18n.NewIn, i18n.Args{"Dir": dir}))
}

// TestP4_PathBecomesFolder takes a path that is sent while the page is open for the folder of the
// new session. The text is kept until the session has begun.
func TestP4_PathBecomesFolder(t *testing.T) {
	running(t, func(t *testing.T) {
		w := startedIn(t, "api", "web")
		other := w.NewCurrentSession(t, "other", session.Running)
		w.open()
		keys := []string{w.MustHear(t, "~/web"), w.MustHear(t, filepath.Join(w.Home, "api"))}
		w.Work(t)
		assert.True(t, w.chose("~/api"), w.text())
		question := w.Telegram.LastID()
		chosen := w.say(i18n.FolderChosen, i18n.Args{"Path": "~/api"})
		assert.Equal(t, chosen, w.Shows(t, question).Text.Text)
		assert.Equal(t, w.WordsOf(i18n.ButtonUseAsPrompt, i18n.ButtonDrop), chattest.Words(w.Shows(t, question)))
		for _, key := range keys {
			assert.Equal(t, inbox.Asked, w.EntryState(key))
		}
		w.Restart(t)
		first := w.MustHear(t, "run the tests")
		w.Work(t)
		w.press(w.say(i18n.ButtonStartFresh))
		require.Len(t, w.Lifecycle.Starts, 1)
		assert.Equal(t, filepath.Join(w.Home, "api"), w.Lifecycle.Starts[0].Dir)
		for _, key := range keys {
			_, err := w.Inbox.Load(key)
			require.ErrorIs(t, err, inbox.ErrNoEntry)
		}
		assert.Equal(t, chosen, w.Shows(t, question).Text.Text)
		assert.Empty(t, chattest.Words(w.Shows(t, question)))
		queued := strings.Join(w.Lifecycle.Done(), "\n")
		assert.Contains(t, queued, "queue "+first)
		assert.NotContains(t, queued, other.ID.String())
	})
}

// TestP4_PathIsSentAsPrompt makes the first prompt of the session that is started of a path, also
// of one that begins with a slash: the person writes for that session.
func TestP4_PathIsSentAsPrompt(t *testing.T) {
	for _, absolute := range []bool{false, true} {
		running(t, func(t *testing.T) {
			w := startedIn(t, "api")
			w.NewCurrentSession(t, "other", session.Running)
			path := "~/api"
			if absolute {
				path = filepath.Join(w.Home, "api")
			}
			w.open()
			key := w.MustHear(t, path)
			w.Work(t)
			w.Press(t, chattest.Alice, w.Telegram.LastID(), w.say(i18n.ButtonUseAsPrompt))
			w.Work(t)
			assert.Equal(t, w.say(i18n.FirstPrompt), w.Shows(t, w.Telegram.LastID()).Text.Text)
			w.press(w.say(i18n.ButtonStartFresh))
			now, _ := w.CurrentSession(chattest.AtAlice, 0)
			assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+now.ID.String())
		})
	}
}

// TestP4_EditedPathIsPrompt keeps the words of a text that was a path before its edit.
func TestP4_EditedPathIsPrompt(t *testing.T) {
	running(t, func(t *testing.T) {
		w := startedIn(t, "api")
		w.open()
		key := w.MustHear(t, "~/api")
		w.Work(t)
		e, err := w.Inbox.Load(key)
		require.NoError(t, err)
		require.NoError(t, w.Edit(t, e.MessageID, "run the tests"))
		w.Work(t)
		w.press(w.say(i18n.ButtonStartFresh))
		now, _ := w.CurrentSession(chattest.AtAlice, 0)
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+now.ID.String())
		e, err = w.Inbox.Load(key)
		require.NoError(t, err)
		assert.Equal(t, "run the tests", e.Text)
	})
}

// TestP4_PathOutlivesCrash loses nothing of a path, whether ccbot dies before the page shows its
// folder, or the text cannot be kept after that.
func TestP4_PathOutlivesCrash(t *testing.T) {
	for _, shown := range []bool{false, true} {
		w := inFolders(t, "api")
		w.open()
		key, u := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Alice}, Chat: chattest.PrivateChat(chattest.Alice), Text: "~/api"})
		handle := func() error { return w.Handle(t.Context(), key, u) }
		if shown {
			heal := disktest.FailAll(t, "create", filepath.Join(w.Dir, "inbox"))
			require.ErrorIs(t, handle(), inbox.ErrLater)
			heal()
		} else {
			w.Dies(t, "accepted", handle)
		}
		w.Restart(t)
		assert.Equal(t, shown, w.chose("~/api"))
		assert.Equal(t, inbox.Accepted, w.EntryState(key))
		require.NoError(t, handle())
		w.Work(t)
		assert.True(t, w.chose("~/api"), w.text())
		assert.Equal(t, inbox.Asked, w.EntryState(key))
		assert.Contains(t, chattest.Words(w.Shows(t, w.Telegram.LastID())), w.say(i18n.ButtonUseAsPrompt))
	}
}

// startedInRoot is a page with the root ~/root, which has the folder in, a file, a link that leads
// out, and a folder that cannot be opened.
func startedInRoot(t *testing.T) *browsing {
	t.Helper()
	w := startedIn(t, "root/in", "out")
	w.Roots = []string{filepath.Join(w.Home, "root")}
	require.NoError(t, os.WriteFile(filepath.Join(w.Home, "root/file"), nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Join(w.Home, "out"), filepath.Join(w.Home, "root/leads-out")))
	require.NoError(t, os.Symlink("closed", filepath.Join(w.Home, "root/closed"))) // also root cannot open it
	return w
}

// TestP4_PathWithoutFolderIsAskedAbout never makes a prompt of a path by itself.
func TestP4_PathWithoutFolderIsAskedAbout(t *testing.T) {
	for name, tt := range map[string]struct {
		path string
		says i18n.Key
	}{
		"a folder that does not exist":                  {"~/root/none", i18n.PathMissing},
		"a file":                                        {"~/root/file", i18n.PathNotDir},
		"an absolute path outside of the roots":         {"/none/at/all", i18n.PathNotAllowed},
		"outside of the roots":                          {"~/out", i18n.PathNotAllowed},
		"a link out of the roots":                       {"~/root/leads-out", i18n.PathNotAllowed},
		"a folder in one that does not exist":           {"~/root/none/in", i18n.PathMissing},
		"a path with a slash after its last name":       {"~/root/none/", i18n.PathMissing},
		"a folder that cannot be read, so may be there": {"~/root/closed", i18n.PathUnreadable},
	} {
		path := tt.path
		t.Run(name, func(t *testing.T) {
			running(t, func(t *testing.T) {
				w := startedInRoot(t)
				other := w.NewCurrentSession(t, "other", session.Running)
				w.open()
				key := w.MustHear(t, path)
				w.Work(t)
				question := w.Telegram.LastID()
				says := w.say(tt.says, i18n.Args{"Path": strings.Replace(strings.TrimRight(path, "/"), "root/leads-out", "out", 1), "Roots": filepath.Join(w.Home, "root")})
				assert.Equal(t, says+" The text was not sent as a prompt.", w.Shows(t, question).Text.Text)
				assert.Equal(t, w.WordsOf(i18n.ButtonUseAsPrompt, i18n.ButtonDrop), chattest.Words(w.Shows(t, question)))
				assert.Equal(t, inbox.Asked, w.EntryState(key))
				assert.False(t, w.LastSent(t).Sounds)
				assert.NotContains(t, w.text(), path, "it is no first prompt")
				w.Press(t, chattest.Alice, question, w.say(i18n.ButtonUseAsPrompt))
				w.Work(t)
				assert.Contains(t, w.text(), path)
				assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), other.ID.String())
			})
		})
	}
	t.Run("it ends when the session starts", func(t *testing.T) {
		running(t, func(t *testing.T) {
			w := startedIn(t, "api")
			w.open()
			key := w.MustHear(t, "~/apo")
			w.MustHear(t, "~/api")
			w.Work(t)
			w.press(w.say(i18n.ButtonStartFresh))
			_, err := w.Inbox.Load(key)
			require.ErrorIs(t, err, inbox.ErrNoEntry)
			assert.NotContains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue "+key)
		})
	})
}

// TestOnlyPathsBecomeFolders leaves all other texts what they were.
func TestOnlyPathsBecomeFolders(t *testing.T) {
	for name, text := range map[string]string{
		"two lines":                        "~/root/in\n~/root/in",
		"a relative path":                  "root/in",
		"a sentence":                       "look into ~/root/in",
		"a sentence that begins with one":  "~/root/in has no tests, add some",
		"one that names a file at its end": "~/root/in needs src/main.go",
		"one that begins with a file":      "~/root/file is for a/b",
		"one about a missing folder":       "~/root/proj is gone, where is it?",
		"two words of a name":              "~/root/my none",
		"one about an address":             "/api/users returns 500, fix it",
		"one about a place out of roots":   "/usr/bin/env is missing on the target, why?",
	} {
		t.Run(name, func(t *testing.T) {
			running(t, func(t *testing.T) {
				w := startedInRoot(t)
				w.open()
				w.MustHear(t, text)
				w.Work(t)
				assert.Equal(t, w.say(i18n.FirstPrompt), w.Shows(t, w.Telegram.LastID()).Text.Text)
				assert.True(t, strings.HasPrefix(w.text(), w.say(i18n.NewWhere)), w.text())
			})
		})
	}
	t.Run("an address beside a session that runs", func(t *testing.T) {
		running(t, func(t *testing.T) {
			w := startedInRoot(t)
			w.NewCurrentSession(t, "other", session.Running)
			w.open()
			w.MustHear(t, "/api/users returns 500, fix it")
			w.Work(t)
			assert.Equal(t, w.say(i18n.FirstPrompt), w.Shows(t, w.Telegram.LastID()).Text.Text)
		})
	})
	t.Run("no page is open", func(t *testing.T) {
		running(t, func(t *testing.T) {
			w := startedIn(t, "api")
			r := w.NewCurrentSession(t, "other", session.Running)
			key := w.MustHear(t, "~/api")
			assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
		})
	})
}

// TestSearchFindsFoldersNeverUsed shows them after those that were used, with the extent of the
// search.
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

// TestWorktreesAreOfferedByBranch names the branch of each work tree of a repository, on the page
// and in the list.
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
