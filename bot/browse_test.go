package bot_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/attachment"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/outbox"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
)

// browsing is a world with a real home folder, and the page of new sessions in Alice's chat.
type browsing struct {
	*chattest.World
	t    *testing.T
	page int // the message
}

func inFolders(t *testing.T, dirs ...string) *browsing {
	t.Helper()
	w := &browsing{World: chattest.NewWorld(t), t: t}
	w.Home = host.WithoutLinks(t.TempDir())
	w.AgentsHome = w.Home
	for _, dir := range dirs {
		require.NoError(t, os.MkdirAll(filepath.Join(w.Home, dir), 0o700))
	}
	return w
}

func (w *browsing) open() {
	w.t.Helper()
	w.MustHear(w.t, "/new")
	w.Work(w.t)
	w.page = w.Telegram.LastID()
}

func (w *browsing) press(words ...string) {
	w.t.Helper()
	for _, word := range words {
		w.Press(w.t, chattest.Alice, w.page, word)
		w.Work(w.t)
	}
}

func (w *browsing) shown() outbox.Message { return w.Shows(w.t, w.page) }

func (w *browsing) text() string { return w.shown().Text.Text }

func (w *browsing) buttons() (all []string) {
	for _, row := range w.shown().Buttons {
		for _, b := range row {
			all = append(all, b.Text)
		}
	}
	return all
}

// reply answers the page, which comes down.
func (w *browsing) reply(text string) {
	w.t.Helper()
	w.Answer(w.t, w.page, text)
	w.Work(w.t)
	w.page = w.Telegram.LastID()
}

func (w *browsing) say(key i18n.Key, args ...i18n.Args) string { return w.Word(key, args...) }

func TestNewShowsFavouritesThenRecentFolders(t *testing.T) {
	w := inFolders(t, "api", "web", "old", "fav")
	for _, name := range []string{"old", "web", "api", "web"} { // the newest last
		w.Session(t, name, session.Archived)
	}
	require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) { s.Favourites = []string{filepath.Join(w.Home, "fav")} }))
	w.open()
	assert.Equal(t, []string{"★ ~/fav", "~/web", "~/api", "~/old"}, w.buttons()[:4])
	assert.Equal(t, w.say(i18n.NewWhere), w.text())

	w.press("~/web", w.say(i18n.ButtonStar))
	assert.Contains(t, w.buttons(), w.say(i18n.ButtonUnstar))
	w.press(w.say(i18n.ButtonBack))
	assert.Equal(t, []string{"★ ~/fav", "★ ~/web", "~/api", "~/old"}, w.buttons()[:4])
	w.press("★ ~/fav", w.say(i18n.ButtonUnstar), w.say(i18n.ButtonBack))
	assert.Equal(t, []string{"★ ~/web", "~/api", "~/old"}, w.buttons()[:3])

	w.reply("AP")
	assert.Equal(t, chattest.Lines(w.say(i18n.NewFiltered, i18n.Args{"Sought": "AP", "Count": 1}), w.say(i18n.NewSearchedAll, i18n.Args{"Roots": "~"})), w.text())
	assert.Equal(t, "~/api", w.buttons()[0])
}

// Each view is drawn again by a restarted program, and by the taps of two people.
func TestBrowserViewsSurviveRestart(t *testing.T) {
	w := inFolders(t, "work/api", "work/.git", "work/web")
	w.open()
	restart := func() {
		w.Restart(t)
		was := w.text()
		w.Work(t)
		assert.Equal(t, was, w.text())
	}
	steps := []struct{ press, want string }{
		{w.say(i18n.ButtonBrowse), "~\n"},
		{"work", "~/work\n"},
		{w.say(i18n.ButtonShowHidden), "~/work\n"},
		{w.say(i18n.ButtonHideHidden), "~/work\n"},
		{w.say(i18n.ButtonUp), "~\n"},
		{"work", "~/work\n"},
		{"api", "~/work/api\n"},
		{w.say(i18n.ButtonUseThis), "A new session in ~/work/api"},
		{w.say(i18n.ButtonBrowse), "~/work/api\n"},
		{w.say(i18n.ButtonBack), w.say(i18n.NewWhere)},
	}
	for _, s := range steps {
		restart()
		w.press(s.press)
		assert.True(t, strings.HasPrefix(w.text(), s.want), "%s: %s", s.press, w.text())
		assert.Equal(t, s.press == w.say(i18n.ButtonShowHidden), slices.Contains(w.buttons(), ".git"), s.press)
	}
	assert.Empty(t, w.Lifecycle.Done())
}

