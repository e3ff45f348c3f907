package bot_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/browse"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/loops"
	"ccbot/i18n"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
)

// repository makes a folder a repository with one commit.
func (w *browsing) repository(dir string) {
	w.t.Helper()
	programtest.Require(w.t, "git")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"-c", "user.name=n", "-c", "user.email=n@localhost", "commit", "-q", "--allow-empty", "-m", "a"}} {
		w.git(dir, args...)
	}
}

// inEndedWorktree returns a world with the folders ~/api, a repository, and ~/api-2, a worktree
// that its button has made, with the worktree's session, which has ended.
func inEndedWorktree(t *testing.T) (*browsing, session.Record) {
	t.Helper()
	w := inFolders(t, "api")
	w.repository("api")
	w.Session(t, "api", session.Running)
	w.open()
	w.press("~/api", w.say(i18n.ButtonNewWorktree))
	return w, w.over(filepath.Join(w.Home, "api-2"))
}

func TestP8_WorktreeStartsOneSessionAfterCrash(t *testing.T) {
	w := inFolders(t, "api")
	w.repository("api")
	w.Session(t, "api", session.Running)
	w.open()
	w.press("~/api")
	w.Dies(t, "worktree-made", func() error {
		w.press(w.say(i18n.ButtonNewWorktree))
		return nil
	})
	tree := filepath.Join(w.Home, "api-2")
	assert.DirExists(t, tree)
	assert.Empty(t, w.Lifecycle.Starts)
	w.Restart(t)
	w.press(w.say(i18n.ButtonNewWorktree))
	require.Len(t, w.Lifecycle.Starts, 1)
	assert.Equal(t, tree, w.Lifecycle.Starts[0].Dir)
	assert.NoDirExists(t, tree[:len(tree)-1]+"3")
	assert.Equal(t, w.say(i18n.NewBegun, i18n.Args{"Dir": "~/api-2"}), w.text(), "the page names the folder of the session")
}

// The session has started, and a later report fails: the tap comes again.
func TestP8_RepeatedTapMakesOneWorktree(t *testing.T) {
	w := inFolders(t, "api")
	w.repository("api")
	w.Session(t, "api", session.Running)
	w.open()
	w.press("~/api")
	starts := w.Lifecycle.OnStart
	w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) {
		w.Records.Put(session.Record{ID: uuid.New(), Name: "api-2", Dir: q.Dir, State: session.Starting, Conversation: q.Conversation, Owner: q.Owner, Origin: q.Origin})
		return session.Record{}, assert.AnError
	}
	w.press(w.say(i18n.ButtonNewWorktree))
	w.Lifecycle.OnStart = starts
	w.press(w.say(i18n.ButtonNewWorktree))
	require.Len(t, w.Lifecycle.Starts, 2)
	assert.Equal(t, w.Lifecycle.Starts[0].Dir, w.Lifecycle.Starts[1].Dir)
	assert.NoDirExists(t, filepath.Join(w.Home, "api-3"))
}

func TestWorktreeWithoutCommitIsSentence(t *testing.T) {
	w := inFolders(t, "api")
	w.repository("api")
	head := filepath.Join(w.Home, "api", ".git", "HEAD")
	require.NoError(t, os.WriteFile(head, []byte("ref: refs/heads/other\n"), 0o600))
	w.Session(t, "api", session.Running)
	w.open()
	w.press("~/api", w.say(i18n.ButtonNewWorktree))
	assert.Equal(t, w.say(i18n.WorktreeNoCommit, i18n.Args{"Dir": "~/api"}), w.Telegram.Last(t).Text.Text)
}

// Git only fails: the work tree is not reported missing.
func TestUnknownWorktreeIsNotGone(t *testing.T) {
	w, _ := inEndedWorktree(t)
	w.open()
	w.press("~/api-2")
	head := filepath.Join(w.Home, "api", ".git", "worktrees", "api-2", "HEAD")
	was, err := os.ReadFile(head)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(head, []byte("damaged\n"), 0o600))
	w.press(w.say(i18n.ButtonRemoveWorktree))
	assert.Contains(t, w.text(), "~/api-2")
	assert.NotEqual(t, w.say(i18n.WorktreeGone, i18n.Args{"Dir": "~/api-2"}), w.text())
	require.NoError(t, os.WriteFile(head, was, 0o600))
	w.press(w.say(i18n.ButtonRefresh), w.say(i18n.ButtonRemoveWorktree))
	assert.Equal(t, w.say(i18n.WorktreeGone, i18n.Args{"Dir": "~/api-2"}), w.text())
}

func TestFailedStartMayLeaveWorktree(t *testing.T) {
	w, r := inEndedWorktree(t)
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Failed })
	w.Running(t)
	require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Failed{}))
	asked := w.say(i18n.WorktreeAsk, i18n.Args{"Dir": "~/api-2", "Branch": "api-2"})
	waittest.Until(t, func() bool {
		w.Telegram.Deliver(t.Context())
		return slices.Contains(w.Telegram.Texts(), asked)
	})
}

