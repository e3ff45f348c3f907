package bot_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// changed is a world with a session whose agent has changed some files.
func changed(t *testing.T) (*chattest.World, session.Record) {
	t.Helper()
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Git.Since = map[folders.Since]folders.Changes{
		folders.SessionStart: {Branch: "main", Files: []folders.ChangedFile{
			{Path: "bot/turn/card.go", Kind: folders.Modified, Added: 80, Deleted: 3},
			{Path: "doc.go", Kind: folders.Added, Added: 12},
			{Path: "gone.go", Kind: folders.Deleted, Deleted: 9},
			{Path: "logo.png", Kind: folders.Untracked, Binary: true},
			{Path: "new.go", From: "old.go", Kind: folders.Renamed},
			{Path: "notes.md", Kind: folders.Untracked, Added: 1},
			{Path: "run.sh", Kind: folders.Modified},
		}},
		"turn": {Of: "turn", Branch: "main", Files: []folders.ChangedFile{{Path: "doc.go", Kind: folders.Added, Added: 12}}},
	}
	w.Git.Patches = map[string]folders.Patch{
		"notes.md":         {Text: "@@ -0,0 +1,1 @@\n+note\n"},
		"bot/turn/card.go": {Text: "@@ -1,2 +1,2 @@ func\n a\n-b\n+c\n"},
		"doc.go":           {Text: "@@ -0,0 +1,1 @@\n+package doc\n"},
	}
	return w, r
}

// tapped taps the button on the present card, and returns the card afterwards.
func tapped(t *testing.T, w *chattest.World, m outbox.Message, word string) outbox.Message {
	t.Helper()
	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.Key(word)))
	w.Telegram.Deliver(t.Context())
	return w.Telegram.LastEdit(t)
}

func TestChangesNameWorktreesRepository(t *testing.T) {
	w, _ := changed(t)
	all := w.Git.Since[folders.SessionStart]
	all.Main = "/home/alice/api"
	w.Git.Since[folders.SessionStart] = all
	w.MustHear(t, "/changes")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "api: changes since the session's start, worktree of ~/api\n7 files")
}

// TestP9_ChangesCountWhatIsNotShown: the files outside of the session's folder are counted, and a
// file with withheld content is named.
func TestP9_ChangesCountWhatIsNotShown(t *testing.T) {
	w, _ := changed(t)
	w.Git.Since[folders.SessionStart] = folders.Changes{Outside: 2, Files: []folders.ChangedFile{{Path: "key", Kind: folders.Untracked, Withheld: true}}}
	w.MustHear(t, "/changes")
	m := w.Telegram.Last(t)
	assert.Equal(t, chattest.Lines("api: changes since the session's start", "1 file, +0, "+at(2*time.Hour), "",
		"1. key untracked, not shown", "", "Outside of the session's folder 2 more files have changed. They are not shown."), m.Text.Text)
	m = tapped(t, w, m, "1 key")
	assert.Equal(t, chattest.Lines("key", "file 1 of 1, untracked, not shown", "",
		"Its content is not shown: it is a link, has a second name (a hard link), is ccbot's own, or its name is not UTF-8."), m.Text.Text)
	assert.Equal(t, []string{"All files"}, chattest.Words(m), "there is nothing to be sent as a file")
}

func TestChanges(t *testing.T) {
	w, r := changed(t)
	w.MustHear(t, "/changes")
	m := w.Telegram.Last(t)
	assert.Equal(t, r.ID, m.Session)
	assert.Equal(t, chattest.Lines(
		"api: changes since the session's start",
		"7 files, +93 −12, main, "+at(2*time.Hour),
		"",
		"1. bot/turn/card.go +80 −3",
		"2. doc.go new, +12",
		"3. gone.go deleted, −9",
		"4. logo.png untracked, binary",
		"5. new.go was old.go",
		"6. notes.md untracked, +1",
		"7. run.sh"), m.Text.Text)
	assert.Equal(t, []string{"1 card.go", "2 doc.go", "3 gone.go", "4 logo.png", "5 new.go", "6 notes.md", "7 run.sh", "Refresh"}, chattest.Words(m))

	asked := 0
	w.Git.OnAsk = func() { asked++ }
	file := tapped(t, w, m, "1 card.go")
	assert.Equal(t, "bot/turn/card.go\nfile 1 of 7, +80 −3\n@@ -1,2 +1,2 @@ func\n a\n-b\n+c", file.Text.Text)
	assert.Equal(t, "diff", file.Text.Entities[len(file.Text.Entities)-1].Language)
	assert.Equal(t, []string{"doc.go →", "All files", "As a file"}, chattest.Words(file))
	assert.Equal(t, 1, asked, "git is asked once for a page")

	next := tapped(t, w, file, "doc.go →")
	assert.Contains(t, next.Text.Text, "+package doc")
	assert.Equal(t, []string{"← card.go", "gone.go →", "All files", "As a file"}, chattest.Words(next))
	none := tapped(t, w, next, "gone.go →")
	assert.Equal(t, "gone.go\nfile 3 of 7, deleted, −9\n\nThere are no lines to show.", none.Text.Text)
	assert.Equal(t, []string{"← doc.go", "logo.png →", "All files"}, chattest.Words(none))
	assert.Equal(t, m.Text, tapped(t, w, none, "All files").Text)
	assert.Len(t, w.Telegram.Texts(), 1, "all of it is one message")
}