func TestBrowserStartsOneSessionWithChoices(t *testing.T) {
	w := inFolders(t, "api")
	w.open()
	w.press(w.say(i18n.ButtonBrowse), "api", w.say(i18n.ButtonUseThis))
	w.press(w.say(i18n.ButtonNewModel, i18n.Args{"Model": w.say(i18n.NewAsSet)}))
	w.press(w.say(i18n.ButtonNewMode, i18n.Args{"Mode": w.say(i18n.NewAsSet)}), w.say(i18n.ButtonNewMode, i18n.Args{"Mode": w.say(i18n.ModeDefault)}))
	assert.Contains(t, w.buttons(), w.say(i18n.ButtonNewMode, i18n.Args{"Mode": w.say(i18n.ModeAcceptEdits)}))
	was := w.shown()
	w.press(w.say(i18n.ButtonStartFresh))
	require.Len(t, w.Lifecycle.Starts, 1)
	q := w.Lifecycle.Starts[0]
	assert.Equal(t, filepath.Join(w.Home, "api"), q.Dir)
	assert.Equal(t, port.ModeChange{Mode: port.ModeAcceptEdits, Model: "Opus"}, q.With)
	assert.NotEmpty(t, q.Origin)
	assert.Empty(t, w.buttons(), "the page is over")
	assert.NotEqual(t, was.Text, w.shown().Text)
}

// An address that an earlier ccbot has written names no folder that this one can read.
func TestPageWithoutFolderStartsNothing(t *testing.T) {
	w := inFolders(t, "api")
	for _, verb := range []string{"start", "fork", "go:" + uuid.NewString(), "beside"} {
		a, to, err := w.Pages.All["new"].Do(t.Context(), chat.Visit{To: chattest.AtAlice, By: chattest.Alice, Rest: "dir=%2Fapi&v=use"}, verb)
		require.NoError(t, err)
		assert.Nil(t, a.Then, verb)
		assert.Equal(t, w.say(i18n.StaleButton), a.Text)
		assert.Empty(t, to)
	}
}

func TestSettingsAreDefaultsOfNewSessions(t *testing.T) {
	w := inFolders(t, "api")
	require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) { s.Mode, s.Model = "plan", "opus" }))
	w.MustHear(t, "/new one ~/api")
	w.open()
	w.press("~/api", w.say(i18n.ButtonNewModel, i18n.Args{"Model": w.say(i18n.NewAsSet)}), w.say(i18n.ButtonNewModel, i18n.Args{"Model": "Opus"}))
	w.press(w.say(i18n.ButtonStartFresh))
	assert.Equal(t, []port.ModeChange{{Mode: port.ModePlan, Model: "Opus"}, {Mode: port.ModePlan, Model: "Sonnet"}},
		[]port.ModeChange{w.Lifecycle.Starts[0].With, w.Lifecycle.Starts[1].With})
}

// An error of a folder is a sentence, at whatever step it occurs.
func TestFolderErrorIsSentence(t *testing.T) {
	tests := []struct {
		name string
		do   func(w *browsing)
		want i18n.Key
		dir  string
	}{
		{"a path that is none", func(w *browsing) { w.reply("~/none") }, i18n.PathMissing, "~/none"},
		{"a file", func(w *browsing) {
			require.NoError(w.t, os.WriteFile(filepath.Join(w.Home, "file"), nil, 0o600))
			w.reply("~/file")
		}, i18n.PathNotDir, "~/file"},
		{"a folder that vanished between two taps", func(w *browsing) {
			w.press(w.say(i18n.ButtonBrowse))
			require.NoError(w.t, os.RemoveAll(filepath.Join(w.Home, "in")))
			w.press("in")
		}, i18n.PathMissing, "~/in"},
		{"a folder that vanished before the start", func(w *browsing) {
			w.press(w.say(i18n.ButtonBrowse), "in", w.say(i18n.ButtonUseThis))
			require.NoError(w.t, os.RemoveAll(filepath.Join(w.Home, "in")))
			w.Lifecycle.OnStart = func(q port.Start) (session.Record, error) {
				return session.Record{}, &lifecycle.DirError{Dir: q.Dir, Why: lifecycle.DirMissing}
			}
			w.press(w.say(i18n.ButtonStartFresh))
		}, i18n.PathMissing, "~/in"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := inFolders(t, "in")
			w.open()
			tt.do(w)
			assert.Equal(t, w.say(tt.want, i18n.Args{"Path": tt.dir, "Dir": tt.dir}), w.text())
		})
	}
}