func TestWorktreeWithoutRepositoryIsSentence(t *testing.T) {
	w := inFolders(t, "api")
	w.Session(t, "api", session.Running)
	w.open()
	w.press("~/api")
	w.press(w.say(i18n.ButtonNewWorktree))
	assert.Equal(t, w.say(i18n.WorktreeNoGit, i18n.Args{"Dir": "~/api"}), w.Telegram.Last(t).Text.Text)
	assert.Contains(t, w.buttons(), w.say(i18n.ButtonStartFresh), "the page stays")
}

// over ends the session of a folder.
func (w *browsing) over(dir string) (r session.Record) {
	w.t.Helper()
	for _, r = range w.Records.List() {
		if r.Dir == dir {
			w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
			return w.Record(w.t, r.ID)
		}
	}
	w.t.Fatal("no session works there")
	return r
}

// left makes the chat ask about the work tree of an ended session.
func (w *browsing) left(r session.Record) {
	w.t.Helper()
	b := browse.New(browse.Deps{Chat: w.Chat, Places: w.Places, OfLoop: loops.OfLoop(w.Looping)})
	require.NoError(w.t, b.Left(w.t.Context(), chattest.ViewOf(r)))
	w.Work(w.t)
}

func TestAskedPersonRemovesWorktree(t *testing.T) {
	w, r := inEndedWorktree(t)
	tree := filepath.Join(w.Home, "api-2")
	file := filepath.Join(tree, "work")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	left := func() {
		w.left(w.Record(t, r.ID))
		w.page = w.Telegram.LastID()
	}
	left()
	assert.Equal(t, w.say(i18n.WorktreeStays, i18n.Args{"Dir": "~/api-2", "Work": w.say(i18n.WorktreeUncommitted)}), w.Telegram.Last(t).Text.Text)

	require.NoError(t, os.Remove(file))
	left()
	assert.Equal(t, w.say(i18n.WorktreeAsk, i18n.Args{"Dir": "~/api-2", "Branch": "api-2"}), w.text())
	w.Restart(t)
	w.Press(t, chattest.Bob, w.page, w.say(i18n.ButtonRemoveWorktree))
	assert.DirExists(t, tree, "Bob was not asked")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	w.press(w.say(i18n.ButtonRemoveWorktree))
	assert.FileExists(t, file, "there is work in it by now")
	assert.Contains(t, w.text(), w.say(i18n.WorktreeUncommitted))

	require.NoError(t, os.Remove(file))
	left()
	w.press(w.say(i18n.ButtonRemoveWorktree))
	assert.NoDirExists(t, tree)
	assert.Equal(t, w.say(i18n.WorktreeGone, i18n.Args{"Dir": "~/api-2"}), w.text())
	assert.Empty(t, w.buttons())
}

func TestUsedWorktreeIsNotMentioned(t *testing.T) {
	w, over := inEndedWorktree(t)
	w.Session(t, "api-2", session.Running)
	sent := w.Telegram.LastID()
	w.left(over)
	assert.Equal(t, sent, w.Telegram.LastID())
}

// Leftovers of a session with a failed cleanup may still write there.
func TestCleanUpPrecedesWorktreeRemoval(t *testing.T) {
	w, r := inEndedWorktree(t)
	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
	sent := w.Telegram.LastID()
	w.left(w.Record(t, r.ID))
	assert.Equal(t, sent, w.Telegram.LastID(), "it is not asked")
	w.open()
	w.press("~/api-2", w.say(i18n.ButtonRemoveWorktree))
	assert.Contains(t, w.text(), r.Name)
	assert.NotContains(t, w.buttons(), w.say(i18n.ButtonRemoveWorktree))
}

// The loop's keeper removes it; its card shows it until then.
func TestWorktreeOfLoopIsNotAskedAbout(t *testing.T) {
	w, r := inEndedWorktree(t)
	tree := filepath.Join(w.Home, "api-2")
	l := port.Loop{ID: uuid.New(), Session: r.ID, State: port.LoopDone, Step: port.LoopCheck, Worktree: &port.LoopWorktree{Dir: tree}}
	w.Loops(t, r, l, true)
	assert.Contains(t, strings.Join(w.Telegram.Texts(), "\n"), "~/api-2")
	sent := w.Telegram.LastID()
	w.left(r)
	assert.Equal(t, sent, w.Telegram.LastID())
	require.NoError(t, os.WriteFile(filepath.Join(tree, "work"), nil, 0o600))
	w.left(r)
	stays := w.say(i18n.WorktreeStays, i18n.Args{"Dir": "~/api-2", "Work": w.say(i18n.WorktreeUncommitted)})
	assert.Equal(t, stays, w.Telegram.Last(t).Text.Text, "a person reads why it stays")
	require.NoError(t, os.Remove(filepath.Join(tree, "work")))
	l.Worktree = &port.LoopWorktree{Dir: tree, Removed: true}
	w.Loops(t, r, l, false)
	w.left(r)
	assert.Equal(t, w.say(i18n.WorktreeAsk, i18n.Args{"Dir": "~/api-2", "Branch": "api-2"}), w.Telegram.Last(t).Text.Text, "another one at that path")
}