// The card of a turn shows what the turn has changed, and leads to all since the session's start.
func TestChangesOfATurn(t *testing.T) {
	w, r := changed(t)
	require.NoError(t, w.Changes.Show(t.Context(), chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}, Since: "turn"}, chattest.ViewOf(r)))
	w.Telegram.Deliver(t.Context())
	m := w.Telegram.Last(t)
	assert.False(t, m.Sounds)
	assert.Contains(t, m.Text.Text, "api: changes since this turn began\n1 file, +12, main")
	assert.Equal(t, []string{"1 doc.go", "Refresh", "Since start"}, chattest.Words(m))
	all := tapped(t, w, m, "Since start")
	assert.Contains(t, all.Text.Text, "7 files")
	assert.Equal(t, "This turn", chattest.Words(all)[8])
	assert.Equal(t, m.Text, tapped(t, w, all, "This turn").Text)

	delete(w.Git.Since, "turn")
	w.MustHear(t, "/list") // the card is no longer the last message
	assert.Contains(t, tapped(t, w, m, "Refresh").Text.Text,
		"api: changes since the session's start\nHow it was before that turn is not kept any more.\n7 files")
}

// Two taps on the button of a turn are one; a command is answered below it.
func TestTurnsChangesAreOneMessage(t *testing.T) {
	w, r := changed(t)
	show := func(since folders.Since) int {
		require.NoError(t, w.Changes.Show(t.Context(), chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}, Since: since}, chattest.ViewOf(r)))
		w.Telegram.Deliver(t.Context())
		return len(w.Telegram.Sent)
	}
	assert.Equal(t, 1, show("turn"))
	w.Git.Since["turn"] = folders.Changes{Of: "turn"}
	assert.Equal(t, 1, show("turn"))
	assert.Contains(t, w.Telegram.LastEdit(t).Text.Text, w.Word(i18n.ChangesNone))
	assert.Equal(t, 2, show(folders.SessionStart), "another turn's are another message")
	now := w.Now()
	w.Now = func() time.Time { return now.Add(time.Hour) }
	w.MustHear(t, "/changes")
	w.MustHear(t, "/changes")
	assert.Len(t, w.Telegram.Sent, 4)
}