func TestBrowserStaysInsideRoots(t *testing.T) {
	w := inFolders(t, "root/in", "out/secret")
	w.Roots = []string{filepath.Join(w.Home, "root")}
	require.NoError(t, os.Symlink(filepath.Join(w.Home, "out"), filepath.Join(w.Home, "root", "leads-out")))
	w.open()
	assert.Contains(t, w.buttons(), "~/root", "a root is known although nobody has used it")
	w.press(w.say(i18n.ButtonBrowse))
	assert.True(t, strings.HasPrefix(w.text(), "~/root\n"), "home is outside: %s", w.text())
	assert.NotContains(t, w.buttons(), w.say(i18n.ButtonUp))
	refused := w.say(i18n.PathNotAllowed, i18n.Args{"Path": "~/out", "Dir": "~/out", "Roots": w.Roots[0]})
	w.press("leads-out")
	assert.Equal(t, refused, w.text())
	w.press(w.say(i18n.ButtonBack))
	w.reply("~/out/secret")
	assert.Equal(t, strings.ReplaceAll(refused, "~/out", "~/out/secret"), w.text())
	w.press(w.say(i18n.ButtonBack))
	w.reply("~/root/in/..")
	assert.True(t, strings.HasPrefix(w.text(), "~/root\n"), w.text())
}

func TestLargeFolderIsPaged(t *testing.T) {
	w := inFolders(t)
	for i := range 5000 {
		require.NoError(t, os.Mkdir(filepath.Join(w.Home, fmt.Sprintf("d%04d", i)), 0o700))
	}
	w.open()
	w.press(w.say(i18n.ButtonBrowse))
	assert.Equal(t, "~\n"+w.say(i18n.NewChildren, i18n.Args{"Count": 5000}), w.text())
	assert.Equal(t, "d0000", w.buttons()[0])
	w.press("→", "→")
	assert.Equal(t, "d0020", w.buttons()[0])
	w.press("←")
	assert.Equal(t, "d0010", w.buttons()[0])
	w.reply("d49")
	assert.Equal(t, "d4900", w.buttons()[0])
	assert.LessOrEqual(t, len(w.buttons()), 20)
}

func TestReplyNamesNewFolder(t *testing.T) {
	w := inFolders(t)
	w.open()
	w.press(w.say(i18n.ButtonBrowse), w.say(i18n.ButtonNewFolder))
	assert.Equal(t, w.say(i18n.NewFolderName, i18n.Args{"Dir": "~"}), w.text())
	w.reply("../../etc")
	assert.Equal(t, w.say(i18n.NewFolderName, i18n.Args{"Dir": "~"}), w.text(), "a name, and no path")
	w.reply("my api")
	assert.DirExists(t, filepath.Join(w.Home, "my api"))
	assert.True(t, strings.HasPrefix(w.text(), "~/my api\n"), w.text())
}

// ---- the first prompt

// running is a test in which the bot runs.
func running(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, test)
}

// startedIn is inFolders with a bot that runs.
func startedIn(t *testing.T, dirs ...string) *browsing {
	t.Helper()
	w := inFolders(t, dirs...)
	w.Starts(t)
	return w
}

func TestP4_TextBecomesFirstPrompt(t *testing.T) {
	running(t, textBecomesFirstPrompt)
}