func TestChangesSayWhatIsNotKnown(t *testing.T) {
	w, _ := changed(t)
	w.Git.Since[folders.SessionStart] = folders.Changes{Of: folders.LastCommit, Cut: true}
	w.MustHear(t, "/changes")
	m := w.Telegram.Last(t)
	assert.Equal(t, "api: changes since the last commit\nThe commit at the session's start is not known.\nNothing has changed, "+
		at(2*time.Hour)+"\n\nThere are more files than can be listed.", m.Text.Text)
	assert.Equal(t, []string{"Refresh"}, chattest.Words(m))
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"no git", &refusal.Error{Code: refusal.NoRepository, Dir: "/home/alice/api"},
			"api: the folder ~/api is in no git repository, so there are no changes to show."},
		{"a folder that is gone", &refusal.Error{Code: refusal.DirMissing, Dir: "/home/alice/api"},
			"The folder ~/api no longer exists. Create it again. To go on in another folder: /kill api, then /resume api PATH"},
		{"a folder that is a file now", &refusal.Error{Code: refusal.DirNotADir, Dir: "/home/alice/api"},
			"~/api is a file, not a folder. Choose a folder."},
		{"a folder that cannot be read", &refusal.Error{Code: refusal.DirNoAccess, Dir: "/home/alice/api"},
			"ccbot cannot open ~/api. Change its permissions or choose another folder."},
		{"git is slow", &refusal.Error{Code: refusal.GitSlow, Dir: "/home/alice/api"}, "Git did not answer in time in ~/api. Try again later."},
		{"git refuses", &refusal.Error{Code: refusal.GitFailed, Dir: "/home/alice/api", Reason: "fatal: bad config"},
			"Git failed in ~/api: “fatal: bad config”"},
		{"a folder behind a link", &refusal.Error{Code: refusal.FileLinked, Dir: "/home/alice/api"},
			"api's folder ~/api is now reached through a link, so nothing of it is shown."},
		{"a folder that changes", &refusal.Error{Code: refusal.FileChanged, Dir: "/home/alice/api"},
			"~/api changed while it was opened. Try again."},
		{"a folder outside of the roots", &refusal.Error{Code: refusal.DirOutside, Dir: "/home/alice/api"},
			"~/api is outside the allowed folders (). Choose a folder inside them."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, _ := changed(t)
			w.Git.Err = tt.err
			w.MustHear(t, "/changes")
			assert.Equal(t, tt.want, w.Telegram.Last(t).Text.Text)

			w.Git.Err = nil
			w.MustHear(t, "/changes")
			m := w.Telegram.Last(t)
			w.Git.Err = tt.err // between two taps
			said := tapped(t, w, m, "1 card.go")
			assert.Equal(t, tt.want, said.Text.Text)
			w.Git.Err = nil
			assert.True(t, strings.HasPrefix(tapped(t, w, said, "Refresh").Text.Text, "bot/turn/card.go\n"))
		})
	}
	w.Git.Err = errors.New("the disk")
	w.AssertErrorShown(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonRefresh))
	w.MustHear(t, "/changes none such")
	assert.Equal(t, w.Named(i18n.NoSuchSession, "none such"), w.Telegram.Last(t).Text.Text)
}

// A file without changes has left the list when a person taps it.
func TestUnchangedFile(t *testing.T) {
	w, _ := changed(t)
	w.MustHear(t, "/changes")
	m := w.Telegram.Last(t)
	file := tapped(t, w, m, "2 doc.go")
	w.Git.Since[folders.SessionStart] = folders.Changes{Files: []folders.ChangedFile{{Path: "notes.md", Kind: folders.Untracked, Added: 1}}}
	list := tapped(t, w, file, "gone.go →")
	assert.True(t, strings.HasPrefix(list.Text.Text, "gone.go has no changes any more.\n\napi: changes"), list.Text.Text)
	assert.Equal(t, []string{"1 notes.md", "Refresh"}, chattest.Words(list))
	file = tapped(t, w, list, "1 notes.md")
	w.Git.Since[folders.SessionStart] = folders.Changes{}
	require.NoError(t, w.TapShown(t, chattest.Alice, file, i18n.ButtonAsFile))
	w.Telegram.Deliver(t.Context())
	assert.Empty(t, w.Telegram.Files)
	assert.True(t, strings.HasPrefix(w.Telegram.LastEdit(t).Text.Text, "notes.md has no changes any more.\n\napi: changes"))
}

// The later tap is on a message with new content, and only redraws it.
func TestTwoPeopleTapChanges(t *testing.T) {
	w, _ := changed(t)
	w.MustHear(t, "/changes")
	m := w.Telegram.Last(t)
	first := tapped(t, w, m, "1 card.go")
	require.NoError(t, w.TapShown(t, chattest.Bob, m, "2 doc.go"))
	w.Telegram.Deliver(t.Context())
	assert.Equal(t, first.Text, w.Telegram.LastEdit(t).Text)
	assert.Contains(t, strings.Join(w.Telegram.Done(), "\n"), w.Word(i18n.StaleButton))
}