func textBecomesFirstPrompt(t *testing.T) {
	w := startedIn(t, "api")
	w.open()
	key := w.MustHear(t, "run the tests")
	w.Work(t)
	asked := w.Shows(t, w.Telegram.LastID())
	assert.Equal(t, w.say(i18n.FirstPrompt), asked.Text.Text)
	e, err := w.Inbox.Load(key)
	require.NoError(t, err)
	head := w.say(i18n.NewFirst, i18n.Args{"Time": w.Chat.In(chattest.AtAlice).Moment(e.Received)})
	assert.Contains(t, w.text(), head+"\nrun the tests")
	assert.Equal(t, inbox.Asked, e.State)

	w.Restart(t)
	w.Lifecycle.OnQueue = func(id uuid.UUID, key string) error { // an idle agent has it at once
		return w.SessionNews(t.Context(), w.Record(t, id), news.Typed{Prompt: talk.Prompt{Key: key}})
	}
	question := w.Telegram.LastID()
	w.press(w.say(i18n.ButtonBrowse), "api", w.say(i18n.ButtonUseThis), w.say(i18n.ButtonStartFresh))
	r := w.Records.List()[0]
	assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
	assert.Contains(t, w.Shows(t, question).Text.Text, strings.TrimSpace(w.say(i18n.SentAndCurrent, i18n.Args{"Name": r.Name})))
}

// While the page is open nothing reaches the current session.
func TestP4_OtherMessageBecomesFirstPrompt(t *testing.T) {
	for _, tt := range []struct {
		name string
		m    func(w *browsing) models.Message
		want string
	}{
		{"a document", func(*browsing) models.Message { return chattest.Document("d", "a.txt") }, "see\nAttached file: .ccbot-inbox/a.txt"},
		{"a photo", func(*browsing) models.Message { return chattest.Part("", "d", "") }, "see\nAttached file: .ccbot-inbox/photo-1002.png"},
		{"an album", func(*browsing) models.Message { return chattest.Part("g", "d", "") }, "see\nAttached file: .ccbot-inbox/photo-1002.png"},
		{"a document in answer to the page", func(w *browsing) models.Message {
			m := chattest.Document("d", "a.txt")
			m.ReplyToMessage = &models.Message{ID: w.page, From: &models.User{IsBot: true, Username: w.Username}}
			return m
		}, "see\nAttached file: .ccbot-inbox/a.txt"},
		{"a forwarded text", func(*browsing) models.Message {
			return models.Message{Text: "see", ForwardOrigin: &models.MessageOrigin{Type: models.MessageOriginTypeHiddenUser,
				MessageOriginHiddenUser: &models.MessageOriginHiddenUser{}}}
		}, "Forwarded message from somebody:\n> see "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			running(t, func(t *testing.T) { sentBesideThePage(t, tt.m, tt.want) })
		})
	}
}

// besideACurrent returns a page opened next to a current session.
func besideACurrent(t *testing.T) (*chattest.MediaWorld, *browsing) {
	t.Helper()
	d := chattest.NewMediaWorld(t)
	w := &browsing{World: d.World, t: t}
	w.Home = host.WithoutLinks(t.TempDir())
	w.AgentsHome = w.Home
	require.NoError(t, os.Mkdir(filepath.Join(w.Home, "api"), 0o700))
	w.Starts(t)
	w.open()
	return d, w
}

func sentBesideThePage(t *testing.T, of func(w *browsing) models.Message, want string) {
	d, w := besideACurrent(t)
	m := of(w)
	if m.Text == "" {
		m.Caption = "see"
	}
	e := d.MustGet(t, m)
	text := w.MustHear(t, "then that")
	w.Work(t)
	assert.Equal(t, inbox.Asked, e.State)
	assert.Contains(t, w.text(), "see")
	assert.Empty(t, w.Lifecycle.Done(), "the current session has none of it")
	assert.Empty(t, d.Received(t))

	w.press(w.say(i18n.ButtonBrowse), "api", w.say(i18n.ButtonUseThis), w.say(i18n.ButtonStartFresh))
	now, _ := w.CurrentSession(chattest.AtAlice, 0)
	require.NotEqual(t, d.R.ID, now.ID)
	done := slices.DeleteFunc(w.Lifecycle.Done(), func(did string) bool { return !strings.HasPrefix(did, "queue") })
	assert.Equal(t, []string{"queue " + e.Key + " for " + now.ID.String(), "queue " + text + " for " + now.ID.String()}, done)
	e, err := w.Inbox.Load(e.Key)
	require.NoError(t, err)
	assert.Equal(t, want, chattest.Shortened(e))
	for _, file := range e.Files {
		assert.FileExists(t, file)
		assert.Equal(t, filepath.Join(w.Home, "api", folders.InboxName), filepath.Dir(file))
	}
	assert.Empty(t, d.Received(t))
}