func TestChangesHavePages(t *testing.T) {
	w, _ := changed(t)
	var files []folders.ChangedFile
	for i := range 20 {
		name := fmt.Sprintf("%02d-%s\n.go", i, strings.Repeat("😀", 300)+"\"\u202ecod")
		files = append(files, folders.ChangedFile{Path: name, From: name, Kind: folders.Renamed, Added: 1})
	}
	w.Git.Since[folders.SessionStart] = folders.Changes{Files: files, Branch: strings.Repeat("b", 300)}
	w.Git.Patches[files[9].Path] = folders.Patch{Text: "@@ -1 +1 @@\n-" + strings.Repeat("x", 5000) + "\n+\u202e\n"}
	w.MustHear(t, "/changes")
	m := w.Telegram.Last(t)
	assert.Contains(t, m.Text.Text, "1–8 of 20")
	assert.Len(t, m.Text.Split(render.Limit), 1)
	m = tapped(t, w, m, "→")
	assert.Contains(t, m.Text.Text, "9–16 of 20")
	words := chattest.Words(m)
	assert.Equal(t, []string{"←", "→", "Refresh"}, words[8:])
	assert.NotContains(t, m.Text.Text+strings.Join(words, ""), "\u202e", "a name turns nothing around")
	file := tapped(t, w, m, words[1])
	assert.Contains(t, file.Text.Text, "⟨U+202E⟩", "nothing is hidden")
	assert.Contains(t, tapped(t, w, file, "All files").Text.Text, "9–16 of 20", "where the file stands")
	m = tapped(t, w, w.Telegram.LastEdit(t), "→")
	assert.Contains(t, m.Text.Text, "17–20 of 20")
	w.Git.Since[folders.SessionStart] = folders.Changes{Files: files[:1]}
	assert.Contains(t, tapped(t, w, m, "Refresh").Text.Text, "1 file, +1, "+at(2*time.Hour)+"\n\n1. ", "the last page there is")
}

// A long patch has pages, which lead on to the next file, and can be had as a file.
func TestLongPatch(t *testing.T) {
	w, _ := changed(t)
	var hunks []string
	for i := range 100 {
		hunks = append(hunks, fmt.Sprintf("@@ -%d,2 +%d,2 @@\n-%s\r\n+%s\r", i, i, strings.Repeat("a", 80), strings.Repeat("b", 80)))
	}
	text := strings.Join(hunks, "\n") + "\n"
	w.Git.Patches["doc.go"] = folders.Patch{Text: text, Cut: true}
	w.MustHear(t, "/changes")
	m := tapped(t, w, w.Telegram.Last(t), "2 doc.go")
	assert.Equal(t, []string{"← card.go", "→", "All files", "As a file"}, chattest.Words(m))
	assert.Contains(t, m.Text.Text, "doc.go\nfile 2 of 7, page 1 of 7, new, +12\n@@ -0,2")
	var read []string
	for page := 1; ; page++ {
		at := m.Text.Entities[len(m.Text.Entities)-1]
		part := strings.TrimSuffix(m.Text.Text[strings.Index(m.Text.Text, "@@"):], "\n"+w.Word(i18n.ChangesCut))
		assert.Equal(t, "diff", at.Language)
		assert.True(t, strings.HasPrefix(part, "@@ -"), "a page begins with a hunk")
		read = append(read, part)
		if page == 7 {
			break
		}
		m = tapped(t, w, m, "→")
	}
	assert.Equal(t, strings.ReplaceAll(text, "\r", ""), strings.Join(read, "\n")+"\n", "all of it can be read")
	assert.Contains(t, m.Text.Text, w.Word(i18n.ChangesCut))
	assert.Equal(t, []string{"←", "gone.go →", "All files", "As a file"}, chattest.Words(m))

	require.NoError(t, w.TapShown(t, chattest.Alice, m, i18n.ButtonAsFile))
	require.Len(t, w.Telegram.Files, 1)
	sent := w.Telegram.Files[0]
	assert.Equal(t, "doc.go.diff", sent.Name)
	assert.Equal(t, "doc.go\n"+w.Word(i18n.ChangesCut), sent.Caption.Text)
	data, err := io.ReadAll(io.NewSectionReader(sent.Body, 0, sent.Size))
	require.NoError(t, err)
	assert.Equal(t, "--- a/doc.go\n+++ b/doc.go\n"+text, string(data))
}

// A tap on the card of a forgotten session reports that.
func TestChangesOfForgottenSession(t *testing.T) {
	w, r := changed(t)
	w.MustHear(t, "/changes")
	m := w.Telegram.Last(t)
	w.Records.Forget(r.ID)
	require.NoError(t, w.TapShown(t, chattest.Alice, m, "1 card.go"))
	w.Telegram.Deliver(t.Context())
	assert.Equal(t, w.Word(i18n.SessionGone), w.Telegram.LastEdit(t).Text.Text)
	assert.Empty(t, w.Telegram.LastEdit(t).Buttons)
}