func TestP4_FailedFirstFileKeepsQuestion(t *testing.T) {
	running(t, func(t *testing.T) {
		d, w := besideACurrent(t)
		d.Downloads.Fail("d", attachment.ErrFileTooBig)
		e := d.MustGet(t, chattest.Document("d", "a.txt"))
		w.Work(t)
		question := w.Telegram.LastID()
		w.press(w.say(i18n.ButtonBrowse), "api", w.say(i18n.ButtonUseThis), w.say(i18n.ButtonStartFresh))
		assert.NotContains(t, w.Lifecycle.Done(), "queue "+e.Key)
		assert.Contains(t, w.Telegram.Texts(), chattest.Warning+w.say(i18n.FileTooBig, i18n.Args{"Name": "a.txt"}))
		d.Downloads.Fail("d", nil)
		now, _ := w.CurrentSession(chattest.AtAlice, 0)
		w.Press(t, chattest.Alice, question, w.say(i18n.ButtonSendTo, i18n.Args{"Name": now.Name}))
		assert.Contains(t, w.Lifecycle.Done(), "queue "+e.Key+" for "+now.ID.String())
	})
}

func TestP4_FirstPromptCanBeRedirected(t *testing.T) {
	running(t, firstPromptIsTakenBack)
}

func firstPromptIsTakenBack(t *testing.T) {
	w := startedIn(t, "api")
	other := w.NewCurrentSession(t, "other", session.Running)
	w.open()
	key := w.MustHear(t, "run the tests")
	w.Work(t)
	assert.Contains(t, w.text(), "run the tests")
	w.press(w.say(i18n.ButtonTakeBack))
	assert.NotContains(t, w.text(), "run the tests")
	_, err := w.Inbox.Load(key)
	require.ErrorIs(t, err, inbox.ErrNoEntry)

	again := w.MustHear(t, "once more")
	w.Work(t)
	w.Press(t, chattest.Alice, w.Telegram.LastID(), w.say(i18n.ButtonSendTo, i18n.Args{"Name": other.Name}))
	assert.Contains(t, w.Lifecycle.Done(), "queue "+again+" for "+other.ID.String())
	w.press(w.say(i18n.ButtonBrowse))
	assert.NotContains(t, w.text(), "once more")
}

// TestP4_PageShowsFirstPromptsThatWait forgets those that were decided about under their messages,
// and shows the words of an edit.
func TestP4_PageShowsFirstPromptsThatWait(t *testing.T) {
	running(t, func(t *testing.T) {
		w := startedIn(t, "api")
		other := w.NewCurrentSession(t, "other", session.Running)
		w.open()
		for _, decision := range []string{w.say(i18n.ButtonDrop), w.say(i18n.ButtonSendTo, i18n.Args{"Name": other.Name})} {
			key := w.MustHear(t, "run the tests")
			w.Work(t)
			question := w.Telegram.LastID()
			e, err := w.Inbox.Load(key)
			require.NoError(t, err)
			require.NoError(t, w.Edit(t, e.MessageID, "run the linter"))
			w.Work(t)
			assert.Contains(t, w.text(), "run the linter")
			w.Press(t, chattest.Alice, question, decision)
			w.Work(t)
			assert.NotContains(t, w.text(), "run the linter")
			assert.NotContains(t, w.buttons(), w.say(i18n.ButtonTakeBack))
		}
		w.MustHear(t, "~/api")
		w.Work(t)
		w.Press(t, chattest.Alice, w.Telegram.LastID(), w.say(i18n.ButtonUseAsPrompt))
		w.Work(t)
		assert.Contains(t, w.buttons(), w.say(i18n.ButtonTakeBack))
	})
}

// ---- earlier conversations

// talk writes a conversation of a folder, as Claude Code keeps it.
func (w *browsing) talk(dir, said string, age time.Duration) uuid.UUID {
	w.t.Helper()
	id, cwd := uuid.New(), filepath.Join(w.Home, dir)
	place := filepath.Join(w.Dir, "projects", strings.NewReplacer("/", "-", ".", "-", "_", "-").Replace(cwd))
	require.NoError(w.t, os.MkdirAll(place, 0o700))
	path := filepath.Join(place, id.String()+".jsonl")
	line := fmt.Sprintf(`{"type":"user","uuid":"u","cwd":%q,"message":{"role":"user","content":%q}}`, cwd, said)
	require.NoError(w.t, os.WriteFile(path, []byte(line+"\n"), 0o600))
	at := w.Chat.Now().Add(-age)
	require.NoError(w.t, os.Chtimes(path, at, at))
	return id
}

func TestFolderOffersEarlierConversations(t *testing.T) {
	w := inFolders(t, "api")
	foreign := w.talk("api", "mend the\nfailing test", 3*time.Hour)
	busy := w.talk("api", "elsewhere", 4*time.Hour)
	over := w.talk("api", "of a session", 5*time.Hour)
	w.talk("web", "another folder", time.Hour)
	r := w.Session(t, "api", session.Archived)
	w.Records.Change(r.ID, func(r *session.Record) { r.AgentSessionID = over })
	w.Written = map[uuid.UUID]bool{busy: true}
	use := func() {
		w.open()
		w.press("~/api")
	}
	use()
	assert.Contains(t, w.text(), chattest.Lines("1. mend the failing test", "3 h ago · 161 B", "2. elsewhere", "4 h ago")[:20])
	assert.Contains(t, w.text(), w.say(i18n.NewElsewhere))
	assert.NotContains(t, w.text(), "another folder")

	w.press("1")
	require.Len(t, w.Lifecycle.Starts, 1)
	assert.Equal(t, foreign, w.Lifecycle.Starts[0].Continues)

	use()
	w.press("2")
	assert.Equal(t, w.say(i18n.NewBusy), w.text(), "two never write one")
	w.Restart(t)
	w.press(w.say(i18n.ButtonForkInstead))
	require.Len(t, w.Lifecycle.Starts, 2)
	assert.Equal(t, []uuid.UUID{busy, uuid.Nil}, []uuid.UUID{w.Lifecycle.Starts[1].ForkOf, w.Lifecycle.Starts[1].Continues})

	use()
	w.press("3")
	assert.Len(t, w.Lifecycle.Starts, 2, "the session that has it comes back")
	assert.Contains(t, strings.Join(w.Lifecycle.Done(), "\n"), "restore "+r.ID.String())
}

// TestFolderOffersConversationsOfAllAgents: a conversation continues, or is copied, with its own
// agent, whichever the chat has chosen for new sessions.
func TestFolderOffersConversationsOfAllAgents(t *testing.T) {
	w := inFolders(t, "api")
	install(t, w.World, "Codex") // which finds the same conversations
	codex := w.Hosted.Agents["codex"]
	codex.Abilities = port.Abilities{}
	w.Hosted.Agents["codex"] = codex
	w.Session(t, "api", session.Archived)
	id := w.talk("api", "mend it", 3*time.Hour)
	use := func() {
		w.open()
		w.press("~/api")
	}
	use()
	assert.Regexp(t, `1\. mend it\n3 h ago, \d+ B\n`, w.text())
	assert.Regexp(t, `2\. mend it\n3 h ago, \d+ B, Codex`, w.text())
	w.press(w.say(i18n.ButtonNewMode, i18n.Args{"Mode": w.say(i18n.NewAsSet)}), "2")
	require.Len(t, w.Lifecycle.Starts, 1)
	assert.Equal(t, "codex", w.Lifecycle.Starts[0].Agent)
	assert.Equal(t, id, w.Lifecycle.Starts[0].Continues)
	assert.Zero(t, w.Lifecycle.Starts[0].With, "the mode was chosen for another agent")

	w.Written = map[uuid.UUID]bool{id: true}
	use()
	w.press("2")
	w.Restart(t)
	w.press(w.say(i18n.ButtonForkInstead))
	require.Len(t, w.Lifecycle.Starts, 2)
	assert.Equal(t, "codex", w.Lifecycle.Starts[1].Agent)
	assert.Equal(t, id, w.Lifecycle.Starts[1].ForkOf)
}
